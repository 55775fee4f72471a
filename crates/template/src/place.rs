//! Where something stands: a [`Place`] in a text, a [`Path`] in a document.

use std::fmt;

use serde::Serialize;

/// Line and column in a text, both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// One step down a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    Key(String),
    Index(usize),
}

/// The way from the root of a document to a value: `resources.server.properties.networks[0]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<Step>);

impl Path {
    pub fn root() -> Path {
        Path::default()
    }

    /// The path of these keys, one below the other.
    pub fn of<'a>(keys: impl IntoIterator<Item = &'a str>) -> Path {
        Path(keys.into_iter().map(|key| Step::Key(key.to_owned())).collect())
    }

    /// The path of the value that stands below this one under a key.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Path {
        self.with(Step::Key(key.into()))
    }

    /// The path of an item of the list that stands here.
    #[must_use]
    pub fn index(&self, index: usize) -> Path {
        self.with(Step::Index(index))
    }

    /// The path of the value that contains this one; the root contains itself.
    #[must_use]
    pub fn parent(&self) -> Path {
        Path(self.0.split_last().map(|(_, above)| above.to_vec()).unwrap_or_default())
    }

    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    fn with(&self, step: Step) -> Path {
        let mut steps = self.0.clone();
        steps.push(step);
        Path(steps)
    }
}

/// Keys that are numbers are written like indexes, as clients expect of error messages.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if !key.is_empty() && key.chars().all(char::is_numeric) => {
                    write!(f, "[{key}]")?;
                }
                Step::Key(key) if at == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}
