//! The server that content is exchanged with: the one that the session talks with, while it does.

use std::sync::Arc;
use std::time::Duration;

use hostler_base::chain;
use hostler_proto::v1::blob_link_client::BlobLinkClient;
use tokio::sync::watch;
use tonic::transport::Channel;
use tonic::{Code, Status};

use super::{BlobError, PATIENCE};
use crate::identity::Identity;
use crate::session::{Manner, channel};

const MESSAGE_MAX: usize = 32 << 20;
/// How long one question may take to be answered.
pub(super) const ANSWER_TIME: Duration = Duration::from_mins(2);
const RETRY_MIN: Duration = Duration::from_millis(200);
const RETRY_MAX: Duration = Duration::from_secs(5);

#[derive(Clone, Default)]
enum State {
    /// There will never be one.
    #[default]
    Alone,
    Away,
    Server(Arc<Server>),
}

struct Server {
    address: String,
    identity: Identity,
    manner: Manner,
}

/// Where the server is, as the session knows it.
pub(crate) struct Reach(watch::Sender<State>);

impl Default for Reach {
    fn default() -> Reach {
        Reach(watch::Sender::new(State::Alone))
    }
}

impl Reach {
    /// There is no session, but there may be one.
    pub fn lost(&self) {
        self.0.send_replace(State::Away);
    }

    /// A session was opened there.
    pub fn found(&self, address: &str, identity: &Identity, manner: Manner) {
        let (address, identity) = (address.to_owned(), identity.clone());
        self.0.send_replace(State::Server(Arc::new(Server { address, identity, manner })));
    }

    async fn server(&self) -> Result<Arc<Server>, BlobError> {
        let mut state = self.0.subscribe();
        loop {
            match state.borrow_and_update().clone() {
                State::Alone => return Err(BlobError::Alone),
                State::Server(server) => return Ok(server),
                State::Away => {}
            }
            if state.changed().await.is_err() {
                return Err(BlobError::Alone);
            }
        }
    }

    /// A connection of its own to the server of the session; waits for one, but not for ever.
    pub async fn channel(&self) -> Result<Channel, BlobError> {
        let connecting = async {
            let server = self.server().await?;
            let connected = channel(&server.address, &server.identity, server.manner).await;
            connected.map_err(|e| BlobError::Away(chain(&e).to_string()))
        };
        match tokio::time::timeout(PATIENCE, connecting).await {
            Ok(connected) => connected,
            Err(_) => Err(BlobError::Away("there has been no session for long".to_owned())),
        }
    }
}

/// A conversation about content, which outlives the connections that carry it.
pub(super) struct Link<'a> {
    reach: &'a Reach,
    client: Option<BlobLinkClient<Channel>>,
    /// Since when nothing has worked.
    trouble: Option<tokio::time::Instant>,
    wait: Duration,
}

impl<'a> Link<'a> {
    pub fn new(reach: &'a Reach) -> Link<'a> {
        Link { reach, client: None, trouble: None, wait: RETRY_MIN }
    }

    /// Goes on over a connection that is there.
    pub fn with(reach: &'a Reach, client: BlobLinkClient<Channel>) -> Link<'a> {
        Link { client: Some(client), ..Link::new(reach) }
    }

    pub async fn client(&mut self) -> Result<BlobLinkClient<Channel>, BlobError> {
        loop {
            if let Some(client) = &self.client {
                return Ok(client.clone());
            }
            match self.reach.channel().await {
                Ok(channel) => {
                    let client = BlobLinkClient::new(channel)
                        .max_decoding_message_size(MESSAGE_MAX)
                        .max_encoding_message_size(MESSAGE_MAX);
                    self.client = Some(client);
                }
                Err(BlobError::Away(why)) => self.pause(why).await?,
                Err(e) => return Err(e),
            }
        }
    }

    /// Something came through.
    pub fn works(&mut self) {
        self.trouble = None;
        self.wait = RETRY_MIN;
    }

    /// What to do about a question that was not answered: `Ok` to ask again.
    pub async fn failed(&mut self, status: &Status) -> Result<(), BlobError> {
        match status.code() {
            Code::Unavailable
            | Code::DeadlineExceeded
            | Code::Unknown
            | Code::Cancelled
            | Code::Aborted
            | Code::Internal
            | Code::Unauthenticated => {
                self.client = None;
                self.pause(status.message().to_owned()).await
            }
            _ => Err(BlobError::Refused(status.message().to_owned())),
        }
    }

    async fn pause(&mut self, why: String) -> Result<(), BlobError> {
        let since = *self.trouble.get_or_insert_with(tokio::time::Instant::now);
        if since.elapsed() > PATIENCE {
            return Err(BlobError::Away(why));
        }
        tracing::debug!(why, "content is asked for again");
        tokio::time::sleep(self.wait).await;
        self.wait = (self.wait * 2).min(RETRY_MAX);
        Ok(())
    }

    /// Asks until there is an answer.
    pub async fn ask<T, A>(
        &mut self,
        question: impl Fn(BlobLinkClient<Channel>) -> A,
    ) -> Result<T, BlobError>
    where
        A: Future<Output = Result<tonic::Response<T>, Status>>,
    {
        loop {
            let client = self.client().await?;
            let answer = tokio::time::timeout(ANSWER_TIME, question(client)).await;
            let answer = answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")));
            match answer {
                Ok(answer) => {
                    self.works();
                    return Ok(answer.into_inner());
                }
                Err(status) => self.failed(&status).await?,
            }
        }
    }
}
