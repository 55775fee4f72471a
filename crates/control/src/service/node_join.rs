//! How machines become nodes: join tokens, joining, and renewing certificates.
//!
//! A token is consumed in the same transaction that makes the node, so of many that present it at
//! once exactly one gets in. A refusal is recorded as an event: somebody tried.

use std::time::Duration;

use hostler_model::{
    Actor, ActorKind, Code, Diagnostic, Error, EventKind, Generation, JoinPayload, JoinToken,
    JoinTokenId, Labels, Limit, Name, Node, NodeCertificate, NodeId, NodePayload, NodeState,
    ObjectKind, ObjectRef, Page, Span, label_problem,
};
use hostler_trust::{JoinTicket, SecretString, SecretToken, TokenKind, secret};
use serde_json::json;

use super::project::taken;
use crate::{Control, Cx, Joined, NewJoinToken, RequestMeta, audit_state};

const TTL_DEFAULT: Duration = Duration::from_secs(3600);
const TTL_MAX: Span = Span::from_secs(30 * 86_400);

impl Control {
    pub async fn join_token_list(
        &self,
        _: &Cx,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<JoinToken>, Error> {
        Ok(self.store.read().await?.join_token_list(after, limit).await?)
    }

    /// Makes a join token. The ticket (secret and fingerprint) is returned this once.
    pub async fn join_token_create(
        &self,
        cx: &Cx,
        new: NewJoinToken,
    ) -> Result<(JoinToken, SecretString), Error> {
        let mut problems: Vec<_> = new
            .labels
            .iter()
            .filter_map(|(k, v)| label_problem(k, v))
            .map(|p| Diagnostic::new("/labels", p))
            .collect();
        if new.ttl.is_some_and(|t| t > TTL_MAX || t == Span::from_millis(0)) {
            problems
                .push(Diagnostic::new("/ttl", "a join token lives at least 1ms and at most 30d"));
        }
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let now = self.now();
        let fresh = SecretToken::generate(TokenKind::Join);
        let token = JoinToken {
            id: self.ids.fresh(),
            secret_hash: fresh.hash().to_vec(),
            node_name: new.name,
            labels: new.labels,
            created_by: cx.caller.principal_id,
            time_created: now,
            time_expires: now.plus(new.ttl.map_or(TTL_DEFAULT, Span::duration)),
            time_used: None,
            used_by: None,
            time_revoked: None,
        };
        let object = ObjectRef::new(
            ObjectKind::JoinToken,
            token.id,
            token.node_name.as_ref().map_or("any", Name::as_str),
        );
        let detail = json!({ "labels": token.labels, "expires": token.time_expires });
        let audit = self
            .audit(cx, "join-token.create", &object, None, detail)
            .with_states(None, Some(&audit_state::join_token(&token, false)));
        let (token_ref, object, audit) = (&token, &object, &audit);
        self.store
            .tx("join_token_create", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return Err(Error::new(
                            Code::Conflict,
                            format!("an earlier request with this Idempotency-Key made the join token {}", made.id),
                            "its secret was shown once; if it was lost, revoke that token and make another with a fresh key",
                        ));
                    }
                    tx.join_token_insert(token_ref).await?;
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok(())
                })
            })
            .await?;
        let ticket =
            JoinTicket { token: fresh, authority: self.authority().fingerprint() }.encode();
        Ok((token, ticket))
    }

    pub async fn join_token_revoke(&self, cx: &Cx, id: JoinTokenId) -> Result<(), Error> {
        let object = ObjectRef::new(ObjectKind::JoinToken, id, "");
        let audit = self.audit(cx, "join-token.revoke", &object, None, json!({}));
        let audit = &audit;
        self.store
            .tx("join_token_revoke", |tx| {
                Box::pin(async move {
                    let Some(token) = tx.join_token_get(id).await? else {
                        return Err(Error::not_found("join token", id));
                    };
                    if tx.join_token_revoke(id, self.now()).await? {
                        let [before, after] = [false, true]
                            .map(|is_revoked| audit_state::join_token(&token, is_revoked));
                        let audit = audit.clone().with_states(Some(&before), Some(&after));
                        tx.journal_append(&[], &[audit]).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// A machine becomes a node.
    pub async fn join(
        &self,
        request: &RequestMeta,
        token: &str,
        name: Name,
        csr: &str,
    ) -> Result<Joined, Error> {
        let result = self.join_inner(request, token, &name, csr).await;
        if let Err(error) = &result
            && error.code == Code::Unauthenticated
        {
            self.join_refused(&name, &error.detail).await;
        }
        result
    }

    async fn join_inner(
        &self,
        request: &RequestMeta,
        token: &str,
        name: &Name,
        csr: &str,
    ) -> Result<Joined, Error> {
        let refused = |why: &str| {
            Error::new(
                Code::Unauthenticated,
                why.to_owned(),
                "ask an operator for a fresh one: `hostler node token create`",
            )
        };
        let secret = SecretToken::parse(token, TokenKind::Join)
            .map_err(|_| refused("this is not a join token of this installation"))?;
        let now = self.now();
        let node_id: NodeId = self.ids.fresh();
        let authority = self.authority();
        let issued = authority
            .sign_node(csr, node_id, now, self.config.node_certificate_ttl)
            .map_err(|e| {
                Error::invalid(vec![Diagnostic::new(
                    "/csr",
                    format!("the certificate request cannot be used: {e}"),
                )])
            })?;
        let certificate = NodeCertificate {
            serial: issued.serial.clone(),
            node_id,
            authority: Some(authority.fingerprint().to_string()),
            time_created: now,
            time_expires: issued.time_expires,
            time_presented: None,
            time_revoked: None,
        };
        let hash = secret::hash_secret(secret.expose());
        let object = ObjectRef::new(ObjectKind::Node, node_id, name);
        let actor = Actor { kind: ActorKind::Node, name: name.to_string() };
        let event = self.event(
            EventKind::NodeJoined,
            None,
            &object,
            actor.clone(),
            format!("from {}", request.source),
        );
        let event =
            event.with_payload(NodePayload { state: NodeState::Joined, labels: Labels::default() });
        let (hash, object, actor, event, certificate) =
            (&hash, &object, &actor, &event, &certificate);
        self.store
            .tx("node_join", |tx| {
                Box::pin(async move {
                    let Some(token) = tx.join_token_by_hash(hash).await? else {
                        return Err(refused("this is not a join token of this installation"));
                    };
                    if token.time_revoked.is_some() {
                        return Err(refused("the join token was revoked"));
                    }
                    if token.time_used.is_some() {
                        return Err(refused("the join token was used already; each works once"));
                    }
                    if now >= token.time_expires {
                        return Err(refused("the join token has expired"));
                    }
                    if token.node_name.as_ref().is_some_and(|bound| bound != name) {
                        return Err(refused("the join token is bound to another node name"));
                    }
                    let node = Node {
                        id: node_id,
                        name: name.clone(),
                        labels: token.labels.clone(),
                        state: NodeState::Joined,
                        cordon: None,
                        facts: None,
                        agent_version: String::new(),
                        generation: Generation::FIRST,
                        desired_generation: Generation::ZERO,
                        time_created: now,
                        time_modified: now,
                        time_state: now,
                        lease: None,
                    };
                    tx.node_insert(&node).await.map_err(|e| taken(e, "node", name))?;
                    if !tx.join_token_consume(token.id, node_id, now).await? {
                        return Err(refused("the join token was used already; each works once"));
                    }
                    tx.node_certificate_insert(certificate).await?;
                    let detail = json!({ "token": token.id, "labels": token.labels });
                    let audit = self
                        .audit_by(actor.clone(), request, "node.join", object, None, detail)
                        .with_states(None, Some(&audit_state::node(&node)));
                    tx.journal_append(std::slice::from_ref(event), &[audit]).await?;
                    Ok(())
                })
            })
            .await?;
        self.feed.ring();
        Ok(Joined {
            node_id,
            certificate: issued.chain_pem,
            authority: self.authorities().trusted().pem(),
            agent_addresses: self.agent_addresses().await?,
            time_expires: issued.time_expires,
        })
    }

    async fn join_refused(&self, name: &Name, why: &str) {
        let object = ObjectRef::new(ObjectKind::JoinToken, "", name);
        let actor = Actor { kind: ActorKind::Node, name: name.to_string() };
        let event = self
            .event(EventKind::JoinRefused, None, &object, actor, why)
            .with_payload(JoinPayload { node: Some(name.clone()), reason: Some(why.to_owned()) });
        let event = &event;
        let written = self
            .store
            .tx("join_refused", |tx| {
                Box::pin(async move {
                    Ok::<_, Error>(tx.journal_append(std::slice::from_ref(event), &[]).await?)
                })
            })
            .await;
        if let Err(error) = written {
            tracing::warn!(error = %hostler_base::chain::chain(&error), "refused join could not be recorded");
        }
    }

    /// Where agents can connect: what is configured, then every server that lives.
    pub async fn agent_addresses(&self) -> Result<Vec<String>, Error> {
        let mut addresses = self.config.agent_addresses.clone();
        for server in self.store.read().await?.server_list().await? {
            if !addresses.contains(&server.agent_address) {
                addresses.push(server.agent_address);
            }
        }
        Ok(addresses)
    }

    /// A node renews its own certificate over its session.
    pub async fn node_renew(&self, node_id: NodeId, csr: &str) -> Result<String, Error> {
        let now = self.now();
        let authority = self.authority();
        let issued = authority
            .sign_node(csr, node_id, now, self.config.node_certificate_ttl)
            .map_err(|e| {
                Error::invalid(vec![Diagnostic::new(
                    "/csr",
                    format!("the certificate request cannot be used: {e}"),
                )])
            })?;
        let certificate = NodeCertificate {
            serial: issued.serial.clone(),
            node_id,
            authority: Some(authority.fingerprint().to_string()),
            time_created: now,
            time_expires: issued.time_expires,
            time_presented: None,
            time_revoked: None,
        };
        let certificate = &certificate;
        self.store
            .tx("node_renew", |tx| {
                Box::pin(async move {
                    let node =
                        tx.node_get(node_id).await?.filter(|node| node.state != NodeState::Removed);
                    let Some(node) = node else { return Err(Error::not_found("node", node_id)) };
                    tx.node_certificate_insert(certificate).await?;
                    let object = ObjectRef::new(ObjectKind::Node, node.id, &node.name);
                    let detail = json!({ "serial": certificate.serial });
                    let audit = self
                        .audit_system("node.renew", &object, None, detail)
                        .with_states(None, Some(&audit_state::node_certificate(certificate)));
                    tx.journal_append(&[], &[audit]).await?;
                    Ok(())
                })
            })
            .await?;
        Ok(issued.chain_pem)
    }
}
