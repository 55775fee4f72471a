//! Output of a task, from the node it ran on, through whichever server holds that node's session.

use std::time::Duration;

use hostler_model::{Error, Project, RunState, TaskState};

use crate::{Control, Cx, NodeAsk, OutputItem, OutputQuery, OutputReceiver};

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
                        self.node_open(run.node_id, NodeAsk::Run { run: run.id, query }).await
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
}

fn ended(complete: bool) -> OutputReceiver {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    sender.try_send(Ok(OutputItem::End { complete })).expect("a fresh channel has room for one");
    receiver
}
