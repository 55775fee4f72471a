//! The distribution, and who starts services.

use hostler_host::facts::{Init, distribution, init};

use crate::world::*;

#[tokio::test]
async fn the_distribution_is_told() {
    let world = World::new();
    assert_eq!(distribution(&world.host).await.unwrap().id, "");
    world.write("/usr/lib/os-release", "ID=fallback\n");
    assert_eq!(distribution(&world.host).await.unwrap().id, "fallback");
    world.write("/etc/os-release", "ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"24.04\"\n");
    let found = distribution(&world.host).await.unwrap();
    assert_eq!((found.id.as_str(), found.version.as_str()), ("ubuntu", "24.04"));
    assert!(found.is_like("debian"));
}

#[test]
fn who_starts_services_is_told() {
    let world = World::new();
    assert_eq!(init(&world.host).unwrap(), Init::Unknown);
    world.mkdir("/etc/init.d").write("/etc/inittab", "");
    assert_eq!(init(&world.host).unwrap(), Init::Sysv);
    world.mkdir("/run/openrc");
    assert_eq!(init(&world.host).unwrap(), Init::Openrc);
    world.mkdir("/run/systemd/system");
    assert_eq!(init(&world.host).unwrap(), Init::Systemd);
}
