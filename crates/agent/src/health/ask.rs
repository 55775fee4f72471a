//! One check of one run: its timetable, and one question at a time.
//!
//! An [`Asker`] goes into the future that waits for its next question and comes out again with the
//! answer, so that two questions of one check cannot be under way together.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hostler_base::Clock;
use hostler_engine::health::Answer;
use hostler_model::{Check, HealthCheck, HttpCheck, RunId, Span};

use super::log::Pattern;
use super::net::{self, Target};
use super::{Beside, Checker, ExecEnd, Subject, process};

/// The first question is put off by less than this, and less than this part of the interval.
const SPREAD: Duration = Duration::from_secs(1);
const SPREAD_PART: u32 = 10;

/// The questions of one check.
pub(super) struct Asker {
    clock: Clock,
    subject: Arc<Subject>,
    number: usize,
    check: HealthCheck,
    means: Means,
    due: Duration,
}

/// What a kind of check needs.
enum Means {
    Process,
    Tcp(Target),
    Http(Target, HttpCheck),
    Exec(Arc<dyn Beside>, Vec<String>),
    Log(Pattern),
}

/// An answer, and whom to ask again.
pub(super) struct Round {
    pub asker: Asker,
    pub answer: Answer,
}

impl Asker {
    pub fn new(
        checker: &Checker,
        subject: Arc<Subject>,
        number: usize,
        check: HealthCheck,
    ) -> Asker {
        let means = match &check.check {
            Check::Process => Means::Process,
            Check::Tcp(tcp) => Means::Tcp(Target::new(&tcp.host, tcp.port)),
            Check::Http(http) => Means::Http(Target::new(&http.host, http.port), http.clone()),
            Check::Exec(argv) => Means::Exec(checker.beside.clone(), argv.clone()),
            Check::Log(pattern) => {
                Means::Log(Pattern::new(pattern, checker.lines.clone(), &subject))
            }
        };
        let phase = phase(subject.run, number, check.interval.duration());
        let due = checker.clock.instant().saturating_add(phase);
        Asker { clock: checker.clock.clone(), subject, number, check, means, due }
    }

    pub fn number(&self) -> usize {
        self.number
    }

    pub fn check(&self) -> &HealthCheck {
        &self.check
    }

    /// Whether no further question can have a bad answer.
    pub fn is_good_for_ever(&self) -> bool {
        matches!(&self.means, Means::Log(pattern) if pattern.has_matched())
    }

    /// Waits for the next question, asks it, and comes back with the answer.
    pub fn next(mut self) -> BoxFuture<'static, Round> {
        Box::pin(async move {
            let wait = self.clock.sleep(self.due.saturating_sub(self.clock.instant()));
            match &mut self.means {
                Means::Log(pattern) if !pattern.has_matched() => pattern.watch_until(wait).await,
                _ => wait.await,
            }
            let timeout = self.check.timeout;
            let question = self.means.question(&self.subject, timeout);
            let answer = match self.clock.timeout(timeout.duration(), question).await {
                Ok(Ok(())) => Answer::Good,
                Ok(Err(why)) => Answer::Bad(why),
                Err(_) => Answer::Bad(no_answer(timeout)),
            };
            if let Means::Http(target, _) = &mut self.means {
                target.hang_up(&self.clock).await;
            }
            self.due = next_due(self.due, self.check.interval.duration(), self.clock.instant());
            Round { asker: self, answer }
        })
    }
}

impl Means {
    async fn question(&mut self, subject: &Subject, timeout: Span) -> Result<(), String> {
        match self {
            Means::Process => process::look(subject),
            Means::Tcp(target) => target.connect().await.map(drop),
            Means::Http(target, check) => net::get(target, check).await,
            Means::Exec(beside, argv) => {
                judge(&beside.run(subject.run, argv, timeout.duration()).await?, timeout)
            }
            Means::Log(pattern) => pattern.answer(),
        }
    }
}

fn no_answer(timeout: Span) -> String {
    format!("no answer within {timeout}")
}

fn judge(end: &ExecEnd, timeout: Span) -> Result<(), String> {
    let how = match (end.is_timed_out, end.code, end.signal) {
        (true, ..) => no_answer(timeout),
        (false, Some(0), _) => return Ok(()),
        (false, Some(code), _) => format!("exit code {code}"),
        (false, None, Some(signal)) => format!("killed by signal {signal}"),
        (false, None, None) => "it ended in an unknown way".to_owned(),
    };
    let said = end.output.trim();
    Err(if said.is_empty() { how } else { format!("{how}: {said}") })
}

/// How long after the beginning of a watch a check is asked first.
fn phase(run: RunId, number: usize, interval: Duration) -> Duration {
    let most = (interval / SPREAD_PART).min(SPREAD).as_micros();
    let (high, low) = run.uuid().as_u64_pair();
    let number = u64::try_from(number).unwrap_or(u64::MAX);
    let mixed = splitmix(high ^ splitmix(low ^ splitmix(number)));
    Duration::from_micros(mixed % u64::try_from(most).unwrap_or(u64::MAX).max(1))
}

/// Spreads numbers that are close together far apart.
const fn splitmix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The next time on the timetable that has not passed.
fn next_due(due: Duration, interval: Duration, now: Duration) -> Duration {
    let interval = interval.max(Duration::from_millis(1));
    let next = due.saturating_add(interval);
    if next >= now {
        return next;
    }
    let missed = (now - due).as_nanos() / interval.as_nanos();
    let missed = u32::try_from(missed).unwrap_or(u32::MAX);
    due.saturating_add(interval.saturating_mul(missed)).saturating_add(interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn first_questions_are_spread_and_always_the_same() {
        let runs = (0..300).map(|n| RunId::from_uuid(Uuid::from_u128(0x0192_f3c4 << 96 | n)));
        let phases = |interval| {
            let each = runs.clone().map(move |run| phase(run, 0, Duration::from_millis(interval)));
            each.collect::<Vec<_>>()
        };
        let first = phases(10_000);
        assert_eq!(first, phases(10_000));
        assert!(first.iter().all(|phase| *phase < Duration::from_secs(1)));
        for tenth in 0..10_u128 {
            let among = first.iter().filter(|phase| phase.as_millis() / 100 == tenth).count();
            assert!((10..=60).contains(&among), "{among} of 300 in one tenth");
        }
        assert!(phases(100).iter().all(|phase| *phase < Duration::from_millis(10)));
        assert!(phases(3_600_000).iter().all(|phase| *phase < Duration::from_secs(1)));
        let run = RunId::from_uuid(Uuid::from_u128(1));
        let interval = Duration::from_secs(10);
        assert_ne!(phase(run, 0, interval), phase(run, 1, interval));
    }

    #[test]
    fn times_that_passed_are_left_out() {
        let cases = [
            // due, interval, now, next
            (1, 10, 1, 11),
            (1, 10, 5, 11),
            (1, 10, 11, 11),
            (1, 10, 12, 21),
            (1, 10, 95, 101),
            (0, 0, 5, 6),
        ];
        for (due, interval, now, next) in cases {
            let [due, interval, now, next] = [due, interval, now, next].map(Duration::from_millis);
            assert_eq!(next_due(due, interval, now), next, "{due:?} {interval:?} {now:?}");
        }
    }

    #[test]
    fn ends_of_commands_are_judged() {
        let end = |code, signal, is_timed_out, output: &str| ExecEnd {
            code,
            signal,
            is_timed_out,
            output: output.to_owned(),
        };
        let bad = |why: &str| Err(why.to_owned());
        let cases = [
            (end(Some(0), None, false, "fine"), Ok(())),
            (end(Some(2), None, false, ""), bad("exit code 2")),
            (end(Some(1), None, false, "no db\n"), bad("exit code 1: no db")),
            (end(None, Some(9), false, ""), bad("killed by signal 9")),
            (end(None, Some(9), true, ""), bad("no answer within 2s")),
            (end(None, None, false, ""), bad("it ended in an unknown way")),
        ];
        for (end, judged) in cases {
            assert_eq!(judge(&end, Span::from_secs(2)), judged, "{end:?}");
        }
    }
}
