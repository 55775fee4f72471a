//! Output of a task, from the node it ran on, through whichever server holds that node's session.

use std::time::Duration;

use hostler_model::{Code, Error, Project, RunState, TaskState};

use crate::{Control, Cx, OutputItem, OutputQuery, OutputReceiver};

impl Control {
    /// Opens the output of a task's latest run. With `follow`, a task that has not started yet is
    /// waited for; the stream then goes on until the run has ended.
    pub async fn task_output(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        query: OutputQuery,
    ) -> Result<OutputReceiver, Error> {
        let mut detail = self.task_get(cx, project, name_or_id).await?;
        loop {
            let never_ran = matches!(detail.workload.state, TaskState::Killed { run: None, .. });
            if never_ran {
                return Ok(ended(true));
            }
            match &detail.run {
                Some(run)
                    if run.time_started.is_some()
                        || matches!(run.state, RunState::Exited { .. }) =>
                {
                    return if run.time_started.is_none() {
                        Ok(ended(true))
                    } else {
                        self.run_output(run.node_id, run.id, query).await
                    };
                }
                _ if !query.follow && detail.workload.state.is_settled() => return Ok(ended(true)),
                _ if !query.follow => return Ok(ended(false)),
                _ => {}
            }
            let waiter = self.waiter(detail.workload.id);
            let changed = waiter.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            detail = self.task_get(cx, project, &detail.workload.id.to_string()).await?;
            if detail.run.as_ref().is_none_or(|run| run.time_started.is_none())
                && !detail.workload.state.is_settled()
            {
                tokio::select! {
                    () = &mut changed => {}
                    () = self.clock.sleep(Duration::from_millis(250)) => {}
                }
                detail = self.task_get(cx, project, &detail.workload.id.to_string()).await?;
            }
        }
    }

    async fn run_output(
        &self,
        node_id: hostler_model::NodeId,
        run: hostler_model::RunId,
        query: OutputQuery,
    ) -> Result<OutputReceiver, Error> {
        if let Some(link) = self.links.get(node_id) {
            return link.open_output(run, query).await;
        }
        let mut read = self.store.read().await?;
        let node = read.node_get(node_id).await?;
        let name = node.as_ref().map_or_else(|| node_id.to_string(), |node| node.name.to_string());
        let away = || {
            Error::new(
                Code::NodeUnreachable,
                format!("node `{name}` has the output and cannot be reached now"),
                "the output is kept on the node; ask again when it is back (`hostler node get` shows its state)",
            )
            .with_retry_after(5)
        };
        let lease = node.as_ref().and_then(|node| node.lease.as_ref()).ok_or_else(away)?;
        if lease.server_id == self.server_id {
            return Err(away());
        }
        let server = read.server_get(lease.server_id).await?.ok_or_else(away)?;
        drop(read);
        let peers = self.peers().ok_or_else(away)?;
        peers.open_output(&server, node_id, run, query).await
    }

    /// Output of a run on a node that is connected to this process; for other servers that ask.
    pub async fn local_output(
        &self,
        node_id: hostler_model::NodeId,
        run: hostler_model::RunId,
        query: OutputQuery,
    ) -> Result<OutputReceiver, Error> {
        let link = self.links.get(node_id).ok_or_else(|| {
            Error::new(
                Code::NodeUnreachable,
                "the node is not connected here any more",
                "ask again in a moment",
            )
            .with_retry_after(1)
        })?;
        link.open_output(run, query).await
    }
}

fn ended(complete: bool) -> OutputReceiver {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    sender.try_send(Ok(OutputItem::End { complete })).expect("a fresh channel has room for one");
    receiver
}
