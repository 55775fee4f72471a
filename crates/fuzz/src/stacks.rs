//! Templates of stacks, and the functions in them.

use hostler_template::function::{
    Dialect, Facade, NoConditions, ResolveError, Resolved, SIZE_MAX, Scope, parse, select,
};
use hostler_template::place::Path;
use hostler_template::read::{self, Kind};
use hostler_template::template::Version;
use hostler_template::try_everything;
use serde_json::{Value, json};

/// A template and an environment: said the same of them however often.
pub fn stack_template(bytes: &[u8]) {
    if bytes.len() <= 16 << 10 {
        assert_eq!(try_everything(bytes), try_everything(bytes));
    }
}

/// A value with functions, for the version that the first byte chooses: what is resolved is bounded, and the same
/// however often.
pub fn stack_function(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first().filter(|(_, rest)| rest.len() <= 16 << 10)
    else {
        return;
    };
    let version = Version::ALL[usize::from(*first) % Version::ALL.len()];
    let Ok(document) = read::bytes(Kind::Template, "function", bytes) else { return };
    let Ok(found) = parse(&document.root, &Path::root(), Dialect::new(version), &NoConditions)
    else {
        return;
    };
    let _names = found.references();
    let resolved = found.resolve(&Given);
    assert_eq!(resolved, found.resolve(&Given));
    if let Ok(Resolved::Value(value)) = resolved {
        let text = serde_json::to_vec(&value).expect("a value can be written");
        // What is written is longer than what was paid for: quotes, commas, and characters that are escaped.
        assert!(text.len() <= 8 * SIZE_MAX, "{}", text.len());
    }
}

/// Knows a little of everything.
struct Given;

impl Scope for Given {
    fn parameter(&self, name: &str) -> Result<Value, ResolveError> {
        match name {
            "list" => Ok(json!(["a", "b", " c"])),
            "map" => Ok(json!({"a": 1, "b": {"c": [true, null, 1.5]}})),
            "number" => Ok(json!(3)),
            "text" => Ok(json!("a,b:c")),
            other => Err(ResolveError::parameter_missing(other)),
        }
    }

    fn reference(&self, resource: &str) -> Result<Value, ResolveError> {
        Ok(json!(format!("id-of-{resource}")))
    }

    fn attribute(&self, resource: &str, path: &[Value]) -> Result<Value, ResolveError> {
        let all = json!({"a": [1, {"b": resource}], "c": null});
        Ok(select(&all, path))
    }

    fn file(&self, key: &str) -> Result<String, ResolveError> {
        if key == "there" {
            Ok("text".to_owned())
        } else {
            Err(ResolveError::file_missing("get_file", key))
        }
    }

    fn facade(&self, _: Facade) -> Result<Value, ResolveError> {
        Ok(Value::Null)
    }
}
