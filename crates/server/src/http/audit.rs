//! The audit record.

use hostler_api::Listing;
use hostler_api::record::{
    AuditAnchorCreate, AuditAnchorList, AuditAnchorView, AuditExport, AuditList, AuditSinkList,
    AuditSinkView, AuditVerify, AuditView,
};
use hostler_control::{AuditQuery, AuditSinkDetail};
use hostler_model::{AuditVerdict, Diagnostic, Error};

use super::error::malformed;
use super::gather::Gather;
use super::{Answer, App, Call, page};

/// The longest text that can be searched for.
const TEXT_MAX: usize = 200;

pub(crate) async fn list(
    app: App,
    call: Call<AuditList>,
) -> Result<Answer<Listing<AuditView>>, Error> {
    let mut list = Gather::numbered::<AuditList>(&call.query)?;
    let asked = &call.query;
    if asked.text.as_ref().is_some_and(|text| text.chars().count() > TEXT_MAX) {
        let detail = format!("text has at most {TEXT_MAX} characters");
        let mut error = malformed(detail.clone(), "search for a part of it");
        error.errors = vec![Diagnostic::new("/query/text", detail)];
        return Err(error);
    }
    let project = match &asked.project {
        Some(given) => Some(app.control().project_resolve(given).await?.id),
        None => None,
    };
    let query = AuditQuery {
        actor: asked.actor.clone(),
        action: asked.action.clone(),
        object_kind: asked.kind,
        object: asked.object.clone(),
        project,
        source: asked.source.clone(),
        since: asked.since,
        until: asked.until,
        text: asked.text.clone(),
    };
    while let Some(ask) = list.ask() {
        let entries = app.control().audit_list(&call.cx, &query, ask.number(), ask.limit).await?;
        list.take(entries, AuditView::from)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn export(
    app: App,
    call: Call<AuditExport>,
) -> Result<Answer<Listing<AuditView>>, Error> {
    let after = page::before(call.query.cursor.as_deref())?.or(call.query.after);
    let limit = page::limit(call.query.limit)?;
    let entries = app.control().audit_export(&call.cx, call.query.since, after, limit).await?;
    Ok(Answer::new(page::listing(entries, AuditView::from)))
}

pub(crate) async fn verify(
    app: App,
    call: Call<AuditVerify>,
) -> Result<Answer<AuditVerdict>, Error> {
    Ok(Answer::new(app.control().audit_verify(&call.cx).await?))
}

pub(crate) async fn anchors(
    app: App,
    call: Call<AuditAnchorList>,
) -> Result<Answer<Listing<AuditAnchorView>>, Error> {
    let mut list = Gather::numbered::<AuditAnchorList>(&call.query)?;
    while let Some(ask) = list.ask() {
        let anchors = app.control().audit_anchor_list(&call.cx, ask.number(), ask.limit).await?;
        list.take(anchors, AuditAnchorView::from)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn anchor(
    app: App,
    call: Call<AuditAnchorCreate>,
) -> Result<Answer<AuditAnchorView>, Error> {
    Ok(Answer::new(app.control().audit_anchor_create(&call.cx).await?.into()))
}

pub(crate) async fn sinks(
    app: App,
    _: Call<AuditSinkList>,
) -> Result<Answer<Listing<AuditSinkView>>, Error> {
    Ok(Answer::new(page::whole(app.control().audit_sinks().await?, sink)))
}

fn sink(sink: AuditSinkDetail) -> AuditSinkView {
    AuditSinkView {
        name: sink.name,
        to: sink.to,
        sequence: sink.sequence,
        lag: sink.lag,
        problem: sink.problem,
        time_modified: sink.time_modified,
    }
}
