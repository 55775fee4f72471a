//! What people can ask of stacks: making, changing and taking down, looking, signals, hooks, marks, and everything that is refused.

use hostler_control::{
    Control, SignalPass, StackAsk, StackCommand, StackEdit, StackEventQuery, StackForm, StackQuery,
    StackRefusal,
};
use hostler_model::stack::{Stack, StackAction, StackOptions, StackStatus};
use hostler_model::{Code, EventKind, Generation, Limit, Quota};
use hostler_testkit::World;
use serde_json::{Map, Value, json};

struct Bench {
    world: World,
    hand: hostler_control::StackAdvance,
}

fn form(resources: Value) -> StackForm {
    let template = json!({
        "heat_template_version": "2021-04-16",
        "parameters": { "word": { "type": "string", "default": "one" }, "secret": { "type": "string", "default": "hush", "hidden": true } },
        "resources": resources,
        "outputs": { "out": { "value": { "get_param": "word" } } },
    });
    StackForm { template, ..StackForm::default() }
}

fn bench(value: Value) -> Value {
    json!({ "type": "OS::Heat::TestResource", "properties": { "value": value } })
}

impl Bench {
    async fn new() -> Bench {
        let world = World::new(1).await;
        let hand = world.control.stack_reconciler();
        Bench { world, hand }
    }

    fn control(&self) -> &Control {
        &self.world.control
    }

    async fn ask(&self, name: &str, form: StackForm) -> Result<Stack, StackRefusal> {
        let (cx, project) = (&self.world.cx, &self.world.project);
        let name = name.parse().unwrap();
        let ask = StackAsk {
            name,
            form,
            options: StackOptions::default(),
            left: None,
            reason: String::new(),
        };
        self.control().stack_create(cx, project, ask).await
    }

    async fn create(&mut self, name: &str, form: StackForm) -> Stack {
        self.ask(name, form).await.unwrap();
        self.settle().await;
        self.stack(name).await
    }

    async fn stack(&self, name: &str) -> Stack {
        let (cx, project) = (&self.world.cx, &self.world.project);
        self.control().stack_resolve(cx, project, name).await.unwrap()
    }

    async fn edit(&mut self, name: &str, edit: StackEdit) -> Result<Stack, StackRefusal> {
        let (cx, project) = (&self.world.cx, &self.world.project);
        let done = self.control().stack_update(cx, project, name, edit).await;
        self.settle().await;
        done
    }

    async fn command(&mut self, name: &str, command: StackCommand) -> Result<Stack, StackRefusal> {
        let (cx, project) = (&self.world.cx, &self.world.project);
        let done = self.control().stack_command(cx, project, name, command).await;
        self.settle().await;
        done
    }

    async fn signal(
        &mut self,
        name: &str,
        resource: &str,
        body: Value,
    ) -> Result<Value, StackRefusal> {
        let (cx, project) = (&self.world.cx, &self.world.project);
        let done = self.control().stack_signal(cx, project, name, resource, &body).await;
        self.settle().await;
        done
    }

    async fn settle(&mut self) {
        for _ in 0..2000 {
            let pass = self.hand.advance().await.unwrap();
            assert_eq!(pass.report.failed, 0, "a pass over a stack failed");
            if !pass.again && !self.hand.deed_ended().await {
                return;
            }
        }
        panic!("stacks do not come to rest");
    }

    async fn told(&self, name: &str) -> Vec<String> {
        let (cx, project) = (&self.world.cx, &self.world.project);
        let query = StackEventQuery { depth: 5, ..StackEventQuery::default() };
        let page = (None, Limit::LARGEST);
        let events = self.control().stack_events(cx, project, name, &query, page).await.unwrap();
        let line = |it: &hostler_model::stack::StackEvent| {
            format!("{} {}_{} {}", it.name, it.status.action(), it.status.status(), it.reason)
        };
        events.items.iter().map(line).collect()
    }
}

fn refused<T: std::fmt::Debug>(result: Result<T, StackRefusal>) -> (&'static str, String) {
    let refusal = result.unwrap_err();
    (refusal.kind, refusal.message)
}

#[tokio::test]
async fn a_stack_is_asked_for_changed_and_taken_down() {
    let mut it = Bench::new().await;
    let word = json!({ "get_param": "word" });
    let stack =
        it.create("web", form(json!({ "a": bench(word.clone()), "b": bench(json!("x")) }))).await;
    assert_eq!(stack.standing.heat(), "CREATE_COMPLETE");
    let (cx, project) = (it.world.cx.clone(), it.world.project.clone());
    let detail = it.control().stack_get(&cx, &project, "web", true).await.unwrap();
    assert_eq!(detail.outputs[0].value, Ok(json!("one")));
    assert_eq!(detail.parameters["secret"], json!("******"));
    assert_eq!(detail.parameters["OS::stack_name"], json!("web"));

    // A patch says only what is to change.
    let patch = StackEdit {
        form: StackForm {
            parameters: Map::from_iter([("word".to_owned(), json!("two"))]),
            ..StackForm::default()
        },
        is_patch: true,
        tags: Some(vec!["t".to_owned()]),
        ..StackEdit::default()
    };
    it.edit("web", patch).await.unwrap();
    let detail = it.control().stack_get(&cx, &project, "web", true).await.unwrap();
    assert_eq!(detail.stack.standing.heat(), "UPDATE_COMPLETE");
    assert_eq!(detail.outputs[0].value, Ok(json!("two")));
    let one = it.control().stack_resource(&cx, &project, "web", "a").await.unwrap();
    assert_eq!(one.attributes["output"], json!("two"));
    let cleared = StackEdit {
        is_patch: true,
        clear_parameters: vec!["word".to_owned()],
        ..StackEdit::default()
    };
    it.edit("web", cleared).await.unwrap();
    let outputs = it.control().stack_outputs(&cx, &project, "web").await.unwrap();
    assert_eq!(outputs[0].value, Ok(json!("one")), "the default counts again");

    let tagged = StackQuery { tags: vec!["t".to_owned()], ..StackQuery::default() };
    let listed =
        it.control().stack_list(&cx, &project, &tagged, None, Limit::LARGEST).await.unwrap();
    assert_eq!(listed.items.len(), 1);
    assert_eq!(it.control().stack_count(&cx, &project, &StackQuery::default()).await.unwrap(), 1);
    let revisions =
        it.control().stack_revisions(&cx, &project, "web", None, Limit::LARGEST).await.unwrap();
    assert_eq!(revisions.items.iter().map(|one| one.number).collect::<Vec<_>>(), [3, 2, 1]);
    let (_, body) = it.control().stack_revision_get(&cx, &project, "web", 2).await.unwrap();
    assert_eq!(body.outputs["out"], json!("two"));
    let was = it.control().stack_definition_of(&cx, &project, "web", Some(2)).await.unwrap();
    assert_eq!(was.body.environment["parameters"]["word"], json!("two"));

    it.control().stack_delete(&cx, &project, "web").await.unwrap();
    it.settle().await;
    let gone = refused(it.control().stack_resolve(&cx, &project, "web").await);
    assert_eq!(gone, ("EntityNotFound", "The Stack (web) could not be found.".to_owned()));
    assert!(it.stack(&stack.id.to_string()).await.is_deleted(), "by its id it is still there");
    let again = refused(it.control().stack_delete(&cx, &project, &stack.id.to_string()).await);
    assert_eq!(again.0, "EntityNotFound");
    let query = hostler_control::EventQuery::default();
    let page = it.control().event_list(&cx, &query, None, Limit::LARGEST).await.unwrap();
    let kinds: Vec<EventKind> = page.items.into_iter().map(|event| event.event.kind).collect();
    assert!(kinds.contains(&EventKind::StackCreated) && kinds.contains(&EventKind::StackRemoved));
}

#[tokio::test]
async fn what_is_wrong_is_refused_before_anything_is_written() {
    let mut it = Bench::new().await;
    let of = |kind: &str, properties: Value| {
        form(json!({ "r": { "type": kind, "properties": properties } }))
    };
    let cases = [
        (
            of("OS::Heat::RandomString", json!({ "length": 600 })),
            "StackValidationFailed",
            "Property error: : resources.r.properties.length: : 600 is out of range (min: 1, max: 512)",
        ),
        (
            of("OS::Heat::Nope", json!({})),
            "StackValidationFailed",
            "The Resource Type (OS::Heat::Nope) could not be found.",
        ),
        (StackForm::default(), "HTTPBadRequest", "No template specified"),
        (
            StackForm {
                parameters: Map::from_iter([("zz".to_owned(), json!(1))]),
                ..form(json!({}))
            },
            "UnknownUserParameter",
            "The Parameter (zz) was not defined in template.",
        ),
    ];
    for (form, kind, message) in cases {
        assert_eq!(refused(it.ask("s", form).await), (kind, message.to_owned()));
    }
    let sum = json!({ "length": 2, "character_classes": [{ "class": "digits", "min": 5 }] });
    let refusal = it.ask("s", of("OS::Heat::RandomString", sum)).await.unwrap_err();
    assert_eq!(
        (refusal.kind, refusal.error.code),
        ("StackValidationFailed", Code::Invalid),
        "{refusal:?}"
    );
    let (cx, project) = (it.world.cx.clone(), it.world.project.clone());
    assert_eq!(it.control().stack_count(&cx, &project, &StackQuery::default()).await.unwrap(), 0);

    it.create("s", form(json!({ "a": bench(json!("x")) }))).await;
    let taken = refused(it.ask("s", form(json!({}))).await);
    assert_eq!(taken, ("StackExists", "The Stack (s) already exists.".to_owned()));
    let stale =
        StackEdit { is_patch: true, expected: Some(Generation::ZERO), ..StackEdit::default() };
    assert_eq!(it.edit("s", stale).await.unwrap_err().error.code, Code::Stale);
    let cancel = it.command("s", StackCommand::CancelUpdate).await;
    let words = "Cancelling update when stack is CREATE_COMPLETE is not supported.";
    assert_eq!(refused(cancel), ("NotSupported", words.to_owned()));
    it.command("s", StackCommand::Suspend).await.unwrap();
    assert_eq!(it.stack("s").await.standing.heat(), "SUSPEND_COMPLETE");
    let before = it.stack("s").await.traversal;
    it.command("s", StackCommand::Suspend).await.unwrap();
    assert_eq!(it.stack("s").await.traversal, before, "it is suspended already");
    let patch = it.edit("s", StackEdit { is_patch: true, ..StackEdit::default() }).await;
    let words = "Updating a stack when it is suspended is not supported.";
    assert_eq!(refused(patch), ("NotSupported", words.to_owned()));
    it.command("s", StackCommand::Resume).await.unwrap();
    it.command("s", StackCommand::Check).await.unwrap();
    assert_eq!(it.stack("s").await.standing.heat(), "CHECK_COMPLETE");
}

#[tokio::test]
async fn a_project_has_as_many_stacks_as_it_may() {
    let it = Bench::new().await;
    let quota = Quota { stacks: Some(1), ..Quota::default() };
    let change = hostler_control::ProjectChange { quota: Some(quota), ..Default::default() };
    let lab =
        it.control().project_create(&it.world.cx, "lab".parse().unwrap(), change).await.unwrap();
    let make = |name: &str| StackAsk {
        name: name.parse().unwrap(),
        form: form(json!({})),
        options: StackOptions::default(),
        left: None,
        reason: String::new(),
    };
    it.control().stack_create(&it.world.cx, &lab, make("one")).await.unwrap();
    let over = it.control().stack_create(&it.world.cx, &lab, make("two")).await.unwrap_err();
    assert_eq!((over.kind, over.error.code), ("RequestLimitExceeded", Code::QuotaExceeded));
    let words = "Request limit exceeded: You have reached the maximum stacks per tenant, 1. Please delete some stacks.";
    assert_eq!(over.message, words);
}

#[tokio::test]
async fn a_signal_lets_go_on_what_waits_for_it() {
    let mut it = Bench::new().await;
    let resources = json!({
        "handle": { "type": "OS::Heat::WaitConditionHandle" },
        "wait": { "type": "OS::Heat::WaitCondition", "properties": { "handle": { "get_resource": "handle" }, "timeout": 600, "count": 2 } },
        "plain": bench(json!("x")),
    });
    let stack = it.create("s", form(resources)).await;
    assert_eq!(
        (stack.standing.action, stack.standing.status),
        (StackAction::Create, StackStatus::InProgress)
    );
    let no = it.signal("s", "plain", Value::Null).await;
    assert_eq!(
        refused(no),
        ("ResourceActionNotSupported", "signal is not supported for resource.".to_owned())
    );
    let bad = it.signal("s", "handle", json!({ "status": "GOOD" })).await;
    assert_eq!(refused(bad), ("StackValidationFailed", "Metadata format invalid".to_owned()));
    assert_eq!(
        it.signal("s", "nothing", Value::Null).await.unwrap_err().error.code,
        Code::NotFound
    );
    it.signal("s", "handle", json!({ "data": "d" })).await.unwrap();
    assert!(it.stack("s").await.standing.is_under_way(), "one of two");

    // The other one comes from somebody who has nothing but the address.
    let (cx, project) = (it.world.cx.clone(), it.world.project.clone());
    let handle = it.control().stack_resource(&cx, &project, "s", "handle").await.unwrap();
    let url = handle.attributes["endpoint"].as_str().unwrap().to_owned();
    assert!(url.starts_with("/v1/signal/arn%3Aopenstack%3Aheat%3A%3A"), "{url}");
    let (expires, signature) =
        url.split_once("?Expires=").unwrap().1.split_once("&Signature=").unwrap();
    let pass = SignalPass {
        is_wait_condition: false,
        expires: Some(expires.parse().unwrap()),
        signature: signature.to_owned(),
    };
    let bad = [
        SignalPass { expires: Some(i64::MAX), ..pass.clone() },
        SignalPass { is_wait_condition: true, ..pass.clone() },
        SignalPass { expires: None, ..pass.clone() },
    ];
    let request = &cx.request;
    for pass in &bad {
        let no = it
            .control()
            .stack_signal_by_address(request, stack.id, "handle", pass, &Value::Null)
            .await;
        assert_eq!(no.unwrap_err().error.code, Code::Forbidden);
    }
    let other =
        it.control().stack_signal_by_address(request, stack.id, "wait", &pass, &Value::Null).await;
    assert_eq!(other.unwrap_err().error.code, Code::Forbidden, "it is good for one resource");
    it.control()
        .stack_signal_by_address(request, stack.id, "handle", &pass, &Value::Null)
        .await
        .unwrap();
    it.settle().await;
    assert_eq!(it.stack("s").await.standing.heat(), "CREATE_COMPLETE");
    let told = it.told("s").await;
    assert!(
        told.contains(
            &"handle SIGNAL_COMPLETE Signal: status:SUCCESS reason:Signal 1 received".to_owned()
        ),
        "{told:?}"
    );
    it.world.advance(std::time::Duration::from_hours(366 * 24));
    let late = it
        .control()
        .stack_signal_by_address(request, stack.id, "handle", &pass, &Value::Null)
        .await;
    assert_eq!(late.unwrap_err().error.code, Code::Forbidden, "it has expired");
}

#[tokio::test]
async fn a_policy_is_signalled_and_its_group_grows() {
    let mut it = Bench::new().await;
    let group = json!({ "type": "OS::Heat::AutoScalingGroup", "properties": {
        "min_size": 1, "max_size": 3, "desired_capacity": 1, "cooldown": 0, "resource": bench(json!("m")),
    }});
    let policy = json!({ "type": "OS::Heat::ScalingPolicy", "properties": {
        "auto_scaling_group_id": { "get_resource": "group" }, "adjustment_type": "change_in_capacity", "scaling_adjustment": 1, "cooldown": 0,
    }});
    let stack = it.create("s", form(json!({ "group": group, "policy": policy }))).await;
    assert_eq!(stack.standing.heat(), "CREATE_COMPLETE", "{:?}", stack.standing);
    it.world.advance(std::time::Duration::from_secs(2));
    it.signal("s", "policy", Value::Null).await.unwrap();
    let (cx, project) = (it.world.cx.clone(), it.world.project.clone());
    let all = it.control().stack_resources(&cx, &project, "s", 1).await.unwrap();
    let members = all.iter().filter(|one| one.parent_resource.as_deref() == Some("group")).count();
    assert_eq!(members, 2, "{:?}", it.told("s").await);
}

#[tokio::test]
async fn hooks_are_cleared_and_what_is_broken_is_replaced() {
    let mut it = Bench::new().await;
    let mut form = form(json!({ "a": bench(json!("x")) }));
    form.environment =
        json!({ "resource_registry": { "resources": { "a": { "hooks": "pre-create" } } } });
    it.create("s", form).await;
    assert!(it.stack("s").await.standing.is_under_way());
    let wrong = refused(it.signal("s", "a", json!({ "unset_hook": "pre-nothing" })).await);
    assert_eq!(wrong.0, "InvalidBreakPointHook");
    let other = refused(it.signal("s", "a", json!({ "unset_hook": "pre-update" })).await);
    assert!(
        other.1.starts_with("The \"pre-update\" hook is not defined on TestResource \"a\""),
        "{other:?}"
    );
    it.signal("s", "a", json!({ "unset_hook": "pre-create" })).await.unwrap();
    assert_eq!(it.stack("s").await.standing.heat(), "CREATE_COMPLETE");

    let (cx, project) = (it.world.cx.clone(), it.world.project.clone());
    let physical = async |it: &Bench| {
        it.control().stack_resource(&cx, &project, "s", "a").await.unwrap().row.physical
    };
    let before = physical(&it).await;
    it.control().stack_mark(&cx, &project, "s", "a", true, Some("dead")).await.unwrap();
    assert_eq!(it.told("s").await.last().unwrap(), "a CHECK_FAILED dead");
    it.edit("s", StackEdit { is_patch: true, ..StackEdit::default() }).await.unwrap();
    assert!(it.stack("s").await.standing.is_under_way(), "what takes its place stops as well");
    it.signal("s", "a", json!({ "unset_hook": "pre-create" })).await.unwrap();
    assert_eq!(it.stack("s").await.standing.heat(), "UPDATE_COMPLETE");
    assert_ne!(physical(&it).await, before);
}

#[tokio::test]
async fn an_update_is_cancelled_and_snapshots_are_kept() {
    let mut it = Bench::new().await;
    let slow = |value: &str| {
        let mut one = bench(json!(value));
        one["properties"]["action_wait_secs"] = json!({ "update": 10 });
        form(json!({ "a": one }))
    };
    it.create("s", slow("1")).await;
    let (cx, project) = (it.world.cx.clone(), it.world.project.clone());
    let made = it.control().stack_snapshot_create(&cx, &project, "s", "first").await.unwrap();
    it.settle().await;
    let (kept, body) = it.control().stack_snapshot_get(&cx, &project, "s", made.id).await.unwrap();
    assert_eq!(kept.status, StackStatus::Complete);
    assert!(body.resources.contains_key("a"));
    it.control().stack_snapshot_remove(&cx, &project, "s", made.id).await.unwrap();
    let left =
        it.control().stack_snapshots(&cx, &project, "s", None, Limit::LARGEST).await.unwrap();
    assert_eq!(left.items.len(), 0);
    for (command, end) in [
        (StackCommand::CancelUpdate, "ROLLBACK_COMPLETE"),
        (StackCommand::CancelWithoutRollback, "UPDATE_FAILED"),
    ] {
        it.edit("s", StackEdit { form: slow(end), ..StackEdit::default() }).await.unwrap();
        assert!(it.stack("s").await.standing.is_under_way());
        it.command("s", command).await.unwrap();
        for _ in 0..4 {
            it.world.advance(std::time::Duration::from_secs(10));
            it.settle().await;
        }
        assert_eq!(it.stack("s").await.standing.heat(), end);
    }
}

#[tokio::test]
async fn types_and_templates_can_be_asked_for() {
    let it = Bench::new().await;
    let types = it
        .control()
        .stack_types(&it.world.project, |name| name.ends_with("RandomString"), None, None)
        .await
        .unwrap();
    assert_eq!(types.iter().filter(|one| one.of.is_none()).count(), 1);
    assert!(types.iter().any(|one| one.name.starts_with("Xloud::")));
    assert_eq!(
        it.control().stack_type(&it.world.project, "OS::Heat::Nope").await.unwrap_err().kind,
        "EntityNotFound"
    );
    let (cx, project) = (&it.world.cx, &it.world.project);
    let checked = it
        .control()
        .stack_check(cx, project, &form(json!({ "a": bench(json!("x")) })), false, false)
        .await
        .unwrap();
    assert_eq!(checked.summary["Parameters"]["secret"]["NoEcho"], json!("true"));
    assert_eq!(checked.resources, 1);
}
