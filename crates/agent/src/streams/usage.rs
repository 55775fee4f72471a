//! What was used over time, one JSON document a frame.

use hostler_model::{PlacementId, Timestamp};
use hostler_proto::v1;

use super::outlet::Outlet;
use super::{End, Failure};
use crate::output::Stream as Which;
use crate::supervisor::Supervisor;

pub(super) async fn send(
    request: &v1::UsageRequest,
    supervisor: &Supervisor,
    outlet: &mut Outlet,
) -> Result<End, Failure> {
    let since = Timestamp::from_micros(request.since_micros);
    let samples = match request.placement_id.as_str() {
        "" => supervisor.book().node(since),
        id => {
            let placement: PlacementId = id.parse().map_err(|e| Failure::malformed(&e))?;
            supervisor.book().placement(placement, since)
        }
    };
    for sample in samples {
        let time = sample.time.micros();
        let document = serde_json::to_vec(&sample).expect("a sample is made of what JSON has");
        if outlet.whole(Which::Stdout, time, document, String::new()).await.is_err() {
            return Ok(End::Gone);
        }
    }
    Ok(End::Sent { is_over: true })
}
