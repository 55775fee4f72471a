//! What is asked of the node's container engine. Only servers ask, and only what [`EngineAsk`] has words
//! for; nothing of the engine's own API is passed on.

use futures::StreamExt;
use hostler_base::Clock;
use hostler_model::{Code, EngineAsk, NodeContainer, Readiness};
use hostler_proto::v1;
use serde::Serialize;

use super::outlet::Outlet;
use super::{End, Failure};
use crate::container::{ContainerRow, EngineError};
use crate::output::Stream as Which;
use crate::runner::Runner;
use crate::supervisor::Supervisor;

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        let code = match &error {
            EngineError::NotFound(_) => Code::NotFound,
            EngineError::Invalid(_) => Code::Invalid,
            EngineError::TimedOut(_) => Code::Unavailable,
            // Nothing is wrong with the fleet: this node has no engine, or has it stopped.
            EngineError::Away { .. } | EngineError::Conflict(_) | EngineError::Refused(_) => {
                Code::Conflict
            }
        };
        Failure::new(code, error.to_string())
    }
}

pub(super) async fn send(
    request: v1::EngineRequest,
    runner: &Runner,
    supervisor: &Supervisor,
    clock: &Clock,
    outlet: &mut Outlet,
) -> Result<End, Failure> {
    let unknown =
        |_| Failure::new(Code::Invalid, "this agent does not know such questions, upgrade it");
    let ask: EngineAsk = serde_json::from_str(&request.ask_json).map_err(unknown)?;
    let engine = runner.engine();
    match ask {
        EngineAsk::Images => documents(runner.images().list().await?, clock, outlet).await,
        EngineAsk::Containers => {
            let rows = engine.containers().await?;
            documents(rows.into_iter().map(shown), clock, outlet).await
        }
        EngineAsk::ImageRemove { image } => {
            runner.images().remove(&image).await?;
            Ok(End::Sent { is_over: true })
        }
        EngineAsk::ContainerRemove { container } => {
            remove(runner, &container).await?;
            Ok(End::Sent { is_over: true })
        }
        EngineAsk::ContainerFiles { container } => files(runner, &container, clock, outlet).await,
        EngineAsk::Readiness { run } => {
            let readiness = runner.readiness(run).or_else(|| {
                let is_new = !runner.live().contains(&run);
                is_new.then(|| stuck(supervisor, clock)).flatten()
            });
            documents(readiness, clock, outlet).await
        }
        EngineAsk::Tidy => {
            runner.images().tidy_soon();
            Ok(End::Sent { is_over: true })
        }
        EngineAsk::Load { .. } | EngineAsk::Take { .. } => {
            documents(runner.images().job(ask).await, clock, outlet).await
        }
    }
}

/// Nothing begins on this node while its ledger cannot be written.
fn stuck(supervisor: &Supervisor, clock: &Clock) -> Option<Readiness> {
    Some(Readiness {
        what: "the agent's ledger".to_owned(),
        doing: "is tried to be written".to_owned(),
        bytes: None,
        total: None,
        time_since: clock.now(),
        trouble: Some(supervisor.ledger_problem()?),
    })
}

fn shown(row: ContainerRow) -> NodeContainer {
    NodeContainer {
        id: row.id,
        name: row.name,
        image: row.image,
        command: row.command,
        state: row.state,
        status: row.status,
        run: row.run_id,
        time_created: row.time_created,
    }
}

async fn documents<T: Serialize>(
    items: impl IntoIterator<Item = T>,
    clock: &Clock,
    outlet: &mut Outlet,
) -> Result<End, Failure> {
    let now = clock.now().micros();
    for item in items {
        let document = serde_json::to_vec(&item).expect("an answer is made of what JSON has");
        if outlet.whole(Which::Stdout, now, document, String::new()).await.is_err() {
            return Ok(End::Gone);
        }
    }
    Ok(End::Sent { is_over: true })
}

/// A container that a run still has is not for removing: its task is.
async fn remove(runner: &Runner, container: &str) -> Result<(), Failure> {
    let rows = runner.engine().containers().await?;
    let is_meant = |row: &&ContainerRow| {
        row.name == container || (container.len() >= 12 && row.id.starts_with(container))
    };
    let Some(row) = rows.iter().find(is_meant) else {
        let why = format!("there is no container `{container}` on this node");
        return Err(Failure::new(Code::NotFound, why));
    };
    if let Some(run) = row.run_id.filter(|run| runner.live().contains(run)) {
        let why = format!(
            "container `{container}` belongs to run {run}, which has not ended; kill its task, or stop its workload"
        );
        return Err(Failure::new(Code::Conflict, why));
    }
    Ok(runner.engine().remove_container(&row.id).await?)
}

async fn files(
    runner: &Runner,
    container: &str,
    clock: &Clock,
    outlet: &mut Outlet,
) -> Result<End, Failure> {
    let mut content = runner.engine().container_files(container).await?;
    while let Some(piece) = content.next().await {
        let piece = piece?;
        let mut left = &piece[..];
        while !left.is_empty() {
            let now = clock.now().micros();
            match outlet.some(Which::Stdout, now, left, |_| String::new()).await {
                Ok(sent) => left = &left[sent..],
                Err(_) => return Ok(End::Gone),
            }
        }
    }
    Ok(End::Sent { is_over: true })
}
