//! Functions that are one program with its arguments, as data.
//!
//! The words of a program are written in a line: `{name}` is the value of an argument, `{name..}` each item of a list,
//! `{name?--flag}` the flag where the argument is true, `{name=--option}` the option with the value where it is given,
//! `{name%}` a size for LVM, `{a/b}` two values with a slash between them, `{a^b}` the second in the place of
//! the last part of the first. No value may look like an option. What is `unless` or `only` is asked before, so that
//! what is so already is not done again.

use hostler_host::{Call, Change, Host, Outcome};
use mlua::{Lua, MultiValue};
use serde_json::{Map, Value as Json, json};

use super::given::Given;
use super::machine::{Trouble, asking, done, host, troubled};
use crate::modules::{Installer, acting};

/// When something is so already.
#[derive(Clone, Copy)]
pub(super) enum Already {
    Unknown,
    /// Where these words succeed.
    Unless(&'static str),
    /// Where these words fail.
    Only(&'static str),
}

/// A function that changes something.
pub(super) struct Wrapped {
    pub name: &'static str,
    pub takes: &'static str,
    pub words: &'static str,
    pub already: Already,
}

impl Wrapped {
    pub const fn new(name: &'static str, takes: &'static str, words: &'static str) -> Wrapped {
        Wrapped { name, takes, words, already: Already::Unknown }
    }

    pub const fn unless(mut self, words: &'static str) -> Wrapped {
        self.already = Already::Unless(words);
        self
    }

    pub const fn only(mut self, words: &'static str) -> Wrapped {
        self.already = Already::Only(words);
        self
    }

    async fn carry_out(&self, given: &Given, host: &Host) -> Result<Outcome, Trouble> {
        let call = call(given, self.words)?;
        let argv = call.argv().join(" ");
        let is_already = match self.already {
            Already::Unknown => false,
            Already::Unless(words) => asked(given, host, words).await?,
            Already::Only(words) => !asked(given, host, words).await?,
        };
        if is_already {
            return Ok(Outcome::unchanged(format!("it is already so: `{argv}` is not needed")));
        }
        perform(host, call).await
    }
}

/// Runs what changes something, or says so.
pub(super) async fn perform(host: &Host, call: Call) -> Result<Outcome, Trouble> {
    let argv = call.argv().join(" ");
    require(host, &call.program)?;
    let diff = vec![Change::added("run", argv.as_str())];
    if acting().check {
        let message = format!("to be done: {argv}");
        acting().say(&message);
        return Ok(Outcome { changed: true, message, diff, output: String::new() });
    }
    let output = host.run(call).await?.text();
    Ok(Outcome { changed: true, message: format!("done: {argv}"), diff, output })
}

pub(super) fn install(
    module: &mut Installer<'_>,
    functions: &'static [Wrapped],
) -> mlua::Result<()> {
    for function in functions {
        let full = format!("{}.{}", module.module, function.name);
        module.act_async(function.name, move |lua: Lua, args: MultiValue| {
            let full = full.clone();
            async move {
                let given = Given::read(full, function.takes, args)?;
                match function.carry_out(&given, &host()).await {
                    Ok(outcome) => done(&lua, &outcome, &Map::new()),
                    Err(trouble) => troubled(&lua, trouble),
                }
            }
        })?;
    }
    Ok(())
}

/// A function that asks a program, and reads what it says.
pub(super) fn reading(
    module: &mut Installer<'_>,
    name: &'static str,
    takes: &'static str,
    words: &'static str,
    read: fn(&str) -> Result<Json, String>,
) -> mlua::Result<()> {
    asking(module, name, takes, move |given: Given, host: Host| async move {
        let call = call(&given, words)?;
        require(&host, &call.program)?;
        let said = host.run(call).await?.text();
        Ok(vec![read(&said).map_err(Trouble::Failure)?])
    })
}

/// A function that asks a program for yes or no.
pub(super) fn whether(
    module: &mut Installer<'_>,
    name: &'static str,
    takes: &'static str,
    words: &'static str,
) -> mlua::Result<()> {
    asking(module, name, takes, move |given: Given, host: Host| async move {
        Ok(vec![json!(asked(&given, &host, words).await?)])
    })
}

async fn asked(given: &Given, host: &Host, words: &str) -> Result<bool, Trouble> {
    let call = call(given, words)?;
    require(host, &call.program)?;
    Ok(host.attempt(call).await?.is_success())
}

pub(super) fn require(host: &Host, program: &str) -> Result<(), Trouble> {
    match host.has(program) {
        true => Ok(()),
        false => {
            let package = PACKAGES.iter().find(|(name, _)| *name == program);
            let package = package.map_or(program, |(_, package)| package);
            Err(Trouble::new(format!("{program} is not installed here; install `{package}`")))
        }
    }
}

/// Programs whose package has another name.
const PACKAGES: [(&str, &str); 5] = [
    ("exportfs", "nfs-kernel-server` or `nfs-utils"),
    ("smbcontrol", "samba"),
    ("smbpasswd", "samba"),
    ("nixos-rebuild", "NixOS"),
    ("nix-env", "nix"),
];

/// The call that a line of words stands for.
pub(super) fn call(given: &Given, words: &str) -> Result<Call, Trouble> {
    let mut argv = Vec::new();
    for word in words.split_whitespace() {
        match word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) {
            None => argv.push(word.to_owned()),
            Some(hole) => fill(given, hole, &mut argv)?,
        }
    }
    let mut argv = argv.into_iter();
    let program = argv.next().unwrap_or_default();
    Ok(Call::new(program).args(argv).privileged().timeout(LONGEST))
}

/// Reshaping and moving data takes its time.
pub(super) const LONGEST: std::time::Duration = std::time::Duration::from_secs(3600);

fn fill(given: &Given, hole: &str, argv: &mut Vec<String>) -> Result<(), Trouble> {
    if let Some((name, flag)) = hole.split_once('?') {
        if given.is(name)? {
            argv.push(flag.to_owned());
        }
    } else if let Some((name, option)) = hole.split_once('=') {
        if given.has(name) {
            argv.extend([option.to_owned(), plain(given, name)?]);
        }
    } else if let Some(name) = hole.strip_suffix("..") {
        let items = given.texts(name)?;
        if items.is_empty() {
            return Err(given.misuse(&format!("needs `{name}`")).into());
        }
        for item in items {
            argv.push(checked(given, name, item)?);
        }
    } else if let Some(name) = hole.strip_suffix('%') {
        let size = sized(given, name)?;
        argv.extend([if size.contains('%') { "-l" } else { "-L" }.to_owned(), size]);
    } else if let Some((one, other)) = hole.split_once('/') {
        argv.push(format!("{}/{}", plain(given, one)?, plain(given, other)?));
    } else if let Some((one, other)) = hole.split_once('^') {
        let beside = plain(given, one)?;
        let (folder, _) = beside.rsplit_once('/').unwrap_or_default();
        argv.push(format!("{folder}/{}", plain(given, other)?));
    } else {
        argv.push(plain(given, hole)?);
    }
    Ok(())
}

/// A size may be a difference: `+10G`.
fn sized(given: &Given, name: &str) -> Result<String, Trouble> {
    let size = given.text(name)?;
    let body = size.trim_start_matches(['+', '-']);
    let is_plain =
        !body.is_empty() && body.bytes().all(|b| b.is_ascii_alphanumeric() || b".%".contains(&b));
    match is_plain {
        true => Ok(size),
        false => Err(given
            .misuse(&format!("cannot use `{size}` as `{name}`; write `10G` or `100%FREE`"))
            .into()),
    }
}

fn plain(given: &Given, name: &str) -> Result<String, Trouble> {
    let value = given.text(name)?;
    checked(given, name, value)
}

fn checked(given: &Given, name: &str, value: String) -> Result<String, Trouble> {
    match value.is_empty() || value.starts_with('-') || value.contains(['\n', '\0']) {
        true => Err(given.misuse(&format!("cannot use `{value}` as `{name}`")).into()),
        false => Ok(value),
    }
}
