use hostler_import::{Variables, procfile};

use crate::{shown, source};

const PROCFILE: &str = include_str!("files/Procfile");

#[test]
fn of_a_rails_application() {
    insta::assert_snapshot!(shown(procfile(&[source("Procfile", PROCFILE)], &Variables::new())));
}

#[test]
fn variables_of_the_file_beside_it() {
    let env =
        hostler_import::variables(source(".env", "PORT=8080\nRACK_ENV=production\n")).unwrap();
    let plan = procfile(&[source("Procfile", PROCFILE)], &env).unwrap();
    assert!(plan.workloads.iter().all(|(_, spec)| spec.env == env));
    assert!(!plan.remarks.iter().any(|remark| remark.subject.contains("PORT")));
}

#[test]
fn lines_that_are_none_are_refused() {
    let error = procfile(&[source("f", "web: x\nno command\n")], &Variables::new()).unwrap_err();
    assert_eq!(error.to_string(), "f:2:1: this is not `name: command`");
}
