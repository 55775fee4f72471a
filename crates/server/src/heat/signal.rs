//! Signals from outside: what waits in a stack is told to go on, groups are scaled, deployments say how they went.
//!
//! Whoever has an address may signal: it is signed, for one resource and one way, and for most until a time. An address that
//! is not good, not any more, or of what is not there is refused in the same words. The body is JSON or nothing, whatever it
//! is declared as: `curl` declares forms. What an alarm sends (Prometheus' Alertmanager, or anything that calls a webhook)
//! is looked through for `state`, `current`, `previous` and `reason`, and may say anything besides.
//!
//! The calls of CloudFormation and CloudWatch that also came in here once are answered with an error that says so.

use hostler_control::SignalPass;
use hostler_model::StackId;
use serde_json::{Value, json};

use super::call::Call;
use super::fault::Fault;
use super::reply::Reply;
use super::versions::document;
use crate::http::strict;

/// What whoever has an address that is not good is told.
const REFUSED: &str = "this address is not one at which a resource can be signalled";

/// What an address says of itself.
fn pass(call: &Call, is_wait_condition: bool) -> Option<SignalPass> {
    let expires = match call.query.get("Expires") {
        None => None,
        Some(text) => Some(text.parse::<i64>().ok()?),
    };
    let signature = call.query.get("Signature")?.to_owned();
    Some(SignalPass { is_wait_condition, expires, signature })
}

pub(super) async fn take(call: Call, is_wait_condition: bool) -> Result<Reply, Fault> {
    let refused = || Fault::forbidden(REFUSED);
    let pass = pass(&call, is_wait_condition).ok_or_else(refused)?;
    let id: StackId = call.part("id").parse().map_err(|_| refused())?;
    let body = match call.raw.is_empty() {
        true => Value::Null,
        false => strict::parse(&call.raw)?,
    };
    let (control, resource) = (call.control(), call.part("resource"));
    let answer = control.stack_signal_by_address(&call.request, id, resource, &pass, &body).await?;
    Ok(Reply::ok(match is_wait_condition {
        true => json!({ "resource": resource, "metadata": answer }),
        false => Value::Null,
    }))
}

/// What the addresses are below, or a refusal for a call that has its name in the query.
pub(super) async fn versions(call: Call) -> Result<Reply, Fault> {
    match call.query.get("Action") {
        Some(action) => Ok(no_action(action)),
        None => Ok(Reply::choices(document(&call.here))),
    }
}

/// A call that has its name in the query or in a form.
pub(super) async fn other(call: Call) -> Result<Reply, Fault> {
    let in_query = call.query.get("Action").map(str::to_owned);
    let form = String::from_utf8_lossy(&call.raw);
    let in_form = form.split('&').find_map(|part| part.strip_prefix("Action="));
    Ok(no_action(&in_query.unwrap_or_else(|| in_form.unwrap_or("this call").to_owned())))
}

fn no_action(action: &str) -> Reply {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || *letter == ' ';
    let action: String = action.chars().filter(is_plain).take(100).collect();
    Reply::xml_refusal(format!(
        "<ErrorResponse><Error><Type>Sender</Type><Code>InvalidAction</Code><Message>{action} is not served: this address takes signals for resources of stacks. Stacks are made with Heat's API; there are no metrics of CloudWatch, and an alarm calls the address of the policy that it is for.</Message></Error></ErrorResponse>"
    ))
}
