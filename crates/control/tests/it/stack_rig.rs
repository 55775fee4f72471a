//! What tests of stacks have in common: a world, a hand that carries stacks on, and short words for what is asked.

use std::sync::Arc;

use hostler_base::ids::Ids;
use hostler_control::stack_bench::{self, OUTSIDE, Outside};
use hostler_control::{
    Control, Cx, EventQuery, StackAdvance, StackAsk, StackEdit, StackForm, StackIntent,
    StackPlanDetail, StackRefusal, StackResourceDetail,
};
use hostler_model::stack::{Stack, StackChangeKind, StackOptions};
use hostler_model::{EventKind, Limit, LockHoldId, Project, Role};
use hostler_testkit::{World, caller_cx};
use serde_json::{Map, Value, json};

use crate::postgres::Schema;

pub(crate) struct Rig {
    pub world: World,
    pub outside: Arc<Outside>,
    pub hand: StackAdvance,
}

/// A template with parameters `word` and the hidden `secret`.
pub(crate) fn form(resources: Value) -> StackForm {
    giving(resources, json!({}))
}

pub(crate) fn giving(resources: Value, outputs: Value) -> StackForm {
    let template = json!({
        "heat_template_version": "2021-04-16",
        "parameters": {
            "word": { "type": "string", "default": "one" },
            "secret": { "type": "string", "default": "hush", "hidden": true },
        },
        "resources": resources,
        "outputs": outputs,
    });
    StackForm { template, ..StackForm::default() }
}

pub(crate) fn with(form: StackForm, name: &str, value: &str) -> StackForm {
    let mut form = form;
    form.parameters.insert(name.to_owned(), json!(value));
    form
}

/// A resource that is in the database only, and is changed in its place.
pub(crate) fn inside(value: Value) -> Value {
    json!({ "type": "OS::Heat::TestResource", "properties": { "value": value } })
}

pub(crate) fn outside(value: Value) -> Value {
    json!({ "type": OUTSIDE, "properties": { "value": value } })
}

/// A resource that cannot be changed in its place.
pub(crate) fn random(length: u32) -> Value {
    json!({ "type": "OS::Heat::RandomString", "properties": { "length": length } })
}

pub(crate) fn output_of(stack: &str, output: &str) -> Value {
    json!({ "type": "Hostler::StackOutput", "properties": { "stack": stack, "output": output } })
}

impl Rig {
    pub async fn new() -> Rig {
        Rig::on(World::new(1).await)
    }

    pub fn on(world: World) -> Rig {
        let (hand, outside) = (world.control.stack_reconciler(), Outside::new(100_000));
        stack_bench::reach(&world.control, &outside);
        Rig { world, outside, hand }
    }

    /// On both databases; on PostgreSQL where there is one.
    pub async fn on_both<F: Future<Output = ()>>(name: &str, test: impl Fn(Rig) -> F) {
        Box::pin(test(Rig::new().await)).await;
        let Some(schema) = Schema::create(name) else { return };
        Box::pin(test(Rig::on(World::on(schema.open().await, 1).await))).await;
    }

    pub fn control(&self) -> &Control {
        &self.world.control
    }

    pub fn cx(&self) -> Cx {
        self.world.cx.clone()
    }

    pub fn project(&self) -> Project {
        self.world.project.clone()
    }

    /// Somebody else, with a role in everything.
    pub fn somebody(&self, name: &str, role: Role) -> Cx {
        caller_cx(&Ids::system(), name, role)
    }

    pub fn fresh_hold(&self) -> LockHoldId {
        Ids::system().fresh()
    }

    pub async fn ask(&self, name: &str, form: StackForm) -> Result<Stack, StackRefusal> {
        self.ask_with(name, form, StackOptions::default()).await
    }

    pub async fn ask_with(
        &self,
        name: &str,
        form: StackForm,
        options: StackOptions,
    ) -> Result<Stack, StackRefusal> {
        let ask = StackAsk {
            name: name.parse().unwrap(),
            form,
            options,
            left: None,
            reason: String::new(),
        };
        self.control().stack_create(&self.cx(), &self.project(), ask).await
    }

    pub async fn create(&mut self, name: &str, form: StackForm) -> Stack {
        self.ask(name, form).await.unwrap();
        self.settle().await;
        self.stack(name).await
    }

    pub async fn update(&mut self, name: &str, form: StackForm) -> Stack {
        let edit = StackEdit { form, ..StackEdit::default() };
        let (cx, project) = (self.cx(), self.project());
        self.control().stack_update(&cx, &project, name, edit).await.unwrap();
        self.settle().await;
        self.stack(name).await
    }

    pub async fn plan(&self, name: &str, form: StackForm) -> StackPlanDetail {
        let edit = StackEdit { form, ..StackEdit::default() };
        self.planned(StackIntent::Update { stack: name.to_owned(), edit }).await.unwrap()
    }

    pub async fn planned(&self, intent: StackIntent) -> Result<StackPlanDetail, StackRefusal> {
        self.control().stack_plan_create(&self.cx(), &self.project(), intent).await
    }

    pub async fn apply(&mut self, plan: &StackPlanDetail) -> Result<Stack, StackRefusal> {
        let (cx, project) = (self.cx(), self.project());
        let done = self.control().stack_plan_apply(&cx, &project, plan.plan.id).await;
        self.settle().await;
        done
    }

    pub async fn stack(&self, name: &str) -> Stack {
        self.control().stack_resolve(&self.cx(), &self.project(), name).await.unwrap()
    }

    pub async fn resources(&self, name: &str) -> Vec<StackResourceDetail> {
        self.control().stack_resources(&self.cx(), &self.project(), name, 5).await.unwrap()
    }

    pub async fn physical(&self, name: &str, resource: &str) -> String {
        let (cx, project) = (self.cx(), self.project());
        let found = self.control().stack_resource(&cx, &project, name, resource).await.unwrap();
        found.row.physical.unwrap()
    }

    pub async fn settle(&mut self) {
        for _ in 0..5000 {
            let pass = self.hand.advance().await.unwrap();
            assert_eq!(pass.report.failed, 0, "a pass over a stack failed");
            if !pass.again && !self.hand.deed_ended().await {
                return;
            }
        }
        panic!("stacks do not come to rest");
    }

    /// What was told to everybody, of one kind.
    pub async fn told(&self, kind: EventKind) -> Vec<String> {
        let query = EventQuery::default();
        let page = self.control().event_list(&self.cx(), &query, None, Limit::LARGEST).await;
        let events = page.unwrap().items.into_iter().map(|event| event.event);
        events.filter(|event| event.kind == kind).map(|event| event.message).collect()
    }
}

/// What a plan would do, one word for each resource that does not stay as it is, sorted.
pub(crate) fn lines(plan: &StackPlanDetail) -> Vec<String> {
    let changed =
        plan.changes.resources.iter().filter(|one| one.change != StackChangeKind::Unchanged);
    let mut found: Vec<String> = changed
        .map(|one| {
            let path: String = one.path.iter().map(|name| format!("{name}/")).collect();
            let mark = if one.is_uncertain { "?" } else { "" };
            format!("{} {path}{}{mark}", one.change, one.name)
        })
        .collect();
    found.sort();
    found
}

/// Which error it is, and its words.
pub(crate) fn refused<T: std::fmt::Debug>(
    result: Result<T, StackRefusal>,
) -> (hostler_model::Code, String) {
    let refusal = result.unwrap_err();
    (refusal.error.code, refusal.message)
}

pub(crate) fn parameters(pairs: &[(&str, &str)]) -> Map<String, Value> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
}
