//! What would be missed: keys, the audit trail, backups.

use hostler_model::{Finding, Fix, Severity};

use super::{Observations, count, critical, length, warn};

/// Without any anchor, so many entries are too many.
const UNANCHORED_MANY: u64 = 500;

pub(super) fn keys(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "master key";
    let keys = &seen.keys;
    if !keys.lacking.is_empty() {
        return vec![
            critical(CHECK, "this server lacks a master key that secrets are sealed with")
                .why("it cannot open them, and does not start again")
                .evidence(keys.lacking.iter().cloned())
                .next("put it into the file with the former keys beside the master key: docs/running/master-key.md"),
        ];
    }
    match keys.former {
        0 => vec![Finding::ok(CHECK, "opens everything that is sealed")],
        left => vec![
            Finding::new(
                CHECK,
                Severity::Notice,
                format!("{left} values are sealed with a former master key"),
            )
            .why("the former key must be kept until they are sealed anew")
            .next("hostler secret rewrap"),
        ],
    }
}

pub(super) fn audit(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "audit";
    let audit = &seen.audit;
    if let Some(problem) = &audit.broken {
        return vec![
            critical(CHECK, "the audit chain is broken")
                .why("entries were changed or removed by somebody with access to the database")
                .evidence([problem.clone()])
                .next("hostler audit verify; keep the database as it is, and ask who had access"),
        ];
    }
    let age = audit.time_anchored.map(|time| seen.now.since(time));
    let is_late = match age {
        Some(age) => audit.unanchored > 0 && age > audit.anchor_interval * 2,
        None => audit.unanchored >= UNANCHORED_MANY,
    };
    vec![match is_late {
        false => Finding::ok(CHECK, "the chain is whole"),
        true => warn(CHECK, "the audit chain has not been signed for long")
            .why("until then its end can be rewritten by who has access to the database")
            .evidence([
                format!("{} entries since the last anchor", audit.unanchored),
                age.map_or("there is no anchor".to_owned(), |age| format!("{} ago", length(age))),
            ])
            .next("hostler audit anchor; hostler debug reconcilers")
            .fix(Fix::AuditAnchor),
    }]
}

pub(super) fn sinks(seen: &Observations) -> Vec<Finding> {
    let sinks = &seen.audit.sinks;
    if sinks.is_empty() {
        return Vec::new();
    }
    vec![
        warn("audit sinks", format!("{} cannot be told", count(sinks.len(), "sink")))
            .why("entries are kept and told later; until then they are only here")
            .evidence(sinks.iter().map(|(name, problem)| format!("{name}: {problem}")))
            .next("hostler audit sinks"),
    ]
}

pub(super) fn backup(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "backup";
    let backup = &seen.backup;
    let age = backup.time_last_good.map(|time| seen.now.since(time));
    let told =
        age.map_or("there is none".to_owned(), |age| format!("the last is {} old", length(age)));
    if !backup.is_scheduled {
        return vec![
            Finding::new(CHECK, Severity::Notice, "no server makes backups by itself")
                .why("what is not backed up elsewhere is lost with the database")
                .evidence([told])
                .next("set `directory` and `key_file` in the section `[backup]`: docs/running/backup.md"),
        ];
    }
    if let Some(place) = &backup.missing {
        return vec![
            critical(CHECK, "the last backup is not there any more")
                .evidence(
                    std::iter::once(format!("{place} is gone, or is not as large as it was"))
                        .chain(backup.problem.clone())
                        .chain([told]),
                )
                .why("somebody removed it, or the disk that it was on is not mounted: what changes is lost with the database")
                .next("look at the directory of `[backup]`; hostler backup schedule --now; hostler backup ls")
                .fix(Fix::BackupNow),
        ];
    }
    let finding = match (&backup.problem, backup.is_overdue) {
        (problem, true) => {
            critical(CHECK, "the backup is overdue").evidence(problem.iter().cloned().chain([told]))
        }
        (Some(problem), false) => {
            warn(CHECK, "the last backup failed").evidence([problem.clone(), told])
        }
        (None, false) => return vec![Finding::ok(CHECK, told)],
    };
    vec![
        finding
            .why("what changed since the last one is lost with the database")
            .next("hostler backup schedule --now; hostler backup ls")
            .fix(Fix::BackupNow),
    ]
}
