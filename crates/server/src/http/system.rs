//! The installation itself.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use hostler_api::Listing;
use hostler_api::system::{
    HealthView, Livez, Metrics, OpenApi, Readyz, ReconcilerList, ReconcilerView, ServerList,
    ServerView, Version, VersionView,
};
use hostler_base::chain;
use hostler_model::Error;
use hostler_store::Store;
use tracing::warn;

use super::{Answer, App, Call, PublicCall, page, view};
use crate::metrics::{Sample, TransactionSample};

pub(crate) async fn livez(_: App, _: PublicCall<Livez>) -> Result<Answer<HealthView>, Error> {
    Ok(Answer::new(HealthView { status: "ok".to_owned(), checks: BTreeMap::new() }))
}

pub(crate) async fn readyz(app: App, _: PublicCall<Readyz>) -> Result<Answer<HealthView>, Error> {
    let store = app.control().store();
    let database = match store.ping().await {
        Ok(()) => "ok",
        Err(error) => {
            warn!(error = %chain(&error), "the database does not answer");
            "does not answer"
        }
    };
    let schema = match store.schema_version().await {
        Ok(version) if version == Store::schema_known() => "ok",
        Ok(_) => "not the version of this server",
        Err(_) => "unknown",
    };
    let shutdown = match app.is_stopping() {
        true => "this server is stopping",
        false => "ok",
    };
    let checks = [("database", database), ("schema", schema), ("shutdown", shutdown)];
    let bad = checks.iter().find(|(_, state)| *state != "ok");
    let status = bad.map_or_else(|| "ok".to_owned(), |(name, state)| format!("{name}: {state}"));
    let health = HealthView {
        status,
        checks: checks.map(|(name, state)| (name.to_owned(), state.to_owned())).into(),
    };
    Ok(match bad {
        None => Answer::new(health),
        Some(_) => Answer::not_ready(health),
    })
}

pub(crate) async fn version(
    app: App,
    _: PublicCall<Version>,
) -> Result<Answer<VersionView>, Error> {
    Ok(Answer::new(VersionView {
        version: app.version().to_owned(),
        api_version: "v1".to_owned(),
        server_id: app.control().server_id(),
        needs_setup: app.control().needs_setup().await?,
    }))
}

pub(crate) async fn openapi(
    _: App,
    _: PublicCall<OpenApi>,
) -> Result<Answer<serde_json::Map<String, serde_json::Value>>, Error> {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| hostler_api::openapi::document().to_string().into());
    Ok(Answer::stream("application/json", Body::from(document.clone())))
}

pub(crate) async fn metrics(app: App, _: Call<Metrics>) -> Result<Answer<String>, Error> {
    scrape(&app).await.map(Answer::new)
}

/// Everything measured, as text.
async fn scrape(app: &App) -> Result<String, Error> {
    let control = app.control();
    let stats = control.store().stats();
    let transactions = stats.transactions.into_iter().map(|tx| TransactionSample {
        name: tx.name,
        attempts: tx.attempts,
        retries: tx.retries,
        conflicts: tx.conflicts,
    });
    Ok(app.metrics().render(&Sample {
        transactions: transactions.collect(),
        commits: stats.commits,
        nodes: control.node_counts().await?.into_iter().collect(),
        tasks: control.task_counts().await?,
        executions: control.execution_counts().await?,
        workloads: control.workload_counts().await?,
        placements: control.placement_counts().await?,
        sessions: control.sessions() as u64,
        events_head: control.event_head().await?,
        images_tidied: control.images_tidied(),
        logins: control.login_counts(),
        secrets: control.secret_counts(),
        approvals: control.approval_counts().await?,
        identities: control.identity_counts(),
        audit_sinks: control.audit_sinks().await?.into_iter().map(|s| (s.name, s.lag)).collect(),
        egress: control.config().egress.counts(),
        authority: control.authority_counts().await?,
    }))
}

/// The router of the separate metrics listener: one path, no credential.
pub fn metrics_router(app: App) -> Router {
    let envelope = app.envelope();
    let get = axum::routing::get(move |request: axum::extract::Request| {
        let app = app.clone();
        async move {
            let trace = super::Trace::of(request.extensions());
            trace.name_endpoint("metrics");
            match scrape(&app).await {
                Ok(text) => super::answer::text(text),
                Err(error) => super::error::answer(&error, trace.request_id()),
            }
        }
    });
    Router::new()
        .route("/metrics", get)
        .layer(axum::middleware::from_fn_with_state(envelope, super::envelope::envelope))
}

pub(crate) async fn servers(
    app: App,
    call: Call<ServerList>,
) -> Result<Answer<Listing<ServerView>>, Error> {
    let servers = app.control().server_list(&call.cx).await?;
    let current = app.control().server_id();
    Ok(Answer::new(page::whole(servers, |server| view::server(server, current))))
}

pub(crate) async fn reconcilers(
    app: App,
    _: Call<ReconcilerList>,
) -> Result<Answer<Listing<ReconcilerView>>, Error> {
    Ok(Answer::new(page::whole(app.control().reconcilers(), view::reconciler)))
}
