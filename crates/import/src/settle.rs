//! The last look at a spec: whatever the model refuses is left out, and said.
//!
//! Source files hold values that were never checked by us: a variable named `HOSTLER_X`, a nice value
//! of 40, a label too long for a tag. Readers put them where they belong and this takes out again
//! what cannot stay, with the model's reason. Only a workload without a command or a time to run at
//! is beyond help and is left out whole.

use hostler_model::{Mode, RestartPolicy, Span, WorkloadSpec};

/// False when nothing usable is left. `tell` hears of every field that was taken out.
pub fn settle(spec: &mut WorkloadSpec, mut tell: impl FnMut(String, String)) -> bool {
    loop {
        let Some(problem) = spec.problems("").into_iter().next() else {
            return true;
        };
        let path: Vec<String> = problem
            .pointer
            .split('/')
            .skip(1)
            .map(|part| part.replace("~1", "/").replace("~0", "~"))
            .collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let is_out = take_out(spec, &path);
        let what = if is_out { "left out" } else { "the whole workload is left out" };
        tell(path.join("."), format!("{what}: {}", problem.detail));
        if !is_out {
            return false;
        }
    }
}

/// Whether the spec goes on without it.
fn take_out(spec: &mut WorkloadSpec, path: &[&str]) -> bool {
    let index = || path.get(1).and_then(|text| text.parse::<usize>().ok());
    match path {
        ["env", key] => spec.env.remove(*key).is_some(),
        ["env"] => {
            spec.env.clear();
            true
        }
        ["mode", "schedule", "timezone"] => match &mut spec.mode {
            Mode::Schedule(schedule) if schedule.timezone != "local" => {
                schedule.timezone = "local".to_owned();
                true
            }
            _ => false,
        },
        ["workdir"] => spec.workdir.take().is_some(),
        ["user"] => spec.user.take().is_some(),
        ["group"] => spec.group.take().is_some(),
        ["umask"] => spec.umask.take().is_some(),
        ["timeout"] => spec.timeout.take().is_some(),
        ["stop", ..] => {
            spec.stop.grace = Span::from_secs(86_400);
            true
        }
        ["restart", ..] => {
            let before = std::mem::take(&mut spec.restart);
            spec.restart.on = before.on.filter(|_| path[1] != "on");
            before != RestartPolicy { on: spec.restart.on, ..RestartPolicy::default() }
        }
        ["limits", field] => {
            let limits = &mut spec.limits;
            match *field {
                "memory" => limits.memory.take().is_some(),
                "memoryHigh" => limits.memory_high.take().is_some(),
                "cpu" => limits.cpu.take().is_some(),
                "cpuWeight" => limits.cpu_weight.take().is_some(),
                "nice" => limits.nice.take().is_some(),
                "pids" => limits.pids.take().is_some(),
                "files" => limits.files.take().is_some(),
                "ioWeight" => limits.io_weight.take().is_some(),
                _ => false,
            }
        }
        ["health", ..] => remove(&mut spec.health, index()),
        ["tags", ..] => remove(&mut spec.tags, index()),
        ["hooks", hook, ..] => {
            let hooks = &mut spec.hooks;
            match *hook {
                "preStart" => hooks.pre_start.take().is_some(),
                "postStart" => hooks.post_start.take().is_some(),
                "preStop" => hooks.pre_stop.take().is_some(),
                "postStop" => hooks.post_stop.take().is_some(),
                _ => false,
            }
        }
        ["placement", ..] => {
            let before = std::mem::take(&mut spec.placement);
            before != spec.placement
        }
        ["logs", ..] => {
            let before = std::mem::take(&mut spec.logs);
            before != spec.logs
        }
        _ => false,
    }
}

fn remove<T>(list: &mut Vec<T>, index: Option<usize>) -> bool {
    match index {
        Some(index) if index < list.len() => {
            list.remove(index);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{Bytes, Check, HealthCheck, Hook, RestartOn, Schedule};

    #[test]
    fn what_is_not_valid_is_taken_out_and_said() {
        let mut spec = WorkloadSpec::command(["true"]);
        spec.env = [("HOSTLER_X", "1"), ("A=B", "1"), ("GOOD", "1")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
        spec.workdir = Some("relative".to_owned());
        spec.user = Some("no such name".to_owned());
        spec.group = Some(String::new());
        spec.umask = Some("9".to_owned());
        spec.timeout = Some(Span::from_millis(0));
        spec.stop.grace = Span::from_secs(1_000_000);
        spec.restart.on = Some(RestartOn::Failure);
        spec.restart.window = Span::from_millis(0);
        spec.limits.memory = Some(Bytes::new(1));
        spec.limits.memory_high = Some(Bytes::ZERO);
        spec.limits.nice = Some(40);
        spec.limits.pids = Some(0);
        spec.limits.files = Some(1);
        spec.limits.cpu_weight = Some(0);
        spec.limits.io_weight = Some(20_000);
        spec.health = vec![
            HealthCheck::new(Check::Exec(Vec::new())),
            HealthCheck::new(Check::Process),
            HealthCheck::new(Check::Log("(".to_owned())),
        ];
        spec.tags = vec![String::new(), "kept".to_owned()];
        spec.hooks.pre_start = Some(Hook { command: Vec::new(), timeout: Span::from_secs(1) });
        spec.placement.count = Some(0);
        spec.logs.max_age = Span::from_millis(0);
        let mut told = Vec::new();
        assert!(settle(&mut spec, |subject, _| told.push(subject)));
        assert_eq!(spec.problems(""), []);
        assert_eq!(spec.env.len(), 1);
        assert_eq!(spec.health.len(), 1);
        assert_eq!(spec.tags, ["kept"]);
        assert_eq!(spec.restart.on, Some(RestartOn::Failure));
        assert!(told.contains(&"env.HOSTLER_X".to_owned()), "{told:?}");
        assert_eq!(told.len(), 22, "{told:?}");
    }

    #[test]
    fn without_a_command_or_a_time_nothing_is_left() {
        let mut told = Vec::new();
        let mut spec = WorkloadSpec::default();
        assert!(!settle(&mut spec, |subject, _| told.push(subject)));
        let mut spec = WorkloadSpec::command(["true"]);
        spec.mode = Mode::Schedule(Schedule::new(" "));
        assert!(!settle(&mut spec, |subject, _| told.push(subject)));
        assert_eq!(told, ["command", "mode.schedule.cron"]);
    }
}
