//! Asking the authoriser.

use hostler_api::Endpoint;
use hostler_api::access::{
    AccessCheck, AccessCheckView, AccessExplain, AccessExplanation, AccessGrantView, AccessQuery,
};
use hostler_control::{AccessDetail, AccessGrant};
use hostler_model::Error;

use super::{Answer, App, Call};

pub(crate) async fn check(
    app: App,
    call: Call<AccessCheck>,
) -> Result<Answer<AccessCheckView>, Error> {
    let detail = ask(&app, &call).await?;
    Ok(Answer::new(AccessCheckView { is_allowed: detail.is_allowed, reason: detail.reason }))
}

pub(crate) async fn explain(
    app: App,
    call: Call<AccessExplain>,
) -> Result<Answer<AccessExplanation>, Error> {
    let detail = ask(&app, &call).await?;
    let grant = |grant: AccessGrant| AccessGrantView {
        role: grant.role,
        group: grant.group,
        project: grant.project,
    };
    Ok(Answer::new(AccessExplanation {
        is_allowed: detail.is_allowed,
        reason: detail.reason,
        who: detail.who,
        permission: detail.permission,
        meaning: detail.permission.meaning().to_owned(),
        project: detail.project,
        grants: detail.grants.into_iter().map(grant).collect(),
        limit: detail.limit,
        needed_role: detail.permission.least(),
        needed: detail.needed,
    }))
}

async fn ask<E: Endpoint<Query = AccessQuery>>(
    app: &App,
    call: &Call<E>,
) -> Result<AccessDetail, Error> {
    let AccessQuery { permission, project, who } = &call.query;
    app.control().access_explain(&call.cx, *permission, project.as_deref(), who.as_deref()).await
}
