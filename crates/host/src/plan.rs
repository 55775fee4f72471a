//! The one way anything is done: look, decide, and only then do it.
//!
//! A primitive reads the machine and returns a [`Plan`]: what would be different, in words and as a
//! diff, and the steps that make it so. A check shows the plan and throws it away; applying performs it.
//! There is no second code path that could tell a check something else. A plan without steps is what
//! "already so" means.

use std::fmt;
use std::future::Future;

use crate::call::Call;
use crate::outcome::{Change, Outcome};
use crate::{Host, HostError};

const OUTPUT_MAX: usize = 64 << 10;

type FileStep = Box<dyn FnOnce() -> Result<(), HostError> + Send>;

enum Step {
    Run(Call),
    Files(FileStep),
}

/// What would be done. See the module.
#[must_use = "a plan does nothing until it is performed"]
pub struct Plan {
    message: String,
    diff: Vec<Change>,
    steps: Vec<Step>,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("message", &self.message)
            .field("diff", &self.diff)
            .field("steps", &self.steps.len())
            .finish()
    }
}

impl Plan {
    /// One that does nothing, and says so.
    pub fn new(message: impl Into<String>) -> Plan {
        Plan { message: message.into(), diff: Vec::new(), steps: Vec::new() }
    }

    pub(crate) fn change(mut self, change: Change) -> Plan {
        self.diff.push(change);
        self
    }

    pub(crate) fn changes(mut self, changes: impl IntoIterator<Item = Change>) -> Plan {
        self.diff.extend(changes);
        self
    }

    pub(crate) fn run(mut self, call: Call) -> Plan {
        self.steps.push(Step::Run(call));
        self
    }

    pub(crate) fn runs(mut self, calls: impl IntoIterator<Item = Call>) -> Plan {
        self.steps.extend(calls.into_iter().map(Step::Run));
        self
    }

    pub(crate) fn files(
        mut self,
        step: impl FnOnce() -> Result<(), HostError> + Send + 'static,
    ) -> Plan {
        self.steps.push(Step::Files(Box::new(step)));
        self
    }

    /// This plan, and then the other; the message is the other's where only that changes something.
    pub fn then(mut self, other: Plan) -> Plan {
        if self.steps.is_empty() {
            self.message = other.message;
        } else if !other.steps.is_empty() {
            self.message = format!("{}; {}", self.message, other.message);
        }
        self.diff.extend(other.diff);
        self.steps.extend(other.steps);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What would be done, for whoever only wanted to know.
    pub fn outcome(&self) -> Outcome {
        let message = match self.steps.is_empty() {
            true => self.message.clone(),
            false => format!("to be done: {}", self.message),
        };
        Outcome {
            changed: !self.steps.is_empty(),
            message,
            diff: self.diff.clone(),
            output: String::new(),
        }
    }

    /// Does it, step by step, until one fails.
    pub async fn perform(self, host: &Host) -> Result<Outcome, HostError> {
        let mut outcome = Outcome { message: self.message.clone(), ..self.outcome() };
        for step in self.steps {
            match step {
                Step::Files(step) => blocking(step).await?,
                Step::Run(call) => {
                    let said = host.run(call).await?.text();
                    let room = OUTPUT_MAX - outcome.output.len();
                    outcome.output.extend(
                        said.char_indices()
                            .map_while(|(at, c)| (at + c.len_utf8() <= room).then_some(c)),
                    );
                }
            }
        }
        Ok(outcome)
    }
}

/// Something that can be there or not, and is brought to be so.
pub trait Primitive: Sync {
    /// What is missing for it to be as described.
    fn present(&self, host: &Host) -> impl Future<Output = Result<Plan, HostError>> + Send;

    /// What is left of it to be taken away.
    fn absent(&self, host: &Host) -> impl Future<Output = Result<Plan, HostError>> + Send;

    /// Says what [`Primitive::apply`] would do, and does nothing.
    fn check(&self, host: &Host) -> impl Future<Output = Result<Outcome, HostError>> + Send {
        async move { Ok(self.present(host).await?.outcome()) }
    }

    /// Says what [`Primitive::remove`] would do, and does nothing.
    fn check_remove(&self, host: &Host) -> impl Future<Output = Result<Outcome, HostError>> + Send {
        async move { Ok(self.absent(host).await?.outcome()) }
    }

    fn apply(&self, host: &Host) -> impl Future<Output = Result<Outcome, HostError>> + Send {
        async move { self.present(host).await?.perform(host).await }
    }

    fn remove(&self, host: &Host) -> impl Future<Output = Result<Outcome, HostError>> + Send {
        async move { self.absent(host).await?.perform(host).await }
    }
}

/// Does what blocks where blocking is fine.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HostError> + Send + 'static,
) -> Result<T, HostError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(stopped) => match stopped.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(HostError::Stopping),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_after_another_says_what_both_do() {
        let step = |message: &str| Plan::new(message).files(|| Ok(()));
        let said = |plan: Plan| plan.outcome().message;
        assert_eq!(said(Plan::new("a")), "a");
        assert_eq!(said(step("a")), "to be done: a");
        assert_eq!(said(step("a").then(step("b"))), "to be done: a; b");
        assert_eq!(said(step("a").then(Plan::new("b"))), "to be done: a");
        assert_eq!(said(Plan::new("a").then(step("b"))), "to be done: b");
        assert!(Plan::new("a").then(Plan::new("b")).is_empty());
    }

    #[tokio::test]
    async fn a_plan_stops_at_the_step_that_fails() {
        let refuse = || Err(HostError::NoFirewall);
        let plan = Plan::new("a").files(refuse).files(|| panic!("never reached"));
        assert!(matches!(plan.perform(&Host::local()).await, Err(HostError::NoFirewall)));
    }
}
