//! Deeds as plans of the host's primitives, and what came of them in the words of servers, bounded.

use hostler_host::accounts::{self, Group, User};
use hostler_host::authorized_keys::AuthorizedKey;
use hostler_host::command::Command;
use hostler_host::cron::Cron;
use hostler_host::files::{Directory, File};
use hostler_host::package::{self, Package};
use hostler_host::processes::{self, Seen};
use hostler_host::service::{self, Service};
use hostler_host::sysctl::Sysctl;
use hostler_host::{Host, HostError, Outcome, Plan, Primitive};
use hostler_model::host::{
    HostChange, HostDeed, HostOutcome, HostPrimitive, ProcessSignal, ServiceVerb, UserAdd,
};
use rustix::process::Signal;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The most differences that are told, and the longest text of one.
const CHANGES_MAX: usize = 200;
const TEXT_MAX: usize = 4 << 10;
/// How much is told of what programs said.
const OUTPUT_MAX: usize = 16 << 10;

/// What would be done.
pub(super) async fn plan(host: &Host, deed: &HostDeed) -> Result<Plan, HostError> {
    match deed {
        HostDeed::PackagesInstall { names, refresh } => {
            Package { update: *refresh, ..Package::of(names) }.present(host).await
        }
        HostDeed::PackagesRemove { names, purge } => {
            Package { purge: *purge, ..Package::of(names) }.absent(host).await
        }
        HostDeed::PackagesUpgrade { names } if names.is_empty() => package::upgrade(host).await,
        HostDeed::PackagesUpgrade { names } => package::upgrade_some(host, names).await,
        HostDeed::PackagesRefresh {} => package::update(host).await,
        HostDeed::Service { name, verb } => {
            service::require_systemd(host)?;
            told(host, name, *verb).await
        }
        HostDeed::Signal { pid, start_ticks, name, signal } => {
            let seen = Seen { pid: *pid, start_ticks: *start_ticks, name: name.clone() };
            processes::signal(host, seen, number(*signal)).await
        }
        HostDeed::UserAdd(user) => added(user).present(host).await,
        HostDeed::UserRemove { name, home } => {
            User { remove_home: *home, ..User::named(name) }.absent(host).await
        }
        HostDeed::UserLock { name } => accounts::lock(host, name).await,
        HostDeed::UserUnlock { name } => accounts::unlock(host, name).await,
        HostDeed::UserGroups { name, groups, exact } => {
            let user = User { groups: groups.clone(), exact_groups: *exact, ..User::named(name) };
            user.modify(host).await
        }
        HostDeed::UserKeyAdd { name, key } => key_of(name, key).present(host).await,
        HostDeed::UserKeyRemove { name, key } => key_of(name, key).absent(host).await,
        HostDeed::Primitive { primitive, declaration, absent } => {
            declared(host, *primitive, declaration, *absent).await
        }
    }
}

async fn declared(
    host: &Host,
    primitive: HostPrimitive,
    declaration: &Map<String, Value>,
    absent: bool,
) -> Result<Plan, HostError> {
    match primitive {
        HostPrimitive::File => of::<File>(host, declaration, absent).await,
        HostPrimitive::Directory => of::<Directory>(host, declaration, absent).await,
        HostPrimitive::Package => of::<Package>(host, declaration, absent).await,
        HostPrimitive::Service => {
            service::require_systemd(host)?;
            of::<Service>(host, declaration, absent).await
        }
        HostPrimitive::User => of::<User>(host, declaration, absent).await,
        HostPrimitive::Group => of::<Group>(host, declaration, absent).await,
        HostPrimitive::Sysctl => of::<Sysctl>(host, declaration, absent).await,
        HostPrimitive::Cron => of::<Cron>(host, declaration, absent).await,
        HostPrimitive::Command => of::<Command>(host, declaration, absent).await,
    }
}

async fn of<P: Primitive + DeserializeOwned + Send>(
    host: &Host,
    declaration: &Map<String, Value>,
    absent: bool,
) -> Result<Plan, HostError> {
    let read = serde_json::from_value(Value::Object(declaration.clone()));
    let it: P = read.map_err(|error| HostError::Invalid {
        what: "the declaration",
        given: String::new(),
        problem: error.to_string(),
    })?;
    if absent { it.absent(host).await } else { it.present(host).await }
}

async fn told(host: &Host, name: &str, verb: ServiceVerb) -> Result<Plan, HostError> {
    let running = |is: bool| Service { running: Some(is), ..Service::named(name) };
    let enabled = |is: bool| Service { enabled: Some(is), ..Service::named(name) };
    match verb {
        ServiceVerb::Start => running(true).present(host).await,
        ServiceVerb::Stop => running(false).present(host).await,
        ServiceVerb::Restart => service::restart(host, name).await,
        ServiceVerb::Reload => service::reload(host, name).await,
        ServiceVerb::Enable => enabled(true).present(host).await,
        ServiceVerb::Disable => enabled(false).present(host).await,
    }
}

fn added(user: &UserAdd) -> User {
    User {
        uid: user.uid,
        gid: user.group.clone(),
        groups: user.groups.clone(),
        home: user.home.clone(),
        shell: user.shell.clone(),
        comment: user.comment.clone(),
        system: user.system,
        ..User::named(&user.name)
    }
}

fn key_of(user: &str, key: &str) -> AuthorizedKey {
    AuthorizedKey { user: user.to_owned(), key: key.to_owned(), comment: None, options: None }
}

fn number(signal: ProcessSignal) -> Signal {
    match signal {
        ProcessSignal::Hup => Signal::HUP,
        ProcessSignal::Int => Signal::INT,
        ProcessSignal::Quit => Signal::QUIT,
        ProcessSignal::Kill => Signal::KILL,
        ProcessSignal::Usr1 => Signal::USR1,
        ProcessSignal::Usr2 => Signal::USR2,
        ProcessSignal::Term => Signal::TERM,
        ProcessSignal::Cont => Signal::CONT,
        ProcessSignal::Stop => Signal::STOP,
    }
}

pub(super) fn outcome(outcome: Outcome) -> HostOutcome {
    let count = outcome.diff.len();
    let mut changes: Vec<HostChange> = outcome
        .diff
        .into_iter()
        .take(CHANGES_MAX)
        .map(|change| HostChange {
            what: first(change.what),
            before: change.before.map(first),
            after: change.after.map(first),
        })
        .collect();
    if count > CHANGES_MAX {
        let what = format!("and {} more", count - CHANGES_MAX);
        changes.push(HostChange { what, before: None, after: None });
    }
    HostOutcome {
        changed: outcome.changed,
        message: first(outcome.message),
        changes,
        output: last(&outcome.output),
    }
}

fn first(text: String) -> String {
    if text.len() <= TEXT_MAX {
        return text;
    }
    let kept: String =
        text.char_indices().take_while(|(at, _)| *at < TEXT_MAX).map(|(_, c)| c).collect();
    format!("{kept}.. ({} bytes)", text.len())
}

fn last(text: &str) -> String {
    let from = text.len().saturating_sub(OUTPUT_MAX);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text[from..].to_owned()
}

#[cfg(test)]
mod tests {
    use hostler_host::Change;

    use super::*;

    #[tokio::test]
    async fn a_file_is_declared_checked_made_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::new(
            folder.path(),
            std::sync::Arc::new(hostler_host::System),
            hostler_host::Privilege::Ordinary,
        );
        let text = r#"{"path":"/etc/demo","content":"hello\n","mode":"0600"}"#;
        let deed = |absent: bool| HostDeed::Primitive {
            primitive: HostPrimitive::File,
            declaration: serde_json::from_str(text).unwrap(),
            absent,
        };
        assert!(plan(&host, &deed(false)).await.unwrap().outcome().changed);
        plan(&host, &deed(false)).await.unwrap().perform(&host).await.unwrap();
        assert!(!plan(&host, &deed(false)).await.unwrap().outcome().changed);
        let made = std::fs::read_to_string(folder.path().join("etc/demo")).unwrap();
        assert_eq!(made, "hello\n");
        plan(&host, &deed(true)).await.unwrap().perform(&host).await.unwrap();
        assert!(!folder.path().join("etc/demo").exists());
        let wrong = HostDeed::Primitive {
            primitive: HostPrimitive::File,
            declaration: serde_json::from_str(r#"{"path":"/etc/demo","contents":"x"}"#).unwrap(),
            absent: false,
        };
        let refused = plan(&host, &wrong).await.unwrap_err().to_string();
        assert!(refused.contains("contents"), "{refused}");
    }

    #[test]
    fn outcomes_are_bounded() {
        let change = |n: usize| Change::added(format!("package {n}"), "ä".repeat(5000));
        let large = Outcome {
            changed: true,
            message: "done".into(),
            diff: (0..CHANGES_MAX + 5).map(change).collect(),
            output: format!("start{}end", "ö".repeat(OUTPUT_MAX)),
        };
        let told = outcome(large);
        assert_eq!(told.changes.len(), CHANGES_MAX + 1);
        assert_eq!(told.changes.last().unwrap().what, "and 5 more");
        let after = told.changes[0].after.as_ref().unwrap();
        assert!(after.len() < TEXT_MAX + 40 && after.ends_with(".. (10000 bytes)"), "{after}");
        assert!(told.output.len() <= OUTPUT_MAX && told.output.ends_with("end"));
    }
}
