//! Tasks that are paused by the server: frozen, kept over the death of the agent, and let go on.

use hostler_model::{Assignment, Desired, ExitReason, Generation, Report, ReportState, RunId};

use crate::fake::{Agent, Data, FakeServer, FakeSession, Installation, assignment, exit_of};
use crate::support::{sh, started_record, until};

fn wishing(desired: Desired, generation: u64, of: &Assignment) -> Assignment {
    Assignment { desired, generation: Generation::from_u64(generation), ..of.clone() }
}

/// Waits until it is reported as paused, or as running; its process. The report is acknowledged.
async fn reported(session: &mut FakeSession, run: RunId, is_paused: bool) -> u32 {
    let pid_of = |report: &Report| match report.state {
        ReportState::Paused { pid, .. } if is_paused => Some(pid),
        ReportState::Running { pid, .. } if !is_paused => Some(pid),
        _ => None,
    };
    let report = session.report_that(|r| r.run_id == run && pid_of(r).is_some()).await;
    session.ack(&report).await;
    pid_of(&report).unwrap()
}

/// Its cgroup, where it can be frozen.
fn freezer(data: &Data, run: RunId) -> Option<std::path::PathBuf> {
    let record = started_record(&data.path().join("runs").join(run.to_string()));
    let group = std::path::PathBuf::from(record["cgroup"].as_str()?);
    group.join("cgroup.freeze").exists().then_some(group)
}

#[tokio::test]
async fn a_paused_task_is_frozen_outlives_its_agent_and_goes_on() {
    let data = Data::new();
    let installation = Installation::new();
    let mut server = FakeServer::start(&installation).await;
    installation.join(data.path(), std::slice::from_ref(&server.address));
    let agent = Agent::start(data.path());
    let mut session = server.session().await;
    let wanted = assignment(1, sh("trap 'exit 4' TERM; while :; do sleep 0.05; done"));
    let run = wanted.run_id.unwrap();
    session.desire(0, 1, std::slice::from_ref(&wanted)).await;
    let pid = reported(&mut session, run, false).await;
    let Some(group) = freezer(&data, run) else {
        println!("skipped: no cgroup here can be frozen");
        return;
    };
    let is =
        |words: &str| std::fs::read_to_string(group.join("cgroup.events")).unwrap().contains(words);

    session.desire(1, 2, &[wishing(Desired::Pause, 2, &wanted)]).await;
    assert_eq!(reported(&mut session, run, true).await, pid);
    until("it is frozen", || is("frozen 1")).await;

    agent.kill();
    let agent = Agent::start(data.path());
    let mut session = server.session().await;
    assert_eq!(session.hello.applied_generation, 2);
    session.desire(2, 3, &[wishing(Desired::Run, 3, &wanted)]).await;
    assert_eq!(reported(&mut session, run, false).await, pid, "the same process goes on");
    until("it is thawed", || is("frozen 0")).await;

    session.desire(3, 4, &[wishing(Desired::Pause, 4, &wanted)]).await;
    reported(&mut session, run, true).await;
    session.desire(4, 5, &[wishing(Desired::Stop, 5, &wanted)]).await;
    let report = session.exited(run).await;
    assert_eq!(exit_of(&report), (ExitReason::Stopped, Some(4)), "it hears of the stop");
    session.ack(&report).await;
    agent.stop().await.unwrap();
}
