//! State between the wire and the application: operations in, results out.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hostler_api::state::{
    StateAnswerView, StateChangeView, StateCompareBody, StateEncoding, StateEntryView, StateOpBody,
    StateQuestion, StateResultView, StateTxnBody, StateVerb,
};
use hostler_control::StateSeen;
use hostler_model::{
    Diagnostic, Error, Name, ProjectId, StateAct, StateAddress, StateAnswer, StateCompare,
    StateCondition, StateEnd, StateKey, StateOp, StateRecord, StateRelation, StateResult, StateTtl,
    StateTxn, StateValue, default_namespace,
};
use serde_json::value::to_raw_value;

/// A transaction of this project; every mistake with its place.
pub(crate) fn txn(project: ProjectId, body: StateTxnBody) -> Result<StateTxn, Error> {
    let mut problems = Vec::new();
    let mut all = |field: &str, ops: Vec<StateOpBody>| {
        let read = |(index, body)| match op(project, body) {
            Ok(op) => Some(op),
            Err((name, text)) => {
                problems.push(Diagnostic::new(format!("/{field}/{index}/{name}"), text));
                None
            }
        };
        ops.into_iter().enumerate().filter_map(read).collect::<Vec<StateOp>>()
    };
    let (then, otherwise) = (all("then", body.then), all("else", body.otherwise));
    let mut compares = Vec::new();
    for (index, body) in body.compare.into_iter().enumerate() {
        match compare(project, body) {
            Ok(compare) => compares.push(compare),
            Err((name, text)) => {
                problems.push(Diagnostic::new(format!("/compare/{index}/{name}"), text));
            }
        }
    }
    match problems.is_empty() {
        true => Ok(StateTxn { compares, then, otherwise }),
        false => Err(Error::invalid(problems)),
    }
}

/// One operation; the field that is wrong, and why.
pub(crate) fn op(
    project: ProjectId,
    body: StateOpBody,
) -> Result<StateOp, (&'static str, &'static str)> {
    let at = address(project, body.namespace, body.key);
    let has = [
        ("value", body.value.is_some(), matches!(body.op, StateVerb::Put)),
        ("encoding", body.encoding.is_some(), matches!(body.op, StateVerb::Put)),
        ("by", body.by.is_some(), matches!(body.op, StateVerb::Increment)),
        ("items", !body.items.is_empty(), matches!(body.op, StateVerb::Push)),
        ("end", body.end.is_some(), matches!(body.op, StateVerb::Push | StateVerb::Pop)),
        ("count", body.count.is_some(), matches!(body.op, StateVerb::Pop)),
        ("ttl", body.ttl.is_some(), has_ttl(body.op)),
        ("never", body.never.is_some(), has_ttl(body.op)),
    ];
    if let Some((field, ..)) = has.iter().find(|(_, is_given, fits)| *is_given && !fits) {
        return Err((field, "this operation has no such field"));
    }
    let kept = match body.op {
        StateVerb::Put => StateTtl::Never,
        _ => StateTtl::Keep,
    };
    let ttl = match (body.ttl, body.never) {
        (Some(_), Some(true)) => {
            return Err(("ttl", "an entry goes after a time, or never; not both"));
        }
        (Some(ttl), _) => StateTtl::After(ttl),
        (None, Some(true)) => StateTtl::Never,
        (None, _) => kept,
    };
    let end = body.end.unwrap_or(StateEnd::Back);
    let act = match body.op {
        StateVerb::Get => StateAct::Get,
        StateVerb::Delete => StateAct::Delete,
        StateVerb::Length => StateAct::Length,
        StateVerb::Touch => StateAct::Touch { ttl },
        StateVerb::Increment => StateAct::Increment { by: body.by.unwrap_or(1), ttl },
        StateVerb::Push => {
            let items = body.items.iter().map(to_raw_value).collect::<Result<_, _>>();
            let items = items.map_err(|_| ("items", "an item is not JSON"))?;
            StateAct::Push { items, end, ttl }
        }
        StateVerb::Pop => StateAct::Pop { count: body.count.unwrap_or(1), end },
        StateVerb::Put => {
            let text = body.value.ok_or(("value", "a put needs a value"))?;
            StateAct::Put { value: value(text, body.encoding)?, ttl }
        }
    };
    Ok(StateOp { at, act })
}

const fn has_ttl(verb: StateVerb) -> bool {
    matches!(verb, StateVerb::Put | StateVerb::Touch | StateVerb::Increment | StateVerb::Push)
}

fn compare(
    project: ProjectId,
    body: StateCompareBody,
) -> Result<StateCompare, (&'static str, &'static str)> {
    let at = address(project, body.namespace, body.key);
    let is = body.is.unwrap_or(StateRelation::Equal);
    let condition = match body.question {
        StateQuestion::Present => StateCondition::Present,
        StateQuestion::Absent => StateCondition::Absent,
        StateQuestion::Value => {
            let text = body.value.ok_or(("value", "a comparison with a value needs one"))?;
            StateCondition::Value(is, value(text, body.encoding)?)
        }
        question => {
            let mark = question.mark().ok_or(("if", "this is not a number"))?;
            let number = body.number.ok_or(("number", "a comparison with a number needs one"))?;
            StateCondition::Mark(mark, is, number)
        }
    };
    Ok(StateCompare { at, condition })
}

fn address(project_id: ProjectId, namespace: Option<Name>, key: StateKey) -> StateAddress {
    StateAddress { project_id, namespace: namespace.unwrap_or_else(default_namespace), key }
}

fn value(
    text: String,
    encoding: Option<StateEncoding>,
) -> Result<StateValue, (&'static str, &'static str)> {
    match encoding {
        None | Some(StateEncoding::Text) => Ok(text.into_bytes().into()),
        Some(StateEncoding::Base64) => {
            STANDARD.decode(text).map(Into::into).map_err(|_| ("value", "the value is not base64"))
        }
    }
}

fn shown(value: &StateValue) -> (String, Option<StateEncoding>) {
    match std::str::from_utf8(value) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => (STANDARD.encode(value), Some(StateEncoding::Base64)),
    }
}

pub(crate) fn entry(record: StateRecord) -> StateEntryView {
    let (value, encoding) = record.value.as_ref().map(shown).unzip();
    StateEntryView {
        namespace: record.at.namespace,
        key: record.at.key,
        value,
        encoding: encoding.flatten(),
        size: record.size,
        revision: record.revision,
        create_revision: record.create_revision,
        version: record.version,
        owner: record.owner,
        time_created: record.time_created,
        time_modified: record.time_modified,
        time_expires: record.time_expires,
    }
}

pub(crate) fn change(StateSeen { change, time }: StateSeen) -> StateChangeView {
    let (value, encoding) = change.value.as_ref().map(shown).unzip();
    StateChangeView {
        kind: change.kind,
        namespace: change.at.namespace,
        key: change.at.key,
        revision: change.revision,
        previous: change.previous,
        create_revision: change.create_revision,
        version: change.version,
        value,
        encoding: encoding.flatten(),
        owner: change.owner,
        time,
        time_expires: change.time_expires,
    }
}

pub(crate) fn answer(answer: StateAnswer) -> StateAnswerView {
    StateAnswerView {
        held: answer.is_held,
        revision: answer.revision,
        results: answer.results.into_iter().map(result).collect(),
    }
}

fn result(result: StateResult) -> StateResultView {
    let (revision, version) =
        result.entry.as_ref().map_or((0, 0), |record| (record.revision, record.version));
    StateResultView {
        revision,
        version,
        entry: result.entry.filter(|record| record.value.is_some()).map(entry),
        deleted: result.is_deleted.then_some(true),
        number: result.number,
        length: result.length,
        items: result.items,
    }
}
