//! Events and the audit trail.

use hostler_api::record::{AuditList, AuditListQuery, AuditVerify, EventList, EventListQuery};

use super::{Cx, DONE, NONE, PAGE, watch};
use crate::args::{AuditCommand, EventCommand, EventFilterArgs};
use crate::exit;
use crate::failure::Outcome;
use crate::output;
use crate::target::given;

fn all_if_zero(limit: usize) -> Option<usize> {
    Some(limit).filter(|limit| *limit > 0)
}

pub async fn events(cx: &Cx, command: EventCommand) -> Outcome {
    match command {
        EventCommand::Ls(args) => {
            let query = EventListQuery { limit: PAGE, ..filter(cx, args.filter) };
            cx.list::<EventList, _>(&cx.link()?, &NONE, &query, all_if_zero(args.limit)).await
        }
        EventCommand::Watch(args) => watch::events(cx, filter(cx, args)).await,
    }
}

/// Only a project that was asked for: events of nodes belong to none.
fn filter(cx: &Cx, args: EventFilterArgs) -> EventListQuery {
    EventListQuery {
        project: given(&cx.globals.project).map(str::to_owned),
        kind: args.kind,
        object: args.object,
        id: args.id,
        ..EventListQuery::default()
    }
}

pub async fn audit(cx: &Cx, command: AuditCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        AuditCommand::Ls(args) => {
            let query = AuditListQuery {
                actor: args.actor,
                action: args.action,
                limit: PAGE,
                cursor: None,
            };
            cx.list::<AuditList, _>(&link, &NONE, &query, all_if_zero(args.limit)).await
        }
        AuditCommand::Verify => {
            let verdict = link.client.call::<AuditVerify>(&NONE, &NONE, &NONE).await?;
            match cx.ui.format() {
                Some(format) => output::document(&cx.ui, format, &verdict)?,
                None if verdict.is_intact => {
                    cx.ui.line(&format!(
                        "{} entries, all intact; head {}",
                        verdict.entries, verdict.head
                    ))?;
                }
                None => {
                    let number =
                        verdict.first_bad.map(|n| format!("entry {n}: ")).unwrap_or_default();
                    let problem = verdict.problem.as_deref().unwrap_or("does not fit");
                    cx.ui.line(&format!("NOT INTACT: {number}{problem}"))?;
                }
            }
            Ok(if verdict.is_intact { DONE } else { exit::Code::Unhealthy.number() })
        }
    }
}
