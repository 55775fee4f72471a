use super::*;

fn spec(json: serde_json::Value) -> Result<WatcherSpec, String> {
    serde_json::from_value(serde_json::json!({ "watch": json })).map_err(|e| e.to_string())
}

fn problems(json: serde_json::Value) -> Vec<String> {
    let found = spec(json).unwrap().problems("");
    found.into_iter().map(|it| format!("{}: {}", it.pointer, it.detail)).collect()
}

#[test]
fn what_makes_sense_has_no_problems() {
    use serde_json::json;
    for good in [
        json!({ "file": { "path": "/etc/hosts", "on": ["changed"], "hash": true } }),
        json!({ "directory": { "path": "/srv", "recursive": true, "pattern": "*.csv" } }),
        json!({ "process": { "name": "nginx", "count": 2 } }),
        json!({ "process": { "command": "^java .*kafka" } }),
        json!({ "port": { "port": 443 } }),
        json!({ "port": { "port": 443, "host": "::1", "on": ["closed"] } }),
        json!({ "command": { "command": ["true"] } }),
        json!({ "command": { "command": ["df"], "on": ["matches"], "pattern": "9[0-9]%" } }),
        json!({ "log": { "path": "/var/log/syslog", "pattern": "ERROR|FATAL" } }),
        json!({ "log": { "unit": "ssh", "pattern": "Accepted" } }),
        json!({ "cpu": { "above": 90, "for": "5m", "clear": 70 } }),
        json!({ "memory": { "below": 10.5 } }),
        json!({ "disk": { "above": 80 } }),
        json!({ "disk": { "path": "/srv", "above": 80, "for": "1m" } }),
        json!({ "load": { "above": 12.5 } }),
        json!({ "service": { "unit": "nginx.service", "on": ["failed"] } }),
        json!({ "certificate": { "path": "/etc/ssl/a.pem" } }),
        json!({ "certificate": { "address": "[::1]:443", "within": "14d" } }),
    ] {
        assert_eq!(problems(good.clone()), Vec::<String>::new(), "{good}");
        let read = spec(good).unwrap();
        let again = serde_json::from_value(serde_json::to_value(&read).unwrap()).unwrap();
        assert_eq!(read, again);
        assert!(read.watch.summary().starts_with(read.watch.label()));
    }
}

#[test]
fn what_makes_none_is_told_with_its_place() {
    use serde_json::json;
    let long = "a".repeat(1001);
    for (bad, place) in [
        (json!({ "file": { "path": "etc/hosts" } }), "/watch/file/path: a path of the machine"),
        (json!({ "file": { "path": "/etc/../root/x" } }), "/watch/file/path: a path has no `..`"),
        (json!({ "file": { "path": "" } }), "/watch/file/path"),
        (json!({ "file": { "path": "/a", "on": ["opened"] } }), "/watch/file/on: it fires on"),
        (json!({ "directory": { "path": "/a", "pattern": "a/b" } }), "/watch/directory/pattern"),
        (json!({ "process": {} }), "/watch/process: say which"),
        (json!({ "process": { "name": "a", "command": "b" } }), "/watch/process: say which"),
        (json!({ "process": { "name": "a", "count": 0 } }), "/watch/process/count"),
        (
            json!({ "process": { "command": "(" } }),
            "/watch/process/command: this is not a regular expression: unclosed group",
        ),
        (json!({ "port": { "port": 0 } }), "/watch/port/port"),
        (json!({ "port": { "port": 1, "host": "a b" } }), "/watch/port/host"),
        (json!({ "command": { "command": [] } }), "/watch/command/command"),
        (json!({ "command": { "command": ["a\0"] } }), "/watch/command/command"),
        (json!({ "command": { "command": ["a"], "timeLimit": "1h" } }), "/watch/command/timeLimit"),
        (json!({ "command": { "command": ["a"], "on": ["matches"] } }), "/watch/command/pattern"),
        (json!({ "command": { "command": ["a"], "pattern": "x" } }), "/watch/command/pattern"),
        (json!({ "command": { "command": ["a"], "user": "-x" } }), "/watch/command/user"),
        (
            json!({ "log": { "path": "/etc/shadow", "pattern": "x" } }),
            "/watch/log/path: only files",
        ),
        (json!({ "log": { "path": "/var/log/../x", "pattern": "x" } }), "/watch/log/path"),
        (json!({ "log": { "pattern": "x" } }), "/watch/log: say where"),
        (json!({ "log": { "unit": "a", "pattern": "" } }), "/watch/log/pattern"),
        (json!({ "log": { "unit": "a", "pattern": long } }), "/watch/log/pattern: a pattern has"),
        (json!({ "log": { "unit": "a", "pattern": r"(\w{900}){900}" } }), "/watch/log/pattern"),
        (json!({ "cpu": {} }), "/watch/cpu: give a threshold"),
        (json!({ "cpu": { "above": 1, "below": 2 } }), "/watch/cpu: give a threshold"),
        (json!({ "cpu": { "above": 101 } }), "/watch/cpu/above"),
        (json!({ "cpu": { "above": 50, "clear": 60 } }), "/watch/cpu/clear"),
        (json!({ "memory": { "below": 10, "clear": 5 } }), "/watch/memory/clear"),
        (json!({ "load": { "above": -1 } }), "/watch/load/above"),
        (json!({ "service": { "unit": "-x" } }), "/watch/service/unit"),
        (json!({ "certificate": {} }), "/watch/certificate: say which"),
        (json!({ "certificate": { "address": "a" } }), "/watch/certificate/address"),
        (json!({ "certificate": { "path": "/a", "within": "0s" } }), "/watch/certificate/within"),
    ] {
        let found = problems(bad.clone());
        assert!(found.iter().any(|text| text.starts_with(place)), "{bad}: {found:?}");
    }
}

#[test]
fn times_and_nodes_are_looked_at_too() {
    let mut one = spec(serde_json::json!({ "port": { "port": 1 } })).unwrap();
    one.interval = Some(Span::from_millis(0));
    one.cooldown = Span::from_secs(8 * 86_400);
    one.nodes = vec!["n1".parse().unwrap()];
    one.selector = Labels::from([("a b".to_owned(), "c".to_owned())]);
    one.description = "x".repeat(1001);
    let at: Vec<String> = one.problems("").into_iter().map(|it| it.pointer).collect();
    assert_eq!(at, ["/description", "/selector", "/selector", "/interval", "/cooldown"]);
}

#[test]
fn nodes_are_named_or_selected_or_all() {
    let mut one = spec(serde_json::json!({ "port": { "port": 1 } })).unwrap();
    let labels = Labels::from([("zone".to_owned(), "a".to_owned())]);
    let (n1, n2): (Name, Name) = ("n1".parse().unwrap(), "n2".parse().unwrap());
    assert!(one.is_for(&n1, &labels) && one.is_for(&n2, &Labels::new()));
    one.nodes = vec![n1.clone()];
    assert!(one.is_for(&n1, &labels) && !one.is_for(&n2, &labels));
    one.nodes.clear();
    one.selector = labels.clone();
    assert!(one.is_for(&n2, &labels) && !one.is_for(&n2, &Labels::new()));
}

#[test]
fn unknown_words_are_mistakes() {
    use serde_json::json;
    for bad in [
        json!({ "moon": { "path": "/" } }),
        json!({ "file": { "path": "/", "on": ["burnt"] } }),
        json!({ "file": { "path": "/", "colour": 1 } }),
        json!({ "port": { "port": 70000 } }),
    ] {
        assert!(spec(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn commands_need_more_than_looking() {
    use serde_json::json;
    let needs = |json| spec(json).unwrap().watch.needs();
    assert_eq!(needs(json!({ "port": { "port": 1 } })), Permission::NodeInspect);
    assert_eq!(needs(json!({ "command": { "command": ["a"] } })), Permission::NodeAdminister);
}
