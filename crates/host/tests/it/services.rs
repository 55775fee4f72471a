//! Services, with a `systemctl` that says what it is told to.

use hostler_host::service::{
    Service, UnitFile, daemon_reload, is_active, is_enabled, list, list_text, reload, remove,
    restart, show, status,
};
use hostler_host::{HostError, Plan, Primitive};

use crate::world::*;

fn machine(active: &str, enabled: &str) -> World {
    let world = World::with("systemctl");
    let code = |is: bool| if is { 0 } else { 3 };
    world.answer("systemctl is-active", code(active == "active"), &format!("{active}\n"), "");
    world.answer("systemctl is-enabled", code(enabled == "enabled"), &format!("{enabled}\n"), "");
    world
}

async fn performed(world: &World, plan: Result<Plan, HostError>) -> Vec<String> {
    assert_eq!(world.told(), Vec::<String>::new());
    plan.unwrap().perform(&world.host).await.unwrap();
    world.told()
}

#[tokio::test]
async fn a_service_is_brought_to_its_state() {
    let on = Service { running: Some(true), enabled: Some(true), ..Service::named("app") };
    let off = Service { running: Some(false), enabled: Some(false), ..Service::named("app") };
    let table: [(&str, &str, &Service, &[&str]); 6] = [
        ("active", "enabled", &on, &[]),
        ("inactive", "enabled", &on, &["systemctl start -- app.service"]),
        (
            "failed",
            "disabled",
            &on,
            &["systemctl enable -- app.service", "systemctl start -- app.service"],
        ),
        ("active", "static", &on, &[]),
        (
            "active",
            "enabled",
            &off,
            &["systemctl disable -- app.service", "systemctl stop -- app.service"],
        ),
        ("inactive", "disabled", &off, &[]),
    ];
    for (active, enabled, service, expected) in table {
        let world = machine(active, enabled);
        let checked = service.check(&world.host).await.unwrap();
        assert_eq!(world.told(), Vec::<String>::new());
        let applied = service.apply(&world.host).await.unwrap();
        assert_eq!((checked.changed, &checked.diff), (applied.changed, &applied.diff));
        assert_eq!(world.told(), expected);
        assert_eq!(applied.changed, !expected.is_empty());
    }
    let world = machine("active", "enabled");
    let outcome = Service::named("app").remove(&world.host).await.unwrap();
    assert_eq!(
        outcome.render(),
        "app.service at boot: enabled -> disabled\napp.service: active -> inactive\n"
    );
    assert!(!Service::named("app").apply(&world.host).await.unwrap().changed);
}

#[tokio::test]
async fn a_unit_that_does_not_exist_yet_can_be_checked() {
    let world = World::with("systemctl");
    world.answer("systemctl is-", 1, "", "Failed to get unit file state for x.service\n");
    let service = Service { running: Some(true), enabled: Some(true), ..Service::named("x") };
    let checked = service.check(&world.host).await.unwrap();
    assert_eq!(checked.diff[0].before.as_deref(), Some("not-found"));
    world.answer("systemctl enable", 1, "", "Unit x.service does not exist\n");
    let error = service.apply(&world.host).await.unwrap_err();
    assert!(error.to_string().contains("Unit x.service does not exist"), "{error}");
}

#[tokio::test]
async fn without_systemd_it_says_so() {
    let world = World::new();
    let service = Service { running: Some(true), ..Service::named("x") };
    let error = world.refuses(&service).await;
    assert_eq!(error.to_string(), "systemctl is missing: this machine does not run systemd");
    world.refuses(&UnitFile::new("app", "/bin/app")).await;
    let world = World::with("systemctl");
    world.answer("systemctl is-active", 1, "", "Failed to connect to bus: No such file\n");
    assert!(matches!(world.refuses(&service).await, HostError::Failed { .. }));
}

#[tokio::test]
async fn a_unit_file_is_written_once_and_read_by_systemd() {
    let world = machine("active", "enabled");
    let unit = UnitFile::new("app", "/usr/bin/app");
    world.applies(&unit).await;
    assert_eq!(world.told(), ["systemctl daemon-reload"], "only when it was written");
    assert_eq!(world.read("/etc/systemd/system/app.service"), unit.render().unwrap());
    assert_eq!(world.mode("/etc/systemd/system/app.service"), 0o644);
    world.removes(&unit).await;
    assert_eq!(
        world.told(),
        [
            "systemctl disable -- app.service",
            "systemctl stop -- app.service",
            "systemctl daemon-reload",
        ]
    );
    assert!(remove(&world.host, "app").await.unwrap().is_empty());
    world.refuses(&UnitFile::new("app", "/bin/a\nUser=root")).await;
}

#[tokio::test]
async fn actions_are_changes_each_time() {
    let world = machine("active", "enabled");
    let host = &world.host;
    let ran = performed(&world, restart(host, "app").await).await;
    assert_eq!(ran, ["systemctl restart -- app.service"]);
    let ran = performed(&world, reload(host, "app.socket").await).await;
    assert_eq!(ran, ["systemctl reload -- app.socket"]);
    assert_eq!(performed(&world, daemon_reload(host).await).await, ["systemctl daemon-reload"]);
    assert!(restart(host, "-x").await.is_err());
}

#[tokio::test]
async fn states_are_told() {
    let world = machine("failed", "enabled");
    let host = &world.host;
    assert_eq!(is_active(host, "app").await.unwrap(), (false, "failed".into()));
    assert_eq!(is_enabled(host, "app").await.unwrap(), (true, "enabled".into()));
    world.answer("systemctl status", 3, "● app.service - inactive\n", "");
    assert!(status(host, "app").await.unwrap().contains("inactive"));
    world.answer("systemctl status", 4, "", "Unit none.service could not be found.\n");
    assert!(matches!(status(host, "none").await, Err(HostError::Absent { .. })));
    world.answer("systemctl show", 0, "Id=app.service\nType=simple\n", "");
    assert!(show(host, "app").await.unwrap().contains("Type=simple"));
    world.calls();
    world.answer(
        "systemctl list-units",
        0,
        "a.service loaded active running The A\nb.service loaded failed failed The B\n",
        "",
    );
    let all = list(host, Some("failed")).await.unwrap();
    assert_eq!((all.len(), all[1].active.as_str()), (2, "failed"));
    assert!(list_text(host, None, false).await.unwrap().contains("The A"));
    let ran = world.ran();
    assert!(ran[0].ends_with("--state=failed --no-legend"), "{ran:?}");
    assert!(!ran[1].contains("--no-legend") && !ran[1].contains("--state"), "{ran:?}");
    assert!(list(host, Some("a b")).await.is_err());
}
