//! What the machine is, looked at anew, as one JSON document.

use hostler_base::Tasks;
use hostler_model::{Code, Facts, Timestamp};

use super::outlet::Outlet;
use super::{End, Failure};
use crate::output::Stream as Which;

pub(super) async fn send(
    is_metered: bool,
    tasks: &Tasks,
    now: Timestamp,
    outlet: &mut Outlet,
) -> Result<End, Failure> {
    let collected = tasks.run_blocking("facts", crate::facts::collect).await;
    let collected = collected.map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
    let facts = Facts { is_metered, ..collected };
    let document = serde_json::to_vec(&facts).expect("facts are made of what JSON has");
    match outlet.whole(Which::Stdout, now.micros(), document, String::new()).await {
        Ok(()) => Ok(End::Sent { is_over: true }),
        Err(_) => Ok(End::Gone),
    }
}
