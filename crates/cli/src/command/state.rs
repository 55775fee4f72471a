//! State: values in and out, and what becomes of them.

use std::path::Path;

use futures::StreamExt;
use hostler_api::ProjectPath;
use hostler_api::WatchKind;
use hostler_api::state::{
    StateAnswerView, StateChangeView, StateCommit, StateDelete, StateDeleteQuery, StateEncoding,
    StateEntryView, StateGet, StateHistory, StateHistoryQuery, StateKeyQuery, StateList,
    StateListQuery, StateNamespaceClear, StateNamespaceList, StateNamespacePath, StateOpBody,
    StatePut, StatePutQuery, StateResultView, StateTxnBody, StateVerb,
};
use hostler_client::decode_data;
use hostler_model::{Name, STATE_VALUE_MAX, Span, StateEnd, StateKey};
use serde::Serialize;
use serde_json::Value;

use super::{Cx, DONE, Link, NONE, PAGE, watch};
use crate::args::{StateAt, StateCommand, StateEntryArgs, StateSetArgs, TimeLeft};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;

const STDIN: &str = "-";

pub async fn perform(cx: &Cx, command: StateCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        StateCommand::Get(entry) => get(cx, &link, &entry).await,
        StateCommand::Set(args) => set(cx, &link, args).await,
        StateCommand::Rm { at, keys, if_revision } => {
            for key in keys {
                let query = StateDeleteQuery { key: key.clone(), if_revision };
                let path = path(&link, &at);
                let gone = link.client.call::<StateDelete>(&path, &query, &NONE).await?;
                match cx.ui.format().filter(|_| !cx.is_for_people()) {
                    Some(format) => {
                        let gone = Deleted { key: &key, revision: gone.revision };
                        output::document(&cx.ui, format, &gone)?;
                    }
                    None => cx.ui.say(&format!("{key} deleted")),
                }
            }
            Ok(DONE)
        }
        StateCommand::Ls { at, prefix, values, limit } => {
            let query = StateListQuery {
                prefix,
                values: values.then_some(true),
                limit: PAGE,
                ..StateListQuery::default()
            };
            cx.list::<StateList, _>(&link, &path(&link, &at), &query, limit.limit).await
        }
        StateCommand::Incr { entry, by, ttl } => {
            let op = StateOpBody { by: Some(by), ttl, ..op(StateVerb::Increment, &entry) };
            let result = one(&link, op).await?;
            say(cx, &result, |result| result.number.unwrap_or_default().to_string())
        }
        StateCommand::Push { entry, items, front, json, ttl } => {
            let items = items.iter().map(|item| read(item, json)).collect::<Result<_, _>>()?;
            let end = Some(end(front));
            let op = StateOpBody { items, end, ttl, ..op(StateVerb::Push, &entry) };
            let result = one(&link, op).await?;
            say(cx, &result, |result| result.length.unwrap_or_default().to_string())
        }
        StateCommand::Pop { entry, front, count } => {
            let (end, count) = (Some(end(front)), Some(count));
            let op = StateOpBody { end, count, ..op(StateVerb::Pop, &entry) };
            pop(cx, &entry, one(&link, op).await?)
        }
        StateCommand::Len(entry) => {
            let result = one(&link, op(StateVerb::Length, &entry)).await?;
            if result.length.is_none() {
                return Err(absent(&entry));
            }
            say(cx, &result, |result| result.length.unwrap_or_default().to_string())
        }
        StateCommand::Ttl { entry, ttl } => time(cx, &link, &entry, ttl).await,
        StateCommand::History { entry, limit } => {
            let query = StateHistoryQuery { key: entry.key.clone(), limit: PAGE, cursor: None };
            let path = path(&link, &entry.at);
            cx.list::<StateHistory, _>(&link, &path, &query, limit.limit).await
        }
        StateCommand::Watch { at, prefix, from } => follow(cx, &link, &at, prefix, from).await,
        StateCommand::Txn { file } => txn(cx, &link, &file).await,
        StateCommand::Namespaces(list) => {
            let query = list.page();
            let path = ProjectPath { project: link.project.clone() };
            cx.list::<StateNamespaceList, _>(&link, &path, &query, list.limit).await
        }
        StateCommand::Clear { namespace } => clear(cx, &link, namespace).await,
    }
}

#[derive(Serialize)]
struct Deleted<'a> {
    key: &'a StateKey,
    revision: u64,
}

fn path(link: &Link, at: &StateAt) -> StateNamespacePath {
    StateNamespacePath { project: link.project.clone(), namespace: at.namespace.clone() }
}

fn op(verb: StateVerb, entry: &StateEntryArgs) -> StateOpBody {
    StateOpBody::new(verb, entry.at.namespace.clone(), entry.key.clone())
}

fn end(is_front: bool) -> StateEnd {
    if is_front { StateEnd::Front } else { StateEnd::Back }
}

fn absent(entry: &StateEntryArgs) -> Failure {
    let StateEntryArgs { at: StateAt { namespace }, key } = entry;
    Failure::told(
        exit::Code::NotFound,
        format!("there is no `{key}` in the namespace `{namespace}`"),
        format!("list what there is with `hostler state ls --namespace {namespace}`"),
    )
}

async fn commit(link: &Link, txn: &StateTxnBody) -> Result<StateAnswerView, Failure> {
    let path = ProjectPath { project: link.project.clone() };
    Ok(link.client.call::<StateCommit>(&path, &NONE, txn).await?)
}

async fn one(link: &Link, op: StateOpBody) -> Result<StateResultView, Failure> {
    let txn = StateTxnBody { then: vec![op], ..StateTxnBody::default() };
    Ok(commit(link, &txn).await?.results.into_iter().next().unwrap_or_default())
}

/// A line for people, or everything.
fn say(cx: &Cx, result: &StateResultView, line: impl Fn(&StateResultView) -> String) -> Outcome {
    match cx.ui.format().filter(|_| !cx.is_for_people()) {
        Some(format) => output::document(&cx.ui, format, result)?,
        None => cx.ui.line(&line(result))?,
    }
    Ok(DONE)
}

async fn get(cx: &Cx, link: &Link, entry: &StateEntryArgs) -> Outcome {
    let query = StateKeyQuery { key: entry.key.clone() };
    let found = link.client.call::<StateGet>(&path(link, &entry.at), &query, &NONE).await?;
    match cx.ui.format().filter(|_| !cx.is_for_people()) {
        Some(format) => output::document(&cx.ui, format, &found)?,
        None => cx.ui.data(&bytes(&found)?)?,
    }
    Ok(DONE)
}

fn bytes(entry: &StateEntryView) -> Result<Vec<u8>, Failure> {
    let value = entry.value.as_deref().unwrap_or_default();
    match entry.encoding {
        Some(StateEncoding::Base64) => Ok(decode_data(value)?),
        None | Some(StateEncoding::Text) => Ok(value.as_bytes().to_vec()),
    }
}

async fn set(cx: &Cx, link: &Link, args: StateSetArgs) -> Outcome {
    let value = match (&args.file, args.value.as_deref()) {
        (Some(file), _) => input(cx, file)?,
        (None, Some(STDIN)) => cx.ui.input_bytes()?,
        (None, value) => value.unwrap_or_default().as_bytes().to_vec(),
    };
    if value.len() > STATE_VALUE_MAX {
        return Err(Failure::usage(
            format!("the value has {} bytes; at most 1 MiB are kept", value.len()),
            "keep what is larger as a blob, and its digest here",
        ));
    }
    let query = StatePutQuery {
        key: args.entry.key.clone(),
        ttl: args.ttl,
        if_revision: args.if_revision,
        if_absent: args.if_absent.then_some(true),
    };
    let path = path(link, &args.entry.at);
    let put = link.client.call_raw::<StatePut>(&path, &query, value.into()).await?;
    cx.changed(&put, &format!("set, revision {}", put.revision))
}

fn input(cx: &Cx, file: &Path) -> Result<Vec<u8>, Failure> {
    if file == Path::new(STDIN) {
        return cx.ui.input_bytes();
    }
    std::fs::read(file).map_err(|error| {
        Failure::usage(
            format!("{} cannot be read: {error}", file.display()),
            "name a file that is there, or `-` for stdin",
        )
    })
}

fn read(item: &str, is_json: bool) -> Result<Value, Failure> {
    if !is_json {
        return Ok(item.into());
    }
    serde_json::from_str(item).map_err(|error| {
        Failure::usage(format!("`{item}` is not JSON: {error}"), "leave --json out for text")
    })
}

fn pop(cx: &Cx, entry: &StateEntryArgs, result: StateResultView) -> Outcome {
    if result.items.is_empty() {
        return Err(Failure::told(
            exit::Code::NotFound,
            format!("there is nothing in the list `{}`", entry.key),
            "wait for somebody to push; `hostler state watch` tells of it",
        ));
    }
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
        output::document(&cx.ui, format, &result)?;
        return Ok(DONE);
    }
    for item in &result.items {
        let text = serde_json::from_str::<String>(item.get());
        cx.ui.line(&text.unwrap_or_else(|_| item.get().to_owned()))?;
    }
    Ok(DONE)
}

async fn time(cx: &Cx, link: &Link, entry: &StateEntryArgs, ttl: Option<TimeLeft>) -> Outcome {
    let Some(ttl) = ttl else {
        let query = StateKeyQuery { key: entry.key.clone() };
        let found = link.client.call::<StateGet>(&path(link, &entry.at), &query, &NONE).await?;
        let left = match found.time_expires {
            None => "never".to_owned(),
            Some(time) => {
                let millis = time.since(cx.now()).as_millis();
                Span::from_millis(u64::try_from(millis).unwrap_or(u64::MAX)).to_string()
            }
        };
        match cx.ui.format().filter(|_| !cx.is_for_people()) {
            Some(format) => output::document(&cx.ui, format, &found)?,
            None => cx.ui.line(&left)?,
        }
        return Ok(DONE);
    };
    let (ttl, never) = match ttl {
        TimeLeft::After(span) => (Some(span), None),
        TimeLeft::Never => (None, Some(true)),
    };
    let touch = StateOpBody { ttl, never, ..op(StateVerb::Touch, entry) };
    let result = one(link, touch).await?;
    if result.revision == 0 {
        return Err(absent(entry));
    }
    let left = ttl.map_or_else(|| "never goes".to_owned(), |ttl| format!("goes in {ttl}"));
    match cx.ui.format().filter(|_| !cx.is_for_people()) {
        Some(format) => output::document(&cx.ui, format, &result)?,
        None => cx.ui.say(&format!("{} {left}, revision {}", entry.key, result.revision)),
    }
    Ok(DONE)
}

async fn follow(
    cx: &Cx,
    link: &Link,
    at: &StateAt,
    prefix: Option<String>,
    from: Option<u64>,
) -> Outcome {
    let cursor = from.map(|revision| revision.to_string());
    let query = StateListQuery { prefix, cursor, ..StateListQuery::default() };
    let path = path(link, at);
    let mut stream = link.client.watch::<StateList, StateChangeView>(&path, &query, &NONE)?;
    let mut screen = watch::Screen::<StateChangeView>::new(cx, false);
    while let Some(message) = stream.next().await {
        let message = message?;
        if message.kind != WatchKind::Bookmark {
            screen.show(cx, &message, None)?;
        }
    }
    Ok(DONE)
}

async fn txn(cx: &Cx, link: &Link, file: &Path) -> Outcome {
    let text = input(cx, file)?;
    let body: StateTxnBody = serde_json::from_slice(&text).map_err(|error| {
        Failure::usage(
            format!("the transaction cannot be read: {error}"),
            "`hostler state txn --help` shows one",
        )
    })?;
    let answer = commit(link, &body).await?;
    let format = cx.ui.format().cloned().unwrap_or(output::Format::Json);
    output::document(&cx.ui, &format, &answer)?;
    match answer.held {
        true => Ok(DONE),
        false => Ok(exit::Code::Conflict.number()),
    }
}

async fn clear(cx: &Cx, link: &Link, namespace: Name) -> Outcome {
    cx.ui.confirm(&format!("Delete everything in the namespace {namespace}?"))?;
    let path = StateNamespacePath { project: link.project.clone(), namespace };
    let cleared = link.client.call::<StateNamespaceClear>(&path, &NONE, &NONE).await?;
    match cx.ui.format().filter(|_| !cx.is_for_people()) {
        Some(format) => output::document(&cx.ui, format, &cleared)?,
        None => cx.ui.say(&match cleared.entries {
            1 => "1 entry deleted".to_owned(),
            many => format!("{many} entries deleted"),
        }),
    }
    Ok(DONE)
}
