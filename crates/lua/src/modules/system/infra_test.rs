//! `infra_test`: what must be true of the machine.

use std::path::Path;
use std::time::Duration;

use hostler_host::files::{self, Facts, Kind};
use hostler_host::{Host, package, service};
use mlua::{Lua, MultiValue};

use super::given::Given;
use super::machine::{Trouble, host, told};
use super::proc;
use crate::modules::{Described, Ended, Installer, Module, Order, acting};

pub(crate) const MODULE: Module = Module {
    name: "infra_test",
    about: "What must be true of the machine. Each function gives `true`, or raises an error that says what is so instead. Arguments are given by position or as names in a table.",
    functions: &[
        Described {
            name: "file_exists",
            signature: "(path) -> true",
            about: "Something is at a path.",
            example: "infra_test.file_exists('.')\nassert(not pcall(infra_test.file_exists, 'nothing'))",
        },
        Described {
            name: "is_directory",
            signature: "(path) -> true",
            about: "A directory is at a path.",
            example: "infra_test.is_directory('.')",
        },
        Described {
            name: "is_file",
            signature: "(path) -> true",
            about: "A plain file is at a path.",
            example: "exec.run('touch f')\ninfra_test.is_file('f')\nassert(not pcall(infra_test.is_file, '.'))",
        },
        Described {
            name: "file_contains",
            signature: "(path, pattern) -> true",
            about: "A file has a text in it, or something that fits a regular expression.",
            example: "exec.run('echo port=8080 > f')\ninfra_test.file_contains('f', 'port=[0-9]+')\nassert(not pcall(infra_test.file_contains, 'f', 'host'))",
        },
        Described {
            name: "file_mode",
            signature: "(path, mode) -> true",
            about: "A file has a mode, in octal digits.",
            example: "exec.run('touch f && chmod 640 f')\ninfra_test.file_mode('f', '0640')",
        },
        Described {
            name: "file_owner",
            signature: "(path, user) -> true",
            about: "A file belongs to a user, by name or number.",
            example: "assert(not pcall(infra_test.file_owner, '.', 'no-such-user-here'))",
        },
        Described {
            name: "file_group",
            signature: "(path, group) -> true",
            about: "A file belongs to a group, by name or number.",
            example: "assert(not pcall(infra_test.file_group, '.', 'no-such-group-here'))",
        },
        Described {
            name: "file_size",
            signature: "(path, bytes) -> true",
            about: "A file has so many bytes.",
            example: "exec.run('printf 12345 > f')\ninfra_test.file_size('f', 5)",
        },
        Described {
            name: "port_is_listening",
            signature: "(port) -> true",
            about: "Somebody waits on a port, TCP or UDP.",
            example: "local function verify() infra_test.port_is_listening(22) end",
        },
        Described {
            name: "port_is_tcp",
            signature: "(port) -> true",
            about: "Somebody waits for TCP on a port.",
            example: "local function verify() infra_test.port_is_tcp(443) end",
        },
        Described {
            name: "port_is_udp",
            signature: "(port) -> true",
            about: "Somebody waits for UDP on a port.",
            example: "local function verify() infra_test.port_is_udp(53) end",
        },
        Described {
            name: "can_connect",
            signature: "(host, port[, milliseconds]) -> true",
            about: "A TCP connection can be made; 5 seconds are waited unless told otherwise.",
            example: "local ok, why = pcall(infra_test.can_connect, '127.0.0.1', 1, 500)\nassert(not ok and tostring(why):find('127.0.0.1'))",
        },
        Described {
            name: "ping",
            signature: "(host[, count]) -> true",
            about: "A machine answers to `ping`.",
            example: "local function verify() infra_test.ping('10.0.0.1', 3) end",
        },
        Described {
            name: "service_is_running",
            signature: "(name) -> true",
            about: "A service of systemd runs.",
            example: "local function verify() infra_test.service_is_running('nginx') end",
        },
        Described {
            name: "service_is_enabled",
            signature: "(name) -> true",
            about: "A service of systemd starts at boot.",
            example: "local function verify() infra_test.service_is_enabled('nginx') end",
        },
        Described {
            name: "process_is_running",
            signature: "(pattern) -> true",
            about: "A process whose command line has a text in it, or fits a regular expression, runs.",
            example: "assert(not pcall(infra_test.process_is_running, '^no-such-process-here$'))",
        },
        Described {
            name: "process_count",
            signature: "(pattern, count) -> true",
            about: "So many processes fit.",
            example: "infra_test.process_count('^no-such-process-here$', 0)",
        },
        Described {
            name: "command_succeeds",
            signature: "(command) -> true",
            about: "A line of shell succeeds.",
            example: "infra_test.command_succeeds('true')\nassert(not pcall(infra_test.command_succeeds, 'exit 3'))",
        },
        Described {
            name: "command_fails",
            signature: "(command) -> true",
            about: "A line of shell fails.",
            example: "infra_test.command_fails('exit 3')",
        },
        Described {
            name: "command_stdout_contains",
            signature: "(command, pattern) -> true",
            about: "A line of shell says a text, or something that fits a regular expression.",
            example: "infra_test.command_stdout_contains('echo version 7', 'version [0-9]')",
        },
        Described {
            name: "command_stderr_is_empty",
            signature: "(command) -> true",
            about: "A line of shell complains about nothing.",
            example: "infra_test.command_stderr_is_empty('echo fine')",
        },
        Described {
            name: "command_output_equals",
            signature: "(command, expected) -> true",
            about: "A line of shell says just this, spaces around it aside.",
            example: "infra_test.command_output_equals('echo 7', '7')",
        },
        Described {
            name: "package_is_installed",
            signature: "(name) -> true",
            about: "A package is installed.",
            example: "local function verify() infra_test.package_is_installed('nginx') end",
        },
        Described {
            name: "package_version",
            signature: "(name, version) -> true",
            about: "A package is installed in a version; the beginning of one is enough up to a dot or dash.",
            example: "local function verify() infra_test.package_version('nginx', '1.24') end",
        },
    ],
    install,
};

/// Files larger than this are not looked through.
const TEXT_MAX: u64 = 64 << 20;
/// How long a line of shell may take.
const COMMAND_MAX: Duration = Duration::from_secs(600);

/// A function that raises when something is not so.
fn testing<F>(
    module: &mut Installer<'_>,
    name: &'static str,
    takes: &'static str,
    f: impl Fn(Given, Host) -> F + Clone + 'static,
) -> mlua::Result<()>
where
    F: Future<Output = Result<(), Trouble>> + 'static,
{
    module.act_async(name, move |_: Lua, args: MultiValue| {
        let f = f.clone();
        async move {
            let given = Given::read(format!("infra_test.{name}"), takes, args)?;
            let target = given.maybe("target")?;
            if target.is_some_and(|target| !matches!(target.as_str(), "local" | "localhost" | "")) {
                return Err(
                    given.misuse("looks at the machine of its step; say `delegate_to` on the task")
                );
            }
            match f(given, host()).await {
                Ok(()) => Ok(true),
                Err(Trouble::Misuse(error)) => Err(error),
                Err(Trouble::Failure(words)) => {
                    Err(mlua::Error::runtime(format!("infra_test.{name}: {words}")))
                }
            }
        }
    })
}

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    about_files(module)?;
    about_network(module)?;
    about_services(module)?;
    about_commands(module)
}

fn expect(is_so: bool, words: impl FnOnce() -> String) -> Result<(), Trouble> {
    if is_so { Ok(()) } else { Err(Trouble::Failure(words())) }
}

async fn at(given: &Given, host: &Host) -> Result<Facts, Trouble> {
    let path = given.path("path")?;
    let found = files::stat(host, &path, true, false).await?;
    found.ok_or_else(|| Trouble::new(format!("{} is not there", path.display())))
}

fn about_files(module: &mut Installer<'_>) -> mlua::Result<()> {
    testing(module, "file_exists", "path target", |given: Given, host: Host| async move {
        at(&given, &host).await.map(drop)
    })?;
    for (name, kind, word) in [
        ("is_directory", Kind::Directory, "no directory"),
        ("is_file", Kind::File, "no plain file"),
    ] {
        testing(module, name, "path target", move |given: Given, host: Host| async move {
            let found = at(&given, &host).await?;
            expect(found.kind == kind, || format!("{} is {word}", found.path.display()))
        })?;
    }
    testing(
        module,
        "file_contains",
        "path pattern target; text content",
        |given: Given, host: Host| async move {
            let (path, pattern) = (given.path("path")?, pattern(&given)?);
            let bytes = files::read(&host, &path, TEXT_MAX).await?;
            let is_so = fits(&String::from_utf8_lossy(&bytes), &pattern);
            expect(is_so, || format!("{} has no `{pattern}` in it", path.display()))
        },
    )?;
    testing(module, "file_mode", "path mode target", |given: Given, host: Host| async move {
        let wanted: hostler_host::Mode = given.text("mode")?.parse()?;
        let found = at(&given, &host).await?;
        expect(found.mode == wanted, || {
            format!("{} has the mode {}, not {wanted}", found.path.display(), found.mode)
        })
    })?;
    testing(
        module,
        "file_owner",
        "path user target; owner",
        |given: Given, host: Host| async move {
            let wanted =
                if given.has("owner") { given.text("owner")? } else { given.text("user")? };
            let found = at(&given, &host).await?;
            belongs(&found.path, &wanted, found.owner.as_deref(), found.uid)
        },
    )?;
    testing(module, "file_group", "path group target", |given: Given, host: Host| async move {
        let found = at(&given, &host).await?;
        belongs(&found.path, &given.text("group")?, found.group.as_deref(), found.gid)
    })?;
    testing(module, "file_size", "path bytes target; size", |given: Given, host: Host| async move {
        let name = if given.has("size") { "size" } else { "bytes" };
        let wanted: u64 = given.number(name)?.ok_or_else(|| given.misuse("needs `bytes`"))?;
        let found = at(&given, &host).await?;
        expect(found.size == wanted, || {
            format!("{} has {} bytes, not {wanted}", found.path.display(), found.size)
        })
    })
}

fn belongs(path: &Path, wanted: &str, name: Option<&str>, number: u32) -> Result<(), Trouble> {
    let is_so = name == Some(wanted) || number.to_string() == wanted;
    let is = name.map_or_else(|| number.to_string(), str::to_owned);
    expect(is_so, || format!("{} belongs to {is}, not to {wanted}", path.display()))
}

fn pattern(given: &Given) -> mlua::Result<String> {
    let name = ["pattern", "text", "content"].into_iter().find(|name| given.has(name));
    given.text(name.unwrap_or("pattern"))
}

/// A text is meant as it is, or as a regular expression.
fn fits(text: &str, pattern: &str) -> bool {
    text.contains(pattern)
        || regex::RegexBuilder::new(pattern)
            .multi_line(true)
            .size_limit(4 << 20)
            .build()
            .is_ok_and(|regex| regex.is_match(text))
}

fn about_network(module: &mut Installer<'_>) -> mlua::Result<()> {
    for (name, protocols, word) in [
        ("port_is_listening", &["tcp", "udp"][..], "nobody waits on port"),
        ("port_is_tcp", &["tcp"][..], "nobody waits for TCP on port"),
        ("port_is_udp", &["udp"][..], "nobody waits for UDP on port"),
    ] {
        testing(module, name, "port target", move |given: Given, host: Host| async move {
            let port: u16 = given.number("port")?.ok_or_else(|| given.misuse("needs `port`"))?;
            let root = host.path("/proc/net")?;
            let ports = proc::blocking(move || proc::listening(&root, protocols)).await?;
            expect(ports.contains(&port), || format!("{word} {port}"))
        })?;
    }
    testing(
        module,
        "can_connect",
        "host port timeout target; timeout_ms",
        |given: Given, _| async move {
            let to = given.text("host")?;
            let port: u16 = given.number("port")?.ok_or_else(|| given.misuse("needs `port`"))?;
            let name = if given.has("timeout_ms") { "timeout_ms" } else { "timeout" };
            let wait = Duration::from_millis(given.number(name)?.unwrap_or(5000));
            let tried = tokio::net::TcpStream::connect((to.as_str(), port));
            match tokio::time::timeout(wait, tried).await {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => {
                    Err(Trouble::new(format!("{to}:{port} cannot be reached: {error}")))
                }
                Err(_) => Err(Trouble::new(format!(
                    "{to}:{port} does not answer within {} ms",
                    wait.as_millis()
                ))),
            }
        },
    )?;
    testing(module, "ping", "host count target", |given: Given, host: Host| async move {
        let to = given.text("host")?;
        if to.starts_with('-') {
            return Err(given.misuse("cannot use such a host").into());
        }
        let count: u32 = given.number("count")?.unwrap_or(1);
        if !host.has("ping") {
            return Err(Trouble::new("ping is not installed here; install iputils"));
        }
        let call =
            hostler_host::Call::new("ping").args(["-c", &count.to_string(), "-W", "5", "--", &to]);
        let finished = host.attempt(call).await?;
        expect(finished.is_success(), || format!("{to} does not answer"))
    })
}

fn about_services(module: &mut Installer<'_>) -> mlua::Result<()> {
    testing(module, "service_is_running", "name target", |given: Given, host: Host| async move {
        let name = given.text("name")?;
        let (is_so, state) = service::is_active(&host, &name).await?;
        expect(is_so, || format!("{name} does not run: it is {state}"))
    })?;
    testing(module, "service_is_enabled", "name target", |given: Given, host: Host| async move {
        let name = given.text("name")?;
        let (is_so, state) = service::is_enabled(&host, &name).await?;
        expect(is_so, || format!("{name} does not start at boot: it is {state}"))
    })?;
    testing(
        module,
        "process_is_running",
        "pattern target; name",
        |given: Given, host: Host| async move {
            let name = if given.has("name") { "name" } else { "pattern" };
            let (pattern, count) = fitting(&given.text(name)?, &host).await?;
            expect(count > 0, || format!("no process fits `{pattern}`"))
        },
    )?;
    testing(
        module,
        "process_count",
        "pattern count target",
        |given: Given, host: Host| async move {
            let wanted: usize =
                given.number("count")?.ok_or_else(|| given.misuse("needs `count`"))?;
            let (pattern, count) = fitting(&given.text("pattern")?, &host).await?;
            expect(count == wanted, || format!("{count} processes fit `{pattern}`, not {wanted}"))
        },
    )?;
    testing(
        module,
        "package_is_installed",
        "name target; package",
        |given: Given, host: Host| async move {
            let name =
                if given.has("package") { given.text("package")? } else { given.text("name")? };
            let is_so = package::is_installed(&host, &name).await?;
            expect(is_so, || format!("{name} is not installed"))
        },
    )?;
    testing(
        module,
        "package_version",
        "name version target; package",
        |given: Given, host: Host| async move {
            let name =
                if given.has("package") { given.text("package")? } else { given.text("name")? };
            let wanted = given.text("version")?;
            match package::version(&host, &name).await? {
                None => Err(Trouble::new(format!("{name} is not installed"))),
                Some(version) => {
                    let rest = version.strip_prefix(&wanted);
                    let is_so = rest.is_some_and(|rest| {
                        rest.is_empty() || rest.starts_with(['.', '-', '+', '~'])
                    });
                    expect(is_so, || {
                        format!("{name} is installed in version {version}, not {wanted}")
                    })
                }
            }
        },
    )
}

async fn fitting(pattern: &str, host: &Host) -> Result<(String, usize), Trouble> {
    let root = host.path("/proc")?;
    let lines = proc::blocking(move || proc::command_lines(&root)).await?;
    Ok((pattern.to_owned(), lines.iter().filter(|line| fits(line, pattern)).count()))
}

fn about_commands(module: &mut Installer<'_>) -> mlua::Result<()> {
    testing(module, "command_succeeds", "command target", |given: Given, _| async move {
        let (line, ended) = run(&given).await?;
        expect(ended.is_success(), || {
            format!("`{line}` ended with {}: {}", ended.code(), said(&ended.stderr))
        })
    })?;
    testing(module, "command_fails", "command target", |given: Given, _| async move {
        let (line, ended) = run(&given).await?;
        expect(!ended.is_success(), || format!("`{line}` succeeded"))
    })?;
    testing(
        module,
        "command_stdout_contains",
        "command pattern target; text",
        |given: Given, _| async move {
            let pattern = pattern(&given)?;
            let (line, ended) = run(&given).await?;
            let out = said(&ended.stdout);
            expect(fits(&out, &pattern), || format!("`{line}` said no `{pattern}` but: {out}"))
        },
    )?;
    testing(module, "command_stderr_is_empty", "command target", |given: Given, _| async move {
        let (line, ended) = run(&given).await?;
        let complaint = said(&ended.stderr);
        expect(complaint.is_empty(), || format!("`{line}` complained: {complaint}"))
    })?;
    testing(
        module,
        "command_output_equals",
        "command expected target",
        |given: Given, _| async move {
            let wanted = given.text("expected")?;
            let (line, ended) = run(&given).await?;
            let out = said(&ended.stdout);
            expect(out == wanted.trim(), || {
                format!("`{line}` said `{out}`, not `{}`", wanted.trim())
            })
        },
    )
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

async fn run(given: &Given) -> Result<(String, Ended), Trouble> {
    let line = given.text("command")?;
    let mut order = Order::shell("/bin/sh", &line);
    order.prepare(&acting());
    order.timeout = Some(COMMAND_MAX);
    let ended = order.run().await.map_err(|error| Trouble::new(told(&error)))?;
    Ok((line, ended))
}
