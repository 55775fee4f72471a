//! What the machine is, looked at anew, as one JSON document. Devices that errors have put out of service
//! are given another chance: whoever asks has seen to them.

use hostler_base::{Clock, Tasks};

use super::outlet::Outlet;
use super::{End, Failure};
use crate::facts::Looker;
use crate::output::Stream as Which;

pub(super) async fn send(
    looker: Looker,
    tasks: &Tasks,
    clock: &Clock,
    outlet: &mut Outlet,
) -> Result<End, Failure> {
    let facts = looker.look_anew(tasks, clock).await;
    let now = clock.now();
    let document = serde_json::to_vec(&facts).expect("facts are made of what JSON has");
    match outlet.whole(Which::Stdout, now.micros(), document, String::new()).await {
        Ok(()) => Ok(End::Sent { is_over: true }),
        Err(_) => Ok(End::Gone),
    }
}
