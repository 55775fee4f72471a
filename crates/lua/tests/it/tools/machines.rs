//! Incus, Salt, Stow, frp, and Hostler itself.

use super::World;

const INCUS: &str = r#"case "$*" in
  "query /1.0/instances/there") echo '{"status":"Stopped","config":{"limits.cpu":"2"},"devices":{"eth0":{"type":"nic","network":"n"}}}';;
  "query /1.0/instances/there/state") echo '{"status":"Running","network":{"eth0":{"addresses":[{"address":"10.0.0.2"}]}}}';;
  "query /1.0/networks/there") echo '{"config":{"ipv4.nat":"true"}}';;
  "query "*) echo 'Error: Instance not found' >&2; exit 1;;
  "exec "*) echo out; exit 3;;
  "network list "*) echo dmz,bridge;;
  "list "*) echo '[{"name":"there"}]';;
esac"#;

#[test]
fn an_instance_is_made_once_and_brought_to_its_settings() {
    let world = World::new();
    world.program("incus", INCUS);
    world
        .run(
            "local r, err = incus.instance{ name = 'new', image = 'images:debian/12', type = 'vm', profiles = { 'default', 'web' } }\n\
             :set_config{ ['limits.cpu'] = 2 }:set_devices{ root = { type = 'disk', size = '20GB' } }:proxy('p', 'tcp:0.0.0.0:80', 'tcp:127.0.0.1:80'):launch()\n\
             assert(err == nil and r.changed)\n\
             local same = incus.instance{ name = 'there', image = 'i', config = { ['limits.cpu'] = '2' }, devices = { eth0 = { type = 'nic', network = 'n' } } }:create()\n\
             assert(same.changed == false)\n\
             local other = incus.instance{ name = 'there', image = 'i', config = { ['limits.cpu'] = '4' } }:create()\n\
             assert(other.changed)",
        )
        .unwrap();
    assert_eq!(
        world.calls(),
        [
            "incus|query|/1.0/instances/new",
            "incus|launch|images:debian/12|new|--vm|--profile|default|--profile|web|--config|limits.cpu=2|--device|p,connect=tcp:127.0.0.1:80|--device|p,listen=tcp:0.0.0.0:80|--device|p,type=proxy|--device|root,size=20GB|--device|root,type=disk",
            "incus|query|/1.0/instances/there",
            "incus|query|/1.0/instances/there",
            "incus|config|set|there|limits.cpu=4",
        ]
    );
}

#[test]
fn an_instance_that_is_there_is_changed_at_once() {
    let world = World::new();
    world.program("incus", INCUS);
    world
        .run(
            "local i = incus.instance('there')\n\
             assert(i:start().changed == false and i:start():wait_running(5).success)\n\
             assert(i:state().network.eth0.addresses[1].address == '10.0.0.2')\n\
             i:set_config{ a = 1 }\n\
             i:add_device('disk', { type = 'disk', path = '/x' })\n\
             assert(i:add_device('eth0', { type = 'nic', network = 'n' }).changed == false)\n\
             local r, err = i:exec({ command = 'ls | wc' })\n\
             assert(r.exit_code == 3 and r.stdout:find('out') and err)\n\
             i:exec({ command = { 'ls', '-l' }, cwd = '/x' })\n\
             i:snapshot({ name = 'before', stateful = true })\n\
             i:file_push('a.txt', '/etc/a.txt', { mode = '0600' }):file_pull('/etc/b', 'b')\n\
             i:stop({ force = true }):restore({ snapshot = 'before' }):delete()",
        )
        .unwrap();
    let calls: Vec<String> =
        world.calls().into_iter().filter(|call| !call.contains("|query|")).collect();
    assert_eq!(
        calls,
        [
            "incus|config|set|there|a=1",
            "incus|config|device|add|there|disk|disk|path=/x",
            "incus|exec|there|--|sh|-c|ls | wc",
            "incus|exec|there|--cwd|/x|--|ls|-l",
            "incus|snapshot|create|there|before|--stateful",
            "incus|file|push|~/a.txt|there/etc/a.txt|--mode|0600",
            "incus|file|pull|there/etc/b|~/b",
            "incus|stop|there|--force",
            "incus|snapshot|restore|there|before",
            "incus|delete|there",
        ]
    );
}

#[test]
fn networks_profiles_and_pools_are_made() {
    let world = World::new();
    world.program("incus", INCUS);
    world
        .run(
            "incus.network{ name = 'dmz', type = 'bridge', description = 'd' }:set_config{ ['ipv4.nat'] = 'true' }:create():attach('web')\n\
             assert(incus.network{ name = 'there' }:set_config{ ['ipv4.nat'] = 'true' }:create().changed == false)\n\
             incus.profile{ name = 'web' }:set_config{ a = 1 }:set_devices{ eth0 = { type = 'nic', network = 'dmz' } }:create():apply('web-1')\n\
             incus.storage{ name = 'pool', driver = 'dir' }:set_config{ source = '/x' }:create():volume('v')\n\
             local r, err = incus.instance('none'):start()\n\
             assert(r.success == false and err == 'there is no instance none')\n\
             assert(incus.list{ type = 'instances' }[1].name == 'there')\n\
             assert(incus.list{ type = 'networks', format = 'csv' } ~= '')\n\
             incus.delete{ type = 'network', name = 'dmz' }",
        )
        .unwrap();
    let calls: Vec<String> =
        world.calls().into_iter().filter(|call| !call.contains("|query|")).collect();
    assert_eq!(
        calls,
        [
            "incus|network|create|dmz|ipv4.nat=true|--type|bridge|--description|d",
            "incus|network|attach|dmz|web|eth0",
            "incus|profile|create|web",
            "incus|profile|set|web|a=1",
            "incus|profile|device|add|web|eth0|nic|network=dmz",
            "incus|profile|add|web-1|web",
            "incus|storage|create|pool|dir|source=/x",
            "incus|storage|volume|create|pool|v",
            "incus|list|--format|json",
            "incus|network|list|--format|csv",
            "incus|network|delete|dmz",
        ]
    );
}

#[test]
fn methods_of_salt_are_functions_of_salt() {
    let world = World::new();
    world.program("salt", "case \"$*\" in *bad*) echo 'No minions matched' >&2; exit 2;; *) echo '{\"web-1\":true}';; esac");
    world.program(
        "salt-key",
        "case \"$*\" in *list*) echo '{\"minions_pre\":[\"new-1\"],\"minions\":[]}';; esac",
    );
    world
        .run(
            "local stdout, stderr, err = salt.target('web-1'):ping():result()\n\
             assert(stdout == '{\"web-1\":true}\\n' and stderr == nil and err == nil)\n\
             local ok, stdout, stderr, err = salt.client():target('web-1'):cmd('test.ping')\n\
             assert(ok and stdout and not stderr and not err and ok.data['web-1'] == true)\n\
             salt:target('prod'):cmd('state.apply', 'app', 'test=true')\n\
             salt.target({ 'a', 'b' }):pkg_install('nginx', { refresh = true })\n\
             local r, stdout, stderr, err = salt.target('bad', 'compound'):service_restart('x')\n\
             assert(r.success == false and stderr == 'No minions matched\\n' and err)\n\
             local minion, err = salt.key.wait_and_accept()\n\
             assert(minion == 'new-1' and err == nil)",
        )
        .unwrap();
    let salt = "salt|--out=json|--static|--retcode-passthrough";
    assert_eq!(
        world.calls(),
        [
            format!("{salt}|web-1|test.ping"),
            format!("{salt}|web-1|test.ping"),
            format!("{salt}|prod|state.apply|app|test=true"),
            format!("{salt}|-L|a,b|pkg.install|nginx|refresh=true"),
            format!("{salt}|-C|bad|service.restart|x"),
            "salt-key|--out=json|--list=all".to_owned(),
            "salt-key|--yes|--accept|new-1".to_owned(),
        ]
    );
    let error = world.run("salt.target('a'):cmd('ping')").unwrap_err();
    assert!(error.contains("`ping` is no function of Salt"), "{error}");
}

#[test]
fn stow_says_whether_it_changed_something_and_only_looks_in_check_mode() {
    let mut world = World::new();
    world.program(
        "stow",
        "case \"$*\" in *--restow*) printf 'UNLINK: .a\\nLINK: .a => x (reverts previous action)\\n' >&2;; *same*) ;; *clash*) printf 'WARNING! stowing clash would cause conflicts:\\n  * existing target is not a link: .a\\n' >&2; exit 1;; *) echo 'LINK: .vimrc => d/vim/.vimrc' >&2;; esac",
    );
    world
        .run(
            "local r, err = stow.stow{ package = 'vim', dir = 'd', target = 't', ignore = { '*.bak' } }\n\
             assert(err == nil and r.changed and r.message)\n\
             assert(stow.link{ package = 'same', source_dir = 'd', target_dir = 't', no_folding = true }.changed == false)\n\
             local ok, msg = stow.stow{ packages = { 'clash' }, dir = 'd', target = 't' }\n\
             assert(ok == nil and msg:find('conflicts'))\n\
             local check = stow.check{ package = 'clash', dir = 'd', target = 't' }\n\
             assert(check.would_succeed == false and check.conflicts[1] == 'existing target is not a link: .a')",
        )
        .unwrap();
    assert!(world.path("t").is_dir());
    world.check = true;
    let said = world
        .run("assert(stow.unstow{ package = 'vim', dir = 'd', target = 't' }.changed)")
        .unwrap();
    assert_eq!(said, ["vim: links would be changed"]);
    assert_eq!(
        world.calls(),
        [
            "stow|--verbose|--dir=~/d|--target=~/t|--ignore=*.bak|--stow|vim",
            "stow|--verbose|--dir=~/d|--target=~/t|--no-folding|--stow|same",
            "stow|--verbose|--dir=~/d|--target=~/t|--stow|clash",
            "stow|--simulate|--verbose|--dir=~/d|--target=~/t|--stow|clash",
            "stow|--simulate|--verbose|--dir=~/d|--target=~/t|--delete|vim",
        ]
    );
}

#[test]
fn frp_is_configured_once_and_turned_by_systemd() {
    let mut world = World::new();
    world.program("systemctl", "case \"$1\" in is-*) [ -e \"$1\" ];; enable) touch is-enabled;; start) touch is-active;; status) echo running; exit 3;; esac");
    let body = "local s = frp.client('home'):server('frp.example'):config{ auth = { token = 't' } }\n\
                :proxy{ name = 'ssh', type = 'tcp', localPort = 22 }:config_path('c/home.toml'):unit_path('home.service')\n\
                local r, err = s:save_config()\n\
                assert(err == nil)\n\
                print(r.changed)\n\
                print(s:enable().changed)\n\
                print(s:start().changed)\n\
                assert(s:status() == 'running')";
    world.check = true;
    let said = world.run(body).unwrap();
    assert_eq!(said[0], "true");
    assert!(!world.path("home.service").exists());
    world.check = false;
    assert_eq!(world.run(body).unwrap(), ["true", "true", "true"]);
    assert_eq!(world.run(body).unwrap(), ["false", "false", "false"]);
    let config = std::fs::read_to_string(world.path("c/home.toml")).unwrap();
    assert_eq!(
        config,
        "auth = { token = \"t\" }\nserverAddr = \"frp.example\"\nserverPort = 7000\n\n[[proxies]]\nlocalPort = 22\nname = \"ssh\"\ntype = \"tcp\"\n"
    );
    let unit = std::fs::read_to_string(world.path("home.service")).unwrap();
    assert!(unit.contains(&format!("-c \"{}\"", world.path("c/home.toml").display())), "{unit}");
    let reloads = world.calls().iter().filter(|call| *call == "systemctl|daemon-reload").count();
    assert_eq!(reloads, 1);
}

#[test]
fn a_release_of_frp_is_checked_before_it_is_put_into_place() {
    let world = World::new();
    std::fs::create_dir(world.path("dest")).unwrap();
    world
        .run(
            "local r = exec.run([[set -e\n\
             case $(uname -m) in x86_64) m=amd64;; aarch64) m=arm64;; *) m=arm;; esac\n\
             s=frp_1.2.3_linux_$m\n\
             mkdir -p r/download/v1.2.3 $s\n\
             for p in frps frpc; do printf '#!/bin/sh\\necho 1.2.3\\n' > $s/$p; chmod +x $s/$p; done\n\
             tar -czf r/download/v1.2.3/$s.tar.gz $s\n\
             cd r/download/v1.2.3 && sha256sum $s.tar.gz > frp_sha256_checksums.txt]])\n\
             assert(r.success, r.stderr)\n\
             local url = 'file://' .. exec.run('pwd').stdout:gsub('%s', '') .. '/r'\n\
             local r, err = frp.install('v1.2.3', { url = url, dest = 'dest' })\n\
             assert(r and r.changed, err)\n\
             assert(frp.install('1.2.3', { url = url, dest = 'dest' }).changed == false)\n\
             exec.run('rm dest/* && sed -i s/^./x/ r/download/v1.2.3/*.txt')\n\
             local r, err = frp.install('1.2.3', { url = url, dest = 'dest' })\n\
             assert(r == nil and err:find('not what was published'), err)",
        )
        .unwrap();
    assert_eq!(std::fs::read_dir(world.path("dest")).unwrap().count(), 0);
}

#[test]
fn hostler_is_the_one_that_the_step_names() {
    let mut world = World::new();
    world.program("other", "echo done");
    world.set("HOSTLER_BIN", &world.path("bin/other").to_string_lossy());
    world
        .run(
            "local r = sloth.agent.list({ master = 'x:1' })\n\
             assert(r.output == 'done\\n')\n\
             assert(sloth.workflow.add({ name = 'b', file = 'b.lua', description = 'd', active = false }).changed)\n\
             local r = sloth.workflow.activate({ name = 'b' })\n\
             assert(r.changed and r.message == 'done')\n\
             sloth.run({ task = 't', sloth = 'b', delegate_to = 'n' })",
        )
        .unwrap();
    assert_eq!(
        world.calls(),
        [
            "other|node|ls",
            "other|workflow|add|b|--file|b.lua|--description|d|--disabled",
            "other|workflow|enable|b",
            "other|workflow|run|b|--task|t|--delegate-to|n",
        ]
    );
}
