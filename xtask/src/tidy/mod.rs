//! Rules of the house that no compiler knows.
//!
//! A rule is a function from the tree (or from `cargo metadata`) to findings, in one file with the
//! tests that show what it catches. A *finding* fails the build; a *note* is only said. To add a rule,
//! write the file and add a line to [`run`].

mod addresses;
mod budget;
mod conformance;
mod docs;
mod edges;
mod graph;
mod manifests;
mod marks;
mod rust_text;
mod sizes;
mod sql;
mod words;

use std::fmt;

use anyhow::Context;

use crate::{Tree, generate};

/// A broken rule: which one, where, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: &'static str,
    pub place: String,
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.rule, self.detail)
    }
}

#[derive(Debug, Default)]
pub struct Report {
    pub findings: Vec<Finding>,
    pub notes: Vec<String>,
}

impl Report {
    fn find(&mut self, rule: &'static str, place: impl Into<String>, detail: impl Into<String>) {
        self.findings.push(Finding { rule, place: place.into(), detail: detail.into() });
    }

    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// Checks everything.
pub fn run(tree: &Tree) -> anyhow::Result<Report> {
    let mut report = Report::default();
    sizes::check(tree, &mut report);
    marks::check(tree, &mut report);
    addresses::check(tree, &mut report);
    manifests::check(tree, &mut report);
    sql::check(tree, &mut report);
    words::check(tree, &mut report);
    docs::check(tree, &mut report);
    conformance::check(tree, &mut report);
    let graph = graph::Graph::load(tree.root())?;
    let rules = tree.text("deps.toml").context("deps.toml is missing")?;
    edges::check(&graph, rules, &mut report)?;
    budget::check(&graph, &mut report);
    for path in generate::stale(tree.root())? {
        report.find("generated", path, "is out of date; run `cargo xtask gen`");
    }
    Ok(report)
}
