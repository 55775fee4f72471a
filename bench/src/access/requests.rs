//! What is asked: four reads to one change, and now and then something that is not allowed.

use anyhow::{Context as _, bail};
use hostler_api::Nothing;
use hostler_api::node::{NodeGet, NodePath, NodeUpdate, NodeUpdateBody};
use hostler_api::record::{AuditList, AuditListQuery, EventList, EventListQuery};
use hostler_api::secret::{SecretGet, SecretQuery};
use hostler_api::session::Whoami;
use hostler_api::task::{TaskGet, TaskGetQuery, TaskList, TaskListQuery, TaskPath, TaskSubmit};
use hostler_api::user::UserList;
use hostler_api::workload::{WorkloadApply, WorkloadGet, WorkloadList, WorkloadListQuery};
use hostler_api::{PageQuery, ProjectPath};
use hostler_client::Error;
use hostler_model::{Code, Generation, Labels, Role};

use super::people::{Person, TEAMS, World, rarely, scatter, secret, set_secret, team};
use crate::throughput::body;

/// Name of the node that the rig makes.
const NODE: &str = "bench";
/// How often something is read again because somebody else changed it in between.
const LOOKS_MAX: usize = 5;
const PAGE: u32 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Whoami,
    TaskList,
    TaskGet,
    TaskSubmit,
    WorkloadList,
    WorkloadGet,
    WorkloadApply,
    SecretGet,
    SecretSet,
    NodeGet,
    NodeLabels,
    EventList,
    AuditSearch,
    Denied,
}

impl Kind {
    /// Of a hundred requests, how many are of which kind.
    const MIX: [(Kind, u64); 14] = [
        (Kind::Whoami, 10),
        (Kind::TaskList, 15),
        (Kind::TaskGet, 20),
        (Kind::TaskSubmit, 10),
        (Kind::WorkloadList, 5),
        (Kind::WorkloadGet, 8),
        (Kind::WorkloadApply, 4),
        (Kind::SecretGet, 10),
        (Kind::SecretSet, 3),
        (Kind::NodeGet, 3),
        (Kind::NodeLabels, 1),
        (Kind::EventList, 3),
        (Kind::AuditSearch, 2),
        (Kind::Denied, 6),
    ];

    /// The kind of the request with this number: in every hundred that follow each other the mix is
    /// the same, and kinds alternate.
    pub fn of(number: u64) -> Kind {
        let mut at = number * 37 % 100;
        for (kind, share) in Kind::MIX {
            match at.checked_sub(share) {
                Some(left) => at = left,
                None => return kind,
            }
        }
        Kind::Whoami
    }

    pub const fn label(self) -> &'static str {
        match self {
            Kind::Whoami => "who am I",
            Kind::TaskList => "list tasks",
            Kind::TaskGet => "show a task",
            Kind::TaskSubmit => "submit a task",
            Kind::WorkloadList => "list workloads",
            Kind::WorkloadGet => "show a workload",
            Kind::WorkloadApply => "read a workload and apply it changed",
            Kind::SecretGet => "show a secret, without its value",
            Kind::SecretSet => "set a secret",
            Kind::NodeGet => "show a node",
            Kind::NodeLabels => "read a node and change its labels",
            Kind::EventList => "list events",
            Kind::AuditSearch => "search the audit trail",
            Kind::Denied => "refused, as it should be",
        }
    }
}

/// Does it, in the name of somebody who may, or who may not where that is the point.
pub async fn perform(world: &World, kind: Kind, number: u64) -> anyhow::Result<()> {
    let anybody = |_: &Person| true;
    let author = |person: &Person| person.role != Role::Viewer;
    match kind {
        Kind::Whoami => {
            let person = world.pick(number, anybody)?;
            let view = person.client.call::<Whoami>(&Nothing {}, &Nothing {}, &Nothing {}).await?;
            if view.name != person.name {
                bail!("{} is taken for {}", person.name, view.name);
            }
        }
        Kind::TaskList => {
            let person = world.pick(number, anybody)?;
            let query = TaskListQuery { limit: Some(PAGE), ..TaskListQuery::default() };
            person.client.call::<TaskList>(&person.project(), &query, &Nothing {}).await?;
        }
        Kind::TaskGet => {
            let person = world.pick(number, anybody)?;
            let task = world.tasks.get(person.team).context("the project has no task")?;
            let path = TaskPath { project: team(person.team), task: task.to_string() };
            person.client.call::<TaskGet>(&path, &TaskGetQuery::default(), &Nothing {}).await?;
        }
        Kind::TaskSubmit => {
            let person = world.pick(number, author)?;
            let one = body(&["true"]);
            person.client.call::<TaskSubmit>(&person.project(), &Nothing {}, &one).await?;
            world.count();
        }
        Kind::WorkloadList => {
            let person = world.pick(number, anybody)?;
            let query = WorkloadListQuery { limit: Some(PAGE), ..WorkloadListQuery::default() };
            person.client.call::<WorkloadList>(&person.project(), &query, &Nothing {}).await?;
        }
        Kind::WorkloadGet => {
            let person = world.pick(number, author)?;
            person.client.call::<WorkloadGet>(&person.workload(), &Nothing {}, &Nothing {}).await?;
        }
        Kind::WorkloadApply => apply(world.pick(number, author)?, number).await?,
        Kind::SecretGet => {
            let person = world.pick(number, anybody)?;
            let path = secret(person.team)?;
            person.client.call::<SecretGet>(&path, &SecretQuery::default(), &Nothing {}).await?;
        }
        Kind::SecretSet => {
            let person = world.pick(number, author)?;
            set_secret(&person.client, &person.secret()?, &format!("value {number}")).await?;
        }
        Kind::NodeGet => {
            let person = world.pick(number, |person| person.global.is_some())?;
            person.client.call::<NodeGet>(&node(), &Nothing {}, &Nothing {}).await?;
        }
        Kind::NodeLabels => {
            let tends = |person: &Person| person.global.is_some_and(|role| role >= Role::Operator);
            label(world.pick(number, tends)?, number).await?;
        }
        Kind::EventList => {
            let person = world.pick(number, anybody)?;
            let query = EventListQuery {
                project: Some(team(person.team)),
                limit: Some(PAGE),
                ..EventListQuery::default()
            };
            person.client.call::<EventList>(&Nothing {}, &query, &Nothing {}).await?;
        }
        Kind::AuditSearch => {
            let person = world.pick(number, |person| person.global == Some(Role::Admin))?;
            let query = AuditListQuery {
                text: Some("workload.apply".to_owned()),
                limit: Some(PAGE),
                ..AuditListQuery::default()
            };
            person.client.call::<AuditList>(&Nothing {}, &query, &Nothing {}).await?;
        }
        Kind::Denied => denied(world.pick(number, Person::is_guest)?, number).await?,
    }
    Ok(())
}

fn node() -> NodePath {
    NodePath { node: NODE.to_owned() }
}

async fn apply(person: &Person, number: u64) -> anyhow::Result<()> {
    let (client, path) = (&person.client, person.workload());
    for _ in 0..LOOKS_MAX {
        let seen = client.call::<WorkloadGet>(&path, &Nothing {}, &Nothing {}).await?;
        let (spec, at) = (rarely(&number.to_string()), Generation::from_u64(seen.generation));
        match client.call_if_match::<WorkloadApply>(&path, &Nothing {}, &spec, at).await {
            Err(error) if error.is(Code::Stale) => {}
            done => return Ok(done.map(drop)?),
        }
    }
    bail!("somebody else was faster {LOOKS_MAX} times")
}

async fn label(person: &Person, number: u64) -> anyhow::Result<()> {
    let client = &person.client;
    for _ in 0..LOOKS_MAX {
        let seen = client.call::<NodeGet>(&node(), &Nothing {}, &Nothing {}).await?;
        let labels = Labels::from([("seen".to_owned(), number.to_string())]);
        let (body, at) = (NodeUpdateBody { labels }, Generation::from_u64(seen.generation));
        match client.call_if_match::<NodeUpdate>(&node(), &Nothing {}, &body, at).await {
            Err(error) if error.is(Code::Stale) => {}
            done => return Ok(done.map(drop)?),
        }
    }
    bail!("somebody else was faster {LOOKS_MAX} times")
}

/// Asks for what a guest may not have.
async fn denied(guest: &Person, number: u64) -> anyhow::Result<()> {
    let (client, none) = (&guest.client, Nothing {});
    let answer: Result<(), Error> = match (scatter(number) >> 32) & 3 {
        0 => client.call::<TaskSubmit>(&guest.project(), &none, &body(&["true"])).await.map(drop),
        1 => {
            let other = ProjectPath { project: team((guest.team + 1) % TEAMS) };
            client.call::<TaskList>(&other, &TaskListQuery::default(), &none).await.map(drop)
        }
        2 => client.call::<UserList>(&none, &PageQuery::default(), &none).await.map(drop),
        _ => client.call::<AuditList>(&none, &AuditListQuery::default(), &none).await.map(drop),
    };
    match answer {
        Ok(()) => bail!("{} was let in", guest.name),
        Err(error) if error.is(Code::Forbidden) || error.is(Code::NotFound) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_every_hundred_there_is_the_whole_mix() {
        assert_eq!(Kind::MIX.iter().map(|(_, share)| share).sum::<u64>(), 100);
        for (kind, share) in Kind::MIX {
            let count = (1000..1100).filter(|number| Kind::of(*number) == kind).count();
            assert_eq!(count as u64, share, "{kind:?}");
        }
    }
}
