//! One call of a plugin: a task, and what is remembered until it is over.
//!
//! What is remembered of an object ([`Memory`]) is what the plugin wanted remembered, the key that the object was created under,
//! and the call that is under way. A call of a deed is submitted under a key that follows from the deed, so whoever begins it again
//! after a crash finds the same task. What failed and may go better is another task with the same deed's key for the
//! plugin: so a plugin is asked to create twice under one key only when nobody knows what became of the first time.
//!
//! A deed may find the call of another one still there, because its stack was asked for something else: that is stopped first,
//! and what it has made by then is taken to be the object.

use std::collections::BTreeMap;
use std::time::Duration;

use hostler_engine::stack::Failure;
use hostler_model::stack::{
    PluginAnswer, PluginCall, PluginDone, PluginKind, PluginPrior, PluginReply, PluginRequest,
    PluginVerb, StackPlugin,
};
use hostler_model::{
    BlobKind, BlobScope, Code, Error, Input, Output, OutputWhen, Permission, Project, Runtime,
    SecretUse, Span, TaskState, Workload, WorkloadSpec,
};
use hostler_trust::MasterKey;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::hostler::{Hand, next_look, present};
use super::super::{Change, Ctx, Progress};
use super::Outside;
use crate::service::task_submit::made_name;
use crate::{Control, Cx, NewTask};

/// How long whoever calls waits for what is quick.
const MOMENT: Duration = Duration::from_secs(2);
/// How long somebody waits for what an object is like, who has ten seconds for it.
const LOOK: Duration = Duration::from_secs(9);
/// A plugin ends by itself when its time is over; this is for one that does not.
const BACKSTOP: Duration = Duration::from_secs(20);
/// How long it may wait for a node.
const START_WITHIN: Span = Span::from_secs(3600);
/// How often a call is made again that may go better.
const TRIES_MAX: u32 = 5;
/// The shortest and the longest time until somebody asks again.
const POLL: (f64, f64) = (0.05, 300.0);
/// The largest answer.
const ANSWER_MAX: u64 = 4 << 20;
/// How much of a reason is kept, in characters.
const REASON_MAX: usize = 2000;
const ANSWER: &str = "answer";
const TAG: &str = "stack-plugin";

/// What is asked of a plugin, and of which.
pub(crate) struct Bid<'a> {
    pub(crate) plugin: &'a StackPlugin,
    pub(crate) request: Option<PluginRequest>,
    /// Of the manifest that it is to have.
    pub(crate) digest: Option<String>,
    /// What the task is called after.
    pub(crate) word: &'a str,
}

impl Bid<'_> {
    /// The task of the call. What it needs is in the project's content when this returns.
    pub(crate) async fn task(self, control: &Control, cx: &Cx) -> Result<NewTask, Error> {
        let bid = self;
        let (plugin, place) = (bid.plugin, &bid.plugin.place);
        let key = MasterKey::generate();
        let file =
            |secret: &hostler_model::SecretRef| format!("{}.{}", secret.environment, secret.name);
        let mut secrets = BTreeMap::new();
        for secret in &place.secrets {
            secrets.entry(secret.name.to_string()).or_insert_with(|| file(secret));
            secrets.insert(format!("{}/{}", secret.environment, secret.name), file(secret));
        }
        let order = PluginCall {
            kind: plugin.kind,
            timeout: place.time(),
            request: bid.request,
            manifest: bid.digest,
            secrets,
        };
        let text = serde_json::to_vec(&order).map_err(Error::internal)?;
        let sealed = key.seal(&text, PluginCall::BOUND).map_err(Error::internal)?;
        let scope = BlobScope::Project(plugin.project_id);
        let by = Some(cx.caller.principal_id);
        let label = format!("call of {}", plugin.name);
        let order = control.blob_of(scope, BlobKind::File, label, &sealed, by).await?;
        let input = |blob, path: &str, mode: Option<&str>| Input {
            blob,
            path: path.to_owned(),
            mode: mode.map(str::to_owned),
            unpack: false,
        };
        let artefact = match plugin.kind {
            PluginKind::Executable => input(plugin.artefact, PluginCall::PROGRAM, Some("755")),
            PluginKind::Lua => input(plugin.artefact, PluginCall::BUNDLE, None),
        };
        let limit = place.time().duration() + BACKSTOP;
        let mut spec = WorkloadSpec {
            runtime: Runtime::Lua,
            user: place.user.clone(),
            timeout: Some(Span::from_millis(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))),
            limits: place.limits.clone(),
            secrets: place
                .secrets
                .iter()
                .map(|secret| SecretUse {
                    secret: secret.clone(),
                    env: None,
                    file: Some(file(secret)),
                })
                .collect(),
            tags: vec![TAG.to_owned(), format!("{TAG}:{}", plugin.name)],
            inputs: vec![input(order, PluginCall::ORDER, None), artefact],
            outputs: vec![Output {
                path: PluginCall::ANSWER.to_owned(),
                name: Some(ANSWER.to_owned()),
                when: OutputWhen::Always,
            }],
            placement: place.placement.clone(),
            ..WorkloadSpec::default()
        };
        spec.env.insert(PluginCall::KEY.to_owned(), key.to_base64().expose().to_owned());
        spec.queue.start_within = Some(START_WITHIN);
        let stem = format!("{}-{}", plugin.name, bid.word);
        let random = control.ids.fresh::<hostler_model::WorkloadId>().uuid().as_u128();
        Ok(NewTask { name: Some(made_name(&[stem], random)), spec })
    }
}

/// What a call left; nothing where it left nothing that can be read.
pub(crate) async fn answer_of(
    control: &Control,
    project: &Project,
    task: &Workload,
) -> Result<Option<PluginAnswer>, Error> {
    let mut read = control.store.read().await?;
    let outputs = read.run_outputs(task.id).await?;
    drop(read);
    let kept = outputs.iter().rfind(|output| output.name == ANSWER);
    let Some(digest) = kept.and_then(|output| output.kept.digest()) else { return Ok(None) };
    let scope = BlobScope::Project(project.id);
    let Some(sealed) = control.blob_bytes(scope, digest, ANSWER_MAX).await? else {
        return Ok(None);
    };
    let key = task.spec.env.get(PluginCall::KEY).and_then(|key| key.parse::<MasterKey>().ok());
    let opened = key.and_then(|key| key.open(&sealed, PluginCall::BOUND).ok());
    Ok(opened.and_then(|text| serde_json::from_slice(&text).ok()))
}

/// Why a task that ended told nothing.
pub(crate) fn silence_of(state: &TaskState) -> String {
    match state {
        TaskState::KilledOom { .. } => "it needed more memory than it may have".to_owned(),
        TaskState::Killed { .. } => "its task was stopped".to_owned(),
        TaskState::Rejected { why, .. } => format!("its task was rejected: {why}"),
        TaskState::Lost { why, .. } => format!("its task was lost: {why}"),
        TaskState::Failed { exit, .. } | TaskState::Stopped { exit, .. } => {
            match (&exit.message, exit.code) {
                (Some(message), _) => message.clone(),
                (None, Some(code)) => format!("its task ended with {code}"),
                (None, None) => "its task failed".to_owned(),
            }
        }
        _ => "its task left no answer".to_owned(),
    }
}

/// What is remembered of an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Memory {
    state: Value,
    /// The key that it was created under; empty where it never was.
    create_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Going>,
}

/// A call that is under way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Going {
    /// The key of the deed that it is of.
    deed: String,
    /// Empty while it waits to be made again.
    task: String,
    is_create: bool,
    polls: u32,
    tries: u32,
}

impl Memory {
    fn of(ctx: &Ctx<'_>) -> Memory {
        let data = Value::Object(ctx.body.data.clone());
        serde_json::from_value(data).unwrap_or_default()
    }

    fn into_change(self) -> Change {
        let data = serde_json::to_value(self).ok().and_then(|value| match value {
            Value::Object(data) => Some(data),
            _ => None,
        });
        Change { data, ..Change::default() }
    }
}

/// How a call stands.
#[expect(clippy::large_enum_variant, reason = "there is one of it, for as long as it is looked at")]
enum Stand {
    Going,
    Told(PluginReply),
    /// The plugin did wrong, or its task did not come to an end of its own.
    Broken(String),
    /// Nobody knows what became of it: another one may go better.
    Lost(String),
}

impl Outside {
    pub(super) async fn take_away(&self, ctx: &Ctx<'_>) -> Result<Progress, Error> {
        let memory = Memory::of(ctx);
        let was_never_begun = memory.create_key.is_empty() && memory.call.is_none();
        if was_never_begun && ctx.row.physical.is_none() {
            return Ok(Progress::done());
        }
        self.advance(ctx, PluginVerb::Delete).await
    }

    pub(super) async fn take_over(
        &self,
        ctx: &Ctx<'_>,
        left: &Map<String, Value>,
    ) -> Result<Progress, Error> {
        let Some(reference) = left.get("resource_id").and_then(Value::as_str) else {
            return Ok(Progress::failed("Error", "Resource ID was not provided."));
        };
        if ctx.row.physical.is_some() {
            return self.advance(ctx, PluginVerb::Adopt).await;
        }
        // What it is stands in the row before anybody is asked, so that whoever looks later knows it.
        let mut memory = Memory::of(ctx);
        memory.state = left
            .get("resource_data")
            .and_then(|data| data.get("state"))
            .cloned()
            .unwrap_or_default();
        let change = Change { physical: Some(reference.to_owned()), ..memory.into_change() };
        Ok(Progress::Wait(change, ctx.now))
    }

    /// Goes on with what is asked for, as far as that is possible now.
    pub(super) async fn advance(&self, ctx: &Ctx<'_>, verb: PluginVerb) -> Result<Progress, Error> {
        let hand = Hand::of(ctx).await?;
        hand.need(Permission::TaskSubmit)?;
        let mut memory = Memory::of(ctx);
        if let Some(other) = memory.call.clone().filter(|call| call.deed != ctx.key) {
            return self.settle_other(&hand, memory, &other).await;
        }
        let mut going = memory.call.take().unwrap_or_else(|| Going {
            deed: ctx.key.to_owned(),
            is_create: verb == PluginVerb::Create,
            ..Going::default()
        });
        if verb == PluginVerb::Create {
            ctx.key.clone_into(&mut memory.create_key);
        }
        if going.task.is_empty() {
            let request = self.request(ctx, verb, &memory, going.polls);
            let word = format!("{verb}-{}-{}", going.polls, going.tries);
            going.task = self.submit(&hand, request, &word).await?;
            if going.polls == 0 && going.tries == 0 {
                // Written down before it is waited for: whoever comes next knows that it was begun.
                memory.call = Some(going);
                return Ok(Progress::Wait(memory.into_change(), ctx.now));
            }
        }
        let stand = self.stand(&hand, &going.task, MOMENT).await?;
        Ok(self.judged(ctx, verb, memory, going, stand))
    }

    /// What another deed began is over before this one begins.
    async fn settle_other(
        &self,
        hand: &Hand<'_>,
        mut memory: Memory,
        other: &Going,
    ) -> Result<Progress, Error> {
        let mut physical = None;
        if !other.task.is_empty() {
            match self.stand(hand, &other.task, Duration::ZERO).await? {
                Stand::Going => {
                    hand.need(Permission::TaskKill)?;
                    give_up(hand, &other.task).await?;
                    return Ok(Progress::Wait(Change::default(), next_look(hand.ctx)));
                }
                Stand::Told(PluginReply::Done(done)) => {
                    physical = done.reference.filter(|_| other.is_create);
                    memory.state = done.state.unwrap_or(memory.state);
                }
                Stand::Told(PluginReply::InProgress { reference, state, .. }) => {
                    physical = reference.filter(|_| other.is_create);
                    memory.state = state;
                }
                Stand::Told(_) | Stand::Broken(_) | Stand::Lost(_) => {}
            }
        }
        memory.call = None;
        let change = Change { physical, ..memory.into_change() };
        Ok(Progress::Wait(change, hand.ctx.now))
    }

    fn request(
        &self,
        ctx: &Ctx<'_>,
        verb: PluginVerb,
        memory: &Memory,
        polls: u32,
    ) -> PluginRequest {
        let is_known = ctx.row.physical.is_some() || !memory.create_key.is_empty();
        let prior = (is_known && (verb != PluginVerb::Create || polls > 0)).then(|| PluginPrior {
            reference: ctx.row.physical.clone(),
            key: memory.create_key.clone(),
            properties: ctx.body.properties.clone(),
            attributes: ctx.body.attributes.clone(),
            state: memory.state.clone(),
        });
        let changed = ctx.body.deed.as_ref().map(|deed| deed.changed.clone()).unwrap_or_default();
        let mut properties = ctx.wanted.properties.clone();
        properties.retain(|_, value| !value.is_null());
        PluginRequest {
            id: ctx.key.to_owned(),
            verb: if polls > 0 { PluginVerb::Poll } else { verb },
            kind: self.schema.type_name.clone(),
            key: ctx.key.to_owned(),
            name: ctx.object_name(),
            properties,
            prior,
            changed,
            waiting: (polls > 0).then_some(verb),
            left: Map::new(),
            deadline: self.plugin.place.time().duration().as_secs(),
        }
    }

    /// The task, which is the same for the same word of the same deed.
    async fn submit(
        &self,
        hand: &Hand<'_>,
        request: PluginRequest,
        word: &str,
    ) -> Result<String, Error> {
        let cx = hand.cx(&format!("plugin-{word}"));
        let stem = request.verb.label();
        let bid = Bid {
            plugin: &self.plugin,
            request: Some(request),
            digest: Some(self.digest.to_string()),
            word: stem,
        };
        let task = bid.task(hand.control, &cx).await?;
        let made = hand.control.task_submit(&cx, &hand.project, vec![task]).await?;
        let made = made.first().ok_or_else(|| Error::internal("a submission without a task"))?;
        Ok(made.workload.id.to_string())
    }

    async fn stand(&self, hand: &Hand<'_>, task: &str, moment: Duration) -> Result<Stand, Error> {
        let found = hand.control.task_wait(&hand.plain(), &hand.project, task, moment).await;
        let Some(detail) = present(found)? else {
            return Ok(Stand::Lost("its task was removed before it told anything".to_owned()));
        };
        let state = &detail.workload.state;
        if !state.is_settled() {
            return Ok(Stand::Going);
        }
        let told = answer_of(hand.control, &hand.project, &detail.workload).await?;
        Ok(match (told, state) {
            (Some(PluginAnswer { reply: Some(reply), .. }), _) => Stand::Told(reply),
            (Some(PluginAnswer { trouble: Some(trouble), .. }), TaskState::Failed { .. }) => {
                Stand::Broken(trouble)
            }
            (_, TaskState::Lost { .. } | TaskState::Stopped { .. }) => {
                Stand::Lost(silence_of(state))
            }
            _ => Stand::Broken(silence_of(state)),
        })
    }

    fn judged(
        &self,
        ctx: &Ctx<'_>,
        verb: PluginVerb,
        mut memory: Memory,
        going: Going,
        stand: Stand,
    ) -> Progress {
        match stand {
            Stand::Going => {
                memory.call = Some(going);
                Progress::Wait(memory.into_change(), next_look(ctx))
            }
            Stand::Told(PluginReply::Done(done)) => self.done(ctx, verb, memory, done),
            Stand::Told(PluginReply::InProgress { reference, state, poll_after }) => {
                memory.state = state;
                memory.call = Some(Going { task: String::new(), polls: going.polls + 1, ..going });
                let after = poll_after.filter(|after| after.is_finite()).unwrap_or(1.0);
                let after = Duration::from_secs_f64(after.clamp(POLL.0, POLL.1));
                let change = Change { physical: reference, ..memory.into_change() };
                Progress::Wait(change, ctx.now.plus(after))
            }
            Stand::Told(PluginReply::NotFound) => match verb {
                PluginVerb::Delete => Progress::done(),
                PluginVerb::Update => Progress::Gone,
                _ => {
                    let text = format!("{} says that it is not there", self.words());
                    Progress::Failed(memory.into_change(), Failure::new("NotFound", text))
                }
            },
            Stand::Told(PluginReply::Failed { reason, retryable: true }) => {
                self.again(ctx, memory, going, &reason)
            }
            Stand::Lost(why) => self.again(ctx, memory, going, &why),
            Stand::Told(PluginReply::Failed { reason, .. }) => self.failed(memory, &going, &reason),
            Stand::Broken(why) => self.failed(memory, &going, &why),
        }
    }

    fn done(
        &self,
        ctx: &Ctx<'_>,
        verb: PluginVerb,
        mut memory: Memory,
        done: PluginDone,
    ) -> Progress {
        if verb == PluginVerb::Delete {
            return Progress::done();
        }
        let reference = done.reference.filter(|reference| !reference.is_empty());
        if verb == PluginVerb::Create && reference.is_none() && ctx.row.physical.is_none() {
            let text = format!("{} made something, and does not say what it is", self.words());
            return Progress::Failed(memory.into_change(), Failure::new("ResourceInError", text));
        }
        memory.state = done.state.unwrap_or(memory.state);
        let is_made = matches!(verb, PluginVerb::Create | PluginVerb::Adopt);
        Progress::Done(Change {
            physical: reference.filter(|_| verb != PluginVerb::Check),
            attributes: done.attributes.or(is_made.then(Map::new)),
            metadata: (verb != PluginVerb::Check).then(|| ctx.wanted.metadata.clone()),
            ..memory.into_change()
        })
    }

    /// Made again a little later, until that was often enough.
    fn again(&self, ctx: &Ctx<'_>, mut memory: Memory, going: Going, why: &str) -> Progress {
        if going.tries + 1 >= TRIES_MAX {
            return self.failed(memory, &going, why);
        }
        let after = Duration::from_secs(1 << going.tries);
        memory.call = Some(Going { task: String::new(), tries: going.tries + 1, ..going });
        Progress::Wait(memory.into_change(), ctx.now.plus(after))
    }

    fn failed(&self, memory: Memory, going: &Going, why: &str) -> Progress {
        let text = format!("{}: {} (task {})", self.words(), cut(why), going.task);
        Progress::Failed(memory.into_change(), Failure::new("ResourceInError", text))
    }

    /// What the object is like at present.
    pub(super) async fn present(&self, ctx: &Ctx<'_>) -> Result<Option<Map<String, Value>>, Error> {
        if !self.it.can(PluginVerb::Get) || ctx.row.physical.is_none() {
            return Ok(None);
        }
        let hand = Hand::of(ctx).await?;
        hand.need(Permission::TaskSubmit)?;
        let request = self.request(ctx, PluginVerb::Get, &Memory::of(ctx), 0);
        let at = ctx.desk.fresh_id();
        let task = self.submit(&hand, request, &format!("get-{at}")).await?;
        let unknown = |why: String| {
            let hint = format!("look at the task {task}; it is asked again the next time");
            Error::new(Code::Unavailable, format!("{}: {}", self.words(), cut(&why)), hint)
        };
        match self.stand(&hand, &task, LOOK).await? {
            Stand::Told(PluginReply::Done(done)) => {
                let mut live = ctx.body.properties.clone();
                let found = done.properties.unwrap_or_default();
                let is_ours = |(name, _): &(String, Value)| self.schema.get(name).is_some();
                live.extend(found.into_iter().filter(is_ours));
                Ok(Some(live))
            }
            Stand::Told(PluginReply::NotFound) => {
                let at = ctx.row.physical.clone().unwrap_or_default();
                Err(Error::not_found(&self.schema.type_name, at))
            }
            Stand::Told(PluginReply::Failed { reason, .. }) => Err(unknown(reason)),
            Stand::Told(PluginReply::InProgress { .. }) => {
                Err(unknown("`get` has to answer at once".to_owned()))
            }
            Stand::Broken(why) | Stand::Lost(why) => Err(unknown(why)),
            Stand::Going => {
                give_up(&hand, &task).await?;
                Err(unknown("it did not say in time what the object is like".to_owned()))
            }
        }
    }
}

/// Nobody wants it any more.
async fn give_up(hand: &Hand<'_>, task: &str) -> Result<(), Error> {
    let cx = hand.plain();
    present(hand.control.task_kill(&cx, &hand.project, task, None).await).map(drop)
}

fn cut(why: &str) -> String {
    why.chars().filter(|c| !c.is_control()).take(REASON_MAX).collect()
}
