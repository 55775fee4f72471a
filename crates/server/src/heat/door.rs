//! Who is calling, by the ways that programs for OpenStack have to say it.
//!
//! A token of ours goes into `X-Auth-Token`: an API token, a session that [`super::keystone`] gave, or the identity of a
//! run. `Authorization: Bearer` means the same; and where a program only knows names and passwords (`Authorization: Basic`,
//! or `X-Auth-User` with `X-Auth-Key`), an API token stands in the place of the password. Passwords themselves are taken at
//! one place only, where guesses are counted. Cookies do not count here, so no browser is made to call by another site.

use base64::Engine as _;
use hostler_model::Error;
use hostler_trust::{SecretString, SecretToken, TokenKind};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName};

use crate::http::Presented;
use crate::http::error::malformed;

const TOKEN: HeaderName = HeaderName::from_static("x-auth-token");
const KEY: HeaderName = HeaderName::from_static("x-auth-key");

/// Reads the credential of a request, without asking anybody about it.
pub(super) fn presented(headers: &HeaderMap) -> Result<Presented, Error> {
    let given = [
        text(headers, &TOKEN)?.map(str::to_owned),
        text(headers, &KEY)?.map(str::to_owned),
        text(headers, &AUTHORIZATION)?.map(authorization).transpose()?,
    ];
    let mut given = given.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(secret), None) => Ok(of_secret(&secret)),
        (Some(_), Some(_)) => {
            Err(malformed("the request carries several credentials", "send one of them"))
        }
        (None, _) => {
            Err(Error::unauthenticated("The request you have made requires authentication."))
        }
    }
}

/// What a secret is, by how it looks.
pub(super) fn of_secret(secret: &str) -> Presented {
    match SecretToken::parse(secret, TokenKind::Session) {
        Ok(_) => Presented::Session(SecretString::new(secret)),
        Err(_) => Presented::Token(SecretString::new(secret)),
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Error> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        return Err(malformed(format!("there are two {name} headers"), "send one"));
    }
    let Some(value) = first else { return Ok(None) };
    let text = value.to_str().map_err(|_| Error::unauthenticated("the token is not text"))?;
    Ok(Some(text.trim()).filter(|text| !text.is_empty()))
}

fn authorization(text: &str) -> Result<String, Error> {
    let wrong = || {
        Error::unauthenticated(
            "the Authorization header is neither `Bearer TOKEN` nor `Basic` with a token as the password",
        )
    };
    let (scheme, rest) = text.split_once(' ').ok_or_else(wrong)?;
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Ok(rest.trim().to_owned()),
        "basic" => {
            let bytes = base64::engine::general_purpose::STANDARD.decode(rest.trim());
            let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
            let text = text.ok_or_else(wrong)?;
            let (_, password) = text.split_once(':').ok_or_else(wrong)?;
            Ok(password.to_owned())
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::Code;

    fn read(headers: &[(&'static str, &str)]) -> Result<Presented, Error> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        presented(&map)
    }

    #[test]
    fn a_token_comes_in_one_way_or_not_at_all() {
        let session = SecretToken::generate(TokenKind::Session);
        let pat = SecretToken::generate(TokenKind::Personal);
        let basic = base64::engine::general_purpose::STANDARD.encode(format!("u:{}", pat.expose()));
        let basic = format!("Basic {basic}");
        let bearer = format!("Bearer {}", pat.expose());
        for header in [
            ("x-auth-token", pat.expose()),
            ("x-auth-key", pat.expose()),
            ("authorization", bearer.as_str()),
            ("authorization", basic.as_str()),
        ] {
            assert!(
                matches!(read(&[header]), Ok(Presented::Token(one)) if one.expose() == pat.expose())
            );
        }
        assert!(matches!(read(&[("x-auth-token", session.expose())]), Ok(Presented::Session(_))));
        let code = |headers: &[(&'static str, &str)]| read(headers).err().map(|error| error.code);
        assert_eq!(code(&[]), Some(Code::Unauthenticated));
        assert_eq!(code(&[("authorization", "Digest x")]), Some(Code::Unauthenticated));
        assert_eq!(code(&[("x-auth-token", "a"), ("x-auth-key", "b")]), Some(Code::Malformed));
        assert_eq!(code(&[("cookie", "hostler_session=a")]), Some(Code::Unauthenticated));
    }
}
