//! The text of an ini file as supervisord reads it: sections, `key = value`, values that go on in
//! indented lines, comments with `;` or `#`, also behind a value.

use crate::plan::{Place, Source, Unreadable, numbered};

#[derive(Clone, Debug)]
pub struct Section<'a> {
    pub name: String,
    pub place: Place<'a>,
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub key: String,
    pub value: String,
    pub line: u32,
}

impl Section<'_> {
    /// The last one counts.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.key == key)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).map(|entry| entry.value.as_str())
    }
}

pub fn read<'a>(source: Source<'a>) -> Result<Vec<Section<'a>>, Unreadable> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    let mut is_value_open = false;
    for (line, text) in numbered(source.text) {
        let place = Place { file: source.file, line };
        let is_indented = text.starts_with([' ', '\t']);
        let text = without_comment(text).trim();
        if text.is_empty() {
            continue;
        }
        if is_indented && is_value_open {
            let open = sections.last_mut().and_then(|section| section.entries.last_mut());
            if let Some(entry) = open {
                entry.value.push('\n');
                entry.value.push_str(text);
            }
            continue;
        }
        is_value_open = false;
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.push(Section { name: name.trim().to_owned(), place, entries: Vec::new() });
            continue;
        }
        let Some(section) = sections.last_mut() else {
            return Err(place.unreadable(
                1,
                "a setting before the first section",
                "sections begin with [program:name] and the like",
            ));
        };
        let Some(end) = text.find(['=', ':']) else {
            return Err(place.unreadable(
                1,
                "this is neither a section nor a setting",
                "write [section] or key=value; values go on in indented lines",
            ));
        };
        section.entries.push(Entry {
            key: text[..end].trim().to_ascii_lowercase(),
            value: text[end + 1..].trim().to_owned(),
            line,
        });
        is_value_open = true;
    }
    Ok(sections)
}

fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with([';', '#']) {
        return "";
    }
    let comment = [" ;", "\t;", " #", "\t#"].iter().filter_map(|mark| line.find(mark)).min();
    comment.map_or(line, |at| &line[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_settings_and_continued_values_are_read() {
        let text =
            "; top\n[program:a]\ncommand = x ; why\nenvironment=A=\"1\",\n  B=\"2\"\n\n[b]\nk:v\n";
        let sections = read(Source { file: "x", text }).unwrap();
        assert_eq!(sections.len(), 2);
        assert_eq!(sections[0].text("command"), Some("x"));
        assert_eq!(sections[0].text("environment"), Some("A=\"1\",\nB=\"2\""));
        assert_eq!(sections[1].get("k").unwrap().line, 8);
        assert!(read(Source { file: "x", text: "a=1\n" }).is_err());
        assert!(read(Source { file: "x", text: "[a]\nnonsense\n" }).is_err());
    }
}
