//! The list of a backup: a line of JSON for each file, directory and link, in the order in which they were met, a
//! directory before what is in it. It is written by a node and read by servers and other nodes, so nothing in it is
//! believed: a path is names one below the other and nothing else, and bytes are compared with their digest.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Digest;

/// The longest path, and the longest name in it.
const PATH_MAX: usize = 4096;
const NAME_MAX: usize = 255;

/// Where something was, without the `/` in front. Names are bytes; in text a byte that is no text, and `%`, are
/// `%` and two hexadecimal digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackupPath(Vec<u8>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a path that can be in a backup: {why}")]
pub struct PathError {
    given: String,
    why: &'static str,
}

impl BackupPath {
    /// From bytes such as `etc/hosts`.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<BackupPath, PathError> {
        let bytes = bytes.into();
        match problem(&bytes) {
            None => Ok(BackupPath(bytes)),
            Some(why) => Err(PathError { given: escaped(&bytes).chars().take(200).collect(), why }),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The names, one below the other.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// Whether it is this, or below it. `above` is without the `/` in front; empty is everything.
    pub fn is_in(&self, above: &[u8]) -> bool {
        above.is_empty()
            || self.0 == above
            || (self.0.starts_with(above) && self.0.get(above.len()) == Some(&b'/'))
    }
}

fn problem(bytes: &[u8]) -> Option<&'static str> {
    if bytes.is_empty() || bytes.len() > PATH_MAX {
        return Some("it is empty or too long");
    }
    if bytes.contains(&0) {
        return Some("it has a NUL");
    }
    let is_bad = |name: &[u8]| name.is_empty() || name == b"." || name == b"..";
    let mut names = bytes.split(|byte| *byte == b'/');
    names
        .any(|name| is_bad(name) || name.len() > NAME_MAX)
        .then_some("every name in it has 1 to 255 bytes, and is neither `.` nor `..`")
}

fn escaped(mut bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    loop {
        let (good, bad) = match std::str::from_utf8(bytes) {
            Ok(good) => (good, &[][..]),
            Err(e) => {
                let (good, rest) = bytes.split_at(e.valid_up_to());
                let length = e.error_len().unwrap_or(rest.len());
                (std::str::from_utf8(good).unwrap_or_default(), &rest[..length])
            }
        };
        text.push_str(&good.replace('%', "%25"));
        for byte in bad {
            text.push_str(&format!("%{byte:02X}"));
        }
        bytes = &bytes[good.len() + bad.len()..];
        if bytes.is_empty() {
            return text;
        }
    }
}

fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend(parts.next()?.as_bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(rest.as_bytes());
    }
    Some(bytes)
}

/// With the `/` in front.
impl fmt::Display for BackupPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}", String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for BackupPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "path:{}", escaped(&self.0))
    }
}

impl Serialize for BackupPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&escaped(&self.0))
    }
}

impl<'de> Deserialize<'de> for BackupPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let bytes =
            unescaped(&text).ok_or_else(|| de::Error::custom("a `%` without two digits"))?;
        BackupPath::new(bytes).map_err(de::Error::custom)
    }
}

/// Bytes that are data in a file with holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    pub at: u64,
    pub length: u64,
}

/// What something is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum EntryKind {
    Directory,
    File {
        /// As long as the file is, with its holes.
        size: u64,
        /// Where its bytes begin among all bytes of the backup.
        at: u64,
        /// How many bytes those are.
        stored: u64,
        /// Of those bytes.
        digest: Digest,
        /// Where they belong, in order; empty where there are no holes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        extents: Vec<Extent>,
    },
    /// Another name of a file that is in the list before.
    Same {
        #[serde(rename = "of")]
        path: BackupPath,
    },
    /// A symbolic link, and what is written in it, as text like in paths.
    Link {
        target: LinkTarget,
    },
}

/// What a symbolic link leads to: any bytes but NUL.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkTarget(Vec<u8>);

impl LinkTarget {
    /// `None` for what no link can have.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Option<LinkTarget> {
        let bytes = bytes.into();
        (!bytes.is_empty() && bytes.len() < PATH_MAX && !bytes.contains(&0))
            .then_some(LinkTarget(bytes))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for LinkTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "target:{}", escaped(&self.0))
    }
}

impl Serialize for LinkTarget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&escaped(&self.0))
    }
}

impl<'de> Deserialize<'de> for LinkTarget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let target = unescaped(&text).and_then(LinkTarget::new);
        target.ok_or_else(|| de::Error::custom("no link leads there"))
    }
}

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupEntry {
    pub path: BackupPath,
    #[serde(flatten)]
    pub kind: EntryKind,
    /// Permissions, with set-user-id and the like.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// When it was changed last: seconds, and nanoseconds of them.
    pub modified: (i64, u32),
    /// Extended attributes by name, in base64.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_names_one_below_the_other() {
        for good in [&b"etc"[..], b"etc/hosts", b"a b/\xff\xfe", "ä/ö%".as_bytes(), b"a/...", b"~"]
        {
            let path = BackupPath::new(good).unwrap();
            let text = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<BackupPath>(&text).unwrap(), path, "{text}");
        }
        for bad in [
            &b""[..],
            b"/",
            b"/etc",
            b"etc/",
            b"a//b",
            b"..",
            b"a/..",
            b"a/../b",
            b"./a",
            b"a/.",
            b"a\0b",
        ] {
            assert!(BackupPath::new(bad).is_err(), "{}", escaped(bad));
        }
        assert!(BackupPath::new(vec![b'a'; 256]).is_err());
        for hidden in [
            r#""a/%2E%2E/b""#,
            r#""%2Fetc""#,
            r#""a%00""#,
            r#""a%2""#,
            r#""a%zz""#,
            r#""a%2Fb%2F""#,
        ] {
            assert!(serde_json::from_str::<BackupPath>(hidden).is_err(), "{hidden}");
        }
        let path = BackupPath::new(&b"etc/ssl/a"[..]).unwrap();
        for (above, is) in
            [("", true), ("etc", true), ("etc/ssl/a", true), ("et", false), ("etc/ssl/a/b", false)]
        {
            assert_eq!(path.is_in(above.as_bytes()), is, "{above}");
        }
        assert_eq!(path.to_string(), "/etc/ssl/a");
    }

    #[test]
    fn entries_survive_their_line() {
        let path = |text: &str| BackupPath::new(text).unwrap();
        let digest = Digest::from_bytes([7; 32]);
        let extents = vec![Extent { at: 0, length: 3 }, Extent { at: 4096, length: 2 }];
        for kind in [
            EntryKind::Directory,
            EntryKind::File { size: 9000, at: 5, stored: 5, digest, extents },
            EntryKind::Same { path: path("a/b") },
            EntryKind::Link { target: LinkTarget::new(&b"../\xff"[..]).unwrap() },
        ] {
            let entry = BackupEntry {
                path: path("a/c"),
                kind,
                mode: 0o4755,
                uid: 1,
                gid: 2,
                modified: (-5, 999),
                attributes: [("user.x".to_owned(), "AA==".to_owned())].into(),
            };
            let line = serde_json::to_string(&entry).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(serde_json::from_str::<BackupEntry>(&line).unwrap(), entry, "{line}");
        }
    }
}
