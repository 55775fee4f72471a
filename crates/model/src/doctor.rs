//! Findings of `hostler doctor`: what is wrong, why that matters, how it was seen, and what to do.

use serde::{Deserialize, Serialize};

crate::labels! {
    /// How bad it is; the worst decides how `hostler doctor` ends.
    pub enum Severity ("severity") {
        /// Nothing is wrong.
        Ok = "ok",
        /// Worth knowing.
        Notice = "notice",
        /// It works, and will not for long, or not for everybody.
        Warning = "warning",
        /// Something does not work, or would be lost.
        Critical = "critical",
    }
}

crate::labels! {
    /// What can be done about a finding without risk; `hostler doctor --fix` does it.
    pub enum Fix ("fix") {
        /// Make the backup that is due.
        BackupNow = "backup-now",
        /// Sign the audit chain as it is.
        AuditAnchor = "audit-anchor",
        /// Let nobody else read the file of the master key.
        TightenKey = "tighten-key",
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What was looked at: `database`, `nodes`.
    pub check: String,
    pub severity: Severity,
    /// In one sentence.
    pub what: String,
    /// What follows from it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// How it was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What to do: a command, or words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub next: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Finding {
    pub fn new(check: &str, severity: Severity, what: impl Into<String>) -> Finding {
        Finding {
            check: check.to_owned(),
            severity,
            what: what.into(),
            why: String::new(),
            evidence: Vec::new(),
            next: String::new(),
            fix: None,
        }
    }

    pub fn ok(check: &str, what: impl Into<String>) -> Finding {
        Finding::new(check, Severity::Ok, what)
    }

    #[must_use]
    pub fn why(mut self, why: impl Into<String>) -> Finding {
        self.why = why.into();
        self
    }

    /// Of many only the first few are told.
    #[must_use]
    pub fn evidence(mut self, evidence: impl IntoIterator<Item = String>) -> Finding {
        const TOLD: usize = 5;
        let all: Vec<String> = evidence.into_iter().collect();
        let more = all.len().saturating_sub(TOLD);
        self.evidence = all.into_iter().take(TOLD).collect();
        if more > 0 {
            self.evidence.push(format!("and {more} more"));
        }
        self
    }

    #[must_use]
    pub fn next(mut self, next: impl Into<String>) -> Finding {
        self.next = next.into();
        self
    }

    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Finding {
        self.fix = Some(fix);
        self
    }
}
