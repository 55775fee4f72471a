use hostler_import::{Variables, compose};

use crate::{shown, source};

const SHOP: &str = include_str!("files/shop.compose.yaml");
const OVERRIDE: &str = include_str!("files/override.compose.yaml");
const SMALL: &str = include_str!("files/small.compose.yaml");

fn variables() -> Variables {
    [("DB_PASSWORD", "s3cret"), ("SECRET_KEY", "k")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

#[test]
fn a_shop() {
    insta::assert_snapshot!(shown(compose(&[source("compose.yaml", SHOP)], &variables())));
}

#[test]
fn a_file_over_another() {
    let sources = [source("compose.yaml", SHOP), source("override.yaml", OVERRIDE)];
    let plan = compose(&sources, &Variables::new()).unwrap();
    let web = &plan.workloads.iter().find(|(name, _)| name.as_str() == "web").unwrap().1;
    assert_eq!(web.command, ["gunicorn", "shop.wsgi", "--reload"]);
    assert_eq!(web.env["DEBUG"], "1");
    assert!(plan.remarks.iter().any(|remark| remark.file == "override.yaml"));
    assert!(plan.remarks.iter().any(|remark| remark.subject == "$DB_PASSWORD"));
    crate::assert_is_valid(&plan);
}

#[test]
fn values_that_cannot_stay() {
    insta::assert_snapshot!(shown(compose(&[source("small.yaml", SMALL)], &Variables::new())));
}

#[test]
fn what_is_no_compose_file_is_refused_where_it_is_wrong() {
    for (text, expected) in [
        ("", "f:1:1: there are no services"),
        ("a: 1\n", "f:1:1: there are no services"),
        ("services: [a]\n", "f:1:1: there are no services"),
        ("services:\n  a: 1\n", "f:2:1: `a` is not a service"),
        (
            "services:\n  a:\n    command: \"it's\"\n",
            "f:3:1: the command of `a`: a quote is not closed",
        ),
    ] {
        let error = compose(&[source("f", text)], &Variables::new()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
        assert!(!error.hint.is_empty());
    }
    let broken = compose(&[source("f", "services:\n  a: {b\n")], &Variables::new()).unwrap_err();
    assert!(broken.line >= 2 && broken.column > 1, "{broken}");
}
