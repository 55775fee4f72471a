//! Parameters: how they are declared, what their values must keep to, and what their values are.
//!
//! A [`ParameterSchema`] is what a template says about one parameter. [`Parameters`] are all of a template
//! together with what was given for them; a value is what the user gave, or else what the environment has as
//! default, or else what the template has. [`Constraint`]s are shared with the properties of resources.

mod constraint;
mod custom;
mod instant;
mod pattern;
mod schema;
mod values;

pub use constraint::{Checks, Constraint, CustomConstraints, Rule};
pub use custom::GENERIC;
pub use pattern::Pattern;
pub use schema::ParameterSchema;
pub use values::{Identity, Parameter, Parameters};
