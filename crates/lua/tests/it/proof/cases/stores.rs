//! Disks, and directories that other machines use.

use super::{Bench, Set, looks, repeats, settles};

pub(super) const SETS: &[Set] = &[
    Set {
        name: "lvm_new",
        prepare: lvm,
        cases: &[
            settles("lvm.pv_create('/dev/sdb')"),
            settles("lvm.vg_create('data', { '/dev/sdb', '/dev/sdc' })"),
            settles("lvm.lv_create('db', 'data', '10G')"),
            settles("lvm.thin_pool_create('pool', 'data', '100%FREE')"),
            settles("lvm.thin_lv_create('thin', 'data/pool', '50G')"),
            settles("lvm.snapshot_create('/dev/data/old', 'before', '1G')"),
            settles("lvm.lv_snapshot('/dev/data/old', 'before', '1G')"),
        ],
    },
    Set {
        name: "lvm",
        prepare: lvm,
        cases: &[
            settles("lvm.pv_remove('/dev/old', true)"),
            settles("lvm.vg_remove('old')"),
            settles("lvm.lv_remove('/dev/data/old', true)"),
            repeats("lvm.vg_extend('data', '/dev/sdd')"),
            repeats("lvm.vg_reduce('data', { '/dev/sdd' })"),
            repeats("lvm.lv_extend('/dev/data/old', '+5G')"),
            repeats("lvm.lv_reduce('/dev/data/old', '5G', true)"),
            repeats("lvm.lv_resize('/dev/data/old', '20G')"),
            repeats("lvm.snapshot_merge('/dev/data/before')"),
            repeats("lvm.scan()"),
            looks("lvm.pv_list()"),
            looks("lvm.vg_list()"),
            looks("lvm.lv_list()"),
            looks("lvm.info('/dev/data/old')"),
            looks("lvm.pv_exists('/dev/old')"),
            looks("lvm.vg_exists('none')"),
            looks("lvm.lv_exists('/dev/data/old')"),
        ],
    },
    Set {
        name: "raid",
        prepare: raid,
        cases: &[
            settles(
                "raid.create { name = '/dev/md0', level = 1, devices = { '/dev/sdb', '/dev/sdc', '/dev/sdd' }, spares = 1 }",
            ),
            settles("raid.assemble('/dev/md0', true)"),
            settles("raid.stop('/dev/md1')"),
            settles("raid.remove('/dev/md1')"),
            repeats("raid.add('/dev/md1', '/dev/sde')"),
            repeats("raid.add_device('/dev/md1', '/dev/sde')"),
            repeats("raid.add_spare('/dev/md1', '/dev/sde')"),
            repeats("raid.fail('/dev/md1', '/dev/sdb')"),
            repeats("raid.fail_device('/dev/md1', '/dev/sdb')"),
            repeats("raid.remove_device('/dev/md1', '/dev/sdb')"),
            repeats("raid.grow('/dev/md1', { raid_devices = 3 })"),
            repeats("raid.check('/dev/md1')"),
            repeats("raid.repair('/dev/md1')"),
            settles("raid.save_config()"),
            looks("raid.detail('/dev/md1')"),
            looks("raid.status()"),
            looks("raid.list()"),
            looks("raid.exists('/dev/md0')"),
            looks("raid.scan()"),
        ],
    },
    Set {
        name: "nfs",
        prepare: nfs,
        cases: &[
            settles(
                "nfs.export { path = '/srv/data', clients = { '10.0.0.0/8' }, options = 'rw,sync' }",
            ),
            settles("nfs.unexport('/srv/old')"),
            repeats("nfs.reload()"),
            looks("nfs.list_exports()"),
            looks("nfs.is_exported('/srv/old')"),
        ],
    },
    Set {
        name: "smb",
        prepare: smb,
        cases: &[
            settles(
                "smb.share { name = 'media', path = '/srv/media', writeable = true, valid_users = { 'ann', 'bea' } }",
            ),
            settles("smb.unshare('old')"),
            repeats("smb.reload()"),
            repeats("smb.add_user('ann', 'secret')"),
            repeats("smb.remove_user('ann')"),
            looks("smb.list_shares()"),
            looks("smb.is_shared('old')"),
        ],
    },
];

fn lvm(bench: &Bench) {
    let report = |kind: &str| {
        format!(
            "case \"$*\" in *reportformat*) echo '{{\"report\":[{{\"{kind}\":[{{\"{kind}_name\":\"old\",\"{kind}_size\":\"1024\"}}]}}]}}'; exit 0;; esac\ntest -e \"$S/{kind}-$key\""
        )
    };
    for kind in ["pv", "vg", "lv"] {
        bench.tool(&format!("{kind}s"), "*", &report(kind));
        bench.write(&format!("state/{kind}-old"), "");
        bench.tool(&format!("{kind}remove"), "", &format!("rm \"$S/{kind}-$key\""));
    }
    bench.tool("pvcreate", "", ": > \"$S/pv-$key\"");
    bench.tool("vgcreate", "", "while [ \"$1\" != -- ]; do shift; done; : > \"$S/vg-$2\"");
    bench.tool("lvcreate", "", "while [ \"$1\" != -n ]; do shift; done; : > \"$S/lv-$2\"");
    for name in ["vgextend", "vgreduce", "lvextend", "lvreduce", "lvresize", "lvconvert", "pvscan"]
    {
        bench.tool(name, "", "");
    }
}

fn raid(bench: &Bench) {
    bench.write("state/md1", "");
    bench.write(
        "root/proc/mdstat",
        "Personalities : [raid1]\nmd1 : active raid1 sdc[1] sdb[0]\n      1000 blocks [2/2] [UU]\n",
    );
    bench.tool(
        "mdadm",
        "--detail*",
        "case \"$*\" in
          *--scan) test \"$1\" = --detail && echo 'ARRAY /dev/md1 UUID=1:2';;
          *--export*) printf 'MD_LEVEL=raid1\\nMD_DEVICES=2\\nMD_DEVICE_dev_sdb_DEV=/dev/sdb\\n';;
        esac
        case \"$1\" in
          --detail) test \"$2\" = --scan || test -e \"$S/$key\";;
          --create) : > \"$S/${2##*/}\";;
          --assemble) : > \"$S/$key\";;
          --stop) rm \"$S/$key\";;
        esac",
    );
}

fn nfs(bench: &Bench) {
    bench.write("root/etc/exports", "/srv/old *(ro)\n");
    bench.tool("exportfs", "", "");
}

fn smb(bench: &Bench) {
    bench.write(
        "root/etc/samba/smb.conf",
        "[global]\n   workgroup = W\n# BEGIN hostler share old\n[old]\n   path = /srv/old\n   guest ok = no\n# END hostler share old\n",
    );
    bench.tool("smbcontrol", "", "").tool("smbpasswd", "", "cat > \"$S/given\"");
}
