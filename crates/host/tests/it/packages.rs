//! Packages, with managers that say what they are told to.

use hostler_host::package::{
    LocalPackage, Manager, Package, Which, autoremove, clean, dependencies, info, is_installed,
    list, search, update, upgrade, version, which,
};
use hostler_host::{HostError, Plan, Primitive, Privilege};

use crate::world::*;

const APT_OPTIONS: &str = "-q -y -o Dpkg::Options::=--force-confdef -o \
                           Dpkg::Options::=--force-confold -o DPkg::Lock::Timeout=300";

/// A machine of each kind, where `bash` is installed and `nginx` is not.
fn machines() -> [(Manager, World); 6] {
    let with = |manager: Manager, asked: &str, code: i32, said: &str| {
        let world = World::with(manager.program());
        world.answer(asked, code, said, "x is not installed\n");
        (manager, world)
    };
    let rpm = "bash\t5.1-2\npackage nginx is not installed\n";
    [
        with(Manager::Apt, "dpkg-query -W", 1, "bash\t5.1-2\tii \n"),
        with(Manager::Dnf, "rpm -q ", 1, rpm),
        with(Manager::Yum, "rpm -q ", 1, rpm),
        with(Manager::Pacman, "pacman -Q ", 1, "bash 5.1-2\n"),
        with(Manager::Zypper, "rpm -q ", 1, rpm),
        with(Manager::Apk, "apk info -e -v", 1, "bash-5.1-r2\n"),
    ]
}

fn short(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| line.replace(APT_OPTIONS, "OPTIONS")).collect()
}

async fn performed(world: &World, plan: Result<Plan, HostError>) -> Vec<String> {
    assert_eq!(world.told(), Vec::<String>::new());
    plan.unwrap().perform(&world.host).await.unwrap();
    short(world.told())
}

#[test]
fn the_manager_is_found_in_order() {
    for (programs, expected) in [
        ("apk zypper pacman yum dnf apt-get", Manager::Apt),
        ("apk zypper pacman yum dnf", Manager::Dnf),
        ("apk zypper pacman yum", Manager::Yum),
        ("apk zypper pacman", Manager::Pacman),
        ("apk zypper", Manager::Zypper),
        ("apk", Manager::Apk),
    ] {
        assert_eq!(Manager::detect(&World::with(programs).host).unwrap(), expected);
    }
    let error = Manager::detect(&World::new().host).unwrap_err();
    assert!(error.to_string().contains("install one of apt-get, dnf"), "{error}");
}

#[tokio::test]
async fn only_what_is_missing_is_installed() {
    for (manager, world) in machines() {
        let wanted = Package::of(["bash", "nginx", "nginx"]);
        let checked = wanted.check(&world.host).await.unwrap();
        assert_eq!(checked.render(), "+ package nginx: installed\n", "{manager}");
        assert_eq!(world.told(), Vec::<String>::new());
        let applied = wanted.apply(&world.host).await.unwrap();
        assert_eq!(applied.message, "nginx is installed");
        let told = short(world.told());
        assert_eq!(told.len(), 1);
        assert!(told[0].ends_with(" nginx") && !told[0].contains("bash"), "{told:?}");
        let there = Package::of(["bash"]).apply(&world.host).await.unwrap();
        assert!(!there.changed && world.told().is_empty(), "{manager}");
    }
}

#[tokio::test]
async fn only_what_is_there_is_removed() {
    for (manager, world) in machines() {
        let outcome = Package::of(["bash", "nginx"]).remove(&world.host).await.unwrap();
        assert!(outcome.render().starts_with("- package bash: 5.1-"), "{manager}");
        let told = world.told();
        assert!(told.len() == 1 && told[0].ends_with(" bash"), "{told:?}");
        let gone = Package::of(["nginx"]).remove(&world.host).await.unwrap();
        assert!(!gone.changed && world.told().is_empty(), "{manager}");
    }
}

#[tokio::test]
async fn lists_are_fetched_before_installing_where_told() {
    let [(_, world), ..] = machines();
    let wanted = Package { update: true, purge: true, ..Package::of(["nginx"]) };
    wanted.apply(&world.host).await.unwrap();
    let calls = world.calls();
    let told: Vec<_> = calls.iter().filter(|call| call.is_privileged).collect();
    assert!(told[0].argv().join(" ").ends_with("update"));
    assert!(told.iter().all(|call| call.env[0].1 == "noninteractive"));
    let bash = Package { purge: true, ..Package::of(["bash"]) };
    bash.remove(&world.host).await.unwrap();
    assert_eq!(short(world.told()), ["apt-get OPTIONS purge bash"]);
    Package { update: true, ..Package::of(["bash"]) }.apply(&world.host).await.unwrap();
    assert!(world.told().is_empty(), "nothing to install, nothing to fetch");
}

#[tokio::test]
async fn rights_are_needed_and_sudo_does() {
    let [(_, world), ..] = machines();
    let nginx = Package::of(["nginx"]);
    let error = nginx.apply(&world.host_as(Privilege::Ordinary)).await.unwrap_err();
    assert!(error.to_string().contains("needs the rights of root"), "{error}");
    world.calls();
    nginx.apply(&world.host_as(Privilege::Sudo)).await.unwrap();
    let ran = short(world.ran());
    let through = "sudo -n -- env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get OPTIONS";
    assert_eq!(ran[1], format!("{through} install nginx"));
}

#[tokio::test]
async fn names_that_are_no_names_never_reach_a_manager() {
    for (_, world) in machines() {
        for name in ["", "-y", "--root=/", "/tmp/x", "a b", "a;b"] {
            world.refuses(&Package::of([name])).await;
            assert!(is_installed(&world.host, name).await.is_err());
            assert!(info(&world.host, name).await.is_err());
            assert!(dependencies(&world.host, name).await.is_err());
        }
        world.refuses(&Package::default()).await;
        assert!(search(&world.host, "-x").await.is_err());
        assert!(which(&world.host, "../sh").await.is_err());
        assert_eq!(world.ran(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_manager_that_fails_is_an_error_not_an_answer() {
    let world = World::with("apt-get");
    world.answer("dpkg-query", 2, "", "dpkg-query: error: the database is locked\n");
    let error = world.refuses(&Package::of(["nginx"])).await;
    assert!(error.to_string().contains("the database is locked"), "{error}");
    world.answer("dpkg-query", 1, "", "").answer("apt-get", 100, "", "E: Unable to locate\n");
    let error = Package::of(["nginx"]).apply(&world.host).await.unwrap_err();
    assert!(matches!(&error, HostError::Failed { code: Some(100), argv, .. }
        if argv[0] == "apt-get" && argv.last().unwrap() == "nginx"));
    world.answer_cut("dpkg-query", "nginx\t1\tii \n");
    assert!(matches!(world.refuses(&Package::of(["nginx"])).await, HostError::TooMuch { .. }));
}

#[tokio::test]
async fn versions_are_told() {
    for (manager, world) in machines() {
        let found = version(&world.host, "bash").await.unwrap().unwrap();
        assert!(found.starts_with("5.1-"), "{manager}");
        assert_eq!(version(&world.host, "nginx").await.unwrap(), None);
        assert!(is_installed(&world.host, "bash").await.unwrap());
        assert!(!is_installed(&world.host, "nginx").await.unwrap());
    }
    let world = World::with("apt-get");
    world.answer("dpkg-query", 0, "libc6:amd64\t2.36\tii \n", "");
    assert_eq!(version(&world.host, "libc6").await.unwrap().as_deref(), Some("2.36"));
}

#[tokio::test]
async fn all_packages_are_listed() {
    for (manager, asked, said) in [
        ("apt-get", "dpkg-query -W", "a\t1\tii \nb\t2\trc \n"),
        ("dnf", "rpm -qa", "a\t1\n"),
        ("yum", "rpm -qa", "a\t1\n"),
        ("pacman", "pacman -Q", "a 1\n"),
        ("zypper", "rpm -qa", "a\t1\n"),
        ("apk", "apk list -I", "a-1-r0 x86_64 {a} (MIT) [installed]\n"),
    ] {
        let world = World::with(manager);
        world.answer(asked, 0, said, "");
        let found = list(&world.host).await.unwrap();
        assert_eq!((found.len(), found[0].name.as_str()), (1, "a"), "{manager}");
    }
}

#[tokio::test]
async fn packages_are_searched_for() {
    for (manager, asked, code, said) in [
        ("apt-get", "apt-cache search web", 0, "nginx - a server\n"),
        ("dnf", "dnf -q search web", 0, "nginx.x86_64 : a server\n"),
        ("yum", "yum -q search web", 0, "nginx.x86_64 : a server\n"),
        ("pacman", "pacman -Ss web", 0, "extra/nginx 1\n    a server\n"),
        ("zypper", "zypper --non-interactive --quiet search web", 0, " | nginx | a server | p\n"),
        ("apk", "apk search -v web", 0, "nginx-1-r0 - a server\n"),
        ("pacman", "pacman -Ss web", 1, ""),
        ("zypper", "zypper --non-interactive --quiet search web", 104, ""),
    ] {
        let world = World::with(manager);
        world.answer(manager, 9, "", "unexpected\n").answer(asked, code, said, "");
        let found = search(&world.host, "web").await.unwrap();
        let told: Vec<_> =
            found.iter().map(|f| (f.name.as_str(), f.description.as_str())).collect();
        let expected = if code == 0 { vec![("nginx", "a server")] } else { Vec::new() };
        assert_eq!(told, expected, "{manager}");
    }
}

#[tokio::test]
async fn packages_are_described() {
    for (manager, asked) in [
        ("apt-get", "apt-cache show nginx"),
        ("dnf", "dnf -q info nginx"),
        ("yum", "yum -q info nginx"),
        ("pacman", "pacman -Si nginx"),
        ("zypper", "zypper --non-interactive --quiet info nginx"),
        ("apk", "apk info -a nginx"),
    ] {
        let world = World::with(manager);
        world.answer(asked, 0, "Name: nginx\n", "");
        assert!(info(&world.host, "nginx").await.unwrap().contains("nginx"));
        world.answer(asked, 1, "", "no such package\n");
        let error = info(&world.host, "nginx").await.unwrap_err();
        assert!(matches!(error, HostError::Absent { what: "package", .. }), "{manager}: {error}");
    }
    let world = World::with("zypper");
    world.answer("zypper", 0, "package 'nginx' not found.\n", "");
    assert!(info(&world.host, "nginx").await.is_err());
}

#[tokio::test]
async fn dependencies_are_told() {
    for (manager, asked, said) in [
        ("apt-get", "apt-cache depends nginx", "nginx\n  Depends: libc\n"),
        ("dnf", "dnf -q repoquery --requires nginx", "libc >= 2\n"),
        ("yum", "rpm -q --requires nginx", "libc >= 2\n"),
        ("pacman", "pacman -Si nginx", "Depends On : libc\n"),
        ("zypper", "rpm -q --requires nginx", "libc\n"),
        ("apk", "apk info -R nginx", "nginx-1-r0 depends on:\nlibc\n"),
    ] {
        let world = World::with(manager);
        world.answer("rpm -q --qf", 1, "package nginx is not installed\n", "");
        world.answer(asked, 0, said, "");
        assert_eq!(dependencies(&world.host, "nginx").await.unwrap(), ["libc"], "{manager}");
        world.answer(asked, 1, "", "");
        assert!(dependencies(&world.host, "nginx").await.is_err());
    }
    let world = World::with("dnf");
    world.answer("rpm -q --qf", 0, "nginx\t1-1\n", "");
    world.answer("rpm -q --requires", 0, "libc\n", "");
    assert_eq!(dependencies(&world.host, "nginx").await.unwrap(), ["libc"]);
}

#[tokio::test]
async fn programs_and_their_packages_are_found() {
    for (manager, asked, said) in [
        ("apt-get", "dpkg-query -S /usr/bin/tool", "tools:amd64: /usr/bin/tool\n"),
        ("dnf", "rpm -qf", "tools\n"),
        ("pacman", "pacman -Qoq /usr/bin/tool", "tools\n"),
        ("apk", "apk info -q -W /usr/bin/tool", "tools-1-r0\n"),
    ] {
        let world = World::with(&format!("{manager} tool"));
        world.answer(asked, 0, said, "");
        let found = which(&world.host, "tool").await.unwrap();
        let path = "/usr/bin/tool".into();
        assert_eq!(found, Some(Which { path, package: Some("tools".into()) }), "{manager}");
        world.answer(asked, 1, "", "no path found\n");
        assert_eq!(which(&world.host, "tool").await.unwrap().unwrap().package, None);
        assert_eq!(which(&world.host, "none").await.unwrap(), None);
    }
    let world = World::with("apt-get tool");
    world.answer("dpkg-query -S", 1, "", "no path found\n");
    world.answer("dpkg-query -S /bin/tool", 0, "tools: /bin/tool\n", "");
    let found = which(&world.host, "tool").await.unwrap().unwrap();
    assert_eq!(found.package.as_deref(), Some("tools"), "from before the merge of /usr");
    assert!(which(&World::with("tool").host, "tool").await.unwrap().is_some());
}

#[tokio::test]
async fn upgrades_only_when_something_is_pending() {
    for (manager, asked, code, pending, none, told) in [
        ("apt-get", "apt-get -s", 0, "Inst bash [1] (2 x)\n", "", "apt-get OPTIONS upgrade"),
        ("dnf", "dnf -q check-update", 100, "bash.x86_64 2 base\n", "", "dnf -q -y upgrade"),
        ("yum", "yum -q check-update", 100, "bash.x86_64 2 base\n", "", "yum -q -y update"),
        ("pacman", "pacman -Qu", 0, "bash 1 -> 2\n", "", "pacman -Su --noconfirm"),
        (
            "zypper",
            "zypper --non-interactive --quiet list-updates",
            0,
            "v | base | bash | 1 | 2\n",
            "No updates found.\n",
            "zypper --non-interactive --quiet update",
        ),
        ("apk", "apk version -q -l <", 0, "bash-1-r0 < 2-r0\n", "", "apk upgrade"),
    ] {
        let world = World::with(manager);
        world.answer(asked, code, pending, "");
        let plan = upgrade(&world.host).await;
        assert_eq!(performed(&world, plan).await, [told], "{manager}");
        world.answer(asked, 0, none, "");
        assert!(upgrade(&world.host).await.unwrap().is_empty(), "{manager}");
    }
}

#[tokio::test]
async fn what_is_not_needed_goes() {
    for (manager, asked, said, told) in [
        ("apt-get", "apt-get -s", "Remv old [1]\n", "apt-get OPTIONS autoremove"),
        ("dnf", "dnf -q repoquery", "old\n", "dnf -q -y autoremove"),
        ("pacman", "pacman -Qdtq", "old\n", "pacman -Rns --noconfirm old"),
        (
            "zypper",
            "zypper --non-interactive --quiet packages",
            "i | base | old | 1\n",
            "zypper --non-interactive --quiet remove --clean-deps old",
        ),
    ] {
        let world = World::with(manager);
        world.answer(asked, 0, said, "");
        let plan = autoremove(&world.host).await;
        assert_eq!(plan.as_ref().unwrap().outcome().render(), "- package old: not needed\n");
        assert_eq!(performed(&world, plan).await, [told], "{manager}");
        world.answer(asked, 0, "", "");
        assert!(autoremove(&world.host).await.unwrap().is_empty(), "{manager}");
    }
    let world = World::with("yum");
    let plan = autoremove(&world.host).await;
    assert_eq!(performed(&world, plan).await, ["yum -q -y autoremove"]);
    assert!(autoremove(&World::with("apk").host).await.unwrap().is_empty());
}

#[tokio::test]
async fn lists_are_fetched_and_leftovers_removed() {
    for (manager, fetched, cleaned) in [
        ("apt-get", "apt-get OPTIONS update", "apt-get OPTIONS clean"),
        ("dnf", "dnf -q -y makecache", "dnf -q -y clean all"),
        ("apk", "apk update", "apk cache clean"),
    ] {
        let world = World::with(manager);
        let plan = update(&world.host).await;
        assert_eq!(performed(&world, plan).await, [fetched]);
        let plan = clean(&world.host).await;
        assert_eq!(performed(&world, plan).await, [cleaned]);
    }
    assert!(update(&World::new().host).await.is_err());
}

#[tokio::test]
async fn a_package_comes_from_a_file_once() {
    for (manager, described, said, asked, installed, told) in [
        (
            "apt-get",
            "dpkg-deb --show",
            "app\t2\n",
            "dpkg-query -W",
            "app\t2\tii \n",
            "apt-get OPTIONS install",
        ),
        ("dnf", "rpm -qp", "app\t2\n", "rpm -q --qf", "app\t2\n", "dnf -q -y install"),
        ("pacman", "pacman -Qp", "app 2\n", "pacman -Q app", "app 2\n", "pacman -U --noconfirm"),
        ("apk", "none", "", "apk info -e", "app-2-r0\n", "apk add"),
    ] {
        let world = World::with(manager);
        world.write("/srv/app-2-r0.pkg", "");
        world.answer(asked, 1, "", "").answer(described, 0, said, "");
        let local = LocalPackage::new("/srv/app-2-r0.pkg");
        local.apply(&world.host).await.unwrap();
        assert_eq!(short(world.told()), [format!("{told} /srv/app-2-r0.pkg")], "{manager}");
        world.answer(asked, 0, installed, "").answer(described, 0, said, "");
        assert!(!local.apply(&world.host).await.unwrap().changed, "{manager}");
        assert!(local.remove(&world.host).await.unwrap().changed, "{manager}");
        let gone = LocalPackage::new("/srv/none.pkg");
        assert!(matches!(world.refuses(&gone).await, HostError::Absent { what: "file", .. }));
    }
}
