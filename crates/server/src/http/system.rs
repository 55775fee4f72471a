//! The installation itself.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use hostler_api::Listing;
use hostler_api::system::{
    Diagnose, DiagnosisView, FigureSeriesView, HealthView, Livez, Metrics, MetricsHistory,
    MetricsHistoryView, MetricsNodes, MetricsWorkloads, OpenApi, Readyz, ReconcilerList,
    ReconcilerView, ServerList, ServerView, Version, VersionView,
};
use hostler_base::chain;
use hostler_model::{Diagnostic, Error, Figure, Severity};
use hostler_store::Store;
use tracing::warn;

use super::{Answer, App, Call, PublicCall, page, view};
use crate::metrics::{MetricPage, Sample, TransactionSample};

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
    page_answer(&app, MetricPage::Server).await
}

pub(crate) async fn metrics_nodes(
    app: App,
    _: Call<MetricsNodes>,
) -> Result<Answer<String>, Error> {
    page_answer(&app, MetricPage::Nodes).await
}

pub(crate) async fn metrics_workloads(
    app: App,
    _: Call<MetricsWorkloads>,
) -> Result<Answer<String>, Error> {
    page_answer(&app, MetricPage::Workloads).await
}

async fn page_answer(app: &App, page: MetricPage) -> Result<Answer<String>, Error> {
    Ok(Answer::new(metrics_page(app, page).await?))
}

async fn metrics_page(app: &App, page: MetricPage) -> Result<String, Error> {
    match page {
        MetricPage::Server => scrape(app).await,
        MetricPage::Nodes => Ok(crate::metrics::nodes(&app.control().fleet_nodes().await?)),
        MetricPage::Workloads => {
            Ok(crate::metrics::workloads(&app.control().fleet_services().await?))
        }
    }
}

/// Figures over time since an hour ago, unless somebody asks for another time.
const HISTORY: Duration = Duration::from_hours(1);

pub(crate) async fn metrics_history(
    app: App,
    call: Call<MetricsHistory>,
) -> Result<Answer<MetricsHistoryView>, Error> {
    let figures = match &call.query.series {
        Some(names) => named(names)?,
        None => Figure::ALL.to_vec(),
    };
    let since = call.query.since.unwrap_or_else(|| app.control().clock().now().minus(HISTORY));
    let samples = app.metrics().figures().since(since);
    let series = figures.into_iter().map(|figure| FigureSeriesView {
        name: figure,
        unit: figure.unit(),
        values: samples.iter().map(|sample| sample.get(figure)).collect(),
    });
    Ok(Answer::new(MetricsHistoryView {
        server_id: app.control().server_id(),
        times: samples.iter().map(|sample| sample.time).collect(),
        seconds: samples.iter().map(|sample| sample.seconds).collect(),
        series: series.collect(),
    }))
}

/// Each figure that is named, once.
fn named(names: &str) -> Result<Vec<Figure>, Error> {
    let mut figures = Vec::new();
    let mut problems = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match name.parse::<Figure>() {
            Ok(figure) if !figures.contains(&figure) => figures.push(figure),
            Ok(_) => {}
            Err(unknown) => problems.push(Diagnostic::new("/series", unknown.to_string())),
        }
    }
    if problems.is_empty() { Ok(figures) } else { Err(Error::invalid(problems)) }
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
        node_backups: control
            .node_backup_counts()
            .await?
            .into_iter()
            .map(|counted| (counted.state, counted.count))
            .collect(),
        tasks: control.task_counts().await?,
        executions: control.execution_counts().await?,
        workloads: control.workload_counts().await?,
        placements: control.placement_counts().await?,
        sessions: control.sessions() as u64,
        events_head: control.event_head().await?,
        images_tidied: control.images_tidied(),
        logins: control.login_counts(),
        secrets: control.secret_counts(),
        locks: control.lock_counts(),
        state: control.state_counts(),
        approvals: control.approval_counts().await?,
        schedules: control.schedule_counts().await?,
        stacks: control.stack_counts().await?,
        watchers: control.watcher_counts().await?,
        hooks: (control.hook_counts(), control.hook_standing().await?),
        identities: control.identity_counts(),
        audit_sinks: control.audit_sinks().await?.into_iter().map(|s| (s.name, s.lag)).collect(),
        backup: {
            let schedule = control.backup_schedule().await?;
            (schedule.last_good.map(|good| good.time_created), schedule.is_overdue)
        },
        egress: control.config().egress.counts(),
        authority: control.authority_counts().await?,
        authority_ends: Some(control.authority().certificate().time_expires()),
        server_ends: app.metrics().server_ends(),
        queue: control.queue_counts(),
        is_audit_chain_ok: control.is_audit_chain_ok(),
    }))
}

/// The router of the separate metrics listener: the three pages, no credential.
pub fn metrics_router(app: App) -> Router {
    let envelope = app.envelope();
    let get = |page: MetricPage, name: &'static str| {
        let app = app.clone();
        axum::routing::get(move |request: axum::extract::Request| {
            let app = app.clone();
            async move {
                let trace = super::Trace::of(request.extensions());
                trace.name_endpoint(name);
                match metrics_page(&app, page).await {
                    Ok(text) => super::answer::typed(super::answer::OPEN_METRICS, Body::from(text)),
                    Err(error) => super::error::answer(&error, trace.request_id()),
                }
            }
        })
    };
    Router::new()
        .route(MetricPage::Server.path(), get(MetricPage::Server, "metrics"))
        .route(MetricPage::Nodes.path(), get(MetricPage::Nodes, "metrics_nodes"))
        .route(MetricPage::Workloads.path(), get(MetricPage::Workloads, "metrics_workloads"))
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

pub(crate) async fn diagnose(
    app: App,
    call: Call<Diagnose>,
) -> Result<Answer<DiagnosisView>, Error> {
    let findings = app.control().diagnose(&call.cx).await?;
    let worst = findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Ok);
    Ok(Answer::new(DiagnosisView { worst, findings }))
}

pub(crate) async fn reconcilers(
    app: App,
    _: Call<ReconcilerList>,
) -> Result<Answer<Listing<ReconcilerView>>, Error> {
    Ok(Answer::new(page::whole(app.control().reconcilers(), view::reconciler)))
}
