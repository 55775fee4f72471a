//! One certificate authority takes the place of another, while everything goes on.
//!
//! | verb | the row says afterwards |
//! |---|---|
//! | rotate | a new authority is present, the one before it is former; both are trusted |
//! | abort | the two have changed places: the old one issues again, the new one goes |
//! | finish | the former one is gone |
//!
//! After `rotate` every server hears of it within seconds and every agent is told over the session that
//! it has; a moment later nodes get certificates of the new authority, and are asked to fetch one.
//! `finish` looks at who has come with one, and names those who have not. Each step is one transaction:
//! a server that dies before or after it leaves a row that any other can go on from.

use std::sync::Arc;

use hostler_model::{
    AuthorityPayload, AuthorityPhase, Error, EventKind, Name, NodeCertificate, NodeId, ObjectKind,
    ObjectRef, Timestamp,
};
use hostler_store::Tx;
use hostler_trust::{Authority, AuthorityCertificate};
use serde_json::{Value, json};

use crate::authorities::{AuthoritySet, SPREADING, StoredAuthority, StoredKey};
use crate::bootstrap::AUTHORITY;
use crate::{Control, Cx};

/// What nodes are told whose certificate is of an authority that is gone.
pub(crate) const DROPPED: &str = "the authority that issued this node's certificate was replaced while the node was away; join again with a fresh token";

/// How the authorities stand.
#[derive(Clone, Debug)]
pub struct AuthorityDetail {
    pub set: Arc<AuthoritySet>,
    pub phase: AuthorityPhase,
    /// Nodes that have not come with a certificate of the present authority yet, by name.
    pub waiting: Vec<(NodeId, Name)>,
}

/// What is to be done to the row.
enum Turn<'a> {
    Rotate(&'a StoredKey),
    Abort,
    Finish { is_forced: bool },
}

/// What was done to it.
struct Turned {
    kind: EventKind,
    action: &'static str,
    message: String,
    detail: Value,
    payload: AuthorityPayload,
}

impl Control {
    pub async fn authority_show(&self, _: &Cx) -> Result<AuthorityDetail, Error> {
        self.authority_detail().await
    }

    /// Makes a new authority, which takes the place of the present one.
    pub async fn authority_rotate(&self, cx: &Cx) -> Result<AuthorityDetail, Error> {
        let now = self.now();
        let fresh = Authority::create(now, &format!("Hostler {now}")).map_err(Error::internal)?;
        let sealed = StoredKey::seal(&fresh, &self.keyring).map_err(Error::internal)?;
        self.authority_turn(cx, Turn::Rotate(&sealed)).await
    }

    /// Goes back to the authority that was there before.
    pub async fn authority_abort(&self, cx: &Cx) -> Result<AuthorityDetail, Error> {
        self.authority_turn(cx, Turn::Abort).await
    }

    /// Drops the authority that goes. Where nodes would be cut off, only if that is wanted.
    pub async fn authority_finish(
        &self,
        cx: &Cx,
        is_forced: bool,
    ) -> Result<AuthorityDetail, Error> {
        self.authority_turn(cx, Turn::Finish { is_forced }).await
    }

    /// For metrics: seconds until the present authority expires, and how many nodes have to renew.
    pub async fn authority_counts(&self) -> Result<(u64, u64), Error> {
        let detail = self.authority_detail().await?;
        let expires = detail.set.present.certificate().time_expires();
        Ok((expires.since(self.now()).as_secs(), detail.waiting.len() as u64))
    }

    async fn authority_turn(&self, cx: &Cx, turn: Turn<'_>) -> Result<AuthorityDetail, Error> {
        let turn = &turn;
        self.store
            .tx("authority_turn", |tx| {
                Box::pin(async move {
                    let row = tx.setting_get(AUTHORITY).await?.unwrap_or_default();
                    let mut stored: StoredAuthority =
                        serde_json::from_slice(&row).map_err(Error::internal)?;
                    let before = state(&stored)?;
                    let object = object(&stored)?;
                    if self.claim(tx, cx, &object).await?.is_some() {
                        return Ok(());
                    }
                    let turned = self.authority_turned(tx, &mut stored, turn).await?;
                    let bytes = serde_json::to_vec(&stored).map_err(Error::internal)?;
                    tx.setting_replace(AUTHORITY, &bytes).await?;
                    let object = self::object(&stored)?;
                    let event = self
                        .event(turned.kind, None, &object, cx.actor(), turned.message)
                        .with_payload(turned.payload);
                    let audit = self
                        .audit(cx, turned.action, &object, None, turned.detail)
                        .with_states(Some(&before), Some(&state(&stored)?));
                    Ok::<_, Error>(tx.journal_append(&[event], &[audit]).await?)
                })
            })
            .await?;
        self.feed.ring();
        self.authorities_reload().await?;
        self.authority_detail().await
    }

    async fn authority_turned(
        &self,
        tx: &mut Tx<'_>,
        stored: &mut StoredAuthority,
        turn: &Turn<'_>,
    ) -> Result<Turned, Error> {
        let now = self.now();
        let is = fingerprint(&stored.certificate_pem)?;
        match turn {
            Turn::Rotate(fresh) => {
                if stored.former.is_some() {
                    return Err(Error::conflict(
                        "the authority is being replaced already",
                        "`hostler ca show` says how far it is; end it with `hostler ca finish` or `hostler ca abort`",
                    ));
                }
                let next = fingerprint(&fresh.certificate_pem)?;
                stored.former = Some(stored.present());
                stored.set_present((*fresh).clone());
                stored.time_issues = Some(now.plus(SPREADING));
                Ok(Turned {
                    kind: EventKind::AuthorityRotationBegun,
                    action: "authority.rotate",
                    message: format!("{next} takes the place of {is}"),
                    detail: json!({ "present": next, "former": is }),
                    payload: AuthorityPayload { present: Some(next), former: Some(is) },
                })
            }
            Turn::Abort => {
                let former = stored.former.take().ok_or_else(nothing_going_on)?;
                let back = fingerprint(&former.certificate_pem)?;
                stored.former = Some(stored.present());
                stored.set_present(former);
                stored.time_issues = Some(now);
                Ok(Turned {
                    kind: EventKind::AuthorityRotationAborted,
                    action: "authority.abort",
                    message: format!("back to {back}; {is} goes"),
                    detail: json!({ "present": back, "former": is }),
                    payload: AuthorityPayload { present: Some(back), former: Some(is) },
                })
            }
            Turn::Finish { is_forced } => {
                let former = stored.former.as_ref().ok_or_else(nothing_going_on)?;
                let gone = fingerprint(&former.certificate_pem)?;
                if let Some(from) = stored.time_issues.filter(|from| now < *from) {
                    return Err(Error::conflict(
                        "not every server may have heard of the new authority yet",
                        "finish when `hostler ca show` says that nodes renew, in a few seconds",
                    )
                    .with_retry_after(from.since(now).as_secs() + 1));
                }
                let waiting = tx.nodes_of_other_authorities(&is, now).await?;
                let names = names(&waiting);
                if !waiting.is_empty() && !is_forced {
                    return Err(Error::conflict(
                        format!(
                            "{} would be cut off, with certificates of the authority that goes: {names}",
                            count(waiting.len())
                        ),
                        "wait until they have connected and renewed (`hostler ca show`), remove them with `hostler node rm`, or finish with --force and let them join again with a token",
                    ));
                }
                let pem = former.certificate_pem.clone();
                stored.former = None;
                stored.time_issues = None;
                stored.retired.insert(0, pem);
                let cut = match waiting.is_empty() {
                    true => String::new(),
                    false => format!("; cut off: {names}"),
                };
                Ok(Turned {
                    kind: EventKind::AuthorityRotated,
                    action: "authority.finish",
                    message: format!("{is} in the place of {gone}{cut}"),
                    detail: json!({ "present": is, "retired": gone, "cutOff": names }),
                    payload: AuthorityPayload { present: Some(is), former: Some(gone) },
                })
            }
        }
    }

    async fn authority_detail(&self) -> Result<AuthorityDetail, Error> {
        let set = self.authorities();
        let now = self.now();
        let phase = phase(&set, now);
        let waiting = match phase {
            AuthorityPhase::Stable => Vec::new(),
            AuthorityPhase::Spreading | AuthorityPhase::Renewing => {
                let present = set.present.fingerprint().to_string();
                self.store.read().await?.nodes_of_other_authorities(&present, now).await?
            }
        };
        Ok(AuthorityDetail { set, phase, waiting })
    }

    /// Takes over what the row says; says whether that is something else than before. Nodes that are
    /// connected here with certificates that count no more are sent away.
    pub async fn authorities_reload(&self) -> Result<bool, Error> {
        let row = self.store.read().await?.setting_get(AUTHORITY).await?;
        let before = self.authorities();
        let Some(row) = row.filter(|row| !before.is_of_row(row)) else { return Ok(false) };
        let set = AuthoritySet::open(row, &self.keyring).map_err(|error| {
            Error::unavailable("the authorities in the database cannot be read", error)
        })?;
        let present = set.present.fingerprint().to_string();
        let is_dropped = before.former.is_some() && set.former.is_none();
        tracing::info!(authorities = ?set, "authorities changed");
        self.authorities.replace(set);
        if is_dropped {
            let mut read = self.store.read().await?;
            for (node, _) in read.nodes_of_other_authorities(&present, self.now()).await? {
                if let Some(link) = self.links.get(node) {
                    link.close(DROPPED, false);
                }
            }
        }
        Ok(true)
    }

    /// Whether the certificate is of an authority that is gone.
    pub(crate) fn is_dropped(&self, certificate: &NodeCertificate) -> bool {
        let set = self.authorities();
        certificate.authority.as_ref().is_some_and(|of| {
            set.retired.iter().any(|gone| gone.fingerprint().to_string() == *of)
                && !set.trusted().all().iter().any(|one| one.fingerprint().to_string() == *of)
        })
    }

    /// Whether a node that came with a certificate of this authority should fetch another now.
    pub fn node_should_renew(&self, authority: Option<&str>) -> bool {
        let set = self.authorities();
        phase(&set, self.now()) == AuthorityPhase::Renewing
            && authority != Some(set.present.fingerprint().to_string().as_str())
    }
}

pub(crate) fn phase(set: &AuthoritySet, now: Timestamp) -> AuthorityPhase {
    match (&set.former, set.time_issues) {
        (None, _) => AuthorityPhase::Stable,
        (Some(_), Some(from)) if now < from => AuthorityPhase::Spreading,
        (Some(_), _) => AuthorityPhase::Renewing,
    }
}

fn nothing_going_on() -> Error {
    Error::conflict(
        "the authority is not being replaced",
        "`hostler ca rotate` begins to replace it; `hostler ca show` says how it stands",
    )
}

fn fingerprint(pem: &str) -> Result<String, Error> {
    let authority = AuthorityCertificate::from_pem(pem).map_err(Error::internal)?;
    Ok(authority.fingerprint().to_string())
}

fn object(stored: &StoredAuthority) -> Result<ObjectRef, Error> {
    let id = fingerprint(&stored.certificate_pem)?;
    Ok(ObjectRef::new(ObjectKind::Authority, id, "authority"))
}

/// What audit entries have digests of: who is trusted, and nothing of the keys.
fn state(stored: &StoredAuthority) -> Result<Value, Error> {
    let former = stored.former.as_ref().map(|former| fingerprint(&former.certificate_pem));
    let retired = stored.retired.iter().map(|pem| fingerprint(pem));
    Ok(json!({
        "present": fingerprint(&stored.certificate_pem)?,
        "former": former.transpose()?,
        "retired": retired.collect::<Result<Vec<_>, _>>()?,
    }))
}

fn names(nodes: &[(NodeId, Name)]) -> String {
    let names: Vec<&str> = nodes.iter().map(|(_, name)| name.as_str()).collect();
    names.join(", ")
}

fn count(nodes: usize) -> String {
    match nodes {
        1 => "1 node".to_owned(),
        many => format!("{many} nodes"),
    }
}
