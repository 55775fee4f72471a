use hostler_import::supervisord;

use crate::{shown, source};

#[test]
fn of_a_shop() {
    let text = include_str!("files/supervisord.conf");
    insta::assert_snapshot!(shown(supervisord(&[source("supervisord.conf", text)])));
}

#[test]
fn included_files_are_given_too() {
    let main = "[include]\nfiles=conf.d/*.conf\n";
    let program = "[program:a]\ncommand=sleep 1\n";
    let plan = supervisord(&[source("s.conf", main), source("conf.d/a.conf", program)]).unwrap();
    assert_eq!(plan.workloads.len(), 1);
    assert_eq!(plan.remarks.len(), 1);
}

#[test]
fn what_supervisord_would_refuse_is_refused_where_it_is_wrong() {
    for (text, expected) in [
        ("[program:a]\nuser=x\n", "f:1:1: `a` has no command"),
        ("[program:a]\ncommand=it's\n", "f:2:1: the command of `a`: a quote is not closed"),
        ("[program:a]\ncommand=x\nenvironment=A\n", "f:3:1: this is no environment"),
        ("x=1\n", "f:1:1: a setting before the first section"),
    ] {
        let error = supervisord(&[source("f", text)]).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
}
