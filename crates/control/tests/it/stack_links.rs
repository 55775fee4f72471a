//! Stacks among others: who uses whom, and who has locked what.

use hostler_control::{LockAsk, StackCommand, StackEdit, StackSubject};
use hostler_model::stack::{StackCheckKind, StackCheckResult, StackName};
use hostler_model::{Code, LockHolder, LockOutcome, Role, Span};
use serde_json::{Value, json};

use crate::stack_rig::{Rig, form, giving, inside, output_of, refused};

fn gives(resources: Value) -> hostler_control::StackForm {
    giving(resources, json!({ "word": { "value": "w" } }))
}

fn names(texts: &[&str]) -> Vec<StackName> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[tokio::test]
async fn stacks_use_what_others_give() {
    Rig::on_both("links", async |mut it| {
        let (cx, project) = (it.cx(), it.project());
        it.create("net", gives(json!({}))).await;
        it.create("db", gives(json!({ "n": output_of("net", "word") }))).await;
        let web = json!({ "n": output_of("net", "word"), "d": output_of("db", "word") });
        it.create("web", gives(web)).await;
        let deps = it.control().stack_deps(&cx, &project, "db").await.unwrap();
        assert_eq!(deps.uses[0].stack.as_str(), "net");
        assert_eq!(deps.uses[0].outputs, ["word"]);
        assert_eq!(deps.used_by[0].stack.as_str(), "web");
        let graph = it.control().stack_deps_graph(&cx, &project).await.unwrap();
        assert_eq!(graph.order, [names(&["net"]), names(&["db"]), names(&["web"])]);
        assert!(graph.circle.is_empty());
        let some = names(&["web", "net"]);
        let order = it.control().stack_deps_order(&cx, &project, &some).await.unwrap();
        assert_eq!(order, [names(&["net"]), names(&["web"])]);

        // A circle is refused with the way around, and nothing is changed.
        let form = gives(json!({ "w": output_of("web", "word") }));
        let edit = StackEdit { form, ..StackEdit::default() };
        let before = it.stack("net").await;
        let (code, words) = refused(it.control().stack_update(&cx, &project, "net", edit).await);
        assert_eq!(code, Code::Invalid);
        assert!(words.contains("net -> web") || words.contains("web -> net"), "{words}");
        assert_eq!(it.stack("net").await, before);
        let alone = gives(json!({ "w": output_of("self", "word") }));
        assert!(refused(it.ask("self", alone).await).1.contains("self -> self"));

        // What others use is not taken away, unless somebody insists.
        let (code, words) = refused(it.control().stack_delete(&cx, &project, "net").await);
        assert_eq!((code, words.as_str()), (Code::Conflict, "Stack net is used by db, web."));
        it.control().stack_remove(&cx, &project, "net", true, "").await.unwrap();
        it.settle().await;
        let lines = it.control().stack_deps_check(&cx, &project, Some("db")).await.unwrap();
        assert_eq!(lines[0].result, StackCheckResult::Failed);
        assert!(lines[0].message.contains("stack net is not there"), "{lines:?}");
        it.control().stack_delete(&cx, &project, "web").await.unwrap();
        it.settle().await;
        it.control().stack_delete(&cx, &project, "db").await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn what_nobody_gives_is_a_mistake() {
    let mut it = Rig::new().await;
    it.create("net", gives(json!({}))).await;
    let stack = it.create("a", form(json!({ "n": output_of("net", "nope") }))).await;
    assert_eq!(stack.standing.heat(), "CREATE_FAILED");
    assert!(stack.standing.reason.contains("The Output (nope) could not be found in Stack net."));
    let stack = it.create("b", form(json!({ "n": output_of("gone", "word") }))).await;
    assert!(stack.standing.reason.contains("The Stack (gone) could not be found."));
}

fn ask(it: &Rig, why: &str) -> LockAsk {
    LockAsk {
        id: it.fresh_hold(),
        slots: 1,
        ttl: Span::from_secs(60),
        wait: None,
        holder: LockHolder { why: why.to_owned(), ..LockHolder::default() },
    }
}

#[tokio::test]
async fn whoever_locked_a_stack_is_the_only_one_who_changes_it() {
    Rig::on_both("stack_locks", async |mut it| {
        let (cx, project) = (it.cx(), it.project());
        let wanted = form(json!({ "a": inside(json!("x")) }));
        it.create("web", wanted.clone()).await;
        assert!(it.control().stack_lock_status(&cx, &project, "web").await.unwrap().is_none());
        let bob = it.somebody("bob", Role::Operator);
        let hold = ask(&it, "deploying");
        let id = hold.id;
        let answer = it.control().stack_lock_acquire(&bob, &project, "web", hold).await.unwrap();
        assert_eq!(answer.outcome, LockOutcome::Held);
        let busy = ask(&it, "me too");
        let other = it.control().stack_lock_acquire(&cx, &project, "web", busy).await.unwrap();
        assert_eq!(other.outcome, LockOutcome::Busy);

        let locked = (Code::Conflict, "Stack web is locked by bob (deploying).".to_owned());
        let edit = || StackEdit { form: wanted.clone(), ..StackEdit::default() };
        assert_eq!(refused(it.control().stack_update(&cx, &project, "web", edit()).await), locked);
        let command = it.control().stack_command(&cx, &project, "web", StackCommand::Check).await;
        assert_eq!(refused(command), locked);
        assert_eq!(refused(it.control().stack_delete(&cx, &project, "web").await), locked);
        let snapshot = it.control().stack_snapshot_create(&cx, &project, "web", "s").await;
        assert_eq!(refused(snapshot), locked);
        assert_eq!(refused(it.control().stack_abandon(&cx, &project, "web").await), locked);
        let of = StackSubject::Stack("web".to_owned());
        let list = it.control().stack_checklist(&cx, &project, &of).await.unwrap();
        let line = list.lines.iter().find(|line| line.check == StackCheckKind::Lock).unwrap();
        assert_eq!((line.result, &line.message), (StackCheckResult::Failed, &locked.1));

        // Its holder changes it as ever, and it is held across nothing else.
        it.control().stack_update(&bob, &project, "web", edit()).await.unwrap();
        it.settle().await;
        it.control().stack_lock_release(&bob, &project, "web", Some(id)).await.unwrap();
        it.control().stack_update(&cx, &project, "web", edit()).await.unwrap();
        it.settle().await;

        it.control().stack_lock_acquire(&bob, &project, "web", ask(&it, "again")).await.unwrap();
        let user = it.somebody("eve", Role::User);
        let denied = it.control().stack_lock_force_release(&user, &project, "web", "mine").await;
        assert_eq!(refused(denied).0, Code::Forbidden);
        it.control().stack_lock_force_release(&cx, &project, "web", "bob is away").await.unwrap();
        it.control().stack_update(&cx, &project, "web", edit()).await.unwrap();
        let none = it.control().stack_lock_release(&cx, &project, "web", None).await;
        assert_eq!(refused(none).0, Code::Conflict);
    })
    .await;
}
