//! The request that makes a container, from a plan alone.

use std::collections::HashMap;
use std::path::Path;

use bollard::models::{
    ContainerCreateBody, DeviceRequest, HostConfig, HostConfigLogConfig, Mount, MountType,
    ResourcesUlimits, RestartPolicy, RestartPolicyNameEnum,
};
use hostler_model::{ContainerNetwork, Limits};

use super::Plan;
use super::policy::Checked;

/// What must be known of an image to make a container of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageFacts {
    pub id: String,
    pub entrypoint: Vec<String>,
    pub command: Vec<String>,
}

/// The engine gives more by default; nothing that runs as a task needs them.
const DROPPED: [&str; 4] = ["NET_RAW", "MKNOD", "AUDIT_WRITE", "SETFCAP"];
/// Programs that want to be the first process themselves.
const INITS: [&str; 9] = [
    "init",
    "systemd",
    "tini",
    "dumb-init",
    "docker-init",
    "catatonit",
    "s6-svscan",
    "runsvdir",
    "supervisord",
];
/// Of one argument or variable, by the kernel.
const WORD_MAX: usize = 128 * 1024 - 1;

/// Why no program could be started with these words.
pub fn too_long(plan: &Plan) -> Option<String> {
    let long = plan.env.iter().find(|(key, value)| key.len() + 1 + value.len() > WORD_MAX);
    if let Some((key, value)) = long {
        let size = value.len();
        return Some(format!(
            "the variable {key} has {size} bytes; Linux starts no program with more than 128 KiB in one variable, use a file"
        ));
    }
    let long = plan.command.iter().find(|word| word.len() > WORD_MAX)?;
    let size = long.len();
    Some(format!(
        "an argument has {size} bytes; Linux starts no program with more than 128 KiB in one"
    ))
}

pub fn body(plan: &Plan, image: &ImageFacts, mounts: &[Checked]) -> ContainerCreateBody {
    let env = plan.env.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let user = match (&plan.user, &plan.group) {
        (None, None) => None,
        (user, None) => user.clone(),
        (user, Some(group)) => Some(format!("{}:{group}", user.as_deref().unwrap_or("0"))),
    };
    ContainerCreateBody {
        image: Some(image.id.clone()),
        labels: Some(plan.labels.clone().into_iter().collect()),
        env: Some(env),
        user,
        working_dir: plan.workdir.clone(),
        entrypoint: plan.spec.entrypoint.clone(),
        cmd: (!plan.command.is_empty()).then(|| plan.command.clone()),
        attach_stdin: Some(false),
        attach_stdout: Some(false),
        attach_stderr: Some(false),
        tty: Some(false),
        open_stdin: Some(false),
        host_config: Some(host(plan, image, mounts)),
        ..ContainerCreateBody::default()
    }
}

fn host(plan: &Plan, image: &ImageFacts, mounts: &[Checked]) -> HostConfig {
    let is_privileged = plan.spec.privileged;
    let held = &plan.reservation;
    let mut host = HostConfig {
        log_config: Some(log()),
        network_mode: Some(network(plan.spec.network).to_owned()),
        restart_policy: Some(RestartPolicy {
            name: Some(RestartPolicyNameEnum::NO),
            maximum_retry_count: None,
        }),
        init: Some(!brings_init(plan, image)),
        mounts: Some(mounts.iter().map(mount).collect()),
        device_requests: gpus(plan),
        cpuset_cpus: (!held.cpus.is_empty()).then(|| held.cpus.to_string()),
        cpuset_mems: held.numa.map(|node| node.to_string()),
        privileged: Some(is_privileged),
        ..HostConfig::default()
    };
    if !is_privileged {
        host.cap_drop = Some(DROPPED.iter().map(|name| (*name).to_owned()).collect());
        host.security_opt = Some(vec!["no-new-privileges".to_owned()]);
    }
    limit(&mut host, &plan.limits);
    host
}

/// So much of its newest output the engine surely keeps: all files but the one that may be about to go.
pub const RECORD_KEPT: u64 = 128_000_000;

/// A record of the output, with its time, for keepers that come later.
fn log() -> HostConfigLogConfig {
    let options = [("max-size", "64m"), ("max-file", "3"), ("compress", "false")];
    let options = options.map(|(key, value)| (key.to_owned(), value.to_owned()));
    HostConfigLogConfig { typ: Some("local".to_owned()), config: Some(HashMap::from(options)) }
}

const fn network(network: ContainerNetwork) -> &'static str {
    match network {
        ContainerNetwork::Bridge => "bridge",
        ContainerNetwork::None => "none",
        ContainerNetwork::Host => "host",
    }
}

/// The engine's small init makes signals work and reaps orphans; a program that is an init itself must
/// be the first process.
fn brings_init(plan: &Plan, image: &ImageFacts) -> bool {
    let entrypoint = plan.spec.entrypoint.as_ref().unwrap_or(&image.entrypoint);
    let command = if plan.command.is_empty() { &image.command } else { &plan.command };
    let first = entrypoint.first().or(command.first());
    let name = first.and_then(|word| Path::new(word).file_name()?.to_str());
    name.is_some_and(|name| INITS.contains(&name))
}

fn mount(checked: &Checked) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(checked.source.to_string_lossy().into_owned()),
        target: Some(checked.target.clone()),
        read_only: Some(checked.is_read_only),
        ..Mount::default()
    }
}

fn gpus(plan: &Plan) -> Option<Vec<DeviceRequest>> {
    let ids: Vec<_> = plan.reservation.gpus.iter().map(|gpu| gpu.index.to_string()).collect();
    (!ids.is_empty()).then(|| {
        vec![DeviceRequest {
            device_ids: Some(ids),
            capabilities: Some(vec![vec!["gpu".to_owned()]]),
            ..DeviceRequest::default()
        }]
    })
}

fn limit(host: &mut HostConfig, limits: &Limits) {
    let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    if let Some(memory) = limits.memory {
        let bytes = signed(memory.get());
        host.memory = Some(bytes);
        host.memory_swap = Some(bytes);
        host.shm_size = Some((bytes / 2).max(64 << 20));
    }
    host.memory_reservation = limits.memory_high.map(|high| signed(high.get()));
    host.nano_cpus = limits.cpu.map(|cpu| i64::from(cpu.millis()) * 1_000_000);
    host.cpu_shares = limits.cpu_weight.map(shares);
    host.blkio_weight = limits.io_weight.map(io_weight);
    host.pids_limit = limits.pids.map(i64::from);
    host.ulimits = limits.files.map(|files| {
        let most = Some(i64::from(files));
        vec![ResourcesUlimits { name: Some("nofile".to_owned()), soft: most, hard: most }]
    });
}

/// Against 1024 for others, where the spec's is against 100.
fn shares(weight: u32) -> i64 {
    (i64::from(weight) * 1024 / 100).clamp(2, 262_144)
}

/// From 10 to 1000, with 500 where the spec has 100.
fn io_weight(weight: u32) -> u16 {
    u16::try_from((weight.saturating_mul(5)).clamp(10, 1000)).unwrap_or(1000)
}

/// Limits of the spec that no container engine knows.
pub fn unenforced(limits: &Limits) -> Vec<String> {
    let nice = limits.nice.map(|_| "nice: container engines know no priorities".to_owned());
    nice.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{
        Bytes, Container, Cores, GpuHold, GpuShareSize, Reservation, RunId, WorkloadSpec,
    };
    use std::collections::BTreeMap;
    use uuid::Uuid;

    use crate::container::ContainerConfig;

    fn plan(spec: WorkloadSpec, reservation: &Reservation) -> Plan {
        let about = BTreeMap::from([
            ("HOSTLER_TASK".to_owned(), "t".to_owned()),
            ("CUDA_VISIBLE_DEVICES".to_owned(), "3".to_owned()),
        ]);
        let run_id = RunId::from_uuid(Uuid::from_u128(7));
        let (config, data) = (ContainerConfig::default(), Path::new("/nowhere/data"));
        Plan::of(run_id, &spec, reservation, about, &config, data).unwrap()
    }

    fn spec(command: &[&str]) -> WorkloadSpec {
        let image = "busy:1".to_owned();
        let container = Some(Container { image, ..Container::default() });
        WorkloadSpec { container, ..WorkloadSpec::command(command.iter().copied()) }
    }

    #[test]
    fn a_plain_container_has_little_power_and_an_init() {
        let image = ImageFacts { id: "sha256:1".to_owned(), ..ImageFacts::default() };
        let body = body(&plan(spec(&["true"]), &Reservation::default()), &image, &[]);
        assert_eq!(body.image.as_deref(), Some("sha256:1"));
        assert_eq!(body.env, Some(vec!["HOSTLER_TASK=t".to_owned()]));
        assert_eq!((body.user, body.entrypoint), (None, None));
        assert_eq!(body.labels.unwrap()["hostler.data"], "/nowhere/data");
        let host = body.host_config.unwrap();
        assert_eq!(host.privileged, Some(false));
        assert_eq!(host.init, Some(true));
        assert_eq!(host.network_mode.as_deref(), Some("bridge"));
        assert_eq!(host.security_opt, Some(vec!["no-new-privileges".to_owned()]));
        assert!(host.cap_drop.unwrap().contains(&"NET_RAW".to_owned()));
        assert_eq!((host.memory, host.device_requests, host.cpuset_cpus), (None, None, None));
        assert_eq!((host.binds, host.pid_mode, host.cap_add), (None, None, None));
    }

    #[test]
    fn limits_and_devices_are_the_engines_business() {
        let mut spec = spec(&["train"]);
        spec.limits = Limits {
            memory: Some(Bytes::mib(512)),
            cpu: Some(Cores::from_millis(1500)),
            cpu_weight: Some(200),
            pids: Some(9),
            files: Some(64),
            io_weight: Some(100),
            ..Limits::default()
        };
        (spec.user, spec.group) = (Some("worker".to_owned()), Some("staff".to_owned()));
        let gpu = |index| GpuHold { index, share: GpuShareSize::WHOLE };
        let reservation = Reservation {
            cpus: "0-1,4".parse().unwrap(),
            numa: Some(1),
            gpus: vec![gpu(2), gpu(5)],
            ..Reservation::default()
        };
        let body = body(&plan(spec, &reservation), &ImageFacts::default(), &[]);
        assert_eq!(body.user.as_deref(), Some("worker:staff"));
        let host = body.host_config.unwrap();
        assert_eq!((host.memory, host.memory_swap), (Some(512 << 20), Some(512 << 20)));
        assert_eq!((host.nano_cpus, host.cpu_shares), (Some(1_500_000_000), Some(2048)));
        assert_eq!((host.pids_limit, host.blkio_weight), (Some(9), Some(500)));
        assert_eq!(host.cpuset_cpus.as_deref(), Some("0-1,4"));
        assert_eq!(host.cpuset_mems.as_deref(), Some("1"));
        let requests = host.device_requests.unwrap();
        assert_eq!(requests[0].device_ids, Some(vec!["2".to_owned(), "5".to_owned()]));
        assert_eq!(host.ulimits.unwrap()[0].hard, Some(64));
    }

    #[test]
    fn a_program_that_is_an_init_is_the_first_process() {
        let image = |entrypoint: &[&str]| ImageFacts {
            entrypoint: entrypoint.iter().map(|word| (*word).to_owned()).collect(),
            ..ImageFacts::default()
        };
        let none = Reservation::default();
        for (command, entrypoint, brings) in [
            (&["true"][..], &[][..], false),
            (&["/sbin/init"], &[], true),
            (&["true"], &["/init"], true),
            (&["tini"], &["/entry.sh"], false),
            (&[], &[], false),
        ] {
            let plan = plan(spec(command), &none);
            assert_eq!(brings_init(&plan, &image(entrypoint)), brings, "{command:?}");
        }
    }

    #[test]
    fn what_linux_cannot_start_is_told_before() {
        let mut spec = spec(&["true"]);
        spec.env.insert("BIG".to_owned(), "x".repeat(1 << 20));
        let plan = plan(spec, &Reservation::default());
        assert!(too_long(&plan).unwrap().contains("BIG"));
        assert_eq!(too_long(&self::plan(self::spec(&["true"]), &Reservation::default())), None);
    }
}
