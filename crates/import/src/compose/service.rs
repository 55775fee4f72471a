//! One service.

use std::collections::BTreeMap;

use hostler_model::{
    Check, Dependency, DependencyCondition, HealthCheck, Hook, Mode, Name, OnUnhealthy, RestartOn,
    Span, WorkloadSpec,
};

use super::tree::{Content, Node, Pair};
use super::{deploy, lost};
use crate::environment::Variables;
use crate::plan::{Draft, Place, Unreadable};
use crate::{names, quantities, words};

const DEFAULT_INTERVAL: Span = Span::from_secs(30);
const DEFAULT_TIMEOUT: Span = Span::from_secs(30);

/// A service while it is read.
pub struct Reading<'r, 'a> {
    pub service: &'r str,
    pub node: &'r Node<'a>,
    pub spec: WorkloadSpec,
    pub draft: &'r mut Draft,
}

impl Reading<'_, '_> {
    pub fn lost(&mut self, place: Place<'_>, key: &str, detail: impl Into<String>) {
        self.draft.lost(place, format!("{}.{key}", self.service), detail);
    }
    pub fn changed(&mut self, place: Place<'_>, key: &str, detail: impl Into<String>) {
        self.draft.changed(place, format!("{}.{key}", self.service), detail);
    }
    pub fn note(&mut self, place: Place<'_>, key: &str, detail: impl Into<String>) {
        self.draft.note(place, format!("{}.{key}", self.service), detail);
    }

    /// A value that has to be understood; a remark where it is not.
    pub fn parsed<T>(
        &mut self,
        key: &str,
        node: &Node<'_>,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let found = node.scalar().and_then(|text| read(text.trim()));
        if found.is_none() {
            let text = node.scalar().unwrap_or("this");
            self.lost(node.place, key, format!("`{text}` is not understood"));
        }
        found
    }

    /// Without its image, is the service what its paths say?
    fn is_container(&self) -> bool {
        self.node.get("image").or_else(|| self.node.get("build")).is_some()
    }
}

pub fn read(
    service: &str,
    node: &Node<'_>,
    names: &BTreeMap<&str, Name>,
    variables: &Variables,
    draft: &mut Draft,
) -> Result<WorkloadSpec, Unreadable> {
    let mut reading = Reading { service, node, spec: WorkloadSpec::default(), draft };
    command(&mut reading)?;
    restart(&mut reading);
    for pair in node.pairs() {
        setting(&mut reading, pair, names, variables);
    }
    Ok(reading.spec)
}

fn setting(
    reading: &mut Reading<'_, '_>,
    pair: &Pair<'_>,
    names: &BTreeMap<&str, Name>,
    variables: &Variables,
) {
    let (key, place, value) = (pair.key.as_str(), pair.place, &pair.value);
    match key {
        "image" | "command" | "entrypoint" | "restart" => {}
        "environment" => environment(reading, value, variables),
        "working_dir" => {
            reading.spec.workdir = value.scalar().map(str::to_owned);
            if reading.is_container() {
                reading.note(
                    place,
                    key,
                    "this is a folder of the container; it has to exist on the node",
                );
            }
        }
        "user" => user(reading, place, value),
        "depends_on" => depends(reading, value, names),
        "healthcheck" => health(reading, value),
        "stop_signal" => {
            let text = value.scalar().unwrap_or_default();
            match quantities::signal(text) {
                Some(signal) => reading.spec.stop.signal = signal,
                None => reading.lost(
                    place,
                    key,
                    format!("`{text}` cannot be a stop signal; SIGTERM is sent"),
                ),
            }
        }
        "stop_grace_period" => {
            if let Some(grace) = reading.parsed(key, value, quantities::go_span) {
                reading.spec.stop.grace = grace;
            }
        }
        "profiles" => {
            let profiles = value.texts().into_iter().map(|(_, text)| format!("profile:{text}"));
            reading.spec.tags.extend(profiles);
            reading.changed(
                place,
                key,
                "profiles are tags here; they do not decide whether it runs",
            );
        }
        "labels" => labels(reading, value),
        "label_file" => reading.lost(place, key, "the file is not read; write `tags`"),
        "container_name" => {
            reading.note(place, key, format!("it is called `{}` here", names[reading.service]))
        }
        "post_start" | "pre_stop" => hook(reading, pair),
        "ulimits" => ulimits(reading, value),
        "deploy" => deploy::read(reading, value),
        "scale" => deploy::replicas(reading, key, value),
        "mem_limit" | "mem_reservation" | "cpus" | "cpu_shares" | "cpu_quota" | "cpu_period"
        | "pids_limit" => deploy::limit(reading, key, value),
        other if other.starts_with("x-") => {}
        other => {
            let advice = lost::advice(other).unwrap_or("this setting is not known");
            reading.lost(place, other, advice);
        }
    }
}

fn command(reading: &mut Reading<'_, '_>) -> Result<(), Unreadable> {
    let node = reading.node;
    let mut argv = Vec::new();
    for key in ["entrypoint", "command"] {
        let Some(value) = node.get(key) else { continue };
        match &value.content {
            Content::Scalar(text) => {
                let words = words::split(text).map_err(|error| {
                    let detail = format!("the {key} of `{}`: {error}", reading.service);
                    value.place.unreadable(1, detail, "quote it as in a shell, or write a list")
                })?;
                argv.extend(words);
            }
            Content::List(_) | Content::Map(_) | Content::Null => {
                argv.extend(value.texts().into_iter().map(|(_, text)| text.to_owned()));
            }
        }
    }
    let image = node.get("image").filter(|image| image.scalar().is_some());
    let is_guess = argv.first().is_none_or(String::is_empty);
    if is_guess {
        let guess = image.and_then(Node::scalar).map(image_name).filter(|name| !name.is_empty());
        argv = vec![guess.unwrap_or(reading.service).to_owned()];
    }
    match image {
        Some(image) => {
            let text = image.scalar().unwrap_or_default();
            let what = if is_guess {
                format!("the command lies in it; `{}` is a guess, write the real one", argv[0])
            } else if node.get("entrypoint").is_none() {
                "the image may put an entry point before the command".to_owned()
            } else {
                "the command stays".to_owned()
            };
            reading.lost(
                image.place,
                "image",
                format!("containers are not run; install what `{text}` holds on the nodes; {what}"),
            );
        }
        None if is_guess => {
            reading.lost(
                node.place,
                "command",
                format!("there is none; `{}` is a guess, write the real one", argv[0]),
            );
        }
        None => {}
    }
    reading.spec.command = argv;
    Ok(())
}

/// `registry.example:5000/team/app:1.2@sha256:..` is `app`.
fn image_name(image: &str) -> &str {
    let name = names::base(image.split('@').next().unwrap_or_default());
    name.split(':').next().unwrap_or_default()
}

fn restart(reading: &mut Reading<'_, '_>) {
    let value = reading.node.get("restart");
    let policy = value.and_then(Node::scalar).unwrap_or("no");
    let place = value.map_or(reading.node.place, |value| value.place);
    let (kind, tries) = policy.split_once(':').map_or((policy, None), |(k, n)| (k, Some(n)));
    reading.spec.mode = Mode::Forever;
    match kind {
        "always" | "unless-stopped" => {}
        "on-failure" => {
            reading.spec.restart.on = Some(RestartOn::Failure);
            reading.spec.restart.attempts = tries.and_then(|tries| tries.parse().ok());
        }
        "no" | "false" => {
            reading.spec.mode = Mode::Once;
            if value.is_none() && reading.node.get("deploy").is_none() {
                reading.note(
                    place,
                    "restart",
                    "there is no restart policy, so it runs once; a service that should \
                     always be there has mode `forever`",
                );
            }
        }
        other => reading.lost(
            place,
            "restart",
            format!("`{other}` is not a restart policy; it is always restarted"),
        ),
    }
}

fn environment(reading: &mut Reading<'_, '_>, value: &Node<'_>, variables: &Variables) {
    for (place, key, given) in value.entries() {
        match given.or_else(|| variables.get(&key).cloned()) {
            Some(value) => {
                reading.spec.env.insert(key, value);
            }
            None => reading.note(
                place,
                &format!("environment.{key}"),
                "its value comes from where Compose runs, and is not set here; it is left out",
            ),
        }
    }
}

fn user(reading: &mut Reading<'_, '_>, place: Place<'_>, value: &Node<'_>) {
    let text = value.scalar().unwrap_or_default();
    let (user, group) = text.split_once(':').map_or((text, None), |(u, g)| (u, Some(g)));
    reading.spec.user = Some(user.to_owned()).filter(|user| !user.is_empty());
    reading.spec.group = group.filter(|group| !group.is_empty()).map(str::to_owned);
    if text.split(':').any(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())) {
        reading.changed(
            place,
            "user",
            format!("`{text}` is a number; nodes want login names, so write the name it has there"),
        );
    } else if reading.is_container() {
        reading.note(place, "user", format!("`{text}` has to be a login name of the node"));
    }
}

fn depends(reading: &mut Reading<'_, '_>, value: &Node<'_>, names: &BTreeMap<&str, Name>) {
    let mut wanted: Vec<(Place<'_>, String, DependencyCondition)> = Vec::new();
    for (place, service) in value.texts() {
        wanted.push((place, service.to_owned(), DependencyCondition::Started));
    }
    for pair in value.pairs() {
        let field = |key: &str| pair.value.get(key);
        let condition = match field("condition").and_then(Node::scalar) {
            None | Some("service_started") => DependencyCondition::Started,
            Some("service_healthy") => DependencyCondition::Healthy,
            Some("service_completed_successfully") => DependencyCondition::Completed,
            Some(other) => {
                reading.lost(
                    pair.place,
                    "depends_on",
                    format!("`{other}` is not a condition; waits for its start"),
                );
                DependencyCondition::Started
            }
        };
        if field("restart").is_some_and(Node::is_true) {
            reading.lost(
                pair.place,
                "depends_on",
                format!("it is not restarted when `{}` is", pair.key),
            );
        }
        if field("required").and_then(Node::scalar) == Some("false") {
            reading.changed(pair.place, "depends_on", format!("`{}` is required here", pair.key));
        }
        wanted.push((pair.place, pair.key.clone(), condition));
    }
    for (place, service, condition) in wanted {
        match names.get(service.as_str()) {
            Some(workload) if service != reading.service => {
                reading.spec.depends.push(Dependency { workload: workload.clone(), condition });
            }
            _ => reading.lost(
                place,
                "depends_on",
                format!("there is no other service `{service}` in these files"),
            ),
        }
    }
}

fn health(reading: &mut Reading<'_, '_>, value: &Node<'_>) {
    if value.get("disable").is_some_and(Node::is_true) {
        return;
    }
    let Some(test) = value.get("test") else {
        reading.lost(
            value.place,
            "healthcheck",
            "its test lies in the image; write the command that asks",
        );
        return;
    };
    let argv: Vec<String> = match &test.content {
        Content::Scalar(text) => words::shell(text.as_str()),
        Content::List(_) | Content::Map(_) | Content::Null => {
            let words: Vec<String> =
                test.texts().into_iter().map(|(_, text)| text.to_owned()).collect();
            match words.split_first() {
                Some((kind, _)) if kind == "NONE" => return,
                Some((kind, rest)) if kind == "CMD" => rest.to_vec(),
                Some((kind, rest)) if kind == "CMD-SHELL" => words::shell(rest.join(" ")),
                _ => {
                    reading.lost(
                        test.place,
                        "healthcheck",
                        "a test begins with CMD, CMD-SHELL or NONE",
                    );
                    return;
                }
            }
        }
    };
    let mut check = HealthCheck {
        interval: DEFAULT_INTERVAL,
        timeout: DEFAULT_TIMEOUT,
        on_unhealthy: OnUnhealthy::Mark,
        ..HealthCheck::new(Check::Exec(argv))
    };
    for pair in value.pairs() {
        let key = format!("healthcheck.{}", pair.key);
        let target = match pair.key.as_str() {
            "interval" => &mut check.interval,
            "timeout" => &mut check.timeout,
            "start_period" => &mut check.start_period,
            "retries" => {
                if let Some(retries) = reading.parsed(&key, &pair.value, |text| text.parse().ok()) {
                    check.unhealthy_after = std::cmp::max(1, retries);
                }
                continue;
            }
            "test" | "disable" => continue,
            _ => {
                reading.lost(pair.place, &key, "it has no equivalent");
                continue;
            }
        };
        if let Some(span) = reading.parsed(&key, &pair.value, quantities::go_span) {
            *target = span;
        }
    }
    if reading.is_container() {
        reading.note(
            test.place,
            "healthcheck",
            "the command runs on the node, and has to be there",
        );
    }
    reading.spec.health.push(check);
}

fn labels(reading: &mut Reading<'_, '_>, value: &Node<'_>) {
    for (_, key, value) in value.entries() {
        reading.spec.tags.push(match value {
            Some(value) if !value.is_empty() => format!("{key}={value}"),
            _ => key,
        });
    }
}

fn hook(reading: &mut Reading<'_, '_>, pair: &Pair<'_>) {
    let mut commands = Vec::new();
    let items = match &pair.value.content {
        Content::List(items) => items.as_slice(),
        Content::Map(_) | Content::Scalar(_) | Content::Null => &[],
    };
    for item in items {
        match item.get("command").map(|command| &command.content) {
            Some(Content::Scalar(text)) => commands.push(words::split(text).unwrap_or_default()),
            Some(_) => commands.push(
                item.get("command")
                    .map(|list| list.texts().into_iter().map(|(_, text)| text.to_owned()).collect())
                    .unwrap_or_default(),
            ),
            None => {}
        }
        for other in item.pairs().iter().filter(|other| other.key != "command") {
            reading.lost(
                other.place,
                &format!("{}.{}", pair.key, other.key),
                "hooks run as the program does",
            );
        }
    }
    let command = match commands.as_slice() {
        [] => return,
        [one] => one.clone(),
        many => words::shell(
            many.iter().map(|words| words::quote_all(words)).collect::<Vec<_>>().join(" && "),
        ),
    };
    let hook = Some(Hook { command, timeout: Span::from_secs(30) });
    match pair.key.as_str() {
        "post_start" => reading.spec.hooks.post_start = hook,
        _ => reading.spec.hooks.pre_stop = hook,
    }
}

fn ulimits(reading: &mut Reading<'_, '_>, value: &Node<'_>) {
    for pair in value.pairs() {
        let key = format!("ulimits.{}", pair.key);
        if pair.key != "nofile" {
            reading.lost(
                pair.place,
                &key,
                "there is no such limit; set it for the user on the node",
            );
            continue;
        }
        let soft = pair.value.get("soft").unwrap_or(&pair.value);
        reading.spec.limits.files = reading.parsed(&key, soft, |text| text.parse().ok());
    }
}
