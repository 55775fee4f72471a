//! What one resolution may cost. Everything that is made is paid for, by its bytes and a bit for each value.

use std::cell::Cell;

use serde_json::Value;

use super::ResolveError;

/// Functions, lists and maps within each other.
pub const DEPTH_MAX: usize = 100;

/// What one resolution may produce on its way, in bytes.
pub const SIZE_MAX: usize = 16 << 20;

/// How deep a value may be that comes from outside.
const VALUE_DEPTH_MAX: usize = 200;

/// What every value costs besides its text.
const EACH: usize = 32;

pub(crate) struct Meter {
    left: Cell<usize>,
}

impl Meter {
    pub fn new() -> Meter {
        Meter { left: Cell::new(SIZE_MAX) }
    }

    /// Pays for one value of so many bytes.
    pub fn pay(&self, bytes: usize) -> Result<(), ResolveError> {
        let cost = bytes.saturating_add(EACH);
        match self.left.get().checked_sub(cost) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                let most = SIZE_MAX >> 20;
                let message = format!("The functions of this value produce more than {most} MiB.");
                Err(ResolveError::limit(message))
            }
        }
    }

    /// Pays for a whole value.
    pub fn take(&self, value: &Value) -> Result<(), ResolveError> {
        self.take_at(value, 0)
    }

    fn take_at(&self, value: &Value, depth: usize) -> Result<(), ResolveError> {
        if depth > VALUE_DEPTH_MAX {
            let message = format!("A value is more than {VALUE_DEPTH_MAX} levels deep.");
            return Err(ResolveError::limit(message));
        }
        match value {
            Value::String(text) => self.pay(text.len()),
            Value::Array(items) => {
                self.pay(0)?;
                items.iter().try_for_each(|item| self.take_at(item, depth + 1))
            }
            Value::Object(map) => {
                self.pay(0)?;
                map.iter().try_for_each(|(key, item)| {
                    self.pay(key.len())?;
                    self.take_at(item, depth + 1)
                })
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => self.pay(0),
        }
    }
}
