//! What a file is defined with: its text, its values, the time.

use std::path::{Path, PathBuf};

use hostler_lua::{Given, Mistakes};
use serde_json::{Map, Value as Json};

use super::super::Cx;
use crate::exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// The name of a file in messages, and its text.
pub fn read(ui: &Ui, path: &Path) -> Result<(String, String), Failure> {
    if path == Path::new("-") {
        return Ok(("stdin".to_owned(), ui.input_all()?));
    }
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::usage(format!("{name}: {error}"), "give a file that can be read")
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(Failure::usage(format!("{name}:{line}: it is not UTF-8"), "save it as UTF-8"))
        }
    }
}

/// What is no file here and looks like none: the name of something on the server.
pub fn on_server(path: &Path) -> Option<&str> {
    let name = path.to_str()?;
    let is_file = name == "-"
        || name.contains('/')
        || [".sloth", ".lua", ".luau"].iter().any(|ending| name.ends_with(ending))
        || path.exists();
    (!is_file).then_some(name)
}

/// What definitions see.
pub fn given(cx: &Cx, files: &[PathBuf], set: &[String], strict: bool) -> Result<Given, Failure> {
    let mut values = Json::Object(Map::new());
    for path in files {
        let (name, text) = read(&cx.ui, path)?;
        merge(&mut values, document(&name, &text)?);
    }
    for pair in set {
        let said =
            pair.split_once('=').filter(|(key, _)| key.split('.').all(|part| !part.is_empty()));
        let Some((key, value)) = said else {
            return Err(Failure::usage(
                format!("`{pair}` is no value"),
                "write --set KEY=VALUE, such as --set image.tag=v2",
            ));
        };
        let value = serde_saphyr::from_str::<Json>(value)
            .unwrap_or_else(|_| Json::String(value.to_owned()));
        let mut wrapped = value;
        for part in key.rsplit('.') {
            wrapped = Json::Object(Map::from_iter([(part.to_owned(), wrapped)]));
        }
        merge(&mut values, wrapped);
    }
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Ok(Given {
        values,
        env: env.collect(),
        now: cx.environment.clock.now().micros().div_euclid(1_000_000),
        strict,
        limits: None,
    })
}

fn document(name: &str, text: &str) -> Result<Json, Failure> {
    let bad =
        |error: String| Failure::usage(format!("{name}: {error}"), "values are YAML, JSON or TOML");
    let value = if name.ends_with(".toml") {
        toml::from_str::<Json>(text).map_err(|error| bad(error.to_string()))?
    } else if text.trim().is_empty() {
        Json::Object(Map::new())
    } else {
        serde_saphyr::from_str::<Json>(text).map_err(|error| bad(error.to_string()))?
    };
    if value.is_object() { Ok(value) } else { Err(bad("it is not a map of values".to_owned())) }
}

/// What is written later wins; maps are merged.
fn merge(below: &mut Json, above: Json) {
    match (below, above) {
        (Json::Object(below), Json::Object(above)) => {
            for (key, value) in above {
                match below.get_mut(&key) {
                    Some(there) => merge(there, value),
                    None => {
                        below.insert(key, value);
                    }
                }
            }
        }
        (below, above) => *below = above,
    }
}

/// Mistakes of a file, as a failure.
pub fn wrong(mistakes: &Mistakes) -> Failure {
    let count = mistakes.0.len();
    let hint = if count == 1 { "correct it" } else { "correct them" };
    Failure::told(
        exit::Code::Usage,
        mistakes.to_string(),
        format!("{hint}, and look again with `hostler workflow validate`"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_values_win_and_maps_are_merged() {
        let mut values = serde_json::json!({"image": {"name": "web", "tag": "v1"}, "list": [1]});
        merge(&mut values, serde_json::json!({"image": {"tag": "v2"}, "list": [2, 3]}));
        assert_eq!(
            values,
            serde_json::json!({"image": {"name": "web", "tag": "v2"}, "list": [2, 3]})
        );
    }
}
