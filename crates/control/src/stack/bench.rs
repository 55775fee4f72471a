//! Stacks without anybody who asks for them: for tests of how they are carried on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_model::stack::{
    DefinitionBody, ResourceBody, Stack, StackAction, StackEvent, StackOptions, StackResource,
    StackRevision,
};
use hostler_model::{Error, Limit, Mandate, StackId};
use hostler_store::{StackEventFilter, StackEventScope};
use hostler_template::schema::{AttributeSchema, PropertySchema, ResourceSchema};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use super::enter::NewStack;
use super::plugin::{Change, Ctx, Doing, Plugin, Progress};
use crate::{Control, Cx};

/// A stack as it is, with everything that somebody could ask for.
#[derive(Clone, Debug)]
pub struct Looked {
    pub stack: Stack,
    pub rows: Vec<(StackResource, ResourceBody)>,
    /// Values, and why there is none.
    pub outputs: Vec<(String, Result<Value, String>)>,
    /// The oldest first, as `NAME ACTION_STATUS REASON`.
    pub told: Vec<String>,
    pub events: Vec<StackEvent>,
    pub revisions: Vec<StackRevision>,
    /// Below it, by the name of the resource.
    pub children: Map<String, Value>,
}

impl Looked {
    /// The resource of a name, and what is sealed of it.
    pub fn resource(&self, name: &str) -> &(StackResource, ResourceBody) {
        let mut rows = self.rows.iter().filter(|(row, _)| row.name == name);
        rows.find(|(row, _)| row.replaced_by.is_none()).expect("there is a resource of that name")
    }
}

/// Begins to make a stack.
pub async fn create(
    control: &Control,
    cx: &Cx,
    project: hostler_model::ProjectId,
    name: &str,
    body: &DefinitionBody,
    options: StackOptions,
) -> Result<StackId, Error> {
    let id = control.ids.fresh();
    let (stack, definition) = control.stack_draft(NewStack {
        id,
        project_id: project,
        name: name.parse().map_err(Error::internal)?,
        body,
        options,
        mandate: Mandate::of(&cx.caller, project),
        created_by: cx.actor(),
        action: StackAction::Create,
        above: None,
    })?;
    let (stack, definition) = (&stack, &definition);
    control
        .store
        .tx("stack_bench", |tx| {
            Box::pin(async move { control.stack_enter(tx, stack, definition).await })
        })
        .await?;
    Ok(id)
}

/// Begins something with a stack.
pub async fn begin(
    control: &Control,
    cx: &Cx,
    id: StackId,
    action: StackAction,
    body: Option<&DefinitionBody>,
) -> Result<(), Error> {
    let looked = control.stack_look(id).await?.ok_or_else(|| Error::not_found("stack", id))?;
    let definition = match body {
        Some(body) => Some(control.stack_definition(&looked.key, id, body, cx.actor())?),
        None => None,
    };
    let (definition, known) = (definition.as_ref(), &looked.stack);
    control
        .store
        .tx("stack_bench", |tx| {
            Box::pin(async move {
                let mut stack = known.clone();
                control.stack_begin(tx, &mut stack, action, definition.zip(body)).await
            })
        })
        .await
}

/// Everything about a stack.
pub async fn look(control: &Control, id: StackId) -> Result<Looked, Error> {
    let scene = control.stack_look(id).await?.ok_or_else(|| Error::not_found("stack", id))?;
    let outputs = scene.outputs(control);
    let mut read = control.store.read().await?;
    let filter = StackEventFilter::new(StackEventScope::One(id));
    let mut events = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = read.stack_event_list(filter, after.as_deref(), Limit::LARGEST).await?;
        events.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let revisions = read.stack_revision_list(id, None, Limit::LARGEST).await?.items;
    let told = |it: &StackEvent| {
        format!("{} {}_{} {}", it.name, it.status.action(), it.status.status(), it.reason)
    };
    let told = events.iter().map(told).collect();
    let (rows, bodies) = (scene.rows, scene.bodies);
    let name = |id| rows.iter().find(|row| row.id == id).map(|row| row.name.clone());
    let children = scene
        .children
        .iter()
        .map(|(id, child)| {
            let named = name(*id).unwrap_or_default();
            (named, Value::String(child.stack.id.to_string()))
        })
        .collect();
    let bodied =
        |row: &StackResource| (row.clone(), bodies.get(&row.id).cloned().unwrap_or_default());
    Ok(Looked {
        stack: scene.stack,
        rows: rows.iter().map(bodied).collect(),
        outputs: outputs.into_iter().map(|output| (output.name, output.value)).collect(),
        told,
        events,
        revisions,
        children,
    })
}

/// The name of the type below.
pub const OUTSIDE: &str = "Hostler::Bench::Outside";

/// The world outside: a type whose objects are made there, when somebody opens the gate, and only once for each key.
pub struct Outside {
    schema: ResourceSchema,
    gate: Semaphore,
    state: Mutex<OutsideState>,
}

#[derive(Default)]
struct OutsideState {
    /// By key, how often it was asked for.
    asked: BTreeMap<String, u32>,
    at_once: usize,
    most: usize,
    /// What there is, by what it is called.
    objects: BTreeMap<String, Map<String, Value>>,
    /// Nobody is answered who looks.
    is_silent: bool,
}

impl Outside {
    /// A world whose gate lets so many through.
    pub fn new(open: usize) -> Arc<Outside> {
        let schema = ResourceSchema::new(OUTSIDE, "Something outside.")
            .property("value", PropertySchema::string("What it is.").updatable())
            .attribute("value", AttributeSchema::new("The same."))
            .attribute("state", AttributeSchema::new("Whether it is well."));
        Arc::new(Outside { schema, gate: Semaphore::new(open), state: Mutex::default() })
    }

    pub fn open(&self, count: usize) {
        self.gate.add_permits(count);
    }

    /// Of every deed that was begun here, how often it was asked for.
    pub fn asked(&self) -> Vec<u32> {
        self.state().asked.values().copied().collect()
    }

    /// What objects there are, and what they are like.
    pub fn objects(&self) -> BTreeMap<String, Map<String, Value>> {
        self.state().objects.clone()
    }

    /// Somebody changes an object behind everybody's back.
    pub fn meddle(&self, object: &str, name: &str, value: impl Into<Value>) {
        let mut state = self.state();
        let known = state.objects.get_mut(object).expect("there is such an object");
        known.insert(name.to_owned(), value.into());
    }

    /// An object is lost.
    pub fn lose(&self, object: &str) {
        self.state().objects.remove(object).expect("there is such an object");
    }

    /// From now on nobody is answered who looks, or everybody is.
    pub fn fall_silent(&self, is_silent: bool) {
        self.state().is_silent = is_silent;
    }

    /// How many were asked for at once, at most.
    pub fn most(&self) -> usize {
        self.state().most
    }

    fn state(&self) -> std::sync::MutexGuard<'_, OutsideState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn act(&self, key: &str) {
        {
            let mut state = self.state();
            *state.asked.entry(key.to_owned()).or_default() += 1;
            state.at_once += 1;
            state.most = state.most.max(state.at_once);
        }
        if let Ok(permit) = self.gate.acquire().await {
            permit.forget();
        }
        self.state().at_once -= 1;
    }
}

struct OutsideType(Arc<Outside>);

impl OutsideType {
    /// An object becomes as it is meant, and well.
    fn put(&self, ctx: &Ctx<'_>, object: &str) -> Change {
        let value = ctx.property("value").cloned().unwrap_or_default();
        let known = [("value".to_owned(), value.clone()), ("state".to_owned(), "well".into())];
        self.0.state().objects.insert(object.to_owned(), Map::from_iter(known));
        Change::default().attribute("value", value).attribute("state", "well")
    }
}

impl Plugin for OutsideType {
    fn schema(&self) -> &ResourceSchema {
        &self.0.schema
    }

    fn is_local(&self) -> bool {
        false
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move {
            self.0.act(ctx.key).await;
            Ok(Progress::Done(Change {
                physical: Some(ctx.key.to_owned()),
                ..self.put(ctx, ctx.key)
            }))
        }
        .boxed()
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        async move {
            self.0.act(ctx.key).await;
            let object = ctx.row.physical.as_deref().unwrap_or(ctx.key);
            Ok(Progress::Done(self.put(ctx, object)))
        }
        .boxed()
    }

    fn delete<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move {
            self.0.act(ctx.key).await;
            if let Some(object) = &ctx.row.physical {
                self.0.state().objects.remove(object);
            }
            Ok(Progress::done())
        }
        .boxed()
    }

    fn live_state<'a>(
        &'a self,
        ctx: &'a Ctx<'a>,
    ) -> BoxFuture<'a, Result<Option<Map<String, Value>>, Error>> {
        async move {
            let is_silent = self.0.state().is_silent;
            if is_silent {
                futures::future::pending::<()>().await;
            }
            let object = ctx.row.physical.as_deref().unwrap_or_default();
            let known = self.0.state().objects.get(object).cloned();
            known.map(Some).ok_or_else(|| Error::not_found("object", object))
        }
        .boxed()
    }
}

/// Lets a server reach the world outside.
pub fn reach(control: &Control, outside: &Arc<Outside>) {
    control.stack_catalog.put_on_bench(Arc::new(OutsideType(Arc::clone(outside))));
}
