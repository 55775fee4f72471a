//! `[Service]` and `[Unit]` of one service: what it runs, and how often.

use hostler_model::{Hook, Mode, Name, RestartOn, RestartPolicy, Span, WorkloadSpec};

use super::exec::{self, Command, Exec};
use super::lost;
use super::unit::{Setting, Unit};
use crate::plan::{Draft, Place, Unreadable};
use crate::quantities::{self, systemd_span};

/// systemd's own, where a unit says nothing.
const DEFAULT_TIMEOUT: Span = Span::from_secs(90);
const DEFAULT_RESTART: Span = Span::from_millis(100);
const DEFAULT_BURST: u32 = 5;
const DEFAULT_INTERVAL: Span = Span::from_secs(10);

/// A unit while it is read.
pub struct Reading<'r, 'a> {
    pub unit: &'r Unit<'a>,
    name: &'r Name,
    pub spec: WorkloadSpec,
    draft: &'r mut Draft,
}

impl<'r, 'a> Reading<'r, 'a> {
    pub fn new(unit: &'r Unit<'a>, name: &'r Name, draft: &'r mut Draft) -> Reading<'r, 'a> {
        Reading { unit, name, spec: WorkloadSpec::default(), draft }
    }

    pub fn lost(&mut self, setting: &Setting<'_>, detail: impl Into<String>) {
        self.draft.lost(setting.place, format!("{}.{}", self.name, setting.key), detail);
    }
    pub fn changed(&mut self, setting: &Setting<'_>, detail: impl Into<String>) {
        self.draft.changed(setting.place, format!("{}.{}", self.name, setting.key), detail);
    }
    pub fn note(&mut self, setting: &Setting<'_>, detail: impl Into<String>) {
        self.draft.note(setting.place, format!("{}.{}", self.name, setting.key), detail);
    }

    /// A setting of `[Service]` that has to be understood; a remark where it is not.
    pub fn parsed<T>(&mut self, key: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let unit = self.unit;
        let setting = unit.last("Service", key)?;
        let found = read(&setting.value);
        if found.is_none() {
            self.lost(
                setting,
                format!("`{}` is not understood, or cannot be said here", setting.value),
            );
        }
        found
    }

    pub fn is_oneshot(&self) -> bool {
        self.unit.text("Service", "Type") == Some("oneshot")
    }

    pub fn service(&mut self) -> Result<(), Unreadable> {
        let unit = self.unit;
        if unit.instance().is_none() && unit.stem().contains('@') {
            self.draft.changed(
                unit.place,
                self.name.as_str(),
                format!(
                    "`{}` is a template; make a copy of the file for each instance, such as \
                     `{}@one.service`",
                    unit.name,
                    unit.prefix()
                ),
            );
        }
        self.environment();
        self.start()?;
        self.restart();
        self.timeouts();
        self.hooks()?;
        self.limits();
        self.around();
        Ok(())
    }

    fn environment(&mut self) {
        let unit = self.unit;
        for setting in unit.all("Service", "Environment") {
            let Some(words) = exec::split(&setting.value) else {
                self.lost(setting, "a quote is not closed");
                continue;
            };
            for word in words {
                match word.split_once('=') {
                    Some((key, value)) => {
                        self.spec.env.insert(key.to_owned(), value.to_owned());
                    }
                    None => self.lost(setting, format!("`{word}` is not KEY=VALUE")),
                }
            }
        }
    }

    /// Every command of a key, with remarks about their prefixes.
    fn execs(&mut self, key: &str) -> Result<Vec<Exec>, Unreadable> {
        let unit = self.unit;
        let mut execs = Vec::new();
        for setting in unit.all("Service", key) {
            let found = exec::read(&setting.value).ok_or_else(|| {
                let hint = "quotes and backslashes are those of systemd.service(5)";
                setting.place.unreadable(1, format!("the command of {key} is not understood"), hint)
            })?;
            if found.iter().any(|exec| exec.is_privileged) {
                self.lost(
                    setting,
                    "it ran with more rights than its user (`+`, `!`); it runs as `user` here",
                );
            }
            if found.iter().any(|exec| exec.has_other_name) {
                self.changed(setting, "it was called by another name (`@`); it has its own here");
            }
            execs.extend(found);
        }
        Ok(execs)
    }

    fn start(&mut self) -> Result<(), Unreadable> {
        let unit = self.unit;
        let mut execs = self.execs("ExecStart")?;
        let Some(setting) = unit.last("Service", "ExecStart") else {
            let hint = "give the unit that has ExecStart; drop-ins belong to `name.service.d/`";
            return Err(unit.place.unreadable(1, format!("`{}` starts nothing", unit.name), hint));
        };
        if !self.is_oneshot() {
            if execs.iter().any(|exec| exec.is_failure_ignored) {
                self.changed(setting, "its failure was no failure (`-`); it is one here");
                execs.iter_mut().for_each(|exec| exec.is_failure_ignored = false);
            }
            execs.truncate(1);
        }
        let command = Command::of(&execs, &self.spec.env);
        if execs.len() > 1 {
            self.changed(setting, "its commands follow each other in a shell");
        }
        self.about_variables(setting, &command);
        self.spec.command = command.argv;
        if let Some(setting) = unit.last("Service", "Type") {
            match setting.value.as_str() {
                "simple" | "exec" | "oneshot" => {}
                "idle" => self.note(setting, "it starts at once"),
                "forking" => self.lost(
                    setting,
                    "a program that goes into the background is not followed; start it in \
                     the foreground (often a flag such as -f or --foreground)",
                ),
                "notify" | "notify-reload" | "dbus" => self.lost(
                    setting,
                    "nothing waits until it says that it is ready; it counts as started at \
                     once, a `health` check says more",
                ),
                other => self.lost(setting, format!("`{other}` is not known")),
            }
        }
        Ok(())
    }

    fn about_variables(&mut self, setting: &Setting<'_>, command: &Command) {
        if !command.variables.is_empty() {
            let mut names = command.variables.clone();
            names.sort_unstable();
            names.dedup();
            self.changed(
                setting,
                format!("a shell fills in {}; set it in `env`", names.join(", ")),
            );
        }
    }

    fn restart(&mut self) {
        let unit = self.unit;
        let setting = unit.last("Service", "Restart");
        let policy = setting.map_or("no", |setting| setting.value.as_str());
        let is_oneshot = self.is_oneshot();
        self.spec.mode = if is_oneshot || policy == "no" { Mode::Once } else { Mode::Forever };
        match (policy, setting) {
            ("no", _) if !is_oneshot => {
                self.draft.note(
                    unit.place,
                    self.name.as_str(),
                    "it is not restarted, so it runs once; a service that should always be \
                     there has mode `forever`",
                );
            }
            ("no", _) => {}
            ("always", _) if !is_oneshot => {}
            ("on-failure" | "always", _) => self.spec.restart.on = Some(RestartOn::Failure),
            ("on-abnormal" | "on-abort" | "on-watchdog", Some(setting)) => {
                self.spec.restart.on = Some(RestartOn::Failure);
                self.changed(
                    setting,
                    "every failure is followed by a restart, also a bad exit code",
                );
            }
            (other, Some(setting)) => {
                self.changed(
                    setting,
                    format!("`{other}` cannot be said; it is restarted whenever it ends"),
                );
            }
            (_, None) => {}
        }
        if policy != "no" {
            self.restart_delay();
        }
        self.start_limit();
        if let Some(setting) = unit.last("Service", "SuccessExitStatus") {
            for word in setting.value.split_whitespace() {
                match word.parse::<i32>() {
                    Ok(0) => {}
                    Ok(code) => self.spec.restart.success_codes.push(code),
                    Err(_) => self.lost(
                        setting,
                        format!("`{word}` is no exit code; only codes can be successes"),
                    ),
                }
            }
        }
    }

    fn restart_delay(&mut self) {
        let delay = self.parsed("RestartSec", systemd_span);
        let steps = self.parsed("RestartSteps", |text| text.parse::<u32>().ok());
        let longest = self.parsed("RestartMaxDelaySec", systemd_span);
        if let (Some(steps), Some(longest)) = (steps.filter(|steps| *steps > 0), longest) {
            let delay = delay.unwrap_or(DEFAULT_RESTART);
            let restart = &mut self.spec.restart;
            (restart.delay, restart.max_delay) = (delay, longest.max(delay));
            restart.factor = growth(delay, longest, steps);
            let unit = self.unit;
            if let Some(setting) = unit.last("Service", "RestartSteps") {
                let factor = self.spec.restart.factor;
                self.changed(
                    setting,
                    format!("waits grow by whole factors; each is {factor} times the one before"),
                );
            }
        } else if let Some(delay) = delay {
            let on = self.spec.restart.on;
            self.spec.restart = RestartPolicy {
                on,
                delay,
                max_delay: delay,
                factor: 1,
                jitter: 0,
                ..RestartPolicy::default()
            };
        }
    }

    fn start_limit(&mut self) {
        let unit = self.unit;
        let find = |keys: &[&str]| {
            ["Unit", "Service"]
                .into_iter()
                .find_map(|section| keys.iter().find_map(|key| unit.last(section, key)))
        };
        let burst = find(&["StartLimitBurst"]);
        let interval = find(&["StartLimitIntervalSec", "StartLimitInterval"]);
        if burst.is_none() && interval.is_none() {
            return;
        }
        let count = burst.map_or(Some(DEFAULT_BURST), |setting| setting.value.parse().ok());
        let window =
            interval.map_or(Some(DEFAULT_INTERVAL), |setting| systemd_span(&setting.value));
        match (count, window) {
            (Some(count), Some(window)) if count > 0 && !window.is_zero() => {
                self.spec.restart.attempts = Some(count);
                self.spec.restart.window = window;
            }
            (Some(_), Some(_)) => {}
            _ => {
                if let Some(setting) = burst.or(interval) {
                    self.lost(setting, "it is not understood; it is never given up");
                }
            }
        }
    }

    fn timeouts(&mut self) {
        let either = |reading: &mut Self, key: &str| {
            let key = if reading.unit.last("Service", key).is_some() { key } else { "TimeoutSec" };
            reading.parsed(key, endless_span)
        };
        let start = either(self, "TimeoutStartSec");
        self.spec.stop.grace = match either(self, "TimeoutStopSec") {
            Some(None) => Span::from_secs(86_400),
            Some(Some(grace)) => grace,
            None => DEFAULT_TIMEOUT,
        };
        let runtime = self.parsed("RuntimeMaxSec", endless_span).flatten();
        self.spec.timeout = runtime.or(start.flatten().filter(|_| self.is_oneshot()));
        if let Some(signal) = self.parsed("KillSignal", quantities::signal) {
            self.spec.stop.signal = signal;
        }
        let unit = self.unit;
        if let Some(setting) = unit.last("Service", "KillMode") {
            match setting.value.as_str() {
                "control-group" => {}
                "mixed" => self.changed(
                    setting,
                    "all processes of the run get the stop signal, not only the first",
                ),
                _ => self.lost(setting, "all processes of a run are always stopped with it"),
            }
        }
    }

    fn hooks(&mut self) -> Result<(), Unreadable> {
        let half = |reading: &Self, key: &str| {
            let span =
                reading.unit.text("Service", key).or(reading.unit.text("Service", "TimeoutSec"));
            span.and_then(systemd_span).filter(|span| !span.is_zero()).unwrap_or(DEFAULT_TIMEOUT)
        };
        let (starting, stopping) = (half(self, "TimeoutStartSec"), half(self, "TimeoutStopSec"));
        self.spec.hooks.pre_start = self.hook("ExecStartPre", starting)?;
        self.spec.hooks.post_start = self.hook("ExecStartPost", starting)?;
        self.spec.hooks.pre_stop = self.hook("ExecStop", stopping)?;
        self.spec.hooks.post_stop = self.hook("ExecStopPost", stopping)?;
        Ok(())
    }

    fn hook(&mut self, key: &str, timeout: Span) -> Result<Option<Hook>, Unreadable> {
        let unit = self.unit;
        let execs = self.execs(key)?;
        let Some(setting) = unit.last("Service", key) else {
            return Ok(None);
        };
        if let (key, [exec]) = (key, execs.as_slice())
            && key == "ExecStop"
            && let Some(signal) = kills_main(&exec.words)
        {
            self.spec.stop.signal = signal;
            self.note(setting, format!("this is the stop signal {signal}; no hook is needed"));
            return Ok(None);
        }
        let command = Command::of(&execs, &self.spec.env);
        if command.variables.iter().any(|name| name == "MAINPID") {
            self.lost(
                setting,
                "hooks do not know $MAINPID; let the program stop at its stop signal",
            );
            return Ok(None);
        }
        self.about_variables(setting, &command);
        Ok((!command.argv.is_empty()).then_some(Hook { command: command.argv, timeout }))
    }

    /// Whatever was not looked at by name.
    fn around(&mut self) {
        let unit = self.unit;
        let mut confining: Vec<&Setting<'_>> = Vec::new();
        for setting in &unit.settings {
            let key = setting.key.as_str();
            let is_known = match setting.section.as_str() {
                "Service" => super::settings::is_service(key),
                "Unit" => super::settings::is_unit(key),
                "Install" => true,
                section => section.starts_with("X-"),
            };
            if is_known || setting.value.is_empty() || lost::is_silent(key) {
                continue;
            }
            if lost::is_confinement(key) {
                confining.push(setting);
            } else if !is_usual_output(setting) {
                self.lost(setting, lost::advice(key));
            }
        }
        if let Some(first) = confining.first() {
            let mut keys: Vec<&str> =
                confining.iter().map(|setting| setting.key.as_str()).collect();
            keys.dedup();
            let place: Place<'_> = first.place;
            self.draft.lost(
                place,
                format!("{}.confinement", self.name),
                format!(
                    "{}: nothing confines a process beyond its user and its limits",
                    keys.join(", ")
                ),
            );
        }
    }
}

fn is_usual_output(setting: &Setting<'_>) -> bool {
    matches!(setting.key.as_str(), "StandardOutput" | "StandardError")
        && matches!(setting.value.as_str(), "journal" | "inherit")
}

/// `Some(None)` for no end.
fn endless_span(text: &str) -> Option<Option<Span>> {
    match text {
        "infinity" => Some(None),
        _ => systemd_span(text).map(|span| Some(span).filter(|span| !span.is_zero())),
    }
}

/// The whole factor that comes nearest to growing from one to the other in so many steps.
fn growth(from: Span, to: Span, steps: u32) -> u32 {
    let reaches = |factor: u32| {
        let most = u64::from(factor).saturating_pow(steps);
        from.millis().max(1).saturating_mul(most) >= to.millis()
    };
    (1..=100).find(|factor| reaches(*factor)).unwrap_or(100)
}

/// `/bin/kill -s HUP $MAINPID` and its like.
fn kills_main(words: &[String]) -> Option<hostler_model::StopSignal> {
    let (program, rest) = words.split_first()?;
    if crate::names::base(program) != "kill"
        || !matches!(rest.last()?.as_str(), "$MAINPID" | "${MAINPID}")
    {
        return None;
    }
    match &rest[..rest.len() - 1] {
        [] => quantities::signal("TERM"),
        [flag, signal] if flag == "-s" => quantities::signal(signal),
        [flag] => quantities::signal(flag.strip_prefix('-')?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::StopSignal;

    #[test]
    fn growth_is_a_whole_factor() {
        assert_eq!(growth(Span::from_secs(1), Span::from_secs(64), 6), 2);
        assert_eq!(growth(Span::from_secs(5), Span::from_secs(5), 3), 1);
        assert_eq!(growth(Span::from_millis(0), Span::from_secs(1_000_000), 1), 100);
    }

    #[test]
    fn a_kill_of_the_main_process_is_a_signal() {
        let kills = |text: &str| kills_main(&exec::split(text).unwrap());
        assert_eq!(kills("/bin/kill -s QUIT $MAINPID"), Some(StopSignal::Quit));
        assert_eq!(kills("/usr/bin/kill -INT ${MAINPID}"), Some(StopSignal::Int));
        assert_eq!(kills("kill $MAINPID"), Some(StopSignal::Term));
        assert_eq!(kills("/usr/bin/app stop"), None);
    }
}
