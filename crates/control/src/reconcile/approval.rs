//! Approvals: ends what nobody decided in time, and tells a webhook what happens to requests.
//!
//! The webhook is told of every event about approvals at least once and in order, beginning with those
//! after it was configured. How far it was told is kept in the database and goes forward when it has
//! answered with 2xx; who asks for an approval never waits for it. One that fails is left alone for a
//! growing while. What is sent says who wants what and where to look, and nothing that is secret.

use std::path::Path;
use std::time::Duration;

use hostler_base::backoff::Backoff;
use hostler_base::chain::chain;
use hostler_base::reconcile::{Pass, Reconciler};
use hostler_egress::Request;
use hostler_model::{Approval, ApprovalId, Error, Event, EventKind, Limit, ObjectKind};
use hostler_store::{Conn, EventFilter};
use serde::Serialize;
use serde_json::json;

use super::pass;
use crate::Control;
use crate::config::ApprovalWebhook;

/// How far the webhook was told.
const CURSOR: &str = "approval-webhook";
const DELIVERY_MAX: Duration = Duration::from_secs(10);
const ANSWER_MAX: usize = 64 << 10;
/// Longer than a delivery takes.
const LEASE: Duration = Duration::from_secs(30);
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(300);
const KINDS: &[EventKind] = &[
    EventKind::ApprovalRequested,
    EventKind::ApprovalApproved,
    EventKind::ApprovalDenied,
    EventKind::ApprovalExpired,
    EventKind::ApprovalUsed,
    EventKind::ApprovalWithdrawn,
    EventKind::ApprovalVoid,
    EventKind::ApprovalBreakGlass,
];

pub(super) struct ApprovalSweep {
    control: Control,
}

#[derive(Default, Serialize)]
pub(super) struct SweepReport {
    ended: usize,
}

impl ApprovalSweep {
    pub(super) fn new(control: Control) -> ApprovalSweep {
        ApprovalSweep { control }
    }
}

impl Reconciler for ApprovalSweep {
    const NAME: &'static str = "approval";
    const DESCRIPTION: &'static str = "ends approvals that nobody decided on, or used, in time";
    type Report = SweepReport;

    async fn reconcile(&mut self) -> Pass<SweepReport> {
        let swept = self.control.approval_sweep().await;
        pass(swept.map(|ended| Pass::done(SweepReport { ended }).again_if(ended > 0)))
    }
}

/// The loop that tells the webhook.
pub struct ApprovalNotice {
    control: Control,
    backoff: Backoff,
    until: Duration,
    /// Up to here there was nothing to tell.
    seen: u64,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct ApprovalNoticeReport {
    pub delivered: u64,
    pub is_failing: bool,
}

/// Why the webhook could not be told.
#[derive(Debug, thiserror::Error)]
enum NoticeError {
    #[error("it cannot be called")]
    Egress(#[from] hostler_egress::Error),
    #[error("its token cannot be read")]
    Token(#[source] std::io::Error),
    #[error("it answered with status {0}; see its own log")]
    Status(u16),
}

impl Control {
    pub fn approval_notice_reconciler(&self) -> ApprovalNotice {
        ApprovalNotice {
            control: self.clone(),
            backoff: Backoff::new(BACKOFF_MIN, BACKOFF_MAX, Duration::ZERO),
            until: Duration::ZERO,
            seen: 0,
        }
    }
}

impl Reconciler for ApprovalNotice {
    const NAME: &'static str = "approval_notice";
    const DESCRIPTION: &'static str = "tells the webhook what happens to approvals";
    type Report = ApprovalNoticeReport;

    async fn reconcile(&mut self) -> Pass<ApprovalNoticeReport> {
        pass(self.tell().await)
    }
}

impl ApprovalNotice {
    async fn tell(&mut self) -> Result<Pass<ApprovalNoticeReport>, Error> {
        let control = self.control.clone();
        let mut report = ApprovalNoticeReport::default();
        let Some(webhook) = &control.config.approvals.webhook else {
            return Ok(Pass::done(report));
        };
        if control.clock.instant() < self.until {
            report.is_failing = true;
            return Ok(Pass::done(report));
        }
        let (head, told) = {
            let mut read = control.store.read().await?;
            (read.event_bounds().await?.1, cursor(&mut read).await?)
        };
        let Some(told) = told else {
            advance(&control, head).await?;
            return Ok(Pass::done(report));
        };
        let after = told.max(self.seen);
        if after >= head || !held(&control).await? {
            return Ok(Pass::done(report));
        }
        let filter = EventFilter {
            kinds: KINDS,
            object_kinds: &[ObjectKind::Approval],
            ..EventFilter::default()
        };
        let limit = Limit::DEFAULT;
        let events = control.store.read().await?.event_list(filter, after, limit).await?;
        let is_full = events.len() >= limit.get() as usize;
        for event in &events {
            let approval = about(&control, event).await?;
            if let Err(error) = deliver(&control, webhook, event, approval.as_ref()).await {
                let problem = chain(&error).to_string();
                tracing::warn!(error = problem, "the approvals webhook cannot be told");
                self.until = control.clock.instant() + self.backoff.next_delay();
                report.is_failing = true;
                return Ok(Pass::done(report));
            }
            advance(&control, event.sequence).await?;
            self.seen = event.sequence;
            report.delivered += 1;
        }
        self.backoff.reset();
        if !is_full {
            self.seen = self.seen.max(head);
        }
        Ok(Pass::done(report).again_if(is_full))
    }
}

/// Where the webhook stands; `None` when it was never told of anything.
async fn cursor(read: &mut Conn) -> Result<Option<u64>, Error> {
    let bytes = read.setting_get(CURSOR).await?;
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok()))
}

/// Whether it is this server's turn.
async fn held(control: &Control) -> Result<bool, Error> {
    let now = control.now();
    control
        .store
        .tx("approval_notice_hold", |tx| {
            Box::pin(async move {
                let until = now.plus(LEASE);
                Ok::<_, Error>(tx.lease_acquire(CURSOR, control.server_id, now, until).await?)
            })
        })
        .await
}

/// Moves the cursor, never backwards.
async fn advance(control: &Control, sequence: u64) -> Result<(), Error> {
    control
        .store
        .tx("approval_notice_advance", |tx| {
            Box::pin(async move {
                if cursor(tx).await?.is_none_or(|told| told < sequence) {
                    tx.setting_replace(CURSOR, sequence.to_string().as_bytes()).await?;
                }
                Ok::<_, Error>(())
            })
        })
        .await
}

async fn about(control: &Control, event: &Event) -> Result<Option<Approval>, Error> {
    match event.event.object.id.parse::<ApprovalId>() {
        Ok(id) => Ok(control.store.read().await?.approval_get(id).await?),
        Err(_) => Ok(None),
    }
}

async fn deliver(
    control: &Control,
    webhook: &ApprovalWebhook,
    event: &Event,
    approval: Option<&Approval>,
) -> Result<(), NoticeError> {
    let news = &event.event;
    let dashboard = control.config.approvals.dashboard.trim_end_matches('/');
    let body = json!({
        "kind": news.kind,
        "sequence": event.sequence,
        "time": news.time,
        "actor": news.actor,
        "project": news.project_id,
        "message": news.message,
        "severity": if news.kind == EventKind::ApprovalBreakGlass { "warning" } else { "info" },
        "approval": approval.map(|approval| json!({
            "id": approval.id,
            "verb": approval.verb,
            "name": approval.name,
            "digest": approval.digest,
            "state": approval.state,
            "timeExpires": approval.time_expires,
            "link": format!("{dashboard}/#/approvals/{}", approval.id),
        })),
    });
    let mut request = Request::post(&webhook.url)?
        .body(::http::HeaderValue::from_static("application/json"), body.to_string())
        .time_max(DELIVERY_MAX)
        .answer_max(ANSWER_MAX);
    if let Some(path) = &webhook.token_file {
        request = request.bearer(token(path).await?.trim())?;
    }
    let answer = control.config.egress.send(request).await?;
    match answer.status.is_success() {
        true => Ok(()),
        false => Err(NoticeError::Status(answer.status.as_u16())),
    }
}

async fn token(path: &Path) -> Result<String, NoticeError> {
    tokio::fs::read_to_string(path).await.map_err(NoticeError::Token)
}
