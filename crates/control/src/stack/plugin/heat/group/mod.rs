//! Groups: resources that are many of something, as the members of a stack below.
//!
//! `OS::Heat::ResourceGroup` and `OS::Heat::SoftwareDeploymentGroup` know the names of their members, `OS::Heat::ResourceChain`
//! their order; groups that scale only know how many there are to be. What all do is one loop ([`Plan`]): the template of the
//! stack below says what every member is at present, the arithmetic of `engine::stack::scale` says what the next template is,
//! the stack below becomes like that, and the group looks again until there is nothing more to do. Nothing of the progress
//! is remembered but the plan itself, so a server that dies loses nothing, and an update that failed is gone on with by the
//! next.

mod auto_scaling;
mod chain;
mod deployments;
mod instances;
mod plan;
mod policy;
mod resource_group;
mod view;

pub(super) use auto_scaling::AutoScalingGroup;
pub(super) use chain::ResourceChain;
pub(super) use deployments::DeploymentGroup;
pub(super) use instances::{InstanceGroup, LaunchConfiguration};
pub(super) use policy::ScalingPolicy;
pub(super) use resource_group::ResourceGroup;

use hostler_model::Span;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::read::Read;

/// The template of a stack of members. Names come in their order.
fn template_of(members: impl IntoIterator<Item = (String, Value)>) -> Value {
    let resources: Map<String, Value> = members.into_iter().collect();
    json!({"heat_template_version": "2015-04-30", "resources": resources})
}

/// What the members of a template are, in its order.
fn members_of(template: &Value) -> Vec<(String, Value)> {
    let resources = template.get("resources").and_then(Value::as_object);
    resources.into_iter().flatten().map(|(name, member)| (name.clone(), member.clone())).collect()
}

/// A definition without properties that have no value.
fn without_nothing(mut definition: Map<String, Value>) -> Value {
    if let Some(Value::Object(properties)) = definition.get_mut("properties") {
        properties.retain(|_, value| !value.is_null());
    }
    definition.retain(|_, value| !value.is_null());
    Value::Object(definition)
}

/// A name that no member has: 12 letters and digits of an id.
fn fresh_name(id: Uuid) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let digits = (0..12).map(|at| (id.as_u128() >> (5 * at)) & 31);
    digits
        .filter_map(|digit| usize::try_from(digit).ok())
        .map(|digit| char::from(LETTERS[digit]))
        .collect()
}

/// How many seconds, as a span; part of a second is not lost.
fn span(seconds: f64) -> Span {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float becomes the nearest of the kind"
    )]
    Span::from_millis((seconds.max(0.0) * 1000.0) as u64)
}

fn whole(properties: &Map<String, Value>, name: &str) -> Option<u32> {
    properties.integer(name).and_then(|number| u32::try_from(number.max(0)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_keep_the_order_of_members() {
        let members =
            vec![("b".to_owned(), json!({"type": "T"})), ("a".to_owned(), json!({"type": "U"}))];
        assert_eq!(members_of(&template_of(members.clone())), members);
        assert_eq!(members_of(&json!({})), Vec::new());
    }

    #[test]
    fn names_are_short_and_different() {
        let name = fresh_name(Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef));
        assert_eq!(name.len(), 12);
        assert!(
            name.bytes().all(|c| c.is_ascii_lowercase() || (b'2'..=b'7').contains(&c)),
            "{name}"
        );
        assert_ne!(name, fresh_name(Uuid::from_u128(1)));
    }

    #[test]
    fn what_has_no_value_is_left_out() {
        let definition =
            json!({"type": "T", "metadata": null, "properties": {"a": null, "b": {"c": null}}});
        let definition = without_nothing(definition.as_object().unwrap().clone());
        assert_eq!(definition, json!({"type": "T", "properties": {"b": {"c": null}}}));
    }
}
