//! What can be done to a machine. Each deed says how something is to be, and not how it becomes so: done
//! twice, it changes nothing the second time (a restart and a signal excepted).

use serde::{Deserialize, Serialize};

use crate::Diagnostic;

/// The most packages, groups or keys of one deed.
pub const NAMES_MAX: usize = 200;
const NAME_LENGTH: usize = 255;
const TEXT_LENGTH: usize = 1024;
const KEY_LENGTH: usize = 16 << 10;
/// Of what describes one primitive, as JSON.
pub const DECLARATION_MAX: usize = 1 << 20;

crate::labels! {
    pub enum ServiceVerb ("verb of services") {
        Start = "start",
        Stop = "stop",
        /// Stop and start again; start what does not run.
        Restart = "restart",
        /// Read the configuration again.
        Reload = "reload",
        /// Start at boot.
        Enable = "enable",
        Disable = "disable",
    }
}

crate::labels! {
    pub enum ProcessSignal ("signal") {
        Hup = "hup",
        Int = "int",
        Quit = "quit",
        Kill = "kill",
        Usr1 = "usr1",
        Usr2 = "usr2",
        Term = "term",
        Cont = "cont",
        Stop = "stop",
    }
}

crate::labels! {
    /// What a declaration describes.
    pub enum HostPrimitive ("primitive") {
        File = "file",
        Directory = "directory",
        Package = "package",
        Service = "service",
        User = "user",
        Group = "group",
        Sysctl = "sysctl",
        Cron = "cron",
        /// A program that makes something so, with another that says whether it is.
        Command = "command",
    }
}

/// Something to be done to a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(
    tag = "do",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum HostDeed {
    /// Have these packages.
    PackagesInstall {
        names: Vec<String>,
        /// Fetch the lists of packages anew before.
        #[serde(default)]
        refresh: bool,
    },
    /// Have these packages no longer.
    PackagesRemove {
        names: Vec<String>,
        /// Take files of the configuration too, where the package manager can.
        #[serde(default)]
        purge: bool,
    },
    /// Bring these packages up to date, or with no names all of them.
    PackagesUpgrade {
        #[serde(default)]
        names: Vec<String>,
    },
    /// Fetch the lists of packages anew.
    PackagesRefresh {},
    Service {
        name: String,
        verb: ServiceVerb,
    },
    /// Send a signal to a process that is certainly the one that was seen.
    Signal {
        pid: u32,
        /// As the list of processes told it.
        start_ticks: u64,
        /// As the list of processes told it.
        name: String,
        signal: ProcessSignal,
    },
    /// Have this user, with what is told; what is not told is left alone.
    UserAdd(UserAdd),
    UserRemove {
        name: String,
        /// Take the home too.
        #[serde(default)]
        home: bool,
    },
    /// Let nobody in with this user's password; keys still do.
    UserLock {
        name: String,
    },
    UserUnlock {
        name: String,
    },
    /// Have a user in these groups, beside its primary one.
    UserGroups {
        name: String,
        groups: Vec<String>,
        /// In no others.
        #[serde(default)]
        exact: bool,
    },
    /// Let a public key in as this user.
    UserKeyAdd {
        name: String,
        key: String,
    },
    UserKeyRemove {
        name: String,
        key: String,
    },
    /// Have something be as it is declared, or not be there.
    Primitive {
        primitive: HostPrimitive,
        /// What the primitive wants to be told; what is not told is left alone.
        declaration: serde_json::Map<String, serde_json::Value>,
        /// It is not to be there.
        #[serde(default)]
        absent: bool,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UserAdd {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// The primary group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Beside the primary one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// One of the machine's own, with a low number and no home.
    pub system: bool,
}

impl HostDeed {
    /// What it does, in few words: `install nginx, curl`.
    pub fn words(&self) -> String {
        match self {
            HostDeed::PackagesInstall { names, .. } => format!("install {}", listed(names)),
            HostDeed::PackagesRemove { names, purge: false } => format!("remove {}", listed(names)),
            HostDeed::PackagesRemove { names, purge: true } => format!("purge {}", listed(names)),
            HostDeed::PackagesUpgrade { names } if names.is_empty() => {
                "upgrade all packages".to_owned()
            }
            HostDeed::PackagesUpgrade { names } => format!("upgrade {}", listed(names)),
            HostDeed::PackagesRefresh {} => "fetch the lists of packages".to_owned(),
            HostDeed::Service { name, verb } => format!("{verb} {name}"),
            HostDeed::Signal { pid, name, signal, .. } => {
                format!("send {signal} to process {pid} ({name})")
            }
            HostDeed::UserAdd(user) => format!("have user {}", user.name),
            HostDeed::UserRemove { name, home: false } => format!("remove user {name}"),
            HostDeed::UserRemove { name, home: true } => {
                format!("remove user {name} with its home")
            }
            HostDeed::UserLock { name } => format!("lock user {name}"),
            HostDeed::UserUnlock { name } => format!("unlock user {name}"),
            HostDeed::UserGroups { name, groups, exact: false } => {
                format!("have user {name} in {}", listed(groups))
            }
            HostDeed::UserGroups { name, groups, exact: true } => {
                format!("have user {name} in {} only", listed(groups))
            }
            HostDeed::UserKeyAdd { name, .. } => format!("let a key in as {name}"),
            HostDeed::UserKeyRemove { name, .. } => format!("let a key in no longer as {name}"),
            HostDeed::Primitive { primitive, declaration, absent } => {
                let verb = if *absent { "remove" } else { "have" };
                format!("{verb} {primitive}{}", called(declaration))
            }
        }
    }

    /// Every mistake that can be seen without the machine.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut check = Check(Vec::new());
        match self {
            HostDeed::PackagesInstall { names, .. } | HostDeed::PackagesRemove { names, .. } => {
                check.names("/names", names, 1);
            }
            HostDeed::PackagesUpgrade { names } => check.names("/names", names, 0),
            HostDeed::PackagesRefresh {} => {}
            HostDeed::Service { name, .. } => check.name("/name", name),
            HostDeed::Signal { pid, name, .. } => {
                check.name("/name", name);
                if *pid <= 1 {
                    check.say("/pid", "the first process of a machine is not sent signals");
                }
            }
            HostDeed::UserAdd(user) => {
                check.name("/name", &user.name);
                check.names("/groups", &user.groups, 0);
                let texts = [
                    ("/group", &user.group),
                    ("/home", &user.home),
                    ("/shell", &user.shell),
                    ("/comment", &user.comment),
                ];
                for (pointer, text) in texts {
                    check.text(pointer, text.as_deref().unwrap_or_default(), TEXT_LENGTH);
                }
            }
            HostDeed::UserRemove { name, .. }
            | HostDeed::UserLock { name }
            | HostDeed::UserUnlock { name } => check.name("/name", name),
            HostDeed::UserGroups { name, groups, exact } => {
                check.name("/name", name);
                check.names("/groups", groups, usize::from(!exact));
            }
            HostDeed::UserKeyAdd { name, key } | HostDeed::UserKeyRemove { name, key } => {
                check.name("/name", name);
                check.text("/key", key, KEY_LENGTH);
                if key.trim().is_empty() {
                    check.say("/key", "write the key as it stands in a `.pub` file");
                }
            }
            HostDeed::Primitive { declaration, .. } => {
                let size = serde_json::to_vec(declaration).map_or(usize::MAX, |text| text.len());
                if size > DECLARATION_MAX {
                    let most = DECLARATION_MAX >> 10;
                    check.say("/declaration", &format!("at most {most} KiB"));
                }
            }
        }
        check.0
    }
}

struct Check(Vec<Diagnostic>);

impl Check {
    fn say(&mut self, pointer: &str, detail: &str) {
        self.0.push(Diagnostic::new(pointer, detail));
    }

    fn text(&mut self, pointer: &str, text: &str, most: usize) {
        if text.len() > most || text.contains(char::is_control) {
            self.say(pointer, &format!("at most {most} bytes on one line"));
        }
    }

    fn name(&mut self, pointer: &str, name: &str) {
        match name.is_empty() || name.starts_with('-') {
            true => self.say(pointer, "a name is not empty and does not begin with `-`"),
            false => self.text(pointer, name, NAME_LENGTH),
        }
    }

    fn names(&mut self, pointer: &str, names: &[String], least: usize) {
        if !(least..=NAMES_MAX).contains(&names.len()) {
            self.say(pointer, &format!("{least} to {NAMES_MAX} of them"));
        }
        for (index, name) in names.iter().enumerate() {
            self.name(&format!("{pointer}/{index}"), name);
        }
    }
}

/// The name that a declaration has, whatever it calls it.
fn called(declaration: &serde_json::Map<String, serde_json::Value>) -> String {
    let text = |key: &&str| declaration.get(*key).and_then(serde_json::Value::as_str);
    let name = ["path", "name", "username", "key"].iter().find_map(text);
    name.map_or_else(String::new, |name| format!(" {}", name.escape_debug()))
}

fn listed(names: &[String]) -> String {
    match names {
        few if few.len() <= 5 => few.join(", "),
        many => format!("{} and {} more", many[..4].join(", "), many.len() - 4),
    }
}

/// What came of a deed, or would come of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostOutcome {
    /// Whether something is different now, or would be after a check.
    pub changed: bool,
    pub message: String,
    pub changes: Vec<HostChange>,
    /// The end of what programs said on the way; empty after a check.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// One difference. Absent before means that it was not there, absent after that it is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostChange {
    pub what: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl std::fmt::Display for HostChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = &self.what;
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, "{what}: {before} -> {after}"),
            (None, Some(after)) => write!(f, "+ {what}: {after}"),
            (Some(before), None) => write!(f, "- {what}: {before}"),
            (None, None) => f.write_str(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeds_are_read_as_they_are_written_and_nothing_else() {
        let read = |text: &str| serde_json::from_str::<HostDeed>(text);
        let deed = read(r#"{"do":"packages-install","names":["nginx"]}"#).unwrap();
        assert_eq!(deed, HostDeed::PackagesInstall { names: vec!["nginx".into()], refresh: false });
        let deed = read(r#"{"do":"user-add","name":"ann","groups":["wheel"]}"#).unwrap();
        let text = serde_json::to_string(&deed).unwrap();
        assert_eq!(read(&text).unwrap(), deed);
        for bad in [
            r#"{"do":"packages-install"}"#,
            r#"{"do":"shell","command":"rm -rf /"}"#,
            r#"{"do":"service","name":"x","verb":"explode"}"#,
            r#"{"do":"user-add","name":"ann","sudo":true}"#,
            r#"{"do":"service","name":"x","verb":"start","force":true}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn mistakes_are_all_told_with_their_place() {
        let many = vec!["x".to_owned(); NAMES_MAX + 1];
        let install = |names: &[&str]| HostDeed::PackagesInstall {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            refresh: false,
        };
        let table: Vec<(HostDeed, &[&str])> = vec![
            (install(&["nginx", "g++"]), &[]),
            (install(&[]), &["/names"]),
            (install(&["-y", "", "a\nb"]), &["/names/0", "/names/1", "/names/2"]),
            (HostDeed::PackagesUpgrade { names: Vec::new() }, &[]),
            (HostDeed::PackagesUpgrade { names: many }, &["/names"]),
            (HostDeed::Service { name: String::new(), verb: ServiceVerb::Start }, &["/name"]),
            (
                HostDeed::Signal {
                    pid: 1,
                    start_ticks: 0,
                    name: "init".into(),
                    signal: ProcessSignal::Term,
                },
                &["/pid"],
            ),
            (
                HostDeed::UserAdd(UserAdd {
                    name: "ann".into(),
                    home: Some("/a\nb".into()),
                    ..UserAdd::default()
                }),
                &["/home"],
            ),
            (
                HostDeed::UserGroups { name: "ann".into(), groups: Vec::new(), exact: false },
                &["/groups"],
            ),
            (HostDeed::UserGroups { name: "ann".into(), groups: Vec::new(), exact: true }, &[]),
            (HostDeed::UserKeyAdd { name: "ann".into(), key: " ".into() }, &["/key"]),
        ];
        for (deed, pointers) in table {
            let found: Vec<String> = deed.problems().into_iter().map(|p| p.pointer).collect();
            assert_eq!(found, pointers, "{deed:?}");
        }
    }

    #[test]
    fn deeds_are_said_in_few_words() {
        let names = |count: usize| (0..count).map(|n| format!("p{n}")).collect::<Vec<_>>();
        let install = |count| HostDeed::PackagesInstall { names: names(count), refresh: false };
        assert_eq!(install(2).words(), "install p0, p1");
        assert_eq!(install(9).words(), "install p0, p1, p2, p3 and 5 more");
        let deed = HostDeed::Service { name: "nginx".into(), verb: ServiceVerb::Restart };
        assert_eq!(deed.words(), "restart nginx");
        let text = r#"{"do":"primitive","primitive":"file","declaration":{"path":"/etc/x","content":"s3cret"}}"#;
        let deed: HostDeed = serde_json::from_str(text).unwrap();
        assert_eq!(deed.words(), "have file /etc/x");
    }
}
