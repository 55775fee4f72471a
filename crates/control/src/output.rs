//! What can be asked of a node, and what comes back: a bounded stream of items.

use hostler_model::host::HostAsk;
use hostler_model::{EngineAsk, Error, OutputStream, PlacementId, RunId, Span, Timestamp};
use tokio::sync::mpsc;

/// Something that only a node can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeAsk {
    /// The output of one run.
    Run { run: RunId, query: OutputQuery },
    /// The output of a placement over its runs, or of one of them.
    Placement { placement: PlacementId, run: Option<RunId>, query: OutputQuery },
    /// A command beside the live run of a placement.
    Exec(ExecAsk),
    /// What was used over time: by a placement, or by the node as a whole.
    Usage { placement: Option<PlacementId>, since: Option<Timestamp> },
    /// What the machine is, looked at anew.
    Facts,
    /// Something for its container engine.
    Engine(EngineAsk),
    /// Something for its machine.
    Host(HostAsk),
}

/// Which part of an output is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputQuery {
    pub follow: bool,
    pub stream: Option<OutputStream>,
    pub tail: Option<u32>,
    /// Where to go on; `None` from the beginning.
    pub cursor: Option<String>,
    /// The following only for the output of a placement.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// A regular expression.
    pub grep: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecAsk {
    pub placement: PlacementId,
    pub argv: Vec<String>,
    pub stdin: Vec<u8>,
    pub timeout: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputItem {
    Data {
        stream: OutputStream,
        time: Timestamp,
        bytes: Vec<u8>,
        cursor: String,
    },
    /// A run begins or has ended, in words.
    Mark {
        time: Option<Timestamp>,
        words: String,
        cursor: String,
    },
    /// Output that is gone, in words.
    Gap(String),
    /// `complete`: the run is over and everything was sent.
    End {
        complete: bool,
    },
    /// A command has ended.
    Exit {
        code: Option<i32>,
        signal: Option<i32>,
        is_timed_out: bool,
    },
}

impl OutputItem {
    /// Nothing comes after it.
    pub const fn is_last(&self) -> bool {
        matches!(self, OutputItem::End { .. } | OutputItem::Exit { .. })
    }
}

/// Bounded: a slow reader holds the node's stream back, never memory.
pub type OutputReceiver = mpsc::Receiver<Result<OutputItem, Error>>;
