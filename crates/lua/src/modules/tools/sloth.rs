//! `sloth`: this system itself, from within a step.

use mlua::Result;

use super::super::{Described, Installer, Module};
use super::tool::Program;
use super::verb::{Gives, Verb, describe, install as install_verbs};

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

const FUNCTIONS: [Described; VERBS.len()] = describe(&[], VERBS);

fn install(module: &mut Installer<'_>) -> Result<()> {
    install_verbs(module, &HOSTLER, VERBS).map(drop)
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
        "workflow.add",
        "{ name, file, description, active } -> result | nil, error",
        "workflow add {name} --file {file~} [--description {description}] [active? ] [active~ --disabled]",
        "Keeps a workflow under a name.",
        "assert(sloth.workflow.add{ name = 'b', file = 'b.lua', active = true, show_only = true }.command)",
    )
    .gives(Gives::Done),
    Verb::new(
        "workflow.list",
        "([{ active_only, output }]) -> result | nil, error",
        "workflow ls [active_only? --enabled] [--output {output}]",
        "Workflows that are kept.",
        "assert(sloth.workflow.list{ active_only = false, show_only = true }.command)",
    )
    .gives(Gives::Done)
    .reads(),
    Verb::new(
        "workflow.get",
        "{ name, output } -> result | nil, error",
        "workflow get {name} [--output {output}]",
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
        "workflow.activate",
        "{ name } -> result | nil, error",
        "workflow enable {name}",
        "Lets a workflow be run.",
        "assert(sloth.workflow.activate{ name = 'b', show_only = true }.command)",
    )
    .gives(Gives::Done),
    Verb::new(
        "workflow.deactivate",
        "{ name } -> result | nil, error",
        "workflow disable {name}",
        "Keeps a workflow from being run.",
        "assert(sloth.workflow.deactivate{ name = 'b', show_only = true }.command)",
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
        "{ file, sloth, task, delegate_to, values } -> result | nil, error",
        "workflow run [--file {file~}] [{sloth}] [--task {task}] [--delegate-to {delegate_to*}] [--values {values~}]",
        "Runs a workflow, from a file or by its name, and waits for it.",
        "assert(sloth.run{ file = 'b.lua', task = 't', show_only = true }.command)",
    )
    .gives(Gives::Done),
];
