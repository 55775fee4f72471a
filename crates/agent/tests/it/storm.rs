//! Programs that die at once, on a clock that the test moves: half a minute of it makes only as many
//! processes as their policies and the node's budget allow, each of them real.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use hostler_agent::door::view::WorkloadView;
use hostler_agent::local::{self, Answer, Question};
use hostler_agent::{AgentConfig, Standalone};
use hostler_base::Clock;
use hostler_base::clock::ManualClock;
use hostler_model::{Phase, Timestamp};

use crate::fake::{Agent, Data, agent_config};
use crate::support::DEADLINE;

const LENGTH: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(50);
/// What the node allows besides first starts: so many at once, and so many a second.
const BUDGET: u64 = 250 + 25 * 30;
const CROWD: usize = 20;

async fn list(data: &Path) -> BTreeMap<String, WorkloadView> {
    let answers = local::ask(data, &Question::List, &Clock::system()).await;
    match answers {
        Ok(answers) => match answers.only().await {
            Ok(Answer::List(all)) => all.into_iter().map(|w| (w.name.to_string(), w)).collect(),
            _ => BTreeMap::new(),
        },
        Err(_) => BTreeMap::new(),
    }
}

/// Waits until every workload has ended and is left alone for now.
async fn at_rest(data: &Path, count: usize) -> BTreeMap<String, WorkloadView> {
    let look = async {
        loop {
            let all = list(data).await;
            let rests = |w: &WorkloadView| matches!(w.status.phase, Phase::Backoff | Phase::Failed);
            if all.len() == count && all.values().all(rests) {
                return all;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(DEADLINE, look).await.expect("they come to rest")
}

fn workload(name: &str, place: &Path, restart: &str) -> String {
    format!(
        "- {{name: {name}, mode: forever, command: [sh, -c, 'echo $HOSTLER_RUN >> {}/{name}; exit 1'], restart: {restart}}}\n",
        place.display()
    )
}

/// Runs them for as long as the clock is moved; how often each was started.
async fn starts(workloads: &[(String, &str)]) -> BTreeMap<String, (u64, Phase)> {
    let data = Data::new();
    let [files, place] = ["files", "place"].map(|name| data.path().join(name));
    for dir in [&files, &place] {
        std::fs::create_dir(dir).unwrap();
    }
    let each: String =
        workloads.iter().map(|(name, restart)| workload(name, &place, restart)).collect();
    std::fs::write(files.join("all.yaml"), format!("workloads:\n{each}")).unwrap();
    let home = data.path().join("data");
    let config = AgentConfig {
        standalone: Some(Standalone::new(&files, None).unwrap()),
        ..agent_config(&home)
    };
    let hands = ManualClock::new(Timestamp::from_micros(1_790_000_000_000_000));
    let agent = Agent::start_at(config, hands.clock());
    let mut all = at_rest(&home, workloads.len()).await;
    let mut passed = Duration::ZERO;
    while passed < LENGTH {
        hands.advance(STEP);
        passed += STEP;
        all = at_rest(&home, workloads.len()).await;
    }
    let noted = |name: &str| {
        let text = std::fs::read_to_string(place.join(name)).unwrap_or_default();
        text.lines().count() as u64
    };
    // A run begins before the agent says so.
    let settled = async {
        while all.iter().any(|(name, view)| noted(name) != view.launched) {
            all = at_rest(&home, workloads.len()).await;
        }
    };
    tokio::time::timeout(DEADLINE, settled)
        .await
        .expect("every start is told of, and told of once");
    agent.kill();
    all.iter().map(|(name, view)| (name.clone(), (view.launched, view.status.phase))).collect()
}

#[tokio::test]
async fn restarts_are_bounded_by_the_policy() {
    let policies = [
        ("usual".to_owned(), "{jitter: 0}"),
        ("at-once".to_owned(), "{delay: 0s, jitter: 0}"),
        ("steady".to_owned(), "{delay: 2s, factor: 1, jitter: 0}"),
        ("capped".to_owned(), "{delay: 1s, maxDelay: 4s, jitter: 0}"),
        ("gives-up".to_owned(), "{delay: 100ms, factor: 1, attempts: 3, window: 1m, jitter: 0}"),
    ];
    let made = starts(&policies).await;
    println!("{made:?}");
    // The waits: 1 2 4 8; 0 .2 .4 .8 1.6 3.2 6.4 12.8; 2 2 ..; 1 2 4 4 ..; three and no more.
    // Most is exact; least is not, because the clock may be moved again before the agent has woken.
    for (name, least, most) in [
        ("usual", 3, 5),
        ("at-once", 4, 9),
        ("steady", 4, 16),
        ("capped", 4, 9),
        ("gives-up", 4, 4),
    ] {
        let (count, _) = made[name];
        assert!((least..=most).contains(&count), "{name} was started {count} times");
    }
    for (name, (_, phase)) in &made {
        let expected = if name == "gives-up" { Phase::Failed } else { Phase::Backoff };
        assert_eq!(*phase, expected, "{name}: what is not given up goes on waiting");
    }
}

#[tokio::test]
async fn a_crowd_that_keeps_failing_is_bounded_by_the_nodes_budget() {
    let restless = "{delay: 0s, factor: 1, maxDelay: 100ms, jitter: 0}";
    let crowd: Vec<(String, &str)> = (0..CROWD).map(|n| (format!("w{n}"), restless)).collect();
    let made = starts(&crowd).await;
    let all: u64 = made.values().map(|(count, _)| count).sum();
    println!("{all} starts of {CROWD} programs that wanted 300 each");
    assert!(all <= BUDGET + CROWD as u64, "{all}");
    assert!(made.values().all(|(count, _)| *count >= 5), "each has its share: {made:?}");
}
