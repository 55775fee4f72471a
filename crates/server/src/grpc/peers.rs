//! Asks another server for what a node has that is connected there.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use hostler_base::shutdown::{OnError, Tasks};
use hostler_control::{NodeAsk, OutputItem, OutputReceiver, PeerLinks};
use hostler_model::{Code, Error, NodeId, ServerRegistration};
use hostler_proto::v1::peer_link_client::PeerLinkClient;
use hostler_proto::v1::{self, relay_chunk::Body};
use hostler_trust::AuthorityBundle;
use hostler_trust::certificate::Identity;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint};

use super::asks::{ended, item, relay};
use super::streams::session_over;

const CONNECT_TIME: Duration = Duration::from_secs(5);

/// The way to other servers, with this server's own certificate.
pub struct Peers {
    /// Who is trusted, and this server's own certificate.
    trust: RwLock<(AuthorityBundle, Identity)>,
    tasks: Tasks,
}

impl Peers {
    pub fn new(trusted: AuthorityBundle, identity: Identity, tasks: Tasks) -> Peers {
        Peers { trust: RwLock::new((trusted, identity)), tasks }
    }

    /// Trusts these, with a renewed certificate, from now on.
    pub fn replace(&self, trusted: AuthorityBundle, identity: Identity) {
        *self.trust.write().unwrap_or_else(PoisonError::into_inner) = (trusted, identity);
    }

    async fn channel(
        &self,
        address: &str,
    ) -> Result<Channel, Box<dyn std::error::Error + Send + Sync>> {
        let trust = self.trust.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut config = hostler_trust::tls::client_of(&trust.0, Some(&trust.1))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        let connector = TlsConnector::from(Arc::new(config));
        let target = address.to_owned();
        let connect = tower::service_fn(move |_| {
            let (connector, target) = (connector.clone(), target.clone());
            async move {
                let stream = TcpStream::connect(&target).await?;
                stream.set_nodelay(true)?;
                // The name is not checked: the authority and the role in the certificate are.
                let name = rustls::pki_types::ServerName::try_from("hostler")
                    .map_err(std::io::Error::other)?;
                Ok::<_, std::io::Error>(TokioIo::new(connector.connect(name, stream).await?))
            }
        });
        let endpoint =
            Endpoint::from_shared(format!("http://{address}"))?.connect_timeout(CONNECT_TIME);
        Ok(endpoint.connect_with_connector(connect).await?)
    }
}

impl PeerLinks for Peers {
    fn open<'a>(
        &'a self,
        server: &'a ServerRegistration,
        node: NodeId,
        ask: NodeAsk,
    ) -> BoxFuture<'a, Result<OutputReceiver, Error>> {
        Box::pin(async move {
            let away = |source: Box<dyn std::error::Error + Send + Sync>| {
                Error::new(
                    Code::NodeUnreachable,
                    format!("server `{}`, which the node is connected to, cannot be reached", server.name),
                    "if that server is gone, the node connects to another one in a moment; ask again then",
                )
                .with_retry_after(2)
                .with_source(source)
            };
            let channel = self.channel(&server.agent_address).await.map_err(away)?;
            let chunks = PeerLinkClient::new(channel)
                .max_decoding_message_size(super::MESSAGE_MAX)
                .relay(relay(node, ask))
                .await
                .map_err(|status| away(status.into()))?;
            let mut chunks = chunks.into_inner();
            let (items, reader) = mpsc::channel(16);
            self.tasks.spawn_until_cancelled("peer_output", OnError::Log, async move {
                loop {
                    let chunk = tokio::select! {
                        chunk = chunks.message() => chunk,
                        () = items.closed() => return,
                    };
                    let arrived = match chunk {
                        Ok(Some(v1::RelayChunk { body: Some(Body::Data(data)) })) => {
                            data.frames.into_iter().map(|frame| Ok(item(frame))).collect()
                        }
                        Ok(Some(v1::RelayChunk { body: Some(Body::End(end)) })) => {
                            vec![ended(&end)]
                        }
                        Ok(Some(v1::RelayChunk { body: None })) => continue,
                        Ok(None) | Err(_) => vec![Err(session_over())],
                    };
                    for item in arrived {
                        let is_last = item.as_ref().map_or(true, OutputItem::is_last);
                        if items.send(item).await.is_err() || is_last {
                            return;
                        }
                    }
                }
            });
            Ok(reader)
        })
    }
}
