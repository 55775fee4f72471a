//! Which records of the ledger need no sync of their own: the batching that a used-up budget asks for.
//!
//! Such a record is written to the file at once, where it survives the agent, and reaches the disk
//! with the next record that has to be there, or when the kernel finds time. It is one on which
//! nothing depends that was done or said, so that losing it with the machine costs a repetition and
//! nothing else. An acknowledgement that is lost is had again: the report is sent once more, and the
//! server knows it. What was forgotten is forgotten again. That a run was seen to run matters only
//! while its boot lasts; but once a server may have been told of it under its number, the number must
//! not be given out twice, so this one waits only where there is no server.
//!
//! The file has the records in the order in which things happened, so what is read back is a beginning
//! of that, as ever.

use hostler_engine::supervise::Record;
use hostler_model::ReportState;

/// Whether all of these may reach the disk later. `is_alone`: no server is ever told anything.
pub(crate) fn may_wait(records: &[Record], is_alone: bool) -> bool {
    records.iter().all(|record| match record {
        Record::Acknowledged { .. } | Record::Dropped { .. } | Record::Forgotten { .. } => true,
        Record::Observed { state: ReportState::Running { .. }, .. } => is_alone,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{Exit, ExitReason, Generation, PlacementId, RunId, Timestamp};
    use uuid::Uuid;

    #[test]
    fn only_what_can_be_learned_again_waits() {
        let run = RunId::from_uuid(Uuid::from_u128(1));
        let placement = PlacementId::from_uuid(Uuid::from_u128(2));
        let generation = Generation::FIRST;
        let seen = |state| Record::Observed { run, generation, state };
        let exit = Exit {
            reason: ExitReason::Exited,
            code: Some(0),
            signal: None,
            message: None,
            time: Timestamp::EPOCH,
        };
        let running = seen(ReportState::Running { pid: 1, since: Timestamp::EPOCH });
        let exited = seen(ReportState::Exited { started: None, pid: None, exit });
        let acknowledged = Record::Acknowledged { run, generation };
        let table = [
            (acknowledged.clone(), true, true),
            (Record::Dropped { run, is_untold: false }, true, true),
            (Record::Forgotten { placement }, true, true),
            (running, false, true),
            (exited.clone(), false, false),
            (Record::Starting { run, boot_id: String::new() }, false, false),
            (Record::Session { epoch: generation }, false, false),
            (Record::Accepted { generation, assignments: Vec::new() }, false, false),
        ];
        for (record, with_server, alone) in table {
            let records = std::slice::from_ref(&record);
            assert_eq!(may_wait(records, false), with_server, "{record:?}");
            assert_eq!(may_wait(records, true), alone, "{record:?}");
        }
        assert!(!may_wait(&[acknowledged, exited], true), "one that must not wait is enough");
    }
}
