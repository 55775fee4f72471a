//! Output of runs on its way from a node to whoever reads it.

use hostler_model::{Error, OutputStream, Timestamp};
use tokio::sync::mpsc;

/// Which part of a run's output is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputQuery {
    pub follow: bool,
    pub stream: Option<OutputStream>,
    pub tail: Option<u32>,
    /// Where to go on; `None` from the beginning.
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputItem {
    Data {
        stream: OutputStream,
        time: Timestamp,
        bytes: Vec<u8>,
        cursor: String,
    },
    /// Output that is gone, in words.
    Gap(String),
    /// `complete`: the run is over and everything was sent.
    End {
        complete: bool,
    },
}

/// Bounded: a slow reader holds the node's stream back, never memory.
pub type OutputReceiver = mpsc::Receiver<Result<OutputItem, Error>>;
