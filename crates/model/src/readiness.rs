//! What a run waits for on its node: content on its way, and what stands in its way.
//!
//! Only the node knows it, and only while it lasts. It is asked for when somebody wants to know, and kept
//! nowhere.

use serde::{Deserialize, Serialize};

use crate::{Bytes, Span, Timestamp};

/// What a run waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// Such as `input train.csv` or `image hostler://train:3`.
    pub what: String,
    /// What is done about it, such as `is being fetched`.
    pub doing: String,
    /// How much of it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// How much there is of it, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Bytes>,
    /// Since when, by the node's clock.
    pub time_since: Timestamp,
    /// What went wrong when it was tried last; it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl Readiness {
    /// In one sentence.
    pub fn words(&self, now: Timestamp) -> String {
        let mut words = format!("{} {}", self.what, self.doing);
        match (self.bytes, self.total.filter(|total| *total > Bytes::ZERO)) {
            (Some(bytes), Some(total)) => {
                let percent = percent(bytes, total);
                words.push_str(&format!(", {bytes} of {total} ({percent} %)"));
            }
            (Some(bytes), None) if bytes > Bytes::ZERO => words.push_str(&format!(", {bytes}")),
            _ => {}
        }
        let waited = now.since(self.time_since).as_secs();
        if waited > 0 {
            words.push_str(&format!(", for {}", Span::from_secs(waited)));
        }
        if let Some(trouble) = &self.trouble {
            words.push_str(&format!("; it did not succeed before: {trouble}"));
        }
        words
    }
}

fn percent(done: Bytes, total: Bytes) -> u64 {
    let hundredfold = u128::from(done.get()) * 100;
    let percent = hundredfold.checked_div(u128::from(total.get())).unwrap_or(0);
    u64::try_from(percent.min(100)).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_waited_for_is_said_in_one_sentence() {
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        let mut fetching = Readiness {
            what: "input train.csv".to_owned(),
            doing: "is being fetched".to_owned(),
            bytes: Some(Bytes::mib(256)),
            total: Some(Bytes::mib(1024)),
            time_since: at(100),
            trouble: None,
        };
        let begun = "input train.csv is being fetched, 256MiB of 1GiB (25 %)";
        assert_eq!(fetching.words(at(100)), begun);
        assert_eq!(fetching.words(at(40)), begun, "clocks differ");
        assert_eq!(fetching.words(at(190)), format!("{begun}, for 1m30s"));
        fetching.trouble = Some("no space left on device".to_owned());
        assert_eq!(
            fetching.words(at(101)),
            format!("{begun}, for 1s; it did not succeed before: no space left on device")
        );
        let unknown = Readiness { total: None, trouble: None, ..fetching.clone() };
        assert_eq!(unknown.words(at(0)), "input train.csv is being fetched, 256MiB");
        let nothing = Readiness { bytes: None, ..unknown.clone() };
        assert_eq!(nothing.words(at(0)), "input train.csv is being fetched");
        let empty = Readiness { total: Some(Bytes::ZERO), bytes: Some(Bytes::ZERO), ..unknown };
        assert_eq!(empty.words(at(0)), "input train.csv is being fetched");
        let text = serde_json::to_string(&fetching).unwrap();
        assert_eq!(serde_json::from_str::<Readiness>(&text).unwrap(), fetching);
        assert!(text.contains("\"timeSince\""), "{text}");
    }
}
