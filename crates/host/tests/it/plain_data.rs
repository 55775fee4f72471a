//! Primitives are plain data: read strictly, written back the same.

use hostler_host::accounts::{Group, Member, User};
use hostler_host::archive::Unpacked;
use hostler_host::authorized_keys::AuthorizedKey;
use hostler_host::cron::Cron;
use hostler_host::files::{Block, Directory, File, Line, Link, Replace};
use hostler_host::firewall::Rule;
use hostler_host::package::{LocalPackage, Package};
use hostler_host::service::{Service, UnitFile};
use hostler_host::sysctl::Sysctl;
use hostler_host::{Change, Outcome};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn strict<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(json: &str) {
    let value: T = serde_json::from_str(json).unwrap();
    let written = serde_json::to_string(&value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&written).unwrap(), value, "{written}");
    let more = json.replacen('{', r#"{"surprise": 1, "#, 1);
    let error = serde_json::from_str::<T>(&more).unwrap_err().to_string();
    assert!(error.contains("surprise"), "{error}");
}

#[test]
fn every_primitive_is_read_strictly_and_written_back() {
    strict::<File>(r#"{"path": "/a", "content": "x", "mode": "0600", "owner": "ann"}"#);
    strict::<Directory>(r#"{"path": "/a", "mode": "755", "recursive": true}"#);
    strict::<Link>(r#"{"path": "/a", "target": "b", "kind": "hard", "force": true}"#);
    strict::<Line>(r#"{"path": "/a", "line": "x", "regexp": "^y", "insert_after": "z"}"#);
    strict::<Block>(r#"{"path": "/a", "block": "x", "marker_begin": "b", "marker_end": "e"}"#);
    strict::<Replace>(r#"{"path": "/a", "pattern": "x", "replacement": "y"}"#);
    strict::<Unpacked>(r#"{"src": "/a.tgz", "dest": "/b"}"#);
    strict::<Package>(r#"{"packages": "nginx", "manager": "apt", "update": true}"#);
    strict::<LocalPackage>(r#"{"file": "/a.deb"}"#);
    strict::<Service>(r#"{"name": "a", "running": true, "enabled": false}"#);
    strict::<UnitFile>(r#"{"name": "a", "exec_start": "/b", "type": "oneshot", "after": "c"}"#);
    strict::<User>(r#"{"username": "ann", "groups": ["a", "b"], "create_home": false}"#);
    strict::<Group>(r#"{"name": "a", "gid": 5, "system": true}"#);
    strict::<Member>(r#"{"user": "ann", "group": "a"}"#);
    strict::<Sysctl>(r#"{"key": "a.b", "value": "1", "persistent": true, "file": "/x"}"#);
    strict::<Cron>(r#"{"name": "a", "schedule": "@daily", "command": "b", "user": "ann"}"#);
    strict::<Rule>(r#"{"action": "deny", "port": 22, "direction": "out", "firewall": "ufw"}"#);
    strict::<AuthorizedKey>(r#"{"user": "ann", "key": "ssh-rsa AAAA", "comment": "c"}"#);
    strict::<Change>(r#"{"what": "a", "before": null, "after": "b"}"#);
    strict::<Outcome>(r#"{"changed": true, "message": "m", "diff": [], "output": ""}"#);
}
