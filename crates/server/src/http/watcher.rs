//! Watchers.

use hostler_api::watcher::{
    WatcherApply, WatcherDisable, WatcherEnable, WatcherGet, WatcherList, WatcherNodeView,
    WatcherRemove, WatcherState, WatcherView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{WatcherDetail, WatcherNode};
use hostler_model::{Diagnostic, Error, Generation, Name, WatcherId};

use super::error::malformed;
use super::gather::Gather;
use super::{Answer, App, Call};

fn on_node(node: WatcherNode, revision: Generation) -> WatcherNodeView {
    let (standing, time_told) = match node.on {
        Some(on) => (on.standing, on.time_told),
        None => (None, None),
    };
    let state = match &standing {
        _ if !node.is_given => WatcherState::Off,
        Some(standing) if standing.revision != revision => WatcherState::Pending,
        Some(standing) if standing.trouble.is_some() => WatcherState::Trouble,
        Some(standing) if standing.is_firing => WatcherState::Firing,
        Some(_) => WatcherState::Looking,
        None => WatcherState::Pending,
    };
    let standing = standing.filter(|_| node.is_given);
    WatcherNodeView {
        node: node.node,
        state,
        seen: standing.as_ref().map(|it| it.seen.clone()).unwrap_or_default(),
        lost: standing.as_ref().map_or(0, |it| it.lost),
        trouble: standing.and_then(|it| it.trouble),
        time_told: time_told.filter(|_| node.is_given),
    }
}

fn view(WatcherDetail { watcher, owner, hindrance, nodes }: WatcherDetail) -> WatcherView {
    let revision = watcher.generation;
    let nodes: Vec<WatcherNodeView> =
        nodes.into_iter().map(|node| on_node(node, revision)).collect();
    let count = |states: &[WatcherState]| {
        nodes.iter().filter(|node| states.contains(&node.state)).count() as u64
    };
    let off = count(&[WatcherState::Off]);
    WatcherView {
        id: watcher.id,
        name: watcher.name,
        summary: watcher.spec.watch.summary(),
        spec: watcher.spec,
        owner,
        is_enabled: watcher.is_enabled,
        hindrance,
        looking: nodes.len() as u64 - off,
        firing: count(&[WatcherState::Firing]),
        trouble: count(&[WatcherState::Trouble]),
        nodes,
        generation: watcher.generation,
        time_created: watcher.time_created,
        time_modified: watcher.time_modified,
    }
}

fn shown(detail: WatcherDetail) -> Answer<WatcherView> {
    let generation = detail.watcher.generation;
    Answer::new(view(detail)).with_generation(generation)
}

pub(crate) async fn list(
    app: App,
    call: Call<WatcherList>,
) -> Result<Answer<Listing<WatcherView>>, Error> {
    let mut list = Gather::of::<WatcherList>(&call.query)?;
    while let Some(ask) = list.ask() {
        let found = app.control().watcher_list(call.project(), ask.after(), ask.limit).await?;
        list.take(found, view)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn get(app: App, call: Call<WatcherGet>) -> Result<Answer<WatcherView>, Error> {
    Ok(shown(app.control().watcher_get(call.project(), &call.path.watcher).await?))
}

pub(crate) async fn apply(
    app: App,
    call: Call<WatcherApply>,
) -> Result<Answer<WatcherView>, Error> {
    let (control, project, given) = (app.control(), call.project(), &call.path.watcher);
    let name: Name = match given.parse::<WatcherId>() {
        Ok(_) => control.watcher_get(project, given).await?.watcher.name,
        Err(_) => given.parse().map_err(|problem| bad_name(&problem))?,
    };
    let expected = Some(call.expected);
    let (detail, _) = control.watcher_apply(&call.cx, project, &name, &call.body, expected).await?;
    Ok(shown(detail))
}

fn bad_name(problem: &dyn std::fmt::Display) -> Error {
    let detail = problem.to_string();
    let mut error = malformed(detail.clone(), "choose a name such as certificates");
    error.errors = vec![Diagnostic::new("/path/watcher", detail)];
    error
}

pub(crate) async fn remove(app: App, call: Call<WatcherRemove>) -> Result<Answer<Nothing>, Error> {
    app.control().watcher_remove(&call.cx, call.project(), &call.path.watcher).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn enable(
    app: App,
    call: Call<WatcherEnable>,
) -> Result<Answer<WatcherView>, Error> {
    let name = &call.path.watcher;
    Ok(shown(app.control().watcher_enable(&call.cx, call.project(), name, true).await?))
}

pub(crate) async fn disable(
    app: App,
    call: Call<WatcherDisable>,
) -> Result<Answer<WatcherView>, Error> {
    let name = &call.path.watcher;
    Ok(shown(app.control().watcher_enable(&call.cx, call.project(), name, false).await?))
}
