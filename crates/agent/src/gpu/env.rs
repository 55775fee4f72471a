//! What a run's environment says of what it holds: GPUs, and its place among others that run at the
//! same time.
//!
//! Names that begin with `HOSTLER_` are ours and always told. Of the names that other programs look for,
//! those that choose devices are what the reservation says, whatever the spec says: another choice would
//! take what belongs to somebody else. The others are told where the spec does not set them.

use std::collections::BTreeMap;

use hostler_model::{GangSeat, GpuFact, GpuHold};

type Env = BTreeMap<String, String>;

/// Where those that run together meet, when the spec does not say.
const MEETING_PORT: &str = "29400";

const CUDA: &str = "CUDA_VISIBLE_DEVICES";
pub const NVIDIA: &str = "NVIDIA_VISIBLE_DEVICES";
/// No device at all, in the words of NVIDIA's container runtime.
pub const NOTHING: &str = "void";

/// Which devices it may see. Where the node has some and it holds none, it sees none, unless its spec
/// chooses itself.
pub fn about_gpus(held: &[GpuHold], node: &[GpuFact], spec: &Env) -> Env {
    let mut env = Env::new();
    let mut set = |key: &str, value: String| env.insert(key.to_owned(), value);
    if held.is_empty() {
        if !node.is_empty() {
            set(NVIDIA, NOTHING.to_owned());
            if !spec.contains_key(CUDA) {
                set(CUDA, String::new());
            }
        }
        return env;
    }
    let numbers = joined(held.iter().map(|hold| hold.index));
    let uuid = |hold: &GpuHold| {
        let fact = node.iter().find(|fact| fact.index == hold.index);
        fact.map(|fact| fact.uuid.clone()).filter(|uuid| !uuid.is_empty())
    };
    let names = match held.iter().map(uuid).collect::<Option<Vec<String>>>() {
        Some(uuids) => uuids.join(","),
        None => {
            set("CUDA_DEVICE_ORDER", "PCI_BUS_ID".to_owned());
            numbers.clone()
        }
    };
    set(CUDA, names.clone());
    set(NVIDIA, names);
    set("HOSTLER_GPUS", numbers);
    if let Some(part) = held.iter().map(|hold| hold.share).find(|share| !share.is_whole()) {
        set("HOSTLER_GPU_SHARE", (f64::from(part.millis()) / 1000.0).to_string());
    }
    env
}

/// Where it stands among those that run at the same time, and where they meet.
pub fn about_gang(seat: Option<&GangSeat>, spec: &Env) -> Env {
    let Some(seat) = seat else { return Env::new() };
    let addresses: Vec<&str> = seat
        .nodes
        .iter()
        .enumerate()
        .map(|(rank, name)| match seat.addresses.get(rank) {
            Some(address) if !address.is_empty() => address.as_str(),
            _ => name.as_str(),
        })
        .collect();
    let meeting = addresses.first().copied().unwrap_or_default().to_owned();
    let (rank, size) = (seat.rank.to_string(), seat.size.to_string());
    let own = [
        ("HOSTLER_RANK", rank.clone()),
        ("HOSTLER_WORLD_SIZE", size.clone()),
        ("HOSTLER_NODES", seat.nodes.join(",")),
        ("HOSTLER_ADDRESSES", addresses.join(",")),
    ];
    let usual = [
        ("RANK", rank.clone()),
        ("NODE_RANK", rank),
        ("WORLD_SIZE", size),
        ("MASTER_ADDR", meeting),
        ("MASTER_PORT", MEETING_PORT.to_owned()),
    ];
    let usual = usual.into_iter().filter(|(key, _)| !spec.contains_key(*key));
    own.into_iter().chain(usual).map(|(key, value)| (key.to_owned(), value)).collect()
}

fn joined(numbers: impl Iterator<Item = u32>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::GpuShareSize;

    fn node(count: u32) -> Vec<GpuFact> {
        let fact = |index| GpuFact { index, uuid: format!("GPU-{index}"), ..GpuFact::default() };
        (0..count).map(fact).collect()
    }

    fn hold(index: u32, millis: u16) -> GpuHold {
        GpuHold { index, share: GpuShareSize::from_millis(millis) }
    }

    fn lines(env: Env) -> Vec<String> {
        env.into_iter().map(|(key, value)| format!("{key}={value}")).collect()
    }

    #[test]
    fn a_run_sees_what_it_holds_and_nothing_else() {
        let spec = Env::from([(CUDA.to_owned(), "0,1,2,3".to_owned())]);
        let env = about_gpus(&[hold(2, 1000), hold(0, 1000)], &node(4), &spec);
        let expected = [
            "CUDA_VISIBLE_DEVICES=GPU-2,GPU-0",
            "HOSTLER_GPUS=2,0",
            "NVIDIA_VISIBLE_DEVICES=GPU-2,GPU-0",
        ];
        assert_eq!(lines(env), expected);
        let env = about_gpus(&[hold(1, 250)], &node(4), &Env::new());
        assert_eq!(env["HOSTLER_GPU_SHARE"], "0.25");
        let env = about_gpus(&[hold(7, 1000), hold(1, 1000)], &node(4), &Env::new());
        assert_eq!((env[CUDA].as_str(), env["CUDA_DEVICE_ORDER"].as_str()), ("7,1", "PCI_BUS_ID"));
    }

    #[test]
    fn a_run_that_holds_none_sees_none_unless_it_chooses_itself() {
        assert!(about_gpus(&[], &[], &Env::new()).is_empty());
        let env = lines(about_gpus(&[], &node(1), &Env::new()));
        assert_eq!(env, ["CUDA_VISIBLE_DEVICES=", "NVIDIA_VISIBLE_DEVICES=void"]);
        let spec = Env::from([(CUDA.to_owned(), "0".to_owned())]);
        assert_eq!(lines(about_gpus(&[], &node(1), &spec)), ["NVIDIA_VISIBLE_DEVICES=void"]);
    }

    #[test]
    fn those_that_run_together_know_where_they_meet() {
        let seat = GangSeat {
            rank: 1,
            size: 2,
            nodes: vec!["a".into(), "b".into()],
            addresses: vec!["10.0.0.1".into(), String::new()],
        };
        let spec = Env::from([("MASTER_PORT".to_owned(), "5".to_owned())]);
        let expected = [
            "HOSTLER_ADDRESSES=10.0.0.1,b",
            "HOSTLER_NODES=a,b",
            "HOSTLER_RANK=1",
            "HOSTLER_WORLD_SIZE=2",
            "MASTER_ADDR=10.0.0.1",
            "NODE_RANK=1",
            "RANK=1",
            "WORLD_SIZE=2",
        ];
        assert_eq!(lines(about_gang(Some(&seat), &spec)), expected);
        assert_eq!(about_gang(Some(&seat), &Env::new())["MASTER_PORT"], MEETING_PORT);
        assert!(about_gang(None, &spec).is_empty());
    }
}
