//! Secrets in addresses are refused.
//!
//! An address ends up in logs, histories and referrers, so a token in one is not a secret any more. Such
//! a request is not carried out, whatever it asks for and whether or not it also comes with a proper
//! credential: the answer says to revoke the token. Where it is a live one, an event and an audit entry
//! say so too. Looking it up draws from the budget of logins, so that guessing is no faster this way.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hostler_control::RequestMeta;
use hostler_trust::SecretToken;
use http::Uri;

use super::App;
use super::admit::Peer;
use super::envelope::Trace;
use super::error::{self, malformed};
use super::gate::Gate as _;
use super::limit::Public;

/// How every secret of ours begins.
const PREFIX: &str = "hst_";
/// Longer than any of them.
const LENGTH_MAX: usize = 80;

pub(crate) async fn refuse(State(app): State<App>, request: Request, next: Next) -> Response {
    let Some(found) = found(request.uri()) else {
        return next.run(request).await;
    };
    let trace = Trace::of(request.extensions());
    trace.name_endpoint("token_in_url");
    let peer = request.extensions().get::<Peer>().map(|Peer(address)| address.ip().to_canonical());
    let meta = RequestMeta {
        request_id: trace.request_id().to_owned(),
        trace: None,
        source: peer.map(|ip| ip.to_string()).unwrap_or_default(),
        user_agent: String::new(),
        idempotency: None,
        consent: None,
    };
    let told = async {
        app.limits().public(Public::Login, peer)?;
        app.control().token_exposed(&meta, &found).await
    };
    let refused = match told.await {
        Ok(()) => malformed(
            "the address of the request contains a token, which is not a secret any more",
            "revoke it with `hostler token rm`, make a new one, and send that in the header `Authorization: Bearer`",
        ),
        Err(error) => error,
    };
    error::answer(&refused, trace.request_id())
}

/// The first well-formed secret in a path or query, percent-encoded or not.
pub(super) fn found(uri: &Uri) -> Option<SecretToken> {
    let raw = uri.path_and_query().map(http::uri::PathAndQuery::as_str).unwrap_or_default();
    if !raw.contains(PREFIX) && !raw.contains('%') {
        return None;
    }
    let text = decoded(raw);
    text.match_indices(PREFIX).find_map(|(at, _)| {
        let rest = &text[at..];
        let end = rest
            .find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_".contains(letter))
            .unwrap_or(rest.len());
        rest[..end.min(LENGTH_MAX)].parse().ok()
    })
}

fn decoded(raw: &str) -> String {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let hex = tail.get(..2).filter(|_| byte == b'%').and_then(|d| std::str::from_utf8(d).ok());
        match hex.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(value) => {
                bytes.push(value);
                rest = &tail[2..];
            }
            None => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_trust::TokenKind;

    #[test]
    fn tokens_are_found_wherever_they_are() {
        let token = SecretToken::generate(TokenKind::Personal);
        let secret = token.expose();
        let encoded: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
        for address in [
            format!("/api/v1/nodes?token={secret}"),
            format!("/api/v1/nodes?limit=1&access_token={secret}&x=y"),
            format!("/api/v1/nodes?q=Bearer%20{secret}"),
            format!("/api/v1/nodes?{encoded}"),
            format!("/api/v1/{secret}/x"),
            format!("/?hst_pat_broken&then={secret}"),
        ] {
            assert_eq!(found(&address.parse().unwrap()).as_ref(), Some(&token), "{address}");
        }
        let damaged = &secret[..secret.len() - 1];
        for address in ["/", "/api/v1/nodes?limit=1", "/x?hst_", "/x?a=hst_pat_%zz", "/%"] {
            assert_eq!(found(&address.parse().unwrap()), None, "{address}");
        }
        assert_eq!(found(&format!("/x?{damaged}").parse().unwrap()), None);
    }
}
