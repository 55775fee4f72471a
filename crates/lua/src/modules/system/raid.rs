//! `raid`: arrays of disks.

use std::path::Path;

use hostler_host::files::Block;
use hostler_host::{Call, Host, Primitive};
use serde_json::{Map, Value as Json, json};

use super::given::Given;
use super::machine::{Trouble, asking, changing, done, host, troubled};
use super::proc;
use super::wrapped::{self, Wrapped, reading, whether};
use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "raid",
    about: "Arrays of disks, through `mdadm`.",
    functions: &[
        Described {
            name: "create",
            signature: "{ name, level, devices, metadata, spares, chunk, force } -> result, result | nil, error",
            about: "Makes an array of devices; of those, the last `spares` are kept for a failure.",
            example: "local function setup() assert(raid.create { name = '/dev/md0', level = 5, devices = { '/dev/sdb', '/dev/sdc', '/dev/sdd' } }) end",
        },
        Described {
            name: "assemble",
            signature: "(name[, scan]) -> result, result | nil, error",
            about: "Puts an array together that was made before; with `scan` all that are found.",
            example: "local function setup() assert(raid.assemble('/dev/md0')) end",
        },
        Described {
            name: "stop",
            signature: "(name) -> result, result | nil, error",
            about: "Stops an array.",
            example: "local function setup() assert(raid.stop('/dev/md0')) end",
        },
        Described {
            name: "remove",
            signature: "(name) -> result, result | nil, error",
            about: "The same as `raid.stop`: the array is gone, what is on its devices stays.",
            example: "local function setup() assert(raid.remove('/dev/md0')) end",
        },
        Described {
            name: "add",
            signature: "(name, device) -> result, result | nil, error",
            about: "Adds a device to an array.",
            example: "local function setup() assert(raid.add('/dev/md0', '/dev/sde')) end",
        },
        Described {
            name: "add_device",
            signature: "(name, device) -> result, result | nil, error",
            about: "The same as `raid.add`.",
            example: "local function setup() assert(raid.add_device('/dev/md0', '/dev/sde')) end",
        },
        Described {
            name: "add_spare",
            signature: "(name, device) -> result, result | nil, error",
            about: "Adds a device that is kept for a failure.",
            example: "local function setup() assert(raid.add_spare('/dev/md0', '/dev/sde')) end",
        },
        Described {
            name: "fail",
            signature: "(name, device) -> result, result | nil, error",
            about: "Marks a device of an array as failed.",
            example: "local function setup() assert(raid.fail('/dev/md0', '/dev/sdc')) end",
        },
        Described {
            name: "fail_device",
            signature: "(name, device) -> result, result | nil, error",
            about: "The same as `raid.fail`.",
            example: "local function setup() assert(raid.fail_device('/dev/md0', '/dev/sdc')) end",
        },
        Described {
            name: "remove_device",
            signature: "(name, device) -> result, result | nil, error",
            about: "Takes a failed device out of an array.",
            example: "local function setup() assert(raid.remove_device('/dev/md0', '/dev/sdc')) end",
        },
        Described {
            name: "grow",
            signature: "(name, { level, raid_devices, chunk, layout }) -> result, result | nil, error",
            about: "Gives an array another shape.",
            example: "local function setup() assert(raid.grow('/dev/md0', { raid_devices = 4 })) end",
        },
        Described {
            name: "check",
            signature: "(name) -> result, result | nil, error",
            about: "Begins to compare what is on the devices.",
            example: "local function setup() assert(raid.check('/dev/md0')) end",
        },
        Described {
            name: "repair",
            signature: "(name) -> result, result | nil, error",
            about: "Begins to compare what is on the devices, and mends it.",
            example: "local function setup() assert(raid.repair('/dev/md0')) end",
        },
        Described {
            name: "detail",
            signature: "(name) -> { name, level, devices, uuid, .. } | nil, error",
            about: "What an array is made of.",
            example: "local function look() return raid.detail('/dev/md0') end",
        },
        Described {
            name: "status",
            signature: "() -> text | nil, error",
            about: "How arrays are, as the kernel says it.",
            example: "local function look() return raid.status() end",
        },
        Described {
            name: "list",
            signature: "() -> [{ name, state, level, devices }] | nil, error",
            about: "All arrays that are at work.",
            example: "local function look() return raid.list() end",
        },
        Described {
            name: "exists",
            signature: "(name) -> boolean | nil, error",
            about: "Whether there is such an array.",
            example: "local function look() return raid.exists('/dev/md0') end",
        },
        Described {
            name: "scan",
            signature: "() -> text | nil, error",
            about: "All arrays, as lines of a configuration.",
            example: "local function look() return raid.scan() end",
        },
        Described {
            name: "save_config",
            signature: "() -> result, result | nil, error",
            about: "Writes all arrays to the configuration of mdadm, so that they are put together at boot.",
            example: "local function setup() assert(raid.save_config()) end",
        },
    ],
    install,
};

const FUNCTIONS: [Wrapped; 12] = [
    Wrapped::new("assemble", "name scan", "mdadm --assemble {scan?--scan} {name}")
        .unless("mdadm --detail {name}"),
    Wrapped::new("stop", "name", "mdadm --stop {name}").only("mdadm --detail {name}"),
    Wrapped::new("remove", "name", "mdadm --stop {name}").only("mdadm --detail {name}"),
    Wrapped::new("add", "name device", "mdadm --manage {name} --add {device}"),
    Wrapped::new("add_device", "name device", "mdadm --manage {name} --add {device}"),
    Wrapped::new("add_spare", "name device", "mdadm --manage {name} --add-spare {device}"),
    Wrapped::new("fail", "name device", "mdadm --manage {name} --fail {device}"),
    Wrapped::new("fail_device", "name device", "mdadm --manage {name} --fail {device}"),
    Wrapped::new("remove_device", "name device", "mdadm --manage {name} --remove {device}"),
    Wrapped::new(
        "grow",
        "name; level raid_devices chunk layout",
        "mdadm --grow {name} {level=--level} {raid_devices=--raid-devices} {chunk=--chunk} {layout=--layout}",
    ),
    Wrapped::new("check", "name", "mdadm --misc --action=check {name}"),
    Wrapped::new("repair", "name", "mdadm --misc --action=repair {name}"),
];

const CREATE: &str = "name level devices; metadata spares chunk force";

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    wrapped::install(module, &FUNCTIONS)?;
    module.act_async("create", |lua, args| async move {
        let given = Given::read("raid.create".into(), CREATE, args)?;
        match create(&given, &host()).await {
            Ok(outcome) => done(&lua, &outcome, &Map::new()),
            Err(trouble) => troubled(&lua, trouble),
        }
    })?;
    whether(module, "exists", "name", "mdadm --detail {name}")?;
    reading(module, "detail", "name", "mdadm --detail --export {name}", |said| Ok(detail(said)))?;
    reading(module, "scan", "", "mdadm --detail --scan", |said| Ok(json!(said)))?;
    asking(module, "status", "", |_, host: Host| async move {
        Ok(vec![json!(proc::text(&host.path("/proc/mdstat")?))])
    })?;
    asking(module, "list", "", |_, host: Host| async move {
        Ok(vec![arrays(&proc::text(&host.path("/proc/mdstat")?))])
    })?;
    changing(module, "save_config", "", |_, host: Host| async move {
        let said = host.run(Call::new("mdadm").args(["--detail", "--scan"]).privileged()).await?;
        let folder = host.path("/etc/mdadm")?;
        let file = if folder.is_dir() { "/etc/mdadm/mdadm.conf" } else { "/etc/mdadm.conf" };
        let mut block = Block::new(Path::new(file), said.text());
        block.create = true;
        Ok::<_, Trouble>(block.present(&host).await?)
    })
}

/// How many devices are at work is what is left without the spares.
async fn create(given: &Given, host: &Host) -> Result<hostler_host::Outcome, Trouble> {
    let devices = given.texts("devices")?.len();
    let spares: usize = given.number("spares")?.unwrap_or(0);
    let Some(working) = devices.checked_sub(spares).filter(|working| *working > 0) else {
        return Err(given.misuse("needs more `devices` than `spares`").into());
    };
    let exists = wrapped::call(given, "mdadm --detail {name}")?;
    if host.has("mdadm") && host.attempt(exists).await?.is_success() {
        let name = given.text("name")?;
        return Ok(hostler_host::Outcome::unchanged(format!("{name} is there already")));
    }
    let words = "mdadm --create {name} --run {force?--force} --level {level} {metadata=--metadata} {chunk=--chunk} {spares=--spare-devices}";
    let mut call = wrapped::call(given, words)?.args(["--raid-devices", &working.to_string()]);
    call.args.extend(wrapped::call(given, "devices {devices..}")?.args);
    wrapped::perform(host, call).await
}

/// `MD_LEVEL=raid5` lines, by names in small letters.
fn detail(said: &str) -> Json {
    let mut fields = Map::new();
    let mut devices = Vec::new();
    for (name, value) in said.lines().filter_map(|line| line.split_once('=')) {
        let name = name.trim_start_matches("MD_").to_lowercase();
        if name.starts_with("device_") && name.ends_with("_dev") {
            devices.push(json!(value));
        } else if !name.starts_with("device_") {
            fields.insert(name, json!(value));
        }
    }
    fields.insert("raid_devices".to_owned(), fields.get("devices").cloned().unwrap_or(Json::Null));
    fields.insert("devices".to_owned(), Json::Array(devices));
    Json::Object(fields)
}

/// `md0 : active raid1 sdb[0] sdc[1]` lines.
fn arrays(mdstat: &str) -> Json {
    let array = |line: &str| {
        let (name, rest) = line.split_once(" : ")?;
        if !name.starts_with("md") {
            return None;
        }
        let mut words = rest.split_whitespace().filter(|word| !word.starts_with('('));
        let state = words.next()?.to_owned();
        let (level, devices): (Vec<&str>, Vec<&str>) = words.partition(|word| !word.contains('['));
        let devices: Vec<String> = devices
            .iter()
            .filter_map(|word| Some(format!("/dev/{}", word.split_once('[')?.0)))
            .collect();
        Some(
            json!({ "name": format!("/dev/{name}"), "state": state, "level": level.first(), "devices": devices }),
        )
    };
    mdstat.lines().filter_map(array).collect()
}
