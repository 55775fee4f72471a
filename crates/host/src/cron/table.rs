//! A crontab as text.
//!
//! ```text
//! # hostler: backup
//! 0 3 * * * /usr/bin/backup
//! # hostler: report (disabled)
//! #0 9 * * 1 /usr/bin/report
//! ```
//!
//! Everything else is kept line by line. A name without an entry behind it is somebody's leftover: it
//! is kept as a comment, and replaced when an entry of that name is put.

use serde::Serialize;

use super::schedule::split_entry;

const MARK: &str = "# hostler: ";
const DISABLED: &str = " (disabled)";

/// One entry of a crontab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// `None` for what others wrote.
    pub name: Option<String>,
    pub schedule: String,
    pub command: String,
    pub user: Option<String>,
    pub enabled: bool,
}

#[derive(Debug)]
enum Piece<'a> {
    /// Somebody else's line.
    Kept(&'a str),
    Named {
        name: String,
        enabled: bool,
        entry: String,
    },
}

#[derive(Debug)]
pub(super) struct Table<'a> {
    pieces: Vec<Piece<'a>>,
}

impl<'a> Table<'a> {
    pub fn parse(text: &'a str) -> Table<'a> {
        let mut pieces = Vec::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((name, enabled)) = marked(line) else {
                pieces.push(Piece::Kept(line));
                continue;
            };
            let entry = lines.peek().and_then(|next| match enabled {
                true => Some(*next),
                false => next.strip_prefix('#'),
            });
            match entry.filter(|entry| split_entry(entry).is_some()) {
                Some(entry) => {
                    let (name, entry) = (name.to_owned(), entry.to_owned());
                    pieces.push(Piece::Named { name, enabled, entry });
                    lines.next();
                }
                None => pieces.push(Piece::Kept(line)),
            }
        }
        Table { pieces }
    }

    pub fn render(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Kept(line) => text.extend([line, "\n"]),
                Piece::Named { name, enabled: true, entry } => {
                    text.extend([MARK, name, "\n", entry, "\n"]);
                }
                Piece::Named { name, enabled: false, entry } => {
                    text.extend([MARK, name, DISABLED, "\n#", entry, "\n"]);
                }
            }
        }
        text
    }

    pub fn entries(&self, user: Option<&str>) -> Vec<Entry> {
        let entry = |name: Option<&str>, enabled: bool, line: &str| {
            let (schedule, command) = split_entry(line)?;
            Some(Entry {
                name: name.map(str::to_owned),
                schedule,
                command,
                user: user.map(str::to_owned),
                enabled,
            })
        };
        let told = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Kept(line) if line.trim_start().starts_with('#') => None,
            Piece::Kept(line) => entry(None, true, line),
            Piece::Named { name, enabled, entry: line } => entry(Some(name), *enabled, line),
        });
        told.collect()
    }

    /// Puts a named entry in its place, or at the end.
    pub fn put(&mut self, entry: &Entry) {
        let name = entry.name.clone().unwrap_or_default();
        let piece = Piece::Named {
            name: name.clone(),
            enabled: entry.enabled,
            entry: format!("{} {}", entry.schedule, entry.command),
        };
        match self.pieces.iter().position(|piece| piece.is_named(&name)) {
            Some(at) => self.pieces[at] = piece,
            None => self.pieces.push(piece),
        }
    }

    /// Takes a named entry away; says whether there was one.
    pub fn take(&mut self, name: &str) -> bool {
        let before = self.pieces.len();
        self.pieces.retain(|piece| !piece.is_named(name));
        self.pieces.len() < before
    }
}

impl Piece<'_> {
    fn is_named(&self, wanted: &str) -> bool {
        match self {
            Piece::Named { name, .. } => name == wanted,
            Piece::Kept(line) => marked(line).is_some_and(|(name, _)| name == wanted),
        }
    }
}

fn marked(line: &str) -> Option<(&str, bool)> {
    let name = line.strip_prefix(MARK)?;
    Some(match name.strip_suffix(DISABLED) {
        Some(name) => (name, false),
        None => (name, true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "MAILTO=ann\n# note\n# hostler: a\n0 3 * * * /bin/a x\n\
                        # hostler: b (disabled)\n#@daily /bin/b\n5 5 * * * /bin/other\n";

    fn entry(name: &str, schedule: &str, command: &str, enabled: bool) -> Entry {
        let name = (!name.is_empty()).then(|| name.to_owned());
        let (schedule, command) = (schedule.to_owned(), command.to_owned());
        Entry { name, schedule, command, user: None, enabled }
    }

    #[test]
    fn entries_are_read_and_the_rest_is_kept() {
        let table = Table::parse(TEXT);
        assert_eq!(
            table.entries(None),
            [
                entry("a", "0 3 * * *", "/bin/a x", true),
                entry("b", "@daily", "/bin/b", false),
                entry("", "5 5 * * *", "/bin/other", true),
            ]
        );
        assert_eq!(table.render(), TEXT);
    }

    #[test]
    fn entries_are_put_in_place_and_taken() {
        let mut table = Table::parse(TEXT);
        table.put(&entry("a", "1 1 * * *", "/bin/z", false));
        table.put(&entry("c", "@reboot", "/bin/c", true));
        let text = table.render();
        assert!(
            text.contains("# hostler: a (disabled)\n#1 1 * * * /bin/z\n# hostler: b"),
            "{text}"
        );
        assert!(text.ends_with("# hostler: c\n@reboot /bin/c\n"), "{text}");
        let mut table = Table::parse(&text);
        assert!(table.take("a") && table.take("b") && table.take("c") && !table.take("c"));
        assert_eq!(table.render(), "MAILTO=ann\n# note\n5 5 * * * /bin/other\n");
    }

    #[test]
    fn a_name_without_an_entry_is_a_leftover() {
        let text = "# hostler: a\n# hostler: b\n0 3 * * * /bin/b\n";
        let mut table = Table::parse(text);
        assert_eq!(table.entries(None).len(), 1);
        assert_eq!(table.render(), text);
        table.put(&entry("a", "@daily", "/bin/a", true));
        assert!(table.render().starts_with("# hostler: a\n@daily /bin/a\n# hostler: b\n"));
    }
}
