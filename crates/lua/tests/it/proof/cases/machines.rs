//! Other machines and infrastructure: over SSH, and by the programs of others.

use super::{Bench, Set, looks, repeats, settles};

const CONNECT: &str = "local c = assert(ssh.connect('web1', 'deploy', { key_path = 'id' }))";
const KEY: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const LOGIN: &str = "local client = assert(pulumi.login('file:///srv/state'))";

pub(super) const SETS: &[Set] = &[
    Set {
        name: "ssh",
        prepare: remote,
        cases: &[
            looks("ssh.connect('web1', 'deploy', { port = 2222, accept_new = true }) ~= nil")
                .proves("ssh.connect"),
            looks("ssh.disconnect(c)").after(CONNECT),
            repeats("ssh.upload(c, 'a b', '/tmp/x')").after(CONNECT),
            repeats("ssh.download(c, '/tmp/x', 'here')").after(CONNECT),
            repeats("ssh.upload_dir(c, 'site', '/srv/site')").after(CONNECT),
            repeats("ssh.download_dir(c, '/srv/site/', 'site')").after(CONNECT),
            repeats("ssh.mkdir(c, '/srv/new app')").after(CONNECT),
            repeats("ssh.remove(c, '/srv/old', true)").after(CONNECT),
            repeats("ssh.rename(c, '/srv/a', '/srv/b')").after(CONNECT),
            repeats("ssh.chmod(c, '/srv/a', '755')").after(CONNECT),
            repeats("ssh.chown(c, '/srv/a', 1000, 1000)").after(CONNECT),
            looks("ssh.enable_agent_forward(c), ssh.exec(c, 'uname -a')")
                .after(CONNECT)
                .proves("ssh.enable_agent_forward"),
            looks("ssh.exec(c, 'uname -a')").after(CONNECT),
            looks("ssh.exists(c, '/etc/hosts')").after(CONNECT),
            looks("ssh.stat(c, '/etc/hosts')").after(CONNECT),
            looks("ssh.list_dir(c, '/srv')").after(CONNECT),
            looks("ssh.load_private_key('id')"),
            settles("ssh.generate_keypair { path = 'keys/deploy', comment = 'deploy' }"),
        ],
    },
    Set {
        name: "keys",
        prepare: keys,
        cases: &[
            settles("ssh.add_authorized_key { user = 'ann', key = key, comment = 'new' }")
                .after(NEW_KEY),
            settles("ssh.remove_authorized_key { user = 'ann', key = key }").after(OLD_KEY),
            looks("ssh.list_authorized_keys { user = 'ann' }"),
            looks("ssh.key_exists('ann', key)").after(OLD_KEY),
        ],
    },
    Set {
        name: "incus",
        prepare: incus,
        cases: &[
            settles("incus.instance{ name = 'web', image = 'images:debian/12', config = { ['limits.cpu'] = 2 } }:create()")
                .proves("incus.instance:create"),
            settles("incus.instance{ name = 'web', image = 'images:debian/12' }:launch()")
                .proves("incus.instance:launch"),
            settles("incus.instance('idle'):start()").proves("incus.instance:start"),
            settles("incus.instance('busy'):stop{ force = true }").proves("incus.instance:stop"),
            looks("incus.instance('busy'):wait_running(5).message")
                .proves("incus.instance:wait_running"),
            repeats("incus.instance('busy'):snapshot{ name = 'before', stateful = true }")
                .proves("incus.instance:snapshot"),
            repeats("incus.instance('busy'):file_push('a.conf', '/etc/a.conf', { mode = '0644' })")
                .proves("incus.instance:file_push"),
            repeats("incus.instance('busy'):file_pull('/var/log/a.log', 'a.log')")
                .proves("incus.instance:file_pull"),
            settles("incus.network('dmz'):set_config{ ['ipv4.nat'] = true }:create()")
                .proves("incus.network:create"),
            settles("incus.profile('big'):set_config{ ['limits.cpu'] = 8 }:create()")
                .proves("incus.profile:create"),
            settles("incus.storage('pool'):driver('dir'):create()").proves("incus.storage:create"),
        ],
    },
    Set {
        name: "pulumi",
        prepare: pulumi,
        cases: &[
            repeats("client:stack('prod', { create = true })")
                .after(LOGIN)
                .proves("pulumi.client:stack"),
            repeats("client:set_workdir('.'):stack('prod')")
                .after(LOGIN)
                .proves("pulumi.client:set_workdir"),
            repeats("client:set_config('aws:region', 'eu-west-1')")
                .after(LOGIN)
                .proves("pulumi.client:set_config"),
            repeats("client:up{ auto_approve = true }").after(LOGIN).proves("pulumi.client:up"),
            repeats("client:destroy{ auto_approve = true }")
                .after(LOGIN)
                .proves("pulumi.client:destroy"),
            repeats("client:refresh{}").after(LOGIN).proves("pulumi.client:refresh"),
            repeats("pulumi.stack('prod'):config_map{ size = 3, region = 'eu' }")
                .proves("pulumi.stack:config_map"),
            looks("client:get_config('aws:region')")
                .after(LOGIN)
                .proves("pulumi.client:get_config"),
            looks("client:preview{ diff = true }").after(LOGIN).proves("pulumi.client:preview"),
            looks("client:output('url')").after(LOGIN).proves("pulumi.client:output"),
            looks("pulumi.stack('prod'):outputs()").proves("pulumi.stack:outputs"),
        ],
    },
    Set {
        name: "frp",
        prepare: units,
        cases: &[
            settles("frp.server('edge'):enable()").proves("frp.server:enable"),
            settles("frp.server('on'):disable()").proves("frp.server:disable"),
            settles("frp.server('edge'):start()").proves("frp.server:start"),
            settles("frp.server('on'):stop()").proves("frp.server:stop"),
            repeats("frp.server('on'):restart()").proves("frp.server:restart"),
            looks("frp.server('on'):status()").proves("frp.server:status"),
        ],
    },
];

const NEW_KEY: &str = "local key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB'";
const OLD_KEY: &str = "local key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'";

fn remote(bench: &Bench) {
    bench.write("desk/id", "-----BEGIN OPENSSH PRIVATE KEY-----\n");
    bench.tool(
        "ssh",
        "*' true'|*' test '*|*' stat '*|*' ls '*|*'uname'*",
        "case \"$last\" in
          stat*) echo '158 81a4 1700000000 0 0';;
          ls*) printf 'app\\nsite\\n';;
          uname*) echo Linux;;
        esac",
    );
    bench.tool("sftp", "", "cat > \"$S/given\"");
    bench.tool(
        "ssh-keygen",
        "-l*",
        "case \"$1\" in -l) echo '256 SHA256:abc ann@laptop (ED25519)';; *) : > \"$last\"; echo 'ssh-ed25519 AAAA deploy' > \"$last.pub\";; esac",
    );
}

fn keys(bench: &Bench) {
    bench.write("root/people/ann/.ssh/authorized_keys", &format!("ssh-ed25519 {KEY} ann@laptop\n"));
}

fn incus(bench: &Bench) {
    bench.write("state/idle", "Stopped");
    bench.write("state/busy", "Running");
    bench.tool(
        "incus",
        "query*",
        "case \"$*\" in
          query*/state) name=${2%/state}; name=${name##*/}
            test -e \"$S/$name\" || { echo 'Error: not found' >&2; exit 1; }
            read -r now < \"$S/$name\" || :; echo \"{\\\"status\\\":\\\"$now\\\"}\";;
          query*) test -e \"$S/$key\" || { echo 'Error: not found' >&2; exit 1; }
            read -r now < \"$S/$key\" || :
            case \"$2\" in */networks/*) pair='\"ipv4.nat\":\"true\"';; */profiles/*) pair='\"limits.cpu\":\"8\"';; *) pair='\"limits.cpu\":\"2\"';; esac
            echo \"{\\\"status\\\":\\\"$now\\\",\\\"driver\\\":\\\"dir\\\",\\\"config\\\":{$pair}}\";;
          init*) printf Stopped > \"$S/$3\";;
          launch*) printf Running > \"$S/$3\";;
          start*) printf Running > \"$S/$2\";;
          stop*) printf Stopped > \"$S/$2\";;
          network*|storage*) : > \"$S/$3\";;
          profile*) : > \"$S/$3\";;
        esac",
    );
}

fn pulumi(bench: &Bench) {
    bench.tool(
        "pulumi",
        "login*|*preview*|*get*|*output*",
        "case \"$*\" in *output*) echo '{\"url\":\"https://example.org\"}';; *get*) echo eu-west-1;; esac",
    );
}

fn units(bench: &Bench) {
    bench.write("state/on.service.start", "");
    bench.write("state/on.service.enable", "");
    bench.tool(
        "systemctl",
        "is-*|status*",
        "case \"$1\" in
          is-active) test -e \"$S/$last.start\";;
          is-enabled) test -e \"$S/$last.enable\";;
          start|enable) : > \"$S/$last.$1\";;
          stop) rm \"$S/$last.start\";;
          disable) rm \"$S/$last.enable\";;
          status) echo 'on.service - active (running)';;
        esac",
    );
}
