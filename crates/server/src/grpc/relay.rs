//! Passes what a node connected here answers on to another server that was asked for it.

use hostler_control::Control;
use hostler_proto::v1;
use hostler_trust::PeerIdentity;
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::asks::{chunk, parse_relay};

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
        let certificate = super::peer(&request)?;
        if !matches!(certificate.identity, PeerIdentity::Server(_)) {
            return Err(super::wrong_role(&certificate, "only servers ask for a relay"));
        }
        let (node, ask) = parse_relay(request.into_inner())?;
        let items = match self.control.node_open_here(node, ask).await {
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
