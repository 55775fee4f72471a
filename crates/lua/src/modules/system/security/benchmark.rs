//! The usual questions about a machine.

use std::path::Path;

use hostler_host::{Host, accounts, files};
use serde_json::{Value as Json, json};

use crate::modules::system::machine::Trouble;
use crate::modules::system::proc;

/// Whether it is so, and what was seen; nothing where the question makes no sense here.
type Answer = Option<(bool, String)>;

/// Files of accounts and who may do what with them at most.
const GUARDED: [(&str, &str, u32); 6] = [
    ("files.passwd", "/etc/passwd", 0o644),
    ("files.group", "/etc/group", 0o644),
    ("files.shadow", "/etc/shadow", 0o640),
    ("files.gshadow", "/etc/gshadow", 0o640),
    ("files.crontab", "/etc/crontab", 0o644),
    ("files.sshd_config", "/etc/ssh/sshd_config", 0o644),
];

/// Settings of SSH that must not be so.
const SSH: [(&str, &str, &str); 2] = [
    ("ssh.root", "PermitRootLogin", "yes"),
    ("ssh.empty_passwords", "PermitEmptyPasswords", "yes"),
];

/// Settings of the kernel that must be so.
const KERNEL: [(&str, &str, &str); 5] = [
    ("kernel.addresses", "kernel/randomize_va_space", "2"),
    ("kernel.redirects", "net/ipv4/conf/all/accept_redirects", "0"),
    ("kernel.source_routes", "net/ipv4/conf/all/accept_source_route", "0"),
    ("kernel.syncookies", "net/ipv4/tcp_syncookies", "1"),
    ("kernel.hardlinks", "fs/protected_hardlinks", "1"),
];

pub(super) async fn asked(host: &Host) -> Result<Json, Trouble> {
    let mut checks: Vec<(&str, String, Answer)> = Vec::new();
    for (id, path, most) in GUARDED {
        let answer = guarded(host, path, most).await?;
        checks.push((
            id,
            format!("{path} belongs to root and has the mode {most:04o} at most"),
            answer,
        ));
    }
    checks.push((
        "files.tmp",
        "in /tmp nobody can remove what others made".to_owned(),
        mode(host, "/tmp")
            .await?
            .map(|mode| (mode & 0o1000 != 0, format!("its mode is {mode:04o}"))),
    ));
    checks.push(("accounts.roots", "root alone has the number 0".to_owned(), roots(host).await?));
    checks.push((
        "accounts.numbers",
        "no two accounts have the same number".to_owned(),
        numbers(host).await?,
    ));
    checks.push((
        "accounts.empty_passwords",
        "nobody has an empty password".to_owned(),
        empty_passwords(host).await?,
    ));
    let ssh = text(host, "/etc/ssh/sshd_config").await?;
    for (id, key, wrong) in SSH {
        let answer = ssh.as_ref().map(|text| {
            let value = setting(text, key);
            let words = value.map_or_else(|| "it is not set".to_owned(), |v| format!("it is {v}"));
            (value.is_none_or(|value| !value.eq_ignore_ascii_case(wrong)), words)
        });
        checks.push((id, format!("{key} of SSH is not {wrong}"), answer));
    }
    for (id, key, wanted) in KERNEL {
        let value = proc::text(&host.path(Path::new("/proc/sys").join(key))?);
        let answer = (!value.is_empty()).then(|| (value == wanted, format!("it is {value}")));
        checks.push((id, format!("{} is {wanted}", key.replace('/', ".")), answer));
    }
    Ok(told(&checks))
}

fn told(checks: &[(&str, String, Answer)]) -> Json {
    let count = |wanted: Option<bool>| {
        let is = |answer: &Answer| answer.as_ref().map(|(is_so, _)| *is_so) == wanted;
        checks.iter().filter(|(_, _, answer)| is(answer)).count()
    };
    let (passed, failed) = (count(Some(true)), count(Some(false)));
    let list: Vec<Json> = checks
        .iter()
        .map(|(id, title, answer)| {
            json!({
                "id": id,
                "title": title,
                "passed": answer.as_ref().map(|(is_so, _)| *is_so),
                "detail": answer.as_ref().map_or("it is not there", |(_, detail)| detail),
            })
        })
        .collect();
    json!({
        "passed": passed,
        "failed": failed,
        "skipped": count(None),
        "total": checks.len(),
        "score": (passed * 100).checked_div(passed + failed).unwrap_or(0),
        "checks": list,
    })
}

async fn text(host: &Host, path: &str) -> Result<Option<String>, Trouble> {
    if files::stat(host, Path::new(path), true, false).await?.is_none() {
        return Ok(None);
    }
    let bytes = files::read(host, Path::new(path), 4 << 20).await;
    Ok(bytes.ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

async fn mode(host: &Host, path: &str) -> Result<Option<u32>, Trouble> {
    let found = files::stat(host, Path::new(path), true, false).await?;
    Ok(found.map(|facts| facts.mode.bits()))
}

async fn guarded(host: &Host, path: &str, most: u32) -> Result<Answer, Trouble> {
    let found = files::stat(host, Path::new(path), true, false).await?;
    Ok(found.map(|facts| {
        let mode = facts.mode.bits();
        (facts.uid == 0 && mode & !most == 0, format!("user {}, mode {mode:04o}", facts.uid))
    }))
}

async fn roots(host: &Host) -> Result<Answer, Trouble> {
    let users = accounts::users(host).await?;
    let roots: Vec<&str> =
        users.iter().filter(|user| user.uid == 0).map(|user| user.username.as_str()).collect();
    Ok(Some((roots == ["root"], format!("with the number 0: {}", roots.join(", ")))))
}

async fn numbers(host: &Host) -> Result<Answer, Trouble> {
    let users = accounts::users(host).await?;
    let twice: Vec<&str> = users
        .iter()
        .enumerate()
        .filter(|(at, user)| users.iter().take(*at).any(|other| other.uid == user.uid))
        .map(|(_, user)| user.username.as_str())
        .collect();
    let words = if twice.is_empty() { "nobody".to_owned() } else { twice.join(", ") };
    Ok(Some((twice.is_empty(), format!("with a number that another has, too: {words}"))))
}

async fn empty_passwords(host: &Host) -> Result<Answer, Trouble> {
    let Some(shadow) = text(host, "/etc/shadow").await? else { return Ok(None) };
    let open: Vec<&str> = shadow
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(_, rest)| rest.is_empty() || rest.starts_with(':'))
        .map(|(name, _)| name)
        .collect();
    let words = if open.is_empty() { "nobody".to_owned() } else { open.join(", ") };
    Ok(Some((open.is_empty(), format!("without a password: {words}"))))
}

/// The first that is said counts, as SSH has it.
fn setting<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let mut words =
            line.split(|c: char| c.is_whitespace() || c == '=').filter(|w| !w.is_empty());
        words.next().filter(|word| word.eq_ignore_ascii_case(key))?;
        words.next()
    })
}
