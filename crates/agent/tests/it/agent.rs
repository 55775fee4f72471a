//! The agent against a fake control plane: what it does, and what survives its death.

use std::time::Duration;

use hostler_agent::OnStop;
use hostler_base::ledger::Journal;
use hostler_engine::supervise::Record;
use hostler_model::{
    Assignment, Desired, ExitReason, Generation, Mode, Report, ReportState, StopSignal,
};
use hostler_proto::v1::{self, agent_message, server_message};

use crate::fake::{
    Agent, Data, FakeServer, FakeSession, Installation, agent_config, assignment, exit_of, stopped,
};
use crate::support::{is_running, sh, until};

async fn world() -> (Data, Installation, FakeServer) {
    let data = Data::new();
    let installation = Installation::new();
    let server = FakeServer::start(&installation).await;
    installation.join(data.path(), std::slice::from_ref(&server.address));
    (data, installation, server)
}

#[tokio::test]
async fn a_wish_becomes_a_run_and_its_end_is_forgotten_once_acknowledged() {
    let (data, _installation, mut server) = world().await;
    let agent = Agent::start(data.path());
    let mut session = server.session().await;
    assert_eq!(session.hello.applied_generation, 0);
    assert!(session.hello.facts_json.contains("bootId"));

    let wanted = assignment(1, sh("sleep 0.3; exit 7"));
    session.desire(0, 1, std::slice::from_ref(&wanted)).await;
    assert_eq!(session.applied().await, 1);
    session.running(wanted.run_id.unwrap()).await;
    let report = session.exited(wanted.run_id.unwrap()).await;
    assert_eq!(exit_of(&report), (ExitReason::Exited, Some(7)));
    let ReportState::Exited { started, pid, .. } = &report.state else { unreachable!() };
    assert!(started.is_some() && pid.is_some());
    session.ack(&report).await;
    session.desire(1, 2, &[]).await;
    assert_eq!(session.applied().await, 2);
    session.say(server_message::Body::Goodbye(v1::Goodbye {})).await;

    let mut session = server.session().await;
    assert_eq!(session.hello.applied_generation, 2);
    let next = assignment(3, sh("true"));
    session.desire(2, 3, std::slice::from_ref(&next)).await;
    let agent_message::Body::Applied(_) = session.next().await else {
        panic!("something was reported that was acknowledged");
    };
    let exited = session.exited(next.run_id.unwrap()).await;
    session.ack(&exited).await;
    let status = agent.status_that("idleness", |status| status.runs_active == 0).await;
    assert!(status.is_connected && status.server.as_deref() == Some("a-server"));
    agent.stop().await.unwrap();
}

#[tokio::test]
async fn what_was_not_acknowledged_is_said_again_and_epochs_grow() {
    let (data, _installation, mut server) = world().await;
    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    let first_epoch = session.hello.session_epoch;
    let wanted = assignment(1, sh("exit 3"));
    session.desire(0, 1, std::slice::from_ref(&wanted)).await;
    let report = session.exited(wanted.run_id.unwrap()).await;
    drop(session);

    let mut session = server.session().await;
    assert!(session.hello.session_epoch > first_epoch);
    let again = session.exited(wanted.run_id.unwrap()).await;
    assert_eq!(again, report);
    session.ack(&again).await;
}

#[tokio::test]
async fn a_repeated_wish_does_nothing_and_a_gap_leads_to_a_new_session() {
    let (data, _installation, mut server) = world().await;
    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    let log = data.path().join("log");
    let wanted = assignment(1, sh(&format!("echo ran >> {}", log.display())));
    for _ in 0..3 {
        session.desire(0, 1, std::slice::from_ref(&wanted)).await;
        assert_eq!(session.applied().await, 1);
    }
    session.exited(wanted.run_id.unwrap()).await;
    session.desire(0, 1, std::slice::from_ref(&wanted)).await;
    assert_eq!(session.applied().await, 1);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "ran\n");

    session.desire(5, 6, &[]).await;
    session.ended().await;
    let session = server.session().await;
    assert_eq!(session.hello.applied_generation, 1);
}

#[tokio::test]
async fn a_killed_agent_finds_its_runs_again() {
    let (data, _installation, mut server) = world().await;
    let go = data.path().join("go");
    let agent = Agent::start(data.path());
    let mut session = server.session().await;
    let script = format!("while [ ! -e {} ]; do sleep 0.02; done; exit 9", go.display());
    let (lives, ends) = (assignment(1, sh(&script)), assignment(1, sh("sleep 0.3; exit 4")));
    session.desire(0, 1, &[lives.clone(), ends.clone()]).await;
    let pid = session.running(lives.run_id.unwrap()).await;
    agent.kill();
    until("the short run has ended", || {
        let dir = data.path().join("runs").join(ends.run_id.unwrap().to_string());
        dir.join("exit.json").exists()
    })
    .await;

    let agent = Agent::start(data.path());
    let mut session = server.session().await;
    assert_eq!(session.hello.applied_generation, 1);
    let report = session.exited(ends.run_id.unwrap()).await;
    assert_eq!(exit_of(&report), (ExitReason::Exited, Some(4)));
    assert!(is_running(pid));
    std::fs::write(&go, "").unwrap();
    let report = session.exited(lives.run_id.unwrap()).await;
    assert_eq!(exit_of(&report), (ExitReason::Exited, Some(9)));
    let ReportState::Exited { pid: reported, .. } = report.state else { unreachable!() };
    assert_eq!(reported, Some(pid));
    agent.stop().await.unwrap();
}

#[tokio::test]
async fn runs_are_stopped_when_wished_before_or_while_they_run() {
    let (data, _installation, mut server) = world().await;
    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    let long = assignment(1, sh("sleep 600"));
    session.desire(0, 1, std::slice::from_ref(&long)).await;
    session.running(long.run_id.unwrap()).await;
    let never = assignment(2, sh("touch never"));
    let wishes = [stopped(2, &long), stopped(2, &never)];
    session.desire(1, 2, &wishes).await;
    let mut reasons = Vec::new();
    while reasons.len() < 2 {
        let report = session.report_that(|r| matches!(r.state, ReportState::Exited { .. })).await;
        reasons.push(exit_of(&report).0);
        session.ack(&report).await;
    }
    assert_eq!(reasons, [ExitReason::Stopped, ExitReason::Stopped]);
    assert!(!data.path().join("runs").join(never.run_id.unwrap().to_string()).exists());
}

#[tokio::test]
async fn a_stubborn_run_gets_a_shorter_grace_by_a_newer_wish() {
    let (data, _installation, mut server) = world().await;
    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    let mut spec = sh("trap '' TERM; echo ready; while :; do sleep 0.05; done");
    spec.stop.grace = hostler_model::Span::from_secs(600);
    let stubborn = assignment(1, spec);
    session.desire(0, 1, std::slice::from_ref(&stubborn)).await;
    session.running(stubborn.run_id.unwrap()).await;
    session.desire(1, 2, &[stopped(2, &stubborn)]).await;
    assert_eq!(session.applied().await, 2);
    let mut now = stopped(3, &stubborn);
    now.grace = Some(hostler_model::Span::from_millis(0));
    session.desire(2, 3, &[now]).await;
    let report = session.exited(stubborn.run_id.unwrap()).await;
    assert_eq!(exit_of(&report).0, ExitReason::Stopped);
    assert_eq!(stubborn.spec.stop.signal, StopSignal::Term);
}

#[tokio::test]
async fn a_run_that_the_server_does_not_know_is_stopped_and_forgotten() {
    let (data, _installation, mut server) = world().await;
    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    let wanted = assignment(1, sh("sleep 600"));
    session.desire(0, 1, std::slice::from_ref(&wanted)).await;
    let pid = session.running(wanted.run_id.unwrap()).await;
    session.ack_as(wanted.run_id.unwrap(), Generation::FIRST, true).await;
    until("it is stopped", || !is_running(pid)).await;
    drop(session);
    let mut session = server.session().await;
    session.desire(1, 2, &[]).await;
    let agent_message::Body::Applied(applied) = session.next().await else {
        panic!("a forgotten run was reported");
    };
    assert_eq!(applied.generation, 2);
}

#[tokio::test]
async fn what_cannot_be_started_or_understood_is_reported_as_such() {
    let (data, _installation, mut server) = world().await;
    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    let missing = assignment(1, hostler_model::WorkloadSpec::command(["no-such-program"]));
    let newer = assignment(1, sh("true"));
    let mut messages = [&missing, &newer].map(hostler_proto::assignment_to_message);
    messages[1].spec_json = r#"{"command":["true"],"warp":9}"#.into();
    let desired = v1::Desired {
        from_generation: 0,
        to_generation: 1,
        placements: messages.to_vec(),
        log_shares: None,
    };
    session.say(server_message::Body::Desired(desired)).await;
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let report = session.report_that(|r| matches!(r.state, ReportState::Exited { .. })).await;
        assert_eq!(exit_of(&report).0, ExitReason::StartFailed);
        let ReportState::Exited { exit, .. } = &report.state else { unreachable!() };
        seen.push((report.run_id, exit.message.clone().unwrap()));
        session.ack(&report).await;
    }
    let message_of = |run| &seen.iter().find(|(id, _)| *id == run).unwrap().1;
    assert!(message_of(missing.run_id.unwrap()).contains("no-such-program"));
    assert!(message_of(newer.run_id.unwrap()).contains("warp"));
}

/// The pid of a task and the report of a service, which come in any order.
async fn both_running(
    session: &mut FakeSession,
    task: &Assignment,
    service: &Assignment,
) -> (u32, Report) {
    let (mut pid, mut reported) = (None, None);
    loop {
        let report = session.report_that(|_| true).await;
        match &report.state {
            ReportState::Running { pid: its, .. } if Some(report.run_id) == task.run_id => {
                pid = Some(*its);
            }
            _ if report.placement_id == service.placement_id => reported = Some(report),
            _ => {}
        }
        if let (Some(pid), Some(reported)) = (pid, &reported) {
            return (pid, reported.clone());
        }
    }
}

#[tokio::test]
async fn runs_that_a_lost_ledger_knew_are_adopted() {
    let (data, _installation, mut server) = world().await;
    let agent = Agent::start(data.path());
    let mut session = server.session().await;
    let task = assignment(1, sh("sleep 600"));
    let mut service = Assignment { run_id: None, ..assignment(2, sh("sleep 600")) };
    service.spec.mode = Mode::Forever;
    session.desire(0, 2, &[task.clone(), service.clone()]).await;
    let is_services = |report: &Report| report.placement_id == service.placement_id;
    let (pid, first) = both_running(&mut session, &task, &service).await;
    let epoch = session.hello.session_epoch;
    agent.stop().await.unwrap();
    assert!(is_running(pid), "a stopping agent leaves its runs");
    for entry in std::fs::read_dir(data.path()).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("ledger-") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    assert_eq!(session.hello.applied_generation, 0);
    assert!(session.hello.session_epoch >= epoch);
    session.desire(0, 2, &[task.clone(), service.clone()]).await;
    let (same, again) = both_running(&mut session, &task, &service).await;
    assert_eq!(same, pid, "the same process");
    assert_eq!((again.run_id, &again.state), (first.run_id, &first.state), "the same run");
    session.desire(2, 3, &[stopped(3, &task)]).await;
    let report = session.exited(task.run_id.unwrap()).await;
    assert_eq!(exit_of(&report).0, ExitReason::Stopped);
    let remove = Assignment { desired: Desired::Remove, ..stopped(4, &service) };
    session.desire(3, 4, &[remove]).await;
    session.report_that(|r| is_services(r) && matches!(r.state, ReportState::Exited { .. })).await;
}

#[tokio::test]
async fn an_agent_that_is_told_so_takes_its_runs_with_it() {
    let (data, _installation, mut server) = world().await;
    let config = hostler_agent::AgentConfig { on_stop: OnStop::Stop, ..agent_config(data.path()) };
    let agent = Agent::start_with(config);
    let mut session = server.session().await;
    let wanted = assignment(1, sh("sleep 600"));
    session.desire(0, 1, std::slice::from_ref(&wanted)).await;
    let pid = session.running(wanted.run_id.unwrap()).await;
    agent.stop().await.unwrap();
    assert!(!is_running(pid));
    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    let report = session.exited(wanted.run_id.unwrap()).await;
    assert_eq!(exit_of(&report).0, ExitReason::Stopped);
}

#[tokio::test]
async fn what_was_about_to_start_when_the_agent_died_starts_only_in_the_same_boot() {
    let (data, installation, mut server) = world().await;
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let [fresh, rebooted, unwanted] = ["exit 1", "exit 2", "exit 3"].map(|s| assignment(1, sh(s)));
    let starting = |run, boot_id: &str| Record::Starting { run, boot_id: boot_id.trim().into() };
    let records = [
        Record::Accepted {
            generation: Generation::FIRST,
            assignments: vec![fresh.clone(), rebooted.clone(), unwanted.clone()],
        },
        starting(fresh.run_id.unwrap(), &boot_id),
        starting(rebooted.run_id.unwrap(), "an earlier boot"),
        starting(unwanted.run_id.unwrap(), &boot_id),
        Record::Accepted {
            generation: Generation::from_u64(2),
            assignments: vec![stopped(2, &unwanted)],
        },
    ];
    let path = data.path().join(format!("ledger-{}", installation.node_id));
    let mut opened = Journal::open(&path, installation.clock.now()).unwrap();
    opened.journal.append_batch(&records).unwrap();
    drop(opened);

    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    assert_eq!(session.hello.applied_generation, 2);
    let mut seen = std::collections::HashMap::new();
    while seen.len() < 3 {
        let report = session.report_that(|r| matches!(r.state, ReportState::Exited { .. })).await;
        seen.insert(report.run_id, exit_of(&report));
        session.ack(&report).await;
    }
    assert_eq!(seen[&fresh.run_id.unwrap()], (ExitReason::Exited, Some(1)));
    assert_eq!(seen[&rebooted.run_id.unwrap()], (ExitReason::Vanished, None));
    assert_eq!(seen[&unwanted.run_id.unwrap()], (ExitReason::Stopped, None));
}

#[tokio::test]
async fn old_run_directories_are_cleared_away() {
    let (data, _installation, mut server) = world().await;
    let config = hostler_agent::AgentConfig { keep_runs: 2, ..agent_config(data.path()) };
    let _agent = Agent::start_with(config);
    let mut session = server.session().await;
    let runs: Vec<_> = (1..=5).map(|g| assignment(g, sh("true"))).collect();
    for (index, wanted) in runs.iter().enumerate() {
        let from = index as u64;
        session.desire(from, from + 1, std::slice::from_ref(wanted)).await;
        let report = session.exited(wanted.run_id.unwrap()).await;
        session.ack(&report).await;
    }
    let is_kept = |index: usize| {
        let name = runs[index].run_id.unwrap().to_string();
        data.path().join("runs").join(name).exists()
    };
    until("two are left", || !(0..3).any(is_kept)).await;
    assert!(is_kept(3) && is_kept(4));
}

#[tokio::test]
async fn hundreds_of_runs_in_one_wish() {
    const COUNT: usize = 300;
    let (data, _installation, mut server) = world().await;
    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    let runs: Vec<_> =
        (0..COUNT).map(|_| assignment(1, hostler_model::WorkloadSpec::command(["true"]))).collect();
    let begun = std::time::Instant::now();
    session.desire(0, 1, &runs).await;
    let mut ended = std::collections::HashSet::new();
    while ended.len() < COUNT {
        let agent_message::Body::Reports(reports) = session.next().await else {
            continue;
        };
        for report in reports.reports {
            let report = hostler_proto::parse_report(report).unwrap();
            if matches!(report.state, ReportState::Exited { .. }) {
                assert_eq!(exit_of(&report), (ExitReason::Exited, Some(0)));
                ended.insert(report.run_id);
                session.ack(&report).await;
            }
        }
    }
    let took = begun.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let memory = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    println!("{COUNT} runs through the whole agent in {took:?}; with its fake server {memory}");
    assert!(took < Duration::from_secs(60));
}
