//! `user`: accounts of the machine.

mod accounts;
mod groups;

use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "user",
    about: "Users and groups of the machine. What is so already is not touched. Passwords are given to the machine's own program on its standard input, and are in no message or diff.",
    functions: &[
        Described {
            name: "create",
            signature: "{ username, password, uid, gid, home, shell, groups, comment, system, create_home, no_create_home, expiry } | (username[, options]) -> result, result | nil, error",
            about: "Makes a user be there, with what is told about it; what is not told is left alone. A plain password is set only when the user is made; a crypt hash whenever it differs.",
            example: "local function setup()\n  local ok, r = user.create { username = 'web', shell = '/bin/bash', groups = { 'docker' } }\n  if ok then log.info(r.message) end\nend",
        },
        Described {
            name: "delete",
            signature: "(username[, remove_home]) | { username, remove_home } -> result, result | nil, error",
            about: "Makes a user not be there; its home is kept unless `remove_home` is true.",
            example: "local function setup() assert(user.delete('web', true)) end",
        },
        Described {
            name: "modify",
            signature: "(username, { uid, gid, home, move_home, shell, groups, comment, expiry, lock, unlock }) -> result, result | nil, error",
            about: "Changes a user that must be there.",
            example: "local function setup() assert(user.modify('web', { shell = '/bin/sh', lock = true })) end",
        },
        Described {
            name: "exists",
            signature: "(username) -> boolean, message",
            about: "Whether there is such a user.",
            example: "assert(user.exists('root'))\nassert(not user.exists('no-such-user-here'))",
        },
        Described {
            name: "get_info",
            signature: "(username) -> { username, uid, gid, name, home, shell, comment } | nil, error",
            about: "What is known about a user.",
            example: "assert(user.get_info('root').uid == 0)",
        },
        Described {
            name: "list",
            signature: "([system]) -> users | nil, error",
            about: "All users; those of the machine itself with `true`, people with `false`.",
            example: "local all = user.list()\nassert(#all > 0 and all[1].username)",
        },
        Described {
            name: "lock",
            signature: "(username) -> result, result | nil, error",
            about: "Makes the password of a user not count. Keys may still let somebody in.",
            example: "local function setup() assert(user.lock('web')) end",
        },
        Described {
            name: "unlock",
            signature: "(username) -> result, result | nil, error",
            about: "Makes the password of a user count again.",
            example: "local function setup() assert(user.unlock('web')) end",
        },
        Described {
            name: "is_locked",
            signature: "(username) -> boolean | nil, error",
            about: "Whether the password of a user is locked.",
            example: "local function look() return user.is_locked('web') end",
        },
        Described {
            name: "set_password",
            signature: "(username, password) -> result, result | nil, error",
            about: "Sets a password, plain or as a crypt hash. A hash that is there already is no change, a plain one always is.",
            example: "local function setup() assert(user.set_password('web', os.getenv('WEB_PASSWORD'))) end",
        },
        Described {
            name: "expire_password",
            signature: "(username) -> result, result | nil, error",
            about: "Makes a user choose a new password at the next login.",
            example: "local function setup() assert(user.expire_password('ann')) end",
        },
        Described {
            name: "set_shell",
            signature: "(username, shell) -> result, result | nil, error",
            about: "Gives a user another shell.",
            example: "local function setup() assert(user.set_shell('ann', '/bin/zsh')) end",
        },
        Described {
            name: "set_home",
            signature: "(username, home[, move]) -> result, result | nil, error",
            about: "Gives a user another home, and moves what is in the old one when `move` is true.",
            example: "local function setup() assert(user.set_home('ann', '/srv/ann', true)) end",
        },
        Described {
            name: "set_comment",
            signature: "(username, comment) -> result, result | nil, error",
            about: "Sets the comment, which begins with the name of the person.",
            example: "local function setup() assert(user.set_comment('ann', 'Ann Example')) end",
        },
        Described {
            name: "set_expiry",
            signature: "(username, date) -> result, result | nil, error",
            about: "Ends an account on a day, `YYYY-MM-DD`, or `never`.",
            example: "local function setup() assert(user.set_expiry('ann', '2030-01-31')) end",
        },
        Described {
            name: "set_primary_group",
            signature: "(username, group) -> result, result | nil, error",
            about: "Gives a user another primary group.",
            example: "local function setup() assert(user.set_primary_group('ann', 'staff')) end",
        },
        Described {
            name: "get_uid",
            signature: "(username) -> number | nil, error",
            about: "The number of a user.",
            example: "assert(user.get_uid('root') == 0)",
        },
        Described {
            name: "get_gid",
            signature: "(username) -> number | nil, error",
            about: "The number of a user's primary group.",
            example: "assert(user.get_gid('root') == 0)",
        },
        Described {
            name: "get_home",
            signature: "(username) -> path | nil, error",
            about: "The home of a user.",
            example: "assert(user.get_home('root'))",
        },
        Described {
            name: "get_shell",
            signature: "(username) -> path | nil, error",
            about: "The shell of a user.",
            example: "assert(user.get_shell('root'))",
        },
        Described {
            name: "get_comment",
            signature: "(username) -> text | nil, error",
            about: "The comment of a user.",
            example: "assert(user.get_comment('root'))",
        },
        Described {
            name: "get_groups",
            signature: "(username) -> names | nil, error",
            about: "All groups a user is in, the primary one first.",
            example: "assert(#user.get_groups('root') >= 1)",
        },
        Described {
            name: "is_system_user",
            signature: "(username) -> boolean | nil, error",
            about: "Whether a user is one of the machine's own.",
            example: "assert(user.is_system_user('root'))",
        },
        Described {
            name: "get_current",
            signature: "() -> user | nil, error",
            about: "Who the step runs as.",
            example: "local me = user.get_current()\nassert(me == nil or me.username)",
        },
        Described {
            name: "is_root",
            signature: "() -> boolean",
            about: "Whether the step has the rights of root.",
            example: "assert(type(user.is_root()) == 'boolean')",
        },
        Described {
            name: "get_last_login",
            signature: "(username) -> text | nil, error",
            about: "When and from where somebody logged in last, in the machine's own words.",
            example: "local function look() print(user.get_last_login('ann')) end",
        },
        Described {
            name: "get_failed_logins",
            signature: "(username) -> { count, lines } | nil, error",
            about: "Logins of somebody that failed, as far as the machine remembers.",
            example: "local function look() print(user.get_failed_logins('ann').count) end",
        },
        Described {
            name: "validate_username",
            signature: "(username) -> boolean, message",
            about: "Whether a new user can have this name everywhere.",
            example: "assert(user.validate_username('ann'))\nlocal ok, why = user.validate_username('Ann!')\nassert(not ok and why)",
        },
        Described {
            name: "run_as",
            signature: "(username, command) -> true, result | nil, error",
            about: "Runs a line of shell, or a list of a program and its arguments, as somebody else. The result is that of `exec.run`.",
            example: "local function look()\n  local ok, r = user.run_as('postgres', { 'psql', '-c', 'select 1' })\n  print(r.stdout)\nend",
        },
        Described {
            name: "add_to_group",
            signature: "(username, group) -> result, result | nil, error",
            about: "Puts a user into a group.",
            example: "local function setup() assert(user.add_to_group('ann', 'docker')) end",
        },
        Described {
            name: "remove_from_group",
            signature: "(username, group) -> result, result | nil, error",
            about: "Takes a user out of a group.",
            example: "local function setup() assert(user.remove_from_group('ann', 'docker')) end",
        },
        Described {
            name: "group_create",
            signature: "(group[, { gid, system }]) -> result, result | nil, error",
            about: "Makes a group be there.",
            example: "local function setup() assert(user.group_create('staff', { gid = 2000 })) end",
        },
        Described {
            name: "group_delete",
            signature: "(group) -> result, result | nil, error",
            about: "Makes a group not be there.",
            example: "local function setup() assert(user.group_delete('staff')) end",
        },
        Described {
            name: "group_exists",
            signature: "(group) -> boolean, message",
            about: "Whether there is such a group.",
            example: "assert(user.group_exists('root'))",
        },
        Described {
            name: "group_get_info",
            signature: "(group) -> { name, gid, members } | nil, error",
            about: "What is known about a group.",
            example: "assert(user.group_get_info('root').gid == 0)",
        },
        Described {
            name: "group_list",
            signature: "() -> groups | nil, error",
            about: "All groups.",
            example: "assert(#user.group_list() > 0)",
        },
        Described {
            name: "group_get_gid",
            signature: "(group) -> number | nil, error",
            about: "The number of a group.",
            example: "assert(user.group_get_gid('root') == 0)",
        },
        Described {
            name: "group_members",
            signature: "(group) -> names | nil, error",
            about: "Everybody in a group, those included whose primary group it is.",
            example: "assert(type(user.group_members('root')) == 'table')",
        },
        Described {
            name: "group_add_member",
            signature: "(group, username) -> result, result | nil, error",
            about: "Puts a user into a group.",
            example: "local function setup() assert(user.group_add_member('docker', 'ann')) end",
        },
        Described {
            name: "group_remove_member",
            signature: "(group, username) -> result, result | nil, error",
            about: "Takes a user out of a group.",
            example: "local function setup() assert(user.group_remove_member('docker', 'ann')) end",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    accounts::install(module)?;
    groups::install(module)
}
