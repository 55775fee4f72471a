//! Functions on a machine of our own: what they make of it, and how they call its programs.
//!
//! A case is a call. Checked, it must leave the machine as it is and call nothing that changes it; applied, it says that
//! something changed; applied again it says that nothing did, unless it does the same every time. How programs were
//! called is kept word by word in a snapshot for each module, a `!` before what changes something.

mod machines;
mod nixos;
mod stores;
mod systems;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::system::Machine;

/// What is to be expected of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Once it is so, nothing is done.
    Settles,
    /// It does the same every time.
    Repeats,
    /// It only looks.
    Looks,
}

struct Case {
    /// Lua before the call.
    before: &'static str,
    call: &'static str,
    /// The function, where the text of the call does not begin with it.
    function: Option<&'static str>,
    kind: Kind,
}

const fn case(call: &'static str, kind: Kind) -> Case {
    Case { before: "", call, function: None, kind }
}
const fn settles(call: &'static str) -> Case {
    case(call, Kind::Settles)
}
const fn repeats(call: &'static str) -> Case {
    case(call, Kind::Repeats)
}
const fn looks(call: &'static str) -> Case {
    case(call, Kind::Looks)
}

impl Case {
    const fn after(mut self, before: &'static str) -> Case {
        self.before = before;
        self
    }
    const fn proves(mut self, function: &'static str) -> Case {
        self.function = Some(function);
        self
    }
    fn function(&self) -> &'static str {
        let name = self.call.split(['(', '{', ' ']).next().unwrap_or_default();
        self.function.unwrap_or(name)
    }
    fn text(&self) -> String {
        let Case { before, call, .. } = self;
        match self.kind {
            Kind::Looks => format!(
                "{before}\nlocal all = table.pack({call})\nassert(all[1] ~= nil, all[2])\nfor i = 1, math.max(all.n, 1) do print('gives ' .. data.json_encode(all[i])) end"
            ),
            _ => format!(
                "{before}\nlocal r, why = {call}\nassert(r, why)\nif r == true then print('changed true') else assert(not r.error, r.error) print('changed ' .. tostring(r.changed)) end"
            ),
        }
    }
}

/// Cases on the same kind of machine.
struct Set {
    name: &'static str,
    prepare: fn(&Bench),
    cases: &'static [Case],
}

const SETS: [&[Set]; 4] = [stores::SETS, systems::SETS, machines::SETS, nixos::SETS];

/// Functions that have a case.
pub(super) fn functions() -> impl Iterator<Item = &'static str> {
    SETS.into_iter().flatten().flat_map(|set| set.cases).map(Case::function)
}

/// A machine whose programs write down how they are called.
struct Bench(Machine);

impl Bench {
    fn new() -> Bench {
        let machine = Machine::new();
        fs::create_dir(machine.path("state")).unwrap();
        Bench(machine)
    }

    fn write(&self, name: &str, text: &str) {
        self.0.write(name, text);
    }

    /// A program; `reads` are patterns of what changes nothing, and `$S` in its lines is a directory for its state.
    fn tool(&self, name: &str, reads: &str, lines: &str) -> &Bench {
        let reads = if reads.is_empty() { "'no such words'" } else { reads };
        let text = format!(
            "#!/bin/sh\nS='{}'\nlast=; for last; do :; done; key=${{last##*/}}\ncase \"$*\" in {reads}) mark=' ';; *) mark='!';; esac\n{{ printf '%s%s' \"$mark\" '{name}'; for word; do printf '|%s' \"$word\"; done; printf '\\n'; }} >> '{}'\n{lines}\n",
            self.0.path("state").display(),
            self.0.path("calls").display()
        );
        let (aside, path) = (self.0.path("aside"), self.0.path("bin").join(name));
        fs::write(&aside, text).unwrap();
        fs::set_permissions(&aside, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(&aside, path).unwrap();
        self
    }

    fn calls(&self) -> Vec<String> {
        let path = self.0.path("calls");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let _it_may_not_be_there = fs::remove_file(path);
        let here = self.0.folder.path().display().to_string();
        text.lines().map(|line| line.replace(&here, "~")).collect()
    }

    /// Every file of the machine with what is in it.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for part in ["root", "desk", "state"] {
            gather(&self.0.path(part), &mut files);
        }
        files
    }

    /// The lines that are new in the files of the machine, and those that are gone.
    fn wrote(&self, before: &BTreeMap<String, Vec<u8>>) -> String {
        let mut told = String::new();
        let root = self.0.path("root").display().to_string();
        let after = self.files();
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names.into_iter().filter(|name| name.starts_with(&root)) {
            let text = |files: &BTreeMap<String, Vec<u8>>| {
                String::from_utf8_lossy(files.get(name).map_or(&[][..], Vec::as_slice)).into_owned()
            };
            let (old, new) = (text(before), text(&after));
            if old == new {
                continue;
            }
            writeln!(told, "  wrote {}", &name[root.len()..]).unwrap();
            let only = |mark: char, these: &str, those: &str, told: &mut String| {
                for line in these.lines().filter(|line| !those.lines().any(|other| other == *line))
                {
                    writeln!(told, "    {mark}{line}").unwrap();
                }
            };
            only('-', &old, &new, &mut told);
            only('+', &new, &old, &mut told);
        }
        told
    }

    fn pass(&mut self, case: &Case, is_check: bool) -> (Vec<String>, Vec<String>) {
        self.0.check = is_check;
        let said = self.0.run(&case.text());
        let said = said.unwrap_or_else(|error| {
            panic!(
                "{}{}: {error}\n{:#?}",
                if is_check { "check: " } else { "" },
                case.call,
                self.calls()
            )
        });
        (said, self.calls())
    }
}

fn gather(folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            files.insert(format!("{}/", path.display()), Vec::new());
            gather(&path, files);
        } else {
            files.insert(path.display().to_string(), fs::read(&path).unwrap_or_default());
        }
    }
}

fn changes(calls: &[String]) -> Vec<&String> {
    calls.iter().filter(|call| call.starts_with('!')).collect()
}

/// Carries a case out, and tells how.
fn carry_out(set: &Set, case: &Case) -> String {
    let mut told = format!("{}\n", case.call);
    let mut bench = Bench::new();
    (set.prepare)(&bench);
    let mut note = |word: &str, calls: &[String]| {
        for call in calls {
            writeln!(told, "  {word} {call}").unwrap();
        }
    };
    if case.kind == Kind::Looks {
        let before = bench.files();
        let (said, calls) = bench.pass(case, false);
        assert!(changes(&calls).is_empty(), "{} changes something: {calls:#?}", case.call);
        assert_eq!(before, bench.files(), "{} changes something", case.call);
        note("look ", &calls);
        for line in said.iter().flat_map(|said| said.lines()).filter(|l| l.starts_with("gives ")) {
            let here = bench.0.folder.path().display().to_string();
            writeln!(told, "  {}", line.replace(&here, "~")).unwrap();
        }
        return told;
    }
    let is_changed = |said: &[String]| {
        let lines: Vec<&str> = said.iter().flat_map(|said| said.lines()).collect();
        lines.contains(&"changed true")
    };
    let before = bench.files();
    let (said, calls) = bench.pass(case, true);
    assert!(is_changed(&said), "check: {} says that nothing is to be done", case.call);
    assert!(changes(&calls).is_empty(), "check: {} calls {calls:#?}", case.call);
    assert_eq!(before, bench.files(), "check: {} changes something", case.call);
    let (said, calls) = bench.pass(case, false);
    assert!(is_changed(&said), "{} says that nothing was done: {calls:#?}", case.call);
    assert!(
        !changes(&calls).is_empty() || before != bench.files(),
        "{} says that it changed something",
        case.call
    );
    note("apply", &calls);
    let wrote = bench.wrote(&before);
    let (said, calls) = bench.pass(case, false);
    assert_eq!(is_changed(&said), case.kind == Kind::Repeats, "again: {}: {calls:#?}", case.call);
    if case.kind == Kind::Settles {
        assert!(changes(&calls).is_empty(), "again: {} calls {calls:#?}", case.call);
        note("again", &calls);
    }
    told + &wrote
}

fn check(sets: &[Set]) {
    for set in sets {
        let told: Vec<String> = set.cases.iter().map(|case| carry_out(set, case)).collect();
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(set.name, told.join("\n"));
        });
    }
}

#[test]
fn stores_are_called_word_by_word() {
    check(stores::SETS);
}

#[test]
fn systems_are_called_word_by_word() {
    check(systems::SETS);
}

#[test]
fn machines_are_called_word_by_word() {
    check(machines::SETS);
}

#[test]
fn nixos_is_called_word_by_word() {
    check(nixos::SETS);
}
