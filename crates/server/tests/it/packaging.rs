//! The alert rules and the dashboard that are shipped: they ask for nothing that there is not, and what says
//! it knows Prometheus agrees with them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hostler_server::metrics::{CATALOGUE, MetricDoc, WAITING};
use serde_json::Value;

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(packaging().join(name)).unwrap()
}

/// Every expression of the dashboard.
fn dashboard() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&read("grafana/hostler.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let mut found: Vec<String> =
        targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect();
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    found.extend(variables.filter_map(|one| one["definition"].as_str().map(str::to_owned)));
    found
}

/// Every `expr:` of the rules, folded ones in one line.
fn rules() -> Vec<String> {
    let text = read("prometheus/hostler.rules.yml");
    let mut found: Vec<String> = Vec::new();
    let mut is_folded = false;
    for line in text.lines() {
        if let Some((_, expression)) = line.split_once("        expr: ") {
            is_folded = expression == ">-";
            found.push(if is_folded { String::new() } else { expression.to_owned() });
        } else if is_folded && line.starts_with("          ") {
            found.last_mut().unwrap().push_str(line.trim());
            found.last_mut().unwrap().push(' ');
        } else {
            is_folded = false;
        }
    }
    found
}

/// Names of ours in an expression, each with the labels that are asked about right behind it.
fn asked(expression: &str) -> Vec<(String, Vec<String>)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = expression;
    while let Some(start) = rest.find("hostler_") {
        let tail = &rest[start..];
        let end = tail.find(|c: char| !is_word(c)).unwrap_or(tail.len());
        let (name, after) = tail.split_at(end);
        let selector = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let labels = selector.map_or(Vec::new(), |(inner, _)| {
            let terms = inner.split(',').filter_map(|term| term.split(['=', '!']).next());
            terms.map(|label| label.trim().to_owned()).collect()
        });
        found.push((name.to_owned(), labels));
        rest = after;
    }
    found
}

/// As scraped: a histogram is three.
fn documented(name: &str) -> Vec<&'static MetricDoc> {
    let is = |doc: &&MetricDoc| {
        doc.name == name
            || doc.kind == "histogram"
                && ["_bucket", "_count", "_sum"]
                    .iter()
                    .any(|end| format!("{}{end}", doc.name) == name)
    };
    CATALOGUE.iter().filter(is).collect()
}

#[test]
fn rules_and_dashboard_ask_for_what_there_is() {
    let (rules, dashboard) = (rules(), dashboard());
    assert!(rules.len() >= 20 && dashboard.len() >= 30, "{} {}", rules.len(), dashboard.len());
    let mut names = BTreeSet::new();
    for expression in rules.iter().chain(&dashboard) {
        for (name, labels) in asked(expression) {
            let docs = documented(&name);
            assert!(!docs.is_empty(), "there is no {name}, which is asked for in {expression}");
            for label in labels {
                let has = |doc: &&MetricDoc| doc.labels.contains(&label.as_str());
                let known = label == "le" || docs.iter().any(has);
                assert!(known, "{name} has no {label}, which is asked about in {expression}");
            }
            names.insert(name);
        }
    }
    for page in
        ["hostler_node_up", "hostler_workload_restarts_total", "hostler_queue_wait_seconds_bucket"]
    {
        assert!(names.contains(page), "{page}");
    }
}

#[test]
fn what_waits_on_purpose_is_slow_nowhere() {
    let endpoints: BTreeSet<&str> = hostler_api::all().iter().map(|one| one.name).collect();
    for name in WAITING {
        assert!(*name == "none" || endpoints.contains(name), "there is no endpoint {name}");
    }
    let left_out = format!("endpoint!~\"{}\"", WAITING.join("|"));
    let (rules, dashboard) = (rules(), dashboard());
    let durations = rules
        .iter()
        .chain(&dashboard)
        .filter(|expression| expression.contains("hostler_http_request_duration_seconds_bucket"));
    let mut count = 0;
    for expression in durations {
        assert!(expression.contains(&left_out), "{expression} should have {left_out}");
        count += 1;
    }
    assert!(count >= 2, "{count}");
}

#[test]
fn a_wrong_name_would_be_found() {
    let asked_for = asked("sum(rate(hostler_nodez{state=\"up\",x!=\"y\"}[5m])) / hostler_sessions");
    let labels = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    assert_eq!(
        asked_for,
        [
            ("hostler_nodez".to_owned(), labels(&["state", "x"])),
            ("hostler_sessions".to_owned(), Vec::new())
        ]
    );
    assert!(documented("hostler_nodez").is_empty());
    assert!(documented("hostler_sessions_bucket").is_empty());
    assert_eq!(documented("hostler_queue_wait_seconds_bucket").len(), 1);
}

#[test]
fn every_alert_says_what_to_do_and_is_in_the_guide() {
    let text = read("prometheus/hostler.rules.yml");
    let guide = std::fs::read_to_string(packaging().join("../docs/running/metrics.md")).unwrap();
    let alerts: Vec<&str> = text.split("      - alert: ").skip(1).collect();
    for alert in &alerts {
        let name = alert.lines().next().unwrap();
        for field in ["expr:", "for:", "severity:", "summary:", "description:"] {
            assert!(alert.contains(field), "{name} has no {field}");
        }
        assert!(guide.contains(&format!("`{name}`")), "docs/running/metrics.md lacks {name}");
    }
    assert_eq!(alerts.len(), rules().len());
}

/// Debian's package `prometheus` has it; `make test` installs it.
#[expect(clippy::print_stdout, reason = "whoever runs the tests should see what was left out")]
fn promtool(words: &[&str]) -> Option<(bool, String)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|dir| dir.join("promtool").is_file()) {
        println!("SKIPPED: `promtool` is not installed");
        return None;
    }
    #[expect(clippy::disallowed_methods, reason = "this test is about what another program says")]
    let mut command = std::process::Command::new("promtool");
    let ran = command.args(words).current_dir(packaging().join("prometheus")).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    Some((ran.status.success(), said.into_owned()))
}

#[test]
fn prometheus_agrees_with_the_rules() {
    let cases: [&[&str]; 3] = [
        &["check", "rules", "hostler.rules.yml"],
        &["test", "rules", "hostler.rules.test.yml"],
        &["check", "config", "--syntax-only", "prometheus.yml"],
    ];
    for words in cases {
        let Some((is_good, said)) = promtool(words) else { return };
        assert!(is_good, "{words:?}: {said}");
    }
}
