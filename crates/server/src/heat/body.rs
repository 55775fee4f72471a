//! What the body of a request says of a stack, in the words of Heat's clients.

use hostler_control::{StackEdit, StackForm};
use hostler_model::Span;
use hostler_model::stack::{StackName, StackOptions};
use serde_json::{Map, Value};

use super::fault::Fault;
use super::query;

/// The body of a request about a stack.
pub(super) struct Body(pub(super) Map<String, Value>);

impl Body {
    fn given(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Fault> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Fault::bad(format!("The value of '{name}' is not a text."))),
        }
    }

    pub(super) fn map(&self, name: &str) -> Result<Option<&Map<String, Value>>, Fault> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(_) => Err(Fault::bad(format!("The value of '{name}' is not a map."))),
        }
    }

    pub(super) fn list(&self, name: &str) -> Result<Option<&Vec<Value>>, Fault> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(_) => Err(Fault::bad(format!("The value of '{name}' is not a list."))),
        }
    }

    fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Fault> {
        let Some(items) = self.list(name)? else { return Ok(None) };
        let texts: Option<Vec<_>> =
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
        texts
            .map(Some)
            .ok_or_else(|| Fault::bad(format!("The value of '{name}' is not a list of texts.")))
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, Fault> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) => query::flag(name, text).map(Some),
            Some(other) => query::flag(name, &other.to_string()).map(Some),
        }
    }

    fn number(&self, name: &str) -> Result<Option<u32>, Fault> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::String(text)) => query::number(name, text).map(Some),
            Some(other) => query::number(name, &other.to_string()).map(Some),
        }
    }

    /// What a new stack is called.
    pub(super) fn name(&self) -> Result<StackName, Fault> {
        let name = self.text("stack_name")?.filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| Fault::bad("No stack name specified"))?;
        name.parse().map_err(|error: hostler_model::stack::ParseStackNameError| {
            Fault::invalid(error.to_string())
        })
    }

    pub(super) fn tags(&self) -> Result<Option<Vec<String>>, Fault> {
        let split = |text: &str| {
            let tags = text.split(',').map(str::trim).filter(|tag| !tag.is_empty());
            tags.map(str::to_owned).collect::<Vec<_>>()
        };
        match self.given("tags") {
            Some(Value::Array(_)) => self.texts("tags"),
            _ => Ok(self.text("tags")?.map(split)),
        }
    }

    fn timeout(&self) -> Result<Option<Span>, Fault> {
        let minutes = self.number("timeout_mins")?;
        Ok(minutes.map(|minutes| Span::from_secs(u64::from(minutes) * 60)))
    }

    /// What a stack is to be made of.
    pub(super) fn form(&self) -> Result<StackForm, Fault> {
        if self.given("template").is_none() && self.given("template_url").is_some() {
            return Err(Fault::bad(
                "This server fetches no templates: send the template itself instead of 'template_url'.",
            ));
        }
        if self.given("files_container").is_some() {
            return Err(Fault::bad(
                "There is no object store behind 'files_container': send the files themselves as 'files'.",
            ));
        }
        let template = self.0.get("template").cloned().unwrap_or_default();
        if !matches!(template, Value::Null | Value::String(_) | Value::Object(_)) {
            return Err(Fault::bad(
                "Template not in valid format: The template is not a JSON object or YAML mapping.",
            ));
        }
        let environment = self.0.get("environment").cloned().unwrap_or_default();
        if !matches!(environment, Value::Null | Value::String(_) | Value::Object(_)) {
            return Err(Fault::bad("Environment not in valid format: it is not a map."));
        }
        Ok(StackForm {
            template,
            environment,
            environment_files: self.texts("environment_files")?.unwrap_or_default(),
            files: self.map("files")?.cloned().unwrap_or_default(),
            parameters: self.map("parameters")?.cloned().unwrap_or_default(),
            are_parameters_last: false,
            are_values_left: false,
        })
    }

    /// What is chosen for a new stack besides.
    pub(super) fn options(&self) -> Result<StackOptions, Fault> {
        let keeps = self.flag("disable_rollback")?.unwrap_or(true);
        Ok(StackOptions {
            is_rollback_enabled: !keeps,
            timeout: self.timeout()?.filter(|timeout| !timeout.is_zero()),
            tags: self.tags()?.unwrap_or_default(),
            converges: self.flag("converge")?.unwrap_or(false),
            ..StackOptions::default()
        })
    }

    /// How a stack is to be changed.
    pub(super) fn edit(&self, is_patch: bool) -> Result<StackEdit, Fault> {
        if !is_patch && self.given("template").is_none() && self.given("template_url").is_none() {
            return Err(Fault::bad("No template specified"));
        }
        Ok(StackEdit {
            form: self.form()?,
            is_patch,
            clear_parameters: self.texts("clear_parameters")?.unwrap_or_default(),
            is_rollback_enabled: self.flag("disable_rollback")?.map(|keeps| !keeps),
            timeout: self.timeout()?,
            tags: self.tags()?,
            converges: self.flag("converge")?,
            ..StackEdit::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(value: &Value) -> Body {
        Body(value.as_object().unwrap().clone())
    }

    #[test]
    fn what_clients_send_is_read() {
        let body = body(&json!({
            "stack_name": "d1", "disable_rollback": "false", "timeout_mins": "10", "tags": "a, b",
            "template": {"heat_template_version": "2021-04-16"}, "parameters": {"p": "x"},
            "environment_files": ["file:///e"], "files": {"file:///e": "{}"}, "environment": {},
        }));
        assert_eq!(body.name().unwrap().as_str(), "d1");
        let options = body.options().unwrap();
        assert!(options.is_rollback_enabled);
        assert_eq!(options.timeout, Some(Span::from_secs(600)));
        assert_eq!(options.tags, ["a", "b"]);
        assert_eq!(body.form().unwrap().environment_files, ["file:///e"]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for wrong in [
            json!({"disable_rollback": "perhaps"}),
            json!({"timeout_mins": "soon"}),
            json!({"timeout_mins": 1.5}),
            json!({"tags": 3}),
        ] {
            assert!(body(&wrong).options().is_err(), "{wrong}");
        }
        for wrong in [
            json!({"template": 3}),
            json!({"files": []}),
            json!({"parameters": "x"}),
            json!({"environment": []}),
            json!({"environment_files": [1]}),
            json!({"template_url": "http://a"}),
            json!({"files_container": "a"}),
        ] {
            assert!(body(&wrong).form().is_err(), "{wrong}");
        }
        for wrong in [json!({}), json!({"stack_name": ""}), json!({"stack_name": "1bad"})] {
            assert!(body(&wrong).name().is_err(), "{wrong}");
        }
        assert!(body(&json!({})).edit(false).is_err());
        assert!(body(&json!({})).edit(true).is_ok());
    }
}
