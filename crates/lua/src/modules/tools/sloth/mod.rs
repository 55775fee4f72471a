//! `sloth`: this system itself, from within a step.
//!
//! Most of it is `hostler` with words. `agents` brings agents to machines over SSH, `profiles` keeps names for machines
//! where OpenSSH looks for them.

mod agents;
mod profiles;

use mlua::{MultiValue, Result};

use super::super::{Described, Installer, Module, acting};
use super::arguments::Arguments;
use super::tool::{Call, Program, one, refused, settled, would};
use super::verb::{Gives, Verb, describe, install as install_verbs, nested};

static HOSTLER: Program = Program {
    name: "hostler",
    hint: "put it on the path of the step, or name it in HOSTLER_BIN",
    variable: Some("HOSTLER_BIN"),
};

pub(crate) const MODULE: Module = Module {
    name: "sloth",
    about: "Hostler itself, from within a step: its agents, workflows and stacks, with the `hostler` on the path (or in HOSTLER_BIN) and whoever it is signed in as. The name is that of the system whose files use it.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; OWN.len() + VERBS.len()] = describe(OWN, VERBS);

const OWN: &[Described] = &[
    Described {
        name: "agent.install",
        signature: "{ name, ssh_host, ssh_user = \"root\", ssh_port, ssh_key, accept_new, master, show_only } -> result | nil, error",
        about: "Makes a machine a node: brings this `hostler` there over SSH, joins it to the server whose URL is `master` with a ticket made for its name, and starts the agent with systemd. One that is a node already stays as it is. With `show_only` the result only has the `commands`.",
        example: "local r = sloth.agent.install{ name = 'web-1', ssh_host = '10.0.0.7', master = 'https://control:7443', show_only = true }\nassert(#r.commands == 6 and r.commands[1] == 'hostler node get web-1')",
    },
    Described {
        name: "agent.update",
        signature: "{ name, ssh_host, ssh_user, ssh_port, ssh_key, accept_new, show_only } -> result | nil, error",
        about: "Brings this `hostler` to a machine over SSH and restarts the agent there, unless it has the same one. What runs there goes on.",
        example: "local r = sloth.agent.update{ ssh_host = '10.0.0.7', ssh_key = '~/.ssh/id', show_only = true }\nassert(r.commands[4]:find('systemctl restart hostler%-agent'))",
    },
    Described {
        name: "agent.start",
        signature: "([{ ssh_host, ssh_user, ssh_port, ssh_key, accept_new, show_only }]) -> result | nil, error",
        about: "Starts the agent that is installed on a machine: on this one where none is told.",
        example: "assert(sloth.agent.start{ show_only = true }.commands[2] == 'systemctl start hostler-agent')",
    },
    Described {
        name: "agent.stop",
        signature: "([{ ssh_host, ssh_user, ssh_port, ssh_key, accept_new, show_only }]) -> result | nil, error",
        about: "Stops the agent of a machine: of this one where none is told. What runs there goes on.",
        example: "local r = sloth.agent.stop{ ssh_host = 'web-1', ssh_user = 'ann', show_only = true }\nassert(r.commands[2]:find('ann@web%-1') and r.commands[2]:find('systemctl stop hostler%-agent'))",
    },
    Described {
        name: "ssh.add",
        signature: "{ name, host, user, port, key_path } -> result | nil, error",
        about: "Keeps a name for a machine in `~/.ssh/config`, between two lines that mark it; `ssh.connect` and everything else that uses OpenSSH knows it then.",
        example: "assert(sloth.ssh.add{ name = 'web', host = '10.0.0.7', user = 'ann', port = 2222 }.changed)\nassert(not sloth.ssh.add{ name = 'web', host = '10.0.0.7', user = 'ann', port = 2222 }.changed)",
    },
    Described {
        name: "ssh.list",
        signature: "() -> [{ name, host, user, port, key_path }] | nil, error",
        about: "The names that were kept so.",
        example: "sloth.ssh.add{ name = 'web', host = '10.0.0.7', key_path = '~/.ssh/web' }\nlocal p = sloth.ssh.list()[1]\nassert(p.name == 'web' and p.host == '10.0.0.7' and p.key_path == '~/.ssh/web')",
    },
    Described {
        name: "ssh.remove",
        signature: "(name) or { name } -> result | nil, error",
        about: "Forgets one; what others wrote into the file stays.",
        example: "sloth.ssh.add{ name = 'web', host = '10.0.0.7' }\nassert(sloth.ssh.remove('web').changed and #sloth.ssh.list() == 0)",
    },
    Described {
        name: "workflow.add",
        signature: "{ file, name, description, show_only } -> result | nil, error",
        about: "Keeps the workflows of a file on the server, under the names and with the descriptions that the file has; saying them here, too, changes nothing. What is kept can be run.",
        example: "assert(sloth.workflow.add{ name = 'b', file = 'b.lua', show_only = true }.command)",
    },
    Described {
        name: "workflow.activate",
        signature: "{ name } -> result | nil, error",
        about: "Sees that the server keeps a workflow, which can be run then.",
        example: "local r, err = sloth.workflow.activate{ name = 'no-such-one' }\nlog.info(r or err)",
    },
    Described {
        name: "workflow.deactivate",
        signature: "{ name } -> nil, error",
        about: "Always refuses: what the server keeps can be run. The error says what to do instead.",
        example: "local r, err = sloth.workflow.deactivate{ name = 'b' }\nlog.info(err)",
    },
];

fn install(module: &mut Installer<'_>) -> Result<()> {
    install_verbs(module, &HOSTLER, VERBS)?;
    agents::install(&mut within(module, "agent")?)?;
    profiles::install(&mut within(module, "ssh")?)?;
    let mut workflow = within(module, "workflow")?;
    workflow.act_async("add", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "sloth.workflow.add", args, &["name", "file"])?;
        if args.text("active")?.as_deref() == Some("false") {
            return refused(&lua, "what the server keeps can be run; leave `active` out");
        }
        let file = args.required(&["file"])?;
        let call = Call::new(&HOSTLER, ["workflow", "push", &file]);
        if args.flag("show_only")? || acting().check {
            let table = would(&lua, &call)?;
            if acting().check {
                acting().say(&table.raw_get::<String>("message")?);
            }
            return one(&lua, table);
        }
        match call.text().await {
            Ok(said) => one(&lua, settled(&lua, true, &said)?),
            Err(why) => refused(&lua, &why),
        }
    })?;
    workflow.act_async("activate", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "sloth.workflow.activate", args, &["name"])?;
        let name = args.required(&["name"])?;
        match Call::new(&HOSTLER, ["workflow", "show", &name]).text().await {
            Ok(_) => one(&lua, settled(&lua, false, &format!("{name} can be run"))?),
            Err(why) => refused(&lua, &why),
        }
    })?;
    workflow.act_async("deactivate", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "sloth.workflow.deactivate", args, &["name"])?;
        let name = args.required(&["name"])?;
        let advice = "remove it with sloth.workflow.remove, or take `workflow.run` from who should not run it";
        refused(&lua, &format!("{name} can be run for as long as the server keeps it; {advice}"))
    })
}

/// The table of that name in the module.
fn within<'a>(module: &Installer<'a>, name: &str) -> Result<Installer<'a>> {
    let table = nested(module.lua, &module.table, name)?;
    Ok(Installer { lua: module.lua, table, module: module.module })
}

const VERBS: &[Verb] = &[
    Verb::new(
        "exec",
        "(args[, options]) -> result, error",
        "{args...}",
        "Runs hostler with a list of words.",
        "assert(sloth.exec({ 'whoami' }, { show_only = true }).command == 'hostler whoami')",
    ),
    Verb::new(
        "agent.list",
        "([{ output }]) -> result | nil, error",
        "node ls [master? ] [--output {output}]",
        "Nodes; `output` has them as text, or as `json` says.",
        "assert(sloth.agent.list{ master = 'x:1', show_only = true }.command == 'hostler node ls')",
    )
    .gives(Gives::Done)
    .reads(),
    Verb::new(
        "agent.get",
        "{ name, output } -> result | nil, error",
        "node get {name} [master? ] [--output {output}]",
        "A node in full.",
        "assert(sloth.agent.get{ name = 'web-1', show_only = true }.command == 'hostler node get web-1')",
    )
    .gives(Gives::Done)
    .reads(),
    Verb::new(
        "agent.delete",
        "{ name } -> result | nil, error",
        "node rm {name} [master? ] --yes",
        "Takes a node out.",
        "assert(sloth.agent.delete{ name = 'web-1', show_only = true }.command == 'hostler node rm web-1 --yes')",
    )
    .gives(Gives::Done),
    Verb::new(
        "workflow.list",
        "([{ active_only, output }]) -> result | nil, error",
        "workflow ls [active_only? ] [--output {output}]",
        "Workflows that the server keeps, all of which can be run.",
        "assert(sloth.workflow.list{ active_only = true, show_only = true }.command)",
    )
    .gives(Gives::Done)
    .reads(),
    Verb::new(
        "workflow.get",
        "{ name, output } -> result | nil, error",
        "workflow show {name} [--output {output}]",
        "A workflow in full.",
        "assert(sloth.workflow.get{ name = 'b', show_only = true }.command)",
    )
    .gives(Gives::Done)
    .reads(),
    Verb::new(
        "workflow.remove",
        "{ name } -> result | nil, error",
        "workflow rm {name} --yes",
        "Forgets a workflow.",
        "assert(sloth.workflow.remove{ name = 'b', show_only = true }.command)",
    )
    .gives(Gives::Done),
    Verb::new(
        "stack.list",
        "([{ output }]) -> result | nil, error",
        "stack ls [--output {output}]",
        "Stacks.",
        "assert(sloth.stack.list{ show_only = true }.command == 'hostler stack ls')",
    )
    .gives(Gives::Done)
    .reads(),
    Verb::new(
        "stack.get",
        "{ name, output } -> result | nil, error",
        "stack get {name} [--output {output}]",
        "A stack in full.",
        "assert(sloth.stack.get{ name = 's', show_only = true }.command == 'hostler stack get s')",
    )
    .gives(Gives::Done)
    .reads(),
    Verb::new(
        "stack.delete",
        "{ name } -> result | nil, error",
        "stack rm {name} --yes",
        "Deletes a stack with everything in it.",
        "assert(sloth.stack.delete{ name = 's', show_only = true }.command == 'hostler stack rm s --yes')",
    )
    .gives(Gives::Done),
    Verb::new(
        "run",
        "{ file | sloth, workflow, task, values, set, delegate_to, version } -> result | nil, error",
        "workflow run {file/sloth~} [--workflow {workflow}] [--task {task}] [--values {values~}] [--set {set=}] [--delegate-to {delegate_to*}] [--version {version}]",
        "Carries out the workflows of a file, or with `sloth` one that the server keeps, and waits for them.",
        "local r = sloth.run{ file = 'b.lua', task = 't', set = { tag = 'v2' }, show_only = true }\nassert(r.argv[4] == 'b.lua' and r.argv[#r.argv] == 'tag=v2')\nr = sloth.run{ sloth = 'release', delegate_to = { 'a', 'b' }, show_only = true }\nassert(r.argv[4] == 'release' and r.argv[6] == 'a' and r.argv[8] == 'b')",
    )
    .gives(Gives::Done),
];
