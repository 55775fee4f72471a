//! `sysctl`: parameters of the kernel.

use hostler_host::sysctl::{self, Sysctl};
use hostler_host::{Host, Primitive};
use serde_json::json;

use super::given::Given;
use super::machine::{asking, changing, json};
use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "sysctl",
    about: "Parameters of the kernel: what it has now, and what it gets at the next boot.",
    functions: &[
        Described {
            name: "get",
            signature: "(key) -> value | nil, error",
            about: "What the kernel has for a parameter.",
            example: "assert(sysctl.get('kernel.ostype') == 'Linux')",
        },
        Described {
            name: "set",
            signature: "(key, value) -> result, result | nil, error",
            about: "Gives the kernel a value, until it boots again.",
            example: "local function setup() assert(sysctl.set('net.ipv4.ip_forward', 1)) end",
        },
        Described {
            name: "set_persistent",
            signature: "(key, value[, file]) -> result, result | nil, error",
            about: "Gives the kernel a value now and at every boot; it is written to `file`, or to one of ours in `/etc/sysctl.d`.",
            example: "local function setup() assert(sysctl.set_persistent('vm.swappiness', 10)) end",
        },
        Described {
            name: "list",
            signature: "([pattern]) -> [{ name, value }] | nil, error",
            about: "All parameters whose name fits a regular expression.",
            example: "local found = sysctl.list('^kernel\\\\.ostype$')\nassert(found[1].name == 'kernel.ostype' and found[1].value == 'Linux')",
        },
        Described {
            name: "exists",
            signature: "(key) -> boolean | nil, error",
            about: "Whether the kernel has a parameter.",
            example: "assert(sysctl.exists('kernel.ostype'))\nassert(not sysctl.exists('kernel.no_such_thing'))",
        },
        Described {
            name: "reload",
            signature: "([file]) -> result, result | nil, error",
            about: "Gives the kernel what one file says; `/etc/sysctl.conf` when left out.",
            example: "local function setup() assert(sysctl.reload('/etc/sysctl.d/50-net.conf')) end",
        },
        Described {
            name: "apply",
            signature: "() -> result, result | nil, error",
            about: "Gives the kernel what all files of the machine say.",
            example: "local function setup() assert(sysctl.apply()) end",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    asking(module, "get", "key", |given: Given, host: Host| async move {
        Ok(vec![json!(sysctl::get(&host, &given.text("key")?).await?)])
    })?;
    asking(module, "list", "pattern", |given: Given, host: Host| async move {
        Ok(vec![json(&sysctl::list(&host, given.maybe("pattern")?.as_deref()).await?)])
    })?;
    asking(module, "exists", "key", |given: Given, host: Host| async move {
        Ok(vec![json!(sysctl::exists(&host, &given.text("key")?).await?)])
    })?;
    changing(module, "set", "key value", |given: Given, host: Host| async move {
        Ok(Sysctl::new(given.text("key")?, given.text("value")?).present(&host).await?)
    })?;
    changing(module, "set_persistent", "key value file", |given: Given, host: Host| async move {
        let parameter = Sysctl {
            persistent: true,
            file: given.maybe_path("file")?,
            ..Sysctl::new(given.text("key")?, given.text("value")?)
        };
        Ok(parameter.present(&host).await?)
    })?;
    changing(module, "reload", "file", |given: Given, host: Host| async move {
        Ok(sysctl::reload(&host, given.maybe_path("file")?.as_deref()).await?)
    })?;
    changing(
        module,
        "apply",
        "",
        |_, host: Host| async move { Ok(sysctl::apply_all(&host).await?) },
    )
}
