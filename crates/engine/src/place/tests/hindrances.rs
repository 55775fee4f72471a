//! What keeps a task waiting, in one word.

use hostler_model::Hindrance;

use super::*;

#[test]
fn the_nearest_node_says_it() {
    let away = |n| NodeOffer { state: NodeState::Offline, ..node(n, 4) };
    let cordoned = |n| NodeOffer { cordon: Some("disk".to_owned()), ..node(n, 4) };
    let full = |n| {
        let used = Amounts { cores: Cores::from_millis(4000), ..Amounts::default() };
        NodeOffer { used, ..node(n, 4) }
    };
    let memory = |mib| Resources { memory: Bytes::mib(mib), ..cores(100) };
    let gpus = Resources { gpus: GpuRequest { count: 1, ..GpuRequest::default() }, ..cores(100) };
    let named = Shape {
        rules: PlacementRules { node: Some("elsewhere".parse().unwrap()), ..Default::default() },
        ..shape(cores(100))
    };
    for (shape, nodes, word) in [
        (shape(cores(100)), vec![], Hindrance::NoNodes),
        (shape(cores(100)), vec![node(1, 4)], Hindrance::Queue),
        (shape(cores(100)), vec![away(1), away(2)], Hindrance::NotOnline),
        (shape(cores(100)), vec![cordoned(1)], Hindrance::Cordoned),
        (shape(cores(100)), vec![full(1), away(2)], Hindrance::Cores),
        (shape(memory(100_000)), vec![node(1, 4)], Hindrance::Memory),
        (shape(gpus), vec![node(1, 4)], Hindrance::Gpus),
        (named, vec![node(1, 4)], Hindrance::Rules),
        // What waiting can help with comes before what it cannot.
        (
            shape(memory(5000)),
            vec![
                node(1, 4),
                full(2),
                NodeOffer {
                    used: Amounts { memory: Bytes::mib(8000), ..Amounts::default() },
                    ..node(3, 8)
                },
            ],
            Hindrance::Memory,
        ),
    ] {
        assert_eq!(hindrance(&shape, &nodes), word);
    }
}
