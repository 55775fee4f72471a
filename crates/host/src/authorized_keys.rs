//! Keys that let somebody in over SSH.
//!
//! A key is known by its type and its bits; options and comment are about it. The directory `.ssh`
//! belongs to the user, who may be hostile to whoever writes there as root: it is entered from the open
//! home without following a link, must belong to the user or root, and the file in it is replaced as a
//! whole. What is made gets the user as its owner, 0700 and 0600.

use std::ffi::OsStr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::accounts::{Account, account_name, find_user};
use crate::files::{TEXT_MAX, joined, lines};
use crate::outcome::Change;
use crate::place::{Manner, Place};
use crate::plan::{Plan, Primitive, blocking};
use crate::values::one_line;
use crate::{Host, HostError};

const FOLDER: &str = ".ssh";
const FILE: &str = "authorized_keys";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthorizedKey {
    pub user: String,
    /// A public key as it stands in a `.pub` file, with options in front where there are any.
    pub key: String,
    /// In place of the comment behind the key.
    #[serde(default)]
    pub comment: Option<String>,
    /// In place of the options in front of the key: `no-pty,command="/bin/x"`.
    #[serde(default)]
    pub options: Option<String>,
}

/// A line of the file, divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Key {
    pub options: String,
    /// `ssh-ed25519`, ..
    pub kind: String,
    /// In base64.
    pub key: String,
    pub comment: String,
}

impl Key {
    /// `None` for what is no key: comments, blanks, damage.
    pub fn parse(line: &str) -> Option<Key> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (first, rest) = first_word(line);
        let (options, kind, rest) = match is_kind(first) {
            true => ("", first, rest),
            false => {
                let (kind, rest) = first_word(rest);
                (first, kind, rest)
            }
        };
        let (key, comment) = first_word(rest);
        let is_key = is_kind(kind)
            && key.starts_with("AAAA")
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
        is_key.then(|| Key {
            options: options.to_owned(),
            kind: kind.to_owned(),
            key: key.to_owned(),
            comment: comment.to_owned(),
        })
    }

    fn is_same(&self, other: &Key) -> bool {
        self.kind == other.kind && self.key == other.key
    }

    fn line(&self) -> String {
        let parts = [&self.options, &self.kind, &self.key, &self.comment];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }
}

/// Up to the first space that is not in quotes.
fn first_word(text: &str) -> (&str, &str) {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            '\\' if is_quoted && !is_escaped => {
                is_escaped = true;
                continue;
            }
            '"' if !is_escaped => is_quoted = !is_quoted,
            ' ' | '\t' if !is_quoted => return (&text[..at], text[at..].trim_start()),
            _ => {}
        }
        is_escaped = false;
    }
    (text, "")
}

fn is_kind(word: &str) -> bool {
    ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-sha2-"].iter().any(|start| word.starts_with(start))
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-@.".contains(&b))
}

impl AuthorizedKey {
    fn wanted(&self) -> Result<Key, HostError> {
        one_line("the key", &self.key)?;
        let problem = "write it as in a `.pub` file: its type, its bits, a comment";
        let shown: String = self.key.chars().take(40).collect();
        let parsed = Key::parse(&self.key);
        let mut key = parsed.ok_or_else(|| HostError::invalid("the key", shown, problem))?;
        if let Some(comment) = &self.comment {
            key.comment = one_line("the comment", comment)?.trim().to_owned();
        }
        if let Some(options) = &self.options {
            let options = one_line("the options", options)?.trim();
            if !first_word(options).1.is_empty() || is_kind(options) {
                let problem = "spaces are allowed only between quotes";
                return Err(HostError::invalid("the options", options, problem));
            }
            key.options = options.to_owned();
        }
        Ok(key)
    }

    /// The file with the key in it, unchanged where the key is there with all that is told.
    fn put(&self, wanted: &Key, old: &str) -> String {
        let all = lines(old);
        let found = all.iter().enumerate().find_map(|(at, line)| {
            Key::parse(line).filter(|key| key.is_same(wanted)).map(|key| (at, key))
        });
        let Some((at, mut key)) = found else {
            let line = wanted.line();
            return joined(all.into_iter().chain([line.as_str()]));
        };
        let before = key.clone();
        if self.comment.is_some() {
            key.comment.clone_from(&wanted.comment);
        }
        if self.options.is_some() || !wanted.options.is_empty() {
            key.options.clone_from(&wanted.options);
        }
        if key == before {
            return old.to_owned();
        }
        let line = key.line();
        joined(all.iter().enumerate().map(|(n, old)| if n == at { line.as_str() } else { *old }))
    }
}

impl Primitive for AuthorizedKey {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let wanted = self.wanted()?;
        let user = user(host, &self.user).await?;
        let home = host.path(&user.home)?;
        let this = self.clone();
        blocking(move || {
            let old = read(&home, &user)?;
            let new = this.put(&wanted, old.as_deref().unwrap_or_default());
            Ok(plan(&home, user, old, new, "is let in"))
        })
        .await
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let wanted = self.wanted()?;
        let user = user(host, &self.user).await?;
        let home = host.path(&user.home)?;
        blocking(move || {
            let old = read(&home, &user)?;
            let text = old.clone().unwrap_or_default();
            let goes = |line: &str| Key::parse(line).is_some_and(|key| key.is_same(&wanted));
            let new = match lines(&text).iter().any(|line| goes(line)) {
                true => joined(lines(&text).into_iter().filter(|line| !goes(line))),
                false => text,
            };
            Ok(plan(&home, user, old, new, "is kept out"))
        })
        .await
    }
}

/// All keys that let the user in.
pub async fn list(host: &Host, name: &str) -> Result<Vec<Key>, HostError> {
    let user = user(host, name).await?;
    let home = host.path(&user.home)?;
    let text = blocking(move || read(&home, &user)).await?;
    Ok(text.unwrap_or_default().lines().filter_map(Key::parse).collect())
}

/// Whether this key lets the user in.
pub async fn exists(host: &Host, name: &str, key: &str) -> Result<bool, HostError> {
    let asked =
        AuthorizedKey { user: name.to_owned(), key: key.to_owned(), comment: None, options: None };
    let wanted = asked.wanted()?;
    Ok(list(host, name).await?.iter().any(|key| key.is_same(&wanted)))
}

async fn user(host: &Host, name: &str) -> Result<Account, HostError> {
    account_name("the user", name)?;
    let next = "create it first, or check the name";
    let absent = || HostError::Absent { what: "user", name: name.to_owned(), next };
    find_user(host, name).await?.ok_or_else(absent)
}

/// The directory, entered without following a link; `None` where it is missing.
fn folder(home: &Path, user: &Account) -> Result<Option<Place>, HostError> {
    let path = home.join(FOLDER);
    let Some(place) = Place::find(&path)? else { return Ok(None) };
    let Some(stat) = place.stat_directory()? else { return Ok(None) };
    if stat.st_uid != user.uid && stat.st_uid != 0 {
        let problem =
            format!("it belongs to neither {} nor root; give it back first", user.username);
        return Err(HostError::Edit { path, problem });
    }
    let file = path.join(FILE);
    Ok(Some(Place::inside(place.enter()?, OsStr::new(FILE), file)))
}

fn read(home: &Path, user: &Account) -> Result<Option<String>, HostError> {
    let place = folder(home, user)?;
    match place.map(|place| place.read(TEXT_MAX)).transpose()?.flatten() {
        None => Ok(None),
        Some(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(HostError::NotText { path: home.join(FOLDER).join(FILE) }),
        },
    }
}

fn plan(home: &Path, user: Account, old: Option<String>, new: String, verb: &str) -> Plan {
    let name = &user.username;
    if old.as_deref().unwrap_or_default() == new {
        return Plan::new(format!("the keys of {name} are already so"));
    }
    let change = Change::content(
        format!("keys of user {name}"),
        old.as_deref().map(str::as_bytes),
        Some(new.as_bytes()),
    );
    let message = format!("the key {verb} as {name}");
    let home = home.to_owned();
    Plan::new(message).change(change).files(move || {
        let owner = Manner { mode: None, uid: Some(user.uid), gid: Some(user.gid) };
        let at = home.join(FOLDER);
        if folder(&home, &user)?.is_none() {
            let missing = || HostError::Absent {
                what: "home",
                name: user.home.clone(),
                next: "make it first",
            };
            let place = Place::find(&at)?.ok_or_else(missing)?;
            place.make_directory(Manner { mode: Some(0o700), ..owner })?;
        }
        match folder(&home, &user)? {
            Some(place) if place.stat_file()?.is_some() => {
                place.replace(new.as_bytes(), Manner::default())
            }
            Some(place) => place.replace(new.as_bytes(), Manner { mode: Some(0o600), ..owner }),
            None => Err(HostError::Kind { path: at, is: "gone", wanted: "a directory" }),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_divided() {
        let key = Key::parse("ssh-ed25519 AAAAC3Nz ann@laptop at home").unwrap();
        assert_eq!((key.kind.as_str(), key.key.as_str()), ("ssh-ed25519", "AAAAC3Nz"));
        assert_eq!((key.options.as_str(), key.comment.as_str()), ("", "ann@laptop at home"));
        let line = r#"no-pty,command="/bin/x \"a b\"" ssh-rsa AAAAB3 c"#;
        let key = Key::parse(line).unwrap();
        assert_eq!(key.options, r#"no-pty,command="/bin/x \"a b\"""#);
        assert_eq!(key.line(), line);
        assert!(Key::parse("sk-ssh-ed25519@openssh.com AAAAGn").is_some());
        for bad in ["", "# x", "ssh-rsa", "ssh-rsa BBBB", "AAAAB3 ssh-rsa", "ssh-rsa AAAA$x"] {
            assert!(Key::parse(bad).is_none(), "{bad}");
        }
    }
}
