use hostler_import::{CrontabForm, crontab};

use crate::{shown, source};

#[test]
fn of_a_user() {
    let text = include_str!("files/ada.crontab");
    let sources = [source("/var/spool/cron/crontabs/ada", text)];
    insta::assert_snapshot!(shown(crontab(&sources, CrontabForm::Guess)));
}

#[test]
fn of_the_system() {
    let text = include_str!("files/etc-crontab");
    let by_place = shown(crontab(&[source("/etc/crontab", text)], CrontabForm::Guess));
    insta::assert_snapshot!(by_place);
    let by_text = shown(crontab(&[source("stdin", text)], CrontabForm::Guess));
    assert_eq!(by_text.replace("stdin:", "/etc/crontab:"), by_place);
}

#[test]
fn the_form_can_be_said() {
    let text = "5 4 * * * deploy /usr/bin/x\n";
    let plan = crontab(&[source("f", text)], CrontabForm::System).unwrap();
    assert_eq!(plan.workloads[0].1.user.as_deref(), Some("deploy"));
    let plan = crontab(&[source("f", text)], CrontabForm::User).unwrap();
    assert_eq!(plan.workloads[0].1.command[2], "deploy /usr/bin/x");
}

#[test]
fn what_cron_would_refuse_is_refused_where_it_is_wrong() {
    for (text, place) in [
        ("# ok\n\n* * * * true\n", "f:3:9: "),
        ("61 * * * * true\n", "f:1:1: "),
        ("0 0 30 2 * true\n", "f:1:1: "),
        ("@sometimes true\n", "f:1:1: "),
        ("* * * * *\n", "f:1:1: "),
        ("nonsense\n", "f:1:1: "),
    ] {
        let error = crontab(&[source("f", text)], CrontabForm::Guess).unwrap_err();
        assert!(error.to_string().starts_with(place), "{text}: {error}");
    }
}

#[test]
fn a_zone_that_does_not_exist_is_said() {
    let text = "CRON_TZ=Mars/Olympus\n0 3 * * * true\n";
    let plan = crontab(&[source("f", text)], CrontabForm::Guess).unwrap();
    crate::assert_is_valid(&plan);
    let said = plan.remarks.iter().any(|remark| remark.subject == "true.mode.schedule.timezone");
    assert!(said, "{:?}", plan.remarks);
}
