//! `azure`: Microsoft Azure.

use mlua::Result;

use super::super::{Described, Installer, Module};
use super::tool::Program;
use super::verb::{Gives, Verb, describe, install as install_verbs};

static AZ: Program =
    Program::new("az", "see https://learn.microsoft.com/cli/azure/install-azure-cli");

pub(crate) const MODULE: Module = Module {
    name: "azure",
    about: "Microsoft Azure, with the `az` of the machine and whoever is signed in there.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; VERBS.len()] = describe(&[], VERBS);

fn install(module: &mut Installer<'_>) -> Result<()> {
    install_verbs(module, &AZ, VERBS).map(drop)
}

const VERBS: &[Verb] = &[
    Verb::new(
        "exec",
        "(args[, options]) -> result, error",
        "{args...}",
        "Runs az with a list of words. Where it answers with JSON, `data` has it as a table.",
        "assert(azure.exec({ 'account', 'show' }, { show_only = true }).command == 'az account show')",
    )
    .gives(Gives::Document),
    Verb::new(
        "rg.list",
        "([{ subscription, tag }]) -> list | nil, error",
        "group list --output json [--subscription {subscription}] [--tag {tag}]",
        "Resource groups.",
        "assert(azure.rg.list{ show_only = true }.command == 'az group list --output json')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "rg.create",
        "{ name, location, tags, subscription } -> boolean, output",
        "group create --name {name} --location {location} [--tags {tags=}] [--subscription {subscription}] --output json",
        "Makes a resource group.",
        "assert(azure.rg.create{ name = 'g', location = 'x', show_only = true }.command == 'az group create --name g --location x --output json')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "rg.delete",
        "{ name, yes, no_wait, subscription } -> boolean, output",
        "group delete --name {name} [--yes] [--no-wait] [--subscription {subscription}]",
        "Deletes a resource group with everything in it. Without `yes` it refuses, because nobody can answer.",
        "assert(azure.rg.delete{ name = 'g', yes = true, show_only = true }.command == 'az group delete --name g --yes')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "vm.list",
        "([{ resource_group, subscription, show_details }]) -> list | nil, error",
        "vm list --output json [--resource-group {resource_group}] [--subscription {subscription}] [--show-details]",
        "Virtual machines.",
        "assert(azure.vm.list{ resource_group = 'g', show_only = true }.command == 'az vm list --output json --resource-group g')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "vm.start",
        "{ name, resource_group, no_wait } -> boolean, output",
        "vm start --name {name} --resource-group {resource_group} [--no-wait]",
        "Starts a virtual machine.",
        "assert(azure.vm.start{ name = 'v', resource_group = 'g', show_only = true }.command == 'az vm start --name v --resource-group g')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "vm.stop",
        "{ name, resource_group, no_wait } -> boolean, output",
        "vm deallocate --name {name} --resource-group {resource_group} [--no-wait]",
        "Stops a virtual machine and gives its hardware back, so that it costs nothing.",
        "assert(azure.vm.stop{ name = 'v', resource_group = 'g', show_only = true }.command == 'az vm deallocate --name v --resource-group g')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "vm.delete",
        "{ name, resource_group, yes } -> boolean, output",
        "vm delete --name {name} --resource-group {resource_group} [--yes]",
        "Deletes a virtual machine.",
        "assert(azure.vm.delete{ name = 'v', resource_group = 'g', yes = true, show_only = true }.command == 'az vm delete --name v --resource-group g --yes')",
    )
    .gives(Gives::Flag),
];
