//! Packages, services, people, schedules, parameters of the kernel, firewalls, and what is true of a machine.

use super::{Bench, Set, looks, repeats, settles};

pub(super) const SETS: &[Set] = &[
    Set {
        name: "pkg",
        prepare: debian,
        cases: &[
            settles("pkg.install { packages = { 'nginx', 'curl' }, update = true }"),
            settles("pkg.remove { packages = 'curl', purge = true }"),
            repeats("pkg.update()"),
            repeats("pkg.upgrade()"),
            repeats("pkg.clean()"),
            repeats("pkg.autoremove()"),
            settles("pkg.install_local { file = 'agent.deb' }"),
            looks("pkg.search('editor')"),
            looks("pkg.info('curl')"),
            looks("pkg.list()"),
            looks("pkg.is_installed('nginx')"),
            looks("pkg.version('curl')"),
            looks("pkg.deps('curl')"),
            looks("infra_test.package_is_installed('curl')"),
            looks("infra_test.package_version('curl', '8.5')"),
            looks("facts.get_packages()"),
            looks("facts.get_package { name = 'curl' }"),
        ],
    },
    Set {
        name: "systemd",
        prepare: services,
        cases: &[
            settles(
                "systemd.create_service('web', { exec_start = '/bin/web', after = 'network.target', environment = { N = 1 } })",
            ),
            settles("systemd.start('idle')"),
            settles("systemd.stop('ready')"),
            settles("systemd.enable('idle')"),
            settles("systemd.disable('ready')"),
            settles("systemd.ensure { name = 'idle', state = 'running', enabled = true }"),
            repeats("systemd.restart('ready')"),
            repeats("systemd.reload('ready')"),
            repeats("systemd.daemon_reload()"),
            settles("systemd.remove_service('ready')"),
            looks("systemd.status('ready')"),
            looks("systemd.is_active('ready')"),
            looks("systemd.is_enabled('idle')"),
            looks("systemd.list_services { state = 'running', no_header = true }"),
            looks("systemd.show('ready')"),
            looks("infra_test.service_is_running('ready')"),
            looks("infra_test.service_is_enabled('ready')"),
            looks("facts.get_services()"),
            looks("facts.get_service { name = 'ready' }"),
        ],
    },
    Set {
        name: "user",
        prepare: people,
        cases: &[
            settles(
                "user.create { username = 'web', uid = 1500, gid = 1000, groups = { 'docker' }, shell = '/bin/sh', password = 'hunter2' }",
            ),
            settles("user.delete('bea', true)"),
            settles("user.modify('ann', { shell = '/bin/zsh', comment = 'Ann B' })"),
            settles("user.lock('ann')"),
            settles("user.unlock('bea')"),
            settles("user.set_shell('ann', '/bin/zsh')"),
            settles("user.set_home('ann', '/people/new', true)"),
            settles("user.set_comment('ann', 'Ann B')"),
            settles("user.set_expiry('ann', '2030-01-31')"),
            settles("user.set_primary_group('ann', 'docker')"),
            repeats("user.set_password('ann', 'hunter2')"),
            settles("user.expire_password('ann')"),
            settles("user.add_to_group('ann', 'docker')"),
            settles("user.remove_from_group('bea', 'docker')"),
            settles("user.group_create('staff', { gid = 2000 })"),
            settles("user.group_delete('docker')"),
            settles("user.group_add_member('docker', 'ann')"),
            settles("user.group_remove_member('docker', 'bea')"),
            repeats("user.run_as('ann', { 'echo', 'a  b' })"),
            looks("user.is_locked('bea')"),
            looks("user.get_last_login('ann')"),
            looks("user.get_failed_logins('ann')"),
        ],
    },
    Set {
        name: "cron",
        prepare: crontabs,
        cases: &[
            settles("cron.add { name = 'new', schedule = '@daily', command = '/bin/ours' }"),
            settles(
                "cron.add { name = 'new', schedule = '5 4 * * *', command = '/bin/ours', user = 'ann' }",
            ),
            settles("cron.remove('backup')"),
            settles("cron.disable('backup')"),
            settles("cron.enable('report')"),
            looks("cron.list()"),
            looks("cron.exists('backup')"),
        ],
    },
    Set {
        name: "sysctl",
        prepare: kernel,
        cases: &[
            settles("sysctl.set('net.ipv4.ip_forward', 1)"),
            settles("sysctl.set_persistent('vm.swappiness', '10')"),
            repeats("sysctl.reload()"),
            repeats("sysctl.apply()"),
        ],
    },
    Set {
        name: "ufw",
        prepare: ufw,
        cases: &[
            settles("firewall.enable()"),
            settles("firewall.allow_port(22)"),
            settles("firewall.deny_port(53, 'udp')"),
            settles("firewall.allow_from('10.0.0.0/8')"),
            settles("firewall.deny_from('192.0.2.1')"),
            repeats("firewall.flush()"),
            repeats("firewall.reload()"),
            looks("firewall.status()"),
            looks("firewall.list()"),
            settles("rule:apply()")
                .after(
                    "local rule = firewall.rule():deny():protocol('tcp'):port(23):comment('old')",
                )
                .proves("firewall.rule:apply"),
        ],
    },
    Set {
        name: "ufw_rule",
        prepare: ufw_with_a_rule,
        cases: &[
            settles("rule:remove()")
                .after("local rule = firewall.rule():allow():protocol('tcp'):port(80)")
                .proves("firewall.rule:remove"),
            looks("rule:exists()")
                .after("local rule = firewall.rule():allow():protocol('tcp'):port(80)")
                .proves("firewall.rule:exists"),
        ],
    },
    Set {
        name: "firewalld",
        prepare: firewalld,
        cases: &[settles("firewall.disable()"), repeats("firewall.save()")],
    },
    Set {
        name: "kernel_tables",
        prepare: tables,
        cases: &[
            looks("infra_test.port_is_listening(8080)"),
            looks("infra_test.port_is_tcp(8080)"),
            looks("infra_test.port_is_udp(53)"),
            looks("infra_test.ping('192.0.2.7', 2)"),
        ],
    },
];

fn debian(bench: &Bench) {
    let here = bench.0.path("desk/agent.deb").display().to_string();
    bench.write(&format!("root{here}"), "not really");
    bench.write("state/curl", "");
    bench.tool(
        "dpkg-query",
        "*",
        "for name in curl nginx agent; do
          case \"$# $*\" in 2*|*$name*) test -e \"$S/$name\" && printf '%s\\t8.5-1\\tii \\n' $name && found=1;; esac
        done
        test -n \"$found\"",
    );
    bench.tool("dpkg-deb", "*", "printf 'agent\\t8.5-1\\n'");
    bench.tool(
        "apt-get",
        "-s*",
        "case \"$*\" in
          -s*upgrade) echo 'Inst curl [8.5-1] (8.6-1 stable [amd64])';;
          -s*) echo 'Remv libold [1.0-1]';;
          *' purge '*) rm \"$S/curl\";;
          *agent.deb) : > \"$S/agent\";;
          *' install '*) : > \"$S/nginx\";;
        esac",
    );
    bench.tool(
        "apt-cache",
        "*",
        "case \"$1\" in
          search) echo 'vim - an editor';;
          show) echo 'Package: curl';;
          *) printf 'curl\\n  Depends: libc6\\n  Depends: libcurl4\\n';;
        esac",
    );
}

fn services(bench: &Bench) {
    bench.write("root/etc/systemd/system/ready.service", "[Service]\nExecStart=/bin/ready\n");
    bench.write("state/ready.service.active", "");
    bench.write("state/ready.service.enabled", "");
    bench.tool(
        "systemctl",
        "is-*|status*|show*|list-*",
        "case \"$1\" in
          is-active) test -e \"$S/$last.active\" && echo active && exit 0; echo inactive; exit 3;;
          is-enabled) test -e \"$S/$last.enabled\" && echo enabled && exit 0; echo disabled; exit 1;;
          start) : > \"$S/$last.active\";;
          stop) rm \"$S/$last.active\";;
          enable) : > \"$S/$last.enabled\";;
          disable) rm \"$S/$last.enabled\";;
          status) echo 'ready.service - active (running)';;
          show) echo 'MainPID=7';;
          list-unit-files) echo 'ready.service enabled enabled';;
          list-*) echo 'ready.service loaded active running Ready';;
        esac",
    );
}

fn people(bench: &Bench) {
    bench.write(
        "root/etc/shadow",
        "root:*:19000:0:99999:7:::\nann:$6$a$b:19000:0:99999:7:::\nbea:!$6$a$b:19000:0:99999:7:::\n",
    );
    bench.write("root/etc/group", "root:x:0:\nann:x:1000:\ndocker:x:999:bea\n");
    let edit = "E=$S/../root/etc\nedit() { /bin/sed -i \"$1\" \"$2\"; }\n";
    let tools = [
        (
            "useradd",
            "echo 'web:x:1500:1000::/var/lib/web:/bin/sh' >> $E/passwd; echo 'web:!:19000::::::' >> $E/shadow; edit 's/^\\(docker:.*\\)$/\\1,web/' $E/group",
        ),
        ("userdel", "edit \"/^$last:/d\" $E/passwd; edit \"/^$last:/d\" $E/shadow"),
        (
            "usermod",
            "f='[^:]*'
          while [ $# -gt 1 ]; do
            case \"$1\" in
              -s) edit \"s#^\\($last:.*\\):$f\\$#\\1:$2#\" $E/passwd;;
              -c) edit \"s#^\\($last:$f:$f:$f\\):$f#\\1:$2#\" $E/passwd;;
              -d) edit \"s#^\\($last:$f:$f:$f:$f\\):$f#\\1:$2#\" $E/passwd;;
              -g) edit \"s#^\\($last:$f:$f\\):$f#\\1:999#\" $E/passwd;;
              -e) edit \"s#^\\($last:$f:$f:$f:$f:$f:$f\\):$f#\\1:21945#\" $E/shadow;;
              -L) edit \"s#^$last:#$last:!#\" $E/shadow;;
              -U) edit \"s#^$last:!#$last:#\" $E/shadow;;
            esac
            shift
          done",
        ),
        ("groupadd", "echo 'staff:x:2000:' >> $E/group"),
        ("groupdel", "edit \"/^$last:/d\" $E/group"),
        (
            "gpasswd",
            "case $1 in -a) edit \"s/^\\($3:.*\\)$/\\1,$2/\" $E/group;; -d) edit \"/^$3:/s/$2//\" $E/group;; esac",
        ),
        ("chage", "edit \"s#^\\($last:[^:]*\\):[^:]*#\\1:0#\" $E/shadow"),
        ("chpasswd", "cat > \"$S/given\""),
        ("runuser", "shift 3; \"$@\""),
    ];
    for (name, lines) in tools {
        bench.tool(name, "", &format!("{edit}{lines}"));
    }
    bench.tool(
        "last",
        "*",
        "echo 'ann pts/0 192.0.2.9 Tue Jan  6 10:00:00 2026   still logged in'",
    );
    bench.tool("faillock", "*", "printf 'ann:\\nWhen                Type  Source                                           Valid\\n2026-01-06 10:00:00 RHOST 192.0.2.9                                            V\\n'");
}

fn crontabs(bench: &Bench) {
    bench.write(
        "state/table",
        "0 1 * * * /bin/theirs\n# hostler: backup\n0 2 * * * /bin/backup\n# hostler: report (disabled)\n#0 3 * * * /bin/report\n",
    );
    bench.tool(
        "crontab",
        "*-l",
        "case \"$*\" in *-l) cat \"$S/table\";; *) cat > \"$S/table\";; esac",
    );
}

fn kernel(bench: &Bench) {
    bench.write("root/proc/sys/net/ipv4/ip_forward", "0\n");
    bench.write("root/proc/sys/vm/swappiness", "60\n");
    bench.write("root/etc/sysctl.conf", "vm.swappiness = 60\n");
    bench.tool("sysctl", "", "");
}

fn ufw(bench: &Bench) {
    bench.write("root/etc/ufw/ufw.conf", "ENABLED=no\n");
    bench.tool(
        "ufw",
        "status*|--dry-run*",
        "case \"$*\" in
          --dry-run*) shift; test \"$(cat \"$S/rule\" 2>&1)\" = \"$*\" && echo 'Skipping adding existing rule' && exit 0; echo '*filter';;
          status*) echo 'Status: inactive';;
          '--force enable') echo ENABLED=yes > \"$S/../root/etc/ufw/ufw.conf\";;
          '--force delete'*) rm \"$S/rule\";;
          allow*|deny*) echo \"${*% comment *}\" > \"$S/rule\";;
        esac",
    );
}

fn ufw_with_a_rule(bench: &Bench) {
    ufw(bench);
    bench.write("state/rule", "allow in proto tcp from any to any port 80\n");
}

fn firewalld(bench: &Bench) {
    bench.write("state/on", "");
    bench.tool("firewall-cmd", "--state", "test \"$1\" != --state || test -e \"$S/on\"");
    bench.tool(
        "systemctl",
        "is-*",
        "case \"$1\" in disable) rm \"$S/on\";; is-*) test -e \"$S/on\";; esac",
    );
}

fn tables(bench: &Bench) {
    let header = "  sl  local_address rem_address   st\n";
    bench.write("root/proc/net/tcp", &format!("{header}   0: 00000000:1F90 00000000:0000 0A 0\n"));
    bench.write("root/proc/net/udp", &format!("{header}   0: 00000000:0035 00000000:0000 07 0\n"));
    bench.tool("ping", "*", "echo '2 packets transmitted, 2 received'");
}
