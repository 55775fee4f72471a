//! Signatures of requests to object stores that speak S3: AWS Signature Version 4.
//!
//! What is signed is the method, the path, the headers that are named and the digest of the body, under a key that
//! is derived for the day, the region and the service. So a request that was listened to can be repeated for a few
//! minutes at most, and nothing in it can be changed.

use ring::{digest, hmac};

use crate::SecretString;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const SERVICE: &str = "s3";

/// Who signs, and where.
#[derive(Clone, Debug)]
pub struct Signer {
    pub access_key: String,
    pub secret_key: SecretString,
    pub region: String,
}

/// A request to be signed.
#[derive(Clone, Copy, Debug)]
pub struct Unsigned<'a> {
    pub method: &'a str,
    /// `host`, or `host:port` where the port is not the usual one.
    pub host: &'a str,
    /// As it is sent, escaped.
    pub path: &'a str,
    /// As it is sent: sorted and escaped; may be empty.
    pub query: &'a str,
    pub body: &'a [u8],
}

/// The headers to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// `x-amz-date`
    pub date: String,
    /// `x-amz-content-sha256`
    pub content: String,
    /// `authorization`
    pub authorization: String,
}

impl Signer {
    /// `time` is `20130524T000000Z`.
    pub fn sign(&self, request: Unsigned<'_>, time: &str) -> Signed {
        let content = hex(digest::digest(&digest::SHA256, request.body).as_ref());
        let Unsigned { method, host, path, query, .. } = request;
        let names = "host;x-amz-content-sha256;x-amz-date";
        let canonical = format!(
            "{method}\n{path}\n{query}\nhost:{host}\nx-amz-content-sha256:{content}\nx-amz-date:{time}\n\n{names}\n{content}"
        );
        let day = time.split('T').next().unwrap_or_default();
        let region = &self.region;
        let scope = format!("{day}/{region}/{SERVICE}/aws4_request");
        let digest = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let text = format!("{ALGORITHM}\n{time}\n{scope}\n{digest}");
        let first = [b"AWS4", self.secret_key.expose().as_bytes()].concat();
        let mut key = hmac::Key::new(hmac::HMAC_SHA256, &first);
        for part in [day, region, SERVICE, "aws4_request"] {
            let tag = hmac::sign(&key, part.as_bytes());
            key = hmac::Key::new(hmac::HMAC_SHA256, tag.as_ref());
        }
        let signature = hex(hmac::sign(&key, text.as_bytes()).as_ref());
        let access_key = &self.access_key;
        let authorization = format!(
            "{ALGORITHM} Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
        );
        Signed { date: time.to_owned(), content, authorization }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An example of the vendor's documentation, "GET Bucket Lifecycle".
    #[test]
    fn signatures_are_those_of_the_documentation() {
        let signer = Signer {
            access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret_key: SecretString::new("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1".to_owned(),
        };
        let request = Unsigned {
            method: "GET",
            host: "examplebucket.s3.amazonaws.com",
            path: "/",
            query: "lifecycle=",
            body: b"",
        };
        let signed = signer.sign(request, "20130524T000000Z");
        assert!(
            signed.authorization.ends_with(
                "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
            ),
            "{}",
            signed.authorization
        );
        assert_eq!(
            signed.content,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        let other = signer.sign(Unsigned { body: b"x", ..request }, "20130524T000000Z");
        assert_ne!(other.authorization, signed.authorization);
        assert!(!format!("{signer:?}").contains("wJalr"));
    }
}
