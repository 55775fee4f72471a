//! Waiting until what is done to a stack is over, and telling what happens.
//!
//! What is told are the stack's own events. On a terminal a line says how many resources are done; elsewhere there are
//! only plain lines. Whoever stops watching stops nothing.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use hostler_api::stack::{
    StackEventList, StackEventQuery, StackEventView, StackGet, StackPath, StackView,
};
use hostler_api::stack_resource::StackGraph;
use hostler_client::Error;
use hostler_model::stack::{StackAction, StackChangeKind, StackChanges, StackStatus};
use hostler_model::{Code, Generation, Span, StackEventId};

use super::super::wait::{deadline, settle};
use super::super::{Cx, DONE, Link, NONE, PAGE};
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
        let path = path(link, stack);
        let newest =
            StackEventQuery { newest: Some(true), limit: Some(1), ..StackEventQuery::default() };
        let newest = link.client.call::<StackEventList>(&path, &newest, &NONE).await?;
        let graph = link.client.call::<StackGraph>(&path, &NONE, &NONE).await?;
        Ok(Watch { after: newest.items.first().map(|event| event.id), all: graph.nodes.len() })
    }

    /// With the resources that a plan touches.
    pub fn of_work(self, changes: &StackChanges) -> Watch {
        let is_work = |kind| kind != StackChangeKind::Unchanged;
        let touched =
            changes.resources.iter().filter(|it| it.path.is_empty() && is_work(it.change));
        Watch { all: touched.count(), ..self }
    }
}

/// What a look gave.
struct Look {
    /// Nothing when it is gone for good.
    stack: Option<StackView>,
    news: Vec<StackEventView>,
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
    let last = Cell::new(watch.after);
    let fetch = async |_: Span| look(link, &place, &last).await;
    let is_settled = |look: &Look| {
        let is_over = |stack: &StackView| {
            stack.time_deleted.is_some() || stack.standing.status != StackStatus::InProgress
        };
        look.stack.as_ref().is_none_or(is_over)
    };
    let telling = RefCell::new(Telling::new(cx, begun, watch.all));
    let progress = |look: &Look| telling.borrow_mut().news(&look.news);
    let settled = tokio::select! {
        settled = settle(deadline(wait.wait), fetch, is_settled, progress) => settled?,
        Ok(()) = tokio::signal::ctrl_c() => {
            drop(telling);
            cx.ui.instruct(&format!("stack {name} goes on; {}", aside(name)));
            return Ok(End::Left(exit::INTERRUPTED));
        }
    };
    let Some(found) = settled else {
        return Err(Failure::told(
            exit::Code::TimedOut,
            format!("stack {name} has not come to an end within {}", wait.wait.unwrap_or_default()),
            format!("it goes on; {}", aside(name)),
        ));
    };
    telling.borrow_mut().news(&found.news);
    Ok(End::Over(found.stack.map(Box::new)))
}

fn aside(name: &str) -> String {
    format!(
        "`hostler stack events {name} --follow` shows what happens, `hostler stack cancel {name}` stops it"
    )
}

/// The stack first: then no event of its end can be missing.
async fn look(
    link: &Link,
    place: &StackPath,
    last: &Cell<Option<StackEventId>>,
) -> Result<Look, Error> {
    let stack = match link.client.call::<StackGet>(place, &NONE, &NONE).await {
        Ok(stack) => stack,
        Err(error) if error.is(Code::NotFound) => {
            return Ok(Look { stack: None, news: Vec::new() });
        }
        Err(error) => return Err(error),
    };
    Ok(Look { stack: Some(stack), news: news(link, place, last, 0).await? })
}

/// What happened since the last time.
pub async fn news(
    link: &Link,
    place: &StackPath,
    last: &Cell<Option<StackEventId>>,
    depth: u32,
) -> Result<Vec<StackEventView>, Error> {
    let mut news = Vec::new();
    loop {
        let depth = Some(depth).filter(|depth| *depth > 0);
        let query =
            StackEventQuery { after: last.get(), depth, limit: PAGE, ..StackEventQuery::default() };
        let page = link.client.call::<StackEventList>(place, &query, &NONE).await?;
        let is_end = page.next_cursor.is_none();
        last.set(page.items.last().map(|event| event.id).or(last.get()));
        news.extend(page.items);
        if is_end {
            return Ok(news);
        }
    }
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

    fn news(&mut self, news: &[StackEventView]) {
        for event in news {
            self.count(event);
            let line = line(&self.stack, event);
            let is_quiet = self.all > FEW && event.status == StackStatus::Complete;
            if let Some(line) = line.filter(|_| self.cx.is_for_people() && !is_quiet) {
                self.spinner.aside(|| self.cx.ui.say(&line));
            }
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
