//! Crontabs, of a user and of the system (with a user in every line).
//!
//! What cron does is kept: commands run through the shell, in the machine's time zone, may overlap,
//! and times that were missed stay missed. A `%` ends the command and begins its input, which becomes
//! a here-document. The one thing that cannot be said is `@reboot`: a workload that runs once does so
//! once, not at every boot.

use hostler_model::{
    CatchUp, Cron, CronError, CronField, Mode, Overlap, Schedule, Span, WorkloadSpec,
};

use crate::environment::{Variables, is_variable};
use crate::names;
use crate::plan::{Draft, Place, Plan, Source, Unreadable, numbered};

/// Whether lines name a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrontabForm {
    /// By the file's place, or where every line has a well-known user where a user would be.
    #[default]
    Guess,
    User,
    System,
}

/// Users that stand in system crontabs; a command of that name is unlikely.
const ACCOUNTS: &[&str] = &[
    "root",
    "nobody",
    "www-data",
    "apache",
    "nginx",
    "http",
    "daemon",
    "mail",
    "postgres",
    "mysql",
    "redis",
    "backup",
    "git",
    "list",
    "munin",
    "logcheck",
    "ubuntu",
    "admin",
    "debian-spamd",
];

pub fn crontab(sources: &[Source<'_>], form: CrontabForm) -> Result<Plan, Unreadable> {
    let mut draft = Draft::new(sources);
    for source in sources {
        read(*source, form, &mut draft)?;
    }
    Ok(draft.finish())
}

/// What lines before an entry have set.
#[derive(Clone, Default)]
struct Settings {
    env: Variables,
    shell: Option<String>,
    timezone: Option<String>,
    jitter: Span,
}

fn read(source: Source<'_>, form: CrontabForm, draft: &mut Draft) -> Result<(), Unreadable> {
    let has_users = match form {
        CrontabForm::User => false,
        CrontabForm::System => true,
        CrontabForm::Guess => is_system_place(source.file) || looks_like_system(source.text),
    };
    let owner = owner(source.file).filter(|_| !has_users);
    let mut settings = Settings::default();
    let mut is_first = true;
    for (line, text) in numbered(source.text) {
        let place = Place { file: source.file, line };
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if let Some((key, value)) = assignment(text) {
            set(&mut settings, place, key, value, draft);
            continue;
        }
        if is_first {
            is_first = false;
            about_cron(place, &settings, has_users || owner.is_some(), draft);
        }
        entry(place, text, has_users, owner, &settings, draft)?;
    }
    Ok(())
}

fn about_cron(place: Place<'_>, settings: &Settings, is_user_known: bool, draft: &mut Draft) {
    draft.note(
        place,
        "cron",
        "as with cron, runs may overlap and missed times are not caught up; \
         `overlap` and `catchUp` say otherwise",
    );
    if !settings.env.contains_key("HOME") {
        draft.changed(
            place,
            "cron",
            "cron starts commands in the user's home, Hostler in a scratch folder; \
             set `workdir` where commands use relative paths",
        );
    }
    if !is_user_known {
        draft.note(
            place,
            "cron",
            "whose crontab this is does not stand in it; set `user`, or it runs as \
             the agent's user",
        );
    }
}

fn is_system_place(file: &str) -> bool {
    file.ends_with("etc/crontab") || names::folder(file) == "cron.d"
}

fn looks_like_system(text: &str) -> bool {
    let mut entries = numbered(text)
        .map(|(_, line)| line.trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#') && assignment(line).is_none())
        .peekable();
    entries.peek().is_some()
        && entries.all(|line| {
            let before = if line.starts_with('@') { 1 } else { 5 };
            let mut words = line.split_whitespace().skip(before);
            words.next().is_some_and(|user| ACCOUNTS.contains(&user)) && words.next().is_some()
        })
}

/// Crontabs of users lie in a spool under their names.
fn owner(file: &str) -> Option<&str> {
    let is_spool = names::folder(file) == "crontabs" || file.contains("spool/cron/");
    Some(names::base(file)).filter(|_| is_spool)
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let key = unquoted(key.trim());
    is_variable(key).then(|| (key, unquoted(value.trim())))
}

fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|mark| text.strip_prefix(mark)?.strip_suffix(mark))
        .unwrap_or(text)
}

fn set(settings: &mut Settings, place: Place<'_>, key: &str, value: &str, draft: &mut Draft) {
    match key {
        "SHELL" => settings.shell = Some(value.to_owned()),
        "CRON_TZ" => settings.timezone = Some(value.to_owned()).filter(|zone| !zone.is_empty()),
        "RANDOM_DELAY" => match value.parse::<u32>() {
            Ok(minutes) => settings.jitter = Span::from_secs(u64::from(minutes) * 60),
            Err(_) => draft.lost(place, key, "it is not a number of minutes"),
        },
        "MAILTO" | "MAILFROM" | "MAILRC" | "CONTENT_TYPE" | "CONTENT_TRANSFER_ENCODING" => {
            if !value.is_empty() {
                draft.lost(
                    place,
                    key,
                    "nothing is mailed; output is kept and shown by `hostler workload \
                     logs`, failures are events",
                );
            }
        }
        "LOGNAME" | "USER" => {
            draft.lost(place, key, "it follows from the user that the workload runs as");
        }
        _ => {
            settings.env.insert(key.to_owned(), value.to_owned());
        }
    }
}

fn entry(
    place: Place<'_>,
    line: &str,
    has_users: bool,
    owner: Option<&str>,
    settings: &Settings,
    draft: &mut Draft,
) -> Result<(), Unreadable> {
    let (line, is_silent) = match line.strip_prefix('-') {
        Some(rest) => (rest, true),
        None => (line, false),
    };
    let (when, mut rest) = time(place, line)?;
    let mut user = owner.map(str::to_owned);
    if has_users {
        let (name, after) = word(rest);
        user = Some(name.split([':', '/']).next().unwrap_or_default().to_owned());
        rest = after;
    }
    if rest.is_empty() {
        let detail = if has_users { "there is no user and command" } else { "there is no command" };
        return Err(place.unreadable(
            1,
            detail,
            "an entry is a time and a command; system crontabs have a user between them",
        ));
    }
    let (command, input) = percent(rest);
    let name = draft.name(&names::of_command(&command));
    let text = match input {
        None => command,
        Some(input) => {
            draft.changed(
                place,
                format!("{name}.command"),
                "what follows `%` is the command's input; it became a here-document",
            );
            format!("(\n{command}\n) <<'END_OF_INPUT'\n{input}\nEND_OF_INPUT")
        }
    };
    if is_silent {
        draft.note(place, name.as_str(), "the `-` that keeps it out of syslog is not needed");
    }
    let shell = settings.shell.clone().unwrap_or_else(|| "sh".to_owned());
    let mut spec = WorkloadSpec::command([shell, "-c".to_owned(), text]);
    spec.env.clone_from(&settings.env);
    spec.workdir = settings.env.get("HOME").filter(|home| home.starts_with('/')).cloned();
    spec.user = user;
    spec.mode = match when {
        When::Boot => {
            draft.changed(
                place,
                name.as_str(),
                "`@reboot` runs at every boot; mode `once` runs once in all. A program \
                 that should always be there has mode `forever`",
            );
            Mode::Once
        }
        When::Cron(cron) => Mode::Schedule(Schedule {
            timezone: settings.timezone.clone().unwrap_or_else(|| "local".to_owned()),
            jitter: settings.jitter,
            overlap: Overlap::Allow,
            catch_up: CatchUp::None,
            ..Schedule::new(cron)
        }),
    };
    draft.push(place, name, spec);
    Ok(())
}

enum When {
    Boot,
    Cron(String),
}

fn word(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn time<'a>(place: Place<'_>, line: &'a str) -> Result<(When, &'a str), Unreadable> {
    if line.starts_with('@') {
        let (nickname, rest) = word(line);
        let cron = match nickname {
            "@reboot" => return Ok((When::Boot, rest)),
            "@yearly" | "@annually" => "@yearly",
            "@monthly" => "@monthly",
            "@weekly" => "@weekly",
            "@daily" | "@midnight" => "@daily",
            "@hourly" => "@hourly",
            "@every_minute" => "* * * * *",
            _ => {
                let hint = "known are @reboot, @yearly, @monthly, @weekly, @daily and @hourly";
                return Err(place.unreadable(1, format!("`{nickname}` is not a time"), hint));
            }
        };
        return Ok((When::Cron(cron.to_owned()), rest));
    }
    let mut rest = line;
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    while fields.len() < FIELDS.len() && !rest.is_empty() {
        columns.push(u32::try_from(line.len() - rest.len() + 1).unwrap_or(u32::MAX));
        let (field, after) = word(rest);
        fields.push(field);
        rest = after;
    }
    let cron = fields.join(" ");
    let hint = "an entry is minute, hour, day, month, weekday and command";
    match cron.parse::<Cron>() {
        Ok(_) => Ok((When::Cron(cron), rest)),
        Err(mistake) => {
            let wrong = match &mistake {
                CronError::Field { field, .. } => FIELDS.iter().position(|known| known == field),
                _ => None,
            };
            let column = wrong.and_then(|index| columns.get(index)).copied().unwrap_or(1);
            Err(place.unreadable(column, mistake.to_string(), hint))
        }
    }
}

const FIELDS: [CronField; 5] =
    [CronField::Minute, CronField::Hour, CronField::Day, CronField::Month, CronField::Weekday];

/// The command and its input: the first bare `%` ends the one, further ones end lines of the other.
fn percent(text: &str) -> (String, Option<String>) {
    let mut parts = vec![String::new()];
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let part = parts.last_mut().expect("there is one from the start");
        match c {
            '\\' if rest.peek() == Some(&'%') => part.extend(rest.next()),
            '%' => parts.push(String::new()),
            c => part.push(c),
        }
    }
    let input = parts.split_off(1);
    let command = parts.remove(0).trim_end().to_owned();
    (command, (!input.is_empty()).then(|| input.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_checked_where_they_stand() {
        for good in ["* * * * *", "*/5 0-6,22 1 jan-mar mon", "0 0 1,15 * 7", "5-55/10 * * * SUN"] {
            assert!(time(Place { file: "x", line: 1 }, &format!("{good} true")).is_ok(), "{good}");
        }
        for (bad, column) in [
            ("60 * * * *", 1),
            ("* 24 * * *", 3),
            ("* * 0 * *", 5),
            ("* * * foo *", 7),
            ("* * * * 8", 9),
            ("*/0 * * * *", 1),
            ("9-3 * * * *", 1),
            ("* *", 1),
        ] {
            let wrong = time(Place { file: "x", line: 1 }, bad).err().unwrap();
            assert_eq!(wrong.column, column, "{bad}: {wrong}");
        }
    }

    #[test]
    fn percent_signs_end_the_command() {
        assert_eq!(percent("date +\\%F"), ("date +%F".to_owned(), None));
        assert_eq!(
            percent("mail x%hello%world"),
            ("mail x".to_owned(), Some("hello\nworld".to_owned()))
        );
    }

    #[test]
    fn the_form_is_guessed() {
        assert!(looks_like_system("PATH=/bin\n17 * * * * root run-parts\n@daily www-data x\n"));
        assert!(!looks_like_system("17 * * * * root\n"));
        assert!(!looks_like_system("17 * * * * backup.sh\n"));
        assert!(is_system_place("/etc/cron.d/php"));
        assert!(!is_system_place("crontab"));
        assert_eq!(owner("/var/spool/cron/crontabs/ada"), Some("ada"));
        assert_eq!(owner("my/crontab"), None);
    }
}
