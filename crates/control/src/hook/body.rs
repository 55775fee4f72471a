//! What a webhook is sent: the event itself, or a template filled in with it.
//!
//! Templates see the event's fields by name (`{{ object.name }}`, `{{ payload.exitCode }}`), and `hook`, the
//! name of the hook, and `to`. What is not there is empty. `tojson` makes a value fit for JSON. The formats
//! `slack`, `email` and `plain` are templates too, and can be copied and changed. Work and size are bounded.

use std::io;

use hostler_model::{EventHook, WebhookAction, WebhookFormat};
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde_json::{Value, json};

const FUEL: u64 = 1_000_000;
const SIZE_MAX: usize = 256 << 10;

/// `&`, `<` and `>` are what Slack marks links and mentions with.
pub(crate) const SLACK: &str = r#"{"text": {{ ("*" ~ kind ~ "* " ~ object.kind ~ " `" ~ object.name ~ "`: " ~ message) | replace("&", "&amp;") | replace("<", "&lt;") | replace(">", "&gt;") | tojson }}}"#;
pub(crate) const EMAIL: &str = r#"{"to": {{ to | tojson }}, "subject": {{ ("[hostler] " ~ kind ~ ": " ~ object.kind ~ " " ~ object.name) | tojson }}, "text": {{ (message ~ "\n\n" ~ time ~ ", by " ~ actor.name ~ "\nevent " ~ sequence ~ ", hook " ~ hook) | tojson }}}"#;
pub(crate) const PLAIN: &str =
    "{{ time }} {{ kind }} {{ object.kind }} {{ object.name }}: {{ message }}";

pub(super) fn render(
    hook: &EventHook,
    it: &WebhookAction,
    event: &Value,
) -> Result<String, minijinja::Error> {
    let template = match it.format {
        WebhookFormat::Event => return Ok(event.to_string()),
        WebhookFormat::Slack => SLACK,
        WebhookFormat::Email => EMAIL,
        WebhookFormat::Plain => PLAIN,
        WebhookFormat::Template => it.template.as_str(),
    };
    let mut context = event.clone();
    context["hook"] = json!(hook.name);
    context["to"] = json!(it.to);
    fill(template, &context)
}

/// Why a template cannot be used; with where.
pub(crate) fn check(it: &WebhookAction) -> Option<String> {
    let sample = json!({
        "sequence": 1, "kind": "task.failed", "time": "2026-01-31T12:00:00Z",
        "object": { "kind": "task", "id": "1", "name": "x" },
        "actor": { "kind": "system", "name": "x" },
        "message": "x", "payload": {}, "hook": "x", "to": it.to,
    });
    let template = (it.format == WebhookFormat::Template).then_some(it.template.as_str())?;
    fill(template, &sample).err().map(|error| words(&error))
}

/// One line, with the line of the template.
pub(super) fn words(error: &minijinja::Error) -> String {
    let kind = error.kind();
    let words = match error.detail() {
        Some(detail) => format!("{kind}: {detail}"),
        None => kind.to_string(),
    };
    match error.line() {
        Some(line) => format!("line {line}: {words}"),
        None => words,
    }
}

fn fill(template: &str, context: &Value) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let mut out = Bounded(Vec::new());
    let template = environment.template_from_str(template)?;
    template.render_captured_to(minijinja::value::Serde(context), &mut out)?;
    Ok(String::from_utf8_lossy(&out.0).into_owned())
}

struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > SIZE_MAX {
            return Err(io::Error::other("more than 256 KiB"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> Value {
        json!({
            "sequence": 7, "kind": "task.failed", "time": "2026-01-31T12:00:00Z",
            "object": { "kind": "task", "id": "1", "name": "we\"b" },
            "actor": { "kind": "node", "name": "n1" }, "message": "exit code 3",
            "payload": { "exitCode": 3 }, "hook": "ops", "to": ["ops@example.com"],
        })
    }

    #[test]
    fn the_formats_are_json_whatever_is_in_the_event() {
        let slack: Value = serde_json::from_str(&fill(SLACK, &event()).unwrap()).unwrap();
        assert_eq!(slack, json!({ "text": "*task.failed* task `we\"b`: exit code 3" }));
        let email: Value = serde_json::from_str(&fill(EMAIL, &event()).unwrap()).unwrap();
        assert_eq!(email["to"], json!(["ops@example.com"]));
        assert_eq!(email["subject"], "[hostler] task.failed: task we\"b");
        assert!(email["text"].as_str().unwrap().ends_with("event 7, hook ops"), "{email}");
        assert_eq!(
            fill(PLAIN, &event()).unwrap(),
            "2026-01-31T12:00:00Z task.failed task we\"b: exit code 3"
        );
    }

    #[test]
    fn nobody_is_called_in_slack_by_what_an_event_says() {
        let mut event = event();
        event["object"]["name"] = json!("a&b");
        event["message"] = json!("<!channel> said <https://evil.example|here> &lt;");
        let slack: Value = serde_json::from_str(&fill(SLACK, &event).unwrap()).unwrap();
        assert_eq!(
            slack["text"],
            "*task.failed* task `a&amp;b`: &lt;!channel&gt; said &lt;https://evil.example|here&gt; &amp;lt;"
        );
    }

    #[test]
    fn what_is_not_there_is_empty_and_what_is_wrong_is_told() {
        assert_eq!(fill("{{ payload.exitCode }}|{{ payload.no.such }}", &event()).unwrap(), "3|");
        let check = |template: &str| {
            check(&WebhookAction {
                format: WebhookFormat::Template,
                template: template.to_owned(),
                ..WebhookAction::default()
            })
        };
        assert_eq!(check("{{ kind }}"), None);
        assert!(check("a\n{{ kind").unwrap().starts_with("line 2: "));
        assert!(
            check("{% for i in range(100000) %}{{ kind }}{% endfor %}").is_some(),
            "too much work"
        );
        assert!(fill("{{ 'x' * 300000 }}", &event()).is_err(), "too large");
    }
}
