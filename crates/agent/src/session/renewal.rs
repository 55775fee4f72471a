//! Renewing the node's certificate over the session, well before it expires.
//!
//! The key stays, the certificate is replaced on disk before it is used, and the session is opened anew
//! with it soon after: the server is told first, and what it had asked for by then is still answered, so that
//! nobody who asks this node for something notices. A failure is tried again at a quarter of the time that is left.
//!
//! While one authority takes the place of another the server says whom to trust, over a connection that is
//! trusted already, and asks for the certificate to be renewed. What is trusted is on disk first: a
//! certificate of the new authority is of no use to who does not know it.

use std::time::Duration;

use hostler_base::chain;
use hostler_proto::v1::{self, agent_message};
use hostler_trust::AuthorityBundle;

use super::talk::Talk;
use super::{End, Session};

const RENEWAL_PATIENCE: Duration = Duration::from_secs(30);
const RENEWAL_RETRY: Duration = Duration::from_secs(600);
/// How long open streams may delay connecting again with a renewed certificate.
const LINGER: Duration = Duration::from_secs(30);
/// How long a session is left: what the server had asked for before it knew is still answered.
const LEAVE_TIME: Duration = Duration::from_secs(2);
/// How often is looked, meanwhile, whether anything is left to answer.
pub(super) const LEAVE_LOOK: Duration = Duration::from_millis(20);

/// Where a session stands on its way to a newer certificate. Times are of the monotonic clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Renewal {
    #[default]
    None,
    Asked(Duration),
    /// The new certificate is there; the session goes on for whoever listens to a stream.
    Done(Duration),
    /// The server was told that another session follows.
    Leaving {
        since: Duration,
        is_answered: bool,
    },
}

impl Renewal {
    pub(super) fn is_leaving(self) -> bool {
        matches!(self, Renewal::Leaving { .. })
    }
}

impl Session {
    /// Trusts whom the server says, and renews soon if it says so.
    pub(super) async fn trust(&mut self, welcome: &v1::Welcome) {
        if !welcome.authorities_pem.is_empty() {
            match AuthorityBundle::from_pem(&welcome.authorities_pem) {
                Ok(told) if told == self.identity.authority => {}
                Ok(told) => {
                    if !self.trust_from_now(told).await {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(error = %chain(&error), "server named authorities that make no sense");
                    return;
                }
            }
        }
        if welcome.should_renew {
            self.time_renewal = self.time_renewal.min(self.clock.now());
        }
    }

    async fn trust_from_now(&mut self, told: AuthorityBundle) -> bool {
        let (identity, data_dir) = (self.identity.clone(), self.data_dir.clone());
        let stored = self
            .tasks
            .run_blocking("identity", move || identity.with_authority(&data_dir, told))
            .await;
        match stored {
            Ok(Ok(identity)) => {
                tracing::info!(authorities = identity.authority.mark(), "authorities changed");
                self.identity = identity;
                true
            }
            Ok(Err(error)) => {
                tracing::warn!(error = %chain(&error), "authorities could not be stored");
                false
            }
            Err(_) => false,
        }
    }

    pub(super) async fn renew_if_due(&mut self, talk: &mut Talk) -> Result<(), End> {
        let now = self.clock.instant();
        let may_ask = match talk.renewal {
            Renewal::None => true,
            Renewal::Asked(since) => now.saturating_sub(since) >= RENEWAL_PATIENCE,
            Renewal::Done(_) | Renewal::Leaving { .. } => false,
        };
        if !may_ask || self.clock.now() < self.time_renewal {
            return Ok(());
        }
        match self.identity.csr_pem() {
            Ok(csr_pem) => {
                talk.renewal = Renewal::Asked(now);
                let request = v1::RenewRequest { csr_pem };
                self.send(talk, agent_message::Body::RenewRequest(request)).await
            }
            Err(error) => {
                self.renewal_failed(talk, chain(&error).to_string());
                Ok(())
            }
        }
    }

    pub(super) async fn renewed(
        &mut self,
        talk: &mut Talk,
        reply: v1::RenewReply,
    ) -> Result<(), End> {
        if !matches!(std::mem::take(&mut talk.renewal), Renewal::Asked(_)) {
            return Ok(());
        }
        if !reply.error.is_empty() {
            self.renewal_failed(talk, reply.error);
            return Ok(());
        }
        let (identity, data_dir) = (self.identity.clone(), self.data_dir.clone());
        let stored = self
            .tasks
            .run_blocking("identity", move || identity.renew(&data_dir, reply.certificate_pem))
            .await;
        match stored {
            Ok(Ok(identity)) => {
                tracing::info!(expires = %identity.certificate.time_expires, "certificate renewed");
                let soonest = self.clock.now().plus(RENEWAL_PATIENCE);
                self.time_renewal = identity.time_renewal(rand::random()).max(soonest);
                self.status.set_certificate_expires(identity.certificate.time_expires);
                self.identity = identity;
                talk.renewal = Renewal::Done(self.clock.instant());
                self.leave_if_renewed(talk).await?;
            }
            Ok(Err(error)) => self.renewal_failed(talk, chain(&error).to_string()),
            Err(panicked) => self.renewal_failed(talk, panicked.to_string()),
        }
        Ok(())
    }

    pub(super) fn renewal_failed(&mut self, talk: &mut Talk, problem: String) {
        talk.renewal = Renewal::None;
        let now = self.clock.now();
        let left = self.identity.certificate.time_expires.since(now);
        let wait = (left / 4).clamp(Duration::from_secs(5), RENEWAL_RETRY);
        self.time_renewal = now.plus(wait);
        tracing::warn!(problem, retry_in = ?wait, "certificate could not be renewed");
    }

    /// With a new certificate another session is opened as soon as nobody is in the middle of anything.
    pub(super) async fn leave_if_renewed(&mut self, talk: &mut Talk) -> Result<(), End> {
        let now = self.clock.instant();
        talk.streams.retain(|_, stream| !stream.task.is_ended());
        let is_quiet = talk.streams.is_empty();
        match talk.renewal {
            Renewal::Done(since) if is_quiet || now.saturating_sub(since) > LINGER => {
                talk.renewal = Renewal::Leaving { since: now, is_answered: false };
                self.send(talk, agent_message::Body::Leaving(v1::Leaving {})).await
            }
            Renewal::Leaving { since, is_answered }
                if (is_answered && is_quiet) || now.saturating_sub(since) > LEAVE_TIME =>
            {
                Err(End::Renewed)
            }
            _ => Ok(()),
        }
    }

    /// The server goes away, or has heard that the agent does.
    pub(super) fn goodbye(&mut self, talk: &mut Talk) -> Result<(), End> {
        match &mut talk.renewal {
            Renewal::Leaving { is_answered, .. } if !*is_answered => {
                *is_answered = true;
                Ok(())
            }
            _ => Err(End::Goodbye),
        }
    }
}
