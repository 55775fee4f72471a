//! Stacks: what is written comes back, who has to be looked at is found, and what goes takes everything along.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use hostler_model::stack::*;
use hostler_model::*;
use hostler_store::{ConflictReason, Error, SealedKey, StackChange, StoredTable, Update};

use crate::world::*;

crate::conformance!(
    a_stack_is_what_was_written,
    a_stack_is_changed_from_what_was_read,
    a_name_belongs_to_one_stack_that_lives,
    of_those_who_want_a_name_at_once_one_gets_it,
    stacks_lie_in_one_another,
    stacks_that_want_somebody_are_found,
    what_changes_together_is_written_together_or_not_at_all,
    of_those_who_save_at_once_one_does,
    keys_are_sealed_anew,
    what_was_deleted_long_ago_goes_with_everything,
    a_project_goes_with_what_was_of_its_stacks,
    what_projects_have_of_stacks_is_counted,
    what_must_not_be_done_again_after_a_restore_is_not,
);

pub fn key(n: u8) -> KeyId {
    KeyId::from_bytes([0, 0, 0, n])
}

pub fn envelope(n: u8) -> Envelope {
    Envelope { sealed: vec![n, 0, 255], wrapped_key: vec![n; 40], key_id: key(n) }
}

pub fn stack_name(text: &str) -> StackName {
    text.parse().unwrap()
}

pub fn definition_id() -> StackDefinitionId {
    StackDefinitionId::from_uuid(next_uuid())
}

pub fn stack(project: &Project, text: &str) -> Stack {
    let id = StackId::from_uuid(next_uuid());
    Stack {
        id,
        project_id: project.id,
        name: stack_name(text),
        description: String::new(),
        parent: None,
        root_id: id,
        depth: 0,
        standing: StackStanding::begun(StackAction::Create),
        traversal: Generation::FIRST,
        wanted: Some(definition_id()),
        settled: None,
        options: StackOptions::default(),
        revision: 0,
        key: envelope(1),
        mandate: Mandate { principal: PrincipalId::from_uuid(next_uuid()), can: None },
        generation: Generation::FIRST,
        time_created: at(1),
        time_updated: None,
        time_deleted: None,
        time_begun: at(1),
        failure: None,
        time_deadline: None,
        time_due: None,
    }
}

pub fn nested(project: &Project, parent: &Stack, text: &str) -> Stack {
    let resource_id = StackResourceId::from_uuid(next_uuid());
    Stack {
        parent: Some(StackParent { stack_id: parent.id, resource_id }),
        root_id: parent.root_id,
        depth: parent.depth + 1,
        ..stack(project, text)
    }
}

pub fn resource(stack: &Stack, text: &str) -> StackResource {
    StackResource {
        id: StackResourceId::from_uuid(next_uuid()),
        stack_id: stack.id,
        name: text.to_owned(),
        kind: "OS::Heat::Value".to_owned(),
        standing: ResourceStanding {
            action: ResourceAction::Init,
            status: StackStatus::Complete,
            reason: String::new(),
        },
        physical: None,
        definition: None,
        traversal: Generation::FIRST,
        requires: Vec::new(),
        replaces: None,
        replaced_by: None,
        deletion_policy: DeletionPolicy::Delete,
        deed: None,
        deeds: 0,
        hooks: BTreeMap::new(),
        sealed: vec![1, 2, 3],
        time_created: at(1),
        time_modified: at(1),
    }
}

pub fn deed(time_due: Option<i64>, lease: Option<i64>) -> Deed {
    Deed {
        kind: DeedKind::Create,
        definition: None,
        traversal: Generation::FIRST,
        owner: lease.map(|lease| DeedOwner { server_id: server_id(), time_lease: at(lease) }),
        is_idle: false,
        time_due: time_due.map(at),
        time_begun: at(1),
    }
}

pub fn event(stack: &Stack, resource: Option<&StackResource>, reason: &str) -> StackEvent {
    let (action, status) = (StackAction::Create, StackStatus::InProgress);
    StackEvent {
        id: StackEventId::from_uuid(next_uuid()),
        stack_id: stack.id,
        resource_id: resource.map(|resource| resource.id),
        name: resource.map_or_else(|| stack.name.to_string(), |resource| resource.name.clone()),
        kind: resource.map_or("OS::Heat::Stack", |resource| &resource.kind).to_owned(),
        physical: Some(stack.id.to_string()),
        status: match resource {
            None => StackEventStatus::Stack(action, status),
            Some(_) => StackEventStatus::Resource(ResourceAction::Create, status),
        },
        reason: reason.to_owned(),
        properties: None,
        time: at(2),
    }
}

pub fn definition(stack: &Stack) -> StackDefinition {
    StackDefinition {
        id: definition_id(),
        stack_id: stack.id,
        sealed: vec![0, 1, 255],
        plugins: Vec::new(),
        created_by: actor(),
        time_created: at(1),
    }
}

pub async fn insert(world: &World, stack: &Stack) {
    let done: Result<()> = world.tx("test", |tx| Box::pin(tx.stack_insert(stack))).await;
    done.unwrap();
}

pub async fn save(world: &World, change: StackChange<'_>, expected: Generation) -> Update {
    let done: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.stack_save(change, expected))).await;
    done.unwrap()
}

/// Writes resources of a stack that was written just now, and gives it as it stands then.
pub async fn with_resources(world: &World, stack: &Stack, resources: &[StackResource]) -> Stack {
    insert(world, stack).await;
    let change = StackChange { resources, ..StackChange::of(stack) };
    assert_eq!(save(world, change, stack.generation).await, Update::Updated);
    Stack { generation: stack.generation.next(), ..stack.clone() }
}

async fn get(world: &World, id: StackId) -> Option<Stack> {
    world.read().await.unwrap().stack_get(id).await.unwrap()
}

fn full(project: &Project) -> Stack {
    let mut full = nested(project, &stack(project, "above"), "Full.stack_1");
    full.description = "all of it \u{1F600}".to_owned();
    full.standing = StackStanding::failed(StackAction::Rollback, "Timed out");
    full.traversal = Generation::from_u64(7);
    full.settled = Some(definition_id());
    full.options = StackOptions {
        is_rollback_enabled: true,
        timeout: Some(Span::from_secs(90)),
        tags: vec!["a b".to_owned(), "%_'".to_owned()],
        converges: true,
        at_once: Some(3),
        drift_every: Some(Span::from_secs(600)),
    };
    full.revision = 9;
    full.mandate.can = Some(PermissionSet::default());
    full.failure = Some(StackFailure { reason: "it broke".to_owned(), is_kept: true });
    full.time_updated = Some(at(2));
    full.time_deleted = Some(at(3));
    full.time_begun = at(4);
    full.time_deadline = Some(at(5));
    full.time_due = Some(at(6));
    full
}

async fn a_stack_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let all = [
        full(&project),
        stack(&project, "plain"),
        Stack { wanted: None, ..stack(&project, "to-go") },
    ];
    for one in &all {
        insert(&world, one).await;
        assert_eq!(get(&world, one.id).await.as_ref(), Some(one));
    }
    assert_eq!(get(&world, StackId::from_uuid(next_uuid())).await, None);
    let again: Result<()> = world.tx("test", |tx| Box::pin(tx.stack_insert(&all[0]))).await;
    assert!(matches!(again.unwrap_err(), Error::Conflict { .. }));
    let counts = world.read().await.unwrap().stack_count_by_standing().await.unwrap();
    assert_eq!(counts, [("create".to_owned(), "in-progress".to_owned(), 2)], "without deleted");
}

async fn a_stack_is_changed_from_what_was_read(world: World) {
    let project = world.project("alpha").await;
    let first = stack(&project, "web");
    insert(&world, &first).await;
    let full = full(&project);
    let next = Stack {
        id: first.id,
        name: first.name.clone(),
        parent: None,
        root_id: first.id,
        depth: 0,
        key: first.key.clone(),
        time_created: first.time_created,
        ..full
    };
    let second = Generation::FIRST.next();
    let stale = Update::Stale { current: Generation::FIRST };
    assert_eq!(save(&world, StackChange::of(&next), second).await, stale);
    assert_eq!(get(&world, first.id).await.as_ref(), Some(&first));
    assert_eq!(save(&world, StackChange::of(&next), Generation::FIRST).await, Update::Updated);
    let next = Stack { generation: second, ..next };
    assert_eq!(get(&world, first.id).await.as_ref(), Some(&next));
    let stale = Update::Stale { current: second };
    assert_eq!(save(&world, StackChange::of(&next), Generation::FIRST).await, stale);
    let other = Stack {
        name: stack_name("other"),
        key: envelope(9),
        time_created: at(99),
        depth: 4,
        ..next.clone()
    };
    assert_eq!(save(&world, StackChange::of(&other), second).await, Update::Updated);
    let next = Stack { generation: second.next(), ..next };
    assert_eq!(get(&world, first.id).await, Some(next), "what it is does not change");
    let nobody = stack(&project, "nobody");
    let missing = save(&world, StackChange::of(&nobody), Generation::FIRST).await;
    assert_eq!(missing, Update::Missing);
}

async fn a_name_belongs_to_one_stack_that_lives(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let first = stack(&alpha, "web");
    let below = nested(&alpha, &first, "web");
    let elsewhere = stack(&beta, "web");
    for one in [&first, &below, &elsewhere, &stack(&alpha, "Web")] {
        insert(&world, one).await;
    }
    let twice = stack(&alpha, "web");
    let taken: Result<()> = world.tx("test", |tx| Box::pin(tx.stack_insert(&twice))).await;
    let reason = ConflictReason::NameTaken;
    assert!(matches!(taken.unwrap_err(), Error::Conflict { reason: r, .. } if r == reason));
    let named = async |project: &Project, name: &str| {
        let found = world.read().await.unwrap().stack_by_name(project.id, name).await.unwrap();
        found.map(|stack| stack.id)
    };
    assert_eq!(named(&alpha, "web").await, Some(first.id));
    assert_eq!(named(&beta, "web").await, Some(elsewhere.id));
    assert_eq!(named(&beta, "Web").await, None);
    let gone = Stack { time_deleted: Some(at(9)), ..first.clone() };
    assert_eq!(save(&world, StackChange::of(&gone), Generation::FIRST).await, Update::Updated);
    assert_eq!(named(&alpha, "web").await, None, "not the one below, not the one that is gone");
    insert(&world, &twice).await;
    assert_eq!(named(&alpha, "web").await, Some(twice.id));
}

async fn of_those_who_want_a_name_at_once_one_gets_it(world: World) {
    let project = world.project("alpha").await;
    let outcomes = together(4, |_| {
        let (world, one) = (world.clone(), stack(&project, "web"));
        async move {
            let done: Result<()> = world.tx("test", |tx| Box::pin(tx.stack_insert(&one))).await;
            done
        }
    })
    .await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    for outcome in outcomes.into_iter().filter_map(std::result::Result::err) {
        assert!(matches!(outcome, Error::Conflict { .. }), "{outcome:?}");
    }
}

async fn stacks_lie_in_one_another(world: World) {
    let project = world.project("alpha").await;
    let root = stack(&project, "root");
    let one = nested(&project, &root, "one");
    let deep = nested(&project, &one, "deep");
    let two = nested(&project, &root, "two");
    let gone = Stack { time_deleted: Some(at(3)), ..nested(&project, &root, "gone") };
    let other = stack(&project, "other");
    for stack in [&root, &one, &deep, &two, &gone, &other] {
        insert(&world, stack).await;
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_below(root.id).await.unwrap(), [one.clone(), two.clone(), deep.clone()]);
    assert_eq!(read.stack_below(other.id).await.unwrap(), []);
    assert_eq!(read.stack_below(one.id).await.unwrap(), [], "it is not at the top");
    assert_eq!(read.stack_children(root.id).await.unwrap(), [one.clone(), two]);
    assert_eq!(read.stack_children(one.id).await.unwrap(), std::slice::from_ref(&deep));
    assert_eq!(read.stack_children(deep.id).await.unwrap(), []);
}

async fn stacks_that_want_somebody_are_found(world: World) {
    let project = world.project("alpha").await;
    let wanting = async |seconds, limit| {
        world.read().await.unwrap().stack_wanting(at(seconds), limit).await.unwrap()
    };
    let next = async || world.read().await.unwrap().stack_next_due().await.unwrap();
    assert_eq!((wanting(99, 9).await, next().await), (Vec::new(), None));
    let late = Stack { time_due: Some(at(30)), ..stack(&project, "late") };
    let early = Stack { time_due: Some(at(10)), ..stack(&project, "early") };
    let leased = Stack { time_due: Some(at(40)), ..stack(&project, "leased") };
    let waits = stack(&project, "waits");
    let idle = stack(&project, "idle");
    let row = |stack: &Stack, deed: Option<Deed>| StackResource { deed, ..resource(stack, "r") };
    let rows = [
        row(&leased, Some(deed(None, Some(25)))),
        row(&leased, Some(deed(Some(20), Some(90)))),
        row(&waits, Some(deed(Some(15), None))),
        row(&waits, Some(deed(Some(16), None))),
        row(&idle, Some(deed(None, None))),
        row(&idle, None),
    ];
    insert(&world, &late).await;
    insert(&world, &early).await;
    let leased = with_resources(&world, &leased, &rows[..2]).await;
    let waits = with_resources(&world, &waits, &rows[2..4]).await;
    with_resources(&world, &idle, &rows[4..]).await;
    assert_eq!(wanting(9, 9).await, []);
    assert_eq!(wanting(10, 9).await, [early.id]);
    assert_eq!(wanting(19, 9).await, [early.id, waits.id]);
    assert_eq!(wanting(99, 9).await, [early.id, waits.id, leased.id, late.id], "each once");
    assert_eq!(wanting(99, 3).await, [early.id, waits.id, leased.id], "the longest due first");
    assert_eq!(next().await, Some(at(10)));
    let rests = Stack { time_due: None, ..early };
    assert_eq!(save(&world, StackChange::of(&rests), Generation::FIRST).await, Update::Updated);
    assert_eq!(next().await, Some(at(15)));
    let done = [StackResource { deed: None, ..rows[2].clone() }];
    let change = StackChange { resources: &done, gone: &[rows[3].id], ..StackChange::of(&waits) };
    assert_eq!(save(&world, change, waits.generation).await, Update::Updated);
    assert_eq!(wanting(99, 9).await, [leased.id, late.id]);
    assert_eq!(next().await, Some(at(20)));
    let server = rows[1].deed.as_ref().and_then(|deed| deed.owner).unwrap().server_id;
    let renewed: Update = world
        .tx("test", |tx| {
            Box::pin(tx.stack_deeds_renew(leased.id, leased.generation, server, at(10)))
        })
        .await
        .map_err(|error: Error| error)
        .unwrap();
    assert_eq!(renewed, Update::Updated);
    assert_eq!(next().await, Some(at(10)), "a lease that ends before its own time");
}

async fn what_changes_together_is_written_together_or_not_at_all(world: World) {
    let project = world.project("alpha").await;
    let first = stack(&project, "web");
    let old = [resource(&first, "a"), resource(&first, "b")];
    let mut now = with_resources(&world, &first, &old).await;
    now.standing = StackStanding::completed(StackAction::Create);
    let changed = StackResource { physical: Some("x".to_owned()), ..old[0].clone() };
    let rows = [changed, resource(&now, "c")];
    let events = [event(&now, Some(&rows[0]), "one"), event(&now, None, "two")];
    let change = StackChange { stack: &now, resources: &rows, gone: &[old[1].id], events: &events };
    let seen = async || {
        let mut read = world.read().await.unwrap();
        let stack = read.stack_get(now.id).await.unwrap().unwrap();
        let scope = hostler_store::StackEventScope::One(now.id);
        let filter = hostler_store::StackEventFilter::new(scope);
        let events = read.stack_event_list(filter, None, limit(9)).await.unwrap().items;
        (stack.standing, read.stack_resources(now.id).await.unwrap(), events)
    };
    let stale = Update::Stale { current: now.generation };
    assert_eq!(save(&world, change, Generation::FIRST).await, stale);
    assert_eq!(seen().await, (first.standing.clone(), old.to_vec(), Vec::new()));
    assert_eq!(save(&world, change, now.generation).await, Update::Updated);
    assert_eq!(seen().await, (now.standing.clone(), rows.to_vec(), events.to_vec()));
}

async fn of_those_who_save_at_once_one_does(world: World) {
    let project = world.project("alpha").await;
    let first = stack(&project, "web");
    insert(&world, &first).await;
    let updates = together(4, |_| {
        let (world, stack) = (world.clone(), first.clone());
        async move {
            let rows = [resource(&stack, "a")];
            let events = [event(&stack, None, "x")];
            let change =
                StackChange { resources: &rows, events: &events, ..StackChange::of(&stack) };
            save(&world, change, Generation::FIRST).await
        }
    })
    .await;
    assert_eq!(updates.into_iter().filter(|update| update.is_updated()).count(), 1);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_resources(first.id).await.unwrap().len(), 1);
}

async fn keys_are_sealed_anew(world: World) {
    let project = world.project("alpha").await;
    let of = |n: u8| Stack { key: envelope(n), ..stack(&project, &format!("s{n}")) };
    let mut all = [of(1), of(1), of(2), of(3)];
    all[1].name = stack_name("again");
    for one in &all {
        insert(&world, one).await;
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_keys().await.unwrap(), [(key(1), 2), (key(2), 1), (key(3), 1)]);
    let sealed =
        |stack: &Stack| SealedKey { id: stack.id, wrapped_key: stack.key.wrapped_key.clone() };
    let found = read.stack_keys_but(key(2), None, 2).await.unwrap();
    assert_eq!(found, [sealed(&all[0]), sealed(&all[1])]);
    let found = read.stack_keys_but(key(2), Some(all[1].id), 2).await.unwrap();
    assert_eq!(found, [sealed(&all[3])]);
    drop(read);
    let before = sealed(&all[0]);
    let replace = async || -> bool {
        let done: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.stack_key_replace(&before, &[7, 7], key(2)))).await;
        done.unwrap()
    };
    assert!(replace().await);
    assert!(!replace().await, "it is another one by now");
    let meant =
        Envelope { sealed: all[0].key.sealed.clone(), wrapped_key: vec![7, 7], key_id: key(2) };
    assert_eq!(get(&world, all[0].id).await.unwrap().key, meant);
    assert_eq!(save(&world, StackChange::of(&all[0]), Generation::FIRST).await, Update::Updated);
    assert_eq!(get(&world, all[0].id).await.unwrap().key, meant, "a save does not undo it");
}

/// Tables of stacks and of what is configured beside them.
async fn tables(world: &World) -> Vec<StoredTable> {
    let mut tables = world.read().await.unwrap().stored_tables().await.unwrap();
    let is_meant = |name: &str| {
        name.starts_with("stack") && !name.starts_with("stack_plugin")
            || name.starts_with("software")
    };
    tables.retain(|table| is_meant(&table.shape.name));
    assert_eq!(tables.len(), 11, "{tables:?}");
    tables
}

/// How many rows there are, by table.
async fn rows<'t>(world: &World, tables: &'t [StoredTable]) -> BTreeMap<&'t str, usize> {
    let mut snapshot = world.snapshot().await.unwrap();
    let mut counts = BTreeMap::new();
    for table in tables {
        let count = snapshot.rows(table, true).map(std::result::Result::unwrap).count().await;
        counts.insert(table.shape.name.as_str(), count);
    }
    counts
}

/// A stack with one row in every table, and what is configured beside it.
async fn with_everything(world: &World, stack: &Stack) {
    let row = [resource(stack, "r")];
    let now = with_resources(world, stack, &row).await;
    let made = definition(&now);
    let revision = crate::stack_parts::revision(&now, 1);
    let snapshot = crate::stack_parts::snapshot(&now, "s");
    let plan = crate::stack_parts::plan(&now);
    let drift = crate::stack_parts::drift(&now, 5);
    let uses = [crate::stack_parts::uses(&now, "other")];
    let happened = [event(&now, None, "x")];
    let all = (&made, &revision, &snapshot, &plan, &drift, &uses, &happened, now.id);
    let done: Result<()> = world
        .tx("test", |tx| {
            Box::pin(async move {
                let (made, revision, snapshot, plan, drift, uses, happened, id) = all;
                tx.stack_definition_insert(made).await?;
                tx.stack_revision_insert(revision).await?;
                tx.stack_snapshot_insert(snapshot).await?;
                tx.stack_plan_insert(plan).await?;
                tx.stack_drift_put(drift).await?;
                tx.stack_dependency_set(id, uses).await?;
                tx.stack_event_insert_batch(happened).await
            })
        })
        .await;
    done.unwrap();
}

async fn what_was_deleted_long_ago_goes_with_everything(world: World) {
    let project = world.project("alpha").await;
    let gone = |seconds| Stack {
        time_deleted: Some(at(seconds)),
        ..stack(&project, &format!("gone-{seconds}"))
    };
    let all = [gone(30), gone(10), gone(20), stack(&project, "lives")];
    for one in &all {
        with_everything(&world, one).await;
    }
    let delete = async |seconds, limit| -> u64 {
        let done: Result<u64> =
            world.tx("test", |tx| Box::pin(tx.stack_delete_old(at(seconds), limit))).await;
        done.unwrap()
    };
    let tables = tables(&world).await;
    let left = async || {
        let mut left = Vec::new();
        for one in &all {
            left.push(get(&world, one.id).await.is_some());
        }
        let stacks = left.iter().filter(|is_there| **is_there).count();
        for (table, count) in rows(&world, &tables).await {
            let meant = if table.starts_with("stack") { stacks } else { 0 };
            assert_eq!(count, meant, "{table}");
        }
        left
    };
    assert_eq!(left().await, [true; 4]);
    assert_eq!(delete(10, 9).await, 0);
    assert_eq!(delete(99, 1).await, 1);
    assert_eq!(left().await, [true, false, true, true], "the longest ago first");
    assert_eq!(delete(30, 9).await, 1);
    assert_eq!(left().await, [true, false, false, true]);
    assert_eq!(delete(99, 9).await, 1);
    assert_eq!(left().await, [false, false, false, true], "what lives stays");
}

async fn a_project_goes_with_what_was_of_its_stacks(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let stays = stack(&beta, "stays");
    let lives = stack(&alpha, "lives");
    let gone = Stack { time_deleted: Some(at(1)), ..stack(&alpha, "gone") };
    for one in [&stays, &lives, &gone] {
        with_everything(&world, one).await;
    }
    for project in [&alpha, &beta] {
        crate::stack_software::with_software(&world, project).await;
    }
    let delete = async || -> Result<Update> {
        world.tx("test", |tx| Box::pin(tx.project_delete(alpha.id, Generation::FIRST))).await
    };
    let refused = delete().await.unwrap_err();
    let reason = ConflictReason::InUse;
    assert!(matches!(refused, Error::Conflict { reason: r, .. } if r == reason));
    let lives = Stack { time_deleted: Some(at(2)), ..lives };
    let second = Generation::FIRST.next();
    assert_eq!(save(&world, StackChange::of(&lives), second).await, Update::Updated);
    assert_eq!(delete().await.unwrap(), Update::Updated);
    let tables = tables(&world).await;
    let rows = rows(&world, &tables).await;
    assert!(rows.values().all(|count| *count == 1), "{rows:?}");
    assert!(get(&world, stays.id).await.is_some());
}

async fn what_projects_have_of_stacks_is_counted(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let root = stack(&alpha, "one");
    let gone = Stack { time_deleted: Some(at(1)), ..stack(&beta, "gone") };
    for one in [&root, &nested(&alpha, &root, "below"), &stack(&alpha, "two"), &gone] {
        insert(&world, one).await;
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_count_in(alpha.id).await.unwrap(), 2);
    assert_eq!(read.stack_count_in(beta.id).await.unwrap(), 0);
    let usage = read.project_usage_all().await.unwrap();
    let meant = ProjectUsage { stacks: 2, ..ProjectUsage::default() };
    assert_eq!(usage, BTreeMap::from([(alpha.id, meant)]));
}

async fn what_must_not_be_done_again_after_a_restore_is_not(world: World) {
    let project = world.project("alpha").await;
    let one = stack(&project, "web");
    let rests = StackResource { deeds: 4, ..resource(&one, "rests") };
    let works =
        StackResource { deeds: 5, deed: Some(deed(Some(9), None)), ..resource(&one, "works") };
    let one = with_resources(&world, &one, &[rests, works]).await;
    let fresh = crate::stack_parts::plan(&one);
    let used = StackPlan { time_used: Some(at(3)), ..crate::stack_parts::plan(&one) };
    for plan in [&fresh, &used] {
        let done: Result<()> = world.tx("test", |tx| Box::pin(tx.stack_plan_insert(plan))).await;
        done.unwrap();
    }
    let settled: Result<u64> = world.tx("settle", |tx| Box::pin(tx.restore_settle(at(5)))).await;
    settled.unwrap();
    let mut read = world.read().await.unwrap();
    let deeds: Vec<u32> =
        read.stack_resources(one.id).await.unwrap().iter().map(|row| row.deeds).collect();
    assert!(deeds[0] > 1000, "others may know numbers that came after 4");
    assert_eq!(deeds[1], 5, "what is under way goes on");
    assert_eq!(read.stack_plan_get(fresh.id).await.unwrap(), None);
    assert_eq!(read.stack_plan_get(used.id).await.unwrap(), Some(used));
}
