//! Versions of workflows: numbers mean one thing, and what workflows need stays as long as they do.

use hostler_model::workflow::{
    Act, Execution, ExecutionJob, ExecutionOptions, ExecutionOutcome, ExecutionState,
    ExecutionStep, JobKind, ModuleRef, Step, Workflow, WorkflowVersion,
};
use hostler_model::*;
use hostler_store::{ExecutionFilter, Update};
use serde_json::json;

use crate::world::*;

crate::conformance!(
    a_version_is_what_was_written,
    versions_are_numbered_by_name,
    the_same_content_again_is_the_same_version,
    numbers_of_removed_versions_are_never_reused,
    versions_are_listed_newest_first,
    workflows_are_listed_by_name,
    two_who_enter_at_once_get_two_numbers,
    what_workflows_need_of_blobs_stays,
    a_project_goes_with_its_workflows,
);

pub fn digest(n: u8) -> Digest {
    Digest::from_bytes([n; 32])
}

pub fn somebody() -> PrincipalId {
    PrincipalId::from_uuid(next_uuid())
}

/// With numbers and orders that are easily lost on the way.
pub fn graph(text: &str) -> Workflow {
    let step = Step {
        name: "build".to_owned(),
        act: Act::Command("make \u{1F600}".to_owned()),
        timeout: Some(Span::from_secs(90)),
        params: [("ratio".to_owned(), json!([0.1, 1e-7, 123_456.789_012_345, null]))].into(),
        ..Step::default()
    };
    Workflow {
        name: text.to_owned(),
        steps: vec![step, Step { name: "ship".to_owned(), ..Step::default() }],
        metadata: [("keys".to_owned(), json!({ "b": null, "a": { "y": 1, "x": [] } }))].into(),
        ..Workflow::default()
    }
}

fn version(project: &Project, text: &str, content: u8) -> WorkflowVersion {
    WorkflowVersion {
        id: WorkflowId::from_uuid(next_uuid()),
        project_id: project.id,
        name: text.to_owned(),
        version: 0,
        bundle: digest(content),
        file: "flows/main.lua".to_owned(),
        graph: graph(text),
        modules: vec![ModuleRef { name: "web".to_owned(), version: u32::from(content) }],
        created_by: somebody(),
        time_created: at(7),
    }
}

pub fn execution(project: &Project, workflow: &str) -> Execution {
    Execution {
        id: ExecutionId::from_uuid(next_uuid()),
        project_id: project.id,
        workflow: workflow.to_owned(),
        version: 3,
        bundle: digest(5),
        graph: graph(workflow),
        values: serde_json::Value::Null,
        options: ExecutionOptions::default(),
        state: ExecutionState::Running,
        care: None,
        is_cancel_requested: false,
        trace: None,
        generation: Generation::FIRST,
        created_by: somebody(),
        time_created: at(1),
        time_modified: at(1),
        time_begun: at(1),
        time_due: None,
        time_ended: None,
    }
}

pub fn ended(execution: &Execution, seconds: i64) -> Execution {
    Execution {
        state: ExecutionState::Ended(ExecutionOutcome::Succeeded),
        time_ended: Some(at(seconds)),
        ..execution.clone()
    }
}

pub fn job(execution: &Execution, workload: WorkloadId) -> ExecutionJob {
    ExecutionJob {
        workload_id: workload,
        execution_id: execution.id,
        kind: JobKind::Try,
        position: Some(0),
        tries: 1,
        node: None,
        wanted: None,
        end: None,
        message: String::new(),
        result: None,
    }
}

async fn enter(world: &World, new: &WorkflowVersion) -> WorkflowVersion {
    let made: Result<WorkflowVersion> =
        world.tx("test", |tx| Box::pin(tx.workflow_version_insert(new))).await;
    made.unwrap()
}

async fn remove(world: &World, project: &Project, text: &str) -> u64 {
    let gone: Result<u64> =
        world.tx("test", |tx| Box::pin(tx.workflow_remove(project.id, text))).await;
    gone.unwrap()
}

pub async fn insert(world: &World, execution: &Execution, steps: &[ExecutionStep]) {
    let done: Result<()> =
        world.tx("test", |tx| Box::pin(tx.execution_insert(execution, steps))).await;
    done.unwrap();
}

pub async fn insert_jobs(world: &World, jobs: &[ExecutionJob]) {
    let done: Result<()> =
        world.tx("test", |tx| Box::pin(tx.execution_job_insert_batch(jobs))).await;
    done.unwrap();
}

async fn a_version_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let first = enter(&world, &version(&project, "deploy", 1)).await;
    let mut other = version(&project, "deploy", 2);
    other.graph = Workflow::default();
    let second = enter(&world, &other).await;
    assert_eq!(second, WorkflowVersion { version: 2, ..other });
    let mut read = world.read().await.unwrap();
    let id = project.id;
    for (number, meant) in
        [(Some(1), Some(&first)), (Some(2), Some(&second)), (None, Some(&second)), (Some(3), None)]
    {
        let found = read.workflow_version_get(id, "deploy", number).await.unwrap();
        assert_eq!(found.as_ref(), meant, "{number:?}");
    }
    assert_eq!(read.workflow_version_get(id, "other", None).await.unwrap(), None);
}

async fn versions_are_numbered_by_name(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    for (project, text, content, number) in [
        (&alpha, "deploy", 1, 1),
        (&alpha, "deploy", 2, 2),
        (&alpha, "test", 2, 1),
        (&beta, "deploy", 2, 1),
        (&alpha, "deploy", 3, 3),
    ] {
        assert_eq!(enter(&world, &version(project, text, content)).await.version, number);
    }
}

async fn the_same_content_again_is_the_same_version(world: World) {
    let project = world.project("alpha").await;
    let first = enter(&world, &version(&project, "deploy", 1)).await;
    assert_eq!(enter(&world, &version(&project, "deploy", 1)).await, first);
    let mut turned = version(&project, "deploy", 1);
    turned.graph.metadata =
        [("keys".to_owned(), json!({ "a": { "x": [], "y": 1 }, "b": null }))].into();
    assert_eq!(enter(&world, &turned).await, first, "the order of keys says nothing");
    let mut graph = version(&project, "deploy", 1);
    graph.graph.steps[0].act = Act::Command("make all".to_owned());
    assert_eq!(enter(&world, &graph).await.version, 1, "the same text with other values");
    let mut file = version(&project, "deploy", 1);
    file.file = "flows/other.lua".to_owned();
    assert_eq!(enter(&world, &file).await.version, 2, "another file");
    assert_eq!(enter(&world, &version(&project, "deploy", 2)).await.version, 3, "another bundle");
    let back = enter(&world, &version(&project, "deploy", 1)).await;
    assert_eq!(back.version, 4, "only the newest counts");
    let mut read = world.read().await.unwrap();
    let all = read.workflow_versions(project.id, "deploy", None, limit(9)).await.unwrap();
    assert_eq!(all.items.len(), 4);
}

async fn numbers_of_removed_versions_are_never_reused(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    for content in 1..=2 {
        enter(&world, &version(&alpha, "deploy", content)).await;
    }
    let kept = [
        enter(&world, &version(&alpha, "deployment", 1)).await,
        enter(&world, &version(&beta, "deploy", 1)).await,
    ];
    assert_eq!(remove(&world, &alpha, "deploy").await, 2);
    assert_eq!(remove(&world, &alpha, "deploy").await, 0);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.workflow_version_get(alpha.id, "deploy", None).await.unwrap(), None);
    let list = read.workflow_list(alpha.id, None, limit(9)).await.unwrap();
    assert_eq!(list.items, kept[..1]);
    let list = read.workflow_list(beta.id, None, limit(9)).await.unwrap();
    assert_eq!(list.items, kept[1..]);
    drop(read);
    let again = enter(&world, &version(&alpha, "deploy", 2)).await;
    assert_eq!(again.version, 3, "also where the content was there before");
}

async fn versions_are_listed_newest_first(world: World) {
    let project = world.project("alpha").await;
    for content in 1..=12 {
        enter(&world, &version(&project, "deploy", content)).await;
    }
    enter(&world, &version(&project, "other", 1)).await;
    let mut read = world.read().await.unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page =
            read.workflow_versions(project.id, "deploy", after.as_deref(), limit(5)).await.unwrap();
        seen.extend(page.items.iter().map(|version| version.version));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, (1..=12).rev().collect::<Vec<u32>>());
    let anew = read.workflow_versions(project.id, "deploy", Some("x"), limit(1)).await.unwrap();
    assert_eq!(anew.items[0].version, 12);
}

async fn workflows_are_listed_by_name(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    for (text, content) in [("b", 1), ("Z", 2), ("b", 3), ("a-z", 4), ("ab", 5), ("b", 6)] {
        enter(&world, &version(&alpha, text, content)).await;
    }
    enter(&world, &version(&beta, "aa", 7)).await;
    let mut read = world.read().await.unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = read.workflow_list(alpha.id, after.as_deref(), limit(2)).await.unwrap();
        seen.extend(page.items.iter().map(|one| format!("{}:{}", one.name, one.version)));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, ["Z:1", "a-z:1", "ab:1", "b:3"]);
}

async fn two_who_enter_at_once_get_two_numbers(world: World) {
    let project = world.project("alpha").await;
    let [a, b, c] = [1, 2, 3].map(|content| version(&project, "deploy", content));
    let (a, b, c) = tokio::join!(enter(&world, &a), enter(&world, &b), enter(&world, &c));
    let mut numbers = [a.version, b.version, c.version];
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3]);
}

pub async fn delete_old(world: &World, seconds: i64, most: u32) -> u64 {
    let gone: Result<u64> =
        world.tx("test", |tx| Box::pin(tx.execution_delete_old(at(seconds), most))).await;
    gone.unwrap()
}

async fn what_workflows_need_of_blobs_stays(world: World) {
    let project = world.project("alpha").await;
    let scope = BlobScope::Project(project.id);
    let entered = enter(&world, &version(&project, "deploy", 1)).await;
    let one = ended(&execution(&project, "deploy"), 5);
    insert(&world, &one, &[]).await;
    let uses = [
        (scope, digest(1), entered.id.to_string()),
        (scope, digest(2), one.id.to_string()),
        (scope, digest(3), WorkflowId::from_uuid(next_uuid()).to_string()),
    ];
    let done: Result<()> = world.tx("test", |tx| Box::pin(tx.blob_use(&uses, at(0)))).await;
    done.unwrap();
    let forget = async || -> u64 {
        let gone: Result<u64> = world.tx("test", |tx| Box::pin(tx.blob_use_delete_left(100))).await;
        gone.unwrap()
    };
    let used = async || {
        let mut read = world.read().await.unwrap();
        let mut used = Vec::new();
        for n in 1..=3 {
            used.push(read.blob_is_used(scope, digest(n)).await.unwrap());
        }
        used
    };
    assert_eq!(forget().await, 1);
    assert_eq!(used().await, [true, true, false]);
    assert_eq!(remove(&world, &project, "deploy").await, 1);
    assert_eq!(used().await, [false, true, false]);
    assert_eq!(delete_old(&world, 9, 9).await, 1);
    assert_eq!(used().await, [false, false, false]);
    assert_eq!(forget().await, 0);
}

async fn a_project_goes_with_its_workflows(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let kept = execution(&beta, "deploy");
    for one in [&execution(&alpha, "deploy"), &kept] {
        insert(&world, one, &[ExecutionStep::new(one.id, 0, "s")]).await;
        insert_jobs(&world, &[job(one, WorkloadId::from_uuid(next_uuid()))]).await;
    }
    for project in [&alpha, &beta] {
        enter(&world, &version(project, "deploy", 1)).await;
    }
    let id = alpha.id;
    let gone: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.project_delete(id, Generation::FIRST))).await;
    assert_eq!(gone.unwrap(), Update::Updated);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.workflow_list(alpha.id, None, limit(9)).await.unwrap().items, []);
    let every = ExecutionFilter { project: alpha.id, workflow: None, is_open: None };
    assert_eq!(read.execution_list(every, None, limit(9)).await.unwrap().items, []);
    assert_eq!(read.workflow_list(beta.id, None, limit(9)).await.unwrap().items.len(), 1);
    assert_eq!(read.execution_steps(kept.id).await.unwrap().len(), 1);
    assert_eq!(read.execution_jobs(kept.id).await.unwrap().len(), 1);
}
