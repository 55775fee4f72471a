//! What is asked of the node's machine. Only servers ask, and only what [`HostAsk`] has words for.

use hostler_base::Clock;
use hostler_model::Code;
use hostler_model::host::HostAsk;
use hostler_proto::v1;

use super::outlet::Outlet;
use super::{End, Failure};
use crate::machine::{Machine, Refusal};
use crate::output::Stream as Which;

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::new(refusal.code, refusal.detail)
    }
}

pub(super) async fn send(
    request: v1::HostRequest,
    machine: &Machine,
    clock: &Clock,
    outlet: &mut Outlet,
) -> Result<End, Failure> {
    let unknown =
        |_| Failure::new(Code::Invalid, "this agent does not know such questions, upgrade it");
    let ask: HostAsk = serde_json::from_str(&request.ask_json).map_err(unknown)?;
    let answer = machine.answer(ask).await?;
    let mut left = answer.as_slice();
    while !left.is_empty() {
        let now = clock.now().micros();
        match outlet.some(Which::Stdout, now, left, |_| String::new()).await {
            Ok(sent) => left = &left[sent..],
            Err(_) => return Ok(End::Gone),
        }
    }
    Ok(End::Sent { is_over: true })
}
