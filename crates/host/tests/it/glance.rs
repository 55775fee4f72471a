//! Looking at a machine: processes, disks, logs, services and users at a glance.

use std::time::Duration;

use hostler_host::accounts::profiles;
use hostler_host::disks::{largest, mounts};
use hostler_host::facts::{Init, reboot_wanted};
use hostler_host::logs::{self, Source, Wanted};
use hostler_host::package::upgrade_some;
use hostler_host::processes::{self, Seen};
use hostler_host::service::{overview, require_systemd};
use hostler_host::{Host, HostError};
use rustix::process::Signal;

use crate::world::*;

fn wanted(lines: u32) -> Wanted {
    Wanted { lines, ..Wanted::default() }
}

#[tokio::test]
async fn this_process_is_among_the_processes() {
    let found = processes::list(&Host::local(), Duration::from_millis(10)).await.unwrap();
    let me = found.iter().find(|process| process.pid == std::process::id()).unwrap();
    assert_eq!(me.uid, uid());
    assert!(me.memory > 0 && me.threads > 0 && !me.command.is_empty());
    assert!(me.started.unwrap() > 1_600_000_000);
    assert!(me.cpu >= 0.0);
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "something to be signalled, which is no workload")]
async fn only_the_process_that_was_seen_is_signalled() {
    let host = Host::local();
    let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let pid = child.id();
    let find = async || {
        let found = processes::list(&host, Duration::ZERO).await.unwrap();
        found.into_iter().find(|process| process.pid == pid).unwrap()
    };
    let start_ticks = find().await.start_ticks;
    let seen = |start_ticks, name: &str| Seen { pid, start_ticks, name: name.to_owned() };
    for wrong in [seen(start_ticks + 1, "sleep"), seen(start_ticks, "slept")] {
        let error = processes::signal(&host, wrong, Signal::KILL).await.unwrap_err();
        assert!(error.to_string().contains("another process"), "{error}");
    }
    assert!(child.try_wait().unwrap().is_none());
    let plan = processes::signal(&host, seen(start_ticks, "sleep"), Signal::TERM).await.unwrap();
    assert!(plan.outcome().message.contains("SIGTERM"));
    assert!(child.try_wait().unwrap().is_none(), "a plan does nothing");
    assert!(plan.perform(&host).await.unwrap().changed);
    let status = child.wait().unwrap();
    assert!(!status.success());
    let plan = processes::signal(&host, seen(start_ticks, "sleep"), Signal::TERM).await.unwrap();
    assert!(plan.is_empty(), "it is gone, and that is fine");
    let own = Seen { pid: std::process::id(), start_ticks: 0, name: String::new() };
    for pid in [0, 1, std::process::id()] {
        let refused = processes::signal(&host, Seen { pid, ..own.clone() }, Signal::KILL).await;
        assert!(matches!(refused, Err(HostError::Invalid { .. })));
    }
}

#[tokio::test]
async fn the_root_is_mounted_and_measured() {
    let found = mounts(&Host::local()).await.unwrap();
    let root = found.iter().find(|mount| mount.point == "/").unwrap();
    assert!(root.size > 0 && root.size >= root.free && root.free >= root.available);
}

#[tokio::test]
async fn what_is_largest_is_told_once_and_links_are_not_followed() {
    let world = World::new();
    world.write("/srv/a/big", vec![1; 300_000]).write("/srv/a/small", vec![1; 5_000]);
    world.write("/srv/b/middle", vec![1; 100_000]).write("/elsewhere/huge", vec![1; 900_000]);
    world.symlink("/srv/b/link", "../../elsewhere");
    std::fs::hard_link(world.at("/srv/a/big"), world.at("/srv/b/again")).unwrap();
    let found = largest(&world.host, "/srv", 3).await.unwrap();
    let paths: Vec<String> = found.trees.iter().map(|t| t.path.display().to_string()).collect();
    let total: u64 = found.trees.iter().filter(|t| !t.is_directory).map(|t| t.size).sum();
    assert_eq!(found.trees.len(), 3);
    assert!(total < 500_000, "a file with two names counts once: {paths:?}");
    assert!(paths.iter().all(|path| path.starts_with("/srv/")), "{paths:?}");
    assert_eq!(found.note, None);
    assert!(largest(&world.host, "/srv/a/big", 3).await.is_err());
    assert!(largest(&world.host, "/nowhere", 3).await.is_err());
}

#[tokio::test]
async fn logs_are_read_below_their_folder_and_nowhere_else() {
    let world = World::new();
    world.write("/var/log/syslog", "one\ntwo\nthree\n").write("/etc/shadow", "root:secret\n");
    world.mkdir("/var/log/app");
    world.symlink("/var/log/app/out", "../../../etc/shadow").symlink("/var/log/here", "syslog");
    let read = async |path: &str| {
        logs::read(&world.host, &Source::File(path.to_owned()), &wanted(2)).await
    };
    let system = logs::read(&world.host, &Source::System, &wanted(2)).await.unwrap();
    assert_eq!((system.source.as_str(), system.is_cut), ("/var/log/syslog", true));
    assert_eq!(system.lines.iter().map(|l| l.text.as_str()).collect::<Vec<_>>(), ["two", "three"]);
    assert_eq!(read("/var/log/here").await.unwrap().lines.len(), 2);
    for bad in [
        "/etc/shadow",
        "/var/log/../../etc/shadow",
        "/var/log/app/out",
        "../../etc/shadow",
        "app",
        "/var/log/none",
    ] {
        let error = read(bad).await.unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    let service = logs::read(&world.host, &Source::Service("ssh".into()), &wanted(2)).await;
    assert!(service.unwrap_err().to_string().contains("journal"));
    let bad = Wanted { grep: Some("(".into()), ..wanted(2) };
    assert!(matches!(
        logs::read(&world.host, &Source::System, &bad).await,
        Err(HostError::Pattern { .. })
    ));
}

#[tokio::test]
async fn the_journal_is_asked_where_there_is_one() {
    let world = World::with("journalctl systemctl");
    world.mkdir("/run/systemd/system");
    let entries = "{\"__REALTIME_TIMESTAMP\":\"3\",\"MESSAGE\":\"late\",\"PRIORITY\":\"6\"}\n\
                   {\"__REALTIME_TIMESTAMP\":\"2\",\"MESSAGE\":\"early bird\",\"PRIORITY\":\"3\"}\n";
    world.answer("journalctl", 0, entries, "");
    let asked = Wanted { since: Some(1), until: Some(9), priority: Some(4), ..wanted(10) };
    let read = logs::read(&world.host, &Source::Service("ssh".into()), &asked).await.unwrap();
    let texts: Vec<&str> = read.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["early bird", "late"], "the newest is last");
    assert!(!read.is_cut);
    let ran = world.ran().join("\n");
    assert!(ran.contains("-u ssh.service --since=@1 --until=@9 --priority=4"), "{ran}");
    let one = Wanted { grep: Some("^early".into()), ..wanted(10) };
    let read = logs::read(&world.host, &Source::System, &one).await.unwrap();
    assert_eq!(read.lines.len(), 1);
    let bad = logs::read(&world.host, &Source::Service("-x".into()), &wanted(1)).await;
    assert!(matches!(bad, Err(HostError::Invalid { .. })));
}

#[tokio::test]
async fn a_machine_without_systemd_says_what_it_has() {
    let world = World::new();
    let found = overview(&world.host, None).await.unwrap();
    assert_eq!((found.init, found.services.len()), (Init::Unknown, 0));
    assert!(found.note.unwrap().contains("no service manager"));
    world.write("/etc/init.d/ssh", "").write("/etc/init.d/README", "").write("/etc/inittab", "");
    world.chmod("/etc/init.d/ssh", 0o755).chmod("/etc/init.d/README", 0o644);
    let found = overview(&world.host, None).await.unwrap();
    assert_eq!((found.init, found.services[0].name.as_str()), (Init::Sysv, "ssh"));
    assert_eq!(found.services.len(), 1);
    assert!(found.note.unwrap().contains("does not run systemd"));
    assert!(overview(&world.host, Some("failed")).await.unwrap().services.is_empty());
    assert!(require_systemd(&world.host).unwrap_err().to_string().contains("systemd is missing"));
    assert!(world.ran().is_empty(), "nothing was run to find out");
}

#[tokio::test]
async fn users_are_told_with_their_groups_and_locks() {
    let world = World::new();
    world.write("/etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:100:Ann:/srv/ann:/bin/sh\n");
    world.write("/etc/group", "root:x:0:\nusers:x:100:\nwheel:x:10:ann\n");
    let found = profiles(&world.host).await.unwrap();
    assert_eq!(found[1].groups, ["users", "wheel"]);
    assert_eq!((found[0].is_system, found[1].is_system), (true, false));
    assert_eq!(found[0].is_locked, None, "there is no shadow file to know from");
    world.write("/etc/shadow", "root:!:1::::::\nann:$6$a$b:1::::::\n");
    let found = profiles(&world.host).await.unwrap();
    assert_eq!((found[0].is_locked, found[1].is_locked), (Some(true), Some(false)));
}

#[tokio::test]
async fn only_what_is_named_and_newer_is_upgraded() {
    let world = World::with("apt-get");
    world.answer("apt-get -s", 0, "Inst a [1] (2)\nInst b [1] (2)\n", "");
    let names = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
    let plan = upgrade_some(&world.host, &names(&["a", "c"])).await.unwrap();
    assert_eq!(plan.outcome().diff.len(), 1);
    plan.perform(&world.host).await.unwrap();
    let told = world.told();
    assert!(told[0].ends_with("install --only-upgrade a"), "{told:?}");
    assert!(upgrade_some(&world.host, &names(&["c"])).await.unwrap().is_empty());
    assert!(upgrade_some(&world.host, &names(&["-y"])).await.is_err());
}

#[test]
fn a_restart_is_wanted_by_packages() {
    let world = World::new();
    assert_eq!(reboot_wanted(&world.host).unwrap(), None);
    world.write("/var/run/reboot-required", "*** System restart required ***\n");
    assert_eq!(reboot_wanted(&world.host).unwrap().unwrap(), "packages were upgraded");
    world.write("/var/run/reboot-required.pkgs", "linux-image\nlibc6\nlinux-image\n");
    assert_eq!(reboot_wanted(&world.host).unwrap().unwrap(), "libc6, linux-image");
}
