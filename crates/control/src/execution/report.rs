//! What a job told at its end, as far as it is believed.
//!
//! The report is a file that the job's own machine wrote, after whatever ran there: it may say anything. What of
//! it becomes part of rows and events is bounded, and is text; the values for other steps stay in the file.

use hostler_model::workflow::JobReport;
use serde_json::Value as Json;

/// In characters.
pub(crate) const MESSAGE_MAX: usize = 4096;
pub(crate) const ARTIFACTS_MAX: usize = 1024;
/// Of the name of an artifact, in bytes.
pub(crate) const NAME_MAX: usize = 1024;
/// Of what is given out with `export`, written down, in bytes.
pub(crate) const EXPORTED_MAX: usize = 1 << 20;

/// Nothing when nobody can read it.
pub(crate) fn read(text: &[u8]) -> Option<JobReport> {
    let mut report: JobReport = serde_json::from_slice(text).ok()?;
    report.artifacts.retain(|name| is_inside(name));
    report.artifacts.truncate(ARTIFACTS_MAX);
    let result = &mut report.result;
    result.message = plain(&result.message);
    if is_larger(&result.exported, EXPORTED_MAX) {
        result.exported = Json::Null;
        let words = format!("what it exports is larger than {EXPORTED_MAX} bytes, and is not kept");
        let told = std::mem::take(&mut result.message);
        result.message = plain(&if told.is_empty() { words } else { format!("{words}; {told}") });
    }
    Some(report)
}

/// Whether a path names something below where it is looked for.
fn is_inside(name: &str) -> bool {
    name.len() <= NAME_MAX
        && !name.chars().any(char::is_control)
        && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Without what databases and terminals take for something else.
fn plain(message: &str) -> String {
    let is_text = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    message.chars().filter(is_text).take(MESSAGE_MAX).collect()
}

/// Whether a value is longer than this when it is written; does not write all of it to find out.
fn is_larger(value: &Json, max: usize) -> bool {
    struct Room(usize);
    impl std::io::Write for Room {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let left = self.0.checked_sub(bytes.len());
            self.0 = left.ok_or(std::io::ErrorKind::FileTooLarge)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Room(max), value).is_err()
}

#[cfg(test)]
mod tests {
    use hostler_model::workflow::StepEnd;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_leads_out_or_is_too_much_does_not_come_in() {
        let told = json!({
            "result": {
                "end": "succeeded",
                "message": "two\nlines \u{1b}[31m\u{0}",
                "output": { "n": 1 },
                "exported": "x".repeat(EXPORTED_MAX),
            },
            "artifacts": ["../up", "/root", "out/app.bin", "", "a//b", "a\nb", "x".repeat(NAME_MAX + 1)],
        });
        let report = read(told.to_string().as_bytes()).unwrap();
        assert_eq!(report.artifacts, ["out/app.bin"]);
        assert_eq!(report.result.end, StepEnd::Succeeded);
        assert_eq!(report.result.output, json!({ "n": 1 }));
        assert_eq!(report.result.exported, Json::Null);
        assert!(report.result.message.ends_with("not kept; two\nlines [31m"), "{report:?}");
        assert_eq!(read(b"{"), None);
    }

    #[test]
    fn what_is_as_it_should_be_stays() {
        let told = json!({
            "result": { "end": "failed", "message": "no room", "exported": { "a": [1, 2] } },
            "artifacts": ["a", "b/c"],
            "outputs": { "x": 1 },
        });
        let report = read(told.to_string().as_bytes()).unwrap();
        assert_eq!(serde_json::to_value(report).unwrap(), told);
    }
}
