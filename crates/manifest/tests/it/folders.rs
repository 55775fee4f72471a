//! Folders: which files count, and what can be wrong with files themselves.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hostler_manifest::{Loader, Report, load_dir, load_file, load_str};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn details(report: &Report) -> Vec<&str> {
    report.mistakes.iter().map(|mistake| mistake.detail.as_str()).collect()
}

#[test]
fn yaml_files_are_found_and_others_are_not() {
    let dir = folder(&[
        ("a.yaml", "{name: a, command: [x]}"),
        ("deep/er/b.yml", "{name: b, command: [x]}\n---\n{name: c, command: [x]}\n---\n"),
        ("list.yaml", "workloads:\n- {name: d, command: [x]}\n- {name: e, command: [x]}\n"),
        ("empty.yaml", "# nothing\n"),
        ("daemon.yaml", "fleet: {}"),
        ("deep/inventory.yml", "clients: []"),
        ("vars.yaml", "x: 1"),
        (".hidden.yaml", "nonsense"),
        (".git/x.yaml", "nonsense"),
        ("notes.txt", "nonsense"),
    ]);
    let set = load_dir(dir.path()).unwrap();
    let names: Vec<&str> = set.workloads.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
    let source = &set.workloads.values().nth(4).unwrap().source;
    assert!(source.file.ends_with("list.yaml"));
    assert_eq!(source.line, 3);
}

#[test]
fn files_that_cannot_be_read_are_mistakes_beside_all_others() {
    let dir = folder(&[
        ("bad.yaml", "name: [\n"),
        ("deep/wrong.yaml", "name: wrong\ncommand: [x]\nfoo: 1\n"),
        ("large.yaml", &"# x\n".repeat(1 << 18)),
        ("larger.yaml", &"# x\n".repeat(1 << 19)),
    ]);
    let at = |name: &str| dir.path().join(name);
    fs::write(at("latin.yaml"), b"name: a\ntags: [caf\xe9]\n").unwrap();
    symlink("nowhere", at("dangling.yaml")).unwrap();
    symlink("self.yaml", at("self.yaml")).unwrap();
    symlink("..", at("deep/up")).unwrap();
    fs::create_dir(at("folder.yaml")).unwrap();
    let report = load_dir(dir.path()).unwrap_err();
    assert_eq!(report.mistakes.len(), 7, "{report}");
    let text = report.to_string();
    for part in [
        "latin.yaml:2:11: this is not UTF-8 text",
        "larger.yaml: the file is larger than 1 MiB",
        "dangling.yaml: cannot be read",
        "self.yaml: cannot be read",
        "up: this link leads back to a folder it is in",
        "wrong.yaml:3:1: `foo` is not a field",
        "bad.yaml:1:7: not valid YAML",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    let missing = load_dir(&at("gone")).unwrap_err();
    assert_eq!(missing.mistakes.len(), 1);
    assert!(load_file(&at("gone.yaml")).is_err());
}

#[test]
fn a_special_file_is_refused_and_not_waited_for() {
    let report = load_file(Path::new("/dev/null")).unwrap_err();
    assert_eq!(details(&report), ["this is not a file"]);
}

#[test]
fn templates_see_the_folder_the_file_and_the_environment() {
    let dir = folder(&[
        ("vars.yaml", "port: 8080\nuser: shared\n"),
        (
            "web.yaml",
            "vars:\n  user: own\nname: web\ncommand: [serve, --port, '{{ port }}', --as, '{{ user }}', '{{ env.ZONE }}']\n",
        ),
        (
            "many.yaml",
            "workloads:\n{% for n in range(3) %}\n- name: n{{ n }}\n  command: [x]\n{% endfor %}\n",
        ),
    ]);
    let loader = Loader::new().env([("ZONE".into(), "eu".into())].into());
    let set = loader.dir(dir.path()).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(set.len(), 4);
    assert_eq!(set.get("web").unwrap().command[1..], ["--port", "8080", "--as", "own", "eu"]);
    assert_eq!(loader.file(&dir.path().join("web.yaml")).unwrap().len(), 1);

    let report = Loader::new().env([].into()).dir(dir.path()).unwrap_err();
    assert_eq!(report.mistakes.len(), 1, "{report}");
    assert_eq!(report.mistakes[0].line, 4);
}

#[test]
fn places_in_files_that_grew_come_with_a_caution() {
    let text =
        "workloads:\n{% for n in range(2) %}\n- name: n{{ n }}\n  comand: [x]\n{% endfor %}\n";
    let report = load_str("f", text).unwrap_err();
    assert_eq!(report.mistakes.len(), 2, "{report}");
    assert!(report.mistakes[0].hint.contains("after the templates were filled in"), "{report}");
    assert_eq!(report.mistakes[0].text.as_deref(), Some("  comand: [x]"));
}

#[test]
fn anchors_can_be_kept_beside_the_workloads() {
    let set = load_str(
        "f",
        "x-usual: &usual\n  command: [serve]\n  limits: {memory: 64MiB}\nworkloads:\n- {<<: *usual, name: a}\n- <<: *usual\n  name: b\n  limits: {pids: 5}\n",
    )
    .unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(set.get("a").unwrap().limits.memory, Some(hostler_model::Bytes::mib(64)));
    assert_eq!(set.get("b").unwrap().limits.memory, None);
}

#[test]
fn json_is_yaml() {
    let text = "{\n\t\"name\": \"a\",\n\t\"command\": [\"x\\u0041\", \"y\"]\n}\n";
    let set = load_str("f.json", text).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(set.get("a").unwrap().command, ["xA", "y"]);
}

#[test]
fn what_lies_elsewhere_can_be_depended_on() {
    let text = "name: a\ncommand: [x]\ndepends: [{workload: base}]\n";
    assert_eq!(details(&load_str("f", text).unwrap_err()), ["there is no workload `base`"]);
    assert!(Loader::new().open().str("f", text).is_ok());
    assert!(Loader::new().known(["base".parse().unwrap()]).str("f", text).is_ok());
    let broken = format!("{text}---\nname: base\ncommand: [\n");
    assert_eq!(load_str("f", &broken).unwrap_err().mistakes.len(), 1);
}

#[test]
fn a_hostile_file_is_answered_and_not_endured() {
    let item = "- {a: 1, a: 2, name: A, depends: [{workload: gone}]}\n";
    let many = format!("workloads:\n{}", item.repeat((1 << 20) / item.len() - 1));
    let report = load_str("f", &many).unwrap_err();
    assert!((1000..1100).contains(&report.mistakes.len()), "{}", report.summary());
    let numbers = format!("name: a\ncommand: [{}]\n", "1, ".repeat(100_000));
    assert_eq!(load_str("f", &numbers).unwrap().get("a").unwrap().command.len(), 100_000);
    let large = load_str("f", &"#".repeat((1 << 20) + 1)).unwrap_err();
    assert_eq!(details(&large), ["the file is larger than 1 MiB"]);
}
