//! Batches of entries to a collector over HTTP: one line of JSON each, in one request.

use std::path::Path;

use hostler_egress::{Egress, Request};

use super::{DELIVERY_MAX, Parcel, SinkError};

/// What a collector may say; nobody reads it.
const ANSWER_MAX: usize = 64 << 10;

pub(super) async fn deliver(
    egress: &Egress,
    url: &str,
    token_file: Option<&Path>,
    parcels: &[Parcel],
) -> Result<(), SinkError> {
    let mut body = String::new();
    for parcel in parcels {
        body.push_str(&parcel.line());
        body.push('\n');
    }
    let mut request = Request::post(url)?
        .body(::http::HeaderValue::from_static("application/x-ndjson"), body)
        .time_max(DELIVERY_MAX)
        .answer_max(ANSWER_MAX);
    if let Some(path) = token_file {
        let token = tokio::fs::read_to_string(path)
            .await
            .map_err(|source| SinkError::Token { path: path.to_owned(), source })?;
        request = request.bearer(token.trim())?;
    }
    let answer = egress.send(request).await?;
    match answer.status.is_success() {
        true => Ok(()),
        false => Err(SinkError::Status(answer.status.as_u16())),
    }
}
