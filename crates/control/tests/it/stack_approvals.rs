//! Stacks that policies hold back: what exactly is agreed to, once, by whom; and why something is done.

use hostler_control::{
    ApprovalQuery, Consent, Cx, ProjectChange, StackAdopt, StackAsk, StackCommand, StackEdit,
    StackEventQuery, StackForm, StackIntent, StackRefusal,
};
use hostler_model::stack::{Stack, StackOptions, StackPoint};
use hostler_model::{
    ApprovalId, ApprovalState, Code, EventKind, Limit, PrincipalKind, Role, Scope,
};
use hostler_store::AuditFilter;
use serde_json::json;

use crate::approvals::{actions, approve, newest, person, policy, somebody_in, with};
use crate::stack_rig::{Rig, form, inside, with as giving};

/// Stacks of ada, whom olga may stop.
struct Held {
    it: Rig,
    ada: Cx,
    olga: Cx,
}

impl Held {
    async fn new() -> Held {
        let it = Rig::new().await;
        let rule = json!({ "verbs": ["stack.apply", "stack.remove"], "exempt": ["role:admin"] });
        policy(&it.world, rule).await;
        let ada = person(&it.world, "ada", Role::User).await;
        let olga = person(&it.world, "olga", Role::Operator).await;
        Held { it, ada, olga }
    }

    async fn create(&self, cx: &Cx, form: StackForm) -> Result<Stack, StackRefusal> {
        let ask = StackAsk {
            name: "web".parse().unwrap(),
            form,
            options: StackOptions::default(),
            left: None,
            reason: "ticket 4711".to_owned(),
        };
        self.it.control().stack_create(cx, &self.it.project(), ask).await
    }

    async fn update(&self, cx: &Cx, form: StackForm) -> Result<Stack, StackRefusal> {
        let edit = StackEdit { form, ..StackEdit::default() };
        self.it.control().stack_update(cx, &self.it.project(), "web", edit).await
    }

    /// What was held back is agreed to; how ada says so.
    async fn agreed(&self, refused: Result<Stack, StackRefusal>) -> (Cx, ApprovalId) {
        assert_eq!(refused.unwrap_err().error.code, Code::ApprovalRequired);
        let id = newest(&self.it.world, &self.ada).await.approval.id;
        let state = approve(&self.it.world, &self.olga, id).await.unwrap();
        assert_eq!(state, ApprovalState::Approved);
        (with(&self.ada, Consent::Approval(id)), id)
    }

    async fn standing(&self) -> String {
        self.it.stack("web").await.standing.heat()
    }
}

fn code(result: Result<Stack, StackRefusal>) -> Result<(), Code> {
    result.map(drop).map_err(|refusal| refusal.error.code)
}

fn wanted(value: &str) -> StackForm {
    let resources =
        json!({ "a": inside(json!(value)), "b": inside(json!({"get_param": "secret"})) });
    giving(form(resources), "secret", "held-canary")
}

#[tokio::test]
async fn a_stack_is_made_and_changed_only_as_it_was_agreed_to() {
    let mut held = Held::new().await;
    let (ada, project) = (held.ada.clone(), held.it.project());
    assert_eq!(code(held.create(&ada, wanted("1")).await), Err(Code::ApprovalRequired));
    let asked = newest(&held.it.world, &ada).await.approval;
    let what = asked.what.to_string();
    assert!(!what.contains("held-canary"), "{what}");
    for part in
        ["\"action\":\"create\"", "OS::Heat::TestResource", "\"secret\":\"******\"", "ticket 4711"]
    {
        assert!(what.contains(part), "{part} in {what}");
    }
    let (agreed, id) = held.agreed(held.create(&ada, wanted("1")).await).await;
    assert_eq!(id, asked.id, "asking again is the same request");
    assert_eq!(code(held.create(&agreed, wanted("2")).await), Err(Code::ApprovalRequired));
    let other = giving(wanted("1"), "secret", "another");
    assert_eq!(code(held.create(&agreed, other).await), Err(Code::ApprovalRequired));
    assert!(actions(&held.it.world).await.contains(&"approval.refuse".to_owned()));
    assert_eq!(code(held.create(&agreed, wanted("1")).await), Ok(()));
    held.it.settle().await;
    assert_eq!(held.standing().await, "CREATE_COMPLETE");

    // What is changed meanwhile is not what was agreed to.
    let (agreed, _) = held.agreed(held.update(&ada, wanted("2")).await).await;
    held.it.update("web", wanted("3")).await;
    assert_eq!(code(held.update(&agreed, wanted("2")).await), Err(Code::ApprovalRequired));
    let (agreed, _) = held.agreed(held.update(&ada, wanted("2")).await).await;
    for command in [StackCommand::Suspend, StackCommand::Resume, StackCommand::Check] {
        held.it.control().stack_command(&ada, &project, "web", command).await.unwrap();
        held.it.settle().await;
    }
    assert_eq!(code(held.update(&agreed, wanted("2")).await), Ok(()), "these rest on nothing new");
    held.it.settle().await;
    assert_eq!(code(held.update(&agreed, wanted("2")).await), Err(Code::ApprovalRequired), "once");

    // A plan is carried out by its id, or asked for without one where the caller cannot name it.
    let edit = StackEdit { form: wanted("4"), ..StackEdit::default() };
    let intent = StackIntent::Update { stack: "web".to_owned(), edit };
    let plan = held.it.control().stack_plan_create(&ada, &project, intent).await.unwrap().plan.id;
    let carry = async |cx: &Cx| held.it.control().stack_plan_apply(cx, &project, plan).await;
    let given = with(&ada, Consent::Given);
    assert_eq!(code(carry(&given).await), Err(Code::ApprovalRequired), "nobody agreed yet");
    held.agreed(carry(&ada).await).await;
    assert!(
        newest(&held.it.world, &ada).await.approval.what.to_string().contains(&plan.to_string())
    );
    assert_eq!(code(carry(&given).await), Ok(()));
    assert_eq!(newest(&held.it.world, &ada).await.approval.state, ApprovalState::Used);
}

#[tokio::test]
async fn no_way_leads_around_a_policy() {
    let mut held = Held::new().await;
    let (ada, project) = (held.ada.clone(), held.it.project());
    held.it.create("web", wanted("1")).await;
    held.it.update("web", wanted("2")).await;
    let control = held.it.control().clone();

    let point = StackPoint::Revision(1);
    let restore = async |cx: &Cx| control.stack_restore(cx, &project, "web", point, "back").await;
    let (agreed, _) = held.agreed(restore(&ada).await).await;
    assert_eq!(code(restore(&agreed).await), Ok(()));
    held.it.settle().await;
    let page = control.stack_revisions(&ada, &project, "web", None, Limit::LARGEST).await.unwrap();
    assert_eq!(page.items[0].reason, "restored from v1: back");

    held.update(&held.it.cx(), wanted("3")).await.unwrap();
    let undo = StackCommand::CancelUpdate;
    assert_eq!(
        code(control.stack_command(&ada, &project, "web", undo).await),
        Err(Code::ApprovalRequired)
    );
    held.it.settle().await;

    let document = control.stack_export(&ada, &project, "web").await.unwrap();
    let adopt = async |cx: &Cx| {
        let ask = StackAdopt {
            name: "again".parse().unwrap(),
            document: document.clone(),
            form: StackForm::default(),
            options: StackOptions::default(),
            reason: String::new(),
        };
        control.stack_adopt(cx, &project, ask).await
    };
    let (agreed, _) = held.agreed(adopt(&ada).await).await;
    assert_eq!(code(adopt(&agreed).await), Ok(()));
    held.it.settle().await;

    let abandon = control.stack_abandon(&ada, &project, "web").await.unwrap_err();
    assert_eq!(abandon.error.code, Code::ApprovalRequired);
    let remove =
        async |cx: &Cx, why: &str| control.stack_remove(cx, &project, "web", false, why).await;
    let (agreed, _) = held.agreed(remove(&ada, "moved").await).await;
    assert_eq!(code(remove(&agreed, "lost").await), Err(Code::ApprovalRequired));
    assert_eq!(code(remove(&agreed, "moved").await), Ok(()));
    assert_eq!(code(remove(&ada, "moved").await), Ok(()), "it goes already");
}

#[tokio::test]
async fn others_neither_see_nor_decide_what_is_held_back() {
    let held = Held::new().await;
    let control = held.it.control();
    let name = "other".parse().unwrap();
    let other = control.project_create(&held.it.cx(), name, ProjectChange::default()).await;
    let scope = Scope::Project(other.unwrap().id);
    let kind = PrincipalKind::User;
    let eve = somebody_in(&held.it.world, scope, "eve", Role::Operator, kind).await;
    assert_eq!(code(held.create(&held.ada, wanted("1")).await), Err(Code::ApprovalRequired));
    let id = newest(&held.it.world, &held.ada).await.approval.id;
    let query = ApprovalQuery { is_to_decide: true, ..ApprovalQuery::default() };
    let seen = control.approval_list(&eve, &query, None, Limit::LARGEST).await.unwrap();
    assert!(seen.items.is_empty());
    assert_eq!(control.approval_get(&eve, id).await.unwrap_err().code, Code::NotFound);
    assert_eq!(approve(&held.it.world, &eve, id).await.unwrap_err().code, Code::NotFound);
    let stolen = with(&eve, Consent::Approval(id));
    assert_eq!(code(held.create(&stolen, wanted("1")).await), Err(Code::Forbidden));
    assert!(approve(&held.it.world, &held.ada, id).await.is_err(), "nor who asks");
}

#[tokio::test]
async fn why_something_is_done_stands_in_history_events_and_audit() {
    let mut it = Rig::new().await;
    let (cx, project) = (it.cx(), it.project());
    let ask = StackAsk {
        name: "web".parse().unwrap(),
        form: wanted("1"),
        options: StackOptions::default(),
        left: None,
        reason: "ticket 4711".to_owned(),
    };
    it.control().stack_create(&cx, &project, ask.clone()).await.unwrap();
    it.settle().await;
    let revisions = it.control().stack_revisions(&cx, &project, "web", None, Limit::LARGEST);
    assert_eq!(revisions.await.unwrap().items[0].reason, "ticket 4711");
    it.control().stack_remove(&cx, &project, "web", false, "moved to lab").await.unwrap();
    let begun = it.told(EventKind::StackBegun).await;
    assert!(begun.iter().any(|text| text.ends_with(": ticket 4711")), "{begun:?}");
    assert!(begun.iter().any(|text| text.ends_with(": moved to lab")), "{begun:?}");
    let id = it.stack("web").await.id.to_string();
    let (query, page) = (StackEventQuery::default(), (None, Limit::LARGEST));
    let told = it.control().stack_events(&cx, &project, &id, &query, page);
    let told = told.await.unwrap().items;
    assert!(told.iter().all(|one| !one.reason.contains("4711")), "Heat's words stay as they are");
    let audits = {
        let mut read = it.world.store.read().await.unwrap();
        read.audit_list(AuditFilter::default(), None, Limit::LARGEST).await.unwrap()
    };
    let text = format!("{audits:?}");
    assert!(text.contains("ticket 4711") && text.contains("moved to lab"), "{text}");
    let long = StackAsk { reason: "x".repeat(1001), ..ask };
    assert_eq!(
        it.control().stack_create(&cx, &project, long).await.unwrap_err().error.code,
        Code::Invalid
    );
}
