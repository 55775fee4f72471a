//! What was used over time, one JSON document a frame. Over a metered link neighbouring samples are
//! joined until there are few.

use hostler_model::{PlacementId, Timestamp, UsageSample};
use hostler_proto::v1;

use super::outlet::Outlet;
use super::{End, Failure};
use crate::output::Stream as Which;
use crate::supervisor::Supervisor;

pub(super) async fn send(
    request: &v1::UsageRequest,
    supervisor: &Supervisor,
    samples_max: usize,
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
    for sample in thinned(samples, samples_max) {
        let time = sample.time.micros();
        let document = serde_json::to_vec(&sample).expect("a sample is made of what JSON has");
        if outlet.whole(Which::Stdout, time, document, String::new()).await.is_err() {
            return Ok(End::Gone);
        }
    }
    Ok(End::Sent { is_over: true })
}

/// At most so many, each of which speaks for as many of the given ones.
fn thinned(samples: Vec<UsageSample>, most: usize) -> Vec<UsageSample> {
    let together = samples.len().div_ceil(most.max(1)).max(1);
    let join = |some: &[UsageSample]| {
        let joined = some.iter().cloned().reduce(|earlier, later| earlier.joined(&later));
        joined.unwrap_or_default()
    };
    samples.chunks(together).map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_samples_speak_for_all_the_time_there_was() {
        let samples: Vec<UsageSample> = (1..=100)
            .map(|n| UsageSample {
                time: Timestamp::from_micros(n),
                seconds: 10.0,
                cpu: 0.5,
                ..UsageSample::default()
            })
            .collect();
        assert_eq!(thinned(samples.clone(), usize::MAX), samples);
        let few = thinned(samples.clone(), 30);
        assert_eq!(few.len(), 25);
        assert!((few.iter().map(|sample| sample.seconds).sum::<f64>() - 1000.0).abs() < 1e-6);
        assert_eq!(few.last().unwrap().time, Timestamp::from_micros(100));
        assert!((few[0].cpu - 0.5).abs() < 1e-9);
        assert_eq!(thinned(Vec::new(), 0), []);
    }
}
