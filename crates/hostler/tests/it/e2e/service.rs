//! The agent as a service: the unit that is written for it, and what it tells the service manager. What
//! takes a real systemd is checked by `make test-vm`.

use std::os::unix::net::UnixDatagram;

use rustix::process::Signal;

use crate::rig::{Cli, DEADLINE, Rig, until};

#[test]
fn the_unit_is_written_once_and_not_over_the_changes_of_others() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let root = rig.path("root");
    let install = |more: &[&str]| {
        let words = ["agent", "install", "--program", "/usr/bin/hostler", "--root"];
        cli.run(&[&words[..], &[root.to_str().unwrap()], more].concat())
    };
    let path = root.join("etc/systemd/system/hostler-agent.service");
    let unit = || std::fs::read_to_string(&path).unwrap();

    assert!(install(&[]).must(0).err.contains("Wrote "));
    let written = unit();
    for line in [
        "Type=notify",
        "WatchdogSec=60",
        "KillMode=process",
        "Delegate=yes",
        "OOMPolicy=continue",
        "Restart=always",
        "Slice=hostler.slice",
        "StateDirectory=hostler/agent",
        "ExecStart=/usr/bin/hostler agent run --data-dir /var/lib/hostler/agent",
        "ConditionPathExists=/var/lib/hostler/agent/identity",
    ] {
        assert!(written.lines().any(|one| one == line), "{line} is missing in:\n{written}");
    }
    let leaking = ["NoNewPrivileges", "Protect", "Private", "Restrict", "SystemCall", "Capability"];
    for line in written.lines().filter(|line| !line.starts_with('#')) {
        assert!(!leaking.iter().any(|word| line.starts_with(word)), "reaches workloads: {line}");
        assert!(!line.contains('@'), "not filled in: {line}");
    }
    assert_eq!(install(&[]).must(0).err, "", "nothing to do");

    std::fs::write(&path, written.replace("RestartSec=1\n", "RestartSec=7\nNice=5\n")).unwrap();
    let refused = install(&[]).must(5).err;
    for line in ["-RestartSec=7", "-Nice=5", "+RestartSec=1", "--force"] {
        assert!(refused.contains(line), "{line} is missing in:\n{refused}");
    }
    assert!(unit().contains("Nice=5"), "nothing was written");
    install(&["--force"]).must(0);
    assert_eq!(unit(), written);
}

#[test]
fn the_unit_says_what_was_asked_for() {
    let rig = Rig::new();
    let print =
        |words: &[&str]| Cli::new(&rig).ok(&[&["agent", "install", "--print"], words].concat());
    let alone = print(&["--standalone", "/srv/jobs", "--data-dir", "/srv/agent"]);
    assert!(alone.contains(" agent up --standalone /srv/jobs --data-dir /srv/agent\n"), "{alone}");
    assert!(alone.contains("agent reload --data-dir /srv/agent\n"), "{alone}");
    assert!(alone.contains("RequiresMountsFor=/srv/agent /srv/jobs\n"), "{alone}");
    assert!(!alone.contains("StateDirectory=") && !alone.contains("Condition"), "{alone}");
    let user = print(&["--user", "deploy"]);
    assert!(user.contains("\nUser=deploy\n") && !user.contains("Slice="), "{user}");
    let odd = Cli::new(&rig).run(&["agent", "install", "--print", "--data-dir", "/srv/a b"]);
    assert!(odd.must(2).err.contains("cannot be written into a unit"));
    let server = Cli::new(&rig).ok(&["server", "install", "--print"]);
    assert!(
        server.contains("\nUser=hostler-server\n") && server.contains("\nNoNewPrivileges=yes\n")
    );
}

#[test]
fn the_service_manager_hears_when_all_is_supervised_and_that_it_still_is() {
    let rig = Rig::new();
    std::fs::create_dir_all(rig.path("workloads")).unwrap();
    let workload = "{name: web, mode: forever, command: [sleep, '100000']}";
    std::fs::write(rig.path("workloads").join("web.yaml"), workload).unwrap();
    let address = rig.path("notify");
    let manager = UnixDatagram::bind(&address).unwrap();
    manager.set_nonblocking(true).unwrap();
    let heard = |words: &str| {
        let mut bytes = [0; 512];
        until(words, || {
            let length = manager.recv(&mut bytes).ok()?;
            let message = String::from_utf8_lossy(&bytes[..length]).into_owned();
            message.starts_with(words).then_some(message)
        })
    };
    let (directory, data_dir) = (rig.path("workloads"), rig.path("agent"));
    let mut agent = Cli::new(&rig)
        .with("NOTIFY_SOCKET", address.to_str().unwrap())
        .with("WATCHDOG_USEC", "200000")
        .spawn(
            "agent",
            &[
                "agent",
                "up",
                "--on-stop",
                "stop",
                "--standalone",
                directory.to_str().unwrap(),
                "--data-dir",
                data_dir.to_str().unwrap(),
            ],
        );
    assert_eq!(heard("READY=1"), "READY=1\nSTATUS=supervises 1 workload");
    heard("WATCHDOG=1");
    heard("WATCHDOG=1");
    agent.signal(Signal::TERM);
    heard("STOPPING=1");
    assert_eq!(agent.wait_within(DEADLINE).0, 0);
}
