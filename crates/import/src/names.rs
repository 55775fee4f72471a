//! Names for workloads, from whatever the source calls them.

use std::collections::BTreeSet;

use hostler_model::Name;

/// The wanted name as far as the rules for names allow, with a number where it is taken.
pub fn unique(wanted: &str, taken: &mut BTreeSet<String>) -> Name {
    let stem = label(wanted, Name::MAX);
    let name = std::iter::once(stem.clone())
        .chain((2_u64..).map(|number| {
            let suffix = format!("-{number}");
            format!("{}{suffix}", label(&stem, Name::MAX - suffix.len()))
        }))
        .find(|name| !taken.contains(name))
        .expect("numbers do not run out");
    taken.insert(name.clone());
    name.parse().expect("a label is a name")
}

fn label(wanted: &str, longest: usize) -> String {
    let mut label = String::new();
    for c in wanted.chars() {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            label.push(c);
        } else if !label.is_empty() && !label.ends_with('-') {
            label.push('-');
        }
        if label.len() == longest {
            break;
        }
    }
    let label = label.trim_end_matches('-');
    if label.is_empty() { "workload".to_owned() } else { label.to_owned() }
}

/// Words that come before the program that a command line is about.
const WRAPPERS: &[&str] = &[
    "cd", "chronic", "command", "env", "exec", "flock", "ionice", "nice", "nohup", "setsid",
    "sudo", "test", "time", "timeout", "[",
];

/// Programs whose first argument says more than they do.
const INTERPRETERS: &[&str] =
    &["bash", "bun", "dash", "deno", "java", "node", "perl", "php", "python", "ruby", "sh", "zsh"];

/// The best name for a shell command: the program it is about, without folder and ending.
pub fn of_command(command: &str) -> String {
    let mut found = None;
    for part in command.split(['&', '|', ';', '\n']) {
        for word in part.split_whitespace() {
            let word = word.trim_matches(['"', '\'']);
            let is_plain =
                word.starts_with(|c: char| c.is_ascii_alphanumeric() || "/.~_[".contains(c));
            let name = stem(word);
            if !is_plain || word.contains('=') || name.is_empty() {
                continue;
            }
            if WRAPPERS.contains(&name) {
                if matches!(name, "cd" | "test" | "[") {
                    break;
                }
                continue;
            }
            if name.chars().all(|c| c.is_ascii_digit() || c == '.') || word.ends_with(".lock") {
                continue;
            }
            let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            if !INTERPRETERS.contains(&bare) {
                return name.to_owned();
            }
            found.get_or_insert(bare);
        }
    }
    found.unwrap_or("workload").to_owned()
}

/// The file's name without folder and ending.
pub fn stem(path: &str) -> &str {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((stem, ending))
            if !stem.is_empty()
                && ending.len() <= 8
                && ending.chars().all(char::is_alphanumeric) =>
        {
            stem
        }
        _ => name,
    }
}

/// The file's name without folder.
pub fn base(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// The name of the folder a file is in.
pub fn folder(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_and_unique() {
        let mut taken = BTreeSet::new();
        let long = "x".repeat(80);
        let mut names = Vec::new();
        for wanted in ["web", "Web", "my_app.v2", "--", "Größe", &long, &long] {
            names.push(unique(wanted, &mut taken).to_string());
        }
        assert_eq!(names[..5], ["web", "web-2", "my-app-v2", "workload", "gr-e"]);
        assert_eq!((names[5].len(), names[6].len()), (63, 63));
        assert!(names[6].ends_with("-2"));
    }

    #[test]
    fn commands_are_called_after_what_they_run() {
        for (command, expected) in [
            ("/usr/local/bin/backup.sh --full", "backup"),
            ("cd /srv/app && ./bin/console cron:run", "console"),
            ("/usr/bin/python3 /opt/report/daily.py > /dev/null 2>&1", "daily"),
            (
                "test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )",
                "run-parts",
            ),
            ("[ -x /usr/bin/certbot ] && certbot -q renew", "certbot"),
            ("LANG=C nice -n 19 ionice -c3 updatedb", "updatedb"),
            ("flock -n /tmp/sync.lock rsync -a /a /b", "rsync"),
            ("bash -lc 'bundle exec rake'", "bundle"),
            ("sh -c", "sh"),
            ("", "workload"),
        ] {
            assert_eq!(of_command(command), expected, "{command}");
        }
    }
}
