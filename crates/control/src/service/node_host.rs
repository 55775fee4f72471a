//! The machines of nodes: what is asked of them over their sessions, through any server, and what is done to them.
//!
//! Looking keeps nothing and is answered at once, or not at all: a node that is not online is told to be so without
//! being waited for. What changes a machine is an operation (`operation/host.rs`); only its check is answered here.

use std::time::Duration;

use hostler_engine::vitals::{Asked, Thresholds, judge};
use hostler_model::host::{
    HostAsk, HostDeed, HostDisks, HostHealth, HostLogs, HostOutcome, HostPackages, HostProcesses,
    HostServices, HostUsers, HostVitals,
};
use hostler_model::{
    Code, Error, JobState, Node, NodeId, NodeState, Operation, OperationId, OperationPlan,
    Permission,
};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::{Control, Cx, NodeAsk, OutputItem, OutputReceiver};

/// How long a machine may take to answer.
const LOOK_TIME: Duration = Duration::from_secs(45);
/// How long a node may take to say how a job stands; it waits itself for a moment for those that are quick.
const JOB_TIME: Duration = Duration::from_secs(10);
const FORGET_TIME: Duration = Duration::from_secs(2);
/// How long a deed may take, with all that the node is away meanwhile.
const DEED_TIME: Duration = Duration::from_hours(1);
/// The most of an answer.
const ANSWER_MAX: usize = 16 << 20;

macro_rules! looks {
    ($($name:ident -> $answer:ty;)+) => {
        impl Control {
            $(pub async fn $name(&self, cx: &Cx, node: &str, ask: HostAsk) -> Result<$answer, Error> {
                self.host_look(cx, node, ask).await
            })+
        }
    };
}

looks! {
    host_packages -> HostPackages;
    host_services -> HostServices;
    host_logs -> HostLogs;
    host_processes -> HostProcesses;
    host_disks -> HostDisks;
    host_users -> HostUsers;
}

impl Control {
    /// How a machine is, and what to think of it.
    pub async fn host_health(&self, cx: &Cx, node: &str) -> Result<HostHealth, Error> {
        let from = self.now();
        let vitals: HostVitals = self.host_look(cx, node, HostAsk::Vitals).await?;
        let asked = Asked { from, to: self.now() };
        Ok(judge(vitals, asked, &Thresholds::default()))
    }

    /// What a deed would change.
    pub async fn host_check(
        &self,
        cx: &Cx,
        node: &str,
        deed: HostDeed,
    ) -> Result<HostOutcome, Error> {
        self.host_look(cx, node, HostAsk::Check { deed }).await
    }

    /// Has something done to a machine.
    pub async fn host_do(&self, cx: &Cx, node: &str, deed: HostDeed) -> Result<Operation, Error> {
        let problems = deed.problems();
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let node = self.node_find(node).await?;
        super::node::require_present(&node)?;
        require_online(&node)?;
        let what = json!({ "node": node.id, "deed": deed });
        let gated = super::node::deed(Permission::NodeAdminister, &node, what);
        let pass = self.approval_pass(cx, &gated).await?;
        let until = self.now().plus(DEED_TIME);
        let plan = OperationPlan::NodeDeed { node: node.id, deed, until };
        self.node_operation(cx, &node, plan, "node.administer", &pass).await
    }

    async fn host_look<T: DeserializeOwned>(
        &self,
        cx: &Cx,
        node: &str,
        ask: HostAsk,
    ) -> Result<T, Error> {
        let problems = ask.problems();
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let node = self.node_get(cx, node).await?;
        require_online(&node)?;
        self.host_answer(node.id, ask, LOOK_TIME).await
    }

    /// How a job stands; asking begins it.
    pub(crate) async fn host_job<T: DeserializeOwned>(
        &self,
        node: NodeId,
        ask: HostAsk,
    ) -> Result<JobState<T>, Error> {
        self.host_answer(node, ask, JOB_TIME).await
    }

    /// Tells a node that nobody waits for a job any more. One that does not hear of it finds out by itself.
    pub(crate) async fn host_forget(&self, node: NodeId, job: OperationId) {
        let ask = HostAsk::Forget { job };
        let told: Result<Option<()>, Error> = self.host_answer(node, ask, FORGET_TIME).await;
        if let Err(error) = told {
            tracing::debug!(%error, "a node was not told that a job is not wanted any more");
        }
    }

    async fn host_answer<T: DeserializeOwned>(
        &self,
        node: NodeId,
        ask: HostAsk,
        time: Duration,
    ) -> Result<T, Error> {
        let asked = async {
            let told = self.node_open(node, NodeAsk::Host(ask)).await?;
            let bytes = gathered(told).await.map_err(of_machine)?;
            serde_json::from_slice(&bytes).map_err(Error::internal)
        };
        self.clock.timeout(time, asked).await.map_err(|late| {
            Error::new(
                Code::NodeUnreachable,
                "the node takes too long to answer",
                "ask again, for less at once",
            )
            .with_retry_after(5)
            .with_source(late)
        })?
    }
}

/// What a machine cannot do says itself what helps.
fn of_machine(mut error: Error) -> Error {
    if matches!(error.code, Code::Conflict | Code::Invalid) {
        error.hint = "nothing was changed; ask for something else, or mend the machine".to_owned();
    }
    error
}

/// Nobody waits for a node that is known to be away.
pub(super) fn require_online(node: &Node) -> Result<(), Error> {
    match node.state {
        NodeState::Online => Ok(()),
        state => Err(Error::new(
            Code::NodeUnreachable,
            format!("node `{}` is {state}", node.name),
            "ask again when it is back; `hostler node get` shows since when",
        )
        .with_retry_after(5)),
    }
}

async fn gathered(mut told: OutputReceiver) -> Result<Vec<u8>, Error> {
    let mut all = Vec::new();
    while let Some(item) = told.recv().await {
        match item? {
            OutputItem::Data { bytes, .. } => all.extend(bytes),
            item if item.is_last() => return Ok(all),
            _ => {}
        }
        if all.len() > ANSWER_MAX {
            return Err(Error::new(
                Code::TooLarge,
                "the node has more to say than fits into one answer",
                "ask for less: with a filter or a smaller limit",
            ));
        }
    }
    Err(Error::new(
        Code::NodeUnreachable,
        "the node went away before it answered",
        "ask again in a moment",
    )
    .with_retry_after(1))
}
