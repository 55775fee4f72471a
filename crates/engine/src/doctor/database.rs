//! The database, its clock, and the room it has.

use std::time::Duration;

use hostler_model::{Bytes, Finding};

use super::{Disk, Observations, apart, critical, length, warn};

const SLOW: Duration = Duration::from_millis(100);
const VERY_SLOW: Duration = Duration::from_secs(2);
const LOG_LARGE: u64 = 1 << 30;
const LAG_LONG: Duration = Duration::from_secs(30);
const SKEW_LARGE: Duration = Duration::from_secs(2);
const SKEW_VERY_LARGE: Duration = Duration::from_secs(30);
const LOW: f64 = 0.10;
const VERY_LOW: f64 = 0.03;
/// A small part of a large disk is enough.
const PLENTY: u64 = 20 << 30;

pub(super) fn database(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "database";
    let database = &seen.database;
    let mut found = Vec::new();
    let latency = format!("a transaction took {}", length(database.latency));
    let slow = "everything that is asked of Hostler waits for it";
    if database.latency >= VERY_SLOW {
        found.push(
            critical(CHECK, "the database hardly answers")
                .why(slow)
                .evidence([latency.clone()])
                .next("look at its load and its disk"),
        );
    } else if database.latency >= SLOW {
        found.push(
            warn(CHECK, "the database is slow")
                .why(slow)
                .evidence([latency.clone()])
                .next("look at its load and its disk"),
        );
    }
    if database.is_read_only {
        found.push(
            critical(CHECK, "the database takes no writes")
                .why("nothing can be changed, and nodes come to look away")
                .next("connect to the primary: `database` in the configuration names a replica"),
        );
    }
    if let Some(size) = database.log_size.filter(|size| *size >= LOG_LARGE) {
        found.push(
            warn(CHECK, "the write-ahead log of the database is large")
                .why("it takes room, and makes reading slow")
                .evidence([format!("it has {}", Bytes::new(size))])
                .next(
                    "it shrinks when nothing reads for long: look for a backup that does not end",
                ),
        );
    }
    if let Some(lag) = database.replica_lag.filter(|lag| *lag >= LAG_LONG) {
        found.push(
            warn(CHECK, "a replica of the database is behind")
                .why("what it lacks is lost when it has to take over")
                .evidence([format!("it is {} behind", length(lag))])
                .next("look at the replica and the network between"),
        );
    }
    if found.is_empty() {
        let what = format!("{}, {}, {latency}", database.kind, Bytes::new(database.size));
        found.push(Finding::ok(CHECK, what));
    }
    found
}

pub(super) fn schema(seen: &Observations) -> Vec<Finding> {
    let (found, known) = (seen.database.schema, seen.database.schema_known);
    vec![match found.cmp(&known) {
        std::cmp::Ordering::Equal => Finding::ok("schema", format!("version {found}")),
        std::cmp::Ordering::Greater => {
            warn("schema", format!("the database has schema {found}, this server knows {known}"))
                .why("a newer server has migrated it; this one cannot start again")
                .next("upgrade this server")
        }
        std::cmp::Ordering::Less => {
            critical("schema", format!("the database has schema {found}, not {known}"))
                .why("a migration did not come to its end")
                .next("hostler server migrate")
        }
    }]
}

pub(super) fn clock(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "clock";
    let Some(theirs) = seen.database.clock else { return Vec::new() };
    let skew = apart(theirs, seen.now);
    let what = format!("server and database are {} apart", length(skew));
    let finding = match skew {
        skew if skew >= SKEW_VERY_LARGE => critical(CHECK, what),
        skew if skew >= SKEW_LARGE => warn(CHECK, what),
        _ => return vec![Finding::ok(CHECK, what)],
    };
    vec![
        finding
            .why("leases, certificates and schedules go by the clock of servers")
            .next("set both clocks by NTP"),
    ]
}

pub(super) fn disks(seen: &Observations) -> Vec<Finding> {
    seen.disks.iter().flat_map(disk).collect()
}

/// Room and inodes, whichever is the worse.
pub(super) fn disk(disk: &Disk) -> Vec<Finding> {
    const CHECK: &str = "disk";
    let share = |free: u64, all: u64| match all {
        0 => 1.0,
        #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
        all => free as f64 / all as f64,
    };
    let room = if disk.free >= PLENTY { 1.0 } else { share(disk.free, disk.size) };
    let inodes = share(disk.inodes_free, disk.inodes);
    let (least, what) = match room <= inodes {
        true => (room, format!("{} free", Bytes::new(disk.free))),
        false => (inodes, format!("{} inodes free", disk.inodes_free)),
    };
    let told = format!("{} ({}): {what}", disk.path, disk.what);
    let finding = match least {
        least if least < VERY_LOW => critical(CHECK, format!("a disk is nearly full: {told}")),
        least if least < LOW => warn(CHECK, format!("a disk fills up: {told}")),
        _ => return vec![Finding::ok(CHECK, told)],
    };
    let percent = format!("{:.1} % left", least * 100.0);
    vec![
        finding
            .why("a database that cannot write stops everything")
            .evidence([percent])
            .next("make room: shorten `event_retention`, `blobs.retention` or `backup.keep`, or give it a larger disk"),
    ]
}
