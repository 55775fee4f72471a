//! Many nodes asked the same: who is meant, how many at once, and what came back from each.
//!
//! A node that is not online is told to be so and not asked. One that fails does not keep the others from
//! answering. In the end every node has a row, problems are counted by their cause, and the exit code says whether
//! there was any.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt};
use hostler_api::node::{NodeGet, NodeList, NodeListQuery, NodePath, NodeView};
use hostler_model::{NodeState, Timestamp};
use serde::Serialize;
use serde_json::json;

use super::super::{Cx, DONE, Link, NONE, PAGE, bare};
use crate::args::{ChoiceArgs, NodesArgs, OnArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Cell, Format, Table, age, counted};

/// How many nodes are named in a summary.
const NAMED: usize = 5;

/// Who is meant.
pub struct Chosen {
    pub names: Vec<String>,
    pub choice: ChoiceArgs,
}

impl From<NodesArgs> for Chosen {
    fn from(args: NodesArgs) -> Chosen {
        Chosen { names: args.nodes, choice: args.choice }
    }
}

impl From<OnArgs> for Chosen {
    fn from(args: OnArgs) -> Chosen {
        Chosen { names: args.nodes, choice: args.choice }
    }
}

/// What one node said, or why it said nothing.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeAnswer<T> {
    pub node: String,
    pub state: AnswerState,
    /// Why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The same in one word, for counting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<T>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AnswerState {
    Ok,
    Failed,
    Offline,
}

impl<T> NodeAnswer<T> {
    fn without(node: String, state: AnswerState, cause: &str, error: String) -> NodeAnswer<T> {
        NodeAnswer { node, state, error: Some(error), cause: Some(cause.to_owned()), result: None }
    }
}

/// One that is meant: found, or not.
enum Meant {
    Node(Box<NodeView>),
    Not(String, Failure),
}

impl Chosen {
    async fn nodes(&self, link: &Link) -> Result<Vec<Meant>, Failure> {
        let is_many = self.choice.all || self.choice.selector.is_some();
        if self.names.is_empty() && !is_many {
            return Err(Failure::usage(
                "it is not said which nodes are meant",
                "name nodes, or say -l KEY=VALUE or --all",
            ));
        }
        if !self.names.is_empty() && is_many {
            return Err(Failure::usage(
                "nodes are named, and others are meant by -l or --all",
                "say either",
            ));
        }
        if is_many {
            let selector = self.choice.selector.clone();
            let query = NodeListQuery { selector, limit: PAGE, ..NodeListQuery::default() };
            let pages = link.client.pages::<NodeList, _>(&NONE, &query, None)?;
            let nodes: Vec<NodeView> = pages.try_collect().await?;
            if nodes.is_empty() {
                let hint = "`hostler node ls` shows nodes with their labels";
                return Err(Failure::told(exit::Code::NotFound, "no node is meant by that", hint));
            }
            return Ok(nodes.into_iter().map(|node| Meant::Node(Box::new(node))).collect());
        }
        let mut names: Vec<&str> = self.names.iter().map(|name| bare("node", name)).collect();
        names.sort_unstable();
        names.dedup();
        let found = futures::stream::iter(names).map(|name| async move {
            let path = NodePath { node: name.to_owned() };
            match link.client.call::<NodeGet>(&path, &NONE, &NONE).await {
                Ok(node) => Meant::Node(Box::new(node)),
                Err(error) => Meant::Not(name.to_owned(), error.into()),
            }
        });
        Ok(found.buffered(16).collect().await)
    }

    /// Asks all of them the same, with a bar on a terminal; sorted by name.
    pub async fn ask<T>(
        &self,
        cx: &Cx,
        link: &Link,
        doing: &str,
        one: impl AsyncFn(&Link, &NodeView) -> Result<T, Failure>,
    ) -> Result<Vec<NodeAnswer<T>>, Failure> {
        let meant = self.nodes(link).await?;
        let (all, now, one) = (meant.len() as u64, cx.now(), &one);
        let bar = cx.ui.bar();
        bar.show(all, 0, doing);
        let asked = futures::stream::iter(meant).map(|meant| async move {
            match meant {
                Meant::Not(name, failure) => failed(name, &failure),
                Meant::Node(node) if node.state != NodeState::Online => offline(&node, now),
                Meant::Node(node) => match one(link, &node).await {
                    Ok(result) => NodeAnswer {
                        node: node.name.to_string(),
                        state: AnswerState::Ok,
                        error: None,
                        cause: None,
                        result: Some(result),
                    },
                    Err(failure) => failed(node.name.to_string(), &failure),
                },
            }
        });
        let mut asked = asked.buffer_unordered(usize::from(self.choice.together));
        let mut answers = Vec::new();
        while let Some(answer) = asked.next().await {
            answers.push(answer);
            bar.show(all, answers.len() as u64, doing);
        }
        answers.sort_by(|a, b| a.node.cmp(&b.node));
        Ok(answers)
    }
}

fn offline<T>(node: &NodeView, now: Timestamp) -> NodeAnswer<T> {
    let since = age(node.time_state, now);
    let words = format!("it is {} since {since} and was not asked", node.state);
    let state = node.state.label();
    NodeAnswer::without(node.name.to_string(), AnswerState::Offline, state, words)
}

fn failed<T>(node: String, failure: &Failure) -> NodeAnswer<T> {
    let (cause, words) = match failure {
        Failure::Client(error) => {
            let cause = error.code().map_or("connection", |code| code.label());
            (cause.to_owned(), hostler_base::chain(error).to_string())
        }
        Failure::Told { detail, .. } => ("failed".to_owned(), detail.clone()),
        Failure::Other(error) => ("failed".to_owned(), format!("{error:#}")),
        Failure::NoReader => ("failed".to_owned(), "nobody reads any more".to_owned()),
    };
    NodeAnswer::without(node, AnswerState::Failed, &cause, words)
}

/// Shows what came back: rows for people, everything as a document; then problems by cause, and the exit code.
/// `worst` is what results themselves are worth.
pub fn show<T: Serialize>(
    cx: &Cx,
    answers: &[NodeAnswer<T>],
    titles: &[&'static str],
    rows: impl Fn(&T) -> Vec<Vec<Cell>>,
    worst: u8,
) -> Outcome {
    match cx.ui.format() {
        _ if cx.ui.is_quiet() => {
            let mut well = answers.iter().filter(|answer| answer.result.is_some());
            well.try_for_each(|answer| cx.ui.line(&answer.node))?;
        }
        None | Some(Format::Table | Format::Wide) => {
            let mut table =
                Table::new(std::iter::once("NODE").chain(titles.iter().copied()).collect());
            let mut is_empty = true;
            for answer in answers {
                for cells in answer.result.iter().flat_map(&rows) {
                    let node = std::iter::once(Cell::new(&answer.node));
                    table.push(node.chain(cells).collect());
                    is_empty = false;
                }
            }
            if !is_empty {
                let width = cx.ui.width().filter(|_| cx.ui.format().is_none());
                cx.ui.data(table.render(cx.ui.is_out_colored(), width).as_bytes())?;
            }
        }
        Some(Format::Name) => {
            for answer in answers.iter().filter(|answer| answer.result.is_some()) {
                cx.ui.line(&format!("node/{}", answer.node))?;
            }
        }
        Some(format @ (Format::Jsonl | Format::Template(_))) => {
            for answer in answers {
                output::document(&cx.ui, format, answer)?;
            }
        }
        Some(format) => output::document(&cx.ui, format, &json!({ "items": answers }))?,
    }
    summary(cx, answers);
    Ok(worst.max(exit_code(answers)))
}

/// Problems by cause, and how many answered where not all did.
fn summary<T>(cx: &Cx, answers: &[NodeAnswer<T>]) {
    let mut causes: BTreeMap<&str, Vec<&NodeAnswer<T>>> = BTreeMap::new();
    for answer in answers {
        if let Some(cause) = &answer.cause {
            causes.entry(cause).or_default().push(answer);
        }
    }
    if causes.is_empty() {
        return;
    }
    let well = answers.iter().filter(|answer| answer.result.is_some()).count();
    cx.ui.warn(&format!("{well} of {} answered", counted(answers.len(), "node")));
    for (cause, nodes) in causes {
        cx.ui.instruct(&format!("  {}", words(cause, &nodes)));
    }
}

fn words<T>(cause: &str, nodes: &[&NodeAnswer<T>]) -> String {
    let told = |answer: &&NodeAnswer<T>| {
        format!("{}: {}", answer.node, answer.error.as_deref().unwrap_or_default())
    };
    let mut lines: Vec<String> = nodes.iter().take(NAMED).map(told).collect();
    if nodes.len() > NAMED {
        lines.push(format!("and {} more", nodes.len() - NAMED));
    }
    format!("{} {cause}: {}", nodes.len(), lines.join("; "))
}

/// The gravest of what happened: that something failed counts more than that somebody was away.
fn exit_code<T>(answers: &[NodeAnswer<T>]) -> u8 {
    let has = |state| answers.iter().any(|answer| answer.state == state);
    let is_only_missing = answers.iter().all(|answer| answer.cause.as_deref() == Some("not-found"));
    match (has(AnswerState::Failed), has(AnswerState::Offline)) {
        (true, _) if is_only_missing => exit::Code::NotFound.number(),
        (true, _) => exit::Code::Unhealthy.number(),
        (false, true) => exit::Code::Unreachable.number(),
        (false, false) => DONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(node: &str, state: AnswerState, cause: Option<&str>) -> NodeAnswer<u8> {
        let error = cause.map(|cause| format!("{cause} it is"));
        let result = cause.is_none().then_some(1);
        NodeAnswer { node: node.into(), state, error, cause: cause.map(str::to_owned), result }
    }

    #[test]
    fn the_exit_code_says_whether_anything_is_missing() {
        use AnswerState::{Failed, Offline, Ok};
        let well = answer("a", Ok, None);
        let away = answer("b", Offline, Some("offline"));
        let bad = answer("c", Failed, Some("conflict"));
        let unknown = answer("d", Failed, Some("not-found"));
        let code = |answers: &[NodeAnswer<u8>]| exit_code(answers);
        assert_eq!(code(std::slice::from_ref(&well)), 0);
        assert_eq!(code(&[well.clone(), away.clone()]), 8);
        assert_eq!(code(&[well.clone(), away, bad]), 4);
        assert_eq!(code(std::slice::from_ref(&unknown)), 3);
        assert_eq!(code(&[well, unknown]), 4);
    }

    #[test]
    fn problems_are_told_by_cause_and_not_all_are_named() {
        let many: Vec<_> = (0..7)
            .map(|n| answer(&format!("n{n}"), AnswerState::Failed, Some("conflict")))
            .collect();
        let said = words("conflict", &many.iter().collect::<Vec<_>>());
        assert!(said.starts_with("7 conflict: n0: conflict it is; n1:"), "{said}");
        assert!(said.ends_with("; and 2 more"), "{said}");
    }
}
