//! What `incus` can do, as data.

use super::super::verb::{Gives, Verb};

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
        "assert(incus.instance('web'):exec({ 'nginx', '-t' }, { show_only = true }).command == 'incus exec web -- nginx -t')",
    ),
    Verb::new(
        "instance:restart",
        "([force]) -> result, error",
        "restart {instance} [--force]",
        "Restarts it.",
        "assert(incus.instance('web'):restart(true, { show_only = true }).command == 'incus restart web --force')",
    )
    .takes(&["force"]),
    Verb::new("instance:freeze", "() -> result, error", "pause {instance}", "Holds it.", "assert(incus.instance('web'):freeze{ show_only = true }.command == 'incus pause web')"),
    Verb::new(
        "instance:unfreeze",
        "() -> result, error",
        "resume {instance}",
        "Lets it go on.",
        "assert(incus.instance('web'):unfreeze{ show_only = true }.command == 'incus resume web')",
    ),
    Verb::new(
        "instance:copy",
        "(target) -> result, error",
        "copy {instance} {target}",
        "Copies it.",
        "assert(incus.instance('web'):copy('web2', { show_only = true }).command == 'incus copy web web2')",
    ),
    Verb::new(
        "instance:move",
        "(target) -> result, error",
        "move {instance} {target}",
        "Gives it another name or place.",
        "assert(incus.instance('web'):move('web2', { show_only = true }).command == 'incus move web web2')",
    ),
    Verb::new(
        "instance:restore",
        "{ snapshot, stateful } -> result, error",
        "snapshot restore {instance} {snapshot} [--stateful]",
        "Brings it back to a snapshot.",
        "assert(incus.instance('web'):restore{ snapshot = 'before', show_only = true }.command == 'incus snapshot restore web before')",
    ),
    Verb::new(
        "instance:state",
        "() -> table | nil, error",
        "query /1.0/instances/{instance}/state",
        "How it is: `status`, `network.eth0.addresses`, `memory`.",
        "assert(incus.instance('web'):state{ show_only = true }.command == 'incus query /1.0/instances/web/state')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "instance:info",
        "() -> table | nil, error",
        "query /1.0/instances/{instance}",
        "Everything about it.",
        "assert(incus.instance('web'):info{ show_only = true }.command == 'incus query /1.0/instances/web')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "instance:remove_device",
        "(device) -> result, error",
        "config device remove {instance} {device}",
        "Removes a device.",
        "assert(incus.instance('web'):remove_device('gpu', { show_only = true }).command == 'incus config device remove web gpu')",
    ),
    Verb::new(
        "instance:delete",
        "([{ force }]) -> result, error",
        "delete {instance} [--force]",
        "Deletes it.",
        "assert(incus.instance('web'):delete{ force = true, show_only = true }.command == 'incus delete web --force')",
    ),
    Verb::new(
        "image:copy",
        "([{ source, server }]) -> result, error",
        "image copy {server:images}:{source} local: --alias {instance}",
        "Gets it from a remote.",
        "assert(incus.image('debian'):copy{ source = 'debian/12', show_only = true }.command == 'incus image copy images:debian/12 local: --alias debian')",
    ),
    Verb::new(
        "image:export",
        "(path) -> result, error",
        "image export {instance} {path~}",
        "Writes it to files.",
        "assert(incus.image('debian'):export('debian.img', { show_only = true }).command == 'incus image export debian debian.img')",
    ),
    Verb::new(
        "image:refresh",
        "() -> result, error",
        "image refresh {instance}",
        "Updates it.",
        "assert(incus.image('debian'):refresh{ show_only = true }.command == 'incus image refresh debian')",
    ),
    Verb::new("image:delete", "() -> result, error", "image delete {instance}", "Deletes it.", "assert(incus.image('debian'):delete{ show_only = true }.command == 'incus image delete debian')"),
    Verb::new(
        "network:info",
        "() -> table | nil, error",
        "query /1.0/networks/{instance}",
        "Everything about it.",
        "assert(incus.network('dmz'):info{ show_only = true }.command == 'incus query /1.0/networks/dmz')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "network:attach",
        "(target[, device]) -> result, error",
        "network attach {instance} {target} {device:eth0}",
        "Puts an instance on it.",
        "assert(incus.network('dmz'):attach('web', { show_only = true }).command == 'incus network attach dmz web eth0')",
    )
    .takes(&["target", "device"]),
    Verb::new(
        "network:detach",
        "(target[, device]) -> result, error",
        "network detach {instance} {target} [{device}]",
        "Takes an instance off it.",
        "assert(incus.network('dmz'):detach('web', 'eth0', { show_only = true }).command == 'incus network detach dmz web eth0')",
    )
    .takes(&["target", "device"]),
    Verb::new(
        "network:delete",
        "() -> result, error",
        "network delete {instance}",
        "Deletes it.",
        "assert(incus.network('dmz'):delete{ show_only = true }.command == 'incus network delete dmz')",
    ),
    Verb::new(
        "profile:apply",
        "(target) -> result, error",
        "profile add {target} {instance}",
        "Adds it to an instance.",
        "assert(incus.profile('big'):apply('web', { show_only = true }).command == 'incus profile add web big')",
    ),
    Verb::new(
        "profile:copy",
        "(target) -> result, error",
        "profile copy {instance} {target}",
        "Copies it.",
        "assert(incus.profile('big'):copy('bigger', { show_only = true }).command == 'incus profile copy big bigger')",
    ),
    Verb::new(
        "profile:info",
        "() -> table | nil, error",
        "query /1.0/profiles/{instance}",
        "Everything about it.",
        "assert(incus.profile('big'):info{ show_only = true }.command == 'incus query /1.0/profiles/big')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "profile:delete",
        "() -> result, error",
        "profile delete {instance}",
        "Deletes it.",
        "assert(incus.profile('big'):delete{ show_only = true }.command == 'incus profile delete big')",
    ),
    Verb::new(
        "storage:volume",
        "(volume) -> result, error",
        "storage volume create {instance} {volume}",
        "Makes a volume in it.",
        "assert(incus.storage('pool'):volume('data', { show_only = true }).command == 'incus storage volume create pool data')",
    ),
    Verb::new(
        "storage:info",
        "() -> table | nil, error",
        "query /1.0/storage-pools/{instance}",
        "Everything about it.",
        "assert(incus.storage('pool'):info{ show_only = true }.command == 'incus query /1.0/storage-pools/pool')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "storage:delete",
        "() -> result, error",
        "storage delete {instance}",
        "Deletes it.",
        "assert(incus.storage('pool'):delete{ show_only = true }.command == 'incus storage delete pool')",
    ),
    Verb::new(
        "snapshot:create",
        "() -> result, error",
        "snapshot create {instance} {snapshot} [--stateful]",
        "Makes it.",
        "assert(incus.snapshot('web', 'before'):create{ show_only = true }.command == 'incus snapshot create web before')",
    ),
    Verb::new(
        "snapshot:restore",
        "() -> result, error",
        "snapshot restore {instance} {snapshot} [--stateful]",
        "Brings the instance back to it.",
        "assert(incus.snapshot('web', 'before'):restore{ show_only = true }.command == 'incus snapshot restore web before')",
    ),
    Verb::new(
        "snapshot:delete",
        "() -> result, error",
        "snapshot delete {instance} {snapshot}",
        "Deletes it.",
        "assert(incus.snapshot('web', 'before'):delete{ show_only = true }.command == 'incus snapshot delete web before')",
    ),
];
