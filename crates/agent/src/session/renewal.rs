//! Renewing the node's certificate over the session, well before it expires.
//!
//! The key stays, the certificate is replaced on disk before it is used, and the session is opened anew
//! with it soon after. A failure is tried again at a quarter of the time that is left.
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
        let is_asked =
            talk.renewal_asked.is_some_and(|asked| now.saturating_sub(asked) < RENEWAL_PATIENCE);
        if talk.renewed.is_some() || is_asked || self.clock.now() < self.time_renewal {
            return Ok(());
        }
        match self.identity.csr_pem() {
            Ok(csr_pem) => {
                talk.renewal_asked = Some(now);
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
        if talk.renewal_asked.take().is_none() {
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
                talk.renewed = Some(self.clock.instant());
                if talk.streams.values().all(|stream| stream.task.is_ended()) {
                    return Err(End::Renewed);
                }
            }
            Ok(Err(error)) => self.renewal_failed(talk, chain(&error).to_string()),
            Err(panicked) => self.renewal_failed(talk, panicked.to_string()),
        }
        Ok(())
    }

    pub(super) fn renewal_failed(&mut self, talk: &mut Talk, problem: String) {
        talk.renewal_asked = None;
        let now = self.clock.now();
        let left = self.identity.certificate.time_expires.since(now);
        let wait = (left / 4).clamp(Duration::from_secs(5), RENEWAL_RETRY);
        self.time_renewal = now.plus(wait);
        tracing::warn!(problem, retry_in = ?wait, "certificate could not be renewed");
    }
}
