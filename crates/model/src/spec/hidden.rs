//! What is shown of an environment to those who may not see its values: the names.

use super::WorkloadSpec;

/// Stands where a value is hidden. No spec may have it as a value, so that one that was read by
/// somebody who may not see the values cannot be written back without them.
pub const HIDDEN: &str = "(hidden)";

impl WorkloadSpec {
    /// Leaves the names of variables, and hides what they are.
    pub fn hide_environment(&mut self) {
        for value in self.env.values_mut() {
            HIDDEN.clone_into(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_value_cannot_be_written_back() {
        let text = r#"{ "command": ["true"], "env": { "TOKEN": "s3cret", "MODE": "fast" } }"#;
        let mut spec: WorkloadSpec = serde_json::from_str(text).unwrap();
        assert_eq!(spec.problems("/spec"), []);
        spec.hide_environment();
        assert!(!serde_json::to_string(&spec).unwrap().contains("s3cret"));
        let problems = spec.problems("/spec");
        let at: Vec<_> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
        assert_eq!(at, ["/spec/env/MODE", "/spec/env/TOKEN"]);
    }
}
