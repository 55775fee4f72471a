//! What is done on another machine.

use hostler_host::{Change, Outcome};
use mlua::{IntoLuaMulti, Lua, MultiValue, Table, Value};
use serde_json::{Map, json};

use super::client::{Client, line, path_word};
use crate::modules::exec::result;
use crate::modules::system::given::Given;
use crate::modules::system::machine::{Trouble, done, troubled};
use crate::modules::{Ended, Installer, acting};
use crate::value::from_json;

pub(super) fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    module.act_async("connect", connect)?;
    module.act("disconnect", |_, client: Table| {
        Client::close(&client)?;
        Ok(true)
    })?;
    module.act_async("exec", exec)?;
    looking(module, "exists", |given| async move {
        let client = Client::of(&given)?;
        let asked = client.run(&line(&["test", "-e", &operand(&given)?])).await?;
        Ok(vec![json!(asked.is_success())])
    })?;
    looking(module, "stat", |given| async move {
        let (client, path) = (Client::of(&given)?, operand(&given)?);
        let said = client.tell(&["stat", "-c", "%s %f %Y %u %g", "--", &path]).await?;
        Ok(vec![json!(true), facts(&path, &said)?])
    })?;
    looking(module, "list_dir", |given| async move {
        let (client, path) = (Client::of(&given)?, operand(&given)?);
        let said = client.tell(&["ls", "-1A", "--", &path]).await?;
        Ok(vec![json!(true), json!(said.lines().collect::<Vec<_>>())])
    })?;
    doing(module, "mkdir", "client path", |given| {
        Ok(Act::Tell(words(&["mkdir", "-p", "--", &operand(given)?])))
    })?;
    doing(module, "remove", "client path recursive", |given| {
        let flags = if given.is("recursive")? { "-rf" } else { "-f" };
        Ok(Act::Tell(words(&["rm", flags, "--", &operand(given)?])))
    })?;
    doing(module, "rename", "client from to", |given| {
        Ok(Act::Tell(words(&["mv", "-T", "--", &given.text("from")?, &given.text("to")?])))
    })?;
    doing(module, "chmod", "client path mode", |given| {
        let mode: hostler_host::Mode = given.text("mode")?.parse()?;
        Ok(Act::Tell(words(&["chmod", &mode.to_string(), "--", &operand(given)?])))
    })?;
    doing(module, "chown", "client path uid gid", |given| {
        let owner = format!("{}:{}", given.text("uid")?, given.text("gid")?);
        Ok(Act::Tell(words(&["chown", &owner, "--", &operand(given)?])))
    })?;
    doing(module, "upload", "client local remote", |given| {
        let (from, to) = (given.path("local")?.display().to_string(), given.text("remote")?);
        Ok(Act::Transfer(vec![format!("put {} {}", path_word(&from)?, path_word(&to)?)]))
    })?;
    doing(module, "download", "client remote local", |given| {
        let (from, to) = (given.text("remote")?, given.path("local")?.display().to_string());
        Ok(Act::Transfer(vec![format!("get {} {}", path_word(&from)?, path_word(&to)?)]))
    })?;
    doing(module, "upload_dir", "client local remote", |given| {
        let from = given.path("local")?.join(".").display().to_string();
        let to = path_word(&given.text("remote")?)?;
        Ok(Act::Transfer(vec![
            format!("-mkdir {to}"),
            format!("put -r {} {to}", path_word(&from)?),
        ]))
    })?;
    doing(module, "download_dir", "client remote local", |given| {
        let from = format!("{}/.", given.text("remote")?.trim_end_matches('/'));
        let to = path_word(&given.path("local")?.display().to_string())?;
        Ok(Act::Transfer(vec![
            format!("-lmkdir {to}"),
            format!("get -r {} {to}", path_word(&from)?),
        ]))
    })
}

/// A path there. One that begins with a dash is still a path.
fn operand(given: &Given) -> mlua::Result<String> {
    let path = given.text("path")?;
    Ok(if path.starts_with('-') { format!("./{path}") } else { path })
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

async fn connect(lua: Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    let takes = "host user; port password key_path timeout accept_new known_hosts";
    let given = Given::read("ssh.connect".into(), takes, args)?;
    let tried = async {
        let client = Client::read(&given)?;
        client.tell(&["true"]).await?;
        Ok(client)
    };
    match tried.await {
        Ok(client) => client.table(&lua)?.into_lua_multi(&lua),
        Err(trouble) => troubled(&lua, trouble),
    }
}

/// The client is a table without a list in it, so it is put aside before arguments are read by name.
pub(super) fn read(name: &str, takes: &str, args: MultiValue) -> mlua::Result<Given> {
    let mut args: Vec<Value> = args.into_iter().collect();
    let client =
        if args.is_empty() { Value::Nil } else { std::mem::replace(&mut args[0], Value::Nil) };
    let mut given = Given::read(format!("ssh.{name}"), takes, MultiValue::from_vec(args))?;
    given.put("client", client);
    Ok(given)
}

async fn exec(lua: Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    let given = read("exec", "client command", args)?;
    let run = async {
        let client = Client::of(&given)?;
        let command = match given.value("command") {
            Value::Table(_) => {
                let words = given.texts("command")?;
                line(&words.iter().map(String::as_str).collect::<Vec<_>>())
            }
            _ => given.text("command")?,
        };
        if acting().check {
            acting().say(&format!("to be done: on {}: {command}", client.name()));
            let status = Some(std::os::unix::process::ExitStatusExt::from_raw(0));
            return Ok(Ended {
                status,
                stdout: vec![],
                stderr: vec![],
                lost: 0,
                is_timeout: false,
            });
        }
        client.run(&command).await
    };
    match run.await {
        Ok(ended) => (true, result(&lua, &ended)?).into_lua_multi(&lua),
        Err(trouble) => troubled(&lua, trouble),
    }
}

fn looking<F>(
    module: &mut Installer<'_>,
    name: &'static str,
    f: impl Fn(Given) -> F + Clone + 'static,
) -> mlua::Result<()>
where
    F: Future<Output = Result<Vec<serde_json::Value>, Trouble>> + 'static,
{
    module.act_async(name, move |lua: Lua, args: MultiValue| {
        let f = f.clone();
        async move {
            match f(read(name, "client path", args)?).await {
                Ok(answers) => answers.iter().map(|answer| from_json(&lua, answer)).collect(),
                Err(trouble) => troubled(&lua, trouble),
            }
        }
    })
}

/// What changes the other machine, or this one.
enum Act {
    Tell(Vec<String>),
    Transfer(Vec<String>),
}

fn doing(
    module: &mut Installer<'_>,
    name: &'static str,
    takes: &'static str,
    decide: fn(&Given) -> Result<Act, Trouble>,
) -> mlua::Result<()> {
    module.act_async(name, move |lua: Lua, args: MultiValue| async move {
        let given = read(name, takes, args)?;
        match perform(&given, decide).await {
            Ok(outcome) => done(&lua, &outcome, &Map::new()),
            Err(trouble) => troubled(&lua, trouble),
        }
    })
}

async fn perform(
    given: &Given,
    decide: fn(&Given) -> Result<Act, Trouble>,
) -> Result<Outcome, Trouble> {
    let client = Client::of(given)?;
    let act = decide(given)?;
    let shown = match &act {
        Act::Tell(words) => words.join(" "),
        Act::Transfer(commands) => commands.join("; "),
    };
    let diff = vec![Change::added(client.name(), shown.as_str())];
    let message = format!("{}: {shown}", client.name());
    if acting().check {
        let message = format!("to be done: {message}");
        acting().say(&message);
        return Ok(Outcome { changed: true, message, diff, output: String::new() });
    }
    let output = match act {
        Act::Tell(words) => {
            client.tell(&words.iter().map(String::as_str).collect::<Vec<_>>()).await?
        }
        Act::Transfer(commands) => {
            client.transfer(&commands).await?;
            String::new()
        }
    };
    Ok(Outcome { changed: true, message, diff, output })
}

/// What `stat` said: size, mode in hexadecimal, time, owner and group.
fn facts(path: &str, said: &str) -> Result<serde_json::Value, Trouble> {
    let unread =
        || Trouble::new(format!("`stat` of the other machine said what cannot be read: {said}"));
    let numbers: Vec<&str> = said.split_whitespace().collect();
    let [size, mode, time, uid, gid] = numbers.as_slice() else { return Err(unread()) };
    let mode = u32::from_str_radix(mode, 16).map_err(|_| unread())?;
    let number = |text: &str| text.parse::<i64>().map_err(|_| unread());
    Ok(json!({
        "name": path.rsplit('/').next().unwrap_or(path),
        "path": path,
        "size": number(size)?,
        "mode": format!("{:04o}", mode & 0o7777),
        "is_dir": mode & 0o170_000 == 0o040_000,
        "mod_time": number(time)?,
        "uid": number(uid)?,
        "gid": number(gid)?,
    }))
}
