//! The session itself: refusals, goodbyes, renewal, streams, a full disk.

use std::sync::atomic::Ordering;
use std::time::Duration;

use hostler_agent::identity::Identity;
use hostler_agent::local;
use hostler_base::Clock;
use hostler_model::{ExitReason, Generation, ReportState, RunId};
use hostler_proto::v1::{self, agent_message, server_message, stream_open};

use crate::fake::{Agent, Data, FakeServer, FakeSession, Installation, assignment, exit_of, soon};
use crate::support::{is_root, sh, until};

async fn world() -> (Data, Installation, FakeServer) {
    let data = Data::new();
    let installation = Installation::new();
    let server = FakeServer::start(&installation).await;
    installation.join(data.path(), std::slice::from_ref(&server.address));
    (data, installation, server)
}

#[tokio::test]
async fn a_refusal_is_shown_and_an_absent_agent_is_said_to_be_absent() {
    let (data, _installation, mut server) = world().await;
    let absent = local::query(data.path(), &Clock::system()).await;
    assert!(matches!(absent, Err(local::QueryError::NotRunning { .. })));
    let agent = Agent::start(data.path());
    let session = server.greeted().await;
    let refusal = v1::Refusal {
        code: "forbidden".into(),
        detail: "the node was removed".into(),
        retry: false,
    };
    session.say(server_message::Body::Refusal(refusal)).await;
    let status = agent.status_that("the refusal", |s| s.connection_problem.is_some()).await;
    assert!(!status.is_connected);
    assert!(status.connection_problem.unwrap().contains("the node was removed"));
    agent.stop().await.unwrap();
}

#[tokio::test]
async fn a_goodbye_leads_to_another_server_which_is_remembered() {
    let (data, installation, mut server) = world().await;
    let mut other = FakeServer::start(&installation).await;
    let _agent = Agent::start(data.path());
    let mut session = server.greeted().await;
    session.welcome(&[server.address.clone(), other.address.clone()]).await;
    session.desire(0, 1, &[]).await;
    session.applied().await;
    session.say(server_message::Body::Goodbye(v1::Goodbye {})).await;
    let session = other.session().await;
    assert_eq!(session.hello.applied_generation, 1);
    let servers = || Identity::load(data.path()).unwrap().node.servers;
    assert!(servers().contains(&other.address));
}

#[tokio::test]
async fn a_server_of_another_authority_is_not_spoken_to() {
    let data = Data::new();
    let (ours, theirs) = (Installation::new(), Installation::new());
    let mut foreign = FakeServer::start(&theirs).await;
    let mut server = FakeServer::start(&ours).await;
    ours.join(data.path(), &[foreign.address.clone(), server.address.clone()]);
    let _agent = Agent::start(data.path());
    let session = server.session().await;
    assert_eq!(session.hello.applied_generation, 0);
    let nobody = tokio::time::timeout(Duration::from_millis(50), foreign.greeted()).await;
    assert!(nobody.is_err());
}

#[tokio::test]
async fn a_silent_server_is_left() {
    let (data, _installation, mut server) = world().await;
    let _agent = Agent::start(data.path());
    let mut first = server.session().await;
    first.is_silent.store(true, Ordering::Relaxed);
    first.ended().await;
    let second = server.session().await;
    assert!(second.hello.session_epoch > first.hello.session_epoch);
}

#[tokio::test]
async fn a_certificate_is_renewed_in_time_and_used_at_once() {
    let data = Data::new();
    let installation = Installation::new();
    let mut server = FakeServer::start(&installation).await;
    let addresses = std::slice::from_ref(&server.address);
    // What is issued begins a little in the past, so that two thirds of it are over already.
    installation.join_for(data.path(), addresses, Duration::from_secs(60));
    let agent = Agent::start(data.path());
    let mut session = server.session().await;
    let serial = session.serial.clone();
    let request = loop {
        if let agent_message::Body::RenewRequest(request) = session.next().await {
            break request;
        }
    };
    let certificate_pem = installation.sign(&request.csr_pem, Duration::from_hours(24));
    let reply = v1::RenewReply { certificate_pem, error: String::new() };
    session.say(server_message::Body::RenewReply(reply)).await;
    while !matches!(session.next().await, agent_message::Body::Leaving(_)) {}
    // Asked before the server knew.
    let what = Some(stream_open::What::Facts(v1::FactsRequest {}));
    let open = v1::StreamOpen { stream_id: 1, what, window: 1 << 20 };
    session.say(server_message::Body::StreamOpen(open)).await;
    session.say(server_message::Body::Goodbye(v1::Goodbye {})).await;
    loop {
        if let agent_message::Body::StreamEnd(end) = session.next().await {
            assert_eq!((end.stream_id, end.error_code.as_str()), (1, ""));
            break;
        }
    }
    session.ended().await;
    let session = server.session().await;
    assert_ne!(session.serial, serial);
    let stored = Identity::load(data.path()).unwrap().certificate;
    assert_eq!(stored.serial, session.serial);
    let status = agent.status_that("a session", |s| s.is_connected).await;
    assert_eq!(status.certificate_expires, Some(stored.time_expires));
}

struct Output {
    bytes: Vec<u8>,
    cursors: Vec<(usize, String)>,
    end: v1::StreamEnd,
    most_at_once: usize,
}

/// Reads a stream to its end, giving credit for what was read.
async fn read_stream(session: &mut FakeSession, id: u64, request: v1::OutputRequest) -> Output {
    const WINDOW: u32 = 7;
    let open = v1::StreamOpen {
        stream_id: id,
        what: Some(stream_open::What::Output(request)),
        window: WINDOW,
    };
    session.say(server_message::Body::StreamOpen(open)).await;
    let mut output = Output {
        bytes: Vec::new(),
        cursors: Vec::new(),
        end: v1::StreamEnd::default(),
        most_at_once: 0,
    };
    loop {
        match session.next().await {
            agent_message::Body::StreamData(data) if data.stream_id == id => {
                let before = output.bytes.len();
                for frame in data.frames {
                    output.bytes.extend_from_slice(&frame.data);
                    output.cursors.push((output.bytes.len(), frame.cursor));
                }
                let got = output.bytes.len() - before;
                output.most_at_once = output.most_at_once.max(got);
                let credit = v1::StreamCredit { stream_id: id, bytes: u32::try_from(got).unwrap() };
                session.say(server_message::Body::StreamCredit(credit)).await;
            }
            agent_message::Body::StreamEnd(end) if end.stream_id == id => {
                output.end = end;
                return output;
            }
            _ => {}
        }
    }
}

fn output_of(run: RunId) -> v1::OutputRequest {
    v1::OutputRequest { run_id: run.to_string(), ..Default::default() }
}

#[tokio::test]
async fn output_flows_within_a_tiny_window_and_goes_on_from_any_cursor() {
    let (data, _installation, mut server) = world().await;
    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    let script = "printf 'one two three '; sleep 0.2; echo four five; echo six >&2; echo seven";
    let wanted = assignment(1, sh(script));
    session.desire(0, 1, std::slice::from_ref(&wanted)).await;

    let follow = v1::OutputRequest {
        follow: true,
        stream: "stdout".into(),
        ..output_of(wanted.run_id.unwrap())
    };
    session.applied().await;
    let followed = read_stream(&mut session, 1, follow).await;
    let expected = b"one two three four five\nseven\n";
    assert_eq!(followed.bytes, expected);
    assert!(followed.end.complete && followed.end.error_code.is_empty());
    assert!(followed.most_at_once <= 7);

    for (id, (at, cursor)) in followed.cursors.iter().enumerate() {
        let again = v1::OutputRequest {
            cursor: cursor.clone(),
            stream: "stdout".into(),
            ..output_of(wanted.run_id.unwrap())
        };
        let rest = read_stream(&mut session, 100 + id as u64, again).await;
        assert_eq!(rest.bytes, &expected[*at..], "cursor {cursor}");
        assert!(rest.end.complete);
    }

    let tail = v1::OutputRequest {
        tail_lines: Some(1),
        stream: "stdout".into(),
        ..output_of(wanted.run_id.unwrap())
    };
    let tail = read_stream(&mut session, 2, tail).await;
    assert_eq!(tail.bytes, b"seven\n");
    let middle = v1::OutputRequest {
        tail_lines: Some(2),
        stream: "stdout".into(),
        ..output_of(wanted.run_id.unwrap())
    };
    let middle = read_stream(&mut session, 3, middle).await;
    assert_eq!(middle.bytes, expected);
    let errors = v1::OutputRequest { stream: "stderr".into(), ..output_of(wanted.run_id.unwrap()) };
    assert_eq!(read_stream(&mut session, 4, errors).await.bytes, b"six\n");
}

#[tokio::test]
async fn streams_that_cannot_be_say_why_and_cancelled_ones_are_silent() {
    let (data, _installation, mut server) = world().await;
    let _agent = Agent::start(data.path());
    let mut session = server.session().await;
    let unknown = RunId::from_uuid(uuid::Uuid::new_v4());
    let end = read_stream(&mut session, 1, output_of(unknown)).await.end;
    assert_eq!(end.error_code, "not-found");
    let bad = v1::OutputRequest { stream: "stdin".into(), ..output_of(unknown) };
    let end = read_stream(&mut session, 2, bad).await.end;
    assert_eq!(end.error_code, "malformed");

    let wanted = assignment(1, sh("echo much more than the window; sleep 600"));
    session.desire(0, 1, std::slice::from_ref(&wanted)).await;
    session.running(wanted.run_id.unwrap()).await;
    let open = v1::StreamOpen {
        stream_id: 3,
        what: Some(stream_open::What::Output(v1::OutputRequest {
            follow: true,
            ..output_of(wanted.run_id.unwrap())
        })),
        window: 1,
    };
    session.say(server_message::Body::StreamOpen(open)).await;
    let agent_message::Body::StreamData(data) = session.next().await else {
        panic!("no data came");
    };
    assert_eq!(data.frames[0].data, b"m");
    let cancel = v1::StreamCancel { stream_id: 3 };
    session.say(server_message::Body::StreamCancel(cancel)).await;
    let credit = v1::StreamCredit { stream_id: 3, bytes: 100 };
    session.say(server_message::Body::StreamCredit(credit)).await;
    session.desire(1, 2, &[crate::fake::stopped(2, &wanted)]).await;
    loop {
        match session.next().await {
            agent_message::Body::StreamData(_) | agent_message::Body::StreamEnd(_) => {
                panic!("a cancelled stream went on")
            }
            agent_message::Body::Reports(reports)
                if matches!(reports.reports[0].state, Some(v1::report::State::Exited(_))) =>
            {
                break;
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_full_disk_holds_everything_up_and_loses_nothing() {
    if !is_root() {
        println!("skipped: a small file system can only be mounted by root");
        return;
    }
    let small = SmallDisk::mount();
    let installation = Installation::new();
    let mut server = FakeServer::start(&installation).await;
    installation.join(small.path(), std::slice::from_ref(&server.address));
    let agent = Agent::start(small.path());
    let mut session = server.session().await;
    let go = small.path().join("go");
    let waits = format!("while [ ! -e {} ]; do sleep 0.02; done; exit 5", go.display());
    let lives = assignment(1, sh(&waits));
    session.desire(0, 1, std::slice::from_ref(&lives)).await;
    session.running(lives.run_id.unwrap()).await;

    let ballast = small.path().join("ballast");
    small.fill(&ballast);
    // More than fits into what is left of the ledger's last block.
    let mut spec = sh("exit 6");
    spec.env.insert("PADDING".into(), "x".repeat(20_000));
    let blocked = assignment(2, spec);
    session.desire(1, 2, std::slice::from_ref(&blocked)).await;
    let status = agent.status_that("the problem", |s| s.ledger_problem.is_some()).await;
    assert_eq!(status.applied_generation.get(), 1);
    assert!(status.is_connected);
    assert!(!small.path().join("runs").join(blocked.run_id.unwrap().to_string()).exists());

    std::fs::remove_file(&ballast).unwrap();
    assert_eq!(session.applied().await, 2);
    let report = session.exited(blocked.run_id.unwrap()).await;
    assert_eq!(exit_of(&report), (ExitReason::Exited, Some(6)));
    std::fs::write(&go, "").unwrap();
    let report = session.exited(lives.run_id.unwrap()).await;
    assert_eq!(exit_of(&report), (ExitReason::Exited, Some(5)));
    assert!(matches!(report.state, ReportState::Exited { .. }));
    agent.status_that("health", |s| s.ledger_problem.is_none()).await;
    soon("the agent to stop", agent.stop()).await.unwrap();
    until("the disk is free", || small.unmount()).await;
}

/// A file system of two mebibytes.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> SmallDisk {
        let folder = tempfile::tempdir().unwrap();
        rustix::mount::mount(
            "hostler-test",
            folder.path(),
            "tmpfs",
            rustix::mount::MountFlags::empty(),
            Some(c"size=2m"),
        )
        .unwrap();
        SmallDisk(folder)
    }

    fn path(&self) -> &std::path::Path {
        self.0.path()
    }

    fn fill(&self, ballast: &std::path::Path) {
        use std::io::Write;
        let mut file = std::fs::File::create(ballast).unwrap();
        for size in [65536, 4096, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }

    fn unmount(&self) -> bool {
        rustix::mount::unmount(self.path(), rustix::mount::UnmountFlags::empty()).is_ok()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // With space again, shims can write their exits down and go.
        let _ = std::fs::remove_file(self.path().join("ballast"));
        crate::fake::end_runs(self.path());
        let _ = rustix::mount::unmount(self.path(), rustix::mount::UnmountFlags::DETACH);
    }
}

#[tokio::test]
async fn an_agent_that_is_asked_says_everything_it_holds_and_lets_go_of_what_is_unknown() {
    let (data, _installation, mut server) = world().await;
    let agent = Agent::start(data.path());
    let mut session = server.session().await;
    let first = assignment(1, sh("exec sleep 1000"));
    let second = assignment(2, sh("exec sleep 1000"));
    session.desire(0, 2, &[first.clone(), second.clone()]).await;
    let mut awaited = vec![first.run_id.unwrap(), second.run_id.unwrap()];
    while !awaited.is_empty() {
        let report = session.report_that(|report| awaited.contains(&report.run_id)).await;
        session.ack(&report).await;
        awaited.retain(|run| *run != report.run_id);
    }
    session.say(server_message::Body::Goodbye(v1::Goodbye {})).await;

    // Everything is acknowledged; a database that was put back knows only the first.
    let mut session = server.greeted().await;
    assert!(session.hello.tells_holdings);
    let welcome = v1::Welcome {
        server_id: "a-server".into(),
        heartbeat_interval_ms: 200,
        node_name: "alpha".into(),
        asks_holdings: true,
        ..v1::Welcome::default()
    };
    session.say(server_message::Body::Welcome(welcome)).await;
    let held = loop {
        if let agent_message::Body::Holdings(held) = session.next().await {
            break held;
        }
    };
    let mut expected: Vec<String> =
        [&first, &second].map(|one| one.run_id.unwrap().to_string()).to_vec();
    expected.sort();
    let mut told = held.run_ids.clone();
    told.sort();
    assert_eq!(told, expected);
    assert_eq!((held.reports.len(), held.more), (2, false));
    let gone = second.run_id.unwrap();
    session.ack_as(gone, Generation::ZERO, true).await;
    agent.status_that("only the first runs", |status| status.runs_active == 1).await;
    agent.stop().await.unwrap();
}
