//! Calls of addresses outside, through the one door that judges them.

use hostler_base::chain::chain;
use hostler_egress::Request;
use hostler_model::{ActionOutcome, Code, Error, HttpAction, HttpMethod, Project, SecretRef};
use hostler_trust::{SecretBytes, webhook};
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Method};
use serde_json::json;

use super::{ActionFailure, Order};
use crate::{Control, Cx, Stateless};

/// What is answered is thrown away; this is how much of it is waited for.
const ANSWER_MAX: usize = 1 << 20;
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

impl Control {
    pub(super) async fn action_http(
        &self,
        cx: &Cx,
        order: &Order<'_>,
        it: &HttpAction,
    ) -> Result<ActionOutcome, ActionFailure> {
        let request = self.action_request(cx, order, it).await?;
        let answer = self.config.egress.send(request).await.map_err(|error| {
            let is_passing = !error.is_refusal();
            let text = format!("the call failed: {}", chain(&error));
            let hint = "see whether the address answers, and what `egress` in the configuration of the servers allows";
            ActionFailure { error: Error::new(Code::Unavailable, text, hint), status: None, is_passing }
        })?;
        let status = answer.status.as_u16();
        if answer.status.is_success() {
            return Ok(ActionOutcome { object: None, status: Some(status) });
        }
        let text = format!("the call was answered with status {status}");
        let hint = "whoever was called knows why; its log may have the key of the call";
        Err(ActionFailure {
            error: Error::new(Code::Conflict, text, hint),
            status: Some(status),
            is_passing: answer.status.is_server_error() || matches!(status, 408 | 425 | 429),
        })
    }

    async fn action_request(
        &self,
        cx: &Cx,
        order: &Order<'_>,
        it: &HttpAction,
    ) -> Result<Request, Error> {
        let unusable =
            |error: hostler_egress::Error| Error::conflict(error.to_string(), "change it");
        let mut request = Request::new(method(it.method), &it.url)
            .map_err(unusable)?
            .redirects(0)
            .time_max(it.timeout.duration())
            .answer_max(ANSWER_MAX);
        if !it.body.is_empty() {
            let plain = HeaderValue::from_static("application/json");
            request = request.body(plain, it.body.clone());
        }
        for (name, value) in &it.headers {
            let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str()))
            else {
                return Err(Error::conflict(format!("`{name}` is no header"), "change it"));
            };
            if name != CONTENT_TYPE || !it.body.is_empty() {
                request = request.header(name, value);
            }
        }
        let key = HeaderValue::try_from(order.key.as_str()).map_err(Error::internal)?;
        request = request.header(KEY, key);
        if let Some(secret) = &it.bearer {
            let value = self.action_secret(cx, order.project, secret).await?;
            let token = std::str::from_utf8(value.expose()).map_err(|_| no_text(secret))?;
            request = request.bearer(token.trim()).map_err(unusable)?;
        }
        if let Some(secret) = &it.sign {
            let value = self.action_secret(cx, order.project, secret).await?;
            let now = self.now().micros().div_euclid(1_000_000);
            let signed = webhook::signature(value.expose(), now, it.body.as_bytes());
            let name = HeaderName::from_static(webhook::HEADER);
            request = request.secret_header(name, &signed).map_err(unusable)?;
        }
        Ok(request)
    }

    /// The same, as text.
    pub(crate) async fn action_secret_text(
        &self,
        cx: &Cx,
        project: &Project,
        reference: &SecretRef,
    ) -> Result<String, Error> {
        let value = self.action_secret(cx, project, reference).await?;
        let text = std::str::from_utf8(value.expose()).map_err(|_| no_text(reference))?;
        Ok(text.trim().to_owned())
    }

    /// The value of a secret that a call needs; recorded before it is used.
    async fn action_secret(
        &self,
        cx: &Cx,
        project: &Project,
        reference: &SecretRef,
    ) -> Result<SecretBytes, Error> {
        let (secret, fetched) = self.secret_value(project, reference).await?;
        let object = crate::service::secret_object(&secret);
        let detail = json!({ "version": fetched.version, "for": cx.request.source });
        let audit = self.audit(cx, Stateless::SecretDeliver, &object, Some(project.id), detail);
        let audit = &audit;
        self.store
            .tx("action_secret", |tx| {
                Box::pin(async move {
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        Ok(fetched.value)
    }
}

const fn method(method: HttpMethod) -> Method {
    match method {
        HttpMethod::Delete => Method::DELETE,
        HttpMethod::Get => Method::GET,
        HttpMethod::Head => Method::HEAD,
        HttpMethod::Patch => Method::PATCH,
        HttpMethod::Post => Method::POST,
        HttpMethod::Put => Method::PUT,
    }
}

fn no_text(secret: &SecretRef) -> Error {
    Error::conflict(
        format!("the secret `{secret}` is no text and cannot be a bearer token"),
        "set it to the token itself",
    )
}
