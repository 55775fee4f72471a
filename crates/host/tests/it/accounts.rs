//! Users, groups and members, read from files and changed by programs.

use hostler_host::accounts::{
    Group, Member, PasswordUpdate, User, current, find_group, find_user, group_members, groups,
    groups_of, is_system_user, set_password, users, validate_username,
};
use hostler_host::{HostError, Password, Primitive};

use crate::world::*;

const HASH: &str = "$6$salt$0123456789abcdef";

fn machine() -> World {
    let world = World::with("useradd usermod userdel groupadd groupmod groupdel gpasswd");
    world.write(
        "/etc/passwd",
        "root:x:0:0:root:/srv/root:/bin/bash\ndaemon:x:2:2::/:/sbin/nologin\n\
         ann:x:1000:1000:Ann Smith,,,:/srv/ann:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n",
    );
    world.write(
        "/etc/group",
        "root:x:0:\nann:x:1000:\nwheel:x:10:ann,bob\ndocker:x:20:\nusers:x:100:\n",
    );
    world.write("/etc/shadow", format!("root:*:1::::::\nann:{HASH}:19000:0:99999:7::20000:\n"));
    world
}

/// What applying runs, and that a check runs nothing of it.
async fn told(world: &World, primitive: &impl Primitive) -> Vec<String> {
    assert!(primitive.check(&world.host).await.unwrap().changed);
    assert_eq!(world.told(), Vec::<String>::new(), "a check told somebody something");
    assert!(primitive.apply(&world.host).await.unwrap().changed);
    world.told()
}

async fn is_settled(world: &World, primitive: &impl Primitive) {
    let outcome = primitive.apply(&world.host).await.unwrap();
    assert!(!outcome.changed && outcome.diff.is_empty(), "{outcome:?}");
    assert_eq!(world.told(), Vec::<String>::new());
}

#[tokio::test]
async fn a_user_is_made_with_all_that_is_told() {
    let world = machine();
    let bob: User = serde_json::from_str(
        r#"{"username": "bob", "password": "hunter2", "uid": 1500, "gid": "users",
            "home": "/srv/bob", "shell": "/bin/sh", "groups": "wheel, docker", "comment": "Bob B",
            "create_home": true, "expiry": "2030-01-31", "locked": true}"#,
    )
    .unwrap();
    assert_eq!(
        told(&world, &bob).await,
        [
            "useradd -u 1500 -g users -d /srv/bob -s /bin/sh -G wheel,docker -c Bob B \
             -e 2030-01-31 -m bob",
            "chpasswd",
            "usermod -L bob",
        ]
    );
    assert_eq!(told(&world, &User::named("eve")).await, ["useradd -m eve"]);
    let system = User { system: true, ..User::named("svc") };
    assert_eq!(told(&world, &system).await, ["useradd -r -M svc"]);
    let homeless = User { create_home: Some(false), ..User::named("eve") };
    assert_eq!(told(&world, &homeless).await, ["useradd -M eve"]);
}

#[tokio::test]
async fn a_user_is_altered_only_where_it_differs() {
    let world = machine();
    is_settled(&world, &User::named("ann")).await;
    let same = User {
        uid: Some(1000),
        gid: Some("ann".into()),
        home: Some("/srv/ann".into()),
        shell: Some("/bin/bash".into()),
        groups: vec!["wheel".into()],
        comment: Some("Ann Smith,,,".into()),
        expiry: Some("2024-10-04".into()),
        locked: Some(false),
        password: Some(Password::new(HASH)),
        ..User::named("ann")
    };
    is_settled(&world, &same).await;
    is_settled(&world, &User { exact_groups: true, ..same.clone() }).await;
    let table = [
        (User { uid: Some(1001), ..User::named("ann") }, "usermod -u 1001 ann"),
        (User { gid: Some("users".into()), ..User::named("ann") }, "usermod -g users ann"),
        (User { gid: Some("100".into()), ..User::named("ann") }, "usermod -g 100 ann"),
        (User { home: Some("/srv/x".into()), ..User::named("ann") }, "usermod -d /srv/x ann"),
        (
            User { home: Some("/srv/x".into()), move_home: true, ..User::named("ann") },
            "usermod -d /srv/x -m ann",
        ),
        (User { shell: Some("/bin/sh".into()), ..User::named("ann") }, "usermod -s /bin/sh ann"),
        (User { comment: Some(String::new()), ..User::named("ann") }, "usermod -c  ann"),
        (User { expiry: Some("never".into()), ..User::named("ann") }, "usermod -e  ann"),
        (
            User { expiry: Some("2031-02-03".into()), ..User::named("ann") },
            "usermod -e 2031-02-03 ann",
        ),
        (User { locked: Some(true), ..User::named("ann") }, "usermod -L ann"),
        (
            User { groups: vec!["docker".into(), "20".into()], ..User::named("ann") },
            "usermod -a -G docker ann",
        ),
        (
            User { groups: vec!["docker".into()], exact_groups: true, ..User::named("ann") },
            "usermod -G docker ann",
        ),
        (User { exact_groups: true, ..User::named("ann") }, "usermod -G  ann"),
    ];
    for (user, expected) in table {
        assert_eq!(told(&world, &user).await, [expected]);
    }
    let several = User { uid: Some(1), shell: Some("/bin/sh".into()), ..User::named("ann") };
    let outcome = several.check(&world.host).await.unwrap();
    assert_eq!(
        outcome.render(),
        "uid of user ann: 1000 -> 1\nshell of user ann: /bin/bash -> /bin/sh\n"
    );
}

#[tokio::test]
async fn modifying_does_not_make_a_user() {
    let world = machine();
    let error = User { uid: Some(5), ..User::named("eve") }.modify(&world.host).await.unwrap_err();
    assert!(matches!(error, HostError::Absent { what: "user", .. }), "{error}");
    let user = User { shell: Some("/bin/sh".into()), ..User::named("ann") };
    let outcome = user.modify(&world.host).await.unwrap().perform(&world.host).await.unwrap();
    assert!(outcome.changed);
    assert_eq!(world.told(), ["usermod -s /bin/sh ann"]);
}

#[tokio::test]
async fn passwords_are_only_on_standard_input() {
    let world = machine();
    let plain = Password::new("hunter2");
    let user = User {
        password: Some(plain.clone()),
        password_update: PasswordUpdate::Always,
        ..User::named("ann")
    };
    let made = User { password: Some(plain.clone()), ..User::named("eve") };
    let mut outcomes = vec![user.apply(&world.host).await.unwrap()];
    outcomes.push(made.apply(&world.host).await.unwrap());
    let plan = set_password(&world.host, "ann", &plain).await.unwrap();
    outcomes.push(plan.perform(&world.host).await.unwrap());
    let hash = Password::new("$6$other$hash");
    let plan = set_password(&world.host, "ann", &hash).await.unwrap();
    outcomes.push(plan.perform(&world.host).await.unwrap());
    let calls = world.calls();
    let given: Vec<String> = calls
        .iter()
        .filter_map(|call| call.input())
        .map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
        .collect();
    assert_eq!(given, ["ann:hunter2\n", "eve:hunter2\n", "ann:hunter2\n", "ann:$6$other$hash\n"]);
    let last = calls.last().unwrap().argv();
    assert_eq!(last, ["chpasswd", "-e"]);
    let shown = format!("{calls:?} {outcomes:?} {user:?}");
    assert!(!shown.contains("hunter2") && !shown.contains("$6$"), "{shown}");
    let json = serde_json::to_string(&user).unwrap();
    assert!(!json.contains("hunter2"), "{json}");
}

#[tokio::test]
async fn a_password_is_set_once_unless_it_can_be_compared() {
    let world = machine();
    let plain = User { password: Some(Password::new("hunter2")), ..User::named("ann") };
    is_settled(&world, &plain).await;
    let hash = User { password: Some(Password::new(HASH)), ..User::named("ann") };
    is_settled(&world, &hash).await;
    let other = User { password: Some(Password::new("$6$x$y")), ..User::named("ann") };
    assert_eq!(told(&world, &other).await, ["chpasswd -e"]);
    for bad in ["a\nroot:x", ""] {
        let error = set_password(&world.host, "ann", &Password::new(bad)).await.unwrap_err();
        assert!(matches!(error, HostError::Invalid { .. }) && !error.to_string().contains("root"));
    }
}

#[tokio::test]
async fn a_user_is_removed_but_never_root() {
    let world = machine();
    let ann = User { remove_home: true, ..User::named("ann") };
    let outcome = ann.check_remove(&world.host).await.unwrap();
    assert_eq!(outcome.render(), "- user ann: uid 1000, home /srv/ann\n");
    assert_eq!(world.told(), Vec::<String>::new());
    ann.remove(&world.host).await.unwrap();
    User::named("ann").remove(&world.host).await.unwrap();
    assert_eq!(world.told(), ["userdel -r ann", "userdel ann"]);
    assert!(!User::named("eve").remove(&world.host).await.unwrap().changed);
    assert!(User::named("root").remove(&world.host).await.is_err());
    assert!(Group::named("root").remove(&world.host).await.is_err());
}

#[tokio::test]
async fn names_that_could_be_something_else_never_reach_a_program() {
    let world = machine();
    for name in ["", "-r", "a:b", "a b", "../x", "a\nb"] {
        world.refuses(&User::named(name)).await;
        world.refuses(&Group::named(name)).await;
        world.refuses(&Member::new(name, "wheel")).await;
        world.refuses(&Member::new("ann", name)).await;
        assert!(User::named(name).remove(&world.host).await.is_err());
    }
    for user in [
        User { shell: Some("sh".into()), ..User::named("eve") },
        User { home: Some("/a:b".into()), ..User::named("eve") },
        User { comment: Some("a\nb".into()), ..User::named("eve") },
        User { expiry: Some("soon".into()), ..User::named("eve") },
        User { groups: vec!["-x".into()], ..User::named("eve") },
        User { uid: Some(u32::MAX), ..User::named("eve") },
    ] {
        world.refuses(&user).await;
    }
    assert_eq!(world.told(), Vec::<String>::new());
    assert!(validate_username("eve").is_ok() && validate_username("Eve").is_err());
}

#[tokio::test]
async fn groups_are_made_altered_and_removed() {
    let world = machine();
    is_settled(&world, &Group::named("wheel")).await;
    assert_eq!(told(&world, &Group::named("app")).await, ["groupadd app"]);
    let group = Group { gid: Some(500), system: true, ..Group::named("app") };
    assert_eq!(told(&world, &group).await, ["groupadd -g 500 -r app"]);
    let group = Group { gid: Some(11), ..Group::named("wheel") };
    assert_eq!(told(&world, &group).await, ["groupmod -g 11 wheel"]);
    group.remove(&world.host).await.unwrap();
    assert_eq!(world.told(), ["groupdel wheel"]);
    assert!(!Group::named("none").remove(&world.host).await.unwrap().changed);
}

#[tokio::test]
async fn members_are_put_in_and_taken_out() {
    let world = machine();
    is_settled(&world, &Member::new("ann", "wheel")).await;
    is_settled(&world, &Member::new("ann", "ann")).await;
    assert_eq!(told(&world, &Member::new("ann", "docker")).await, ["gpasswd -a ann docker"]);
    Member::new("ann", "wheel").remove(&world.host).await.unwrap();
    assert_eq!(world.told(), ["gpasswd -d ann wheel"]);
    assert!(!Member::new("ann", "docker").remove(&world.host).await.unwrap().changed);
    assert!(!Member::new("eve", "none").remove(&world.host).await.unwrap().changed);
    let primary = Member::new("ann", "ann").remove(&world.host).await.unwrap_err();
    assert!(primary.to_string().contains("primary group"), "{primary}");
    assert!(matches!(world.refuses(&Member::new("eve", "wheel")).await, HostError::Absent { .. }));
    assert!(matches!(world.refuses(&Member::new("ann", "none")).await, HostError::Absent { .. }));
}

#[tokio::test]
async fn accounts_are_told() {
    let world = machine();
    let host = &world.host;
    let names: Vec<String> =
        users(host).await.unwrap().into_iter().map(|user| user.username).collect();
    assert_eq!(names, ["root", "daemon", "ann", "nobody"]);
    assert_eq!(groups(host).await.unwrap().len(), 5);
    let ann = find_user(host, "ann").await.unwrap().unwrap();
    assert_eq!((ann.uid, ann.gid, ann.full_name()), (1000, 1000, "Ann Smith"));
    assert_eq!(find_user(host, "eve").await.unwrap(), None);
    assert_eq!(find_group(host, "wheel").await.unwrap().unwrap().gid, 10);
    assert_eq!(groups_of(host, "ann").await.unwrap(), ["ann", "wheel"]);
    assert_eq!(group_members(host, "wheel").await.unwrap(), ["ann", "bob"]);
    assert_eq!(group_members(host, "ann").await.unwrap(), ["ann"]);
    assert!(groups_of(host, "eve").await.is_err() && group_members(host, "none").await.is_err());
    let nobody = find_user(host, "nobody").await.unwrap().unwrap();
    let root = find_user(host, "root").await.unwrap().unwrap();
    assert!(!is_system_user(host, &ann).await.unwrap());
    assert!(is_system_user(host, &root).await.unwrap());
    assert!(is_system_user(host, &nobody).await.unwrap());
    world.write("/etc/login.defs", "# x\nUID_MIN\t\t 2000\n");
    assert!(is_system_user(host, &ann).await.unwrap());
    world.write("/etc/passwd", format!("me:x:{}:0::/:/bin/sh\n", uid()));
    assert_eq!(current(host).await.unwrap().username, "me");
    world.write("/etc/passwd", "");
    assert!(matches!(current(host).await, Err(HostError::Absent { .. })));
}

#[tokio::test]
async fn directories_of_users_are_asked_through_getent() {
    let world = World::with("getent");
    world.answer("getent passwd", 2, "", "");
    world.answer("getent passwd far", 0, "far:*:5000:5000::/srv/far:/bin/sh\n", "");
    world.answer("getent group team", 0, "team:*:5000:far\n", "");
    let host = &world.host;
    assert_eq!(find_user(host, "far").await.unwrap().unwrap().uid, 5000);
    assert_eq!(find_user(host, "near").await.unwrap(), None);
    assert_eq!(find_group(host, "team").await.unwrap().unwrap().members, ["far"]);
    assert_eq!(find_user(host, "1000").await.unwrap(), None);
    assert!(!world.ran().contains(&"getent passwd 1000".to_owned()));
}

#[tokio::test]
async fn a_machine_without_shadow_utils_says_what_to_install() {
    let world = World::new();
    let error = world.refuses(&User::named("eve")).await;
    assert!(error.to_string().starts_with("useradd is missing: install shadow-utils"), "{error}");
}
