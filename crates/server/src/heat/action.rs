//! What is done to a stack as a whole: suspended, resumed, checked, cancelled.

use hostler_control::StackCommand;

use super::call::Call;
use super::fault::Fault;
use super::reply::Reply;
use super::stack::{done, stack_of};

pub(super) async fn act(call: Call) -> Result<Reply, Fault> {
    let body = call.map()?;
    let mut names = body.keys();
    let command = match (names.next(), names.next()) {
        (None, _) => return Err(Fault::bad("No action specified")),
        (Some(_), Some(_)) => return Err(Fault::bad("Multiple actions specified")),
        (Some(name), None) => StackCommand::read(name)
            .ok_or_else(|| Fault::bad(format!("Invalid action {name} specified")))?,
    };
    let id = stack_of(&call).await?.id.to_string();
    call.control().stack_command(call.cx(), call.project(), &id, command).await?;
    Ok(done())
}
