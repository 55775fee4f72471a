//! What executions of workflows do for their stacks: lock, checklist, drift, snapshot, the way back, and a server that dies
//! at any point of it.

use std::collections::BTreeMap;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use hostler_base::reconcile::Reconciler;
use hostler_control::{
    Bundle, Control, Cx, ExecutionDetail, ExecutionRetry, LockAsk, LockWatch, NewExecution,
    NewWorkflow, stack_bench,
};
use hostler_model::stack::{StackAction, StackPoint, StackStatus};
use hostler_model::workflow::{
    CareEnd, CareKind, CareStanding, ExecutionOptions, ExecutionOutcome, ExecutionState, Standing,
    StepEnd,
};
use hostler_model::{Code, EventKind, Limit, LockHolder, LockOutcome, Role, Span};
use hostler_testkit::World;
use serde_json::{Value, json};

use crate::postgres::Schema;
use crate::stack_rig::{Rig, form, inside, outside};

const EVERYTHING: &str = "require_lock = true, create_snapshot = true, validate_before = true, detect_drift = true, on_failure = 'rollback'";
/// A step that waits for somebody, so that others can do something meanwhile.
const WAITS: &str = "workflow.approval('go', { message = 'go?' })";
const DONE: &str = "{ name = 'go' }";
const FAILS: &str = "{ name = 'go', abort_if = true }";

struct Show {
    rig: Rig,
    watch: LockWatch,
}

impl Show {
    async fn new() -> Show {
        Box::pin(Show::on(World::new(1).await)).await
    }

    /// With the stack `web`, whose object has the value `one`.
    async fn on(world: World) -> Show {
        let mut rig = Rig::on(world);
        let resources = json!({ "a": outside(json!({ "get_param": "word" })) });
        Box::pin(rig.create("web", form(resources))).await;
        let watch = rig.control().lock_watch();
        Show { rig, watch }
    }

    async fn push(&self, config: &str, step: &str) {
        let text = format!(
            "stack('web')\nworkflow.define('w', {{ config = {{ {config} }}, tasks = {{ {step} }} }})"
        );
        let bundle = Bundle { name: "w.sloth".into(), text, files: BTreeMap::new() };
        let new = NewWorkflow { bundle, values: Value::Null, is_strict: false };
        let (cx, project) = (self.rig.cx(), self.rig.project());
        self.rig.control().workflow_push(&cx, &project, new).await.unwrap();
    }

    async fn begin(&self, config: &str, step: &str) -> ExecutionDetail {
        self.push(config, step).await;
        self.run(&self.rig.cx(), ExecutionOptions::default()).await.unwrap()
    }

    async fn run(
        &self,
        cx: &Cx,
        options: ExecutionOptions,
    ) -> Result<ExecutionDetail, hostler_model::Error> {
        let new = NewExecution { options, ..NewExecution::default() };
        self.rig.control().workflow_run(cx, &self.rig.project(), "w", new).await
    }

    async fn look(&self, begun: &ExecutionDetail) -> ExecutionDetail {
        let project = self.rig.project();
        self.rig.control().execution_get(&project, begun.execution.id).await.unwrap()
    }

    /// A second in which everybody does what there is to do.
    async fn second(&mut self) {
        let (report, _) = self.rig.control().advance_executions().await.unwrap();
        assert_eq!(report.failed, 0, "a pass over an execution failed");
        self.rig.settle().await;
        assert_eq!(self.watch.reconcile().await.error, None);
        self.rig.world.advance(Duration::from_secs(1));
    }

    async fn seconds(&mut self, count: usize) {
        for _ in 0..count {
            self.second().await;
        }
    }

    async fn until_over(&mut self, begun: &ExecutionDetail) -> ExecutionDetail {
        for _ in 0..60 {
            let found = self.look(begun).await;
            if found.execution.state.is_over() {
                return found;
            }
            self.second().await;
        }
        panic!("it does not end: {:?}", self.look(begun).await.execution);
    }

    /// The value of the object, as it really is.
    async fn value(&self) -> Value {
        let physical = self.rig.physical("web", "a").await;
        self.rig.outside.objects()[&physical]["value"].clone()
    }

    async fn holders(&self) -> usize {
        let (cx, project) = (self.rig.cx(), self.rig.project());
        let status = self.rig.control().stack_lock_status(&cx, &project, "web").await.unwrap();
        status.map_or(0, |it| it.holders.len() + it.queue.len())
    }

    async fn snapshots(&self) -> Vec<(String, StackStatus)> {
        let (cx, project) = (self.rig.cx(), self.rig.project());
        let listed = self.rig.control().stack_snapshots(&cx, &project, "web", None, Limit::LARGEST);
        listed.await.unwrap().items.into_iter().map(|one| (one.name, one.status)).collect()
    }

    /// Somebody else holds the lock of the stack.
    async fn lock_by(&self, name: &str, why: &str, ttl: Span) -> (Cx, hostler_model::LockHoldId) {
        let (cx, id) = (self.rig.somebody(name, Role::Admin), self.rig.fresh_hold());
        let holder = LockHolder { why: why.to_owned(), ..LockHolder::default() };
        let ask = LockAsk { id, slots: 1, ttl, wait: None, holder };
        let project = self.rig.project();
        let held = self.rig.control().stack_lock_acquire(&cx, &project, "web", ask).await.unwrap();
        assert_eq!(held.outcome, LockOutcome::Held);
        (cx, id)
    }
}

fn end(found: &ExecutionDetail, kind: CareKind) -> Option<CareEnd> {
    found.execution.care.as_ref()?.phase(kind)?.standing.end()
}

fn message(found: &ExecutionDetail, kind: CareKind) -> String {
    let care = found.execution.care.as_ref().unwrap();
    care.phase(kind).unwrap().message.clone()
}

fn outcome(found: &ExecutionDetail) -> Option<ExecutionOutcome> {
    found.execution.state.outcome()
}

#[tokio::test]
async fn a_stack_is_locked_looked_over_and_kept_before_the_first_step() {
    let mut show = Show::new().await;
    let begun = show.begin(EVERYTHING, WAITS).await;
    assert_eq!(begun.execution.state, ExecutionState::Preparing);
    show.seconds(5).await;
    let found = show.look(&begun).await;
    assert_eq!(found.execution.state, ExecutionState::Running);
    for kind in [CareKind::Validate, CareKind::Drift, CareKind::Snapshot] {
        assert_eq!(
            end(&found, kind),
            Some(CareEnd::Succeeded),
            "{kind}: {}",
            message(&found, kind)
        );
    }
    let care = found.execution.care.clone().unwrap();
    let lock = care.phase(CareKind::Lock).unwrap().standing;
    assert!(matches!(lock, CareStanding::Held { .. }), "{lock:?}");
    let (cx, project) = (show.rig.cx(), show.rig.project());
    let status = show.rig.control().stack_lock_status(&cx, &project, "web").await.unwrap().unwrap();
    let id = found.execution.id.to_string();
    assert_eq!(status.holders[0].id, care.hold);
    assert!(status.holders[0].holder.why.contains(&id), "{:?}", status.holders[0].holder);
    let snapshots = show.snapshots().await;
    assert_eq!(snapshots, [(format!("execution-{id}"), StackStatus::Complete)]);
    assert!(message(&found, CareKind::Snapshot).contains(&care.snapshot.to_string()));

    // Nobody else changes it meanwhile, and whoever began the execution does.
    let other = show.rig.somebody("bea", Role::Admin);
    let refused = show.rig.control().stack_delete(&other, &project, "web").await.unwrap_err();
    assert!(refused.message.contains("is locked by admin"), "{}", refused.message);

    let approval = found.steps[0].approval_id.unwrap();
    show.rig.control().approval_decide(&other, approval, true, "", None).await.unwrap();
    let found = show.until_over(&begun).await;
    assert_eq!(outcome(&found), Some(ExecutionOutcome::Succeeded));
    assert_eq!(end(&found, CareKind::DriftAfter), Some(CareEnd::Succeeded));
    assert_eq!(end(&found, CareKind::Rollback), Some(CareEnd::Skipped));
    assert_eq!(end(&found, CareKind::Lock), Some(CareEnd::Released));
    assert_eq!(show.holders().await, 0);
    let told = show.rig.told(EventKind::ExecutionPhase).await;
    for words in [
        "lock: stack web is locked",
        "validate: succeeded",
        "snapshot: succeeded",
        "lock: released",
    ] {
        assert_eq!(told.iter().filter(|one| one.contains(words)).count(), 1, "{words}: {told:#?}");
    }
}

#[tokio::test]
async fn who_holds_the_lock_is_waited_for_and_named() {
    let mut show = Show::new().await;
    let (ada, hold) = show.lock_by("ada", "release 42", Span::from_secs(3600)).await;
    let begun = show.begin("require_lock = true, lock_timeout = '10s'", DONE).await;
    show.seconds(3).await;
    let found = show.look(&begun).await;
    assert_eq!(found.execution.state, ExecutionState::Preparing);
    assert_eq!(message(&found, CareKind::Lock), "stack web is locked by ada (release 42)");
    let project = show.rig.project();
    show.rig.control().stack_lock_release(&ada, &project, "web", Some(hold)).await.unwrap();
    let found = show.until_over(&begun).await;
    assert_eq!(outcome(&found), Some(ExecutionOutcome::Succeeded));

    show.lock_by("eve", "for ever", Span::from_secs(3600)).await;
    let begun = show.run(&show.rig.cx(), ExecutionOptions::default()).await.unwrap();
    let found = show.until_over(&begun).await;
    assert_eq!(outcome(&found), Some(ExecutionOutcome::Failed));
    let words = message(&found, CareKind::Lock);
    assert!(words.contains("eve (for ever)") && words.contains("10s"), "{words}");
    assert_eq!((found.steps[0].tries, found.steps[0].standing.label()), (0, "skipped"));
    assert_eq!(show.holders().await, 1, "its place in the queue was given back");
    let told = show.rig.told(EventKind::ExecutionFailed).await;
    assert!(told[0].contains("eve (for ever)"), "{told:?}");
}

#[tokio::test]
async fn what_waits_for_a_lock_can_be_cancelled() {
    let mut show = Show::new().await;
    show.lock_by("eve", "for ever", Span::from_secs(3600)).await;
    let begun = show.begin(EVERYTHING, DONE).await;
    show.seconds(3).await;
    let (cx, project) = (show.rig.cx(), show.rig.project());
    show.rig.control().execution_cancel(&cx, &project, begun.execution.id).await.unwrap();
    let found = show.until_over(&begun).await;
    assert_eq!(outcome(&found), Some(ExecutionOutcome::Cancelled));
    assert_eq!(end(&found, CareKind::Snapshot), Some(CareEnd::Skipped));
    assert_eq!(show.holders().await, 1);
    assert_eq!(show.snapshots().await, []);
}

#[tokio::test]
async fn what_the_checklist_finds_ends_it_before_the_first_step() {
    let mut show = Show::new().await;
    show.rig.outside.lose(&show.rig.physical("web", "a").await);
    let begun = show.begin(EVERYTHING, DONE).await;
    let found = show.until_over(&begun).await;
    assert_eq!(outcome(&found), Some(ExecutionOutcome::Failed));
    assert_eq!(end(&found, CareKind::Validate), Some(CareEnd::Failed));
    let words = message(&found, CareKind::Validate);
    assert!(words.contains("existence: 1 objects are missing: a"), "{words}");
    assert_eq!(found.steps[0].tries, 0);
    for kind in [CareKind::Snapshot, CareKind::DriftAfter, CareKind::Rollback] {
        assert_eq!(end(&found, kind), Some(CareEnd::Skipped), "{kind}");
    }
    assert_eq!(end(&found, CareKind::Lock), Some(CareEnd::Released));
    assert_eq!(show.holders().await, 0);
}

#[tokio::test]
async fn drift_is_told_and_keeps_nothing_from_going_on() {
    let mut show = Show::new().await;
    show.rig.outside.meddle(&show.rig.physical("web", "a").await, "value", "odd");
    let begun = show.begin("detect_drift = true", DONE).await;
    let found = show.until_over(&begun).await;
    assert_eq!(outcome(&found), Some(ExecutionOutcome::Succeeded));
    for kind in [CareKind::Drift, CareKind::DriftAfter] {
        assert_eq!(end(&found, kind), Some(CareEnd::Warned));
        assert!(message(&found, kind).contains("a (configuration)"), "{}", message(&found, kind));
    }
}

/// Somebody changes the stack while a step runs, and the object behind its back; then the step fails.
async fn comes_back(config: &str) -> (Show, ExecutionDetail) {
    let mut show = Show::new().await;
    let begun = show.begin(config, WAITS).await;
    show.seconds(5).await;
    let resources = json!({ "a": outside(json!("two")), "b": inside(json!("new")) });
    show.rig.update("web", form(resources)).await;
    show.rig.outside.meddle(&show.rig.physical("web", "a").await, "value", "three");
    let found = show.look(&begun).await;
    let approval = found.steps[0].approval_id.unwrap();
    let bea = show.rig.somebody("bea", Role::Admin);
    show.rig.control().approval_decide(&bea, approval, false, "no", None).await.unwrap();
    let found = show.until_over(&begun).await;
    assert_eq!(outcome(&found), Some(ExecutionOutcome::Failed));
    assert_eq!(
        end(&found, CareKind::Rollback),
        Some(CareEnd::Succeeded),
        "{}",
        message(&found, CareKind::Rollback)
    );
    assert_eq!(show.value().await, json!("one"));
    assert_eq!(show.rig.resources("web").await.len(), 1);
    let stack = show.rig.stack("web").await;
    assert_eq!(stack.standing.status, StackStatus::Complete);
    assert_eq!(stack.standing.action, StackAction::Restore);
    (show, found)
}

#[tokio::test]
async fn what_failed_goes_back_to_its_snapshot() {
    let (show, found) = Box::pin(comes_back(EVERYTHING)).await;
    let care = found.execution.care.as_ref().unwrap();
    assert_eq!(care.way_back(), Some(StackPoint::Snapshot(care.snapshot)));
    assert_eq!(end(&found, CareKind::DriftAfter), Some(CareEnd::Warned));
    assert_eq!(show.holders().await, 0);
    let told = show.rig.told(EventKind::ExecutionPhase).await;
    assert!(told.iter().any(|one| one.starts_with("rollback: succeeded")), "{told:#?}");
}

#[tokio::test]
async fn without_a_snapshot_it_goes_back_to_the_revision() {
    let (_, found) = Box::pin(comes_back("on_failure = 'rollback'")).await;
    assert_eq!(found.execution.care.unwrap().way_back(), Some(StackPoint::Revision(1)));
}

#[tokio::test]
async fn a_lock_is_renewed_for_as_long_as_it_takes_and_its_loss_ends_the_execution() {
    let mut show = Show::new().await;
    let begun = show.begin("require_lock = true", WAITS).await;
    show.seconds(300).await;
    assert_eq!(show.look(&begun).await.execution.state, ExecutionState::Running);
    assert_eq!(show.holders().await, 1, "it was renewed");
    let (cx, project) = (show.rig.cx(), show.rig.project());
    let taken = show.rig.control().stack_lock_force_release(&cx, &project, "web", "in my way");
    taken.await.unwrap();
    let found = show.until_over(&begun).await;
    assert_eq!(outcome(&found), Some(ExecutionOutcome::Failed));
    assert_eq!(end(&found, CareKind::Lock), Some(CareEnd::Lost));
    assert!(
        message(&found, CareKind::Lock).contains("in my way"),
        "{}",
        message(&found, CareKind::Lock)
    );
    assert_ne!(found.steps[0].standing, Standing::Ended(StepEnd::Succeeded));
}

#[tokio::test]
async fn a_lock_that_nobody_renews_is_free_after_a_while() {
    let mut show = Show::new().await;
    show.begin("require_lock = true", WAITS).await;
    show.seconds(3).await;
    assert_eq!(show.holders().await, 1);
    // Nobody carries executions on, but locks are watched.
    for _ in 0..130 {
        assert_eq!(show.watch.reconcile().await.error, None);
        show.rig.world.advance(Duration::from_secs(1));
    }
    assert_eq!(show.holders().await, 0);
}

#[tokio::test]
async fn what_is_done_again_is_prepared_again() {
    let mut show = Show::new().await;
    let begun = show.begin(EVERYTHING, FAILS).await;
    let first = show.until_over(&begun).await;
    assert_eq!(outcome(&first), Some(ExecutionOutcome::Failed));
    assert_eq!(end(&first, CareKind::Rollback), Some(CareEnd::Succeeded));
    let (cx, project) = (show.rig.cx(), show.rig.project());
    let retry = ExecutionRetry::default();
    let again = show
        .rig
        .control()
        .execution_retry(&cx, &project, begun.execution.id, &retry)
        .await
        .unwrap();
    assert_eq!(again.execution.state, ExecutionState::Preparing);
    let second = show.until_over(&begun).await;
    let care = |found: &ExecutionDetail| found.execution.care.clone().unwrap();
    assert_ne!(care(&first).hold, care(&second).hold);
    assert_ne!(care(&first).snapshot, care(&second).snapshot);
    assert_eq!(end(&second, CareKind::Lock), Some(CareEnd::Released));
    assert_eq!(show.snapshots().await.len(), 2);
}

#[tokio::test]
async fn old_snapshots_of_executions_make_room() {
    let mut show = Show::new().await;
    show.push("create_snapshot = true", DONE).await;
    let (cx, project) = (show.rig.cx(), show.rig.project());
    show.rig.control().stack_snapshot_create(&cx, &project, "web", "mine").await.unwrap();
    show.rig.settle().await;
    for _ in 0..12 {
        let begun = show.run(&cx, ExecutionOptions::default()).await.unwrap();
        let found = show.until_over(&begun).await;
        assert_eq!(outcome(&found), Some(ExecutionOutcome::Succeeded));
    }
    let left = show.snapshots().await;
    assert_eq!(left.len(), 9, "{left:?}");
    assert!(left.iter().any(|(name, _)| name == "mine"));
}

#[tokio::test]
async fn what_cannot_be_is_refused_before_anything_begins() {
    let show = Show::new().await;
    let text =
        "workflow.define('w', { config = { require_lock = true }, tasks = { { name = 't' } } })";
    let bundle = Bundle { name: "w.sloth".into(), text: text.into(), files: BTreeMap::new() };
    let new = NewWorkflow { bundle, values: Value::Null, is_strict: false };
    let (cx, project) = (show.rig.cx(), show.rig.project());
    show.rig.control().workflow_push(&cx, &project, new).await.unwrap();
    let told = async |options: ExecutionOptions| {
        let error = show.run(&cx, options).await.unwrap_err();
        assert_eq!(error.code, Code::Invalid);
        error.errors[0].detail.clone()
    };
    let words = told(ExecutionOptions::default()).await;
    assert!(words.contains("`require_lock`") && words.contains("--stack"), "{words}");
    let named = |name: &str| ExecutionOptions { stack: Some(name.into()), ..Default::default() };
    let words = told(named("none")).await;
    assert!(words.contains("no stack `none`") && words.contains("stack apply"), "{words}");
    let viewer = show.rig.somebody("vic", Role::Viewer);
    let refused = show.run(&viewer, named("web")).await.unwrap_err();
    assert_eq!(refused.code, Code::Forbidden);
    let begun = show.run(&cx, named("web")).await.unwrap();
    assert_eq!(begun.execution.care.unwrap().stack.as_str(), "web");
}

/// Polls something so many times, and then lets it fall: whoever did it is dead.
async fn killed_after(count: usize, control: &Control) -> bool {
    let mut work = pin!(control.advance_executions());
    let mut polls = 0;
    std::future::poll_fn(move |cx| {
        if polls == count {
            return Poll::Ready(false);
        }
        polls += 1;
        work.as_mut().poll(cx).map(|_| true)
    })
    .await
}

/// A server dies at its `count`th word with the database, in every pass; whoever comes next finds what was done.
async fn dies(world: World, count: usize) -> bool {
    let mut show = Show::on(world).await;
    let begun = show.begin(EVERYTHING, FAILS).await;
    let mut is_done = true;
    for _ in 0..60 {
        if show.look(&begun).await.execution.state.is_over() {
            break;
        }
        is_done &= killed_after(count, show.rig.control()).await;
        let next = show.rig.world.another_server().await;
        stack_bench::reach(&next, &show.rig.outside);
        next.advance_executions().await.unwrap();
        show.rig.settle().await;
        show.rig.world.advance(Duration::from_secs(1));
    }
    let found = show.look(&begun).await;
    assert_eq!(outcome(&found), Some(ExecutionOutcome::Failed), "{count}: {:?}", found.execution);
    assert!(found.execution.state.is_over(), "{count}");
    for (kind, expected) in [
        (CareKind::Lock, CareEnd::Released),
        (CareKind::Validate, CareEnd::Succeeded),
        (CareKind::Snapshot, CareEnd::Succeeded),
        (CareKind::Rollback, CareEnd::Succeeded),
    ] {
        assert_eq!(end(&found, kind), Some(expected), "{count}: {}", message(&found, kind));
    }
    assert_eq!(show.holders().await, 0, "{count}");
    assert_eq!(show.snapshots().await.len(), 1, "{count}");
    // Made, kept, brought back: once each.
    let stack = show.rig.stack("web").await;
    assert_eq!(stack.traversal.get(), 3, "{count}");
    let told = show.rig.told(EventKind::ExecutionPhase).await;
    for words in ["lock: stack web is locked", "snapshot: succeeded", "rollback: succeeded"] {
        let times = told.iter().filter(|one| one.contains(words)).count();
        assert_eq!(times, 1, "{count}: {words}: {told:#?}");
    }
    is_done
}

#[tokio::test]
async fn a_server_can_die_at_every_point() {
    let mut count = 0;
    while !Box::pin(dies(World::new(1).await, count)).await {
        count += 1 + count / 12;
        assert!(count < 2000, "a pass does not end");
    }
    assert!(count > 5, "it was killed in the middle of something");
}

#[tokio::test]
async fn a_server_can_die_at_some_points_on_postgres() {
    for count in [1, 4, 9, 16, 25] {
        let Some(schema) = Schema::create(&format!("execution_stacks_{count}")) else { return };
        Box::pin(dies(World::on(schema.open().await, 1).await, count)).await;
    }
}
