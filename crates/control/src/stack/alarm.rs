//! Alarms are looked after: measured, judged, and whoever is to be told is told.
//!
//! What nodes and workloads use is in rows, so every server measures the same, every ten seconds, and keeps what an alarm
//! looks back on in memory, as it keeps the history of figures. One of them at a time judges (`engine::stack::alarm`); a server
//! that has not looked for long enough leaves every alarm as it is. How an alarm stands is in its resource.
//!
//! First an action is done, and then it is written how the alarm stands: a server that dies between the two leaves it to the
//! next one, which does it again. So every action is done at least once; what a policy does it does not do twice within its
//! cooldown.
//!
//! Everything is done in the name of whoever asked for the stack, with what they may do now.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use hostler_base::chain::chain;
use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::stack::alarm::{AlarmState, AlarmVerdict, Reading, judge};
use hostler_model::stack::{ResourceAction, ResourceBody, Stack, StackResource, StackStatus};
use hostler_model::{
    Action, Error, HttpAction, HttpMethod, Need, Node, NodeId, NodeState, Permission, Phase,
    Project, Service, Span, StackId, StackResourceId, Timestamp, WorkloadId, WorkloadUsage,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::SignalPass;
use super::plugin::{ALARM, ALARM_BEGIN, AlarmSpec, alarm_state};
use crate::{Control, Cx, Order, RequestMeta};

/// For how long a server that judges keeps others from it.
const LEASE: Duration = Duration::from_secs(30);
const LEASE_NAME: &str = "stack-alarm";
/// What was told longer ago is not how things stand.
const USAGE_KEEP: Duration = Duration::from_secs(180);
/// The most that is kept of one alarm: a day.
const READINGS_MAX: usize = 8_640;
/// How long somebody outside may take to be told.
const CALL_TIME: Span = Span::from_secs(10);

/// The loop that looks after alarms.
pub struct StackAlarms {
    control: Control,
    books: HashMap<StackResourceId, Book>,
}

/// What was measured for one alarm.
struct Book {
    spec: AlarmSpec,
    since: Timestamp,
    readings: VecDeque<Reading>,
    /// When its actions were done last.
    told: Timestamp,
}

/// What a pass over alarms did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AlarmReport {
    pub alarms: usize,
    pub measured: usize,
    /// That stand otherwise from now on.
    pub changed: usize,
    /// Actions that were done.
    pub actions: usize,
    /// Actions that could not be done, and alarms that could not be written.
    pub failed: usize,
}

/// An alarm, with the stack that it is of.
struct Watched {
    stack: Stack,
    row: StackResource,
    body: ResourceBody,
    spec: AlarmSpec,
}

/// Everything that can be measured, at one moment.
struct Fleet {
    nodes: Vec<Node>,
    services: Vec<Service>,
    /// Where services are, how they stand there, and on which node.
    places: Vec<(WorkloadId, Option<Phase>, Option<WorkloadUsage>)>,
}

impl Control {
    /// A reconciler of alarms for this server; tests advance it by hand.
    pub fn stack_alarms(&self) -> StackAlarms {
        StackAlarms { control: self.clone(), books: HashMap::new() }
    }
}

impl Reconciler for StackAlarms {
    const NAME: &'static str = "stack_alarm";
    const DESCRIPTION: &'static str =
        "measures what alarms of stacks look at, and tells when one rings";
    type Report = AlarmReport;

    async fn reconcile(&mut self) -> Pass<AlarmReport> {
        crate::reconcile::pass(self.advance().await)
    }
}

impl StackAlarms {
    /// Measures for every alarm, and judges those that this server judges.
    pub async fn advance(&mut self) -> Result<Pass<AlarmReport>, Error> {
        let now = self.control.now();
        let watched = self.control.alarms_watched().await?;
        let present: HashSet<StackResourceId> = watched.iter().map(|one| one.row.id).collect();
        self.books.retain(|id, _| present.contains(id));
        let mut report = AlarmReport { alarms: watched.len(), ..AlarmReport::default() };
        if watched.is_empty() {
            return Ok(Pass::done(report));
        }
        let fleet = self.control.alarm_fleet(now).await?;
        for one in &watched {
            let value = fleet.measure(&one.spec, one.stack.project_id);
            report.measured += usize::from(value.is_some());
            self.note(one, value, now);
        }
        if !self.control.alarm_lease(now).await? {
            return Ok(Pass::done(report));
        }
        for one in &watched {
            if let Err(error) = self.look(one, now, &mut report).await {
                report.failed += 1;
                let (stack, alarm) = (&one.stack.name, &one.row.name);
                tracing::warn!(%stack, alarm, error = %chain(&error), "an alarm cannot be looked after");
            }
        }
        Ok(Pass::done(report))
    }

    fn note(&mut self, one: &Watched, value: Option<f64>, now: Timestamp) {
        let fresh =
            || Book { spec: one.spec.clone(), since: now, readings: VecDeque::new(), told: now };
        let book = self.books.entry(one.row.id).or_insert_with(fresh);
        // What was measured for something else says nothing.
        if book.spec.metric != one.spec.metric
            || (&book.spec.node, &book.spec.workloads, &book.spec.tag, book.spec.across)
                != (&one.spec.node, &one.spec.workloads, &one.spec.tag, one.spec.across)
        {
            *book = fresh();
        }
        book.spec = one.spec.clone();
        book.readings.extend(value.map(|value| Reading { time: now, value }));
        let from = now.minus(one.spec.rule.reach());
        while book.readings.len() > READINGS_MAX
            || book.readings.front().is_some_and(|first| first.time <= from)
        {
            book.readings.pop_front();
        }
    }

    async fn look(
        &mut self,
        one: &Watched,
        now: Timestamp,
        report: &mut AlarmReport,
    ) -> Result<(), Error> {
        let Some(book) = self.books.get_mut(&one.row.id) else { return Ok(()) };
        let before = alarm_state(&one.body.data);
        let verdict =
            judge(&one.spec.rule, book.readings.make_contiguous(), book.since, before, now);
        let Some(verdict) = verdict else { return Ok(()) };
        let is_news = verdict.state != before;
        let is_due = one.spec.repeats && book.told.plus(one.spec.rule.period) <= now;
        if !is_news && !is_due {
            return Ok(());
        }
        book.told = now;
        let hand = self.control.alarm_hand(one).await?;
        for action in one.spec.actions(verdict.state) {
            match self.control.alarm_act(&hand, one, action, before, &verdict).await {
                Ok(()) => report.actions += 1,
                Err(error) => {
                    report.failed += 1;
                    let (stack, alarm) = (&one.stack.name, &one.row.name);
                    tracing::warn!(%stack, alarm, action, error = %chain(&error), "an action of an alarm failed");
                }
            }
        }
        if is_news {
            self.control.alarm_write(&hand, one, before, &verdict).await?;
            report.changed += 1;
        }
        Ok(())
    }
}

/// Who acts for an alarm, and where.
struct Hand {
    cx: Cx,
    project: Project,
}

fn told(one: &Watched, before: AlarmState, verdict: &AlarmVerdict) -> Value {
    json!({
        "alarm_id": one.row.physical,
        "alarm_name": one.row.name,
        "previous": before.label(),
        "current": verdict.state.label(),
        "reason": verdict.reason,
    })
}

impl Control {
    /// Every alarm of a stack that is there and wants to be looked at.
    async fn alarms_watched(&self) -> Result<Vec<Watched>, Error> {
        let mut read = self.store.read().await?;
        let rows = read.stack_resources_physical_begin(ALARM_BEGIN).await?;
        let mut stacks: HashMap<StackId, Option<Stack>> = HashMap::new();
        let mut watched = Vec::with_capacity(rows.len());
        for row in rows {
            let is_resting =
                matches!(row.standing.action, ResourceAction::Suspend | ResourceAction::Delete);
            let is_well = row.standing.status == StackStatus::Complete;
            if is_resting || !is_well || row.replaced_by.is_some() {
                continue;
            }
            let stack = match stacks.get(&row.stack_id) {
                Some(known) => known.clone(),
                None => {
                    let found = read.stack_get(row.stack_id).await?.filter(|it| !it.is_deleted());
                    stacks.entry(row.stack_id).or_insert(found).clone()
                }
            };
            let Some(stack) = stack else { continue };
            let opened =
                self.stack_key(&stack).and_then(|key| key.open_resource(row.id, &row.sealed));
            let body = match opened {
                Ok(body) => body,
                Err(error) => {
                    let (stack, alarm) = (&stack.name, &row.name);
                    tracing::warn!(%stack, alarm, error = %chain(&error), "an alarm cannot be opened");
                    continue;
                }
            };
            let spec = AlarmSpec::read(&body.properties).filter(|spec| spec.is_enabled);
            let Some(spec) = spec.filter(|_| body.plugin == ALARM) else { continue };
            watched.push(Watched { stack, row, body, spec });
        }
        Ok(watched)
    }

    async fn alarm_fleet(&self, now: Timestamp) -> Result<Fleet, Error> {
        let mut read = self.store.read().await?;
        let nodes = read.node_list_all_present().await?;
        let services = read.service_list_all().await?;
        let mut told = read.node_usage_since(now.minus(USAGE_KEEP)).await?;
        let online: HashSet<NodeId> =
            nodes.iter().filter(|it| it.state == NodeState::Online).map(|it| it.id).collect();
        let mut places = Vec::new();
        for placement in read.service_placements_all().await? {
            if !online.contains(&placement.node_id) {
                continue;
            }
            let of_node = told.entry(placement.node_id).or_default();
            let at = of_node.iter().position(|usage| usage.placement == placement.id);
            let usage = at.map(|at| of_node.swap_remove(at));
            let phase = placement.status.as_ref().map(|status| status.phase);
            places.push((placement.workload_id, phase, usage));
        }
        Ok(Fleet { nodes, services, places })
    }

    /// Whether this server judges now.
    async fn alarm_lease(&self, now: Timestamp) -> Result<bool, Error> {
        let (holder, until) = (self.server_id, now.plus(LEASE));
        self.store
            .tx("stack_alarm", |tx| {
                Box::pin(async move {
                    Ok::<_, Error>(tx.lease_acquire(LEASE_NAME, holder, now, until).await?)
                })
            })
            .await
    }

    /// Whoever asked for the stack, as they are now; measures of nodes are only for those who may see them.
    async fn alarm_hand(&self, one: &Watched) -> Result<Hand, Error> {
        let caller = self.mandate_caller(&one.stack.mandate).await?;
        let id = one.stack.project_id;
        let project = self.store.read().await?.project_get(id).await?;
        let project = project.ok_or_else(|| Error::not_found("project", id))?;
        let needed = match one.spec.metric.starts_with("node.") {
            true => Permission::NodeRead,
            false => Permission::WorkloadRead,
        };
        self.authorise(&caller, Need::of(needed, Some(id)))?;
        let request = RequestMeta {
            request_id: one.row.physical.clone().unwrap_or_default(),
            trace: None,
            source: format!("alarm {} of stack {}", one.row.name, one.stack.name),
            user_agent: String::new(),
            idempotency: None,
            consent: None,
        };
        Ok(Hand { cx: Cx { caller, request }, project })
    }

    async fn alarm_act(
        &self,
        hand: &Hand,
        one: &Watched,
        action: &str,
        before: AlarmState,
        verdict: &AlarmVerdict,
    ) -> Result<(), Error> {
        let body = told(one, before, verdict);
        if let Some(address) = Address::of(&self.config.stacks.address, action) {
            let Address { stack, resource, pass } = address;
            let request = &hand.cx.request;
            self.stack_signal_by_address(request, stack, &resource, &pass, &body).await?;
            return Ok(());
        }
        if !action.contains("://") {
            let stack = one.stack.id.to_string();
            self.stack_signal(&hand.cx, &hand.project, &stack, action, &body).await?;
            return Ok(());
        }
        let call = Action::Http(Box::new(HttpAction {
            method: HttpMethod::Post,
            url: action.to_owned(),
            headers: std::collections::BTreeMap::new(),
            body: body.to_string(),
            bearer: None,
            sign: None,
            timeout: CALL_TIME,
        }));
        let order = Order {
            mandate: one.stack.mandate,
            project: &hand.project,
            action: &call,
            key: format!("alarm/{}/{}", one.row.id, self.now()),
            cause: hand.cx.request.source.clone(),
            consent: None,
        };
        self.action_perform(&order).await.map(drop).map_err(|failure| failure.error)
    }

    async fn alarm_write(
        &self,
        hand: &Hand,
        one: &Watched,
        before: AlarmState,
        verdict: &AlarmVerdict,
    ) -> Result<(), Error> {
        let (stack, body) = (one.stack.id.to_string(), told(one, before, verdict));
        let physical = one.row.physical.as_deref().unwrap_or(&one.row.name);
        self.stack_signal(&hand.cx, &hand.project, &stack, physical, &body).await?;
        Ok(())
    }
}

impl Fleet {
    /// What is measured now; nothing where there is nobody to measure it.
    fn measure(&self, spec: &AlarmSpec, project: hostler_model::ProjectId) -> Option<f64> {
        let values = match spec.metric.strip_prefix("node.") {
            Some(metric) => self.of_nodes(metric, spec.node.as_deref()),
            None => {
                let is_meant = |service: &&Service| is_meant(spec, project, service);
                let meant: HashSet<WorkloadId> =
                    self.services.iter().filter(is_meant).map(|it| it.id).collect();
                let metric = spec.metric.strip_prefix("workload.").unwrap_or_default();
                self.of_workloads(metric, &meant)
            }
        };
        spec.across.over(&values)
    }

    #[expect(clippy::cast_precision_loss, reason = "percents need no more than 52 bits")]
    fn of_nodes(&self, metric: &str, name: Option<&str>) -> Vec<f64> {
        let is_meant = |node: &&Node| {
            let is_named =
                name.is_none_or(|name| node.name.as_str() == name || node.id.to_string() == name);
            is_named && node.state == NodeState::Online
        };
        let percent =
            |part: u64, whole: u64| (whole > 0).then(|| part as f64 * 100.0 / whole as f64);
        let measure = |node: &Node| {
            let metrics = node.lease.as_ref()?.metrics.as_ref()?;
            match metric {
                "cpu" => Some(metrics.cpu_ratio * 100.0),
                "memory" => {
                    let whole = node.facts.as_ref()?.memory;
                    percent(metrics.memory_used.get(), whole.get())
                }
                "disk" => percent(metrics.disk_used.get(), metrics.disk_size.get()),
                "load" => Some(metrics.load_1m),
                "temperature" => metrics.temperature,
                _ => None,
            }
        };
        self.nodes.iter().filter(is_meant).filter_map(measure).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "bytes and counts need no more than 52 bits")]
    fn of_workloads(&self, metric: &str, meant: &HashSet<WorkloadId>) -> Vec<f64> {
        let places = self.places.iter().filter(|(workload, ..)| meant.contains(workload));
        match metric {
            "running" => {
                let running = places.filter(|(_, phase, _)| *phase == Some(Phase::Running));
                vec![running.count() as f64]
            }
            "cpu" => places.filter_map(|(.., usage)| Some(usage.as_ref()?.cpu)).collect(),
            "memory" => {
                places.filter_map(|(.., usage)| Some(usage.as_ref()?.memory.get() as f64)).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn is_meant(spec: &AlarmSpec, project: hostler_model::ProjectId, service: &Service) -> bool {
    let is_all = spec.workloads.is_empty() && spec.tag.is_none();
    let is_named = || {
        let id = service.id.to_string();
        spec.workloads.iter().any(|one| *one == id || one == service.name.as_str())
    };
    let is_tagged = || spec.tag.as_ref().is_some_and(|tag| service.spec.tags.contains(tag));
    service.project_id == project && (is_all || is_named() || is_tagged())
}

/// One of our own addresses for signals, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address {
    stack: StackId,
    resource: String,
    pass: SignalPass,
}

impl Address {
    /// Nothing for what is no address of ours.
    fn of(base: &str, text: &str) -> Option<Address> {
        let path = text.strip_prefix(base.trim_end_matches('/'))?.strip_prefix("/v1/")?;
        let (door, rest) = path.split_once('/')?;
        let is_wait_condition = match door {
            "waitcondition" => true,
            "signal" => false,
            _ => return None,
        };
        let (path, query) = rest.split_once('?')?;
        // ARN/NAME/ID/resources/RESOURCE
        let parts: Vec<&str> = path.split('/').collect();
        let [_, _, stack, "resources", resource] = parts.as_slice() else { return None };
        let mut pass = SignalPass { is_wait_condition, expires: None, signature: String::new() };
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match name {
                "Expires" => pass.expires = Some(value.parse().ok()?),
                "Signature" => value.clone_into(&mut pass.signature),
                _ => {}
            }
        }
        Some(Address { stack: stack.parse().ok()?, resource: plain(resource)?, pass })
    }
}

/// A part of a path as text.
fn plain(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_ours_are_taken_apart() {
        let id = "0192f3c4-0000-7000-8000-000000000001";
        let path = format!("/v1/signal/arn%3Aopenstack/web/{id}/resources/scale%20up");
        let cases = [
            ("", format!("{path}?Signature=ab"), Some(None)),
            (
                "https://h:8000",
                format!("https://h:8000{path}?Expires=17&Signature=ab"),
                Some(Some(17)),
            ),
            ("https://h:8000/", format!("https://h:8000{path}?Signature=ab"), Some(None)),
            ("https://h:8000", format!("https://other{path}?Signature=ab"), None),
            ("", path.clone(), None),
            ("", "/v1/stacks".to_owned(), None),
            ("", "scale_up".to_owned(), None),
            ("", "https://example.org/hook".to_owned(), None),
        ];
        for (base, text, wanted) in cases {
            let found = Address::of(base, &text);
            assert_eq!(found.as_ref().map(|it| it.pass.expires), wanted, "{base} {text}");
            if let Some(found) = found {
                assert_eq!(
                    (found.resource.as_str(), found.stack.to_string()),
                    ("scale up", id.to_owned())
                );
                assert_eq!(found.pass.signature, "ab");
            }
        }
    }
}
