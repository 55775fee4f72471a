//! What a timeline is about: an object that is there, or one that only the journal remembers.

use hostler_model::schedule::Schedule;
use hostler_model::{
    Code, Error, EventHook, EventKind, HookId, Limit, LockName, Name, NodeId, ObjectKind,
    ObjectRef, Project, ScheduleId, Scope, SecretId, SecretRef, WorkloadId, execution_correlation,
    task_correlation, workload_correlation,
};
use hostler_store::{Conn, EventFilter};

use super::event_hook::object as hook_object;
use super::secret::secret_object;
use super::stack::stack_find;
use super::task_control::find_array;
use super::workload::find as service_find;
use super::{lock_object, task};
use crate::execution::execution_object;
use crate::schedule::schedule_object;
use crate::stack::stack_object;

const ONE: Limit = match Limit::new(1) {
    Some(one) => one,
    None => Limit::DEFAULT,
};

/// Kinds that a bare name or id is looked for among, besides those that the journal knows.
const FOUND: &[ObjectKind] = &[
    ObjectKind::Workload,
    ObjectKind::Task,
    ObjectKind::TaskArray,
    ObjectKind::Schedule,
    ObjectKind::Hook,
    ObjectKind::Workflow,
    ObjectKind::Execution,
    ObjectKind::Secret,
    ObjectKind::Lock,
    ObjectKind::Stack,
];

/// An object, and what else is known of it.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub object: ObjectRef,
    pub known: Known,
}

#[derive(Clone, Debug)]
pub(super) enum Known {
    Task(WorkloadId),
    Workload(WorkloadId, Name),
    Schedule(ScheduleId),
    Hook(HookId),
    /// Of which there are many with one name: the versions of a workflow and its executions.
    Named(&'static [ObjectKind]),
    Other,
}

/// What is asked of the journal.
#[derive(Clone, Debug)]
pub(super) enum Question {
    /// Of this object.
    About(Vec<ObjectKind>, Vec<String>),
    /// Of all of this kind with its name.
    Named(ObjectKind),
    /// Caused by this.
    CausedBy(Vec<String>),
    /// Caused by something that begins so.
    CausedUnder(String),
}

impl Subject {
    pub(super) fn questions(&self) -> Vec<Question> {
        let about = || Question::About(vec![self.object.kind], vec![self.object.id.clone()]);
        let caused = match &self.known {
            Known::Named(kinds) => return kinds.iter().copied().map(Question::Named).collect(),
            Known::Task(id) => Question::CausedBy(vec![task_correlation(*id)]),
            Known::Workload(id, _) => Question::CausedBy(vec![workload_correlation(*id)]),
            Known::Schedule(id) => Question::CausedUnder(format!("fire/{id}/")),
            Known::Hook(id) => Question::CausedUnder(format!("hook/{id}/")),
            Known::Other => match (self.object.kind, self.object.id.parse()) {
                (ObjectKind::Execution, Ok(id)) => {
                    Question::CausedBy(vec![execution_correlation(id)])
                }
                _ => return vec![about()],
            },
        };
        vec![about(), caused]
    }

    /// What it is called in deliveries of hooks, where that is one thing.
    pub(super) fn line(&self) -> Option<String> {
        let is_one = !matches!(self.known, Known::Named(_));
        is_one.then(|| format!("{}/{}", self.object.kind, self.object.id))
    }

    fn other(object: ObjectRef) -> Subject {
        Subject { object, known: Known::Other }
    }
}

/// Finds an object of a kind by its name or id: what is there comes first, then what was.
pub(super) async fn find(
    read: &mut Conn,
    project: Option<&Project>,
    kind: ObjectKind,
    given: &str,
) -> Result<Subject, Error> {
    if let Some(subject) = present(read, project, kind, given).await? {
        return Ok(subject);
    }
    let past = past(read, project, Some(kind), given).await?;
    let past = past.ok_or_else(|| Error::not_found(kind.label(), given))?;
    // By its id something may be found that is there under its name.
    match present(read, project, kind, &past.name).await? {
        Some(subject) if subject.object.id == past.id => Ok(subject),
        _ => Ok(gone(past)),
    }
}

/// Everything of a project that has this name or id: what is there, or else what had this id.
pub(super) async fn find_all(
    read: &mut Conn,
    project: &Project,
    given: &str,
) -> Result<Vec<ObjectRef>, Error> {
    let mut found = Vec::new();
    for kind in FOUND {
        found.extend(present(read, Some(project), *kind, given).await?.map(|it| it.object));
    }
    if found.is_empty() {
        found.extend(past(read, Some(project), None, given).await?);
    }
    Ok(found)
}

fn gone(object: ObjectRef) -> Subject {
    let known = match (object.kind, object.id.parse::<uuid::Uuid>()) {
        (kind, _) if named(kind).is_some() => Known::Named(named(kind).unwrap_or_default()),
        (ObjectKind::Task, Ok(id)) => Known::Task(WorkloadId::from_uuid(id)),
        (ObjectKind::Schedule, Ok(id)) => Known::Schedule(ScheduleId::from_uuid(id)),
        (ObjectKind::Hook, Ok(id)) => Known::Hook(HookId::from_uuid(id)),
        _ => Known::Other,
    };
    Subject { object, known }
}

/// Kinds of what has many ids under one name, with what belongs to it.
fn named(kind: ObjectKind) -> Option<&'static [ObjectKind]> {
    match kind {
        ObjectKind::Workflow => Some(&[ObjectKind::Workflow, ObjectKind::Execution]),
        ObjectKind::Module => Some(&[ObjectKind::Module]),
        ObjectKind::StackPlugin => Some(&[ObjectKind::StackPlugin]),
        ObjectKind::StateNamespace => Some(&[ObjectKind::StateNamespace]),
        _ => None,
    }
}

async fn present(
    read: &mut Conn,
    project: Option<&Project>,
    kind: ObjectKind,
    given: &str,
) -> Result<Option<Subject>, Error> {
    let Some(project) = project else {
        return Ok(match kind {
            ObjectKind::Node => node(read, given).await?,
            ObjectKind::Hook => hook(read, Scope::Global, given).await?,
            _ => None,
        });
    };
    Ok(match kind {
        ObjectKind::Task => {
            let found = optional(task::find(read, project, given).await)?;
            found.map(|it| Subject { object: task::object(&it), known: Known::Task(it.id) })
        }
        ObjectKind::Workload => {
            let found = optional(service_find(read, project, given).await)?;
            found.map(|it| Subject {
                object: ObjectRef::new(kind, it.id, &it.name),
                known: Known::Workload(it.id, it.name),
            })
        }
        ObjectKind::TaskArray => {
            let found = optional(find_array(read, project, given).await)?;
            found.map(|it| Subject::other(ObjectRef::new(kind, it.array.id, &it.array.name)))
        }
        ObjectKind::Schedule => schedule(read, project, given)
            .await?
            .map(|it| Subject { object: schedule_object(&it), known: Known::Schedule(it.id) }),
        ObjectKind::Hook => hook(read, Scope::Project(project.id), given).await?,
        ObjectKind::Workflow => {
            let found = read.workflow_version_get(project.id, given, None).await?;
            found.map(|it| gone(ObjectRef::new(kind, it.id, &it.name)))
        }
        ObjectKind::Execution => {
            let found = match given.parse() {
                Ok(id) => read.execution_get(id).await?,
                Err(_) => None,
            };
            let found = found.filter(|it| it.project_id == project.id);
            found.map(|it| Subject::other(execution_object(&it)))
        }
        ObjectKind::Secret => {
            let found = match (given.parse::<SecretId>(), given.parse::<SecretRef>()) {
                (Ok(id), _) => read.secret_get(id).await?,
                (_, Ok(name)) => read.secret_find(project.id, &name).await?,
                _ => None,
            };
            let found = found.filter(|it| it.project_id == project.id);
            found.map(|it| Subject::other(secret_object(&it)))
        }
        ObjectKind::Lock => {
            let found = match given.parse::<LockName>() {
                Ok(name) => read.lock_get(project.id, &name).await?,
                Err(_) => None,
            };
            found.map(|it| Subject::other(lock_object(&it)))
        }
        ObjectKind::Stack => {
            let found = stack_find(read, project, given).await.map_err(Error::from);
            optional(found)?.map(|it| Subject::other(stack_object(&it)))
        }
        _ => None,
    })
}

async fn schedule(
    read: &mut Conn,
    project: &Project,
    given: &str,
) -> Result<Option<Schedule>, Error> {
    let found = match (given.parse::<ScheduleId>(), given.parse::<Name>()) {
        (Ok(id), _) => read.schedule_get(id).await?,
        (_, Ok(name)) => read.schedule_by_name(project.id, &name).await?,
        _ => None,
    };
    Ok(found.filter(|it| it.project_id == project.id))
}

async fn hook(read: &mut Conn, scope: Scope, given: &str) -> Result<Option<Subject>, Error> {
    let Ok(name) = given.parse::<Name>() else { return Ok(None) };
    let found = read.event_hook_by_name(scope, &name).await?;
    Ok(found.map(|it: EventHook| Subject { object: hook_object(&it), known: Known::Hook(it.id) }))
}

async fn node(read: &mut Conn, given: &str) -> Result<Option<Subject>, Error> {
    let found = match (given.parse::<NodeId>(), given.parse::<Name>()) {
        (Ok(id), _) => read.node_get(id).await?,
        (_, Ok(name)) => read.node_by_name(&name).await?,
        _ => None,
    };
    Ok(found.map(|it| Subject::other(ObjectRef::new(ObjectKind::Node, it.id, &it.name))))
}

/// What the newest event with this id or name was about. By a name only where its kind is known: there is no index
/// of names.
async fn past(
    read: &mut Conn,
    project: Option<&Project>,
    kind: Option<ObjectKind>,
    given: &str,
) -> Result<Option<ObjectRef>, Error> {
    let kinds = kind.map(kinds_about).unwrap_or_default();
    let of = EventFilter {
        project: project.map(|project| project.id),
        object_kinds: kind.as_slice(),
        ..EventFilter::default()
    };
    let by_id = Some(EventFilter { object_id: Some(given), ..of });
    let by_name = EventFilter { object_name: Some(given), kinds: &kinds, ..of };
    let by_name = (!kinds.is_empty()).then_some(by_name);
    for filter in by_id.into_iter().chain(by_name) {
        let found = read.event_list_recent(filter, None, ONE).await?;
        if let Some(event) = found.items.into_iter().next() {
            return Ok(Some(event.event.object));
        }
    }
    Ok(None)
}

/// The kinds of events that are about objects of a kind.
pub(super) fn kinds_about(kind: ObjectKind) -> Vec<EventKind> {
    let noun = match kind {
        ObjectKind::TaskArray => "array",
        ObjectKind::StateNamespace => "state",
        ObjectKind::JoinToken => "join",
        other => other.label(),
    };
    EventKind::ALL.iter().copied().filter(|kind| kind.noun() == noun).collect()
}

fn optional<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.code == Code::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
