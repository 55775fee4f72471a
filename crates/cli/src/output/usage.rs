//! What was used over time: rows of a table, and on a terminal a line of bars above them.
//!
//! Samples are many and of different lengths, finer the newer they are. A table has room for
//! [`ROWS`] of them: neighbours are put together. Documents have each as it was sampled.

use std::time::Duration;

use hostler_model::{Timestamp, UsageSample};
use serde::Serialize;

use super::{Cell, Column, Format, Show, column, list, moment, span};
use crate::failure::Failure;
use crate::ui::Ui;

/// The most rows of a table.
const ROWS: usize = 20;
/// The most bars of a line.
const BARS: usize = 60;

/// Of a workload on a node.
#[derive(Serialize)]
#[serde(transparent)]
pub struct WorkloadUse(UsageSample);

/// Of a whole node.
#[derive(Serialize)]
#[serde(transparent)]
pub struct NodeUse(UsageSample);

/// Prints what a workload used.
pub fn workload_usage(ui: &Ui, now: Timestamp, samples: Vec<UsageSample>) -> Result<(), Failure> {
    print(ui, now, samples, WorkloadUse)
}

/// Prints what a node used.
pub fn node_usage(ui: &Ui, now: Timestamp, samples: Vec<UsageSample>) -> Result<(), Failure> {
    print(ui, now, samples, NodeUse)
}

fn print<T: Show>(
    ui: &Ui,
    now: Timestamp,
    samples: Vec<UsageSample>,
    shown: fn(UsageSample) -> T,
) -> Result<(), Failure> {
    let is_table = matches!(ui.format(), None | Some(Format::Table | Format::Wide));
    if !is_table || ui.is_quiet() {
        let all: Vec<T> = samples.into_iter().map(shown).collect();
        return list(ui, now, &all);
    }
    if let Some(width) = ui.width() {
        ui.data(pictures(&samples, width).as_bytes())?;
    }
    let rows: Vec<T> = gathered(&samples, ROWS).into_iter().map(shown).collect();
    list(ui, now, &rows)
}

/// At most `most` samples that say together what these say.
fn gathered(samples: &[UsageSample], most: usize) -> Vec<UsageSample> {
    let each = samples.len().div_ceil(most).max(1);
    let joined = |group: &[UsageSample]| {
        let mut group = group.iter().cloned();
        let first = group.next()?;
        Some(group.fold(first, |before, later| before.joined(&later)))
    };
    samples.chunks(each).filter_map(joined).collect()
}

/// A line of bars for everything that was measured, with what it is now and was at most.
fn pictures(samples: &[UsageSample], width: usize) -> String {
    if samples.len() < 2 {
        return String::new();
    }
    let few = gathered(samples, BARS.min(width.saturating_sub(40).max(10)));
    let mut text = String::new();
    let mut draw = |title: &str,
                    of: &dyn Fn(&UsageSample) -> Option<f64>,
                    say: fn(f64) -> String| {
        let values: Vec<f64> = few.iter().map(|sample| of(sample).unwrap_or(0.0)).collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        if few.iter().any(|sample| of(sample).is_some()) {
            let now = values.last().copied().unwrap_or(0.0);
            let bars = sparkline(&values);
            text.push_str(&format!("{title:<8} {bars}  now {}, most {}\n", say(now), say(most)));
        }
    };
    draw("CPU", &|sample| Some(sample.cpu), cores);
    draw("MEMORY", &|sample| Some(bytes_of(sample)), amount);
    draw("DISK", &|sample| Some(sample.disk_read + sample.disk_written), rate);
    draw("NETWORK", &|sample| Some(sample.net_received? + sample.net_sent?), rate);
    text.push('\n');
    text
}

/// One bar for every value, the highest for the largest.
pub(super) fn sparkline(values: &[f64]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = values.iter().copied().fold(0.0, f64::max);
    let bar = |value: &f64| {
        let height = (1..8_u8).rev().find(|n| most > 0.0 && value / most >= f64::from(*n) / 7.0);
        HEIGHTS[usize::from(height.unwrap_or(0))]
    };
    values.iter().map(bar).collect()
}

#[expect(clippy::cast_precision_loss, reason = "one decimal for people")]
fn bytes_of(sample: &UsageSample) -> f64 {
    sample.memory.get() as f64
}

fn cores(cores: f64) -> String {
    format!("{cores:.2}")
}

pub(super) fn amount(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut bytes, mut unit) = (bytes, 0);
    while bytes >= 1023.95 && unit + 1 < UNITS.len() {
        (bytes, unit) = (bytes / 1024.0, unit + 1);
    }
    match unit {
        0 => format!("{bytes:.0}B"),
        _ => format!("{bytes:.1}{}", UNITS[unit]),
    }
}

fn rate(bytes: f64) -> String {
    format!("{}/s", amount(bytes))
}

fn stretch(sample: &UsageSample) -> String {
    span(Duration::try_from_secs_f64(sample.seconds.round()).unwrap_or_default())
}

/// What workloads and nodes have in common.
fn common(sample: &UsageSample, now: Timestamp, is_wide: bool) -> Vec<Cell> {
    vec![
        Cell::new(moment(sample.time, now, is_wide)),
        Cell::new(stretch(sample)),
        Cell::new(cores(sample.cpu)),
        Cell::new(sample.memory),
        Cell::new(rate(sample.disk_read)),
        Cell::new(rate(sample.disk_written)),
    ]
}

impl Show for WorkloadUse {
    const KIND: &'static str = "sample";
    const COLUMNS: &'static [Column] = &[
        column("UNTIL"),
        column("OVER"),
        column("CPU"),
        column("MEMORY"),
        column("READ"),
        column("WRITTEN"),
        column("PIDS"),
    ];
    fn id(&self) -> String {
        self.0.time.to_string()
    }
    fn name(&self) -> String {
        self.0.time.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let mut cells = common(&self.0, now, is_wide);
        cells.push(self.0.pids.into());
        cells
    }
}

impl Show for NodeUse {
    const KIND: &'static str = "sample";
    const COLUMNS: &'static [Column] = &[
        column("UNTIL"),
        column("OVER"),
        column("CPU"),
        column("MEMORY"),
        column("READ"),
        column("WRITTEN"),
        column("RECEIVED"),
        column("SENT"),
        column("DISK"),
        column("TEMPERATURE"),
    ];
    fn id(&self) -> String {
        self.0.time.to_string()
    }
    fn name(&self) -> String {
        self.0.time.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let mut cells = common(&self.0, now, is_wide);
        cells.extend([
            self.0.net_received.map(rate).into(),
            self.0.net_sent.map(rate).into(),
            self.0.disk_used.into(),
            self.0.temperature.map(|degrees| format!("{degrees:.0}°C")).into(),
        ]);
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::Bytes;

    fn sample(second: i64, cpu: f64) -> UsageSample {
        UsageSample {
            time: Timestamp::from_micros(second * 1_000_000),
            seconds: 10.0,
            cpu,
            memory: Bytes::mib(3),
            disk_written: 2048.0,
            ..UsageSample::default()
        }
    }

    #[test]
    fn many_samples_become_few_rows() {
        let samples: Vec<UsageSample> =
            (1..=100).map(|n| sample(i64::from(n) * 10, f64::from(n % 2))).collect();
        let rows = gathered(&samples, ROWS);
        assert_eq!(rows.len(), 20);
        assert_eq!(rows.last().map(|row| (row.time, row.seconds)), Some((samples[99].time, 50.0)));
        assert!(rows.iter().all(|row| (0.3..0.7).contains(&row.cpu)), "{rows:?}");
        assert_eq!(gathered(&samples[..3], ROWS), samples[..3]);
        assert_eq!(gathered(&[], ROWS), []);
    }

    #[test]
    fn bars_follow_the_values() {
        assert_eq!(sparkline(&[0.0, 3.5, 7.0]), "▁▄█");
        assert_eq!(sparkline(&[0.0, 0.0]), "▁▁");
        let text = pictures(&[sample(10, 0.5), sample(20, 1.0)], 80);
        assert_eq!(
            text,
            "CPU      ▄█  now 1.00, most 1.00\nMEMORY   ██  now 3.0MiB, most 3.0MiB\nDISK     ██  now 2.0KiB/s, most 2.0KiB/s\n\n"
        );
        assert_eq!(pictures(&[sample(10, 0.5)], 80), "");
    }

    #[test]
    fn rates_read_as_people_say_them() {
        let cases =
            [(0.0, "0B/s"), (12.4, "12B/s"), (1024.0, "1.0KiB/s"), (1_048_575.0, "1.0MiB/s")];
        for (bytes, expected) in cases {
            assert_eq!(rate(bytes), expected);
        }
    }
}
