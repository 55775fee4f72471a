//! Checked conversions between messages and model types.

use hostler_model::{
    Assignment, Exit, ExitReason, Generation, LogGrant, Origin, Report, ReportState, Reservation,
    Span, StatusReport, TaskSeat, Timestamp,
};

use crate::v1;

/// A message that does not make sense. The peer is of another version, or broken.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    #[error("field {field} is missing")]
    Missing { field: &'static str },
    #[error("field {field} cannot be read: {problem}")]
    Bad { field: &'static str, problem: String },
}

fn bad(field: &'static str) -> impl Fn(&dyn std::fmt::Display) -> ConvertError {
    move |problem| ConvertError::Bad { field, problem: problem.to_string() }
}

pub fn log_shares_to_message(shares: &[LogGrant]) -> v1::LogShares {
    let shares = shares.iter().map(|share| v1::LogShare {
        project_name: share.project_name.to_string(),
        bytes: share.bytes.get(),
        generation: share.generation.get(),
    });
    v1::LogShares { shares: shares.collect() }
}

pub fn assignment_to_message(placement: &Assignment) -> v1::DesiredPlacement {
    v1::DesiredPlacement {
        placement_id: placement.placement_id.to_string(),
        run_id: placement.run_id.map(|run| run.to_string()).unwrap_or_default(),
        desired: placement.desired.label().to_owned(),
        desired_generation: placement.generation.get(),
        workload_id: placement.workload_id.to_string(),
        workload_name: placement.workload_name.to_string(),
        project_name: placement.project_name.to_string(),
        spec_json: serde_json::to_string(&placement.spec).expect("a spec always serialises"),
        grace_ms: placement.grace.map(Span::millis),
        revision: placement.revision.get(),
        reservation_json: serde_json::to_string(&placement.reservation)
            .expect("a reservation always serialises"),
        array_id: placement.seat.map(|seat| seat.array.to_string()).unwrap_or_default(),
        array_index: placement.seat.map(|seat| seat.index).unwrap_or_default(),
        traceparent: placement.trace.map(|trace| trace.to_string()).unwrap_or_default(),
    }
}

pub fn parse_assignment(message: v1::DesiredPlacement) -> Result<Assignment, ConvertError> {
    let run_id = Some(message.run_id).filter(|run| !run.is_empty());
    Ok(Assignment {
        placement_id: message.placement_id.parse().map_err(|e| bad("placement_id")(&e))?,
        run_id: run_id.map(|run| run.parse()).transpose().map_err(|e| bad("run_id")(&e))?,
        desired: message.desired.parse().map_err(|e| bad("desired")(&e))?,
        generation: Generation::from_u64(message.desired_generation),
        workload_id: message.workload_id.parse().map_err(|e| bad("workload_id")(&e))?,
        workload_name: message.workload_name.parse().map_err(|e| bad("workload_name")(&e))?,
        project_name: message.project_name.parse().map_err(|e| bad("project_name")(&e))?,
        spec: serde_json::from_str(&message.spec_json).map_err(|e| bad("spec_json")(&e))?,
        grace: message.grace_ms.map(Span::from_millis),
        revision: Generation::from_u64(message.revision),
        reservation: parse_reservation(&message.reservation_json)?,
        seat: parse_seat(&message.array_id, message.array_index)?,
        // A trace that cannot be read is no reason not to run something.
        trace: message.traceparent.parse().ok(),
    })
}

/// Servers of the version before say none.
fn parse_reservation(text: &str) -> Result<Reservation, ConvertError> {
    if text.is_empty() {
        return Ok(Reservation::default());
    }
    serde_json::from_str(text).map_err(|e| bad("reservation_json")(&e))
}

fn parse_seat(array: &str, index: u32) -> Result<Option<TaskSeat>, ConvertError> {
    if array.is_empty() {
        return Ok(None);
    }
    let array = array.parse().map_err(|e| bad("array_id")(&e))?;
    Ok(Some(TaskSeat { array, index }))
}

pub fn report_to_message(report: &Report) -> v1::Report {
    let state = match &report.state {
        ReportState::Running { pid, since } => {
            v1::report::State::Running(v1::Running { pid: *pid, since_micros: since.micros() })
        }
        ReportState::Paused { pid, since } => {
            v1::report::State::Paused(v1::Running { pid: *pid, since_micros: since.micros() })
        }
        ReportState::Exited { started, pid, exit } => v1::report::State::Exited(v1::Exited {
            started_micros: started.map(Timestamp::micros),
            pid: *pid,
            reason: exit.reason.label().to_owned(),
            code: exit.code,
            signal: exit.signal,
            message: exit.message.clone(),
            time_micros: exit.time.micros(),
        }),
    };
    v1::Report {
        run_id: report.run_id.to_string(),
        placement_id: report.placement_id.to_string(),
        generation: report.generation.get(),
        state: Some(state),
        origin: report.origin.map(|origin| v1::Origin {
            number: origin.number,
            cause: origin.cause.label().to_owned(),
            fire_micros: origin.fire.map(Timestamp::micros),
            revision: origin.revision.get(),
        }),
    }
}

pub fn parse_report(message: v1::Report) -> Result<Report, ConvertError> {
    let state = match message.state.ok_or(ConvertError::Missing { field: "state" })? {
        v1::report::State::Running(running) => ReportState::Running {
            pid: running.pid,
            since: Timestamp::from_micros(running.since_micros),
        },
        v1::report::State::Paused(paused) => ReportState::Paused {
            pid: paused.pid,
            since: Timestamp::from_micros(paused.since_micros),
        },
        v1::report::State::Exited(exited) => ReportState::Exited {
            started: exited.started_micros.map(Timestamp::from_micros),
            pid: exited.pid,
            exit: Exit {
                reason: exited.reason.parse::<ExitReason>().map_err(|e| bad("reason")(&e))?,
                code: exited.code,
                signal: exited.signal,
                message: exited.message.map(|m| m.chars().take(2000).collect()),
                time: Timestamp::from_micros(exited.time_micros),
            },
        },
    };
    Ok(Report {
        run_id: message.run_id.parse().map_err(|e| bad("run_id")(&e))?,
        placement_id: message.placement_id.parse().map_err(|e| bad("placement_id")(&e))?,
        generation: Generation::from_u64(message.generation),
        state,
        origin: message.origin.map(parse_origin).transpose()?,
    })
}

fn parse_origin(message: v1::Origin) -> Result<Origin, ConvertError> {
    Ok(Origin {
        number: message.number,
        cause: message.cause.parse().map_err(|e| bad("cause")(&e))?,
        fire: message.fire_micros.map(Timestamp::from_micros),
        revision: Generation::from_u64(message.revision),
    })
}

pub fn status_to_message(report: &StatusReport) -> v1::StatusReport {
    v1::StatusReport {
        placement_id: report.placement_id.to_string(),
        generation: report.generation.get(),
        status_json: serde_json::to_string(&report.status).expect("a status always serialises"),
    }
}

pub fn parse_status(message: v1::StatusReport) -> Result<StatusReport, ConvertError> {
    Ok(StatusReport {
        placement_id: message.placement_id.parse().map_err(|e| bad("placement_id")(&e))?,
        generation: Generation::from_u64(message.generation),
        status: serde_json::from_str(&message.status_json).map_err(|e| bad("status_json")(&e))?,
    })
}
