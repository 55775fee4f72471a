//! What the fields of a function become: options of the document.

use serde_json::{Value as Json, json};

use super::options::{Options, name, package};
use crate::modules::Described;
use crate::modules::system::given::Given;
use crate::modules::system::machine::Trouble;
use crate::value::to_json;

/// A function that says options; see `said`.
pub(super) struct Setting {
    pub below: &'static str,
    pub words: &'static str,
    pub described: Described,
}

/// One field of it.
struct Field {
    name: &'static str,
    path: Vec<String>,
    kind: &'static str,
}

impl Setting {
    /// The names that it takes.
    pub fn takes(&self) -> String {
        let fields = self.words.split_whitespace().filter(|word| !word.starts_with('+'));
        let names = fields.map(|word| word.split('=').next().unwrap_or_default());
        let is_named = self.below.contains("{name") || self.words.contains("{name");
        let named = is_named.then_some("name");
        let more = (!self.below.is_empty()).then_some("settings");
        let all: Vec<&str> = names.chain(named).chain(more).collect();
        format!("; {}", all.join(" "))
    }

    pub fn say(&self, given: &Given, options: &mut Options) -> Result<(), Trouble> {
        for word in self.words.split_whitespace() {
            if let Some(always) = word.strip_prefix('+') {
                let (path, value) = always.split_once(':').unwrap_or((always, ""));
                options.add(&parts(&self.place(given, path)?), json!(value));
                continue;
            }
            let (name, option) = word.split_once('=').unwrap_or((word, ""));
            let (path, kind) = option.rsplit_once(':').unwrap_or((option, "any"));
            let path =
                if kind == "group" { vec![path.to_owned()] } else { self.place(given, path)? };
            put(&Field { name, path, kind }, given, options)?;
        }
        let below = self.place(given, self.below)?;
        for (key, value) in given.map("settings")? {
            let mut path = parts(&below);
            path.extend(key.split('.'));
            options.set(&path, value);
        }
        Ok(())
    }

    /// A path of the words as one of the document.
    fn place(&self, given: &Given, path: &str) -> Result<Vec<String>, Trouble> {
        let path = match path.strip_prefix('.') {
            Some(rest) => format!("{}/{rest}", self.below),
            None => path.to_owned(),
        };
        let part = |part: &str| match part.strip_prefix('{').and_then(|hole| hole.strip_suffix('}'))
        {
            None => Ok(part.to_owned()),
            Some(hole) => match hole.split_once('|') {
                Some((field, default)) if !given.has(field) => Ok(default.to_owned()),
                Some((field, _)) => name(given, field),
                None => name(given, hole),
            },
        };
        path.split('/').filter(|part| !part.is_empty()).map(part).collect()
    }
}

fn parts(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// Puts a field where it belongs, if it is given.
fn put(field: &Field, given: &Given, options: &mut Options) -> Result<(), Trouble> {
    let (name, path) = (field.name, parts(&field.path));
    let value = match field.kind {
        "on" => Some(json!(given.flag(name)?.unwrap_or(true))),
        "flag" => given.flag(name)?.map(Json::Bool),
        "text!" => Some(json!(given.text(name)?)),
        "text" => given.maybe(name)?.map(Json::String),
        "number" => given.number::<u64>(name)?.map(|number| json!(number)),
        "package" => given.maybe(name)?.map(|name| package(&name)),
        "list" => given.texts(name).map(|texts| given.has(name).then(|| json!(texts)))?,
        "lines" => {
            given.texts(name).map(|texts| given.has(name).then(|| json!(texts.join("\n"))))?
        }
        "map" => given.has(name).then(|| given.map(name)).transpose()?.map(Json::Object),
        "merge" => {
            for (key, value) in given.map(name)? {
                options.set(&[&path[..], &[&key]].concat(), value);
            }
            None
        }
        "named" => {
            for user in given.texts(name)? {
                options.add(&path, json!({ "name": user }));
            }
            None
        }
        "group" => {
            for user in given.texts(name)? {
                options.add(&["users", "users", &user, "extraGroups"], json!(path[0]));
            }
            None
        }
        _ => given.has(name).then(|| to_json(&given.value(name))).transpose()?,
    };
    if let Some(value) = value {
        options.set(&path, value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::said::SETTINGS;

    #[test]
    fn words_are_fields_paths_and_kinds() {
        let kinds = [
            "on", "flag", "text!", "text", "number", "package", "list", "lines", "map", "merge",
            "named", "group", "any",
        ];
        for setting in SETTINGS {
            for word in setting.words.split_whitespace().filter(|word| !word.starts_with('+')) {
                let kind = word.rsplit_once(':').map(|(_, kind)| kind);
                assert!(kind.is_some_and(|kind| kinds.contains(&kind)), "{word}");
                let is_below = !word.contains("=.") || !setting.below.is_empty();
                assert!(word.contains('=') && is_below, "{word}");
            }
        }
    }
}
