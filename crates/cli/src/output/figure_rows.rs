//! Figures over time: one row for each, with a line of bars.

use hostler_api::system::{FigureSeriesView, MetricsHistoryView};
use hostler_model::{FigureUnit, Timestamp};
use serde::Serialize;

use super::usage::{amount, sparkline};
use super::{Cell, Column, Show, column};

/// The most bars of a line.
const BARS: usize = 40;

/// A figure, and what it was.
#[derive(Serialize)]
#[serde(transparent)]
pub struct FigureRow(FigureSeriesView);

/// A row for every figure that has a value, in the order in which they came.
pub fn figure_rows(view: &MetricsHistoryView) -> Vec<FigureRow> {
    let known = view.series.iter().filter(|series| series.values.iter().any(Option::is_some));
    known.cloned().map(FigureRow).collect()
}

impl FigureRow {
    fn known(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.values.iter().copied().flatten()
    }

    fn say(&self, value: Option<f64>) -> String {
        let Some(value) = value else { return "-".to_owned() };
        match self.0.unit {
            FigureUnit::Count => plain(value),
            FigureUnit::PerSecond => format!("{}/s", plain(value)),
            FigureUnit::Cores => format!("{value:.2}"),
            FigureUnit::Bytes => amount(value),
            FigureUnit::Seconds if value < 1.0 => format!("{:.1}ms", value * 1000.0),
            FigureUnit::Seconds => format!("{value:.1}s"),
        }
    }

    /// At most so many values: neighbours together, by their average; what is unknown is nothing.
    #[expect(clippy::cast_precision_loss, reason = "bars are eight steps high")]
    fn bars(&self) -> String {
        let each = self.0.values.len().div_ceil(BARS).max(1);
        let mean = |group: &[Option<f64>]| {
            let known: Vec<f64> = group.iter().copied().flatten().collect();
            known.iter().sum::<f64>() / known.len().max(1) as f64
        };
        sparkline(&self.0.values.chunks(each).map(mean).collect::<Vec<f64>>())
    }
}

/// Whole numbers without a point.
fn plain(value: f64) -> String {
    if (value - value.round()).abs() < 0.005 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

impl Show for FigureRow {
    const KIND: &'static str = "figure";
    const COLUMNS: &'static [Column] =
        &[column("FIGURE"), column("NOW"), column("LEAST"), column("MOST"), column("OVER TIME")];

    fn id(&self) -> String {
        self.0.name.to_string()
    }
    fn name(&self) -> String {
        self.0.name.to_string()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.0.name),
            Cell::new(self.say(self.0.values.last().copied().flatten())),
            Cell::new(self.say(self.known().reduce(f64::min))),
            Cell::new(self.say(self.known().reduce(f64::max))),
            Cell::new(self.bars()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::Figure;

    fn row(name: Figure, values: Vec<Option<f64>>) -> FigureRow {
        FigureRow(FigureSeriesView { name, unit: name.unit(), values })
    }

    #[test]
    fn values_are_said_in_their_unit() {
        for (figure, value, said) in [
            (Figure::NodesOnline, 3.0, "3"),
            (Figure::TasksEnded, 0.5, "0.50/s"),
            (Figure::CpuUsed, 1.5, "1.50"),
            (Figure::MemoryUsed, 2048.0, "2.0KiB"),
            (Figure::ApiLatency, 0.0123, "12.3ms"),
            (Figure::QueueWait, 61.0, "61.0s"),
        ] {
            assert_eq!(row(figure, Vec::new()).say(Some(value)), said);
        }
        assert_eq!(row(Figure::QueueWait, Vec::new()).say(None), "-");
    }

    #[test]
    fn many_values_become_few_bars() {
        let values: Vec<Option<f64>> = (0..400).map(|n| Some(f64::from(n))).collect();
        assert_eq!(row(Figure::CpuUsed, values).bars().chars().count(), BARS);
        assert_eq!(row(Figure::CpuUsed, vec![None, Some(7.0)]).bars(), "▁█");
    }
}
