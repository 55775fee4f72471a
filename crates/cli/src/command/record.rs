//! Events.

use hostler_api::record::{EventList, EventListQuery};

use super::{Cx, NONE, PAGE, watch};
use crate::args::{EventCommand, EventFilterArgs};
use crate::failure::Outcome;
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
