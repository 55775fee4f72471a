//! Secrets that are none any more, because somebody sent them in the address of a request.

use hostler_model::{Code, Credential, Error, EventKind, ObjectKind, ObjectRef, TokenPayload};
use hostler_trust::{SecretToken, TokenKind};
use serde_json::json;

use crate::{Control, Cx, RequestMeta, Stateless};

impl Control {
    /// Notes that somebody sent a secret in the address of a request. A secret that is not, or no more,
    /// good for anything is nobody's news.
    pub async fn token_exposed(
        &self,
        request: &RequestMeta,
        secret: &SecretToken,
    ) -> Result<(), Error> {
        let (caller, object) = match secret.kind() {
            TokenKind::Personal => {
                let caller = self.caller_by_token(secret.expose()).await;
                (caller, ObjectKind::Token)
            }
            TokenKind::Session => {
                let caller = self.caller_by_session(secret.expose()).await;
                (caller, ObjectKind::WebSession)
            }
            TokenKind::Join | TokenKind::Setup | TokenKind::Invitation | TokenKind::Reset => {
                return Ok(());
            }
        };
        let caller = match caller {
            Ok(caller) => caller,
            Err(error) if error.code == Code::Unauthenticated => return Ok(()),
            Err(error) => return Err(error),
        };
        let id = match &caller.credential {
            Credential::Token { id, .. } => id.to_string(),
            Credential::WebSession(id) => id.to_string(),
            Credential::Workload(identity) => identity.run_id.to_string(),
        };
        let object = ObjectRef::new(object, id, &caller.name);
        let cx = Cx { caller, request: request.clone() };
        let words = format!("sent in the address of a request from {}", request.source);
        let credential = match &cx.caller.credential {
            Credential::Token { .. } => "token",
            Credential::WebSession(_) => "web-session",
            Credential::Workload(_) => "run",
        };
        let event = self
            .event(EventKind::TokenExposed, None, &object, cx.actor(), words)
            .with_payload(TokenPayload {
                credential: Some(credential.to_owned()),
                source: Some(request.source.clone()),
            });
        let audit = self.audit(&cx, Stateless::TokenExposed, &object, None, json!({}));
        let (event, audit) = (&event, &audit);
        self.store
            .tx("token_exposed", |tx| {
                Box::pin(async move {
                    let (event, audit) = (std::slice::from_ref(event), std::slice::from_ref(audit));
                    Ok::<_, Error>(tx.journal_append(event, audit).await?)
                })
            })
            .await?;
        self.feed.ring();
        Ok(())
    }
}
