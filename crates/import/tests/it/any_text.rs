//! Whatever is written: it is read or refused, never a panic, and what comes out is valid.

use hostler_import::{CrontabForm, Plan, Unreadable, Variables};
use proptest::prelude::*;

use crate::{assert_is_valid, source};

const FILES: &[(&str, &str)] = &[
    ("compose.yaml", include_str!("files/shop.compose.yaml")),
    ("compose.yaml", include_str!("files/small.compose.yaml")),
    ("crontab", include_str!("files/ada.crontab")),
    ("cron.d/crontab", include_str!("files/etc-crontab")),
    ("shop.service", include_str!("files/shop.service")),
    ("backup.timer", include_str!("files/backup.timer")),
    ("Procfile", include_str!("files/Procfile")),
    ("s.conf", include_str!("files/supervisord.conf")),
];

fn every_reader(file: &str, text: &str) -> [Result<Plan, Unreadable>; 5] {
    let sources = [source(file, text)];
    let none = Variables::new();
    [
        hostler_import::compose(&sources, &none),
        hostler_import::crontab(&sources, CrontabForm::Guess),
        hostler_import::systemd(&sources),
        hostler_import::procfile(&sources, &none),
        hostler_import::supervisord(&sources),
    ]
}

fn look(file: &str, text: &str) {
    for plan in every_reader(file, text).into_iter().flatten() {
        assert_is_valid(&plan);
    }
}

/// Values that stand where others stood.
const ODD: &[&str] = &[
    "",
    "-1",
    "0",
    "1e99",
    "999999999999999999999",
    "infinity",
    "%",
    "$",
    "${",
    "'",
    "\"",
    "\\",
    "ä",
    "a b",
    "=",
    ":",
    "[",
    "{}",
    "*",
    "true",
    "100%",
    "\u{7f}",
    "{{ x }}",
    "HOSTLER_X=1",
    "/",
    "~",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn files_with_a_value_replaced(
        which in 0..FILES.len(),
        at in any::<prop::sample::Index>(),
        odd in prop::sample::select(ODD),
        cut in 0..3_usize,
    ) {
        let (file, text) = FILES[which];
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = at.index(lines.len());
        let changed = match cut {
            0 => odd.to_owned(),
            1 => match lines[line].split_once(['=', ':']) {
                Some((key, _)) => {
                    let mark = if lines[line].contains('=') { '=' } else { ':' };
                    format!("{key}{mark} {odd}")
                }
                None => format!("{} {odd}", lines[line]),
            },
            _ => lines[line].replacen(' ', odd, 1),
        };
        lines[line] = changed;
        look(file, &(lines.join("\n") + "\n"));
    }

    #[test]
    fn lines_of_anything(lines in prop::collection::vec("[ -~äé\t]{0,40}", 0..12)) {
        look("x.service", &lines.join("\n"));
    }

    #[test]
    fn settings_of_anything(
        keys in prop::collection::vec(prop::sample::select(KEYS), 1..12),
        values in prop::collection::vec("[ -~]{0,16}", 12),
    ) {
        let mut unit = "[Service]\nExecStart=/bin/x\n".to_owned();
        let mut service = "services:\n  a:\n    command: x\n".to_owned();
        let mut program = "[program:a]\ncommand=x\n".to_owned();
        let mut used = std::collections::BTreeSet::new();
        for (key, value) in keys.iter().zip(&values) {
            unit.push_str(&format!("{key}={value}\n"));
            program.push_str(&format!("{}={value}\n", key.to_lowercase()));
            if used.insert(key) {
                service.push_str(&format!("    {key}: '{}'\n", value.replace('\'', "''")));
            }
        }
        look("a.service", &unit);
        look("compose.yaml", &service);
        look("s.conf", &program);
    }
}

const KEYS: &[&str] = &[
    "User",
    "Group",
    "UMask",
    "WorkingDirectory",
    "Environment",
    "ExecStartPre",
    "ExecStop",
    "Restart",
    "RestartSec",
    "RestartSteps",
    "RestartMaxDelaySec",
    "StartLimitBurst",
    "TimeoutSec",
    "MemoryMax",
    "MemoryHigh",
    "CPUQuota",
    "CPUWeight",
    "TasksMax",
    "LimitNOFILE",
    "Nice",
    "IOWeight",
    "RuntimeMaxSec",
    "user",
    "working_dir",
    "environment",
    "mem_limit",
    "cpus",
    "pids_limit",
    "cpu_shares",
    "labels",
    "stop_grace_period",
    "stop_signal",
    "restart",
    "profiles",
    "depends_on",
    "scale",
    "healthcheck",
    "numprocs",
    "startretries",
    "startsecs",
    "stopwaitsecs",
    "exitcodes",
    "process_name",
    "directory",
];
