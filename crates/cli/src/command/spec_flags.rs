//! What flags change in a spec, by what they are about. What is not given stays as the file has it; lists
//! grow.

use hostler_model::{Container, Runtime, Strategy, WorkloadSpec};

use super::spec::labels;
use crate::args::{ContainerArgs, PlacementArgs, QueueRuleArgs, ResourceArgs};
use crate::failure::Failure;

pub fn resources(spec: &mut WorkloadSpec, args: ResourceArgs) {
    let resources = &mut spec.resources;
    resources.cores = args.cores.unwrap_or(resources.cores);
    resources.exclusive |= args.exclusive;
    resources.memory = args.memory.unwrap_or(resources.memory);
    resources.disk = args.disk.unwrap_or(resources.disk);
    if let Some(gpus) = args.gpus {
        resources.gpus = gpus;
    }
    resources.numa = args.numa.or(resources.numa);
    spec.limits.cpu = args.cpu_limit.or(spec.limits.cpu);
    spec.limits.memory = args.memory_limit.or(spec.limits.memory);
}

/// After [`resources`]: a target may name GPUs and a NUMA node that must not contradict these.
pub fn placement(spec: &mut WorkloadSpec, args: PlacementArgs) -> Result<(), Failure> {
    if let Some(target) = &args.target {
        let asked = &spec.resources;
        if !target.gpus.is_empty() && !asked.gpus.is_none() && asked.gpus.ids != target.gpus {
            return Err(Failure::usage(
                "the target names GPUs, and other ones are asked for",
                "name the GPUs in one place: --target NODE::GPU,GPU or --gpus",
            ));
        }
        if target.numa.is_some() && asked.numa.is_some() {
            return Err(Failure::usage(
                "the target names a NUMA node, and so does --numa",
                "name it in one place: --target NODE:NUMA or --numa",
            ));
        }
        target.apply(spec);
    }
    let placement = &mut spec.placement;
    placement.node = args.node.or_else(|| placement.node.take());
    placement.selector.extend(labels(&args.selector)?);
    placement.constraints.extend(args.constraints);
    placement.prefer.extend(args.prefer);
    placement.together.extend(args.together);
    placement.apart.extend(args.apart);
    placement.strategy = args.strategy.or(placement.strategy);
    if let Some(label) = args.over {
        placement.over = Some(label);
        placement.strategy.get_or_insert(Strategy::Spread);
    }
    if let Some(place) = args.near {
        placement.near = Some(place);
        placement.strategy.get_or_insert(Strategy::Location);
    }
    Ok(())
}

pub fn queue(spec: &mut WorkloadSpec, args: QueueRuleArgs) {
    let queue = &mut spec.queue;
    queue.priority = args.priority.unwrap_or(queue.priority);
    queue.after.extend(args.after);
    if args.delay.is_some() || args.start_at.is_some() {
        (queue.delay, queue.not_before) = (args.delay, args.start_at);
    }
    queue.start_within = args.start_within.or(queue.start_within);
    queue.retry.times = args.retries.unwrap_or(queue.retry.times);
    queue.retry.delay = args.retry_delay.unwrap_or(queue.retry.delay);
    queue.retry.max_delay = queue.retry.max_delay.max(queue.retry.delay);
    if !args.retry_on.is_empty() {
        queue.retry.on = args.retry_on;
    }
    queue.preemptible |= args.preemptible;
}

pub fn container(spec: &mut WorkloadSpec, args: ContainerArgs) -> Result<(), Failure> {
    if let Some(image) = args.image {
        spec.runtime = Runtime::Container;
        spec.container.get_or_insert_with(Container::default).image = image;
    }
    let is_asked_for = args.pull.is_some()
        || args.entrypoint.is_some()
        || !args.mounts.is_empty()
        || args.network.is_some()
        || args.privileged;
    let Some(container) = spec.container.as_mut() else {
        if is_asked_for {
            return Err(Failure::usage(
                "--pull, --entrypoint, --mount, --network and --privileged are about a container",
                "name its image with --image",
            ));
        }
        return Ok(());
    };
    container.pull = args.pull.unwrap_or(container.pull);
    if let Some(program) = args.entrypoint {
        container.entrypoint = Some(Some(program).filter(|p| !p.is_empty()).into_iter().collect());
    }
    container.mounts.extend(args.mounts);
    container.network = args.network.unwrap_or(container.network);
    container.privileged |= args.privileged;
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use hostler_model::{ContainerNetwork, RetryOn, Span};
    use serde_json::json;

    use super::*;
    use crate::args::{Cli, Command, SubmitArgs, TaskCommand};

    fn submit(words: &[&str]) -> SubmitArgs {
        let line = ["hostler", "task", "submit"].iter().chain(words);
        match Cli::try_parse_from(line).unwrap().command {
            Command::Task(TaskCommand::Submit(args)) => *args,
            other => panic!("{other:?}"),
        }
    }

    fn spec_of(words: &[&str]) -> Result<WorkloadSpec, Failure> {
        let args = submit(words).spec;
        let mut spec = WorkloadSpec::command(args.command);
        resources(&mut spec, args.resources);
        placement(&mut spec, args.placement)?;
        queue(&mut spec, args.queue);
        container(&mut spec, args.container)?;
        Ok(spec)
    }

    #[test]
    fn flags_say_what_is_reserved_and_where() {
        let spec = spec_of(&[
            "--cores",
            "2",
            "--exclusive",
            "--disk",
            "1GiB",
            "--gpus",
            "1:0.5",
            "--numa",
            "any",
            "--constraint",
            "kernel >= 6.1",
            "--prefer",
            "label.zone = a",
            "--apart",
            "web",
            "--over",
            "zone",
            "--cpu-limit",
            "2.5",
            "--",
            "a",
        ])
        .unwrap();
        let said = serde_json::to_value(&spec).unwrap();
        assert_eq!(
            said["resources"],
            json!({ "cores": 2, "exclusive": true, "memory": 0, "disk": 1 << 30,
                "gpus": { "count": 1, "share": 0.5 }, "numa": "any" })
        );
        assert_eq!(
            said["placement"],
            json!({ "constraints": ["kernel >= 6.1"], "prefer": ["label.zone = a"], "apart": ["web"],
                "strategy": "spread", "over": "zone" })
        );
        assert_eq!(said["limits"], json!({ "cpu": 2.5 }));
        assert_eq!(spec.problems(""), []);
    }

    #[test]
    fn a_place_brings_its_strategy() {
        let spec = spec_of(&["--near", "eu/berlin", "a"]).unwrap();
        let said = serde_json::to_value(&spec.placement).unwrap();
        assert_eq!(said, json!({ "strategy": "location", "near": "eu/berlin" }));
        assert_eq!(spec.problems(""), []);
    }

    #[test]
    fn a_target_names_node_numa_and_gpus_once() {
        let spec = spec_of(&["--target", "box1:1::0,2", "a"]).unwrap();
        assert_eq!(spec.placement.node.as_ref().unwrap().as_str(), "box1");
        assert_eq!((spec.resources.gpus.count, spec.resources.gpus.ids), (2, vec![0, 2]));
        assert!(spec_of(&["--target", "box1::0", "--gpus", "ids=0", "a"]).is_ok());
        for wrong in [["--target", "box1::0", "--gpus", "2"], ["--target", "box1:0", "--numa", "1"]]
        {
            let words: Vec<&str> = wrong.into_iter().chain(["a"]).collect();
            assert_eq!(spec_of(&words).unwrap_err().exit(), 2, "{wrong:?}");
        }
    }

    #[test]
    fn flags_say_how_it_waits() {
        let spec = spec_of(&[
            "--priority",
            "-5",
            "--after",
            "a",
            "--after",
            "b:any",
            "--delay",
            "5m",
            "--give-up",
            "1h",
            "--retries",
            "3",
            "--retry-on",
            "lost,out-of-memory",
            "--retry-delay",
            "10m",
            "--preemptible",
            "x",
        ])
        .unwrap();
        let queue = &spec.queue;
        assert_eq!((queue.priority, queue.after.len(), queue.preemptible), (-5, 2, true));
        assert_eq!(
            (queue.delay, queue.start_within),
            (Some(Span::from_secs(300)), Some(Span::from_secs(3600)))
        );
        assert_eq!(
            (queue.retry.times, queue.retry.on.as_slice()),
            (3, &[RetryOn::Lost, RetryOn::OutOfMemory][..])
        );
        assert!(queue.retry.max_delay >= queue.retry.delay);
        assert_eq!(spec.problems(""), []);
    }

    #[test]
    fn an_image_makes_a_container() {
        let spec = spec_of(&[
            "--image",
            "debian:12",
            "--mount",
            "/srv:/data:ro",
            "--network",
            "none",
            "--entrypoint",
            "",
        ])
        .unwrap();
        let container = spec.container.as_ref().unwrap();
        assert_eq!((spec.runtime, container.network), (Runtime::Container, ContainerNetwork::None));
        assert_eq!(container.entrypoint, Some(vec![]));
        assert!(container.mounts[0].read_only && spec.problems("").is_empty());
        assert_eq!(spec_of(&["--network", "none", "a"]).unwrap_err().exit(), 2);
    }

    #[test]
    fn what_is_misspelt_is_refused_with_the_right_spelling() {
        let cases = [
            ("--array 5-1 -- a", "1-1000%50"),
            ("--array 0-2000000 -- a", "at most a million"),
            ("--array 1-5%0 -- a", "how many at once"),
            ("--target box1:x -- a", "NODE[:NUMA]::GPU,GPU"),
            ("--target box1::1,1 -- a", "named twice"),
            ("--gpus two -- a", "2,model=A100,memory=40GiB"),
            ("--numa some -- a", "its number, or any"),
            ("--constraint kernel -- a", "kernel >= 6.1"),
            ("--constraint colour=red -- a", "unknown attribute"),
            ("--strategy best -- a", "bin-pack"),
            ("--after x:good -- a", "TASK:fail"),
            ("--start-at tomorrow -- a", "2026-01-31T22:00:00Z"),
            ("--retries 1 --retry-on bad -- a", "timed-out"),
            ("--retry-on lost -- a", "--retries"),
            ("--priority 1001 -- a", "-1000..=1000"),
            ("--image x --mount /a -- a", "SOURCE:TARGET"),
            ("--image x --network wide -- a", "bridge"),
            ("--array 1-2 --nodes 2 -- a", "cannot be used with"),
            ("--node a --target b -- a", "cannot be used with"),
            ("--delay 1s --start-at 2026-01-31T22:00:00Z -- a", "cannot be used with"),
            ("--nodes 0 -- a", "1..=1024"),
        ];
        for (words, expected) in cases {
            let line = ["hostler", "task", "submit"].into_iter().chain(words.split(' '));
            let mistake = Cli::try_parse_from(line).unwrap_err().to_string();
            assert!(mistake.contains(expected), "{words}: {mistake}");
        }
    }
}
