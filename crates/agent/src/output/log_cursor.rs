//! Places in the output of a workload.
//!
//! A cursor has a place for every run that was being read; runs before the newest of them that have
//! none have been seen to their end. As text it is `run/line`, or `run/end` for a run that has been
//! seen to its end, joined by `~` where there are several.

use std::str::FromStr;

use hostler_model::RunId;

use super::line_reader::{BadCursor, LineCursor};

/// The most places that a cursor has.
const PLACES_MAX: usize = 128;

/// A place in the output of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogCursor {
    /// In the order of the runs; never empty. Without a line, the run has been seen to its end.
    places: Vec<(RunId, Option<LineCursor>)>,
}

impl LogCursor {
    /// Where a run stands; `None` when nothing is said of it.
    pub(super) fn place(&self, run: RunId) -> Option<Option<LineCursor>> {
        self.places.iter().find(|(known, _)| *known == run).map(|(_, line)| *line)
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = RunId> {
        self.places.iter().map(|(run, _)| *run)
    }
}

impl std::fmt::Display for LogCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, (run, line)) in self.places.iter().enumerate() {
            if index > 0 {
                f.write_str("~")?;
            }
            match line {
                Some(line) => write!(f, "{run}/{line}")?,
                None => write!(f, "{run}/end")?,
            }
        }
        Ok(())
    }
}

impl FromStr for LogCursor {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<LogCursor, BadCursor> {
        let place = |text: &str| {
            let (run, line) = text.split_once('/').ok_or(BadCursor)?;
            let line = if line == "end" { None } else { Some(line.parse()?) };
            Ok((run.parse().map_err(|_| BadCursor)?, line))
        };
        let places: Vec<_> = text.split('~').map(place).collect::<Result<_, BadCursor>>()?;
        if places.len() > PLACES_MAX { Err(BadCursor) } else { Ok(LogCursor { places }) }
    }
}

/// How far the runs that are being read have been seen.
#[derive(Default)]
pub(super) struct Spots(Vec<(RunId, Option<LineCursor>)>);

impl Spots {
    /// A run is being read from here on; it is newer than those before it.
    pub fn open(&mut self, run: RunId, line: LineCursor) {
        self.0.push((run, Some(line)));
    }

    /// A run has been seen up to here; to its end when there is no line. Of those that have, only the
    /// newest still matters, and only while no newer one is being read.
    pub fn see(&mut self, run: RunId, line: Option<LineCursor>) {
        for (_, seen) in self.0.iter_mut().filter(|(known, _)| *known == run) {
            *seen = line;
        }
        let newest = self.0.last().map(|(run, _)| *run);
        self.0.retain(|(run, line)| line.is_some() || newest == Some(*run));
    }

    pub fn cursor(&self) -> LogCursor {
        LogCursor { places: self.0.clone() }
    }
}
