//! What answers to health checks mean, and other signs that a run is not well.
//!
//! Four folds. [`CheckState`] turns the answers to one check into a verdict by its thresholds.
//! [`RunHealth`] joins the checks of a run: it is healthy when all of them are, unhealthy as soon as
//! one is, and unknown before; once known it is never unknown again, so a run that was ill stays ill
//! until every check is good. [`MemoryWatch`] warns before memory runs out, and [`CrashLoop`] notices
//! a program that fails again and again.
//!
//! Every change is told exactly once: the caller acts on what a fold returns and need not compare.
//! Bad answers are forgiven while a run is young (the start period) until the first good one, because
//! a program that has worked once is no longer starting.
//!
//! The folds live in memory. After a crash of the agent [`RunHealth::resume`] takes up what the ledger
//! says of the run: a healthy one stays so unless the thresholds say otherwise anew, and an ill one
//! has its bad answers counted from the beginning, so that what was to follow from them does follow.

use std::time::Duration;

use hostler_model::{Bytes, Check, Health, HealthCheck, RestartPolicy};

/// The most that is kept of what a check complained about, in bytes.
pub const COMPLAINT_MAX: usize = 500;

/// What a check said once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Good,
    /// With what is wrong, for people.
    Bad(String),
}

/// How one check of a run stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckState {
    health: Option<Health>,
    good_in_a_row: u32,
    bad_in_a_row: u32,
    has_been_good: bool,
    complaint: Option<String>,
}

impl CheckState {
    /// Takes an answer that came when the run was this old; tells when the check changes sides.
    pub fn answer(&mut self, check: &HealthCheck, age: Duration, answer: Answer) -> Option<Health> {
        let (health, is_enough) = match answer {
            Answer::Good => {
                self.has_been_good = true;
                self.bad_in_a_row = 0;
                self.good_in_a_row = self.good_in_a_row.saturating_add(1);
                (Health::Healthy, self.good_in_a_row >= check.healthy_after)
            }
            Answer::Bad(why) => {
                self.complaint = Some(complaint(&why));
                if !self.has_been_good && age < check.start_period.duration() {
                    return None;
                }
                self.good_in_a_row = 0;
                self.bad_in_a_row = self.bad_in_a_row.saturating_add(1);
                (Health::Unhealthy, self.bad_in_a_row >= check.unhealthy_after)
            }
        };
        (is_enough && self.health != Some(health)).then(|| *self.health.insert(health))
    }

    /// `None` before there were enough answers.
    pub fn health(&self) -> Option<Health> {
        self.health
    }

    /// What the last bad answer said; kept when good ones follow.
    pub fn complaint(&self) -> Option<&str> {
        self.complaint.as_deref()
    }
}

/// One line of at most [`COMPLAINT_MAX`] bytes.
fn complaint(why: &str) -> String {
    let line: String = why.trim().replace(|c: char| c.is_control(), " ");
    let end = line.floor_char_boundary(COMPLAINT_MAX);
    line[..end].to_owned()
}

/// What is new about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// All its checks are good.
    Healthy,
    /// The check of this number turned bad; others may have been before.
    Unhealthy { check: usize },
}

/// How a run stands by all its checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHealth {
    checks: Vec<CheckState>,
    health: Option<Health>,
}

impl RunHealth {
    /// A run with this many checks that has just begun.
    pub fn new(checks: usize) -> RunHealth {
        RunHealth { checks: vec![CheckState::default(); checks], health: None }
    }

    /// A run that goes on, with what was last known of it.
    pub fn resume(checks: usize, before: Option<Health>) -> RunHealth {
        let mut run = RunHealth { health: before, ..RunHealth::new(checks) };
        if before == Some(Health::Healthy) {
            for check in &mut run.checks {
                check.health = before;
                check.has_been_good = true;
            }
        }
        run
    }

    /// Takes an answer to the check of this number. Tells when the run becomes healthy, and of every
    /// check that turns bad, as each has consequences of its own.
    pub fn answer(
        &mut self,
        number: usize,
        check: &HealthCheck,
        age: Duration,
        answer: Answer,
    ) -> Option<Change> {
        match self.checks.get_mut(number)?.answer(check, age, answer)? {
            Health::Unhealthy => {
                self.health = Some(Health::Unhealthy);
                Some(Change::Unhealthy { check: number })
            }
            Health::Healthy => {
                let are_all = self.checks.iter().all(|c| c.health == Some(Health::Healthy));
                let is_news = are_all && self.health != Some(Health::Healthy);
                is_news.then(|| {
                    self.health = Some(Health::Healthy);
                    Change::Healthy
                })
            }
        }
    }

    /// `None` before it is known.
    pub fn health(&self) -> Option<Health> {
        self.health
    }

    /// Each check, in the order of the spec.
    pub fn checks(&self) -> &[CheckState] {
        &self.checks
    }
}

/// A check in few words, for people: `http 127.0.0.1:8080/ready`.
pub fn describe(check: &Check) -> String {
    match check {
        Check::Process => "process".to_owned(),
        Check::Tcp(tcp) => format!("tcp {}", authority(&tcp.host, tcp.port)),
        Check::Http(http) => format!("http {}{}", authority(&http.host, http.port), http.path),
        Check::Exec(command) => format!("exec {}", command.first().map_or("", String::as_str)),
        Check::Log(pattern) => format!("log {pattern}"),
    }
}

/// Host and port as URLs write them: an IPv6 address in brackets.
pub fn authority(host: &str, port: u16) -> String {
    if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// Memory use against its limit, with room between warning and all-clear so that neither repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryWatch {
    is_high: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryEvent {
    /// At or above [`MemoryWatch::HIGH`] per cent of the limit.
    High { percent: u32 },
    /// Back below [`MemoryWatch::NORMAL`] per cent.
    Normal,
}

impl MemoryWatch {
    pub const HIGH: u32 = 90;
    pub const NORMAL: u32 = 80;

    /// Takes a measurement; a limit of zero is none, and nothing is high without one.
    pub fn sample(&mut self, used: Bytes, limit: Bytes) -> Option<MemoryEvent> {
        let percent = match u128::from(limit.get()) {
            0 => 0,
            limit => u32::try_from(u128::from(used.get()) * 100 / limit).unwrap_or(u32::MAX),
        };
        match self.is_high {
            false if percent >= Self::HIGH => {
                self.is_high = true;
                Some(MemoryEvent::High { percent })
            }
            true if percent < Self::NORMAL => {
                self.is_high = false;
                Some(MemoryEvent::Normal)
            }
            _ => None,
        }
    }

    pub fn is_high(&self) -> bool {
        self.is_high
    }
}

/// Notices a program that fails again and again, soon after it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashLoop {
    reset_after: Duration,
    failures: u32,
}

impl CrashLoop {
    /// So many quick failures in a row are a loop.
    pub const FAILURES: u32 = 3;

    pub fn new(policy: &RestartPolicy) -> CrashLoop {
        CrashLoop { reset_after: policy.reset_after.duration(), failures: 0 }
    }

    /// Takes the end of a run; tells whether this is a loop. A run that went well, or lasted as long as
    /// the policy asks for, ends one.
    pub fn ended(&mut self, lasted: Duration, ok: bool) -> bool {
        let is_quick_failure = !ok && lasted < self.reset_after;
        self.failures = if is_quick_failure { self.failures.saturating_add(1) } else { 0 };
        self.is_looping()
    }

    pub fn is_looping(&self) -> bool {
        self.failures >= Self::FAILURES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{HttpCheck, Span, TcpCheck};
    use proptest::prelude::*;

    fn check(start_period: u64, healthy_after: u32, unhealthy_after: u32) -> HealthCheck {
        HealthCheck {
            start_period: Span::from_secs(start_period),
            healthy_after,
            unhealthy_after,
            ..HealthCheck::new(Check::Process)
        }
    }

    fn bad() -> Answer {
        Answer::Bad("refused".to_owned())
    }

    /// Plays `+` and `-`, one a second, and writes what was told: `H`, `U` or `.`.
    fn play(check: &HealthCheck, answers: &str) -> String {
        let mut state = CheckState::default();
        let told = answers.bytes().enumerate().map(|(second, sign)| {
            let answer = if sign == b'+' { Answer::Good } else { bad() };
            let age = Duration::from_secs(u64::try_from(second).unwrap());
            match state.answer(check, age, answer) {
                Some(Health::Healthy) => 'H',
                Some(Health::Unhealthy) => 'U',
                None => '.',
            }
        });
        told.collect()
    }

    #[test]
    fn thresholds_and_start_period() {
        let cases = [
            // start period, healthy after, unhealthy after, answers, told
            (0, 1, 3, "+", "H"),
            (0, 1, 3, "++++", "H..."),
            (0, 1, 3, "-----+", "..U..H"),
            (0, 1, 3, "--+--+", "..H..."),
            (0, 1, 3, "+--+---+", "H.....UH"),
            (0, 2, 2, "+-++--++", "...H.U.H"),
            (0, 3, 1, "++-+++", "..U..H"),
            (0, 1, 1, "+-+-", "HUHU"),
            (5, 1, 2, "------", "......"),
            (5, 1, 2, "-------", "......U"),
            (5, 1, 2, "-+--", ".H.U"),
            (5, 2, 2, "+--", "..U"),
            (0, 0, 0, "+-", "HU"),
        ];
        for (start, good, ill, answers, told) in cases {
            assert_eq!(
                play(&check(start, good, ill), answers),
                told,
                "start period {start}, {good} good, {ill} bad: {answers}"
            );
        }
    }

    #[test]
    fn the_last_complaint_is_kept_short_and_on_one_line() {
        let mut state = CheckState::default();
        let check = check(60, 1, 3);
        state.answer(&check, Duration::ZERO, Answer::Bad("in the\nstart period\n".to_owned()));
        assert_eq!(state.complaint(), Some("in the start period"));
        state.answer(&check, Duration::ZERO, Answer::Bad("ü".repeat(400)));
        assert_eq!(state.complaint().unwrap().len(), COMPLAINT_MAX);
        state.answer(&check, Duration::ZERO, Answer::Bad(format!("x{}", "ü".repeat(400))));
        assert_eq!(state.complaint().unwrap().len(), COMPLAINT_MAX - 1);
        state.answer(&check, Duration::ZERO, Answer::Good);
        assert!(state.complaint().is_some());
    }

    #[test]
    fn a_run_is_what_its_checks_are() {
        let one = check(0, 1, 1);
        let mut run = RunHealth::new(2);
        let mut say = |number, answer| run.answer(number, &one, Duration::ZERO, answer);
        assert_eq!(say(0, Answer::Good), None);
        assert_eq!(say(1, Answer::Good), Some(Change::Healthy));
        assert_eq!(say(0, bad()), Some(Change::Unhealthy { check: 0 }));
        assert_eq!(say(1, bad()), Some(Change::Unhealthy { check: 1 }));
        assert_eq!(say(0, Answer::Good), None);
        assert_eq!(say(1, Answer::Good), Some(Change::Healthy));
        assert_eq!(say(7, Answer::Good), None);
    }

    #[test]
    fn an_ill_run_stays_ill_until_every_check_has_spoken() {
        let one = check(0, 1, 1);
        let mut run = RunHealth::new(2);
        run.answer(0, &one, Duration::ZERO, bad());
        assert_eq!(run.answer(0, &one, Duration::ZERO, Answer::Good), None);
        assert_eq!(run.health(), Some(Health::Unhealthy));
        assert_eq!(run.answer(1, &one, Duration::ZERO, Answer::Good), Some(Change::Healthy));
    }

    #[test]
    fn what_the_ledger_knew_is_not_told_again() {
        let three = check(100, 1, 3);
        let mut well = RunHealth::resume(1, Some(Health::Healthy));
        assert_eq!(well.answer(0, &three, Duration::ZERO, Answer::Good), None);
        let mut failing = RunHealth::resume(1, Some(Health::Healthy));
        assert_eq!(failing.answer(0, &three, Duration::ZERO, bad()), None);
        assert_eq!(failing.answer(0, &three, Duration::ZERO, bad()), None);
        let told = failing.answer(0, &three, Duration::ZERO, bad());
        assert_eq!(told, Some(Change::Unhealthy { check: 0 }));
        let mut ill = RunHealth::resume(1, Some(Health::Unhealthy));
        assert_eq!(ill.health(), Some(Health::Unhealthy));
        assert_eq!(ill.answer(0, &three, Duration::ZERO, Answer::Good), Some(Change::Healthy));
        let mut still = RunHealth::resume(1, Some(Health::Unhealthy));
        let told = still.answer(0, &check(0, 1, 1), Duration::ZERO, bad());
        assert_eq!(told, Some(Change::Unhealthy { check: 0 }));
    }

    #[test]
    fn memory_is_told_of_once_each_way() {
        let mut watch = MemoryWatch::default();
        let told = [89, 90, 99, 89, 80, 79, 85, 100, 10].map(|used| {
            let event = watch.sample(Bytes::new(used), Bytes::new(100));
            (used, event)
        });
        let told: Vec<_> = told.into_iter().filter(|(_, event)| event.is_some()).collect();
        assert_eq!(
            told,
            [
                (90, Some(MemoryEvent::High { percent: 90 })),
                (79, Some(MemoryEvent::Normal)),
                (100, Some(MemoryEvent::High { percent: 100 })),
                (10, Some(MemoryEvent::Normal)),
            ]
        );
        assert_eq!(watch.sample(Bytes::new(u64::MAX), Bytes::ZERO), None);
        let most = watch.sample(Bytes::new(u64::MAX), Bytes::new(1));
        assert_eq!(most, Some(MemoryEvent::High { percent: u32::MAX }));
        assert_eq!(watch.sample(Bytes::new(u64::MAX), Bytes::ZERO), Some(MemoryEvent::Normal));
    }

    #[test]
    fn three_quick_failures_are_a_loop() {
        let cases: [(&[(u64, bool)], bool); 6] = [
            (&[(1, false), (1, false)], false),
            (&[(1, false), (1, false), (59, false)], true),
            (&[(1, false), (1, false), (60, false)], false),
            (&[(1, false), (1, true), (1, false), (1, false)], false),
            (&[(1, true), (1, true), (1, true)], false),
            (&[(1, false), (1, false), (1, false), (100, false)], false),
        ];
        for (ends, is_loop) in cases {
            let mut crash = CrashLoop::new(&RestartPolicy::default());
            let mut told = false;
            for (seconds, ok) in ends {
                told = crash.ended(Duration::from_secs(*seconds), *ok);
            }
            assert_eq!(told, is_loop, "{ends:?}");
            assert_eq!(crash.is_looping(), is_loop);
        }
    }

    #[test]
    fn checks_are_described_in_few_words() {
        let tcp = |host: &str| Check::Tcp(TcpCheck { host: host.to_owned(), port: 80 });
        let http = HttpCheck {
            host: "::1".to_owned(),
            port: 8080,
            path: "/ready".to_owned(),
            status: vec![],
        };
        let cases = [
            (Check::Process, "process"),
            (tcp("127.0.0.1"), "tcp 127.0.0.1:80"),
            (tcp("::1"), "tcp [::1]:80"),
            (tcp("[::1]"), "tcp [::1]:80"),
            (Check::Http(http), "http [::1]:8080/ready"),
            (Check::Exec(vec!["pg_isready".into(), "-q".into()]), "exec pg_isready"),
            (Check::Log("ready to".into()), "log ready to"),
        ];
        for (check, words) in cases {
            assert_eq!(describe(&check), words);
        }
    }

    proptest! {
        /// Told changes alternate, each is earned by its threshold, and what was told last is how it
        /// stands.
        #[test]
        fn verdicts_alternate_and_are_earned(
            start in 0_u64..20,
            good in 1_u32..4,
            ill in 1_u32..4,
            answers in "[+-]{0,60}",
        ) {
            let told = play(&check(start, good, ill), &answers);
            let verdicts: String = told.replace('.', "");
            prop_assert!(!verdicts.contains("HH") && !verdicts.contains("UU"));
            for (at, verdict) in told.char_indices().filter(|(_, told)| *told != '.') {
                let (sign, count) = if verdict == 'H' { ('+', good) } else { ('-', ill) };
                let row = answers[..=at].chars().rev().take_while(|c| *c == sign).count();
                prop_assert!(row >= usize::try_from(count).unwrap());
            }
            if !answers.contains('+') {
                let counted = answers.len().saturating_sub(usize::try_from(start).unwrap());
                prop_assert_eq!(verdicts.contains('U'), counted >= usize::try_from(ill).unwrap());
            }
        }

        /// The run's health always follows from its checks, and only real changes are told.
        #[test]
        fn a_run_follows_its_checks(
            answers in prop::collection::vec((0_usize..3, any::<bool>()), 0..80),
        ) {
            let checks = [check(0, 1, 2), check(0, 2, 1), check(3, 1, 1)];
            let mut run = RunHealth::new(checks.len());
            for (second, (number, is_good)) in answers.into_iter().enumerate() {
                let before = run.health();
                let answer = if is_good { Answer::Good } else { bad() };
                let age = Duration::from_secs(u64::try_from(second).unwrap());
                let told = run.answer(number, &checks[number], age, answer);
                let any_ill = run.checks().iter().any(|c| c.health() == Some(Health::Unhealthy));
                let all_well = run.checks().iter().all(|c| c.health() == Some(Health::Healthy));
                prop_assert!(!any_ill || run.health() == Some(Health::Unhealthy));
                prop_assert_eq!(run.health() == Some(Health::Healthy), all_well);
                match told {
                    Some(Change::Healthy) => prop_assert!(
                        before != Some(Health::Healthy) && run.health() == Some(Health::Healthy)
                    ),
                    Some(Change::Unhealthy { .. }) => {
                        prop_assert_eq!(run.health(), Some(Health::Unhealthy));
                    }
                    None => prop_assert_eq!(run.health(), before),
                }
            }
        }

        #[test]
        fn memory_events_alternate(samples in prop::collection::vec(0_u64..150, 0..100)) {
            let mut watch = MemoryWatch::default();
            let mut is_high = false;
            for used in samples {
                match watch.sample(Bytes::new(used), Bytes::new(100)) {
                    Some(MemoryEvent::High { percent }) => {
                        prop_assert!(!is_high && percent >= 90);
                        is_high = true;
                    }
                    Some(MemoryEvent::Normal) => {
                        prop_assert!(is_high && used < 80);
                        is_high = false;
                    }
                    None => prop_assert!(is_high || used < 90),
                }
                prop_assert_eq!(watch.is_high(), is_high);
            }
        }
    }
}
