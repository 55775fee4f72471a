//! What a project has, against what it may have.

use hostler_api::task::QueueProject;
use hostler_model::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Cell, Column, Show, column};

/// One thing that can be limited.
#[derive(Clone, Debug, Serialize)]
pub struct QuotaLine {
    pub what: &'static str,
    pub used: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Value>,
    #[serde(skip)]
    words: (String, Option<String>),
}

impl QuotaLine {
    fn new<U, L>(what: &'static str, used: U, limit: Option<L>) -> QuotaLine
    where
        U: Serialize + ToString,
        L: Serialize + ToString,
    {
        QuotaLine {
            what,
            used: json!(used),
            limit: limit.as_ref().map(|limit| json!(limit)),
            words: (used.to_string(), limit.map(|limit| limit.to_string())),
        }
    }

    pub fn all_of(project: &QueueProject) -> Vec<QuotaLine> {
        let quota = &project.quota;
        let tasks: u64 = project.counts.values().sum();
        vec![
            QuotaLine::new("cores", project.cores, quota.cores),
            QuotaLine::new("memory", project.memory, quota.memory),
            QuotaLine::new("gpus", project.gpus, quota.gpus),
            QuotaLine::new("tasks", tasks, quota.tasks),
            QuotaLine::new("workloads", project.workloads, quota.workloads),
            QuotaLine::new("secrets", project.secrets, quota.secrets),
            QuotaLine::new("blobs", project.blobs, quota.blobs),
            QuotaLine::new("logs", project.logs, quota.logs),
            QuotaLine::new("state", project.state, quota.state),
            QuotaLine::new("stacks", project.stacks, quota.stacks),
        ]
    }
}

impl Show for QuotaLine {
    const KIND: &'static str = "quota";
    const COLUMNS: &'static [Column] = &[column("WHAT"), column("USED"), column("QUOTA")];
    fn id(&self) -> String {
        self.what.to_owned()
    }
    fn name(&self) -> String {
        self.what.to_owned()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        let (used, limit) = &self.words;
        vec![Cell::new(self.what), Cell::new(used), limit.as_ref().into()]
    }
}
