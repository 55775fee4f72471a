use hostler_import::systemd;
use hostler_model::{DependencyCondition, Mode};

use crate::{shown, source};

#[test]
fn services_that_belong_together() {
    let sources = [
        source("shop.service", include_str!("files/shop.service")),
        source("shop-migrate.service", include_str!("files/shop-migrate.service")),
    ];
    insta::assert_snapshot!(shown(systemd(&sources)));
}

#[test]
fn a_timer_with_its_service() {
    let sources = [
        source("backup.service", include_str!("files/backup.service")),
        source("backup.timer", include_str!("files/backup.timer")),
    ];
    insta::assert_snapshot!(shown(systemd(&sources)));
}

#[test]
fn every_rhythm_of_a_timer() {
    let service = "[Service]\nType=oneshot\nExecStart=/bin/x\n";
    let mode = |timer: &str| {
        let timer = format!("[Timer]\n{timer}");
        let plan = systemd(&[source("a.service", service), source("a.timer", &timer)]).unwrap();
        crate::assert_is_valid(&plan);
        plan.workloads[0].1.clone()
    };
    assert!(matches!(mode("OnBootSec=5min\nOnUnitActiveSec=15min\n").mode,
        Mode::Schedule(schedule) if schedule.cron == "*/15 * * * *"));
    let again = mode("OnUnitInactiveSec=7min\n");
    assert_eq!((again.mode, again.restart.delay.to_string().as_str()), (Mode::Forever, "7m"));
    assert_eq!(mode("OnBootSec=5min\n").mode, Mode::Once);
    assert_eq!(mode("OnCalendar=2030-01-01\n").mode, Mode::Once);
}

#[test]
fn templates_instances_drop_ins_and_other_units() {
    let worker =
        "[Unit]\nBefore=front.service\n[Service]\nExecStart=/bin/w --queue %i\nRestart=always\n";
    let front = "[Unit]\nAfter=worker@mail.service\n[Service]\nExecStart=/bin/f\nRestart=always\n";
    let sources = [
        source("u/worker@mail.service", worker),
        source("u/worker@.service", worker),
        source("u/front.service", front),
        source("u/front.service.d/more.conf", "[Service]\nExecStart=\nExecStart=/bin/g\n"),
        source("u/front.socket", "[Socket]\nListenStream=80\n"),
        source("u/masked.service", ""),
        source("u/lonely.timer", "[Timer]\nOnCalendar=daily\n"),
    ];
    let plan = systemd(&sources).unwrap();
    crate::assert_is_valid(&plan);
    let (names, specs): (Vec<_>, Vec<_>) =
        plan.workloads.iter().map(|(name, spec)| (name.as_str(), spec)).unzip();
    assert_eq!(names, ["worker-mail", "worker", "front"]);
    assert_eq!(specs[0].command, ["/bin/w", "--queue", "mail"]);
    assert_eq!(specs[1].command, ["/bin/w", "--queue", "%i"]);
    assert_eq!(specs[2].command, ["/bin/g"]);
    assert_eq!(specs[2].depends.len(), 2);
    assert_eq!(specs[2].depends[0].condition, DependencyCondition::Started);
    for subject in ["front.socket", "lonely.timer", "masked.service", "worker", "worker@.ExecStart"]
    {
        assert!(
            plan.remarks.iter().any(|remark| remark.subject == subject),
            "{subject}: {:#?}",
            plan.remarks
        );
    }
}

#[test]
fn what_systemd_would_refuse_is_refused_where_it_is_wrong() {
    for (text, expected) in [
        ("[Service]\nUser=x\n", "a.service:1:1: `a.service` starts nothing"),
        (
            "[Service]\nExecStart=/bin/a 'b\n",
            "a.service:2:1: the command of ExecStart is not understood",
        ),
        ("ExecStart=x\n", "a.service:1:1: a setting before the first section"),
        ("[Service]\nnonsense\n", "a.service:2:1: this is neither a section nor a setting"),
    ] {
        let error = systemd(&[source("a.service", text)]).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
}
