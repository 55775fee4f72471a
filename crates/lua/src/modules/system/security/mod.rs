//! `security`: what others could use against a machine, looked at from outside and from within.
//!
//! Nothing here changes anything. `walk` goes through directories, `benchmark` asks the usual questions about a
//! machine, `strength` judges passwords.

mod benchmark;
mod strength;
mod walk;

use std::time::Duration;

use hostler_host::{Host, files};
use mlua::{IntoLuaMulti, Lua, MultiValue};
use serde_json::json;

use super::given::Given;
use super::machine::{Trouble, asking, refusal};
use super::proc::blocking;
use crate::modules::util::{certificate, headers, scan};
use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "security",
    about: "What others could use against a machine: ports, certificates and headers as they are seen from outside, permissions, passwords and settings from within. Nothing is changed.",
    functions: &[
        Described {
            name: "scan_ports",
            signature: "(host[, ports][, timeout]) -> { open, closed, total_scanned } | nil, error",
            about: "Which TCP ports take connections: those of a list, or of a text such as `22,80,8000-8100`; the first 1024 where nothing is said. A second is waited for each, for many at a time.",
            example: "local r = security.scan_ports('127.0.0.1', '1-3', 1)\nassert(r.total_scanned == 3 and #r.open + #r.closed == 3)",
        },
        Described {
            name: "check_ssl_cert",
            signature: "(host[, port[, timeout]]) -> { valid, error, subject, issuer, names, not_after, days_left, protocol, ... } | nil, error",
            about: "The certificate of a server and whether it is to be believed, as `network.ssl_check` has it.",
            example: "assert(security.check_ssl_cert('127.0.0.1', 1, 1) == nil)",
        },
        Described {
            name: "check_http_headers",
            signature: "(url[, timeout]) -> { present, missing, score, status_code } | nil, error",
            about: "Which of the headers that protect people's browsers an answer has; `score` is their share in percent.",
            example: "local r, err = security.check_http_headers('http://127.0.0.1:1/')\nassert(r == nil and err)",
        },
        Described {
            name: "audit_permissions",
            signature: "([path]) -> [{ path, mode, problem }] | nil, error",
            about: "What anybody could change below a path (the working directory where none is told), and private keys that others can read. Other file systems and links are left out.",
            example: "fs.write('open', '')\nexec.run('chmod 666 open')\nlocal found = security.audit_permissions('.')\nassert(#found == 1 and found[1].mode == '0666' and found[1].problem:find('anybody'))",
        },
        Described {
            name: "find_suid_files",
            signature: "([path]) -> [{ path, mode, uid, gid, setuid, setgid }] | nil, error",
            about: "Programs below a path (`/` where none is told) that run as their owner or group, whoever starts them.",
            example: "fs.write('tool', '')\nexec.run('chmod 4755 tool')\nlocal found = security.find_suid_files('.')\nassert(#found == 1 and found[1].setuid and not found[1].setgid)",
        },
        Described {
            name: "check_file_integrity",
            signature: "(path[, checksum]) -> boolean, { path, checksum, expected } | nil, error",
            about: "Whether a file has the SHA-256 that is told; without one it is only said which it has.",
            example: "fs.write('a', 'hello')\nlocal ok, r = security.check_file_integrity('a', crypto.sha256('hello'))\nassert(ok and r.checksum == crypto.sha256('hello'))\nassert(security.check_file_integrity('a', crypto.sha256('other')) == false)",
        },
        Described {
            name: "password_strength",
            signature: "(password) -> { score, strength, entropy, length, suggestions }",
            about: "How hard a password is to guess: a `score` from 0 to 4, the same in a word, and what would make it better.",
            example: "assert(security.password_strength('password1').score == 0)\nlocal r = security.password_strength('correct-Horse 7 battery staple')\nassert(r.score == 4 and r.strength == 'very strong' and #r.suggestions == 0)",
        },
        Described {
            name: "cis_benchmark",
            signature: "() -> { passed, failed, skipped, total, score, checks = [{ id, title, passed, detail }] } | nil, error",
            about: "The usual questions about a machine: who owns its databases of accounts, empty passwords, second roots, how SSH lets people in, what the kernel answers to strangers. They are questions of ours in the manner of such lists, and no certificate.",
            example: "local r = security.cis_benchmark()\nassert(r.total == r.passed + r.failed + r.skipped and r.checks[1].id)",
        },
    ],
    install,
};

/// How long is waited for each port.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long is waited for a server.
const LONG_PATIENCE: Duration = Duration::from_secs(10);

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    outside(module)?;
    asking(module, "audit_permissions", "path", |given: Given, host: Host| async move {
        let found = looked(&given, &host, ".", walk::loose).await?;
        Ok(vec![found])
    })?;
    asking(module, "find_suid_files", "path", |given: Given, host: Host| async move {
        let found = looked(&given, &host, "/", walk::borrowed).await?;
        Ok(vec![found])
    })?;
    asking(
        module,
        "check_file_integrity",
        "path checksum",
        |given: Given, host: Host| async move {
            let path = given.path("path")?;
            let expected = given.maybe("checksum")?.map(|text| text.trim().to_lowercase());
            let found = files::stat(&host, &path, true, true).await?;
            let checksum = found.and_then(|facts| facts.checksum);
            let absent = || Trouble::new(format!("{} is no file that is there", path.display()));
            let checksum = checksum.ok_or_else(absent)?;
            let is_so = expected.as_ref().is_none_or(|expected| {
                expected.strip_prefix("sha256:").unwrap_or(expected) == checksum
            });
            let facts = json!({ "path": path.display().to_string(), "checksum": checksum, "expected": expected });
            Ok(vec![json!(is_so), facts])
        },
    )?;
    asking(module, "cis_benchmark", "", |_, host: Host| async move {
        Ok(vec![benchmark::asked(&host).await?])
    })?;
    module.pure("password_strength", |lua, password: mlua::LuaString| {
        let judged = strength::judged(&password.to_string_lossy());
        crate::value::from_json(lua, &judged)
    })
}

/// What is seen from elsewhere.
fn outside(module: &mut Installer<'_>) -> mlua::Result<()> {
    module.act_async("scan_ports", |lua: Lua, args: MultiValue| async move {
        let given = Given::read("security.scan_ports".to_owned(), "host ports timeout", args)?;
        let ports = ports(&given)?;
        let time = seconds(&given, PATIENCE)?;
        scan(&lua, &given.text("host")?, ports, time).await
    })?;
    module.act_async("check_ssl_cert", |lua: Lua, args: MultiValue| async move {
        let given = Given::read("security.check_ssl_cert".to_owned(), "host port timeout", args)?;
        let port = given.number("port")?.unwrap_or(443);
        certificate(&lua, &given.text("host")?, port, seconds(&given, LONG_PATIENCE)?).await
    })?;
    module.act_async("check_http_headers", |lua: Lua, args: MultiValue| async move {
        let given = Given::read("security.check_http_headers".to_owned(), "url timeout", args)?;
        let time = seconds(&given, LONG_PATIENCE)?;
        match headers(&given.text("url")?, time).await {
            Err(why) => refusal(&lua, why),
            Ok((status, found)) => {
                let judged = guarded(status, &found);
                crate::value::from_json(&lua, &judged)?.into_lua_multi(&lua)
            }
        }
    })
}

async fn looked<T: serde::Serialize + Send + 'static>(
    given: &Given,
    host: &Host,
    default: &str,
    look: fn(&std::path::Path) -> Result<Vec<T>, String>,
) -> Result<serde_json::Value, Trouble> {
    let shown = given.maybe_path("path")?;
    let shown = shown.unwrap_or_else(|| crate::modules::acting().path(default));
    let at = host.path(&shown)?;
    let root = host.root().to_owned();
    let found = blocking(move || walk::shown(look(&at)?, &root)).await?;
    found.map_err(Trouble::new)
}

fn seconds(given: &Given, default: Duration) -> mlua::Result<Duration> {
    let time = given.amount("timeout")?;
    Ok(time.and_then(|time| Duration::try_from_secs_f64(time).ok()).unwrap_or(default))
}

/// Ports of a list, or of a text with ranges.
fn ports(given: &Given) -> mlua::Result<Vec<u16>> {
    let words = given.texts("ports")?;
    if words.is_empty() {
        return Ok((1..=1024).collect());
    }
    let mut all = Vec::new();
    for word in words.iter().flat_map(|words| words.split(',')).map(str::trim) {
        let (from, to) = word.split_once('-').unwrap_or((word, word));
        match (from.trim().parse::<u16>(), to.trim().parse::<u16>()) {
            (Ok(from), Ok(to)) if 0 < from && from <= to => all.extend(from..=to),
            _ => return Err(given.misuse(&format!("cannot use `{word}` as a port"))),
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Headers that protect people's browsers.
const GUARDS: [&str; 6] = [
    "Strict-Transport-Security",
    "Content-Security-Policy",
    "X-Content-Type-Options",
    "X-Frame-Options",
    "Referrer-Policy",
    "Permissions-Policy",
];

fn guarded(status: u16, found: &[(String, Vec<u8>)]) -> serde_json::Value {
    let value = |guard: &str| {
        let found = found.iter().find(|(name, _)| name.eq_ignore_ascii_case(guard));
        found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
    };
    let present: serde_json::Map<_, _> = GUARDS
        .iter()
        .filter_map(|guard| Some(((*guard).to_owned(), json!(value(guard)?))))
        .collect();
    let missing: Vec<&str> =
        GUARDS.into_iter().filter(|guard| !present.contains_key(*guard)).collect();
    let score = present.len() * 100 / GUARDS.len();
    json!({ "status_code": status, "present": present, "missing": missing, "score": score })
}
