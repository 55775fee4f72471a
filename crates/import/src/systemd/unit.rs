//! The text of a unit file: sections, settings, lines that go on after a backslash, drop-ins.

use crate::names;
use crate::plan::{Place, Source, Unreadable, numbered};

/// A unit, with its drop-ins behind it.
#[derive(Clone, Debug)]
pub struct Unit<'a> {
    /// `web@blue.service`.
    pub name: String,
    pub place: Place<'a>,
    pub settings: Vec<Setting<'a>>,
}

#[derive(Clone, Debug)]
pub struct Setting<'a> {
    pub section: String,
    pub key: String,
    pub value: String,
    pub place: Place<'a>,
}

impl<'a> Unit<'a> {
    /// Settings of a key; an empty value forgets those before it.
    pub fn all(&self, section: &str, key: &str) -> Vec<&Setting<'a>> {
        let found =
            self.settings.iter().filter(|setting| setting.section == section && setting.key == key);
        let mut kept = Vec::new();
        for setting in found {
            if setting.value.is_empty() {
                kept.clear();
            } else {
                kept.push(setting);
            }
        }
        kept
    }

    /// The one that counts where only one can be.
    pub fn last(&self, section: &str, key: &str) -> Option<&Setting<'a>> {
        self.all(section, key).pop()
    }

    pub fn text(&self, section: &str, key: &str) -> Option<&str> {
        self.last(section, key).map(|setting| setting.value.as_str())
    }

    pub fn is_true(&self, section: &str, key: &str) -> bool {
        self.text(section, key).is_some_and(is_true)
    }

    /// `web` of `web@blue.service`.
    pub fn prefix(&self) -> &str {
        let stem = self.stem();
        stem.split_once('@').map_or(stem, |(prefix, _)| prefix)
    }

    /// `blue` of `web@blue.service`.
    pub fn instance(&self) -> Option<&str> {
        self.stem().split_once('@').map(|(_, instance)| instance).filter(|name| !name.is_empty())
    }

    pub fn stem(&self) -> &str {
        self.name.rsplit_once('.').map_or(self.name.as_str(), |(stem, _)| stem)
    }

    /// `service`, `timer`, ..
    pub fn kind(&self) -> &str {
        self.name.rsplit_once('.').map_or("", |(_, kind)| kind)
    }
}

pub fn is_true(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "1" | "yes" | "y" | "true" | "t" | "on")
}

/// Reads all files; those in `name.service.d/` add to their unit.
pub fn read_all<'a>(sources: &[Source<'a>]) -> Result<Vec<Unit<'a>>, Unreadable> {
    let mut units: Vec<Unit<'a>> = Vec::new();
    let (drop_ins, wholes): (Vec<&Source<'a>>, Vec<&Source<'a>>) =
        sources.iter().partition(|source| drop_in_of(source.file).is_some());
    for source in wholes.into_iter().chain(drop_ins) {
        let settings = read(*source)?;
        let name = drop_in_of(source.file).unwrap_or_else(|| names::base(source.file)).to_owned();
        match units.iter_mut().find(|unit| unit.name == name) {
            Some(unit) => unit.settings.extend(settings),
            None => {
                let place = Place { file: source.file, line: 1 };
                units.push(Unit { name, place, settings });
            }
        }
    }
    Ok(units)
}

fn drop_in_of(file: &str) -> Option<&str> {
    names::folder(file).strip_suffix(".d").filter(|_| file.ends_with(".conf"))
}

fn read<'a>(source: Source<'a>) -> Result<Vec<Setting<'a>>, Unreadable> {
    let mut settings: Vec<Setting<'a>> = Vec::new();
    let mut section = None;
    let mut is_open = false;
    for (line, text) in numbered(source.text) {
        let place = Place { file: source.file, line };
        let text = text.trim();
        if text.starts_with(['#', ';']) || text.is_empty() && !is_open {
            continue;
        }
        let (text, goes_on) = match text.strip_suffix('\\') {
            Some(text) => (text.trim_end(), true),
            None => (text, false),
        };
        if is_open && let Some(setting) = settings.last_mut() {
            setting.value.push(' ');
            setting.value.push_str(text);
        } else if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = Some(name.to_owned());
        } else {
            let Some(section) = &section else {
                let hint = "a unit begins with a section such as [Unit] or [Service]";
                return Err(place.unreadable(1, "a setting before the first section", hint));
            };
            let Some((key, value)) = text.split_once('=') else {
                let hint = "write Key=value; a line that goes on ends with a backslash";
                return Err(place.unreadable(1, "this is neither a section nor a setting", hint));
            };
            let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
            settings.push(Setting { section: section.clone(), key, value, place });
        }
        is_open = goes_on;
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_with_their_drop_ins() {
        let unit = "# c\n[Service]\nExecStart=/bin/a \\\n  # not this\n  \
            b\nEnvironment=A=1\nEnvironment=B=2\n";
        let drop_in = "[Service]\nExecStart=\nExecStart=/bin/c\n";
        let sources = [
            Source { file: "a@x.service.d/o.conf", text: drop_in },
            Source { file: "/etc/a@x.service", text: unit },
        ];
        let units = read_all(&sources).unwrap();
        assert_eq!(units.len(), 1);
        assert_eq!((units[0].prefix(), units[0].instance()), ("a", Some("x")));
        assert_eq!(units[0].all("Service", "Environment").len(), 2);
        assert_eq!(units[0].text("Service", "ExecStart"), Some("/bin/c"));
        let alone = read_all(&sources[1..]).unwrap();
        assert_eq!(alone[0].text("Service", "ExecStart"), Some("/bin/a b"));
        assert!(read_all(&[Source { file: "a.service", text: "A=1\n" }]).is_err());
        assert!(read_all(&[Source { file: "a.service", text: "[A]\nnonsense\n" }]).is_err());
    }
}
