//! Worlds, simulated agents and fault injection for tests.

mod authenticator;
mod linear;
mod object_store;
mod random;
mod sim_agent;
mod world;

pub use authenticator::Authenticator;
pub use linear::{Model, Operation, Violation, linearizable};
pub use object_store::{ObjectServer, Objects};
pub use random::Random;
pub use sim_agent::{SimAgent, Truth};
pub use world::{Operations, World, caller_cx};
