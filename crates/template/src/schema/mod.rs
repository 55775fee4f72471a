//! What resource types declare about their properties and attributes.
//!
//! A [`ResourceSchema`] is made by whoever implements a type, or of the parameters and outputs of a template
//! that stands for a type ([`ResourceSchema::of_template`]). It takes what a template gives for the
//! properties, makes of it what it is declared to be, and says everything that is wrong with it at once. What
//! is not known yet, because it comes from a resource that does not exist, is [`Known::Unknown`]: it is right
//! until it is known.

mod coerce;
mod kind;
mod known;
mod number;
mod property;
mod provider;
mod resource;

pub use kind::Kind;
pub use known::Known;
pub use number::{boolean, integer, number};
pub use property::{Nested, PropertySchema, Status, Support};
pub use provider::facade_problems;
pub use resource::{AttributeSchema, ResourceSchema};
