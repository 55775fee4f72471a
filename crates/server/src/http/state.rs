//! State: entries, transactions, histories.

use axum::body::Body;
use bytes::Bytes;
use hostler_api::state::{
    STATE_EXPIRES_HEADER, STATE_REVISION_HEADER, STATE_VERSION_HEADER, StateAnswerView,
    StateChangeView, StateClearedView, StateCommit, StateDelete, StateDeletedView, StateEntryView,
    StateGet, StateHistory, StateList, StateNamespaceClear, StateNamespaceList, StateNamespaceView,
    StatePut, StateValueGet,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{StatePlace, StatePrecondition};
use hostler_model::{Diagnostic, Error, Limit, Name, STATE_KEY_MAX, StateKey, StateSum, StateTtl};
use http::HeaderName;

use super::error::malformed;
use super::gather::Gather;
use super::{Answer, App, Call, page, state_body, state_watch};

fn place(namespace: &Name, key: &StateKey) -> StatePlace {
    StatePlace { namespace: namespace.clone(), key: key.clone() }
}

pub(crate) async fn namespaces(
    app: App,
    call: Call<StateNamespaceList>,
) -> Result<Answer<Listing<StateNamespaceView>>, Error> {
    let mut list = Gather::of::<StateNamespaceList>(&call.query)?;
    while let Some(ask) = list.ask() {
        let found = app.control().state_namespaces(call.project(), ask.after(), ask.limit).await?;
        list.sift(found, |sum: StateSum| {
            let name = sum.namespace?;
            Some(StateNamespaceView { name, entries: sum.entries, bytes: sum.bytes })
        })?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn clear(
    app: App,
    call: Call<StateNamespaceClear>,
) -> Result<Answer<StateClearedView>, Error> {
    let entries = app.control().state_clear(&call.cx, call.project(), &call.path.namespace).await?;
    Ok(Answer::new(StateClearedView { entries }))
}

pub(crate) async fn list(
    app: App,
    call: Call<StateList>,
) -> Result<Answer<Listing<StateEntryView>>, Error> {
    if call.query.prefix.as_ref().is_some_and(|prefix| prefix.len() > STATE_KEY_MAX) {
        let detail =
            format!("no key has more than {STATE_KEY_MAX} bytes, so none begins with this");
        let mut error = malformed(detail.clone(), "ask for a shorter `prefix`");
        error.errors = vec![Diagnostic::new("/query/prefix", detail)];
        return Err(error);
    }
    if call.query.watch == Some(true) {
        return state_watch::open(app, call).await;
    }
    let after = page::after(call.query.cursor.as_deref())?;
    let mut limit = page::limit(call.query.limit)?;
    let with_values = call.query.values == Some(true);
    if with_values && limit.get() > Limit::DEFAULT.get() {
        limit = Limit::DEFAULT;
    }
    let prefix = call.query.prefix.as_deref().unwrap_or_default();
    let (found, revision) = app
        .control()
        .state_list(
            call.project(),
            &call.path.namespace,
            prefix,
            with_values,
            after.as_deref(),
            limit,
        )
        .await?;
    let listing = page::listing(found, state_body::entry);
    Ok(Answer::new(Listing { watch_cursor: Some(revision.to_string()), ..listing }))
}

pub(crate) async fn get(app: App, call: Call<StateGet>) -> Result<Answer<StateEntryView>, Error> {
    let place = place(&call.path.namespace, &call.query.key);
    Ok(Answer::new(state_body::entry(app.control().state_get(call.project(), &place).await?)))
}

pub(crate) async fn value(app: App, call: Call<StateValueGet>) -> Result<Answer<Nothing>, Error> {
    let place = place(&call.path.namespace, &call.query.key);
    let found = app.control().state_get(call.project(), &place).await?;
    let bytes = found.value.map(|value| Bytes::copy_from_slice(&value)).unwrap_or_default();
    let answer = Answer::stream("application/octet-stream", Body::from(bytes))
        .with_header(HeaderName::from_static(STATE_REVISION_HEADER), found.revision)
        .with_header(HeaderName::from_static(STATE_VERSION_HEADER), found.version);
    Ok(match found.time_expires {
        Some(time) => answer.with_header(HeaderName::from_static(STATE_EXPIRES_HEADER), time),
        None => answer,
    })
}

pub(crate) async fn put(app: App, call: Call<StatePut>) -> Result<Answer<StateEntryView>, Error> {
    let place = place(&call.path.namespace, &call.query.key);
    let precondition = match (call.query.if_revision, call.query.if_absent) {
        (Some(_), Some(true)) => {
            let text = "an entry has a revision or is absent; not both";
            return Err(Error::invalid(vec![Diagnostic::new("/query/ifAbsent", text)]));
        }
        (_, Some(true)) | (Some(0), _) => StatePrecondition::Absent,
        (Some(revision), _) => StatePrecondition::Revision(revision),
        (None, _) => StatePrecondition::None,
    };
    let ttl = call.query.ttl.map_or(StateTtl::Never, StateTtl::After);
    let value = call.raw.as_ref().into();
    let put =
        app.control().state_put(&call.cx, call.project(), &place, value, ttl, precondition).await?;
    Ok(Answer::new(state_body::entry(put)))
}

pub(crate) async fn delete(
    app: App,
    call: Call<StateDelete>,
) -> Result<Answer<StateDeletedView>, Error> {
    let place = place(&call.path.namespace, &call.query.key);
    let precondition =
        call.query.if_revision.map_or(StatePrecondition::None, StatePrecondition::Revision);
    let revision =
        app.control().state_delete(&call.cx, call.project(), &place, precondition).await?;
    Ok(Answer::new(StateDeletedView { revision }))
}

pub(crate) async fn history(
    app: App,
    call: Call<StateHistory>,
) -> Result<Answer<Listing<StateChangeView>>, Error> {
    let before = page::before(call.query.cursor.as_deref())?;
    let limit = page::limit(call.query.limit)?;
    let place = place(&call.path.namespace, &call.query.key);
    let found = app.control().state_history(call.project(), &place, before, limit).await?;
    Ok(Answer::new(page::listing(found, state_body::change)))
}

pub(crate) async fn commit(
    app: App,
    call: Call<StateCommit>,
) -> Result<Answer<StateAnswerView>, Error> {
    let txn = state_body::txn(call.project().id, call.body)?;
    Ok(Answer::new(state_body::answer(app.control().state_commit(&call.cx, txn).await?)))
}
