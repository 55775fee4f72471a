//! `lvm`: volumes of disks.

use serde_json::Value as Json;

use super::wrapped::{self, Wrapped, reading, whether};
use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "lvm",
    about: "Volumes of disks: physical volumes, groups and logical volumes, through the programs of LVM. What is there already is not made again.",
    functions: &[
        Described {
            name: "pv_create",
            signature: "(device[, force]) -> result, result | nil, error",
            about: "Makes a device a physical volume; what is on it already is overwritten only with `force`.",
            example: "local function setup() assert(lvm.pv_create('/dev/sdb')) end",
        },
        Described {
            name: "pv_remove",
            signature: "(device[, force]) -> result, result | nil, error",
            about: "Makes a device not be a physical volume.",
            example: "local function setup() assert(lvm.pv_remove('/dev/sdb')) end",
        },
        Described {
            name: "pv_list",
            signature: "() -> volumes | nil, error",
            about: "Physical volumes, as a list of tables with the fields of `pvs`.",
            example: "local function look() return lvm.pv_list() end",
        },
        Described {
            name: "pv_exists",
            signature: "(device) -> boolean | nil, error",
            about: "Whether a device is a physical volume.",
            example: "local function look() return lvm.pv_exists('/dev/sdb') end",
        },
        Described {
            name: "vg_create",
            signature: "(name, devices) -> result, result | nil, error",
            about: "Makes a volume group of devices.",
            example: "local function setup() assert(lvm.vg_create('data', { '/dev/sdb', '/dev/sdc' })) end",
        },
        Described {
            name: "vg_remove",
            signature: "(name[, force]) -> result, result | nil, error",
            about: "Removes a volume group; with `force` also one that has volumes.",
            example: "local function setup() assert(lvm.vg_remove('data')) end",
        },
        Described {
            name: "vg_extend",
            signature: "(name, devices) -> result, result | nil, error",
            about: "Adds devices to a volume group.",
            example: "local function setup() assert(lvm.vg_extend('data', '/dev/sdd')) end",
        },
        Described {
            name: "vg_reduce",
            signature: "(name, devices) -> result, result | nil, error",
            about: "Takes devices out of a volume group.",
            example: "local function setup() assert(lvm.vg_reduce('data', '/dev/sdd')) end",
        },
        Described {
            name: "vg_list",
            signature: "() -> groups | nil, error",
            about: "Volume groups, as a list of tables with the fields of `vgs`.",
            example: "local function look() return lvm.vg_list() end",
        },
        Described {
            name: "vg_exists",
            signature: "(name) -> boolean | nil, error",
            about: "Whether there is such a volume group.",
            example: "local function look() return lvm.vg_exists('data') end",
        },
        Described {
            name: "lv_create",
            signature: "(name, vg, size) -> result, result | nil, error",
            about: "Makes a logical volume, such as `10G` or `100%FREE`.",
            example: "local function setup() assert(lvm.lv_create('db', 'data', '10G')) end",
        },
        Described {
            name: "lv_remove",
            signature: "(path[, force]) -> result, result | nil, error",
            about: "Removes a logical volume with all that is on it; one that is in use only with `force`.",
            example: "local function setup() assert(lvm.lv_remove('/dev/data/db')) end",
        },
        Described {
            name: "lv_extend",
            signature: "(path, size) -> result, result | nil, error",
            about: "Makes a logical volume larger, to a size or by one (`+5G`).",
            example: "local function setup() assert(lvm.lv_extend('/dev/data/db', '+5G')) end",
        },
        Described {
            name: "lv_reduce",
            signature: "(path, size[, force]) -> result, result | nil, error",
            about: "Makes a logical volume smaller. What is on it must be made smaller before; without `force` it is refused where that cannot be known.",
            example: "local function setup() assert(lvm.lv_reduce('/dev/data/db', '5G', true)) end",
        },
        Described {
            name: "lv_resize",
            signature: "(path, size) -> result, result | nil, error",
            about: "Gives a logical volume another size, with the file system on it.",
            example: "local function setup() assert(lvm.lv_resize('/dev/data/db', '20G')) end",
        },
        Described {
            name: "lv_list",
            signature: "() -> volumes | nil, error",
            about: "Logical volumes, as a list of tables with the fields of `lvs`.",
            example: "local function look() return lvm.lv_list() end",
        },
        Described {
            name: "lv_exists",
            signature: "(path) -> boolean | nil, error",
            about: "Whether there is such a logical volume.",
            example: "local function look() return lvm.lv_exists('data/db') end",
        },
        Described {
            name: "snapshot_create",
            signature: "(lv, name, size) -> result, result | nil, error",
            about: "Makes a snapshot of a logical volume.",
            example: "local function setup() assert(lvm.snapshot_create('/dev/data/db', 'db-before', '2G')) end",
        },
        Described {
            name: "lv_snapshot",
            signature: "(lv, name, size) -> result, result | nil, error",
            about: "The same as `lvm.snapshot_create`.",
            example: "local function setup() assert(lvm.lv_snapshot('/dev/data/db', 'db-before', '2G')) end",
        },
        Described {
            name: "snapshot_merge",
            signature: "(path) -> result, result | nil, error",
            about: "Makes a volume be as its snapshot was, which goes by it.",
            example: "local function setup() assert(lvm.snapshot_merge('/dev/data/db-before')) end",
        },
        Described {
            name: "thin_pool_create",
            signature: "(name, vg, size) -> result, result | nil, error",
            about: "Makes a pool for thin volumes.",
            example: "local function setup() assert(lvm.thin_pool_create('pool', 'data', '100G')) end",
        },
        Described {
            name: "thin_lv_create",
            signature: "(name, pool, size) -> result, result | nil, error",
            about: "Makes a thin volume in a pool, written `vg/pool`.",
            example: "local function setup() assert(lvm.thin_lv_create('db', 'data/pool', '50G')) end",
        },
        Described {
            name: "scan",
            signature: "() -> result, result | nil, error",
            about: "Looks for physical volumes anew.",
            example: "local function setup() assert(lvm.scan()) end",
        },
        Described {
            name: "info",
            signature: "(path) -> volume | nil, error",
            about: "A logical volume, as a table with the fields of `lvs`.",
            example: "local function look() return lvm.info('/dev/data/db') end",
        },
    ],
    install,
};

const FUNCTIONS: [Wrapped; 17] = [
    Wrapped::new("pv_create", "device force", "pvcreate --quiet --yes {force?--force} -- {device}")
        .unless("pvs --noheadings -- {device}"),
    Wrapped::new("pv_remove", "device force", "pvremove --quiet --yes {force?--force} -- {device}")
        .only("pvs --noheadings -- {device}"),
    Wrapped::new("vg_create", "name devices", "vgcreate --quiet --yes -- {name} {devices..}")
        .unless("vgs --noheadings -- {name}"),
    Wrapped::new("vg_remove", "name force", "vgremove --quiet --yes {force?--force} -- {name}")
        .only("vgs --noheadings -- {name}"),
    Wrapped::new("vg_extend", "name devices", "vgextend --quiet --yes -- {name} {devices..}"),
    Wrapped::new("vg_reduce", "name devices", "vgreduce --quiet --yes -- {name} {devices..}"),
    Wrapped::new("lv_create", "name vg size", "lvcreate --quiet --yes {size%} -n {name} -- {vg}")
        .unless("lvs --noheadings -- {vg/name}"),
    Wrapped::new("lv_remove", "path force", "lvremove --quiet --yes {force?--force} -- {path}")
        .only("lvs --noheadings -- {path}"),
    Wrapped::new("lv_extend", "path size", "lvextend --quiet --yes {size%} -- {path}"),
    Wrapped::new(
        "lv_reduce",
        "path size force",
        "lvreduce --quiet {force?--force} {size%} -- {path}",
    ),
    Wrapped::new("lv_resize", "path size", "lvresize --quiet --yes --resizefs {size%} -- {path}"),
    Wrapped::new("snapshot_create", "lv name size", SNAPSHOT)
        .unless("lvs --noheadings -- {lv^name}"),
    Wrapped::new("lv_snapshot", "lv name size", SNAPSHOT).unless("lvs --noheadings -- {lv^name}"),
    Wrapped::new("snapshot_merge", "path", "lvconvert --quiet --yes --merge -- {path}"),
    Wrapped::new(
        "thin_pool_create",
        "name vg size",
        "lvcreate --quiet --yes --type thin-pool {size%} -n {name} -- {vg}",
    )
    .unless("lvs --noheadings -- {vg/name}"),
    Wrapped::new(
        "thin_lv_create",
        "name pool size",
        "lvcreate --quiet --yes --type thin -V {size} -n {name} --thinpool {pool}",
    )
    .unless("lvs --noheadings -- {pool^name}"),
    Wrapped::new("scan", "", "pvscan --cache"),
];

const SNAPSHOT: &str = "lvcreate --quiet --yes --snapshot {size%} -n {name} -- {lv}";

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    wrapped::install(module, &FUNCTIONS)?;
    reading(module, "pv_list", "", "pvs --reportformat json --units b --nosuffix", |said| {
        report(said, "pv")
    })?;
    reading(module, "vg_list", "", "vgs --reportformat json --units b --nosuffix", |said| {
        report(said, "vg")
    })?;
    reading(module, "lv_list", "", "lvs --reportformat json --units b --nosuffix", |said| {
        report(said, "lv")
    })?;
    reading(
        module,
        "info",
        "path",
        "lvs --reportformat json --units b --nosuffix -- {path}",
        |said| {
            let found = report(said, "lv")?.as_array().and_then(|list| list.first().cloned());
            found.ok_or_else(|| "there is no such volume".to_owned())
        },
    )?;
    whether(module, "pv_exists", "device", "pvs --noheadings -- {device}")?;
    whether(module, "vg_exists", "name", "vgs --noheadings -- {name}")?;
    whether(module, "lv_exists", "path", "lvs --noheadings -- {path}")
}

/// The rows of a report, by names that are the same for all kinds: `pv_name` is also `name`.
fn report(said: &str, kind: &str) -> Result<Json, String> {
    let report: Json = serde_json::from_str(said)
        .map_err(|error| format!("LVM said what cannot be read: {error}"))?;
    let mut rows = report["report"][0][kind].as_array().cloned().unwrap_or_default();
    for row in &mut rows {
        for field in ["name", "size"] {
            let long = row[format!("{kind}_{field}")].clone();
            if let (Json::Object(fields), false) = (&mut *row, long.is_null()) {
                fields.insert(field.to_owned(), long);
            }
        }
    }
    Ok(Json::Array(rows))
}
