//! The streams of one session: opened, given credit and cancelled as the server says.

use std::sync::Arc;

use hostler_base::OnError;
use hostler_base::shutdown::TaskHandle;
use hostler_model::Code;
use hostler_proto::v1::{self, agent_message};

use super::talk::Talk;
use super::{End, Session};
use crate::streams::{Credit, Stream};

const STREAMS_MAX: usize = 256;

pub(super) struct OpenStream {
    pub(super) credit: Arc<Credit>,
    pub(super) task: TaskHandle,
}

impl Session {
    pub(super) async fn open_stream(
        &self,
        talk: &mut Talk,
        open: v1::StreamOpen,
    ) -> Result<(), End> {
        let id = open.stream_id;
        talk.streams.retain(|_, stream| !stream.task.is_ended());
        let refuse = |code: Code, detail: &str| v1::StreamEnd {
            stream_id: id,
            error_code: code.label().to_owned(),
            error_detail: detail.to_owned(),
            ..v1::StreamEnd::default()
        };
        let Some(what) = open.what else {
            let end = refuse(Code::Invalid, "this agent does not know such streams, upgrade it");
            return self.send(talk, agent_message::Body::StreamEnd(end)).await;
        };
        if talk.streams.len() >= STREAMS_MAX {
            let end = refuse(Code::Unavailable, "too many streams of this node are open");
            return self.send(talk, agent_message::Body::StreamEnd(end)).await;
        }
        let credit = Credit::new(open.window);
        let stream = Stream {
            id,
            window: open.window,
            credit: credit.clone(),
            outbound: talk.outbound.clone(),
            runner: self.runner.clone(),
            supervisor: self.supervisor.clone(),
            clock: self.clock.clone(),
            tasks: talk.scope.clone(),
            samples_max: self.manner.samples_max,
            looker: self.looker.clone(),
            machine: self.machine.clone(),
        };
        let task = talk.scope.spawn_until_cancelled("stream", OnError::Log, stream.run(what));
        if let Some(before) = talk.streams.insert(id, OpenStream { credit, task }) {
            before.task.abort();
        }
        Ok(())
    }
}
