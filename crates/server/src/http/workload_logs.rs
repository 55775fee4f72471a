//! Output of a workload from all its nodes, as newline-delimited JSON.
//!
//! Every node's stream is pulled as the reader takes lines; lines come in the order of their arrival.
//! A cursor names its node, so the newest of every node together say where to go on.
//!
//! Without `follow` the answer ends when every node has sent what it has. With it, nodes that the
//! workload comes to are added, and those that were lost are asked again from where they were, until
//! the workload is gone. That a node is away is said once, in a `gap` line; only when no node can
//! answer from the start is the whole an error. As with watches, the credential is looked at again
//! while the stream lives.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{BoxStream, SelectAll};
use hostler_api::workload::{WorkloadLogLine, WorkloadLogs};
use hostler_control::{
    Cx, OutputItem, OutputQuery, OutputReceiver, PlacementDetail, WorkloadDetail,
};
use hostler_model::{Code, Diagnostic, Error, Name, NodeId, PlacementId, Project, RunId};

use super::app::StreamPermit;
use super::error::malformed;
use super::gate::{Gate, Presented};
use super::watch::{RECHECK, is_unchanged};
use super::{Answer, App, Call};

/// How long to wait for first words before the answer begins.
const OPENING: Duration = Duration::from_secs(1);
const OPENING_LINES: usize = 1000;
/// Nodes whose cursors fit into one address.
const NODES_MAX: usize = 50;

type Arrival = (PlacementId, Result<OutputItem, Error>);

struct Logs {
    app: App,
    cx: Cx,
    presented: Presented,
    project: Project,
    /// Its id, so that another of the same name is not taken for it.
    workload: String,
    node: Option<NodeId>,
    run: Option<RunId>,
    query: OutputQuery,
    cursors: HashMap<Name, String>,
    sources: HashMap<PlacementId, Source>,
    open: SelectAll<BoxStream<'static, Arrival>>,
    ready: VecDeque<Bytes>,
    is_several: bool,
    is_over: bool,
    time_checked: Duration,
    _permit: StreamPermit,
}

struct Source {
    detail: PlacementDetail,
    state: State,
    has_spoken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Everything was sent.
    Done,
    Away,
}

pub(crate) async fn open(
    app: App,
    call: Call<WorkloadLogs>,
) -> Result<Answer<WorkloadLogLine>, Error> {
    let permit = app.stream_permit()?;
    let (control, project) = (app.control(), call.project().clone());
    let detail = control.workload_get(&call.cx, &project, &call.path.workload).await?;
    let node = match &call.query.node {
        Some(node) => Some(control.node_of(&call.cx, node).await?),
        None => None,
    };
    let query = OutputQuery {
        follow: call.query.follow == Some(true),
        stream: call.query.stream,
        tail: call.query.tail,
        cursor: None,
        since: call.query.since,
        until: call.query.until,
        grep: call.query.grep.clone(),
    };
    let cursors = parse_cursors(call.query.cursor.as_deref())?;
    let run = call.query.run;
    let mut logs = Logs {
        time_checked: app.clock().instant(),
        workload: detail.service.id.to_string(),
        cx: call.cx,
        presented: call.presented,
        project,
        node,
        run,
        query,
        cursors,
        sources: HashMap::new(),
        open: SelectAll::new(),
        ready: VecDeque::new(),
        is_several: false,
        is_over: false,
        _permit: permit,
        app,
    };
    logs.begin(detail).await?;
    let stream = futures::stream::unfold(logs, |mut logs| async move {
        let line = logs.next().await?;
        Some((Ok::<_, Infallible>(line), logs))
    });
    Ok(Answer::stream("application/x-ndjson", Body::from_stream(stream)))
}

/// `node=cursor,node=cursor`.
pub(super) fn parse_cursors(text: Option<&str>) -> Result<HashMap<Name, String>, Error> {
    let mut cursors = HashMap::new();
    for one in text.unwrap_or_default().split(',').filter(|one| !one.is_empty()) {
        let pair =
            one.split_once('=').and_then(|(node, cursor)| Some((node.parse().ok()?, cursor)));
        let Some((node, cursor)) = pair else {
            let detail = "the cursor was not made by this endpoint";
            let hint = "join the newest cursor of every node with commas, unchanged";
            let mut error = malformed(detail, hint);
            error.errors = vec![Diagnostic::new("/query/cursor", detail)];
            return Err(error);
        };
        cursors.insert(node, cursor.to_owned());
    }
    Ok(cursors)
}

impl Logs {
    /// Asks every node, and waits a moment for first words.
    async fn begin(&mut self, detail: WorkloadDetail) -> Result<(), Error> {
        let placements = self.wanted(detail).await?;
        if placements.len() > NODES_MAX {
            return Err(Error::conflict(
                format!("the workload is on {} nodes", placements.len()),
                format!("name one of them with `node`; more than {NODES_MAX} at once are not read"),
            ));
        }
        self.is_several = placements.len() > 1;
        let mut trouble = None;
        for placement in placements {
            if let Err(error) = self.ask(placement).await {
                trouble = trouble.or(Some(error));
            }
        }
        let opening = self.app.clock().sleep(OPENING);
        tokio::pin!(opening);
        while self.ready.len() < OPENING_LINES
            && self.sources.values().any(|s| s.state == State::Open && !s.has_spoken)
        {
            tokio::select! {
                () = &mut opening => break,
                Some((placement, arrived)) = self.open.next() => match arrived {
                    Err(error) => {
                        self.lost(placement, &error);
                        trouble = trouble.or(Some(error));
                    }
                    Ok(item) => self.take(placement, item),
                },
            }
        }
        let is_hopeless = self.sources.values().all(|source| source.state == State::Away);
        match trouble {
            Some(error) if is_hopeless => Err(error),
            _ => Ok(()),
        }
    }

    /// The placements that were asked for.
    async fn wanted(&mut self, detail: WorkloadDetail) -> Result<Vec<PlacementDetail>, Error> {
        let mut placements = detail.placements;
        placements.retain(|p| self.node.is_none_or(|node| p.placement.node_id == node));
        if let Some(run) = self.run {
            let control = self.app.control();
            let of = control.workload_run(&self.cx, &self.project, &self.workload, run).await?;
            placements.retain(|p| p.placement.id == of.placement_id);
            if placements.is_empty() {
                return Err(Error::conflict(
                    "the workload is no longer on the node of this run",
                    "its output went with it; `hostler workload history` shows how it ended",
                ));
            }
        }
        Ok(placements)
    }

    /// Opens a node's stream; when that fails, the node counts as away.
    async fn ask(&mut self, detail: PlacementDetail) -> Result<(), Error> {
        let id = detail.placement.id;
        let mut query = self.query.clone();
        query.cursor = self.cursors.get(&detail.node).cloned();
        if query.cursor.is_some() {
            query.tail = None;
        }
        let opened = self.app.control().placement_output(&detail, self.run, query).await;
        let was_away = self.sources.get(&id).is_some_and(|source| source.state == State::Away);
        let state = if was_away { State::Away } else { State::Open };
        self.sources.insert(id, Source { detail, state, has_spoken: false });
        match opened {
            Ok(receiver) => {
                if let Some(source) = self.sources.get_mut(&id) {
                    source.state = State::Open;
                }
                self.open.push(arrivals(id, receiver));
                Ok(())
            }
            Err(error) => {
                self.lost(id, &error);
                Err(error)
            }
        }
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(line);
            }
            if self.is_over {
                return None;
            }
            if self.is_finished() {
                self.end();
                continue;
            }
            let now = self.app.clock().instant();
            if now.saturating_sub(self.time_checked) >= RECHECK {
                self.time_checked = now;
                if !is_unchanged(&self.app, &self.presented, &self.cx).await {
                    return None;
                }
                if self.query.follow {
                    self.look_again().await;
                    continue;
                }
            }
            let app = self.app.clone();
            tokio::select! {
                () = app.stopping() => return None,
                () = app.clock().sleep(RECHECK) => {}
                Some((placement, arrived)) = self.open.next(), if !self.open.is_empty() => {
                    match arrived {
                        Ok(item) => self.take(placement, item),
                        Err(error) => self.lost(placement, &error),
                    }
                }
            }
        }
    }

    /// Whether nothing can come any more.
    fn is_finished(&self) -> bool {
        let is_open = self.sources.values().any(|source| source.state == State::Open);
        let is_done = self.sources.values().all(|source| source.state == State::Done);
        !is_open && (!self.query.follow || (self.run.is_some() && is_done))
    }

    /// Finds nodes that came to it, and those that were away and may be back.
    async fn look_again(&mut self) {
        let found = self.app.control().workload_get(&self.cx, &self.project, &self.workload).await;
        let detail = match found {
            Ok(detail) => detail,
            Err(error) if error.code == Code::NotFound => {
                if self.open.is_empty() {
                    self.end();
                }
                return;
            }
            Err(_) => return,
        };
        let Ok(mut placements) = self.wanted(detail).await else { return };
        placements.truncate(NODES_MAX);
        self.is_several |= placements.len() > 1;
        for placement in placements {
            let state = self.sources.get(&placement.placement.id).map(|source| source.state);
            if matches!(state, None | Some(State::Away)) {
                // Said already when it became so, and tried again at the next look.
                let _still_away = self.ask(placement).await;
            }
        }
    }

    fn take(&mut self, placement: PlacementId, item: OutputItem) {
        let Some(source) = self.sources.get_mut(&placement) else { return };
        source.has_spoken = true;
        let name = source.detail.node.clone();
        let node = self.is_several.then(|| name.clone());
        let line = match item {
            OutputItem::Data { stream, time, bytes, cursor } => {
                let cursor = self.remember(&name, cursor);
                WorkloadLogLine::Data { node, stream, time, data: STANDARD.encode(bytes), cursor }
            }
            OutputItem::Mark { time, words, cursor } => {
                let cursor = self.remember(&name, cursor);
                WorkloadLogLine::Mark { node, time, detail: words, cursor }
            }
            OutputItem::Gap(detail) => WorkloadLogLine::Gap { node, detail },
            OutputItem::End { .. } | OutputItem::Exit { .. } => {
                source.state = State::Done;
                return;
            }
        };
        self.say(&line);
    }

    fn remember(&mut self, node: &Name, cursor: String) -> String {
        let shown = format!("{node}={cursor}");
        self.cursors.insert(node.clone(), cursor);
        shown
    }

    fn lost(&mut self, placement: PlacementId, error: &Error) {
        let Some(source) = self.sources.get_mut(&placement) else { return };
        let was_away = std::mem::replace(&mut source.state, State::Away) == State::Away;
        source.has_spoken = true;
        if !was_away {
            let node = self.is_several.then(|| source.detail.node.clone());
            self.say(&WorkloadLogLine::Gap { node, detail: error.detail.clone() });
        }
    }

    fn end(&mut self) {
        let complete = self.sources.values().all(|source| source.state == State::Done);
        self.say(&WorkloadLogLine::End { complete });
        self.is_over = true;
    }

    fn say(&mut self, line: &WorkloadLogLine) {
        let mut text = serde_json::to_vec(line).unwrap_or_default();
        text.push(b'\n');
        self.ready.push_back(text.into());
    }
}

/// What a node sends, to its last word.
fn arrivals(id: PlacementId, receiver: OutputReceiver) -> BoxStream<'static, Arrival> {
    let step = move |receiver: Option<OutputReceiver>| async move {
        let mut receiver = receiver?;
        let arrived = match receiver.recv().await {
            Some(arrived) => arrived,
            None => Err(Error::new(
                Code::NodeUnreachable,
                "the connection to the node was lost",
                "the output is kept there; ask again",
            )),
        };
        let is_last = arrived.as_ref().map_or(true, OutputItem::is_last);
        Some(((id, arrived), (!is_last).then_some(receiver)))
    };
    futures::stream::unfold(Some(receiver), step).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_name_their_nodes() {
        let read = parse_cursors(Some("web-1=a/1.2.3-4.5.6,web-2=b/end")).unwrap();
        let of = |name: &str| read[&name.parse::<Name>().unwrap()].clone();
        assert_eq!((of("web-1").as_str(), of("web-2").as_str()), ("a/1.2.3-4.5.6", "b/end"));
        assert!(parse_cursors(None).unwrap().is_empty());
        for bad in ["x", "=x", "Not A Name=x", "web-1=a,b"] {
            assert!(parse_cursors(Some(bad)).is_err(), "{bad}");
        }
    }
}
