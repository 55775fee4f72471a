//! Passes output of a node connected here on to another server that was asked for it.

use hostler_control::{Control, OutputItem};
use hostler_model::OutputStream;
use hostler_proto::v1::{self, relay_chunk::Body};
use hostler_trust::PeerIdentity;
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::streams::parse_request;

pub(super) struct PeerLinkService {
    control: Control,
}

impl PeerLinkService {
    pub(super) fn new(control: Control) -> PeerLinkService {
        PeerLinkService { control }
    }
}

#[tonic::async_trait]
impl v1::peer_link_server::PeerLink for PeerLinkService {
    type RelayStream =
        std::pin::Pin<Box<dyn futures::Stream<Item = Result<v1::RelayChunk, Status>> + Send>>;

    async fn relay(
        &self,
        request: Request<v1::RelayRequest>,
    ) -> Result<Response<Self::RelayStream>, Status> {
        if !matches!(super::peer(&request)?.identity, PeerIdentity::Server(_)) {
            return Err(Status::permission_denied("only servers ask for a relay"));
        }
        let request = request.into_inner();
        let node =
            request.node_id.parse().map_err(|_| Status::invalid_argument("not a node id"))?;
        let output =
            request.output.ok_or_else(|| Status::invalid_argument("no output is asked for"))?;
        let (run, query) = parse_request(&output)?;
        let items = match self.control.local_output(node, run, query).await {
            Ok(items) => items,
            Err(error) => refused(error),
        };
        Ok(Response::new(Box::pin(ReceiverStream::new(items).map(|item| Ok(chunk(item))))))
    }
}

fn refused(error: hostler_model::Error) -> hostler_control::OutputReceiver {
    let (sender, receiver) = mpsc::channel(1);
    sender.try_send(Err(error)).expect("a fresh channel has room for one");
    receiver
}

fn chunk(item: Result<OutputItem, hostler_model::Error>) -> v1::RelayChunk {
    let frame = |kind, time_micros, data, cursor| {
        Body::Data(v1::StreamData {
            stream_id: 0,
            frames: vec![v1::OutputFrame { kind, time_micros, data, cursor }],
        })
    };
    let body = match item {
        Ok(OutputItem::Data { stream, time, bytes, cursor }) => {
            let kind = match stream {
                OutputStream::Stdout => 1,
                OutputStream::Stderr => 2,
            };
            frame(kind, time.micros(), bytes, cursor)
        }
        Ok(OutputItem::Gap(words)) => frame(3, 0, words.into_bytes(), String::new()),
        Ok(OutputItem::End { complete }) => Body::End(v1::StreamEnd {
            stream_id: 0,
            error_code: String::new(),
            error_detail: String::new(),
            complete,
        }),
        Err(error) => Body::End(v1::StreamEnd {
            stream_id: 0,
            error_code: error.code.label().to_owned(),
            error_detail: error.detail,
            complete: false,
        }),
    };
    v1::RelayChunk { body: Some(body) }
}
