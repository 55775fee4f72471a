//! Addresses at which resources can be signalled by whoever knows them.
//!
//! What an address says is signed with a key that is derived from the key of its stack: which resource it is of, by which
//! door a signal comes in, and until when. So it is worth nothing for anything else, it ends with the resource and with the
//! stack, and nothing is kept of it.

use std::fmt::Write as _;

use hostler_model::stack::{Stack, StackResource};
use hostler_model::{StackResourceId, Timestamp};
use hostler_trust::mac;

use super::StackKey;
use super::plugin::SignalKind;
use crate::Control;

const PURPOSE: &str = "signals";

/// What an address carries besides the resource that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalPass {
    /// It came in as `PUT` below `waitcondition`, and is answered with what was gathered; otherwise as `POST` below `signal`.
    pub is_wait_condition: bool,
    /// `Expires`: in seconds since 1970; for addresses that end with their resource alone there is none.
    pub expires: Option<i64>,
    /// `Signature`.
    pub signature: String,
}

fn signed_text(id: StackResourceId, is_wait_condition: bool, expires: Option<i64>) -> String {
    let door = if is_wait_condition { "waitcondition" } else { "signal" };
    let until = expires.map_or_else(|| "always".to_owned(), |expires| expires.to_string());
    format!("{door}\n{id}\n{until}")
}

impl SignalPass {
    /// Whether it lets a signal through to that resource now.
    pub(crate) fn is_good(&self, key: &StackKey, id: StackResourceId, now: Timestamp) -> bool {
        let text = signed_text(id, self.is_wait_condition, self.expires);
        let is_over = self.expires.is_some_and(|expires| seconds(now) > expires);
        !is_over && mac::is_signed(&key.derive(PURPOSE), &text, &self.signature)
    }
}

fn seconds(time: Timestamp) -> i64 {
    time.micros().div_euclid(1_000_000)
}

/// A text as a part of a path.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => write!(out, "%{byte:02X}").expect("a text takes everything"),
        }
    }
    out
}

impl Control {
    /// An address at which a resource can be signalled. Where nobody said where this installation is reached, it begins with
    /// the path.
    pub(super) fn stack_signal_url(
        &self,
        key: &StackKey,
        stack: &Stack,
        row: &StackResource,
        kind: SignalKind,
    ) -> String {
        let config = &self.config.stacks;
        let base = config.address.trim_end_matches('/');
        let (project, name, id) = (stack.project_id, &stack.name, stack.id);
        let resource = escaped(&row.name);
        let is_wait_condition = match kind {
            SignalKind::Api => {
                return format!(
                    "{base}/v1/{project}/stacks/{name}/{id}/resources/{resource}/signal"
                );
            }
            SignalKind::WaitCondition => true,
            SignalKind::Signal | SignalKind::Alarm => false,
        };
        let ends = || seconds(self.now().plus(config.signal_ttl));
        let expires = (kind != SignalKind::Alarm).then(ends);
        let text = signed_text(row.id, is_wait_condition, expires);
        let signature = mac::sign(&key.derive(PURPOSE), &text);
        let door = if is_wait_condition { "waitcondition" } else { "signal" };
        let arn = escaped(&format!("arn:openstack:heat::{project}:stacks"));
        let until = expires.map_or_else(String::new, |expires| format!("Expires={expires}&"));
        format!(
            "{base}/v1/{door}/{arn}/{name}/{id}/resources/{resource}?{until}Signature={signature}"
        )
    }
}
