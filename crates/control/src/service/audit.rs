//! The audit record: searching it, following its chain, signing it, and who else is told.

use hostler_model::{
    Actor, AuditAnchor, AuditAnchorPayload, AuditEntry, AuditVerdict, Error, EventKind, Limit,
    ObjectKind, ObjectRef, Page, Timestamp,
};
use hostler_store::{AuditFilter, Tx};
use serde_json::json;

use crate::{AuditQuery, AuditSinkDetail, Control, Cx, Stateless};

/// Anchors that are looked at in one go.
const ANCHORS: u64 = 500;

impl Control {
    /// Newest first.
    pub async fn audit_list(
        &self,
        _: &Cx,
        query: &AuditQuery,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<AuditEntry>, Error> {
        let filter = AuditFilter {
            actor: query.actor.as_deref(),
            action: query.action.as_deref(),
            object_kind: query.object_kind,
            object: query.object.as_deref(),
            project: query.project,
            source: query.source.as_deref(),
            since: query.since,
            until: query.until,
            text: query.text.as_deref(),
        };
        Ok(self.store.read().await?.audit_list(filter, before, limit).await?)
    }

    /// Oldest first and without a gap: every entry after number `after`, from the first that is not
    /// before `since`. The page's key is the number to go on after.
    pub async fn audit_export(
        &self,
        _: &Cx,
        since: Option<Timestamp>,
        after: Option<u64>,
        limit: Limit,
    ) -> Result<Page<AuditEntry>, Error> {
        let mut read = self.store.read().await?;
        let after = match (after, since) {
            (Some(after), _) => after,
            (None, Some(since)) => read.audit_first_since(since).await?.saturating_sub(1),
            (None, None) => 0,
        };
        let entries = read.audit_after(after, u64::from(limit.get()) + 1).await?;
        Ok(Page::from_rows(entries, limit, |entry| entry.sequence.to_string()))
    }

    /// Recomputes the chain, and holds every anchor against it.
    pub async fn audit_verify(&self, _: &Cx) -> Result<AuditVerdict, Error> {
        let mut read = self.store.read().await?;
        let verdict = read.audit_verify().await?;
        if !verdict.is_intact {
            return Ok(verdict);
        }
        let mut anchors = 0;
        let mut after = 0;
        loop {
            let held = read.audit_anchors_held(after, ANCHORS).await?;
            for (anchor, hash) in &held {
                if let Some(problem) = self.anchor_problem(anchor, hash.as_deref()) {
                    return Ok(AuditVerdict {
                        is_intact: false,
                        first_bad: Some(anchor.sequence),
                        problem: Some(problem),
                        anchors,
                        ..verdict
                    });
                }
                anchors += 1;
                after = anchor.sequence;
            }
            if (held.len() as u64) < ANCHORS {
                return Ok(AuditVerdict { anchors, ..verdict });
            }
        }
    }

    fn anchor_problem(&self, anchor: &AuditAnchor, hash: Option<&[u8]>) -> Option<String> {
        let signed = format!("the anchor that was signed for it at {}", anchor.time);
        let Some(hash) = hash else {
            return Some(format!("it is missing, but {signed} is there"));
        };
        let authorities = self.authorities();
        let Some(authority) = authorities.find(&anchor.authority) else {
            return Some(format!("{signed} is of another authority, {}", anchor.authority));
        };
        if !authority.has_signed(AuditAnchor::PURPOSE, &anchor.signed(), &anchor.signature) {
            return Some(format!("{signed} has a signature that is not the authority's"));
        }
        (hash != anchor.hash)
            .then(|| format!("{signed} says another hash: the chain was written anew after that"))
    }

    pub async fn audit_anchor_list(
        &self,
        _: &Cx,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<AuditAnchor>, Error> {
        Ok(self.store.read().await?.audit_anchor_list(before, limit).await?)
    }

    /// Signs the chain as it is now, this request's own entry included.
    pub async fn audit_anchor_create(&self, cx: &Cx) -> Result<AuditAnchor, Error> {
        let object = ObjectRef::new(ObjectKind::AuditAnchor, &cx.request.request_id, "now");
        let audit = self.audit(cx, Stateless::AuditAnchor, &object, None, json!({}));
        let audit = &audit;
        let anchor = self
            .store
            .tx("audit_anchor", |tx| {
                Box::pin(async move {
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    self.audit_anchor_append(tx, cx.actor()).await
                })
            })
            .await?;
        self.feed.ring();
        anchor.ok_or_else(|| {
            Error::internal(std::io::Error::other("an entry that is new has an anchor already"))
        })
    }

    /// Anchors the newest entry, unless it is; comes last in a transaction. An anchor is an event and
    /// no audit entry: it would need an anchor of its own.
    pub(crate) async fn audit_anchor_append(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
    ) -> Result<Option<AuditAnchor>, Error> {
        let (sequence, hash) = tx.audit_head().await?;
        if sequence == 0 {
            return Ok(None);
        }
        let time = self.now();
        let statement = AuditAnchor::statement(sequence, &hash, time);
        let authority = self.authority();
        let signature =
            authority.sign_statement(AuditAnchor::PURPOSE, &statement).map_err(Error::internal)?;
        let authority = authority.fingerprint().to_string();
        let anchor = AuditAnchor { sequence, hash, time, authority, signature };
        if !tx.audit_anchor_insert(&anchor).await? {
            return Ok(None);
        }
        let object = ObjectRef::new(ObjectKind::AuditAnchor, sequence, sequence);
        let words = format!("entry {sequence} has the hash {}", hex(&anchor.hash));
        let hash = Some(hex(&anchor.hash));
        let event = self
            .event(EventKind::AuditAnchored, None, &object, actor, words)
            .with_payload(AuditAnchorPayload { sequence: Some(sequence), hash });
        tx.journal_append(&[event], &[]).await?;
        Ok(Some(anchor))
    }

    /// Every configured sink, and how far it has been told.
    pub async fn audit_sinks(&self) -> Result<Vec<AuditSinkDetail>, Error> {
        let mut read = self.store.read().await?;
        let (head, _) = read.audit_head().await?;
        let known = read.audit_sink_list().await?;
        let details = self.config.audit.sinks.iter().map(|sink| {
            let state = known.iter().find(|state| state.name == sink.name);
            let sequence = state.map_or(0, |state| state.sequence);
            AuditSinkDetail {
                name: sink.name.clone(),
                to: sink.to.shown(),
                sequence,
                lag: head.saturating_sub(sequence),
                problem: state.and_then(|state| state.problem.clone()),
                time_modified: state.map(|state| state.time_modified),
            }
        });
        Ok(details.collect())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
