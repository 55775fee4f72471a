//! What a task costs stays nearly the same when there are ten times as many tasks and nodes, counted in
//! nodes that are looked at: the same on every machine.

use super::*;

const WISHES: usize = 8;

/// One of several kinds of wishes, each of which lets most nodes be passed by in its own way.
fn wish(n: usize, millis: u32, memory: u64) -> Shape {
    let memory = Bytes::new(memory);
    let mut shape = shape(Resources { memory, ..cores(millis) });
    let rules = &mut shape.rules;
    match n % WISHES {
        0 => rules.over = Some("zone".to_owned()),
        1 => rules.near = Some("eu/city1".to_owned()),
        2 => drop(rules.selector.insert("zone".to_owned(), "z1".to_owned())),
        3 => rules.strategy = Some(Strategy::BinPack),
        4 => rules.strategy = Some(Strategy::Spread),
        5 => rules.prefer = vec!["label.zone = z0".parse().unwrap()],
        6 => rules.strategy = Some(Strategy::RoundRobin),
        _ => {}
    }
    shape
}

/// Ten tasks for each node.
fn crowd(nodes: usize, cores: u32, wish: impl Fn(usize) -> Shape) -> Scene {
    let place = |n: usize| {
        let mut node = node(n as u128, cores);
        node.name = format!("n{n:05}").parse().unwrap();
        node.labels.insert("zone".to_owned(), format!("z{}", n % 4));
        node.labels.insert("location".to_owned(), format!("eu/city{}", n % 20));
        node.used.cores = Cores::from_millis(u32::try_from(n * 37 % 1000).unwrap());
        node
    };
    let asks = (0..nodes * 10).map(|n| ask(n as u128, wish(n)));
    scene((0..nodes).map(place).collect(), asks.collect())
}

fn looks_for_each(scene: &Scene) -> f64 {
    place(&mut scene.clone()).looks as f64 / scene.queue.len() as f64
}

fn assert_linear(what: &str, scene: impl Fn(usize) -> Scene) {
    let (few, many) = (looks_for_each(&scene(40)), looks_for_each(&scene(400)));
    assert!(many < 2.0 * few + 4.0, "{what}: {few:.1} nodes for a task, then {many:.1}");
}

#[test]
fn ten_times_as_much_takes_ten_times_as_many_looks() {
    let sizes = [100, 200, 300, 400];
    let alike = |n: usize| wish(n, sizes[n % sizes.len()], 1 << 20);
    assert_linear("few kinds", |nodes| crowd(nodes, 16, alike));
    let distinct = |n: usize| wish(n, sizes[n % sizes.len()], (1 << 20) + n as u64);
    assert_linear("each of its own kind", |nodes| crowd(nodes, 16, distinct));
    assert_linear("room for a third of a few kinds", |nodes| crowd(nodes, 2, alike));
    let unspread = |n: usize| distinct(if n.is_multiple_of(4) { n + 1 } else { n });
    assert_linear("room for a third, each of its own kind", |nodes| crowd(nodes, 2, unspread));
}
