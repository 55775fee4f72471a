//! How much a session says, and how often: as much as helps, or, over a link that is paid for by what
//! it carries, as little as does.
//!
//! Over a metered link the agent asks to be heard of once a minute (the server has the last word, and
//! vouches for it in between), gathers what it has to report for some seconds so that only the newest
//! state of each run and workload travels, sends its load with every fifth heartbeat, tells its facts
//! again only when the machine has changed, thins out what was used over time, and has everything
//! compressed. What is said stays true and whole: reports are levels, and nothing that was asked for
//! is left out.

use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// How seldom to be heard of; `None` for as often as the server says.
    pub heartbeat_wish: Option<Duration>,
    /// How long reports are gathered before they are sent.
    pub gather: Duration,
    pub metrics_every: Duration,
    /// How often it is said what every workload uses; never over a metered link.
    pub usage_every: Option<Duration>,
    /// When the connection was silent for so long, it is tried.
    pub keep_alive: Duration,
    pub is_compressed: bool,
    /// Facts that are as they were are told again.
    pub repeats_facts: bool,
    /// The most samples that are sent of what was used over time.
    pub samples_max: usize,
}

const FREE: Manner = Manner {
    heartbeat_wish: None,
    gather: Duration::from_millis(2),
    metrics_every: Duration::from_secs(10),
    usage_every: Some(Duration::from_secs(60)),
    keep_alive: Duration::from_secs(10),
    is_compressed: false,
    repeats_facts: true,
    samples_max: usize::MAX,
};

const METERED: Manner = Manner {
    heartbeat_wish: Some(Duration::from_secs(60)),
    gather: Duration::from_secs(5),
    metrics_every: Duration::from_secs(300),
    usage_every: None,
    keep_alive: Duration::from_secs(75),
    is_compressed: true,
    repeats_facts: false,
    samples_max: 60,
};

impl Manner {
    pub fn of(is_metered: bool) -> Manner {
        if is_metered { METERED } else { FREE }
    }
}
