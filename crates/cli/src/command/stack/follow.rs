//! Waiting until what is done to a stack is over, and telling what happens.
//!
//! What is told are the stack's own events. On a terminal a line says how many resources are done; elsewhere there are
//! only plain lines. Whoever stops watching stops nothing.

use std::collections::BTreeSet;

use futures::StreamExt;
use hostler_api::stack::{
    StackEventList, StackEventQuery, StackEventView, StackGet, StackPath, StackView,
};
use hostler_api::stack_resource::StackGraph;
use hostler_client::{Error, WatchStream};
use hostler_model::stack::{StackAction, StackChangeKind, StackChanges, StackStatus};
use hostler_model::{Code, Generation, StackEventId};

use super::super::wait::deadline;
use super::super::{Cx, DONE, Link, NONE};
use super::path;
use crate::args::StackWaitArgs;
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{one_line, standing};
use crate::ui::Spinner;

/// How wide the line is that grows.
const WIDE: usize = 24;
/// More resources than this are not told one by one.
const FEW: usize = 100;
/// How many of those under way are named.
const NAMED: usize = 6;

/// Where to begin, and how much there is to do.
pub struct Watch {
    after: Option<StackEventId>,
    all: usize,
}

impl Watch {
    /// Of a stack that is not there yet.
    pub const fn of_new() -> Watch {
        Watch { after: None, all: 0 }
    }

    /// Of a stack as it is, before anything is asked of it.
    pub async fn before(link: &Link, stack: &str) -> Result<Watch, Failure> {
        let watch = Watch::from_now(link, stack).await?;
        let graph = link.client.call::<StackGraph>(&path(link, stack), &NONE, &NONE).await?;
        Ok(Watch { all: graph.nodes.len(), ..watch })
    }

    /// The same of one of which it is said otherwise how much there is to do.
    pub async fn from_now(link: &Link, stack: &str) -> Result<Watch, Failure> {
        let newest =
            StackEventQuery { newest: Some(true), limit: Some(1), ..StackEventQuery::default() };
        let newest = link.client.call::<StackEventList>(&path(link, stack), &newest, &NONE).await?;
        Ok(Watch { after: newest.items.first().map(|event| event.id), all: 0 })
    }

    /// With the resources that a plan touches.
    pub fn of_work(self, changes: &StackChanges) -> Watch {
        let is_work = |kind| kind != StackChangeKind::Unchanged;
        let touched =
            changes.resources.iter().filter(|it| it.path.is_empty() && is_work(it.change));
        Watch { all: touched.count(), ..self }
    }
}

/// How waiting ended.
pub enum End {
    /// Nobody waits for it any more: the code to exit with.
    Left(u8),
    /// Nothing when the stack is gone for good.
    Over(Option<Box<StackView>>),
}

/// Waits for the end, unless nobody wants to, and says what came of it.
pub async fn follow(
    cx: &Cx,
    link: &Link,
    begun: StackView,
    watch: Watch,
    wait: &StackWaitArgs,
) -> Outcome {
    if wait.detach {
        if cx.ui.format().is_some() || cx.ui.is_quiet() {
            return cx.one(&begun);
        }
        let name = begun.name.as_str();
        cx.ui.say(&format!("stack {name}: {}; {}", standing(&begun.standing), aside(name)));
        return Ok(DONE);
    }
    match until_over(cx, link, &begun, watch, wait).await? {
        End::Left(code) => Ok(code),
        End::Over(found) => ended(cx, &begun, found.map(|found| *found)),
    }
}

/// Tells what happens until it is over.
pub async fn until_over(
    cx: &Cx,
    link: &Link,
    begun: &StackView,
    watch: Watch,
    wait: &StackWaitArgs,
) -> Result<End, Failure> {
    let name = begun.name.as_str();
    let place = path(link, &begun.id.to_string());
    let mut telling = Telling::new(cx, begun, watch.all);
    let deadline = deadline(wait.wait);
    let late = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        found = over(link, &place, (begun, watch.after), &mut telling) => Ok(End::Over(found?.map(Box::new))),
        Ok(()) = tokio::signal::ctrl_c() => {
            drop(telling);
            cx.ui.instruct(&format!("stack {name} goes on; {}", aside(name)));
            Ok(End::Left(exit::INTERRUPTED))
        }
        () = late => Err(Failure::told(
            exit::Code::TimedOut,
            format!("stack {name} has not come to an end within {}", wait.wait.unwrap_or_default()),
            format!("it goes on; {}", aside(name)),
        )),
    }
}

/// Waits for the end of what is done to a stack; nothing when it is gone for good. What happens is told.
async fn over(
    link: &Link,
    place: &StackPath,
    (begun, after): (&StackView, Option<StackEventId>),
    telling: &mut Telling<'_>,
) -> Result<Option<StackView>, Failure> {
    // When nothing has happened for a while it is looked at all the same, and at once where there was nothing to do.
    let mut is_quiet = is_over(begun);
    let mut stream = stream(link, place, after, 0)?;
    while let Some(message) = stream.next().await {
        let message = match message {
            Ok(message) => message,
            Err(error) if error.is(Code::NotFound) => return Ok(None),
            Err(error) if error.is(Code::CursorGone) => {
                stream = self::stream(link, place, None, 0)?;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let is_news = match &message.object {
            Some(event) => {
                telling.news(event);
                event.resource.is_none() && event.status != StackStatus::InProgress
            }
            None => std::mem::replace(&mut is_quiet, true),
        };
        if !is_news {
            continue;
        }
        // Something else may have been asked for since, and what failed may be undone.
        match link.client.call::<StackGet>(place, &NONE, &NONE).await {
            Ok(stack) if is_over(&stack) => return Ok(Some(stack)),
            Ok(_) => {}
            Err(error) if error.is(Code::NotFound) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

fn is_over(stack: &StackView) -> bool {
    stack.time_deleted.is_some() || stack.standing.status != StackStatus::InProgress
}

/// What happens after an event, or all that is kept and then what happens.
pub fn stream(
    link: &Link,
    place: &StackPath,
    after: Option<StackEventId>,
    depth: u32,
) -> Result<WatchStream<StackEventView>, Error> {
    let depth = Some(depth).filter(|depth| *depth > 0);
    let cursor = after.map(|event| event.to_string());
    let query = StackEventQuery { depth, cursor, ..StackEventQuery::default() };
    link.client.watch::<StackEventList, _>(place, &query, &NONE)
}

fn aside(name: &str) -> String {
    format!(
        "`hostler stack events {name} --follow` shows what happens, `hostler stack cancel {name}` stops it"
    )
}

/// What somebody who waits is told.
struct Telling<'a> {
    cx: &'a Cx,
    stack: String,
    all: usize,
    done: BTreeSet<String>,
    busy: BTreeSet<String>,
    spinner: Spinner,
}

impl<'a> Telling<'a> {
    fn new(cx: &'a Cx, stack: &StackView, all: usize) -> Telling<'a> {
        let spinner = match cx.is_for_people() {
            true => cx.ui.spinner(standing(&stack.standing)),
            false => Spinner::none(),
        };
        let stack = stack.name.to_string();
        Telling { cx, stack, all, done: BTreeSet::new(), busy: BTreeSet::new(), spinner }
    }

    fn news(&mut self, event: &StackEventView) {
        self.count(event);
        let line = line(&self.stack, event);
        let is_quiet = self.all > FEW && event.status == StackStatus::Complete;
        if let Some(line) = line.filter(|_| self.cx.is_for_people() && !is_quiet) {
            self.spinner.aside(|| self.cx.ui.say(&line));
        }
        self.spinner.message(self.words());
    }

    fn count(&mut self, event: &StackEventView) {
        let Some(name) = &event.resource else { return };
        match event.status {
            StackStatus::InProgress => {
                self.busy.insert(name.clone());
                self.done.remove(name);
            }
            StackStatus::Complete | StackStatus::Failed => {
                self.busy.remove(name);
                self.done.insert(name.clone());
            }
        }
    }

    fn words(&self) -> String {
        let all = self.all.max(self.done.len() + self.busy.len()).max(1);
        let filled = self.done.len() * WIDE / all;
        let bar = format!("{}{}", "=".repeat(filled), " ".repeat(WIDE - filled));
        let mut names: Vec<&str> = self.busy.iter().map(String::as_str).take(NAMED).collect();
        if self.busy.len() > NAMED {
            names.push("…");
        }
        one_line(&format!("[{bar}] {}/{all}  {}", self.done.len(), names.join(", ")))
    }
}

/// An event in one line, where it is worth one.
fn line(stack: &str, event: &StackEventView) -> Option<String> {
    let Some(resource) = &event.resource else {
        let is_turn = event.action == StackAction::Rollback.label();
        let begins = is_turn && event.status == StackStatus::InProgress;
        return begins.then(|| format!("↩ {}", event.reason));
    };
    match event.status {
        StackStatus::Complete if event.action == "init" => None,
        StackStatus::Complete => Some(format!("✓ {resource} {}", past(&event.action))),
        StackStatus::Failed => {
            Some(format!("✗ {resource} {} failed: {}", event.action, event.reason))
        }
        StackStatus::InProgress if event.reason.contains("paused until Hook") => Some(format!(
            "… {resource}: {}; `hostler stack hook clear {stack} {resource}` lets it go on",
            event.reason
        )),
        StackStatus::InProgress => None,
    }
}

fn past(action: &str) -> &str {
    match action {
        "create" => "created",
        "update" => "changed",
        "delete" => "removed",
        "suspend" => "suspended",
        "resume" => "resumed",
        "check" => "is well",
        "adopt" => "taken over",
        "snapshot" => "kept",
        "signal" => "signalled",
        other => other,
    }
}

fn ended(cx: &Cx, begun: &StackView, found: Option<StackView>) -> Outcome {
    let name = &begun.name;
    let Some(found) = found else {
        cx.ui.say(&format!("stack {name} is gone"));
        return Ok(DONE);
    };
    let is_undone = found.standing.action == StackAction::Rollback
        && begun.standing.action != StackAction::Rollback;
    let is_other = !is_undone
        && (found.standing.action != begun.standing.action || is_newer(&found, begun.traversal));
    let is_well = found.standing.status == StackStatus::Complete && !is_undone;
    if cx.ui.format().is_some() || cx.ui.is_quiet() {
        cx.one(&found)?;
    } else {
        cx.ui.say(&summary(&found));
    }
    if !is_well {
        if cx.is_for_people() {
            cx.ui.say(&match is_undone {
                true => format!("`hostler stack events {name}` shows how it came to it"),
                false => format!(
                    "`hostler stack resources {name}` shows what failed, `hostler stack events {name}` how it came to it"
                ),
            });
        }
        return Ok(exit::Code::Unhealthy.number());
    }
    if is_other {
        return Err(Failure::told(
            exit::Code::Conflict,
            format!("somebody asked for something else of stack {name} meanwhile"),
            format!("look at what it is now with `hostler stack show {name}`"),
        ));
    }
    Ok(DONE)
}

fn is_newer(found: &StackView, traversal: Generation) -> bool {
    found.traversal > traversal
}

fn summary(found: &StackView) -> String {
    let StackView { name, standing: at, .. } = found;
    if found.time_deleted.is_some() {
        return format!("stack {name} is gone");
    }
    let why = match at.status {
        StackStatus::Failed => format!(": {}", at.reason),
        StackStatus::Complete if found.revision > 0 => format!(", revision v{}", found.revision),
        _ => String::new(),
    };
    let mut text = format!("stack {name}: {}{why}", standing(at));
    for output in &found.outputs {
        let value = match &output.error {
            None => crate::output::short(&output.value),
            Some(error) => format!("({error})"),
        };
        text.push_str(&format!("\n  {} = {value}", output.name));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(resource: Option<&str>, action: &str, status: &str, reason: &str) -> StackEventView {
        serde_json::from_value(json!({
            "id": "0192f3c4-0000-7000-8000-000000000001", "time": "2026-01-31T12:00:00Z",
            "stack": "0192f3c4-0000-7000-8000-000000000002", "resource": resource, "type": "T",
            "action": action, "status": status, "reason": reason,
        }))
        .unwrap()
    }

    #[test]
    fn events_are_told_where_they_are_worth_a_line() {
        let told = |resource, action, status, reason| {
            line("web", &event(resource, action, status, reason))
        };
        assert_eq!(told(Some("a"), "create", "in-progress", "state changed"), None);
        assert_eq!(told(Some("a"), "init", "complete", ""), None);
        assert_eq!(told(Some("a"), "create", "complete", "state changed").unwrap(), "✓ a created");
        assert_eq!(
            told(Some("a"), "update", "failed", "ValueError: no").unwrap(),
            "✗ a update failed: ValueError: no"
        );
        let pause = "CREATE paused until Hook pre-create is cleared";
        let line = told(Some("a"), "create", "in-progress", pause).unwrap();
        assert!(line.contains("hostler stack hook clear web a"), "{line}");
        assert_eq!(told(None, "update", "complete", "done"), None);
        assert_eq!(
            told(None, "rollback", "in-progress", "Stack ROLLBACK started").unwrap(),
            "↩ Stack ROLLBACK started"
        );
    }
}
