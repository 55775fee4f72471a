//! What fits a regular expression in a file, replaced everywhere.
//!
//! In the replacement `$1` and `${name}` are what groups matched, `$$` is a dollar sign. It is done
//! again each time something fits, so a replacement that fits its own pattern changes each time.
//! Removing takes out what fits.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::text::{Text, pattern};
use crate::plan::{Plan, Primitive};
use crate::{Host, HostError};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replace {
    pub path: PathBuf,
    pub pattern: String,
    #[serde(default)]
    pub replacement: String,
    #[serde(default)]
    pub follow: bool,
}

impl Replace {
    pub fn new(
        path: impl Into<PathBuf>,
        pattern: impl Into<String>,
        replacement: impl Into<String>,
    ) -> Replace {
        Replace {
            path: path.into(),
            pattern: pattern.into(),
            replacement: replacement.into(),
            follow: false,
        }
    }

    async fn plan(
        &self,
        host: &Host,
        replacement: String,
        create: bool,
    ) -> Result<Plan, HostError> {
        let fit = pattern(&self.pattern)?;
        let text = Text { path: self.path.clone(), follow: self.follow, create };
        text.edit(host, move |old| Ok(fit.replace_all(old, replacement.as_str()).into_owned()))
            .await
    }
}

impl Primitive for Replace {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        self.plan(host, self.replacement.clone(), false).await
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        self.plan(host, String::new(), true).await
    }
}
