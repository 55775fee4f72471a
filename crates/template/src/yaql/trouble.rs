//! Why an expression has no value.

use super::ITEMS_MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Nothing of this name takes these arguments.
    NoMatch(String),
    /// There is nothing at an index.
    Index(String),
    Other(String),
}

impl Trouble {
    pub fn other(message: impl Into<String>) -> Trouble {
        Trouble::Other(message.into())
    }

    pub fn no_function(name: &str) -> Trouble {
        Trouble::NoMatch(format!("No function \"{name}\" matches supplied arguments"))
    }

    pub fn no_method(name: &str, receiver: &str) -> Trouble {
        Trouble::NoMatch(format!(
            "No method \"{name}\" for receiver {receiver} matches supplied arguments"
        ))
    }

    pub fn too_many() -> Trouble {
        Trouble::Other(format!("Collection length exceeds {ITEMS_MAX} elements"))
    }

    pub fn too_large() -> Trouble {
        Trouble::other("Expression consumed too much memory")
    }

    pub fn too_long() -> Trouble {
        Trouble::other("Expression took too many steps")
    }

    pub fn overflow() -> Trouble {
        Trouble::other("A number is too large")
    }

    pub fn no_number(real: f64) -> Trouble {
        Trouble::Other(format!("{real} is no number that data can hold"))
    }

    pub fn message(self) -> String {
        match self {
            Trouble::NoMatch(message) | Trouble::Index(message) | Trouble::Other(message) => {
                message
            }
        }
    }
}
