//! The one door for everything that calls out: hooks, webhooks, identity providers, vaults, and where
//! audit entries are sent.
//!
//! Whoever may name a URL could otherwise make the server call what only the server can reach: its own
//! machine, the network behind it, the metadata service of its cloud. So nothing here is called by
//! name alone:
//!
//! 1. The name is resolved once, *every* address it has is judged ([`address`], [`Policy`]), and the
//!    connection goes to one of those addresses. There is no second lookup that could say otherwise.
//! 2. Public addresses may be called. What is private, shared, link-local or this machine is refused
//!    unless the installation allows that very destination; metadata services only by their exact
//!    address; addresses that are nobody's never.
//! 3. A redirect is a new request: judged again, three at most, never from `https` to `http`, never
//!    between the public side and the inside, never with the body to another origin, and without
//!    credentials there.
//! 4. Only `http` and `https`, no proxies from the environment, no credentials in URLs, a limit on the
//!    time of the whole exchange and on the size of the answer.
//!
//! An error says what was refused, why, and which line of the configuration would allow it. It never
//! contains the path or the query of a URL, which may hold secrets.
//!
//! Reading order is the order of the modules below.

pub mod address;
mod policy;

mod error;
mod resolve;
mod tls;

mod door;
mod exchange;
mod request;

pub use door::{Counts, Egress, Limits, Options};
pub use error::Error;
pub use policy::{Destination, ParseDestinationError, Policy, Side};
pub use request::{Answer, Request};
pub use resolve::{Resolve, Resolving};
