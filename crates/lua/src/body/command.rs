//! Steps that are a line for the shell or a program: carried out without the interpreter.

use std::rc::Rc;

use hostler_model::workflow::{Act, Step, StepEnd, StepResult};
use serde_json::json;

use crate::modules::{Acting, Ended, Order, SHELL};

/// Runs the command of a step, and says how it ended. What it prints is said as it comes.
pub async fn carry_out(step: &Step, on: &Rc<Acting>) -> StepResult {
    match order(step) {
        Some(order) => ended(order, on).await,
        None => StepResult::new(StepEnd::Succeeded, ""),
    }
}

/// What a step runs, if that is a line or a program.
pub(super) fn order(step: &Step) -> Option<Order> {
    match &step.act {
        Act::Command(text) => Some(Order::shell(shell(step), text)),
        Act::Program(words) => {
            Some(Order { program: words.iter().map(Into::into).collect(), ..Order::default() })
        }
        _ => None,
    }
}

/// The same for another line of the step.
pub(super) async fn line(step: &Step, text: &str, on: &Rc<Acting>) -> StepResult {
    ended(Order::shell(shell(step), text), on).await
}

/// Runs a line without a word about what it prints.
pub(super) async fn quiet(step: &Step, text: &str, on: &Rc<Acting>) -> std::io::Result<Ended> {
    let mut order = Order::shell(shell(step), text);
    order.prepare(on);
    order.run().await
}

fn shell(step: &Step) -> &str {
    step.shell.as_deref().unwrap_or(SHELL)
}

async fn ended(mut order: Order, on: &Rc<Acting>) -> StepResult {
    if on.check {
        on.say(&format!("would run: {}", order.line()));
        return StepResult::new(StepEnd::Succeeded, "");
    }
    order.prepare(on);
    order.echo = Some(Rc::clone(&on.sink));
    told(order.run().await)
}

/// What became of a step by what became of its program.
pub(super) fn told(ended: std::io::Result<Ended>) -> StepResult {
    match ended {
        Err(error) => StepResult::new(StepEnd::Failed, format!("it could not be started: {error}")),
        Ok(ended) => {
            let output = json!({
                "stdout": String::from_utf8_lossy(&ended.stdout),
                "stderr": String::from_utf8_lossy(&ended.stderr),
                "exit_code": ended.code(),
            });
            let lost = match ended.lost {
                0 => None,
                lost => Some(format!("{lost} bytes of what it printed were not kept")),
            };
            if ended.is_success() {
                let message = lost.unwrap_or_default();
                StepResult { output, ..StepResult::new(StepEnd::Succeeded, message) }
            } else {
                let code = format!("exit code {}", ended.code());
                let message = [Some(code), lost].into_iter().flatten().collect::<Vec<_>>();
                StepResult { output, ..StepResult::new(StepEnd::Failed, message.join("; ")) }
            }
        }
    }
}
