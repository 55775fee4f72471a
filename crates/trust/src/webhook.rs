//! Signatures of calls to others, so that they can tell ours from anybody's.
//!
//! What is signed is the time, a full stop and the body: `HMAC-SHA-256(secret, "1760000000.{body}")`. The
//! header says `t=1760000000,v1=<hex>`. Who checks it computes the same over what was received, compares in
//! constant time, and refuses what is older than a few minutes: then a call cannot be played again.

use ring::hmac;

/// The header that carries the signature.
pub const HEADER: &str = "hostler-signature";

/// The value of the header for a body sent at this time.
pub fn signature(secret: &[u8], unix_seconds: i64, body: &[u8]) -> String {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret));
    context.update(unix_seconds.to_string().as_bytes());
    context.update(b".");
    context.update(body);
    let hex: String = context.sign().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={unix_seconds},v1={hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_everybody_else() {
        // printf '1760000000.{"a":1}' | openssl dgst -sha256 -hmac key
        let expected =
            "t=1760000000,v1=ea2dd8b79cfdfdd125316a2c1461695044ab2ddf62592b0eee2b53cd466ca512";
        assert_eq!(signature(b"key", 1_760_000_000, br#"{"a":1}"#), expected);
        assert_ne!(signature(b"key", 1_760_000_001, br#"{"a":1}"#), expected);
        assert_ne!(signature(b"kez", 1_760_000_000, br#"{"a":1}"#), expected);
    }
}
