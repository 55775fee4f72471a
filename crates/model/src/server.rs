//! Server registrations: which control-plane processes live, and where their peers reach them.

use crate::{ServerId, Timestamp};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRegistration {
    /// Fresh for every start of a process.
    pub id: ServerId,
    pub name: String,
    pub version: String,
    /// `host:port` of the API listener, as advertised.
    pub api_address: String,
    /// `host:port` of the listener for agents and peers.
    pub agent_address: String,
    pub time_started: Timestamp,
    pub time_seen: Timestamp,
}
