//! What belongs to stacks besides their resources: definitions, revisions, snapshots, plans, drift, and what they use of
//! one another.

use hostler_model::stack::*;
use hostler_model::*;
use hostler_store::{Error, StackChange, Update};
use serde_json::json;

use crate::stacks::{deed, definition, insert, resource, save, stack, stack_name};
use crate::workflows::digest;
use crate::world::*;

crate::conformance!(
    definitions_stay_while_something_refers_to_them,
    revisions_are_what_was_written,
    snapshots_are_what_was_written,
    a_snapshot_ends_once,
    plans_are_what_was_written,
    a_plan_is_used_once,
    plans_are_sealed_anew,
    old_plans_are_removed,
    what_was_found_last_is_kept,
    who_uses_what_is_known_by_name,
);

pub fn revision(stack: &Stack, number: u32) -> StackRevision {
    StackRevision {
        stack_id: stack.id,
        number,
        definition: crate::stacks::definition_id(),
        action: StackAction::Update,
        reason: "because \u{1F600}".to_owned(),
        resources: 3,
        sealed: vec![0, 9, 255],
        created_by: actor(),
        time_created: at(4),
    }
}

pub fn snapshot(stack: &Stack, text: &str) -> StackSnapshot {
    StackSnapshot {
        id: StackSnapshotId::from_uuid(next_uuid()),
        stack_id: stack.id,
        name: text.to_owned(),
        status: StackStatus::InProgress,
        reason: "Stack SNAPSHOT started".to_owned(),
        definition: crate::stacks::definition_id(),
        sealed: vec![3, 0],
        created_by: actor(),
        time_created: at(5),
    }
}

pub fn plan(stack: &Stack) -> StackPlan {
    StackPlan {
        id: StackPlanId::from_uuid(next_uuid()),
        project_id: stack.project_id,
        stack_id: stack.id,
        base: Generation::from_u64(3),
        digest: digest(6),
        sealed: vec![0, 1, 2],
        changes: json!([{ "name": "a", "do": "create" }]),
        created_by: actor(),
        time_created: at(1),
        time_expires: at(100),
        time_used: None,
    }
}

pub fn drift(stack: &Stack, seconds: i64) -> StackDrift {
    StackDrift {
        stack_id: stack.id,
        traversal: Generation::from_u64(2),
        looked: 9,
        changed: 2,
        missing: 1,
        unknown: 3,
        report: json!({ "a": { "size": [1, 2] } }),
        time: at(seconds),
    }
}

pub fn uses(stack: &Stack, on: &str) -> StackDependency {
    StackDependency {
        stack_id: stack.id,
        project_id: stack.project_id,
        on: stack_name(on),
        outputs: vec!["address".to_owned(), "a b".to_owned()],
    }
}

async fn definitions_stay_while_something_refers_to_them(world: World) {
    let project = world.project("alpha").await;
    let (web, other) = (stack(&project, "web"), stack(&project, "other"));
    insert(&world, &other).await;
    let all: [StackDefinition; 8] = std::array::from_fn(|_| definition(&web));
    let [wanted, settled, made, meant, numbered, kept, ..] = all.each_ref().map(|one| one.id);
    let web = Stack { wanted: Some(wanted), settled: Some(settled), ..web };
    insert(&world, &web).await;
    let elsewhere = definition(&other);
    let rows = [
        StackResource { definition: Some(made), ..resource(&web, "a") },
        StackResource {
            deed: Some(Deed { definition: Some(meant), ..deed(None, None) }),
            ..resource(&web, "b")
        },
    ];
    let change = StackChange { resources: &rows, ..StackChange::of(&web) };
    assert_eq!(save(&world, change, Generation::FIRST).await, Update::Updated);
    let numbered = StackRevision { definition: numbered, ..revision(&web, 1) };
    let kept = StackSnapshot { definition: kept, ..snapshot(&web, "s") };
    let parts = (&all, &elsewhere, &numbered, &kept, web.id);
    let gone: Result<u64> = world
        .tx("test", |tx| {
            Box::pin(async move {
                let (all, elsewhere, numbered, kept, id) = parts;
                for one in all.iter().chain([elsewhere]) {
                    tx.stack_definition_insert(one).await?;
                }
                tx.stack_revision_insert(numbered).await?;
                tx.stack_snapshot_insert(kept).await?;
                tx.stack_definition_prune(id).await
            })
        })
        .await;
    assert_eq!(gone.unwrap(), 2);
    let mut read = world.read().await.unwrap();
    let left: Vec<StackDefinitionId> = all[..6].iter().map(|one| one.id).collect();
    assert_eq!(read.stack_definition_ids(web.id).await.unwrap(), left);
    assert_eq!(read.stack_definition_ids(other.id).await.unwrap(), [elsewhere.id]);
    assert_eq!(read.stack_definition_get(wanted).await.unwrap().as_ref(), Some(&all[0]));
    assert_eq!(read.stack_definition_get(all[7].id).await.unwrap(), None);
    drop(read);
    let bare = Stack { wanted: None, settled: None, ..web.clone() };
    let change = StackChange { gone: &[rows[0].id, rows[1].id], ..StackChange::of(&bare) };
    assert_eq!(save(&world, change, Generation::FIRST.next()).await, Update::Updated);
    let gone: Result<u64> =
        world.tx("test", |tx| Box::pin(tx.stack_definition_prune(web.id))).await;
    assert_eq!(gone.unwrap(), 4);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_definition_ids(web.id).await.unwrap(), left[4..]);
}

async fn revisions_are_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let (web, other) = (stack(&project, "web"), stack(&project, "other"));
    insert(&world, &web).await;
    insert(&world, &other).await;
    let enter = async |revision: &StackRevision| -> Result<()> {
        world.tx("test", |tx| Box::pin(tx.stack_revision_insert(revision))).await
    };
    let all: Vec<StackRevision> = (1..=12).map(|number| revision(&web, number)).collect();
    for one in all.iter().chain([&revision(&other, 3)]) {
        enter(one).await.unwrap();
    }
    assert!(matches!(enter(&revision(&web, 4)).await.unwrap_err(), Error::Conflict { .. }));
    let mut read = world.read().await.unwrap();
    let newest: Vec<StackRevision> = all.iter().rev().cloned().collect();
    let first = read.stack_revision_list(web.id, None, limit(7)).await.unwrap();
    assert_eq!((first.items.as_slice(), first.next.as_deref()), (&newest[..7], Some("6")));
    let second = read.stack_revision_list(web.id, Some("6"), limit(7)).await.unwrap();
    assert_eq!((second.items.as_slice(), second.next), (&newest[7..], None));
    assert_eq!(read.stack_revision_get(web.id, 4).await.unwrap().as_ref(), Some(&all[3]));
    assert_eq!(read.stack_revision_get(other.id, 4).await.unwrap(), None);
    drop(read);
    let gone: Result<u64> =
        world.tx("test", |tx| Box::pin(tx.stack_revision_delete_before(web.id, 11))).await;
    assert_eq!(gone.unwrap(), 10);
    let mut read = world.read().await.unwrap();
    let left = read.stack_revision_list(web.id, None, limit(9)).await.unwrap();
    assert_eq!(left.items, newest[..2]);
    assert!(read.stack_revision_get(other.id, 3).await.unwrap().is_some());
}

async fn put_snapshot(world: &World, snapshot: &StackSnapshot) {
    let done: Result<()> =
        world.tx("test", |tx| Box::pin(tx.stack_snapshot_insert(snapshot))).await;
    done.unwrap();
}

async fn snapshots_are_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let (web, other) = (stack(&project, "web"), stack(&project, "other"));
    insert(&world, &web).await;
    insert(&world, &other).await;
    let all = ["one", "one", "three \u{1F600}"].map(|text| snapshot(&web, text));
    for one in all.iter().chain([&snapshot(&other, "one")]) {
        put_snapshot(&world, one).await;
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_snapshot_count(web.id).await.unwrap(), 3);
    assert_eq!(read.stack_snapshot_get(all[2].id).await.unwrap().as_ref(), Some(&all[2]));
    let first = read.stack_snapshot_list(web.id, None, limit(2)).await.unwrap();
    assert_eq!(first.items, all[..2]);
    let second = read.stack_snapshot_list(web.id, first.next.as_deref(), limit(2)).await.unwrap();
    assert_eq!((second.items.as_slice(), second.next), (&all[2..], None));
    drop(read);
    for is_there in [true, false] {
        let gone: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.stack_snapshot_delete(all[0].id))).await;
        assert_eq!(gone.unwrap(), is_there);
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_snapshot_count(web.id).await.unwrap(), 2);
    assert_eq!(read.stack_snapshot_get(all[0].id).await.unwrap(), None);
}

async fn a_snapshot_ends_once(world: World) {
    let project = world.project("alpha").await;
    let web = stack(&project, "web");
    insert(&world, &web).await;
    let begun = snapshot(&web, "s");
    put_snapshot(&world, &begun).await;
    let ended = StackSnapshot {
        status: StackStatus::Complete,
        reason: "done".to_owned(),
        sealed: vec![9; 9],
        ..begun.clone()
    };
    let failed = StackSnapshot { status: StackStatus::Failed, ..begun.clone() };
    for (one, is_first) in [(&ended, true), (&failed, false)] {
        let done: Result<bool> = world.tx("test", |tx| Box::pin(tx.stack_snapshot_end(one))).await;
        assert_eq!(done.unwrap(), is_first);
    }
    let found = world.read().await.unwrap().stack_snapshot_get(begun.id).await.unwrap();
    assert_eq!(found, Some(ended));
}

async fn put_plan(world: &World, plan: &StackPlan) {
    let done: Result<()> = world.tx("test", |tx| Box::pin(tx.stack_plan_insert(plan))).await;
    done.unwrap();
}

async fn plan_of(world: &World, id: StackPlanId) -> Option<StackPlan> {
    world.read().await.unwrap().stack_plan_get(id).await.unwrap()
}

async fn plans_are_what_was_written(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    // A plan may be of a stack that is not there yet.
    let (web, new, other) = (stack(&alpha, "web"), stack(&alpha, "new"), stack(&beta, "other"));
    insert(&world, &web).await;
    let all = [
        plan(&web),
        StackPlan { base: Generation::ZERO, ..plan(&new) },
        plan(&other),
        StackPlan { time_used: Some(at(9)), ..plan(&web) },
        plan(&web),
    ];
    for one in &all {
        put_plan(&world, one).await;
        assert_eq!(plan_of(&world, one.id).await.as_ref(), Some(one));
    }
    let list = async |stack, after: Option<&str>| {
        let mut read = world.read().await.unwrap();
        read.stack_plan_list(alpha.id, stack, after, limit(2)).await.unwrap()
    };
    let first = list(None, None).await;
    assert_eq!(first.items, [all[4].clone(), all[3].clone()], "newest first");
    let second = list(None, first.next.as_deref()).await;
    assert_eq!((second.items, second.next), (vec![all[1].clone(), all[0].clone()], None));
    let first = list(Some(web.id), None).await;
    assert_eq!(first.items, [all[4].clone(), all[3].clone()]);
    assert_eq!(list(Some(web.id), first.next.as_deref()).await.items, [all[0].clone()]);
    assert_eq!(list(Some(other.id), None).await.items, []);
    for is_there in [true, false] {
        let gone: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.stack_plan_delete(all[0].id))).await;
        assert_eq!(gone.unwrap(), is_there);
    }
}

async fn a_plan_is_used_once(world: World) {
    let project = world.project("alpha").await;
    let one = plan(&stack(&project, "web"));
    put_plan(&world, &one).await;
    let use_at = async |world: World, id, seconds| -> bool {
        let done: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.stack_plan_use(id, at(seconds)))).await;
        done.unwrap()
    };
    assert!(!use_at(world.clone(), one.id, 100).await, "it has expired");
    assert_eq!(plan_of(&world, one.id).await.as_ref(), Some(&one));
    let used = together(4, |_| use_at(world.clone(), one.id, 99)).await;
    assert_eq!(used.into_iter().filter(|is_used| *is_used).count(), 1);
    let meant = StackPlan { time_used: Some(at(99)), sealed: Vec::new(), ..one };
    assert_eq!(plan_of(&world, meant.id).await, Some(meant));
    let nobody = StackPlanId::from_uuid(next_uuid());
    assert!(!use_at(world.clone(), nobody, 9).await);
}

async fn plans_are_sealed_anew(world: World) {
    let project = world.project("alpha").await;
    let web = stack(&project, "web");
    let used = StackPlan { time_used: Some(at(1)), ..plan(&web) };
    let all = [plan(&web), used.clone(), plan(&web)];
    for one in &all {
        put_plan(&world, one).await;
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_plan_open_list(None, 1).await.unwrap(), [all[0].clone()]);
    let rest = read.stack_plan_open_list(Some(all[0].id), 9).await.unwrap();
    assert_eq!(rest, [all[2].clone()]);
    drop(read);
    for (plan, is_done) in [(&all[0], true), (&all[0], false), (&used, false)] {
        let done: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.stack_plan_reseal(plan, &[7]))).await;
        assert_eq!(done.unwrap(), is_done);
    }
    let meant = StackPlan { sealed: vec![7], ..all[0].clone() };
    assert_eq!(plan_of(&world, meant.id).await, Some(meant));
    assert_eq!(plan_of(&world, used.id).await, Some(used));
}

async fn old_plans_are_removed(world: World) {
    let project = world.project("alpha").await;
    let web = stack(&project, "web");
    let all = [30, 10, 20].map(|seconds| StackPlan { time_expires: at(seconds), ..plan(&web) });
    for one in &all {
        put_plan(&world, one).await;
    }
    let remove = async |seconds, limit| -> u64 {
        let done: Result<u64> =
            world.tx("test", |tx| Box::pin(tx.stack_plan_delete_old(at(seconds), limit))).await;
        done.unwrap()
    };
    assert_eq!(remove(10, 9).await, 0);
    assert_eq!(remove(99, 1).await, 1);
    assert_eq!(plan_of(&world, all[1].id).await, None, "the longest ago first");
    assert_eq!(remove(30, 9).await, 1);
    assert_eq!(plan_of(&world, all[0].id).await.as_ref(), Some(&all[0]));
    assert_eq!(plan_of(&world, all[2].id).await, None);
}

async fn what_was_found_last_is_kept(world: World) {
    let project = world.project("alpha").await;
    let (web, other) = (stack(&project, "web"), stack(&project, "other"));
    insert(&world, &web).await;
    insert(&world, &other).await;
    let clean = StackDrift { changed: 0, missing: 0, looked: 0, unknown: 0, ..drift(&web, 8) };
    let (first, late, elsewhere) = (drift(&web, 5), drift(&web, 4), drift(&other, 5));
    assert!(first.is_drifted() && !clean.is_drifted());
    for (one, is_kept) in
        [(&first, true), (&elsewhere, true), (&late, false), (&first, true), (&clean, true)]
    {
        let done: Result<bool> = world.tx("test", |tx| Box::pin(tx.stack_drift_put(one))).await;
        assert_eq!(done.unwrap(), is_kept);
        if is_kept {
            let found = world.read().await.unwrap().stack_drift_get(one.stack_id).await.unwrap();
            assert_eq!(found.as_ref(), Some(one));
        }
    }
    let mut read = world.read().await.unwrap();
    let nobody = StackId::from_uuid(next_uuid());
    assert_eq!(read.stack_drift_get(nobody).await.unwrap(), None);
    let mut found = read.stack_drift_get_batch(&[nobody, other.id, web.id]).await.unwrap();
    found.sort_by_key(|drift| drift.stack_id);
    assert_eq!(found, [clean, elsewhere]);
}

async fn who_uses_what_is_known_by_name(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let (web, api, other) = (stack(&alpha, "web"), stack(&alpha, "api"), stack(&beta, "web"));
    for stack in [&web, &api, &other] {
        insert(&world, stack).await;
    }
    let set = async |stack: &Stack, all: &[StackDependency]| {
        let done: Result<()> =
            world.tx("test", |tx| Box::pin(tx.stack_dependency_set(stack.id, all))).await;
        done.unwrap();
    };
    let of_web = [uses(&web, "api"), StackDependency { outputs: vec![], ..uses(&web, "base") }];
    let (of_api, of_other) = ([uses(&api, "base")], [uses(&other, "base")]);
    set(&web, &[uses(&web, "former")]).await;
    set(&web, &of_web).await;
    set(&api, &of_api).await;
    set(&other, &of_other).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_dependencies(web.id).await.unwrap(), of_web);
    let on_base = read.stack_dependents(alpha.id, "base").await.unwrap();
    assert_eq!(on_base, [of_web[1].clone(), of_api[0].clone()]);
    assert_eq!(read.stack_dependents(alpha.id, "former").await.unwrap(), []);
    assert_eq!(read.stack_dependents(beta.id, "base").await.unwrap(), of_other);
    let all = read.stack_dependency_list(alpha.id).await.unwrap();
    assert_eq!(all, [of_web.as_slice(), of_api.as_slice()].concat());
    drop(read);
    let gone = Stack { time_deleted: Some(at(4)), ..web.clone() };
    assert_eq!(save(&world, StackChange::of(&gone), Generation::FIRST).await, Update::Updated);
    set(&api, &[]).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_dependency_list(alpha.id).await.unwrap(), []);
    assert_eq!(read.stack_dependents(alpha.id, "base").await.unwrap(), []);
}
