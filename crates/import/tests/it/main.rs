//! Whole files as people have them, and the plans they become.

#![cfg(test)]

mod any_text;
mod attack;
mod compose;
mod crontab;
mod procfile;
mod supervisord;
mod systemd;

use hostler_import::{Plan, Source, Unreadable};

/// A plan as a person sees it: the files to be, and the remarks.
fn shown(plan: Result<Plan, Unreadable>) -> String {
    let plan = plan.unwrap();
    assert_is_valid(&plan);
    let mut text = String::new();
    for (name, spec) in &plan.workloads {
        text.push_str(&format!("---\n{}", hostler_manifest::to_yaml(name, spec)));
    }
    text.push_str("=====\n");
    for remark in &plan.remarks {
        let place = format!("{}:{}", remark.file, remark.line);
        text.push_str(&format!(
            "{place} {} {}\n    {}\n",
            remark.kind, remark.subject, remark.detail
        ));
    }
    text
}

/// Every spec is right by itself, and all of them together are a folder that Hostler would take.
fn assert_is_valid(plan: &Plan) {
    let mut text = String::new();
    for (name, spec) in &plan.workloads {
        assert_eq!(spec.problems(""), [], "{name}: {spec:?}");
        text.push_str(&format!("---\n{}", hostler_manifest::to_yaml(name, spec)));
    }
    if plan.workloads.is_empty() {
        return;
    }
    let set = hostler_manifest::load_str("plan.yaml", &text)
        .unwrap_or_else(|report| panic!("{report:?}\n{text}"));
    assert_eq!(set.len(), plan.workloads.len());
    for (name, spec) in &plan.workloads {
        assert_eq!(set.get(name.as_str()), Some(spec), "{text}");
    }
}

fn source<'a>(file: &'a str, text: &'a str) -> Source<'a> {
    Source { file, text }
}
