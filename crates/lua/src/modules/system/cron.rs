//! `cron`: entries of crontabs.

use hostler_host::cron::{self, Cron};
use hostler_host::{Host, Primitive};
use serde_json::json;

use super::given::Given;
use super::machine::{asking, changing, json};
use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "cron",
    about: "Entries of crontabs, each under a name. Lines of others stay as they are.",
    functions: &[
        Described {
            name: "add",
            signature: "{ name, schedule, command, user, enabled } -> result, result | nil, error",
            about: "Makes an entry be there as told. The schedule has five fields, or is a word such as `@daily`.",
            example: "local function setup()\n  assert(cron.add { name = 'backup', schedule = '0 3 * * *', command = '/usr/local/bin/backup' })\nend",
        },
        Described {
            name: "remove",
            signature: "(name[, user]) -> result, result | nil, error",
            about: "Makes an entry not be there.",
            example: "local function setup() assert(cron.remove('backup')) end",
        },
        Described {
            name: "enable",
            signature: "(name[, user]) -> result, result | nil, error",
            about: "Makes an entry count again.",
            example: "local function setup() assert(cron.enable('backup')) end",
        },
        Described {
            name: "disable",
            signature: "(name[, user]) -> result, result | nil, error",
            about: "Keeps an entry as a comment, so that it does not run.",
            example: "local function setup() assert(cron.disable('backup')) end",
        },
        Described {
            name: "list",
            signature: "([user]) -> [{ name, schedule, command, user, enabled }] | nil, error",
            about: "All entries of a crontab, those without a name included.",
            example: "local function look()\n  for _, entry in ipairs(cron.list() or {}) do print(entry.schedule, entry.command) end\nend",
        },
        Described {
            name: "exists",
            signature: "(name[, user]) -> boolean | nil, error",
            about: "Whether there is an entry of this name.",
            example: "local function look() return cron.exists('backup') end",
        },
        Described {
            name: "validate_schedule",
            signature: "(schedule) -> boolean, message",
            about: "Whether a schedule can be read.",
            example: "assert(cron.validate_schedule('*/5 * * * *'))\nlocal ok, why = cron.validate_schedule('61 * * * *')\nassert(not ok and why)",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    changing(
        module,
        "add",
        "name schedule command user; enabled",
        |given: Given, host: Host| async move {
            let entry = Cron {
                name: given.text("name")?,
                schedule: given.text("schedule")?,
                command: given.text("command")?,
                user: given.maybe("user")?,
                enabled: given.flag("enabled")?.unwrap_or(true),
            };
            Ok(entry.present(&host).await?)
        },
    )?;
    changing(module, "remove", "name user", |given: Given, host: Host| async move {
        Ok(cron::remove(&host, &given.text("name")?, given.maybe("user")?.as_deref()).await?)
    })?;
    for (name, enabled) in [("enable", true), ("disable", false)] {
        changing(module, name, "name user", move |given: Given, host: Host| async move {
            let user = given.maybe("user")?;
            Ok(cron::set_enabled(&host, &given.text("name")?, user.as_deref(), enabled).await?)
        })?;
    }
    asking(module, "list", "user", |given: Given, host: Host| async move {
        Ok(vec![json(&cron::list(&host, given.maybe("user")?.as_deref()).await?)])
    })?;
    asking(module, "exists", "name user", |given: Given, host: Host| async move {
        let user = given.maybe("user")?;
        Ok(vec![json!(cron::exists(&host, &given.text("name")?, user.as_deref()).await?)])
    })?;
    asking(module, "validate_schedule", "schedule", |given: Given, _| async move {
        Ok(match cron::validate_schedule(&given.text("schedule")?) {
            Ok(()) => vec![json!(true), json!("the schedule can be used")],
            Err(error) => vec![json!(false), json!(error.to_string())],
        })
    })
}
