//! Configurations that are derived for a deployment, and what servers say of them.

use serde_json::{Map, Value, json};

use super::super::read::Read;
use super::plain::plain;

pub(super) const STATUS_CODE: &str = "deploy_status_code";
/// What every deployment gives back.
pub(super) const GIVEN_BACK: [&str; 3] = ["deploy_stdout", "deploy_stderr", STATUS_CODE];

/// What a server signalled about a deployment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) outputs: Map<String, Value>,
    pub(super) status: &'static str,
    pub(super) reason: String,
    pub(super) event: String,
}

/// What came of a deployment, by what the server says and by what its configuration declares.
pub(super) fn told(id: &str, outputs: &[Value], said: &Map<String, Value>) -> Told {
    let mut reasons = Vec::new();
    let code = said
        .get(STATUS_CODE)
        .filter(|code| !matches!(plain(code).as_str(), "" | "0") && !code.is_null());
    let mut event = format!("deployment {id} succeeded");
    if let Some(code) = code {
        let code = plain(code);
        reasons
            .push(format!("{STATUS_CODE} : Deployment exited with non-zero status code: {code}"));
        event = format!("deployment {id} failed ({code})");
    }
    let mut values = Map::new();
    for output in outputs.iter().filter_map(Value::as_object) {
        let Some((name, value)) = output.text("name").and_then(|name| said.get_key_value(name))
        else {
            continue;
        };
        values.insert(name.clone(), value.clone());
        if output.flag("error_output") {
            reasons.push(format!("{name} : {}", plain(value)));
            event = format!("deployment {id} failed");
        }
    }
    for name in GIVEN_BACK {
        values.insert(name.to_owned(), said.get(name).cloned().unwrap_or_default());
    }
    let (status, reason) = match reasons.is_empty() {
        true => ("COMPLETE", "Outputs received".to_owned()),
        false => ("FAILED", reasons.join(", ")),
    };
    Told { outputs: values, status, reason, event: format!("Signal: {event}") }
}

/// Puts values where a document asks for inputs.
pub(super) fn filled(
    document: &Value,
    key: &str,
    inputs: &Map<String, Value>,
    is_strict: bool,
) -> Result<Value, String> {
    match document {
        Value::Object(map) => {
            if let (1, Some(Value::String(name))) = (map.len(), map.get(key)) {
                return match inputs.get(name) {
                    None if is_strict => Err(format!("The Parameter ({name}) was not provided.")),
                    value => Ok(value.cloned().unwrap_or_default()),
                };
            }
            let of = |(name, value): (&String, &Value)| {
                Ok((name.clone(), filled(value, key, inputs, is_strict)?))
            };
            map.iter().map(of).collect::<Result<Map<_, _>, String>>().map(Value::Object)
        }
        Value::Array(items) => {
            items.iter().map(|item| filled(item, key, inputs, is_strict)).collect()
        }
        other => Ok(other.clone()),
    }
}

/// The inputs that a configuration declares with their values, and then the values that it does not declare.
pub(super) fn valued(declared: &[Value], values: &Map<String, Value>) -> Vec<Value> {
    let mut left = values.clone();
    let mut inputs = Vec::new();
    for input in declared.iter().filter_map(Value::as_object) {
        let name = input.text("name").unwrap_or_default();
        let value =
            left.shift_remove(name).or_else(|| input.get("default").cloned()).unwrap_or_default();
        let mut input = input.clone();
        input.insert("value".to_owned(), value);
        inputs.push(Value::Object(input));
    }
    inputs.extend(
        left.into_iter()
            .map(|(name, value)| json!({"name": name, "type": "String", "value": value})),
    );
    inputs
}

/// Whether an input has another value now that must not have another.
pub(super) fn has_other_input(before: &[Value], after: &[Value]) -> bool {
    let value_of = |inputs: &[Value], name: &str| {
        inputs.iter().find(|input| input["name"] == name).map(|input| input["value"].clone())
    };
    after.iter().filter_map(Value::as_object).filter(|input| input.flag("replace_on_change")).any(
        |input| {
            let was = value_of(before, input.text("name").unwrap_or_default());
            was.is_some_and(|was| Some(&was) != input.get("value"))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_say_is_judged() {
        let outputs =
            vec![json!({"name": "result"}), json!({"name": "wrong", "error_output": true})];
        let cases = [
            (
                json!({"result": "ok"}),
                "COMPLETE",
                "Outputs received",
                "Signal: deployment d succeeded",
            ),
            (
                json!({"deploy_status_code": 0}),
                "COMPLETE",
                "Outputs received",
                "Signal: deployment d succeeded",
            ),
            (
                json!({"deploy_status_code": "3"}),
                "FAILED",
                "deploy_status_code : Deployment exited with non-zero status code: 3",
                "Signal: deployment d failed (3)",
            ),
            (
                json!({"wrong": "no disk"}),
                "FAILED",
                "wrong : no disk",
                "Signal: deployment d failed",
            ),
        ];
        for (said, status, reason, event) in cases {
            let told = told("d", &outputs, said.as_object().unwrap());
            assert_eq!(
                (told.status, told.reason.as_str(), told.event.as_str()),
                (status, reason, event),
                "{said}"
            );
            assert_eq!(told.outputs.get("deploy_stdout"), Some(&Value::Null));
        }
    }

    #[test]
    fn documents_are_filled() {
        let inputs = Map::from_iter([("x".to_owned(), json!([1])), ("y".to_owned(), Value::Null)]);
        let document = json!({"a": {"get_input": "x"}, "b": [{"get_input": "z"}, {"get_input": 1}, {"get_input": "x", "c": 1}]});
        let filled_in = filled(&document, "get_input", &inputs, false).unwrap();
        assert_eq!(
            filled_in,
            json!({"a": [1], "b": [null, {"get_input": 1}, {"get_input": "x", "c": 1}]})
        );
        assert_eq!(
            filled(&document, "get_input", &inputs, true),
            Err("The Parameter (z) was not provided.".to_owned())
        );
    }

    #[test]
    fn inputs_that_are_not_declared_are_there_too() {
        let declared =
            [json!({"name": "a", "default": 1}), json!({"name": "b", "replace_on_change": true})];
        let values = Map::from_iter([("b".to_owned(), json!("x")), ("c".to_owned(), json!([2]))]);
        let inputs = valued(&declared, &values);
        let told: Vec<_> =
            inputs.iter().map(|input| (input["name"].clone(), input["value"].clone())).collect();
        assert_eq!(
            told,
            [(json!("a"), json!(1)), (json!("b"), json!("x")), (json!("c"), json!([2]))]
        );
        let other = valued(
            &declared,
            &Map::from_iter([("b".to_owned(), json!("y")), ("a".to_owned(), json!(5))]),
        );
        assert!(
            has_other_input(&inputs, &other)
                && !has_other_input(&inputs, &inputs)
                && !has_other_input(&[], &other)
        );
    }
}
