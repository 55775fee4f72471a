//! Files that are written to do harm.

use std::time::{Duration, Instant};

use hostler_import::Variables;

use crate::source;

#[test]
fn a_yaml_bomb_in_a_compose_file_is_refused() {
    let mut aliases = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (letter, before) in ('b'..='k').zip('a'..) {
        let ten = vec![format!("*{before}"); 10].join(", ");
        aliases.push_str(&format!("{letter}: &{letter} [{ten}]\n"));
    }
    let deep = format!("services: {}", "[".repeat(200_000));
    for (name, text) in [("aliases", aliases), ("depth", deep)] {
        let begun = Instant::now();
        let read = hostler_import::compose(&[source("compose.yaml", &text)], &Variables::new());
        assert!(read.is_err(), "{name}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{name} took {:?}", begun.elapsed());
    }
}
