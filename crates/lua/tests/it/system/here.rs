//! What is made of the machine itself.

use std::fs;

use super::{Machine, files};

#[test]
fn a_check_says_what_would_be_done_and_does_nothing() {
    let machine = Machine { check: true, ..files() };
    machine.write("desk/conf", "a = 1\n");
    let said = machine.ok("local r = file_ops.replace('conf', 'a = 1', 'a = 2')
         assert(r.changed and r.message:find('to be done') and r.diff:find('+a = 2', 1, true))
         local ok, made = file_ops.directory { path = 'new' }
         assert(ok.changed and made == ok)
         assert(not file_ops.lineinfile('conf', 'a = 1').changed)");
    assert_eq!(machine.read("desk/conf"), "a = 1\n");
    assert!(!machine.path("desk/new").exists());
    assert!(said[0].contains("-a = 1\n+a = 2"), "{said:?}");
    assert_eq!(said.len(), 2, "what is so already is not worth a word: {said:?}");
}

#[test]
fn a_wrong_call_raises_and_a_refusal_is_told() {
    let machine = files();
    for (call, words) in [
        ("file_ops.copy { src = 'a' }", "file_ops.copy needs `dest`"),
        ("file_ops.copy { src = 'a', dest = 'b', mod = '1' }", "does not know `mod`"),
        ("file_ops.copy { src = {}, dest = 'b' }", "needs a text as `src`, not a table"),
        ("file_ops.file { path = 'x', state = 'gone' }", "it knows: present, absent"),
        ("pkg.install { packages = 'x', delegate_to = 'web1' }", "say `delegate_to` on the task"),
        ("pkg.install()", "needs `packages`"),
        ("file_ops.stat('a', 'b')", "too many arguments"),
        ("firewall.rule():port('many')", "a port is from 1 to 65535"),
        ("ssh.exec({}, 'ls')", "ssh.exec needs a client"),
    ] {
        let error = machine.run(call).unwrap_err();
        assert!(error.contains(words), "{call}: {error}");
    }
    machine.ok("local r, err = file_ops.copy('nothing', 'b')
         assert(r == nil and err:find('nothing') and err:find('make what is missing first'))
         local r, err = file_ops.copy { content = 'x', dest = 'b', mode = '999' }
         assert(r == nil and err:find('0644'))
         local r, err = file_ops.template { content = '{{ .Gone }}', dest = 't' }
         assert(r == nil and err:find('.Gone', 1, true))
         assert(not file_ops.stat('b').exists and not file_ops.stat('t').exists)");
}

#[test]
fn bytes_that_are_no_text_are_copied_as_they_are() {
    let machine = files();
    machine.ok("file_ops.copy { content = '\\0\\255x', dest = 'b' }");
    assert_eq!(fs::read(machine.path("desk/b")).unwrap(), b"\0\xffx");
}

const DPKG: &str = r#"case "$*" in *nginx*) test -e "$0.installed" && printf 'nginx\t1.24-1\tii \n' && exit 0;; esac
exit 1"#;

fn debian() -> Machine {
    let machine = Machine::new();
    let mark = machine.path("bin/dpkg-query.installed");
    let touch = format!(
        "case \"$*\" in *install*nginx*) : > '{0}';; *remove*nginx*) /bin/rm '{0}';; esac",
        mark.display()
    );
    machine.program("dpkg-query", DPKG).program("apt-get", &touch);
    machine
}

#[test]
fn packages_are_installed_once() {
    let machine = debian();
    machine.ok("assert(pkg.get_manager() == 'apt')
         assert(not pkg.is_installed('nginx'))
         local ok, r = pkg.install { packages = { 'nginx' } }
         assert(ok.changed and r.installed[1] == 'nginx' and r.manager == 'apt')");
    let calls = machine.calls();
    assert!(
        calls.iter().any(|call| call.starts_with("apt-get")
            && call.contains("install")
            && call.ends_with("nginx")),
        "{calls:?}"
    );
    machine.ok("assert(not pkg.install('nginx').changed)
         assert(pkg.version { package = 'nginx' } == '1.24-1')
         infra_test.package_is_installed('nginx')
         infra_test.package_version('nginx', '1.24')
         assert(not pcall(infra_test.package_version, 'nginx', '1.2'))");
    assert!(!machine.calls().iter().any(|call| call.starts_with("apt-get")));
    machine.ok("local r = pkg.remove({ packages = 'nginx' }) assert(r.changed and r.removed[1] == 'nginx')");
    machine.ok("assert(not pkg.remove('nginx').changed)");
    machine.ok(
        "local r, err = pkg.install('--force') assert(r == nil and err:find('letter or digit'))",
    );
}

#[test]
fn packages_are_not_installed_in_a_check() {
    let machine = Machine { check: true, ..debian() };
    let said = machine.ok("assert(pkg.install('nginx').changed)");
    assert!(said[0].contains("to be done: nginx is installed"), "{said:?}");
    assert!(!machine.calls().iter().any(|call| call.starts_with("apt-get")));
}

#[test]
fn a_machine_without_a_manager_says_so() {
    let machine = Machine::new();
    machine.ok("local ok, err = pkg.update() assert(ok == nil and err:find('no package manager'))");
}

#[test]
fn found_packages_are_a_list_and_a_text() {
    let machine = debian();
    machine.program("apt-cache", "echo 'vim - an editor'; echo 'nano - another'");
    machine.ok("local ok, found = pkg.search('editor')
         assert(ok and #found == 2 and found[1].name == 'vim')
         local lines = 0
         for _ in found:gmatch('[^\\n]+') do lines += 1 end
         assert(lines == 2)");
}

#[test]
fn a_service_is_described_started_and_removed() {
    let machine = Machine::new();
    let state = machine.path("state");
    machine.program(
        "systemctl",
        &format!(
            "case \"$1\" in
               is-active) test -e '{0}' && echo active && exit 0; echo inactive; exit 3;;
               is-enabled) echo disabled; exit 1;;
               start) : > '{0}';;
               stop) /bin/rm '{0}';;
             esac",
            state.display()
        ),
    );
    let define = "local r = systemd.create_service('web', { exec_start = '/bin/web', restart_sec = 5, environment = { N = 1 } }) ";
    machine.ok(&format!("{define} assert(r.changed and r.path:find('web.service'))"));
    let unit = machine.read("root/etc/systemd/system/web.service");
    assert!(unit.contains("ExecStart=/bin/web\n") && unit.contains("RestartSec=5\n"), "{unit}");
    assert!(unit.contains("Environment=\"N=1\""), "{unit}");
    assert_eq!(machine.calls(), ["systemctl daemon-reload"]);
    machine.ok(&format!("{define} assert(not r.changed)"));
    assert!(machine.calls().is_empty());
    machine.ok("assert(systemd.start('web').changed)
         assert(not systemd.start { name = 'web' }.changed)
         local active, state = systemd.is_active('web')
         assert(active and state == 'active')
         infra_test.service_is_running('web')
         local ok, why = pcall(infra_test.service_is_enabled, 'web')
         assert(not ok and tostring(why):find('it is disabled'))
         assert(systemd.ensure { name = 'web', state = 'stopped', enabled = true }.changed)
         assert(systemd.restart('web').changed)
         assert(systemd.remove_service('web').changed)");
    assert!(!machine.path("root/etc/systemd/system/web.service").exists());
    assert!(machine.calls().contains(&"systemctl enable -- web.service".to_owned()));
}

#[test]
fn users_are_made_and_changed() {
    let machine = Machine::new();
    for program in ["useradd", "usermod", "userdel", "groupadd", "groupdel", "gpasswd", "chage"] {
        machine.program(program, "");
    }
    machine.program("chpasswd", "cat > \"$0.given\"");
    machine.ok(
        "local ok, r = user.create { username = 'web', uid = '1500', gid = 1000, groups = 'docker', password = 'hunter2' }
         assert(ok and r.changed and not r.diff:find('hunter2'))
         assert(not user.create('ann', { shell = '/bin/sh' }).changed)
         assert(user.set_shell('ann', '/bin/zsh').changed)
         assert(user.add_to_group('ann', 'docker').changed)
         assert(user.group_add_member('docker', 'ann').changed)
         assert(user.group_create('staff', { gid = 2000 }).changed)
         assert(not user.group_create('docker').changed)
         assert(user.delete('bea', true).changed and not user.delete('bob').changed)
         assert(user.get_info('ann').name == 'Ann')
         assert(user.get_groups('ann')[1] == 'ann')
         local list = user.list()
         assert(#list == 3)
         local r, err = user.modify('bob', { shell = '/bin/sh' })
         assert(r == nil and err:find('create it first'))
         local r, err = user.delete('root')
         assert(r == nil and err:find('cannot be without'))",
    );
    let calls = machine.calls().join("\n");
    for call in [
        "-u 1500",
        "usermod -s /bin/zsh ann",
        "gpasswd -a ann docker",
        "groupadd -g 2000 staff",
        "userdel -r bea",
    ] {
        assert!(calls.contains(call), "{call}: {calls}");
    }
    assert!(!calls.contains("hunter2"), "{calls}");
    assert_eq!(machine.read("bin/chpasswd.given"), "web:hunter2\n");
}

#[test]
fn somebody_else_runs_a_program() {
    let machine = Machine::new();
    machine.program("runuser", "shift 3; exec \"$@\"");
    machine.ok("local ok, r = user.run_as('ann', 'echo $0 out; exit 3')
         assert(ok and r.stdout == '/bin/sh out\\n' and r.exit_code == 3)
         local ok, r = user.run_as('ann', { 'echo', 'a  b; c' })
         assert(r.stdout == 'a  b; c\\n')
         local ok, err = user.run_as('bob', 'true')
         assert(ok == nil and err:find('no user'))");
    assert!(machine.calls()[0].starts_with("runuser -u ann -- /bin/sh -c"));
}

#[test]
fn crontabs_keep_what_is_not_ours() {
    let machine = Machine::new();
    let table = machine.path("table");
    machine.write("table", "0 1 * * * /bin/theirs\n");
    machine.program(
        "crontab",
        &format!("case \"$*\" in *-l) cat '{0}';; *) cat > '{0}';; esac", table.display()),
    );
    machine.ok(
        "local ok, msg = cron.add { name = 'b', schedule = '@daily', command = '/bin/ours' }
         assert(ok and msg.changed and ('' .. msg):find('cron entry b'))
         assert(not cron.add { name = 'b', schedule = '@daily', command = '/bin/ours' }.changed)
         assert(cron.exists('b') and #cron.list() == 2)
         assert(cron.disable('b').changed)",
    );
    assert!(machine.read("table").starts_with("0 1 * * * /bin/theirs\n"));
    machine.ok("assert(cron.remove('b').changed and not cron.exists('b'))");
    assert_eq!(machine.read("table"), "0 1 * * * /bin/theirs\n");
}

#[test]
fn parameters_of_the_kernel_are_set_and_last() {
    let machine = Machine::new();
    machine.write("root/proc/sys/vm/swappiness", "60\n");
    machine.ok("assert(sysctl.get('vm.swappiness') == '60')
         assert(sysctl.set_persistent('vm.swappiness', 10).changed)
         assert(not sysctl.set_persistent('vm.swappiness', 10).changed)
         assert(sysctl.list('swap')[1].value == '10')
         local v, err = sysctl.get('vm.colour')
         assert(v == nil and err)");
    assert_eq!(machine.read("root/etc/sysctl.d/99-hostler.conf"), "vm.swappiness = 10\n");
}

#[test]
fn a_rule_is_put_together_and_applied() {
    let machine = Machine::new();
    machine.program("ufw", "case \"$1\" in status) echo 'Status: active';; show) :;; esac");
    machine.ok("assert(firewall.detect() == 'ufw')
         local rule = firewall.rule():allow():protocol('tcp'):port(5432):from('10.0.0.0/8')
         assert(rule:exists() == false)
         local r, err = rule:apply()
         assert(r and r.changed, err)
         assert(firewall.allow_port(22, 'tcp').changed)");
    let calls = machine.calls().join("\n");
    assert!(calls.contains("10.0.0.0/8") && calls.contains("5432"), "{calls}");
    let machine = Machine::new();
    machine.ok("assert(firewall.detect() == 'unknown') local r, e = firewall.enable() assert(r == nil and e)");
}

#[test]
fn volumes_and_arrays_are_made_once() {
    let machine = Machine::new();
    let made = machine.path("made");
    machine
        .program("vgs", &format!("test -e '{}'", made.display()))
        .program("vgcreate", &format!(": > '{}'", made.display()))
        .program("lvs", "case \"$*\" in *json*) echo '{\"report\":[{\"lv\":[{\"lv_name\":\"db\",\"lv_size\":\"5\"}]}]}';; *) exit 5;; esac")
        .program("lvcreate", "")
        .program("mdadm", "case \"$*\" in *--detail*) exit 1;; esac");
    machine
        .write("root/proc/mdstat", "Personalities : [raid1]\nmd0 : active raid1 sdc[1] sdb[0]\n");
    machine.ok(
        "assert(lvm.vg_create('data', { '/dev/sdb', '/dev/sdc' }).changed)
         assert(not lvm.vg_create('data', { '/dev/sdb' }).changed)
         assert(lvm.lv_create('db', 'data', '100%FREE').changed)
         assert(lvm.lv_list()[1].name == 'db')
         assert(not pcall(lvm.vg_create, '--force', { '/dev/sdb' }))
         local r, err = lvm.pv_create('/dev/sdb')
         assert(r == nil and err:find('pvs is not installed here'))
         local ok, msg = raid.create { name = '/dev/md1', level = '5', devices = { 'a', 'b', 'c', 'd' }, spares = 1 }
         assert(ok and msg.changed)
         assert(raid.list()[1].devices[2] == '/dev/sdb' and raid.list()[1].level == 'raid1')",
    );
    let calls = machine.calls();
    for call in [
        "vgcreate --quiet --yes -- data /dev/sdb /dev/sdc",
        "lvs --noheadings -- data/db",
        "lvcreate --quiet --yes -l 100%FREE -n db -- data",
        "mdadm --create /dev/md1 --run --level 5 --spare-devices 1 --raid-devices 3 a b c d",
    ] {
        assert!(calls.iter().any(|known| known == call), "{call}: {calls:?}");
    }
    assert_eq!(calls.iter().filter(|call| call.starts_with("vgcreate")).count(), 1);
}

#[test]
fn directories_are_shared_once() {
    let machine = Machine::new();
    machine
        .program("exportfs", "")
        .program("smbcontrol", "")
        .program("smbpasswd", "cat > \"$0.given\"");
    machine
        .write("root/etc/samba/smb.conf", "[global]\n   workgroup = W\n[theirs]\n   path = /t\n");
    machine.ok(
        "local how = { path = '/srv/a', clients = { '10.0.0.1', '*' }, options = 'rw,sync' }
         assert(nfs.export(how).changed and not nfs.export(how).changed)
         assert(nfs.is_exported('/srv/a') and not nfs.is_exported('/srv'))
         assert(nfs.list_exports()[1].clients[2] == '*(rw,sync)')
         local how = { name = 'docs', path = '/srv/docs', writeable = true }
         assert(smb.share(how).changed and not smb.share(how).changed)
         assert(smb.is_shared('docs') and #smb.list_shares() == 2)
         local r, err = smb.share { name = 'theirs', path = '/x' }
         assert(r == nil and err:find('not ours'))
         assert(smb.add_user('ann', 'secret'))
         assert(smb.unshare('docs').changed and nfs.unexport('/srv/a').changed)",
    );
    assert_eq!(machine.read("bin/smbpasswd.given"), "secret\nsecret\n");
    assert_eq!(machine.read("root/etc/exports"), "");
    assert_eq!(
        machine.read("root/etc/samba/smb.conf"),
        "[global]\n   workgroup = W\n[theirs]\n   path = /t\n"
    );
    let calls = machine.calls();
    assert_eq!(calls.iter().filter(|call| *call == "exportfs -ra").count(), 2, "{calls:?}");
    assert!(!calls.iter().any(|call| call.contains("secret")));
}

#[test]
fn nothing_is_run_in_a_check() {
    let machine = Machine { check: true, ..Machine::new() };
    for program in ["vgs", "vgcreate", "exportfs", "systemctl", "useradd"] {
        machine.program(program, if program == "vgs" { "exit 5" } else { "" });
    }
    let said = machine.ok("assert(lvm.vg_create('data', '/dev/sdb').changed)
         assert(nfs.export { path = '/srv/a' }.changed)
         assert(user.create('web').changed)
         assert(systemd.restart('web').changed)");
    assert_eq!(said.len(), 4, "{said:?}");
    assert_eq!(machine.calls(), ["vgs --noheadings -- data"]);
    assert!(!machine.path("root/etc/exports").exists());
}

#[test]
fn what_is_said_of_nixos_is_read_by_nix() {
    let machine = Machine::new();
    let error = machine.ok("local r, err = nixos.enable_flakes() assert(r == nil) print(err)");
    assert!(error[0].contains("this machine is no NixOS"), "{error:?}");
    machine.write(
        "root/etc/nixos/configuration.nix",
        "{ ... }:\n{\n  imports = [ ./hardware.nix ];\n}\n",
    );
    let said = machine.ok(
        "assert(not nixos.remove_package { package = 'vim' }.changed)
         local ok, msg = nixos.configure_user { username = 'ann', shell = 'pkgs.zsh', groups = { 'wheel' }, settings = { initialPassword = 'hunter2' } }
         assert(ok and msg.changed)
         print('users: ' .. msg, ok.diff)
         nixos.configure_environment { packages = { 'kitty.terminfo' }, variables = { EDITOR = 'vim' } }
         assert(not pcall(nixos.configure_networking, { firewall = { ports = 1 } }))
         local r, err = nixos.add_import { path = 'a b' }
         assert(r == nil and err:find('no path of Nix'))",
    );
    assert!(!said.join("\n").contains("hunter2"), "{said:?}");
    let document: serde_json::Value =
        serde_json::from_str(&machine.read("root/etc/nixos/hostler.json")).unwrap();
    assert_eq!(
        document,
        serde_json::json!({
            "environment": {
                "systemPackages": [{ "_package": "kitty.terminfo" }],
                "variables": { "EDITOR": "vim" },
            },
            "users": { "users": { "ann": {
                "extraGroups": ["wheel"],
                "initialPassword": "hunter2",
                "isNormalUser": true,
                "shell": { "_package": "zsh" },
            } } },
        })
    );
    assert_eq!(
        machine.read("root/etc/nixos/configuration.nix"),
        "{ ... }:\n{\n  imports = [ ./hostler.nix ./hardware.nix ];\n}\n"
    );
    machine.write("root/etc/nixos/configuration.nix", "{ ... }: { }\n");
    let said = machine.ok("local r, err = nixos.enable_flakes() assert(r == nil) print(err)");
    assert!(said[0].contains("add `imports = [ ./hostler.nix ];`"), "{said:?}");
}
