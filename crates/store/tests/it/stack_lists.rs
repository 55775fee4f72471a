//! Lists of stacks: every filter, every order, page by page, compared with what is meant.

use hostler_model::stack::*;
use hostler_model::*;
use hostler_store::{StackFilter, StackOrder, StackSort, Update};

use crate::stacks::{insert, nested, stack};
use crate::world::*;

crate::conformance!(
    stacks_are_filtered,
    stacks_are_listed_in_every_order_page_by_page,
    a_page_goes_on_after_where_a_stack_stands,
);

const DIRECTIONS: [bool; 2] = [true, false];

/// All pages, with so many on each.
async fn listed(
    world: &World,
    filter: StackFilter<'_>,
    order: StackOrder<'_>,
    on_page: u32,
) -> Vec<Stack> {
    let mut read = world.read().await.unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = read.stack_list(filter, order, after.as_deref(), limit(on_page)).await.unwrap();
        assert!(page.items.len() <= on_page as usize);
        seen.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(read.stack_count(filter).await.unwrap(), seen.len() as u64, "{filter:?}");
    seen
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

async fn stacks_are_filtered(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let tagged = |tags: &[&str], stack: Stack| Stack {
        options: StackOptions { tags: strings(tags), ..StackOptions::default() },
        ..stack
    };
    let (create, update) = (StackAction::Create, StackAction::Update);
    let (complete, failed) = (StackStatus::Complete, StackStatus::Failed);
    let standing =
        |action, status, reason: &str| StackStanding { action, status, reason: reason.to_owned() };
    let root = Stack {
        standing: standing(create, complete, "good"),
        ..tagged(&["a", "b"], stack(&alpha, "root"))
    };
    let below = Stack {
        standing: standing(update, complete, "good"),
        ..tagged(&["a"], nested(&alpha, &root, "root-below"))
    };
    let gone = Stack {
        time_deleted: Some(at(5)),
        standing: standing(StackAction::Delete, complete, "gone"),
        ..stack(&alpha, "gone")
    };
    let broken = Stack {
        standing: standing(update, failed, "Timed out"),
        ..tagged(&["b", "A", "ab", "100%"], stack(&alpha, "broken"))
    };
    let mut begun = stack(&alpha, "begun");
    begun.options.is_rollback_enabled = true;
    begun.options.timeout = Some(Span::from_secs(3600));
    begun.options.drift_every = Some(Span::from_secs(600));
    begun.options.tags = strings(&["\"timeout\":\"2h\""]);
    let elsewhere = tagged(&["a"], stack(&beta, "root"));
    let all = [root.clone(), below, gone, broken.clone(), begun, elsewhere];
    for one in &all {
        insert(&world, one).await;
    }
    let mine = StackFilter { project: Some(alpha.id), ..StackFilter::default() };
    let every = StackFilter { with_deleted: true, with_nested: true, ..mine };
    let names = strings(&["root", "gone", "x"]);
    let reasons = strings(&["good", "Timed out"]);
    let ids = [root.id, broken.id, all[5].id];
    let principals = [broken.mandate.principal];
    let (a, b, ab) = (strings(&["a"]), strings(&["b"]), strings(&["a", "b"]));
    let odd = strings(&["100%"]);
    let none = strings(&["x"]);
    let half = strings(&["10_%"]);
    let in_progress = StackStatus::InProgress;
    let (hours, one) = ([1, 2].map(|hours| Span::from_secs(3600 * hours)), [Span::from_secs(7200)]);
    for (what, filter, meant) in [
        ("mine", mine, vec![0, 3, 4]),
        ("every", every, vec![0, 1, 2, 3, 4]),
        ("deleted", StackFilter { with_deleted: true, ..mine }, vec![0, 2, 3, 4]),
        ("nested", StackFilter { with_nested: true, ..mine }, vec![0, 1, 3, 4]),
        ("everywhere", StackFilter::default(), vec![0, 3, 4, 5]),
        ("ids", StackFilter { ids: &ids, ..mine }, vec![0, 3]),
        ("ids everywhere", StackFilter { ids: &ids, ..StackFilter::default() }, vec![0, 3, 5]),
        ("names", StackFilter { names: &names, ..mine }, vec![0]),
        ("names of all", StackFilter { names: &names, ..every }, vec![0, 2]),
        ("actions", StackFilter { actions: &[create], ..mine }, vec![0, 4]),
        ("two actions", StackFilter { actions: &[create, update], ..every }, vec![0, 1, 3, 4]),
        ("statuses", StackFilter { statuses: &[failed, in_progress], ..every }, vec![3, 4]),
        ("both", StackFilter { actions: &[update], statuses: &[complete], ..every }, vec![1]),
        (
            "standings",
            StackFilter { standings: &[(Some(create), complete), (None, failed)], ..every },
            vec![0, 3],
        ),
        (
            "standings and action",
            StackFilter { standings: &[(None, complete)], actions: &[update], ..every },
            vec![1],
        ),
        ("reasons", StackFilter { reasons: &reasons, ..every }, vec![0, 1, 3]),
        ("parents", StackFilter { parents: &[root.id], ..every }, vec![1]),
        ("principals", StackFilter { principals: &principals, ..every }, vec![3]),
        ("tag", StackFilter { tags: &a, ..every }, vec![0, 1]),
        ("tags", StackFilter { tags: &ab, ..every }, vec![0]),
        ("any tag", StackFilter { tags_any: &ab, ..every }, vec![0, 1, 3]),
        ("not both", StackFilter { not_tags: &ab, ..every }, vec![1, 2, 3, 4]),
        ("neither", StackFilter { not_tags_any: &ab, ..every }, vec![2, 4]),
        ("b not a", StackFilter { tags: &b, not_tags_any: &a, ..every }, vec![3]),
        ("odd tag", StackFilter { tags_any: &odd, ..every }, vec![3]),
        ("no pattern", StackFilter { tags_any: &half, ..every }, vec![]),
        ("no such tag", StackFilter { tags: &none, ..every }, vec![]),
        ("undone", StackFilter { is_rollback_enabled: Some(true), ..mine }, vec![4]),
        ("not undone", StackFilter { is_rollback_enabled: Some(false), ..mine }, vec![0, 3]),
        ("timeouts", StackFilter { timeouts: &hours, ..every }, vec![4]),
        ("a tag is no timeout", StackFilter { timeouts: &one, ..every }, vec![]),
        ("drift", StackFilter { looks_for_drift: true, ..every }, vec![4]),
        ("not that", StackFilter { not_tags: &none, not_tags_any: &none, ..mine }, vec![0, 3, 4]),
    ] {
        let order = StackOrder { keys: &[], is_ascending: true };
        let meant: Vec<Stack> = meant.into_iter().map(|n: usize| all[n].clone()).collect();
        let found = listed(&world, filter, order, 2).await;
        assert_eq!(found, meant, "{what}");
    }
}

/// By hand, what the database is to do.
fn sorted(mut stacks: Vec<Stack>, order: StackOrder<'_>) -> Vec<Stack> {
    let keys = if order.keys.is_empty() { &[StackSort::Created] } else { order.keys };
    stacks.sort_by(|a, b| {
        let by_key = keys.iter().map(|key| match key {
            StackSort::Created => a.time_created.cmp(&b.time_created),
            StackSort::Updated => a.time_updated.cmp(&b.time_updated),
            StackSort::Name => a.name.as_str().as_bytes().cmp(b.name.as_str().as_bytes()),
            StackSort::Status => a.standing.status.label().cmp(b.standing.status.label()),
        });
        by_key.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then(a.id.cmp(&b.id))
    });
    if !order.is_ascending {
        stacks.reverse();
    }
    stacks
}

async fn stacks_are_listed_in_every_order_page_by_page(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let mut all = Vec::new();
    for n in 0..23_u32 {
        let project = if n % 5 == 4 { &beta } else { &alpha };
        let mut one = stack(project, &format!("{}{n}", ["a", "B", "b.", "A-"][n as usize % 4]));
        one.time_created = at(i64::from(n * 7 % 5));
        one.time_updated = (n % 3 > 0).then(|| at(i64::from(n * 11 % 4)));
        one.standing.status = StackStatus::ALL[n as usize % 3];
        insert(&world, &one).await;
        all.push(one);
    }
    let mine: Vec<Stack> =
        all.iter().filter(|stack| stack.project_id == alpha.id).cloned().collect();
    use StackSort::{Created, Name, Status, Updated};
    for keys in [
        [].as_slice(),
        &[Created],
        &[Updated],
        &[Name],
        &[Status],
        &[Status, Updated],
        &[Updated, Status, Name],
        &[Name, Created],
    ] {
        for is_ascending in DIRECTIONS {
            let order = StackOrder { keys, is_ascending };
            let filter = StackFilter { project: Some(alpha.id), ..StackFilter::default() };
            let found = listed(&world, filter, order, 4).await;
            assert_eq!(found, sorted(mine.clone(), order), "{order:?}");
            let found = listed(&world, StackFilter::default(), order, 1000).await;
            assert_eq!(found, sorted(all.clone(), order), "{order:?} everywhere");
        }
    }
    let mut read = world.read().await.unwrap();
    let every = StackFilter::default();
    let begins = read.stack_list(every, StackOrder::default(), None, limit(3)).await.unwrap();
    let nobody = StackId::from_uuid(next_uuid()).to_string();
    for unknown in [nobody.as_str(), "", "not-an-id"] {
        let page = read.stack_list(every, StackOrder::default(), Some(unknown), limit(3)).await;
        assert_eq!(page.unwrap(), begins, "{unknown}");
    }
}

async fn a_page_goes_on_after_where_a_stack_stands(world: World) {
    let project = world.project("alpha").await;
    let mut all = Vec::new();
    for n in 0..4 {
        let mut one = stack(&project, &format!("s{n}"));
        one.standing.status = StackStatus::Complete;
        insert(&world, &one).await;
        all.push(one);
    }
    let order = StackOrder { keys: &[StackSort::Status], is_ascending: true };
    let page = async |after: Option<&str>| {
        let mut read = world.read().await.unwrap();
        read.stack_list(StackFilter::default(), order, after, limit(2)).await.unwrap()
    };
    let first = page(None).await;
    assert_eq!(first.next.as_deref(), Some(all[1].id.to_string().as_str()));
    let mut moved = all[3].clone();
    moved.standing.status = StackStatus::Failed;
    let done: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.stack_update(&moved, Generation::FIRST))).await;
    assert_eq!(done.unwrap(), Update::Updated);
    moved.generation = Generation::FIRST.next();
    let second = page(first.next.as_deref()).await;
    assert_eq!((second.items, second.next), (vec![all[2].clone(), moved.clone()], None));
    let after_moved = page(Some(&moved.id.to_string())).await;
    assert_eq!(after_moved.items, []);
}
