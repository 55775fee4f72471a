//! The queue, and what was used.

use hostler_api::task::{AccountQuery, AccountReport, QueueShow};

use super::{Cx, DONE, NONE, bare};
use crate::args::AccountArgs;
use crate::failure::Outcome;
use crate::output::{self, Format, QueueLine};

/// How many of those that come next are shown of each project, unless all are wanted.
const SHOWN: usize = 5;

/// The project that was asked for on the command line; all where none was.
fn only(cx: &Cx) -> Option<String> {
    cx.globals.project.as_deref().map(|project| bare("project", project).to_owned())
}

pub async fn queue(cx: &Cx) -> Outcome {
    let link = cx.link()?;
    let mut lines = link.client.call::<QueueShow>(&NONE, &NONE, &NONE).await?.projects;
    if let Some(only) = only(cx) {
        lines.retain(|line| line.project.as_str() == only);
    }
    output::list(&cx.ui, cx.now(), &lines)?;
    if cx.is_for_people() && !cx.ui.is_quiet() {
        let many = if cx.ui.format() == Some(&Format::Wide) { usize::MAX } else { SHOWN };
        let next = lines.iter().flat_map(|line| {
            let entries = line.next.iter().take(many);
            entries.map(|entry| QueueLine { project: &line.project, entry })
        });
        let next: Vec<_> = next.collect();
        if !next.is_empty() {
            cx.ui.line("")?;
            output::list(&cx.ui, cx.now(), &next)?;
        }
    }
    Ok(DONE)
}

pub async fn account(cx: &Cx, args: AccountArgs) -> Outcome {
    let link = cx.link()?;
    let query = AccountQuery { project: only(cx), from: args.from, to: args.to };
    let lines = link.client.call::<AccountReport>(&NONE, &query, &NONE).await?;
    output::list(&cx.ui, cx.now(), &lines.items)?;
    Ok(DONE)
}
