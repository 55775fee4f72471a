//! Kernel parameters below a root that has some.

use std::path::Path;

use hostler_host::sysctl::{PERSISTENT_FILE, Sysctl, apply_all, exists, get, list, reload};
use hostler_host::{HostError, Primitive, Privilege};

use crate::world::*;

fn machine() -> World {
    let world = World::with("sysctl");
    world.write("/proc/sys/net/ipv4/ip_forward", "0\n");
    world.write("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
    world.write("/proc/sys/net/ipv4/conf/eth0.5/forwarding", "1\n");
    world.write("/proc/sys/vm/swappiness", "60\n");
    world
}

#[tokio::test]
async fn the_kernel_gets_a_value() {
    let world = machine();
    let forward = Sysctl::new("net.ipv4.ip_forward", "1");
    let outcome = world.applies(&forward).await;
    assert_eq!(outcome.render(), "net.ipv4.ip_forward: 0 -> 1\n");
    assert_eq!(world.read("/proc/sys/net/ipv4/ip_forward"), "1\n");
    world.is_settled(&Sysctl::new("net.ipv4.tcp_rmem", "4096 131072 6291456")).await;
    let error = world.refuses(&Sysctl::new("net.ipv4.none", "1")).await;
    assert!(matches!(error, HostError::Absent { .. }), "{error}");
    world.refuses(&Sysctl::new("../../etc/passwd", "1")).await;
    world.refuses(&Sysctl::new("vm.swappiness", "1\n2")).await;
}

#[tokio::test]
async fn a_value_lasts_in_a_file() {
    let world = machine();
    let forward = Sysctl { persistent: true, ..Sysctl::new("net.ipv4.ip_forward", "1") };
    world.applies(&forward).await;
    assert_eq!(world.read(PERSISTENT_FILE), "net.ipv4.ip_forward = 1\n");
    let other = Sysctl { value: "0".into(), ..forward.clone() };
    world.applies(&other).await;
    assert_eq!(world.read(PERSISTENT_FILE), "net.ipv4.ip_forward = 0\n");
    let file = Sysctl {
        file: Some("/etc/sysctl.conf".into()),
        runtime: false,
        persistent: true,
        ..Sysctl::new("vm.swappiness", "10")
    };
    world.write("/etc/sysctl.conf", "# x\nvm/swappiness=60\n");
    world.applies(&file).await;
    assert_eq!(world.read("/etc/sysctl.conf"), "# x\nvm.swappiness = 10\n");
    assert_eq!(world.read("/proc/sys/vm/swappiness"), "60\n", "only the file");
    world.removes(&file).await;
    assert_eq!(world.read("/etc/sysctl.conf"), "# x\n");
}

#[tokio::test]
async fn with_sudo_the_program_is_told() {
    let world = machine();
    let host = world.host_as(Privilege::Sudo);
    Sysctl::new("vm.swappiness", "5").apply(&host).await.unwrap();
    assert_eq!(world.ran(), ["sudo -n -- env LC_ALL=C sysctl -q -w vm.swappiness=5"]);
}

#[tokio::test]
async fn parameters_are_told_and_listed() {
    let world = machine();
    let host = &world.host;
    assert_eq!(get(host, "vm.swappiness").await.unwrap(), "60");
    assert!(exists(host, "vm.swappiness").await.unwrap() && !exists(host, "vm.x").await.unwrap());
    assert!(!exists(host, "net.ipv4").await.unwrap());
    assert!(matches!(get(host, "vm.x").await, Err(HostError::Absent { .. })));
    let all = list(host, None).await.unwrap();
    assert_eq!(all.len(), 4);
    for parameter in &all {
        assert_eq!(get(host, &parameter.name).await.unwrap(), parameter.value);
    }
    assert!(all.iter().any(|found| found.name == "net/ipv4/conf/eth0.5/forwarding"));
    let found = list(host, Some("^vm\\.")).await.unwrap();
    assert_eq!((found.len(), found[0].name.as_str()), (1, "vm.swappiness"));
    assert!(matches!(list(host, Some("(")).await, Err(HostError::Pattern { .. })));
}

#[tokio::test]
async fn files_are_loaded() {
    let world = machine();
    let host = &world.host;
    world.write("/etc/sysctl.conf", "# c\nvm.swappiness = 10\nnet.ipv4.ip_forward=0\nodd\n");
    let plan = reload(host, None).await.unwrap();
    assert_eq!(plan.outcome().render(), "vm.swappiness: 60 -> 10\n");
    assert_eq!(world.ran(), Vec::<String>::new());
    plan.perform(host).await.unwrap();
    apply_all(host).await.unwrap().perform(host).await.unwrap();
    assert_eq!(world.told(), ["sysctl -p /etc/sysctl.conf", "sysctl --system"]);
    assert!(reload(host, Some(Path::new("/etc/none"))).await.is_err());
    assert!(matches!(apply_all(&World::new().host).await, Err(HostError::Missing { .. })));
}
