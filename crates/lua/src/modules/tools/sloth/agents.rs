//! Agents on machines that SSH reaches, and on this one.
//!
//! Everything is a list of commands, so that it can be shown as well as done. The ticket of a new node is given to
//! the machine on its input, and is in no command.

use std::path::{Path, PathBuf};

use mlua::{Lua, MultiValue, Result, Table};

use super::super::super::{Installer, acting};
use super::super::arguments::Arguments;
use super::super::tool::{
    Call, Program, failure, find, one, planned, quoted, refused, settled, stdout,
};
use super::HOSTLER;

static SSH: Program = Program::new("ssh", "install OpenSSH's client");
static SFTP: Program = Program::new("sftp", "install OpenSSH's client");
static SYSTEMCTL: Program =
    Program::new("systemctl", "agents are installed on machines with systemd");

const THERE: &str = "/usr/local/bin/hostler";
const ASIDE: &str = "/usr/local/bin/.hostler.new";
const UNIT: &str = "hostler-agent";

pub(super) fn install(agent: &mut Installer<'_>) -> Result<()> {
    agent.act_async("install", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "sloth.agent.install", args, &["name"])?;
        let (name, there) = (args.required(&["name"])?, There::read(&args)?);
        let Some(there) = there else { return Err(args.mistake("`ssh_host` is missing")) };
        let server = args.required(&["master", "server"])?;
        if !is_plain(&name) {
            return Err(args.mistake("a name is made of letters, digits, `-`, `_` and `.`"));
        }
        let server = if server.contains("://") { server } else { format!("https://{server}") };
        join(&lua, &args, &there, &name, &server).await
    })?;
    agent.act_async("update", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "sloth.agent.update", args, &["name"])?;
        match There::read(&args)? {
            Some(there) => update(&lua, &args, &there).await,
            None => Err(args.mistake("`ssh_host` is missing: agents are updated over SSH")),
        }
    })?;
    for verb in ["start", "stop"] {
        agent.act_async(verb, move |lua, args: MultiValue| async move {
            let args = Arguments::read(&lua, "sloth.agent", args, &["name"])?;
            turn(&lua, &args, There::read(&args)?, verb).await
        })?;
    }
    Ok(())
}

fn is_plain(text: &str) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || "-_.:@%[]".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(is_known)
}

/// A machine that SSH reaches.
struct There {
    options: Vec<String>,
    destination: String,
}

impl There {
    fn read(args: &Arguments) -> Result<Option<There>> {
        let Some(host) = args.any(&["ssh_host", "host"])? else { return Ok(None) };
        let user = args.any(&["ssh_user", "user"])?.unwrap_or_else(|| "root".to_owned());
        if !is_plain(&host) || !is_plain(&user) {
            return Err(args.mistake("it cannot use such a host or user; write names or addresses"));
        }
        let checking = if args.flag("accept_new")? { "accept-new" } else { "yes" };
        let mut options =
            vec!["BatchMode=yes".to_owned(), format!("StrictHostKeyChecking={checking}")];
        if let Some(port) = args.number("ssh_port")? {
            options.push(format!("Port={port}"));
        }
        if let Some(key) = args.any(&["ssh_key", "key_path"])? {
            options.push(format!("IdentityFile={}", acting().path(&key).display()));
        }
        Ok(Some(There { options, destination: format!("{user}@{host}") }))
    }

    fn call(&self, program: &'static Program, more: &[&str]) -> Call {
        let options = self.options.iter().flat_map(|option| ["-o", option.as_str()]);
        Call::new(program, options.chain(more.iter().copied()))
    }

    fn line(&self, line: &str) -> Call {
        self.call(&SSH, &["-T", "--", &self.destination, line])
    }

    /// Brings a program there, to be put in its place by the next line.
    fn bring(&self, program: &Path) -> Call {
        let path = program.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        let mut call = self.call(&SFTP, &["-q", "-b", "-", "--", &self.destination]);
        call.input = Some(format!("put \"{path}\" {ASIDE}\n").into_bytes());
        call
    }

    fn place(&self) -> Call {
        self.line(&format!("chmod 0755 {ASIDE} && mv -f {ASIDE} {THERE}"))
    }
}

/// The program that is brought to others: the one that steps here use.
fn own_program() -> std::result::Result<PathBuf, String> {
    let step = acting();
    let name = HOSTLER.called(&step);
    find(&step, &name).ok_or_else(|| format!("{name} is not installed here; {}", HOSTLER.hint))
}

async fn done(calls: Vec<Call>) -> std::result::Result<(), String> {
    for call in calls {
        call.text().await?;
    }
    Ok(())
}

/// Only shows commands, where that is all that is wanted.
fn shown(lua: &Lua, args: &Arguments, calls: &[Call]) -> Result<Option<Table>> {
    if !args.flag("show_only")? && !acting().check {
        return Ok(None);
    }
    let lines: Vec<String> = calls.iter().map(Call::line).collect();
    let message = format!("would run: {}", lines.join("; "));
    if acting().check {
        acting().say(&message);
    }
    let table = planned(lua, &message)?;
    table.raw_set("commands", lua.create_sequence_from(lines)?)?;
    Ok(Some(table))
}

async fn join(
    lua: &Lua,
    args: &Arguments,
    there: &There,
    name: &str,
    server: &str,
) -> Result<MultiValue> {
    let asked = || Call::new(&HOSTLER, ["node", "get", name]);
    if !args.flag("show_only")? {
        match asked().run().await {
            Err(why) => return refused(lua, &why),
            Ok(ended) if ended.is_success() => {
                return one(lua, settled(lua, false, &format!("{name} is a node already"))?);
            }
            Ok(_) => {}
        }
    }
    let token = Call::new(
        &HOSTLER,
        ["node", "token", "create", "--name", name, "--output", "jsonpath={.ticket}"],
    );
    let mut join =
        there.line(&format!("{THERE} agent join - --server {} --name {name}", quoted(server)));
    let start = there.line(&format!("{THERE} agent install --start"));
    let program = match own_program() {
        Ok(program) => program,
        Err(_) if args.flag("show_only")? => PathBuf::from("hostler"),
        Err(why) => return refused(lua, &why),
    };
    let mut calls = vec![asked(), token, there.bring(&program), there.place(), join, start];
    if let Some(table) = shown(lua, args, &calls)? {
        return one(lua, table);
    }
    let start = calls.pop();
    join = calls.remove(4);
    let token = calls.remove(1);
    calls.remove(0);
    let came = async {
        done(calls).await?;
        join.input = Some(token.text().await?.into_bytes());
        join.text().await?;
        done(start.into_iter().collect()).await
    };
    match came.await {
        Ok(()) => one(lua, settled(lua, true, &format!("{name} is a node of {server}"))?),
        Err(why) => refused(lua, &why),
    }
}

async fn update(lua: &Lua, args: &Arguments, there: &There) -> Result<MultiValue> {
    let asked = there.line(&format!("sha256sum {THERE}"));
    let restart = there.line(&format!("systemctl restart {UNIT}"));
    let program = match own_program() {
        Ok(program) => program,
        Err(_) if args.flag("show_only")? => PathBuf::from("hostler"),
        Err(why) => return refused(lua, &why),
    };
    if args.flag("show_only")? {
        let calls = [asked, there.bring(&program), there.place(), restart];
        return Ok(shown(lua, args, &calls)?.map_or(MultiValue::new(), |table| {
            MultiValue::from_iter([mlua::Value::Table(table)])
        }));
    }
    let theirs = match asked.run().await {
        Err(why) => return refused(lua, &why),
        Ok(ended) if ended.code() == 255 => return refused(lua, &failure(&SSH, &ended)),
        Ok(ended) => stdout(&ended),
    };
    let own = match digest(program.clone()).await {
        Ok(own) => own,
        Err(error) => return refused(lua, &format!("{}: {error}", program.display())),
    };
    if theirs.split_whitespace().next() == Some(own.as_str()) {
        return one(lua, settled(lua, false, "it has the same program")?);
    }
    let calls = vec![there.bring(&program), there.place(), restart];
    if let Some(table) = shown(lua, args, &calls)? {
        return one(lua, table);
    }
    match done(calls).await {
        Ok(()) => one(lua, settled(lua, true, &format!("{} is updated", there.destination))?),
        Err(why) => refused(lua, &why),
    }
}

async fn digest(path: PathBuf) -> std::io::Result<String> {
    let work = tokio::task::spawn_blocking(move || {
        let mut context = ring::digest::Context::new(&ring::digest::SHA256);
        let mut file = std::fs::File::open(path)?;
        let mut buffer = vec![0; 1 << 20];
        loop {
            match std::io::Read::read(&mut file, &mut buffer)? {
                0 => break,
                read => context.update(&buffer[..read]),
            }
        }
        let digest = context.finish();
        Ok(digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    });
    work.await.unwrap_or_else(|gone| Err(std::io::Error::other(gone)))
}

async fn turn(lua: &Lua, args: &Arguments, there: Option<There>, verb: &str) -> Result<MultiValue> {
    let call = |words: &[&str]| match &there {
        Some(there) => there.line(&format!("systemctl {}", words.join(" "))),
        None => Call::new(&SYSTEMCTL, words.iter().copied()),
    };
    let (question, order) = (["is-active", "--quiet", UNIT], [verb, UNIT]);
    if args.flag("show_only")? {
        let calls = [call(&question), call(&order)];
        let table = shown(lua, args, &calls)?;
        return one(lua, table);
    }
    match call(&question).run().await {
        Err(why) => return refused(lua, &why),
        Ok(ended) if ended.code() == 255 => return refused(lua, &failure(&SSH, &ended)),
        Ok(ended) if ended.is_success() == (verb == "start") => {
            return one(lua, settled(lua, false, &format!("the agent: {verb} is done already"))?);
        }
        Ok(_) => {}
    }
    if let Some(table) = shown(lua, args, &[call(&order)])? {
        return one(lua, table);
    }
    match call(&order).text().await {
        Ok(_) => one(lua, settled(lua, true, &format!("the agent: {verb} is done"))?),
        Err(why) => refused(lua, &why),
    }
}
