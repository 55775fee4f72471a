//! Values that primitives are described with.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use crate::HostError;

/// Permission bits, written in octal: `0644`, `755`, `u+s` as `4755`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode(u32);

impl Mode {
    pub fn new(bits: u32) -> Mode {
        Mode(bits & 0o7777)
    }

    pub fn bits(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

impl FromStr for Mode {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Mode, HostError> {
        let digits = text.strip_prefix("0o").unwrap_or(text);
        let is_octal = (1..=5).contains(&digits.len())
            && digits.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
        match u32::from_str_radix(digits, 8) {
            Ok(bits @ ..=0o7777) if is_octal => Ok(Mode(bits)),
            _ => Err(HostError::invalid("the mode", text, "write octal digits such as `0644`")),
        }
    }
}

impl Serialize for Mode {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Mode, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// The bytes of a file, which are mostly text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content(pub Vec<u8>);

impl From<&str> for Content {
    fn from(text: &str) -> Content {
        Content(text.as_bytes().to_vec())
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Content {
        Content(bytes)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => to.serialize_str(text),
            Err(_) => to.serialize_bytes(&self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Content, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or bytes")
            }

            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(Content::from(text))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Content, E> {
                Ok(Content(bytes.to_vec()))
            }

            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Content, E> {
                Ok(Content(bytes))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = items.next_element()? {
                    bytes.push(byte);
                }
                Ok(Content(bytes))
            }
        }
        from.deserialize_any(Bytes)
    }
}

/// A password: plain, or as a crypt hash (`$6$..`). Never printed, and serialised as a word that stands
/// for it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Zeroizing<String>);

impl Password {
    pub fn new(text: impl Into<String>) -> Password {
        Password(Zeroizing::new(text.into()))
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it is what `/etc/shadow` holds: `$id$salt$hash`.
    pub fn is_hash(&self) -> bool {
        let mut parts = self.0.split('$');
        let is_empty_first = parts.next() == Some("");
        let has_scheme = parts.next().is_some_and(|id| {
            (1..=8).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric())
        });
        is_empty_first && has_scheme && parts.filter(|part| !part.is_empty()).count() >= 2
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(hidden)")
    }
}

impl Serialize for Password {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str("(hidden)")
    }
}

impl<'de> Deserialize<'de> for Password {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Password, D::Error> {
        String::deserialize(from).map(Password::new)
    }
}

/// A list, where one text stands for a list of one.
pub(crate) fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct Texts;
    impl<'de> Visitor<'de> for Texts {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a list of texts")
        }

        fn visit_str<E>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<String>, A::Error> {
            let mut texts = Vec::new();
            while let Some(text) = items.next_element()? {
                texts.push(text);
            }
            Ok(texts)
        }
    }
    from.deserialize_any(Texts)
}

/// As [`one_or_many`], where commas divide a text too: `wheel,docker`.
pub(crate) fn many_by_comma<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let texts = one_or_many(from)?;
    let parts = texts.iter().flat_map(|text| text.split(',')).map(str::trim);
    Ok(parts.filter(|part| !part.is_empty()).map(str::to_owned).collect())
}

pub(crate) fn yes() -> bool {
    true
}

/// A text that must stay on its line, because what is behind a line break would mean something else.
pub(crate) fn one_line<'a>(what: &'static str, text: &'a str) -> Result<&'a str, HostError> {
    match text.contains(['\n', '\r', '\0']) {
        true => Err(HostError::invalid(what, text, "it must be one line")),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_octal_digits() {
        for (text, bits) in [("644", 0o644), ("0644", 0o644), ("4755", 0o4755), ("0o600", 0o600)] {
            assert_eq!(text.parse::<Mode>().unwrap(), Mode::new(bits), "{text}");
        }
        assert_eq!(Mode::new(0o44).to_string(), "0044");
        for text in ["", "8", "0888", "u+x", "17777", "-1", "+7", "0o", "000000"] {
            assert!(text.parse::<Mode>().is_err(), "{text}");
        }
    }

    #[test]
    fn content_is_text_or_bytes() {
        let read = |json: &str| serde_json::from_str::<Content>(json).unwrap();
        assert_eq!(read("\"ab\""), Content::from("ab"));
        assert_eq!(read("[1, 255]"), Content(vec![1, 255]));
        assert_eq!(serde_json::to_string(&Content::from("ab")).unwrap(), "\"ab\"");
        assert_eq!(serde_json::to_string(&Content(vec![1, 255])).unwrap(), "[1,255]");
    }

    #[test]
    fn passwords_are_never_shown_and_hashes_are_known() {
        let password = Password::new("hunter2");
        assert_eq!(format!("{password:?}"), "Password(hidden)");
        assert_eq!(serde_json::to_string(&password).unwrap(), "\"(hidden)\"");
        assert_eq!(serde_json::from_str::<Password>("\"hunter2\"").unwrap().expose(), "hunter2");
        for (text, is_hash) in [
            ("$6$salt$hash", true),
            ("$y$j9T$salt$hash", true),
            ("$2b$10$N9qo8uLOickgx2ZMRZoMye", true),
            ("hunter2", false),
            ("$money$", false),
            ("$", false),
            ("a$6$b$c", false),
        ] {
            assert_eq!(Password::new(text).is_hash(), is_hash, "{text}");
        }
    }

    #[test]
    fn what_must_be_one_line_is() {
        assert!(one_line("the line", "a b").is_ok());
        for text in ["a\nb", "a\r", "a\0"] {
            assert!(one_line("the line", text).is_err());
        }
    }
}
