//! `ssh`: other machines, and keys.
//!
//! Everything goes through the programs of OpenSSH, which know the configuration, agents and hardware keys of whoever
//! runs the step. They never ask (`BatchMode`), and host keys are always checked.

mod client;
mod keys;
mod login;
mod remote;
mod tunnel;

use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "ssh",
    about: "Other machines over SSH, and the keys that let people in on this one. The programs `ssh` and `sftp` of OpenSSH are used; host keys are always checked, and no person is ever asked for a password.",
    functions: &[
        Described {
            name: "connect",
            signature: "(host, user[, { port, key_path, password, timeout, accept_new, known_hosts }]) -> client | nil, error",
            about: "Tries whether a machine lets us in with a key, or with the `password` that is told, and gives a client for it. Its host key must be known (`~/.ssh/known_hosts`, or the file `known_hosts`); with `accept_new = true` one that was never seen is taken. A key is better than a password, which should come from `secrets`.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  ssh.disconnect(c)\nend",
        },
        Described {
            name: "disconnect",
            signature: "(client) -> true",
            about: "Makes a client of no further use.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  ssh.disconnect(c)\nend",
        },
        Described {
            name: "exec",
            signature: "(client, command) -> true, { stdout, stderr, exit_code, success } | nil, error",
            about: "Runs a line on the other machine; its shell reads it. A list of words is quoted, so that each arrives as it is.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  local ok, r = ssh.exec(c, 'uptime')\n  assert(ok and r.success)\n  ssh.exec(c, { 'touch', 'a name with spaces' })\nend",
        },
        Described {
            name: "upload",
            signature: "(client, local, remote) -> result, result | nil, error",
            about: "Copies a file to the other machine.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  assert(ssh.upload(c, 'app.tgz', '/tmp/app.tgz'))\nend",
        },
        Described {
            name: "download",
            signature: "(client, remote, local) -> result, result | nil, error",
            about: "Copies a file from the other machine.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  assert(ssh.download(c, '/var/log/app.log', 'app.log'))\nend",
        },
        Described {
            name: "upload_dir",
            signature: "(client, local, remote) -> result, result | nil, error",
            about: "Copies what is in a directory to a directory of the other machine, which is made where it is missing.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  assert(ssh.upload_dir(c, 'site', '/srv/site'))\nend",
        },
        Described {
            name: "download_dir",
            signature: "(client, remote, local) -> result, result | nil, error",
            about: "Copies what is in a directory of the other machine to one here, which is made where it is missing.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  assert(ssh.download_dir(c, '/srv/site', 'site'))\nend",
        },
        Described {
            name: "exists",
            signature: "(client, path) -> boolean | nil, error",
            about: "Whether something is at a path there.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  assert(ssh.exists(c, '/etc/hosts'))\nend",
        },
        Described {
            name: "stat",
            signature: "(client, path) -> true, { name, size, mode, is_dir, mod_time, uid, gid } | nil, error",
            about: "What is at a path there.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  local ok, s = ssh.stat(c, '/etc/hosts')\n  print(s.size)\nend",
        },
        Described {
            name: "list_dir",
            signature: "(client, path) -> true, names | nil, error",
            about: "What is in a directory there, by name.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  local ok, names = ssh.list_dir(c, '/srv')\n  print(#names)\nend",
        },
        Described {
            name: "mkdir",
            signature: "(client, path) -> result, result | nil, error",
            about: "Makes a directory there, with those above.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  assert(ssh.mkdir(c, '/srv/app'))\nend",
        },
        Described {
            name: "remove",
            signature: "(client, path[, recursive]) -> result, result | nil, error",
            about: "Removes a file there; a directory with all that is in it only with `true`.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  assert(ssh.remove(c, '/tmp/app.tgz'))\nend",
        },
        Described {
            name: "rename",
            signature: "(client, from, to) -> result, result | nil, error",
            about: "Gives something there another name.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  assert(ssh.rename(c, '/srv/new', '/srv/app'))\nend",
        },
        Described {
            name: "chmod",
            signature: "(client, path, mode) -> result, result | nil, error",
            about: "Gives something there another mode, in octal digits.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  assert(ssh.chmod(c, '/srv/app/run', '755'))\nend",
        },
        Described {
            name: "chown",
            signature: "(client, path, uid, gid) -> result, result | nil, error",
            about: "Gives something there another owner and group.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  assert(ssh.chown(c, '/srv/app', 1000, 1000))\nend",
        },
        Described {
            name: "create_tunnel",
            signature: "(client, local_port, remote_host, remote_port) -> { local_port, address } | nil, error",
            about: "Makes a port of this machine lead to one that the other machine can reach, until it is closed or the step ends. A `local_port` of 0 is any that is free.",
            example: "local function migrate()\n  local c = assert(ssh.connect('gate.example.com', 'deploy'))\n  local t = assert(ssh.create_tunnel(c, 0, 'db.internal', 5432))\n  assert(db.connect('postgres', 'postgres://app@' .. t.address .. '/app'))\nend",
        },
        Described {
            name: "close_tunnel",
            signature: "(tunnel) -> boolean",
            about: "Closes a tunnel; whether it was open.",
            example: "local function migrate()\n  local c = assert(ssh.connect('gate.example.com', 'deploy'))\n  local t = assert(ssh.create_tunnel(c, 8080, 'web.internal', 80))\n  ssh.close_tunnel(t)\nend",
        },
        Described {
            name: "enable_agent_forward",
            signature: "(client) -> true",
            about: "Lets programs on the other machine use the keys of the SSH agent here, from now on. Only for machines that are trusted with them.",
            example: "local function deploy()\n  local c = assert(ssh.connect('web1.example.com', 'deploy'))\n  ssh.enable_agent_forward(c)\n  assert(ssh.exec(c, 'git pull'))\nend",
        },
        Described {
            name: "load_private_key",
            signature: "(path) -> true, { path, bits, fingerprint, comment, type } | nil, error",
            about: "Whether a file is a private key that can be used, and which.",
            example: "local function look()\n  local ok, key = ssh.load_private_key('~/.ssh/id_ed25519')\n  print(key.fingerprint)\nend",
        },
        Described {
            name: "generate_keypair",
            signature: "{ path, type, bits, comment } | (path[, options]) -> result, result | nil, error",
            about: "Makes a pair of keys without a passphrase, unless the file is there already; ed25519 unless told otherwise. The result has `path`, `public_path` and `public_key`.",
            example: "local function setup()\n  local r = ssh.generate_keypair { path = 'keys/deploy', comment = 'deploy' }\n  print(r.public_key)\nend",
        },
        Described {
            name: "add_authorized_key",
            signature: "{ user, key, comment, options } | (user, key) -> result, result | nil, error",
            about: "Lets whoever has a key in as a user of this machine.",
            example: "local function setup()\n  assert(ssh.add_authorized_key { user = 'ann', key = 'ssh-ed25519 AAAA.. ann@laptop' })\nend",
        },
        Described {
            name: "remove_authorized_key",
            signature: "{ user, key } | (user, key) -> result, result | nil, error",
            about: "Does not let a key in any more.",
            example: "local function setup()\n  assert(ssh.remove_authorized_key { user = 'ann', key = 'ssh-ed25519 AAAA..' })\nend",
        },
        Described {
            name: "list_authorized_keys",
            signature: "{ user } | (user) -> [{ type, key, comment, options }] | nil, error",
            about: "All keys that let somebody in as a user.",
            example: "local function look()\n  for _, k in ipairs(ssh.list_authorized_keys { user = 'ann' } or {}) do print(k.comment) end\nend",
        },
        Described {
            name: "key_exists",
            signature: "{ user, key } | (user, key) -> boolean | nil, error",
            about: "Whether a key lets somebody in as a user.",
            example: "local function look() return ssh.key_exists { user = 'ann', key = 'ssh-ed25519 AAAA..' } end",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    remote::install(module)?;
    tunnel::install(module)?;
    keys::install(module)
}
