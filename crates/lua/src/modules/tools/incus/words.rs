//! What `incus` can do, as data.

use super::super::super::Described;
use super::super::verb::{Gives, Verb};

const fn own(
    name: &'static str,
    signature: &'static str,
    about: &'static str,
    example: &'static str,
) -> Described {
    Described { name, signature, about, example }
}

pub(super) const OWN: &[Described] = &[
    own(
        "instance",
        "(name) or { name, image, type, profiles, config, devices, ephemeral } -> instance",
        "A container, or with `type = 'vm'` a virtual machine.",
        "local i = incus.instance{ name = 'web', image = 'images:debian/12' }:set_config{ ['limits.cpu'] = 2 }\nassert(i.config['limits.cpu'] == 2 and i.name == 'web')",
    ),
    own(
        "image",
        "(alias) or { name, source, server } -> image",
        "An image by its alias.",
        "assert(incus.image('debian'):source('debian/12').source == 'debian/12')",
    ),
    own(
        "network",
        "(name) or { name, type, description, config } -> network",
        "A network.",
        "assert(incus.network{ name = 'dmz', type = 'bridge' }:set_config{ ['ipv4.nat'] = true }.type == 'bridge')",
    ),
    own(
        "profile",
        "(name) or { name, description, config, devices } -> profile",
        "A profile: settings that instances share.",
        "assert(incus.profile('web'):device('eth0', { type = 'nic' }).devices.eth0.type == 'nic')",
    ),
    own(
        "storage",
        "(name) or { name, driver, description, config } -> storage",
        "A storage pool.",
        "assert(incus.storage('pool'):driver('dir').driver == 'dir')",
    ),
    own(
        "snapshot",
        "(instance, name) -> snapshot",
        "A snapshot of an instance.",
        "assert(incus.snapshot('web', 'before'):create{ show_only = true }.command == 'incus snapshot create web before')",
    ),
    own(
        "list",
        "([{ type, format }]) -> list | nil, error",
        "Instances, or with `type` images, networks, profiles or storage: as a list, or as text in a `format` (`csv`, `json`, `table`, `yaml`).",
        "assert(incus.list{ type = 'networks', format = 'csv', show_only = true }.command == 'incus network list --format csv')",
    ),
    own(
        "info",
        "{ type, name } -> table | nil, error",
        "Everything about an instance, or with `type` about something else.",
        "assert(incus.info{ type = 'network', name = 'dmz', show_only = true }.command == 'incus query /1.0/networks/dmz')",
    ),
    own(
        "delete",
        "{ type, name, force } -> result | nil, error",
        "Deletes an instance, or with `type` something else.",
        "assert(incus.delete{ type = 'instance', name = 'web', force = true, show_only = true }.command == 'incus delete web --force')",
    ),
    own("instance:create", "() -> result, error", "Makes it be there, with its settings.", ""),
    own("instance:launch", "() -> result, error", "Makes it be there and run.", ""),
    own("instance:start", "() -> result, error", "Starts it, where it does not run.", ""),
    own("instance:stop", "([{ force }]) -> result, error", "Stops it, where it runs.", ""),
    own(
        "instance:wait_running",
        "([timeout]) -> result, error",
        "Waits until it runs, a minute where nobody says.",
        "",
    ),
    own("instance:snapshot", "{ name, stateful } -> result, error", "Makes a snapshot.", ""),
    own(
        "instance:file_push",
        "(source, target[, { mode, uid, gid, recursive, create_dirs }]) -> result, error",
        "Puts a file into it.",
        "",
    ),
    own(
        "instance:file_pull",
        "(source, target[, { recursive, create_dirs }]) -> result, error",
        "Gets a file out of it.",
        "",
    ),
    own("instance:image", "(image) -> instance", "What it is made of.", ""),
    own("instance:type", "(type) -> instance", "`container` or `vm`.", ""),
    own("instance:ephemeral", "([flag]) -> instance", "It is gone when it stops.", ""),
    own("instance:profile", "(name, ...) -> instance", "Adds profiles.", ""),
    own("instance:set_profiles", "(list) -> instance", "Its profiles.", ""),
    own("instance:config", "(settings) -> instance or result", "The same as `set_config`.", ""),
    own("instance:set_config", "(settings) -> instance or result", "Sets settings.", ""),
    own("instance:set_devices", "(devices) -> instance or result", "Sets devices by name.", ""),
    own("instance:device", "(name, device) -> instance or result", "Sets a device.", ""),
    own("instance:add_device", "(name, device) -> instance or result", "Sets a device.", ""),
    own(
        "instance:proxy",
        "(name, listen, connect) -> instance or result",
        "Forwards an address, as `tcp:0.0.0.0:80` to `tcp:127.0.0.1:80`.",
        "",
    ),
    own("image:source", "(image) -> image", "Where it comes from.", ""),
    own("image:server", "(remote) -> image", "The remote that has it.", ""),
    own("network:type", "(type) -> network", "Its type.", ""),
    own("network:description", "(text) -> network", "What it is for.", ""),
    own("network:config", "(settings) -> network", "The same as `set_config`.", ""),
    own("network:set_config", "(settings) -> network", "Settings for `create`.", ""),
    own("network:create", "() -> result, error", "Makes it be there, with its settings.", ""),
    own("profile:description", "(text) -> profile", "What it is for.", ""),
    own("profile:config", "(settings) -> profile", "The same as `set_config`.", ""),
    own("profile:set_config", "(settings) -> profile", "Settings for `create`.", ""),
    own("profile:set_devices", "(devices) -> profile", "Devices for `create`.", ""),
    own("profile:device", "(name, device) -> profile", "A device for `create`.", ""),
    own("profile:create", "() -> result, error", "Makes it be there, with its settings.", ""),
    own("storage:driver", "(driver) -> storage", "Its driver.", ""),
    own("storage:description", "(text) -> storage", "What it is for.", ""),
    own("storage:config", "(settings) -> storage", "The same as `set_config`.", ""),
    own("storage:set_config", "(settings) -> storage", "Settings for `create`.", ""),
    own("storage:create", "() -> result, error", "Makes it be there, with its settings.", ""),
    own("snapshot:stateful", "([flag]) -> snapshot", "Keeps what is in memory, too.", ""),
];

pub(super) const VERBS: &[Verb] = &[
    Verb::new(
        "exec",
        "{ instance, command, cwd, user, group, environment } -> result, error",
        "exec {instance} [--cwd {cwd}] [--user {user}] [--group {group}] [--env {environment=}] -- {command$}",
        "Runs a list of words, or a line for the shell, in an instance.",
        "local r = incus.exec{ instance = 'web', command = { 'nginx', '-t' }, show_only = true }\nassert(r.command == 'incus exec web -- nginx -t')",
    ),
    Verb::new(
        "query",
        "(path[, { request, data }]) -> table | nil, error",
        "query [--request {request}] [--data {data@}] {path}",
        "Asks the server itself.",
        "assert(incus.query('/1.0', { show_only = true }).command == 'incus query /1.0')",
    )
    .gives(Gives::Json),
    Verb::new(
        "instance:exec",
        "(command[, { cwd, user, group, environment }]) or { command } -> result, error",
        "exec {instance} [--cwd {cwd}] [--user {user}] [--group {group}] [--env {environment=}] -- {command$}",
        "Runs a list of words, or a line for the shell, in it.",
        "",
    ),
    Verb::new(
        "instance:restart",
        "([force]) -> result, error",
        "restart {instance} [--force]",
        "Restarts it.",
        "",
    )
    .takes(&["force"]),
    Verb::new("instance:freeze", "() -> result, error", "pause {instance}", "Holds it.", ""),
    Verb::new(
        "instance:unfreeze",
        "() -> result, error",
        "resume {instance}",
        "Lets it go on.",
        "",
    ),
    Verb::new(
        "instance:copy",
        "(target) -> result, error",
        "copy {instance} {target}",
        "Copies it.",
        "",
    ),
    Verb::new(
        "instance:move",
        "(target) -> result, error",
        "move {instance} {target}",
        "Gives it another name or place.",
        "",
    ),
    Verb::new(
        "instance:restore",
        "{ snapshot, stateful } -> result, error",
        "snapshot restore {instance} {snapshot} [--stateful]",
        "Brings it back to a snapshot.",
        "",
    ),
    Verb::new(
        "instance:state",
        "() -> table | nil, error",
        "query /1.0/instances/{instance}/state",
        "How it is: `status`, `network.eth0.addresses`, `memory`.",
        "",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "instance:info",
        "() -> table | nil, error",
        "query /1.0/instances/{instance}",
        "Everything about it.",
        "",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "instance:remove_device",
        "(device) -> result, error",
        "config device remove {instance} {device}",
        "Removes a device.",
        "",
    ),
    Verb::new(
        "instance:delete",
        "([{ force }]) -> result, error",
        "delete {instance} [--force]",
        "Deletes it.",
        "",
    ),
    Verb::new(
        "image:copy",
        "([{ source, server }]) -> result, error",
        "image copy {server:images}:{source} local: --alias {instance}",
        "Gets it from a remote.",
        "",
    ),
    Verb::new(
        "image:export",
        "(path) -> result, error",
        "image export {instance} {path~}",
        "Writes it to files.",
        "",
    ),
    Verb::new(
        "image:refresh",
        "() -> result, error",
        "image refresh {instance}",
        "Updates it.",
        "",
    ),
    Verb::new("image:delete", "() -> result, error", "image delete {instance}", "Deletes it.", ""),
    Verb::new(
        "network:info",
        "() -> table | nil, error",
        "query /1.0/networks/{instance}",
        "Everything about it.",
        "",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "network:attach",
        "(target[, device]) -> result, error",
        "network attach {instance} {target} {device:eth0}",
        "Puts an instance on it.",
        "",
    )
    .takes(&["target", "device"]),
    Verb::new(
        "network:detach",
        "(target[, device]) -> result, error",
        "network detach {instance} {target} [{device}]",
        "Takes an instance off it.",
        "",
    )
    .takes(&["target", "device"]),
    Verb::new(
        "network:delete",
        "() -> result, error",
        "network delete {instance}",
        "Deletes it.",
        "",
    ),
    Verb::new(
        "profile:apply",
        "(target) -> result, error",
        "profile add {target} {instance}",
        "Adds it to an instance.",
        "",
    ),
    Verb::new(
        "profile:copy",
        "(target) -> result, error",
        "profile copy {instance} {target}",
        "Copies it.",
        "",
    ),
    Verb::new(
        "profile:info",
        "() -> table | nil, error",
        "query /1.0/profiles/{instance}",
        "Everything about it.",
        "",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "profile:delete",
        "() -> result, error",
        "profile delete {instance}",
        "Deletes it.",
        "",
    ),
    Verb::new(
        "storage:volume",
        "(volume) -> result, error",
        "storage volume create {instance} {volume}",
        "Makes a volume in it.",
        "",
    ),
    Verb::new(
        "storage:info",
        "() -> table | nil, error",
        "query /1.0/storage-pools/{instance}",
        "Everything about it.",
        "",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "storage:delete",
        "() -> result, error",
        "storage delete {instance}",
        "Deletes it.",
        "",
    ),
    Verb::new(
        "snapshot:create",
        "() -> result, error",
        "snapshot create {instance} {snapshot} [--stateful]",
        "Makes it.",
        "",
    ),
    Verb::new(
        "snapshot:restore",
        "() -> result, error",
        "snapshot restore {instance} {snapshot} [--stateful]",
        "Brings the instance back to it.",
        "",
    ),
    Verb::new(
        "snapshot:delete",
        "() -> result, error",
        "snapshot delete {instance} {snapshot}",
        "Deletes it.",
        "",
    ),
];
