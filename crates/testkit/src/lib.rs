//! Worlds, simulated agents and fault injection for tests.

mod authenticator;
mod random;
mod sim_agent;
mod world;

pub use authenticator::Authenticator;
pub use random::Random;
pub use sim_agent::{SimAgent, Truth};
pub use world::{Operations, World, caller_cx};
