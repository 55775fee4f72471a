//! One `[program:x]`.

use hostler_model::{Mode, RestartOn, Span, WorkloadSpec};

use super::ini::{Entry, Section};
use crate::environment::Variables;
use crate::plan::{Draft, Place, Unreadable};
use crate::{quantities, words};

/// More processes than this of one program are a mistake more often than a wish.
const MOST_PROCESSES: u32 = 100;

/// Settings about output, which Hostler keeps by itself.
const OUTPUT: &[&str] = &[
    "stdout_logfile",
    "stdout_logfile_maxbytes",
    "stdout_logfile_backups",
    "stdout_capture_maxbytes",
    "stdout_events_enabled",
    "stdout_syslog",
    "stderr_logfile",
    "stderr_logfile_maxbytes",
    "stderr_logfile_backups",
    "stderr_capture_maxbytes",
    "stderr_events_enabled",
    "stderr_syslog",
    "redirect_stderr",
];

/// What expansions stand for in one process.
struct Expansions<'a> {
    program: &'a str,
    group: &'a str,
    number: u32,
    count: u32,
}

pub fn read(
    section: &Section<'_>,
    program: &str,
    group: &str,
    shared: &Variables,
    draft: &mut Draft,
) -> Result<(), Unreadable> {
    let at = |entry: &Entry| Place { line: entry.line, ..section.place };
    if section.text("command").is_none_or(str::is_empty) {
        let hint = "every program has a command";
        return Err(section.place.unreadable(1, format!("`{program}` has no command"), hint));
    }
    let asked = section.text("numprocs").map_or(Some(1), |text| text.parse::<u32>().ok());
    let count = asked.unwrap_or(1).min(MOST_PROCESSES);
    let first: u32 = section.text("numprocs_start").and_then(|text| text.parse().ok()).unwrap_or(0);
    if let Some(entry) = section.get("numprocs") {
        match asked {
            Some(asked) if asked > count => draft.lost(
                at(entry),
                format!("{program}.numprocs"),
                format!(
                    "only the first {count} of {asked} processes are here; for equal ones \
                     use `placement.count`"
                ),
            ),
            None => draft.lost(
                at(entry),
                format!("{program}.numprocs"),
                "it is not a number; one process is assumed",
            ),
            Some(_) if count > 1 => draft.note(
                at(entry),
                format!("{program}.numprocs"),
                format!(
                    "one workload for each of the {count} processes; on as many nodes, one \
                     with `placement.count` would do"
                ),
            ),
            Some(_) => {}
        }
    }
    about_settings(section, program, draft);
    for number in 0..count {
        let expansions = Expansions { program, group, number: first.saturating_add(number), count };
        let spec = workload(section, &expansions, shared, draft)?;
        let pattern = section.text("process_name").unwrap_or(if count > 1 {
            "%(program_name)s-%(process_num)s"
        } else {
            "%(program_name)s"
        });
        let (wanted, _) = expand(pattern, &expansions);
        let name = draft.name(&wanted);
        draft.push(section.place, name, spec);
    }
    Ok(())
}

fn workload(
    section: &Section<'_>,
    expansions: &Expansions<'_>,
    shared: &Variables,
    draft: &mut Draft,
) -> Result<WorkloadSpec, Unreadable> {
    let program = expansions.program;
    let mut text = |key: &str| {
        let entry = section.get(key).filter(|entry| !entry.value.is_empty())?;
        let (value, unknown) = expand(&entry.value, expansions);
        let place = Place { line: entry.line, ..section.place };
        if !unknown.is_empty() {
            draft.lost(
                place,
                format!("{program}.{key}"),
                format!(
                    "{} is not known here and stays as it is; write its value",
                    unknown.join(", ")
                ),
            );
        }
        Some((place, value))
    };
    let (place, command) = text("command").expect("it was looked at before");
    let words = words::split(&command).map_err(|error| {
        place.unreadable(
            1,
            format!("the command of `{program}`: {error}"),
            "quote it as in a shell",
        )
    })?;
    let mut spec = WorkloadSpec::command(words);
    spec.env.clone_from(shared);
    if let Some((place, value)) = text("environment") {
        let found = environment(&value).ok_or_else(|| {
            place.unreadable(1, "this is no environment", "write KEY=\"value\",OTHER=\"value\"")
        })?;
        spec.env.extend(found);
    }
    spec.workdir = text("directory").map(|(_, directory)| directory);
    spec.user = text("user").map(|(_, user)| user);
    spec.umask = text("umask").map(|(_, umask)| format!("{umask:0>3}"));
    if expansions.group != program {
        spec.tags = vec![format!("group:{}", expansions.group)];
    }
    if let Some((place, value)) = text("stopsignal") {
        match quantities::signal(&value) {
            Some(signal) => spec.stop.signal = signal,
            None => draft.lost(
                place,
                format!("{program}.stopsignal"),
                format!("`{value}` cannot be a stop signal; SIGTERM is sent"),
            ),
        }
    }
    spec.stop.grace = number(section, "stopwaitsecs").map_or(spec.stop.grace, Span::from_secs);
    restart(section, program, &mut spec, draft);
    Ok(spec)
}

fn restart(section: &Section<'_>, program: &str, spec: &mut WorkloadSpec, draft: &mut Draft) {
    let codes: Vec<i32> = section
        .text("exitcodes")
        .map(|codes| codes.split(',').filter_map(|code| code.trim().parse().ok()).collect())
        .unwrap_or_default();
    let at = |key: &str| Place {
        line: section.get(key).map_or(section.place.line, |entry| entry.line),
        ..section.place
    };
    let autorestart = section.text("autorestart").unwrap_or("unexpected").to_ascii_lowercase();
    match autorestart.as_str() {
        "true" | "yes" | "on" | "1" => spec.mode = Mode::Forever,
        "false" | "no" | "off" | "0" | "none" => {
            spec.mode = Mode::Once;
            draft.changed(
                at("autorestart"),
                format!("{program}.autorestart"),
                "mode `once` runs once in all; supervisord starts it again whenever \
                 supervisord itself starts",
            );
        }
        other => {
            if other != "unexpected" {
                draft.lost(
                    at("autorestart"),
                    format!("{program}.autorestart"),
                    "it is neither true, false nor unexpected; taken as unexpected",
                );
            }
            spec.mode = Mode::Forever;
            spec.restart.on = Some(RestartOn::Failure);
            if !codes.is_empty() && !codes.contains(&0) {
                draft.changed(
                    at("exitcodes"),
                    format!("{program}.exitcodes"),
                    "exit code 0 is always a success here, so it is not restarted after it",
                );
            }
        }
    }
    spec.restart.success_codes = codes.into_iter().filter(|code| *code != 0).collect();
    let seconds = number(section, "startsecs");
    if let Some(seconds) = seconds {
        spec.restart.reset_after = Span::from_secs(seconds.max(1));
    }
    if let Some(tries) = number(section, "startretries").and_then(|n| u32::try_from(n).ok()) {
        if spec.mode == Mode::Once {
            draft.lost(
                at("startretries"),
                format!("{program}.startretries"),
                "a run that ends early is not tried again",
            );
        } else if tries == 0 {
            draft.lost(
                at("startretries"),
                format!("{program}.startretries"),
                "no retries at all cannot be said for what exits early only; it is restarted",
            );
        } else {
            let longest = spec.restart.max_delay.millis() / 1000;
            let waits: u64 = (0..tries.min(64))
                .map(|n| 1_u64.checked_shl(n).map_or(longest, |wait| wait.min(longest)))
                .sum();
            let runs = u64::from(tries).saturating_mul(seconds.unwrap_or(1)).min(1_000_000);
            spec.restart.attempts = Some(tries);
            spec.restart.window = Span::from_secs((waits + runs) * 11 / 10 + 1);
            draft.changed(
                at("startretries"),
                format!("{program}.startretries"),
                format!(
                    "it is given up after {tries} restarts within {}, however long the runs were",
                    spec.restart.window
                ),
            );
        }
    }
}

fn number(section: &Section<'_>, key: &str) -> Option<u64> {
    section.text(key).and_then(|text| text.parse::<u32>().ok()).map(u64::from)
}

fn about_settings(section: &Section<'_>, program: &str, draft: &mut Draft) {
    let mut output: Vec<&Entry> = Vec::new();
    for entry in &section.entries {
        let place = Place { line: entry.line, ..section.place };
        let subject = format!("{program}.{}", entry.key);
        let is_true =
            matches!(entry.value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1");
        match entry.key.as_str() {
            "command" | "process_name" | "numprocs" | "numprocs_start" | "directory" | "umask"
            | "autorestart" | "exitcodes" | "startsecs" | "startretries" | "stopsignal"
            | "stopwaitsecs" | "user" | "environment" => {}
            "autostart" if !is_true => draft.changed(
                place,
                subject,
                "a workload starts when it is applied; stop it with `hostler workload \
                 stop`, it stays stopped",
            ),
            "autostart" => {}
            "priority" => draft.lost(
                place,
                subject,
                "there is no order of starting; name what has to be there first in \
                 `depends`",
            ),
            "stopasgroup" | "killasgroup" => {
                draft.note(place, subject, "whatever a run has started is always stopped with it")
            }
            key if OUTPUT.contains(&key) => output.push(entry),
            _ => draft.lost(place, subject, "this setting has no equivalent"),
        }
    }
    if let Some(first) = output.first() {
        let keys: Vec<&str> = output.iter().map(|entry| entry.key.as_str()).collect();
        draft.lost(
            Place { line: first.line, ..section.place },
            format!("{program}.output"),
            format!(
                "{}: Hostler keeps and rotates the output by itself (`logs`), shown by \
                 `hostler workload logs`",
                keys.join(", ")
            ),
        );
    }
}

/// `KEY="value",KEY2='value'`, commas or new lines between them.
pub fn environment(text: &str) -> Option<Variables> {
    let mut found = Variables::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=')?;
        let key = key.trim();
        let after = after.trim_start();
        let (value, tail) = match after.chars().next() {
            Some(mark @ ('"' | '\'')) => after[1..].split_once(mark)?,
            _ => {
                let end = after.find([',', '\n']).unwrap_or(after.len());
                (after[..end].trim_end(), &after[end..])
            }
        };
        if key.is_empty() {
            return None;
        }
        found.insert(key.to_owned(), value.to_owned());
        rest = tail.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
    }
    Some(found)
}

/// The text with expansions filled in, and those that are not known.
fn expand(text: &str, expansions: &Expansions<'_>) -> (String, Vec<String>) {
    let mut out = String::new();
    let mut unknown = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("%%") {
            out.push('%');
            rest = after;
            continue;
        }
        let Some((name, tail)) = rest.strip_prefix("%(").and_then(|inner| inner.split_once(')'))
        else {
            out.push('%');
            rest = &rest[1..];
            continue;
        };
        let width: String = tail.chars().take_while(char::is_ascii_digit).collect();
        let conversion = tail[width.len()..].chars().next().filter(|c| matches!(c, 's' | 'd'));
        let length = 2 + name.len() + 1 + width.len() + conversion.map_or(0, char::len_utf8);
        let value = match name {
            "program_name" => Some(expansions.program.to_owned()),
            "group_name" => Some(expansions.group.to_owned()),
            "process_num" => Some(expansions.number.to_string()),
            "numprocs" => Some(expansions.count.to_string()),
            _ => None,
        };
        let whole = &rest[..length];
        match value {
            Some(value) => {
                let digits = width.parse::<usize>().unwrap_or(0).min(20);
                let pad = if width.starts_with('0') { "0" } else { " " };
                out.push_str(&pad.repeat(digits.saturating_sub(value.len())));
                out.push_str(&value);
            }
            None => {
                out.push_str(whole);
                unknown.push(format!("`{whole}`"));
            }
        }
        rest = &rest[length..];
    }
    out.push_str(rest);
    (out, unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_are_read() {
        let found = environment("A=\"x,y\",B='z',\n C=plain , D=\"\"").unwrap();
        let found: Vec<_> = found.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(found, ["A=x,y", "B=z", "C=plain", "D="]);
        assert_eq!(environment("A"), None);
        assert_eq!(environment("A=\"x"), None);
    }

    #[test]
    fn expansions_are_filled_in() {
        let expansions = Expansions { program: "p", group: "g", number: 7, count: 8 };
        let (text, unknown) =
            expand("%(program_name)s_%(process_num)02d 100%% %(here)s/x %", &expansions);
        assert_eq!(text, "p_07 100% %(here)s/x %");
        assert_eq!(unknown, ["`%(here)s`"]);
    }
}
