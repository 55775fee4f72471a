//! `digitalocean`: DigitalOcean.

use mlua::Result;

use super::super::{Described, Installer, Module};
use super::tool::Program;
use super::verb::{Gives, Verb, describe, install as install_verbs};

static DOCTL: Program =
    Program::new("doctl", "see https://docs.digitalocean.com/reference/doctl/how-to/install");

pub(crate) const MODULE: Module = Module {
    name: "digitalocean",
    about: "DigitalOcean, with the `doctl` of the machine. Its token comes from `doctl auth init`, or from DIGITALOCEAN_ACCESS_TOKEN in the environment of the step.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; VERBS.len()] = describe(&[], VERBS);

fn install(module: &mut Installer<'_>) -> Result<()> {
    install_verbs(module, &DOCTL, VERBS).map(drop)
}

const VERBS: &[Verb] = &[
    Verb::new(
        "exec",
        "(args[, options]) -> result, error",
        "{args...}",
        "Runs doctl with a list of words. Where it answers with JSON, `data` has it as a table.",
        "assert(digitalocean.exec({ 'account', 'get' }, { show_only = true }).command == 'doctl account get')",
    )
    .gives(Gives::Document),
    Verb::new(
        "droplets.list",
        "([{ tag, region }]) -> list | nil, error",
        "compute droplet list --output json [--tag-name {tag}] [--region {region}]",
        "Droplets: `id`, `name`, `status`, `region.slug`.",
        "assert(digitalocean.droplets.list{ show_only = true }.command == 'doctl compute droplet list --output json')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "droplets.get",
        "{ id } -> list | nil, error",
        "compute droplet get {id} --output json",
        "One droplet, in a list.",
        "assert(digitalocean.droplets.get{ id = 7, show_only = true }.command == 'doctl compute droplet get 7 --output json')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "droplets.create",
        "{ name, size, image, region, ssh_keys, tags, user_data_file, wait } -> list | nil, error",
        "compute droplet create {name} --size {size} --image {image} --output json [--region {region}] [--ssh-keys {ssh_keys,}] [--tag-names {tags,}] [--user-data-file {user_data_file~}] [--wait]",
        "Makes a droplet.",
        "local r = digitalocean.droplets.create{ name = 'w', size = 's', image = 'i', tags = { 'a', 'b' }, show_only = true }\nassert(r.command == 'doctl compute droplet create w --size s --image i --output json --tag-names a,b')",
    )
    .gives(Gives::Json),
    Verb::new(
        "droplets.delete",
        "{ id, force } -> boolean, output",
        "compute droplet delete {id} [--force]",
        "Deletes a droplet. Without `force` it refuses, because nobody can answer.",
        "assert(digitalocean.droplets.delete{ id = '7', force = true, show_only = true }.command == 'doctl compute droplet delete 7 --force')",
    )
    .gives(Gives::Flag),
];
