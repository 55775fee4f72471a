//! The certificate authority.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hostler_api::authority::{
    AUTHORITIES_HEADER, AuthorityAbort, AuthorityCertificateView, AuthorityFinish,
    AuthorityNodeView, AuthorityRotate, AuthorityShow, AuthorityTrusted, AuthorityTrustedView,
    AuthorityView,
};
use hostler_control::AuthorityDetail;
use hostler_model::Error;
use hostler_trust::AuthorityCertificate;
use http::{HeaderName, HeaderValue};

use super::{Answer, App, Call, PublicCall};

pub(crate) async fn trusted(
    app: App,
    _: PublicCall<AuthorityTrusted>,
) -> Result<Answer<AuthorityTrustedView>, Error> {
    let certificates = app.control().authorities().trusted().pem();
    Ok(Answer::new(AuthorityTrustedView { certificates }))
}

pub(crate) async fn show(
    app: App,
    call: Call<AuthorityShow>,
) -> Result<Answer<AuthorityView>, Error> {
    Ok(Answer::new(view(app.control().authority_show(&call.cx).await?)))
}

pub(crate) async fn rotate(
    app: App,
    call: Call<AuthorityRotate>,
) -> Result<Answer<AuthorityView>, Error> {
    Ok(Answer::new(view(app.control().authority_rotate(&call.cx).await?)))
}

pub(crate) async fn abort(
    app: App,
    call: Call<AuthorityAbort>,
) -> Result<Answer<AuthorityView>, Error> {
    Ok(Answer::new(view(app.control().authority_abort(&call.cx).await?)))
}

pub(crate) async fn finish(
    app: App,
    call: Call<AuthorityFinish>,
) -> Result<Answer<AuthorityView>, Error> {
    let is_forced = call.body.force;
    Ok(Answer::new(view(app.control().authority_finish(&call.cx, is_forced).await?)))
}

/// Says with every answer which authorities are trusted.
pub(super) async fn tell(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if let Ok(mark) = HeaderValue::from_str(app.control().authorities().mark()) {
        response.headers_mut().insert(HeaderName::from_static(AUTHORITIES_HEADER), mark);
    }
    response
}

fn view(detail: AuthorityDetail) -> AuthorityView {
    let set = &detail.set;
    AuthorityView {
        phase: detail.phase,
        present: certificate(set.present.certificate()),
        former: set.former.as_ref().map(|former| certificate(former.certificate())),
        time_issues: set.time_issues,
        waiting: detail
            .waiting
            .into_iter()
            .map(|(id, name)| AuthorityNodeView { id, name })
            .collect(),
        retired: set.retired.iter().map(certificate).collect(),
    }
}

fn certificate(authority: &AuthorityCertificate) -> AuthorityCertificateView {
    AuthorityCertificateView {
        fingerprint: authority.fingerprint().to_string(),
        time_expires: authority.time_expires(),
        certificate: authority.pem(),
    }
}
