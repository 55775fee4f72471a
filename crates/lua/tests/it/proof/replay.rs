//! What examples only show, done: with a program that writes down its words.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hostler_lua::modules::all;

use super::{ALIASES, Mode, after, full, watched};

/// A program that writes down its words and says something that most can read; what it is called with beside what was
/// shown is for the real one.
fn program(folder: &Path, name: &str) {
    let text = format!(
        "#!/bin/sh\nline=$(printf '%s' '{name}'; for word; do printf '|%s' \"$word\"; done)\nif grep -Fxq -- \"$line\" '{1}'; then echo \"$line\" >> '{0}'; echo '{{}}'; exit 0; fi\nPATH=${{PATH#*:}} exec '{name}' \"$@\"\n",
        folder.join("calls").display(),
        folder.join("shown").display(),
    );
    let (aside, path) = (folder.join("aside"), folder.join("bin").join(name));
    std::fs::write(&aside, text).unwrap();
    std::fs::set_permissions(&aside, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(&aside, path).unwrap();
}

fn calls(folder: &Path) -> Vec<String> {
    let path = folder.join("calls");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let _it_may_not_be_there = std::fs::remove_file(path);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn what_is_shown_is_what_is_done() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for module in all().filter(|module| !ALIASES.iter().any(|(alias, _)| *alias == module.name)) {
        for function in module.functions.iter().filter(|f| f.example.contains("show_only")) {
            let name = full(module, function);
            let folder = tempfile::tempdir().unwrap();
            let watch = |mode| watched(folder.path(), module.name, function.example, mode);
            let (said, error) = watch(Mode::Look);
            assert_eq!(error, None, "{name}");
            let shown = after(&said, "shown ");
            std::fs::create_dir(folder.path().join("bin")).unwrap();
            let programs: BTreeSet<&str> =
                shown.iter().filter_map(|line| line.split('|').next()).collect();
            std::fs::write(folder.path().join("shown"), shown.join("\n")).unwrap();
            for name in programs {
                program(folder.path(), name);
            }
            watch(Mode::Apply);
            let done = calls(folder.path());
            for line in shown.iter().filter(|line| !done.iter().any(|call| call == *line)) {
                wrong.push(format!("{name} shows `{line}` and does {done:?}"));
            }
            let (said, _) = watch(Mode::Check);
            let done = calls(folder.path());
            for line in after(&said, "held ").iter().filter(|l| done.iter().any(|call| call == **l))
            {
                wrong.push(format!("{name} does `{line}` in check mode"));
            }
            count += shown.len();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 200, "only {count} examples show something");
}
