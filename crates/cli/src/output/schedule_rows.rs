//! What schedules and their fires show of themselves in a table.

use hostler_api::schedule::{NextFireView, ScheduleFireView, ScheduleView};
use hostler_model::Timestamp;
use hostler_model::schedule::{FireRemark, FireState};

use super::{Cell, Column, Show, age, column, moment, wide};

fn state(state: FireState) -> Cell {
    let cell = Cell::new(state);
    match state {
        FireState::Begun => cell.warning(),
        FireState::Done => cell.good(),
        FireState::Failed | FireState::Uncertain | FireState::Missed => cell.bad(),
    }
}

impl Show for ScheduleView {
    const KIND: &'static str = "schedule";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("COMES"),
        column("DOES"),
        column("STATE"),
        column("NEXT"),
        column("LAST"),
        column("OUTCOME"),
        wide("OVERLAP"),
        wide("CATCH-UP"),
        wide("OWNER"),
        wide("CREATED"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let standing = match (&self.pause, self.time_next) {
            (Some(_), _) => Cell::new("paused").warning(),
            (None, Some(_)) => Cell::new("active").good(),
            (None, None) => Cell::new("over").dim(),
        };
        let last = self.last.as_ref();
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            Cell::new(&self.timing),
            Cell::new(&self.summary),
            standing,
            self.time_next.map(|next| moment(next, now, is_wide)).into(),
            last.map(|last| moment(last.time, now, is_wide)).into(),
            last.map_or_else(|| Cell::from(None::<String>), |last| state(last.state)),
            Cell::new(self.spec.overlap),
            Cell::new(self.spec.catch_up),
            Cell::new(&self.owner),
            Cell::new(moment(self.time_created, now, is_wide)),
        ]
    }
}

impl Show for ScheduleFireView {
    const KIND: &'static str = "fire";
    const COLUMNS: &'static [Column] = &[
        column("TIME"),
        column("STATE"),
        column("CAUSE"),
        column("LATE"),
        column("TIMES"),
        column("MADE"),
        column("STANDS"),
        column("MESSAGE"),
        wide("BEGUN"),
        wide("ENDED"),
        wide("ASKED BY"),
        wide("TRIES"),
    ];
    fn id(&self) -> String {
        self.time.to_string()
    }
    fn name(&self) -> String {
        self.time.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let stands = match (&self.standing, self.status) {
            (Some(standing), _) => Some(standing.clone()),
            (None, Some(status)) => Some(format!("status {status}")),
            (None, None) => None,
        };
        let stands = Cell::from(stands);
        vec![
            Cell::new(moment(self.time, now, true)),
            state(self.state),
            Cell::new(self.cause),
            Cell::new(self.lateness),
            Cell::new(self.count),
            self.object.as_ref().map(|made| format!("{} {}", made.kind, made.name)).into(),
            match self.is_good {
                Some(true) => stands.good(),
                Some(false) => stands.bad(),
                None => stands,
            },
            Some(self.message.clone()).filter(|text| !text.is_empty()).into(),
            Cell::new(moment(self.time_begun, now, is_wide)),
            self.time_ended.map(|ended| moment(ended, now, is_wide)).into(),
            self.asked_by.clone().into(),
            Cell::new(self.tries),
        ]
    }
}

impl Show for NextFireView {
    const KIND: &'static str = "fire";
    const COLUMNS: &'static [Column] =
        &[column("TIME"), column("IN"), wide("UTC"), wide("BEGINS"), column("REMARK")];
    fn id(&self) -> String {
        self.time.to_string()
    }
    fn name(&self) -> String {
        self.time.to_string()
    }
    fn cells(&self, now: Timestamp, _: bool) -> Vec<Cell> {
        let remark = Cell::from(self.remark.map(FireRemark::words));
        vec![
            Cell::new(&self.local),
            Cell::new(age(self.start, now)),
            Cell::new(moment(self.time, now, true)),
            Cell::new(moment(self.start, now, true)),
            if self.remark.is_some() { remark.warning() } else { remark },
        ]
    }
}
