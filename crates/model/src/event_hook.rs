//! Event hooks: what is done whenever something happens.
//!
//! A hook names events (patterns and a filter) and an action. For every event that it takes there is one
//! delivery, a row whose key is the hook and the event's number: it is made in the transaction that moves the
//! cursor over the event, so that no event is missed and none is taken twice. What is *done* may be done more
//! than once, when nobody can know whether it was: every try of a delivery has the same id.
//!
//! Deliveries of one hook about one object are done one after the other, in the order of the events: they
//! form a *line*, of which only the first is [`DeliveryState::Ready`] or under way and the others are
//! [`DeliveryState::Queued`]. A delivery that cannot be done is given up after so many tries, or so long, and is a
//! *dead letter*: it is kept for a while, and can be replayed. [`OnDead`] says whether its line goes on without it.
//!
//! Owners and deadlines: *queued* is owned by the one before it and by the deadline of the delivery; *ready* by
//! the reconciler `hook_deliver`, which claims it when it is due; *performing* by the server that claimed it,
//! until its lease is over; *following* by the same reconciler until the time limit of the hook; *dead* by
//! the retention.
//!
//! Not to be confused with [`Hooks`](crate::Hooks) in the spec of a workload, which are commands around a run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::action::{Action, OperationAction, TaskAction, WorkflowAction, WorkloadAction};
use crate::filter::Filter;
use crate::suggest::nearest;
use crate::workflow::ExecutionOptions;
use crate::{
    CustomName, Diagnostic, EVENT_FIELDS, EventKind, EventName, Generation, HookId, Mandate, Name,
    ObjectRef, ParseEventNameError, Scope, SecretRef, Span, Timestamp,
};

/// Patterns of one hook.
const PATTERNS_MAX: usize = 50;
const DESCRIPTION_MAX: usize = 1000;
/// Of a Lua file, in bytes.
const LUA_MAX: usize = 64 << 10;
/// Of a template, in bytes.
const TEMPLATE_MAX: usize = 64 << 10;
const RECIPIENTS_MAX: usize = 50;
/// Deliveries of one hook that are done at the same time.
const AT_ONCE_MAX: u32 = 1000;
const ATTEMPTS_MAX: u32 = 100;
const DEPTH_MAX: u32 = 10;
const GIVE_UP_MAX: Span = Span::from_secs(30 * 86_400);
const WEBHOOK_TIME: Span = Span::from_secs(10);
const WEBHOOK_TIME_MAX: Span = Span::from_secs(300);
const WORK_TIME: Span = Span::from_secs(3600);
const WORK_TIME_MAX: Span = Span::from_secs(7 * 86_400);

/// What somebody wrote about a hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct EventHookSpec {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 1000))]
    pub description: String,
    /// Which events: exact kinds (`task.failed`), all of a noun (`task.*`), or all (`*`).
    pub on: Vec<EventPattern>,
    /// Only those of which this holds, such as `payload.exitCode > 1`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub filter: String,
    pub action: HookAction,
    /// Of a hook of the whole installation: where its tasks run and its secrets are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Name>,
    /// Deliveries at the same time, on all servers together.
    #[serde(default = "twenty", skip_serializing_if = "is_twenty")]
    pub at_once: u32,
    #[serde(default, skip_serializing_if = "HookRetry::is_usual")]
    pub retry: HookRetry,
    /// How long one try may take; 10 s for a webhook and 1 h for anything else, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Span>,
    /// What becomes of later events about an object when one about it could not be delivered.
    #[serde(default, skip_serializing_if = "OnDead::is_continue")]
    pub on_dead: OnDead,
    /// How many times over the hook may answer to what it caused itself.
    #[serde(default = "three", skip_serializing_if = "is_three")]
    pub loop_depth: u32,
}

const fn twenty() -> u32 {
    20
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_twenty(n: &u32) -> bool {
    *n == 20
}

const fn three() -> u32 {
    3
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_three(n: &u32) -> bool {
    *n == 3
}

/// What a hook does with an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HookAction {
    /// Call `on_event(event)` of a Lua file, on a node.
    Lua(Box<LuaAction>),
    /// Tell an address outside.
    Webhook(Box<WebhookAction>),
    /// Submit a task, with the event in its environment.
    Task(Box<TaskAction>),
    /// Carry out a workflow that the project keeps, with the event as the value `event`.
    Workflow(WorkflowAction),
    /// Start, stop or restart a workload.
    Workload(WorkloadAction),
    /// Begin an operation.
    Operation(OperationAction),
}

/// A Lua file with a function `on_event(event)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LuaAction {
    /// What the file is called in its mistakes.
    #[schemars(length(min = 1, max = 128))]
    pub file: String,
    #[schemars(length(min = 1, max = 65536))]
    pub text: String,
    /// Where it runs, and which secrets it has.
    #[serde(default)]
    pub options: ExecutionOptions,
    /// Which version of the workflow `hook:NAME` it is kept as; the server says.
    #[serde(default)]
    pub version: u32,
}

/// A call that tells of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct WebhookAction {
    /// The address; or see `urlSecret`.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 2048))]
    pub url: String,
    /// A secret that is the address, for addresses that nobody is to see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_secret: Option<SecretRef>,
    /// Without credentials: those are secrets.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub headers: std::collections::BTreeMap<String, String>,
    /// A secret that is sent as bearer token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<SecretRef>,
    /// A secret that the call is signed with: HMAC-SHA-256 of time and body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign: Option<SecretRef>,
    /// What is sent.
    #[serde(skip_serializing_if = "WebhookFormat::is_event")]
    pub format: WebhookFormat,
    /// For the format `template`: what is sent, with `{{ object.name }}` and the like filled in.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 65536))]
    pub template: String,
    /// For the format `email`: to whom.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
}

crate::labels! {
    /// What a webhook is sent.
    #[derive(Default)]
    pub enum WebhookFormat ("format of a webhook") {
        /// The event as JSON.
        #[default]
        Event = "event",
        /// `{"text": ...}`, as Slack, Mattermost and others take it.
        Slack = "slack",
        /// `{"to", "subject", "text"}`, for a relay that sends e-mail.
        Email = "email",
        /// One line of text.
        Plain = "plain",
        /// What the template says.
        Template = "template",
    }
}

impl WebhookFormat {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    const fn is_event(&self) -> bool {
        matches!(self, WebhookFormat::Event)
    }
}

/// How often and how soon a delivery is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct HookRetry {
    /// Tries in all; 1 is no second one.
    pub attempts: u32,
    /// Before the second try at least; the wait doubles from then on, with chance in it.
    pub min: Span,
    /// Between two tries at most.
    pub max: Span,
    /// Since the event; what was not delivered by then is given up, tried or not.
    pub give_up_after: Span,
}

impl Default for HookRetry {
    fn default() -> HookRetry {
        HookRetry {
            attempts: 10,
            min: Span::from_secs(1),
            max: Span::from_secs(3600),
            give_up_after: Span::from_secs(86_400),
        }
    }
}

impl HookRetry {
    fn is_usual(&self) -> bool {
        *self == HookRetry::default()
    }
}

crate::labels! {
    /// What becomes of later events about an object when one about it could not be delivered.
    #[derive(Default)]
    pub enum OnDead ("answer to a dead letter") {
        /// They are delivered.
        #[default]
        Continue = "continue",
        /// They wait until somebody replays the dead letter, or discards it.
        Block = "block",
    }
}

impl OnDead {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    const fn is_continue(&self) -> bool {
        matches!(self, OnDead::Continue)
    }
}

/// Which kinds of events.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventPattern {
    All,
    /// All about a noun: what is before the dot.
    Noun(&'static str),
    Kind(EventKind),
    /// One that users, tasks or steps tell of.
    Custom(CustomName),
}

/// Error of reading a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are no events `{given}`; {hint}")]
pub struct ParseEventPatternError {
    given: String,
    hint: String,
}

impl From<EventKind> for EventPattern {
    fn from(kind: EventKind) -> EventPattern {
        match kind {
            EventKind::Custom => EventPattern::Noun(kind.noun()),
            kind => EventPattern::Kind(kind),
        }
    }
}

impl From<EventName> for EventPattern {
    fn from(name: EventName) -> EventPattern {
        match name {
            EventName::Ours(kind) => kind.into(),
            EventName::Custom(name) => EventPattern::Custom(name),
        }
    }
}

impl EventPattern {
    /// The kinds of ours that it takes; all where there are none.
    pub fn kinds(&self) -> Vec<EventKind> {
        match self {
            EventPattern::All => Vec::new(),
            EventPattern::Noun(noun) => {
                EventKind::ALL.iter().copied().filter(|kind| kind.noun() == *noun).collect()
            }
            EventPattern::Kind(kind) => vec![*kind],
            EventPattern::Custom(_) => vec![EventKind::Custom],
        }
    }

    /// What events of these patterns can have in their payloads: the names of its fields. `None` where that may
    /// be anything.
    pub fn payload_names(patterns: &[EventPattern]) -> Option<Vec<String>> {
        let mut names = std::collections::BTreeSet::new();
        for pattern in patterns {
            if matches!(pattern, EventPattern::All | EventPattern::Custom(_)) {
                return None;
            }
            for kind in pattern.kinds() {
                let Some(schema) = crate::EventPayload::schema(kind) else { continue };
                names.extend(schema.get("properties")?.as_object()?.keys().cloned());
            }
        }
        (!names.is_empty()).then(|| names.into_iter().collect())
    }

    pub fn takes(&self, name: &EventName) -> bool {
        match self {
            EventPattern::All => true,
            EventPattern::Noun(noun) => name.kind().noun() == *noun,
            EventPattern::Kind(only) => name.kind() == *only,
            EventPattern::Custom(only) => name.custom() == Some(only),
        }
    }
}

impl FromStr for EventPattern {
    type Err = ParseEventPatternError;

    fn from_str(text: &str) -> Result<EventPattern, ParseEventPatternError> {
        if text == "*" {
            return Ok(EventPattern::All);
        }
        let nouns = || EventKind::ALL.iter().map(|kind| kind.noun());
        if let Some(noun) = text.strip_suffix(".*")
            && let Some(noun) = nouns().find(|known| *known == noun)
        {
            return Ok(EventPattern::Noun(noun));
        }
        match text.parse() {
            // It is what `custom.*` is.
            Ok(EventName::Ours(EventKind::Custom)) | Err(ParseEventNameError::Ours(_)) => {}
            Ok(EventName::Ours(kind)) => return Ok(EventPattern::Kind(kind)),
            Ok(EventName::Custom(name)) => return Ok(EventPattern::Custom(name)),
            Err(ParseEventNameError::Custom(error)) => {
                let given = text.chars().take(64).collect();
                return Err(ParseEventPatternError { given, hint: error.to_string() });
            }
        }
        let given: String = text.chars().take(64).collect();
        let kinds = EventKind::ALL.iter().filter(|kind| **kind != EventKind::Custom);
        let meant = nearest(&given, kinds.map(|kind| kind.label())).map(str::to_owned);
        let meant = meant.or_else(|| {
            let noun = given.split('.').next().unwrap_or_default();
            nearest(noun, nouns()).map(|noun| format!("{noun}.*"))
        });
        let hint = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "docs/reference/events.md lists them; `task.*` is all of a noun".to_owned(),
        };
        Err(ParseEventPatternError { given, hint })
    }
}

impl fmt::Display for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventPattern::All => f.pad("*"),
            EventPattern::Noun(noun) => f.pad(&format!("{noun}.*")),
            EventPattern::Kind(kind) => f.pad(kind.label()),
            EventPattern::Custom(name) => f.pad(&EventName::Custom(name.clone()).to_string()),
        }
    }
}

impl Serialize for EventPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EventPattern, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for EventPattern {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EventPattern".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^(\\*|[a-z-]+\\.(\\*|[a-z-]+)|custom(\\.[A-Za-z0-9_-]+)+)$" })
    }
}

/// A hook as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct EventHook {
    pub id: HookId,
    pub scope: Scope,
    pub name: Name,
    pub spec: EventHookSpec,
    /// In whose name its action is done: of who wrote it last.
    pub mandate: Mandate,
    pub is_enabled: bool,
    /// Only events after this one are for it.
    pub after: u64,
    /// Whether it was told already that a loop was cut, since it was last changed.
    pub is_loop_told: bool,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// What a delivery belongs behind: of one of them only one is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HookLine {
    pub hook: HookId,
    /// Kind and id of the object.
    pub object: String,
}

crate::labels! {
    /// How far a delivery is.
    pub enum DeliveryState ("state of a delivery") {
        /// Behind another one about the same object.
        Queued = "queued",
        /// The first of its line; it is done when it is due.
        Ready = "ready",
        /// A server does it.
        Performing = "performing",
        /// What it began is not over yet.
        Following = "following",
        Done = "done",
        /// It could not be done; a dead letter.
        Dead = "dead",
    }
}

impl DeliveryState {
    /// Those that others of their line wait behind.
    pub const OPEN: &'static [DeliveryState] = &[
        DeliveryState::Queued,
        DeliveryState::Ready,
        DeliveryState::Performing,
        DeliveryState::Following,
    ];

    pub fn is_open(self) -> bool {
        DeliveryState::OPEN.contains(&self)
    }
}

/// One event for one hook.
#[derive(Clone, Debug, PartialEq)]
pub struct HookDelivery {
    pub line: HookLine,
    /// Of the event.
    pub sequence: u64,
    /// The event, as [`Event::document`](crate::Event::document) has it.
    pub event: serde_json::Value,
    /// Hooks that caused the event, the first one first.
    pub chain: Vec<HookId>,
    pub state: DeliveryState,
    /// Tries that failed.
    pub attempts: u32,
    /// How often a server took it; whoever writes a result says which taking it is of.
    pub claims: u32,
    /// When it is to be tried, looked at again, or, while it is performed, taken from who does it.
    pub time_due: Timestamp,
    /// What the try that is under way made.
    pub made: Option<ObjectRef>,
    /// When that try began.
    pub time_begun: Option<Timestamp>,
    /// Why the last try failed; or, of one that was done, what came of it.
    pub note: String,
    /// What the receiver answered with.
    pub status: Option<u16>,
    pub time_created: Timestamp,
    pub time_ended: Option<Timestamp>,
}

impl HookDelivery {
    /// What receivers know it by; the same however often it is tried.
    pub fn key(&self) -> String {
        hook_correlation(self.line.hook, self.sequence)
    }
}

/// What a delivery did is caused by it.
pub fn hook_correlation(hook: HookId, sequence: u64) -> String {
    format!("hook/{hook}/{sequence}")
}

/// Reads what somebody asks of events of these patterns; of all where none is given.
pub fn read_event_filter(
    text: &str,
    on: &[EventPattern],
) -> Result<Filter, crate::filter::Mistake> {
    let names = EventPattern::payload_names(on);
    let inner = crate::filter::Inner { open: "payload", names: names.as_deref() };
    Filter::read_within(text, &EVENT_FIELDS, inner)
}

impl EventHookSpec {
    /// The filter as it can be asked; `None` takes everything.
    pub fn filter(&self) -> Result<Option<Filter>, crate::filter::Mistake> {
        match self.filter.is_empty() {
            true => Ok(None),
            false => Filter::read(&self.filter, &EVENT_FIELDS).map(Some),
        }
    }

    /// The same, where fields that no event of these patterns has are mistakes too.
    fn filter_strictly(&self) -> Result<Option<Filter>, crate::filter::Mistake> {
        if self.filter.is_empty() {
            return Ok(None);
        }
        read_event_filter(&self.filter, &self.on).map(Some)
    }

    pub fn takes(&self, name: &EventName) -> bool {
        self.on.iter().any(|pattern| pattern.takes(name))
    }

    pub fn time_limit(&self) -> Span {
        self.time_limit.unwrap_or(match self.action {
            HookAction::Webhook(_) => WEBHOOK_TIME,
            _ => WORK_TIME,
        })
    }

    /// Every mistake that can be seen without looking anything up.
    pub fn problems(&self, scope: Scope, base: &str) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut say = |at: &str, text: String| {
            found.push(Diagnostic::new(format!("{base}{at}"), text));
        };
        if self.description.len() > DESCRIPTION_MAX {
            say("/description", format!("a description has at most {DESCRIPTION_MAX} characters"));
        }
        if !(1..=PATTERNS_MAX).contains(&self.on.len()) {
            say("/on", format!("a hook names 1 to {PATTERNS_MAX} kinds of events"));
        }
        if let Err(mistake) = self.filter_strictly() {
            say("/filter", mistake.to_string());
        }
        if !(1..=AT_ONCE_MAX).contains(&self.at_once) {
            say("/atOnce", format!("1 to {AT_ONCE_MAX} deliveries at once"));
        }
        let retry = &self.retry;
        if !(1..=ATTEMPTS_MAX).contains(&retry.attempts) {
            say("/retry/attempts", format!("1 to {ATTEMPTS_MAX} tries"));
        }
        if retry.min.is_zero() || retry.min > retry.max {
            say("/retry/min", "at least 1ms, and no more than `max`".to_owned());
        }
        if retry.give_up_after.is_zero() || retry.give_up_after > GIVE_UP_MAX {
            say("/retry/giveUpAfter", "at least 1ms and at most 30 days".to_owned());
        }
        let longest = match self.action {
            HookAction::Webhook(_) => WEBHOOK_TIME_MAX,
            _ => WORK_TIME_MAX,
        };
        if self.time_limit().is_zero() || self.time_limit() > longest {
            say("/timeLimit", format!("at least 1ms and at most {longest}"));
        }
        if self.loop_depth > DEPTH_MAX {
            say("/loopDepth", format!("at most {DEPTH_MAX}"));
        }
        match (scope, &self.project) {
            (Scope::Project(_), Some(_)) => {
                say(
                    "/project",
                    "a hook of a project acts in that project; leave it out".to_owned(),
                );
            }
            (Scope::Global, None) => {
                let text = "a hook of the whole installation names the project it acts in";
                say("/project", text.to_owned());
            }
            _ => {}
        }
        found.extend(self.action.problems(&format!("{base}/action")));
        found
    }
}

impl HookAction {
    pub const fn label(&self) -> &'static str {
        match self {
            HookAction::Lua(_) => "lua",
            HookAction::Webhook(_) => "webhook",
            HookAction::Task(_) => "task",
            HookAction::Workflow(_) => "workflow",
            HookAction::Workload(_) => "workload",
            HookAction::Operation(_) => "operation",
        }
    }

    /// The same as an action that needs no event; `None` for what is made of one.
    pub fn plain(&self) -> Option<Action> {
        match self {
            HookAction::Lua(_) | HookAction::Webhook(_) => None,
            HookAction::Task(it) => Some(Action::Task(it.clone())),
            HookAction::Workflow(it) => Some(Action::Workflow(it.clone())),
            HookAction::Workload(it) => Some(Action::Workload(it.clone())),
            HookAction::Operation(it) => Some(Action::Operation(it.clone())),
        }
    }

    /// In a few words, for lists.
    pub fn summary(&self) -> String {
        match self {
            HookAction::Lua(it) => format!("lua {}", it.file),
            HookAction::Webhook(it) => match &it.url_secret {
                Some(secret) => format!("{} to secret {secret}", it.format),
                None => format!("{} to {}", it.format, crate::action::origin(&it.url)),
            },
            _ => self.plain().map(|action| action.summary()).unwrap_or_default(),
        }
    }

    /// Takes out what not everybody may see.
    pub fn hide(&mut self) {
        match self {
            HookAction::Task(it) => it.spec.hide_environment(),
            HookAction::Webhook(it) => {
                it.headers.values_mut().for_each(|value| crate::HIDDEN.clone_into(value));
            }
            _ => {}
        }
    }

    fn problems(&self, base: &str) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut say = |at: &str, text: &str| {
            found.push(Diagnostic::new(format!("{base}/{}{at}", self.label()), text));
        };
        match self {
            HookAction::Lua(it) => {
                if !(1..=LUA_MAX).contains(&it.text.len()) {
                    say("/text", "a file has 1 to 65536 bytes; put more into a module");
                }
                if !(1..=128).contains(&it.file.len()) || it.file.contains(char::is_control) {
                    say("/file", "the name of a file has 1 to 128 printable characters");
                }
            }
            HookAction::Webhook(it) => it.look(&mut say),
            _ => {
                let plain = self.plain().map(|action| action.problems(base));
                found.extend(plain.unwrap_or_default());
            }
        }
        found
    }
}

impl WebhookAction {
    fn look(&self, say: &mut impl FnMut(&str, &str)) {
        if self.url.is_empty() == self.url_secret.is_none() {
            say("/url", "name the address with `url`, or the secret that has it with `urlSecret`");
        }
        let is_template = self.format == WebhookFormat::Template;
        if is_template == self.template.is_empty() {
            say("/template", "the format `template` needs a template, and no other has one");
        }
        if self.template.len() > TEMPLATE_MAX {
            say("/template", "a template has at most 64 KiB");
        }
        if (self.format == WebhookFormat::Email) == self.to.is_empty() {
            say("/to", "the format `email` says to whom, and no other does");
        }
        let is_address = |to: &String| {
            (3..=254).contains(&to.len()) && to.contains('@') && !to.contains(char::is_control)
        };
        if self.to.len() > RECIPIENTS_MAX || !self.to.iter().all(is_address) {
            say("/to", "at most 50 addresses such as ops@example.com");
        }
        let call = self.call(
            if self.url.is_empty() {
                "https://secret.example".to_owned()
            } else {
                self.url.clone()
            },
            String::new(),
            WEBHOOK_TIME,
        );
        for problem in Action::Http(Box::new(call)).problems("") {
            say(problem.pointer.trim_start_matches("/http"), &problem.detail);
        }
    }

    /// The call that it is, once there is something to send.
    pub fn call(&self, url: String, body: String, timeout: Span) -> crate::action::HttpAction {
        let mut headers = self.headers.clone();
        if self.format == WebhookFormat::Plain
            && !headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"))
        {
            headers.insert("Content-Type".to_owned(), "text/plain; charset=utf-8".to_owned());
        }
        crate::action::HttpAction {
            method: crate::action::HttpMethod::Post,
            url,
            headers,
            body,
            bearer: self.bearer.clone(),
            sign: self.sign.clone(),
            timeout,
        }
    }
}

#[cfg(test)]
mod tests;
