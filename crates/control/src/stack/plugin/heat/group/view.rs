//! What others may ask of a group: references and attributes of its members.

use hostler_model::stack::StackStatus;
use serde_json::{Map, Value};

use super::super::super::{ChildView, Member, Seen, walk};
use super::members_of;

/// The order in which members are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// As the group names them.
    Named,
    /// By age, without what failed.
    Aged,
}

/// The members that are there.
pub(super) fn members<'a>(seen: &Seen<'a>, order: Order) -> Vec<&'a Member> {
    seen.child.map(|child| told(child, order)).unwrap_or_default()
}

fn told(child: &ChildView, order: Order) -> Vec<&Member> {
    let by_name: std::collections::HashMap<&str, &Member> =
        child.members.iter().rev().map(|one| (one.name.as_str(), one)).collect();
    let names = members_of(&child.template);
    let mut members: Vec<_> =
        names.iter().filter_map(|(name, _)| by_name.get(name.as_str()).copied()).collect();
    if order == Order::Aged {
        members.retain(|member| member.standing.status != StackStatus::Failed);
        members.sort_by_key(|member| (member.time_created, member.name.as_str()));
    }
    members
}

pub(super) fn refs(seen: &Seen<'_>, order: Order) -> Value {
    members(seen, order).into_iter().map(|member| member.reference.clone()).collect()
}

pub(super) fn refs_map(seen: &Seen<'_>, order: Order) -> Value {
    let of = |member: &Member| (member.name.clone(), member.reference.clone());
    Value::Object(members(seen, order).into_iter().map(of).collect())
}

/// An attribute of every member, at the end of a path.
fn values<'a>(seen: &Seen<'a>, order: Order, path: &[Value]) -> Vec<(&'a str, Value)> {
    let Some((Value::String(name), rest)) = path.split_first() else { return Vec::new() };
    let of = |member: &Member| {
        member.attributes.get(name).map(|value| walk(value, rest)).unwrap_or_default()
    };
    members(seen, order).into_iter().map(|member| (member.name.as_str(), of(member))).collect()
}

pub(super) fn map_of(seen: &Seen<'_>, order: Order, path: &[Value]) -> Value {
    let values = values(seen, order, path).into_iter();
    Value::Object(values.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

pub(super) fn list_of(seen: &Seen<'_>, order: Order, path: &[Value]) -> Value {
    values(seen, order, path).into_iter().map(|(_, value)| value).collect()
}

/// `resource.MEMBER` with its attribute: `resource.0.ip`, or the attribute as what follows in the path.
pub(super) fn of_member(seen: &Seen<'_>, order: Order, path: &[Value]) -> Option<Value> {
    let name = path.first().and_then(Value::as_str)?.strip_prefix("resource.")?;
    let (member, attribute) =
        name.split_once('.').map_or((name, None), |(member, attribute)| (member, Some(attribute)));
    let members = members(seen, order);
    let by_place = || {
        member.parse::<usize>().ok().and_then(|at| members.get(at)).filter(|_| order == Order::Aged)
    };
    let member = by_place().or_else(|| members.iter().find(|one| one.name == member))?;
    let rest = &path[1..];
    let (attribute, rest) = match (attribute, rest.split_first()) {
        (Some(attribute), _) => (attribute, rest),
        (None, Some((Value::String(attribute), rest))) => (attribute.as_str(), rest),
        (None, _) => return Some(member.reference.clone()),
    };
    member.attributes.get(attribute).map(|value| walk(value, rest))
}

#[cfg(test)]
mod tests {
    use super::super::super::bench::{Bench, child_of, member};
    use super::super::template_of;
    use super::*;
    use hostler_model::stack::{StackAction, StackStanding};
    use serde_json::json;

    fn group() -> Bench {
        let template = template_of(["0", "1", "2"].map(|name| (name.to_owned(), json!({}))));
        let mut failed = member("1", 9.0, json!({"ip": "b", "deep": {"l": [3]}}));
        failed.standing.status = StackStatus::Failed;
        let rows = vec![
            member("0", 1.0, json!({"ip": "a", "deep": {"l": [1, 2]}})),
            failed,
            member("2", 5.0, json!({"ip": "c"})),
            member("gone", 3.0, json!({"ip": "x"})),
        ];
        Bench::new("g").child(child_of(
            StackStanding::completed(StackAction::Create),
            template,
            rows,
        ))
    }

    #[test]
    fn members_are_told_in_their_order() {
        let group = group();
        let seen = group.seen();
        assert_eq!(refs(&seen, Order::Named), json!(["id-0", "id-1", "id-2"]));
        assert_eq!(refs(&seen, Order::Aged), json!(["id-2", "id-0"]));
        assert_eq!(refs_map(&seen, Order::Aged), json!({"2": "id-2", "0": "id-0"}));
        assert_eq!(list_of(&seen, Order::Named, &[json!("ip")]), json!(["a", "b", "c"]));
        assert_eq!(
            list_of(&seen, Order::Named, &[json!("deep"), json!("l"), json!(0)]),
            json!([1, 3, null])
        );
        assert_eq!(map_of(&seen, Order::Aged, &[json!("ip")]), json!({"2": "c", "0": "a"}));
    }

    #[test]
    fn one_member_can_be_asked() {
        let group = group();
        let seen = group.seen();
        let of = |order, path: Value| of_member(&seen, order, path.as_array().unwrap());
        assert_eq!(of(Order::Named, json!(["resource.1"])), Some(json!("id-1")));
        assert_eq!(of(Order::Named, json!(["resource.1.deep", "l", 0])), Some(json!(3)));
        assert_eq!(of(Order::Named, json!(["resource.1", "ip"])), Some(json!("b")));
        assert_eq!(of(Order::Aged, json!(["resource.0.ip"])), Some(json!("c")));
        assert_eq!(of(Order::Named, json!(["resource.7.ip"])), None);
        assert_eq!(of(Order::Named, json!(["ip"])), None);
    }
}
