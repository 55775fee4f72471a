//! Numbers that bodies record: gauges, counters and histograms, each by its name and its tags.
//!
//! They belong to the interpreter, so that all steps which it carries out count together.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value as Json, json};

pub(super) type Tags = BTreeMap<String, String>;

/// What was recorded.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Instrument {
    Gauge(f64),
    Counter(f64),
    Histogram { count: u64, sum: f64, min: f64, max: f64, last: f64 },
}

impl Instrument {
    pub const fn kind(&self) -> &'static str {
        match self {
            Instrument::Gauge(_) => "gauge",
            Instrument::Counter(_) => "counter",
            Instrument::Histogram { .. } => "histogram",
        }
    }
}

#[derive(Default)]
pub(super) struct Instruments(RefCell<BTreeMap<(String, Tags), Instrument>>);

impl Instruments {
    pub fn gauge(&self, name: &str, value: f64, tags: Tags) {
        self.0.borrow_mut().insert((name.to_owned(), tags), Instrument::Gauge(value));
    }

    /// Counts on, and gives the new value.
    pub fn count(&self, name: &str, more: f64, tags: Tags) -> f64 {
        let mut all = self.0.borrow_mut();
        let found = all.entry((name.to_owned(), tags)).or_insert(Instrument::Counter(0.0));
        let before = if let Instrument::Counter(value) = found { *value } else { 0.0 };
        *found = Instrument::Counter(before + more);
        before + more
    }

    pub fn observe(&self, name: &str, value: f64, tags: Tags) {
        let mut all = self.0.borrow_mut();
        let found = all.entry((name.to_owned(), tags)).or_insert(Instrument::Gauge(value));
        *found = match found {
            Instrument::Histogram { count, sum, min, max, .. } => Instrument::Histogram {
                count: *count + 1,
                sum: *sum + value,
                min: min.min(value),
                max: max.max(value),
                last: value,
            },
            _ => {
                Instrument::Histogram { count: 1, sum: value, min: value, max: value, last: value }
            }
        };
    }

    /// What is recorded under a name; the first of them where tags differ.
    pub fn find(&self, name: &str) -> Option<Json> {
        let all = self.0.borrow();
        let found = all.iter().find(|((known, _), _)| known == name);
        found.map(|((name, tags), instrument)| shown(name, tags, instrument))
    }

    pub fn list(&self) -> Vec<Json> {
        let all = self.0.borrow();
        all.iter().map(|((name, tags), instrument)| shown(name, tags, instrument)).collect()
    }

    /// As Prometheus reads it; a histogram is told as its sum and its count.
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        let mut last = String::new();
        for ((name, tags), instrument) in self.0.borrow().iter() {
            let name = safe(name);
            if name != last {
                let kind = match instrument {
                    Instrument::Histogram { .. } => "summary",
                    other => other.kind(),
                };
                let _a_text_takes_all = writeln!(text, "# TYPE {name} {kind}");
                last.clone_from(&name);
            }
            let labels = labels(tags);
            let _a_text_takes_all = match instrument {
                Instrument::Gauge(value) | Instrument::Counter(value) => {
                    writeln!(text, "{name}{labels} {value}")
                }
                Instrument::Histogram { count, sum, .. } => {
                    writeln!(text, "{name}_sum{labels} {sum}\n{name}_count{labels} {count}")
                }
            };
        }
        text
    }
}

fn shown(name: &str, tags: &Tags, instrument: &Instrument) -> Json {
    let mut json = json!({ "name": name, "type": instrument.kind(), "tags": tags });
    match instrument {
        Instrument::Gauge(value) | Instrument::Counter(value) => json["value"] = (*value).into(),
        Instrument::Histogram { count, sum, min, max, last } => {
            #[expect(clippy::cast_precision_loss, reason = "an average for people")]
            let average = sum / *count as f64;
            for (field, value) in
                [("sum", *sum), ("min", *min), ("max", *max), ("avg", average), ("value", *last)]
            {
                json[field] = value.into();
            }
            json["count"] = (*count).into();
        }
    }
    json
}

fn safe(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let name: String = name.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

fn labels(tags: &Tags) -> String {
    if tags.is_empty() {
        return String::new();
    }
    let pairs = tags.iter().map(|(name, value)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("{}=\"{value}\"", safe(name).replace(':', "_"))
    });
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prometheus_can_read_it() {
        let all = Instruments::default();
        let tags = |value: &str| Tags::from([("host".to_owned(), value.to_owned())]);
        all.count("jobs.done", 1.0, tags("a\"b"));
        all.count("jobs.done", 2.0, tags("c"));
        all.gauge("5xx", 1.5, Tags::new());
        all.observe("took", 2.0, Tags::new());
        all.observe("took", 4.0, Tags::new());
        assert_eq!(
            all.prometheus(),
            "# TYPE _5xx gauge\n_5xx 1.5\n# TYPE jobs_done counter\njobs_done{host=\"a\\\"b\"} 1\njobs_done{host=\"c\"} 2\n# TYPE took summary\ntook_sum 6\ntook_count 2\n"
        );
        let took = all.find("took").unwrap();
        assert_eq!(
            (&took["count"], &took["avg"], &took["max"]),
            (&2.into(), &3.0.into(), &4.0.into())
        );
    }
}
