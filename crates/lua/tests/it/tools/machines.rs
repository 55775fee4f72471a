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
             assert(sloth.workflow.add({ name = 'b', file = 'b.lua', description = 'd', active = true }).changed)\n\
             local none, err = sloth.workflow.add({ name = 'b', file = 'b.lua', active = false })\n\
             assert(none == nil and err:find('active'))\n\
             local r = sloth.workflow.activate({ name = 'b' })\n\
             assert(r.changed == false and r.message == 'b can be run')\n\
             assert(sloth.workflow.deactivate({ name = 'b' }) == nil)\n\
             sloth.run({ task = 't', file = 'b.lua' })",
        )
        .unwrap();
    assert_eq!(
        world.calls(),
        [
            "other|node|ls",
            "other|workflow|push|b.lua",
            "other|workflow|show|b",
            "other|workflow|run|b.lua|--task|t",
        ]
    );
}

/// A machine behind `ssh`: its lines are done here, with what is asked of systemd and of Hostler written down.
fn with_another_machine() -> World {
    let mut world = World::new();
    let there = world.path("there").display().to_string();
    std::fs::create_dir_all(world.path("there/usr/local/bin")).unwrap();
    world.program(
        "hostler",
        "case \"$1 $2\" in 'node get') exit 4;; 'node token') echo ticket-1;; esac",
    );
    world.program("systemctl", "case \"$1\" in is-active) test -e \"$HOME/active\";; start) touch \"$HOME/active\";; stop) rm \"$HOME/active\";; esac");
    world.program(
        "ssh",
        &format!(
            "for line; do :; done\nline=$(printf '%s' \"$line\" | sed 's|/usr/local/bin|{there}/usr/local/bin|g')\ncase \"$line\" in *'agent join'*) cat > \"$HOME/ticket\"; exit 0;; *'agent install'*) touch \"$HOME/active\"; exit 0;; esac\neval \"$line\""
        ),
    );
    world.program(
        "sftp",
        &format!("read -r _ from to; from=${{from#?}}; cp \"${{from%?}}\" '{there}'\"$to\""),
    );
    let own = world.path("bin/hostler").display().to_string();
    world.set("HOSTLER_BIN", &own);
    world
}

#[test]
fn an_agent_is_brought_to_a_machine_once() {
    let mut world = with_another_machine();
    let install = "sloth.agent.install{ name = 'web-1', ssh_host = '10.0.0.7', ssh_port = 2222, ssh_key = 'key', master = 'control:7443' }";
    world.check = true;
    let said = world.run(&format!("assert({install}.changed)")).unwrap();
    assert!(said.iter().any(|line| line.contains("agent join - --server https://control:7443")));
    assert_eq!(world.calls(), ["hostler|node|get|web-1"]);
    assert!(!world.path("ticket").exists());
    std::fs::remove_file(world.path("calls")).unwrap();
    world.check = false;
    world.run(&format!("local r, err = {install} assert(r and r.changed, err)")).unwrap();
    assert_eq!(std::fs::read_to_string(world.path("ticket")).unwrap(), "ticket-1");
    let brought = std::fs::read(world.path("there/usr/local/bin/hostler")).unwrap();
    assert_eq!(brought, std::fs::read(world.path("bin/hostler")).unwrap());
    let calls = world.calls();
    let there = "-o|BatchMode=yes|-o|StrictHostKeyChecking=yes|-o|Port=2222|-o|IdentityFile=~/key";
    assert_eq!(
        calls,
        [
            "hostler|node|get|web-1".to_owned(),
            format!("sftp|{there}|-q|-b|-|--|root@10.0.0.7"),
            format!(
                "ssh|{there}|-T|--|root@10.0.0.7|chmod 0755 /usr/local/bin/.hostler.new && mv -f /usr/local/bin/.hostler.new /usr/local/bin/hostler"
            ),
            "hostler|node|token|create|--name|web-1|--output|jsonpath={.ticket}".to_owned(),
            format!(
                "ssh|{there}|-T|--|root@10.0.0.7|/usr/local/bin/hostler agent join - --server https://control:7443 --name web-1"
            ),
            format!("ssh|{there}|-T|--|root@10.0.0.7|/usr/local/bin/hostler agent install --start"),
        ]
    );
    assert!(!calls.iter().any(|call| call.contains("ticket-1")));
    world.program("hostler", "exit 0");
    world.run(&format!("assert({install}.changed == false)")).unwrap();
}

#[test]
fn an_agent_is_updated_when_it_has_another_program() {
    let mut world = with_another_machine();
    let update = "sloth.agent.update{ name = 'web-1', ssh_host = 'web-1' }";
    std::fs::write(world.path("there/usr/local/bin/hostler"), "old").unwrap();
    world.check = true;
    world.run(&format!("assert({update}.changed)")).unwrap();
    assert_eq!(std::fs::read(world.path("there/usr/local/bin/hostler")).unwrap(), b"old");
    world.check = false;
    world.run(&format!("local r, err = {update} assert(r and r.changed, err)")).unwrap();
    assert!(world.calls().contains(&"systemctl|restart|hostler-agent".to_owned()));
    world.run(&format!("assert({update}.changed == false)")).unwrap();
    world.run("assert(not pcall(sloth.agent.update, { name = 'web-1' }))").unwrap();
}

#[test]
fn an_agent_is_started_and_stopped_here_and_elsewhere() {
    let mut world = with_another_machine();
    for more in ["", "ssh_host = 'web-1'"] {
        let text = format!(
            "assert(sloth.agent.start{{ {more} }}.changed)
             assert(sloth.agent.start{{ {more} }}.changed == false)
             assert(sloth.agent.stop{{ {more} }}.changed)
             assert(sloth.agent.stop{{ {more} }}.changed == false)"
        );
        world.run(&text).unwrap();
    }
    world.check = true;
    world.run("assert(sloth.agent.start{}.changed)").unwrap();
    assert!(!world.path("active").exists());
}

#[test]
fn names_of_machines_are_kept_where_ssh_looks() {
    let mut world = World::new();
    std::fs::create_dir(world.path(".ssh")).unwrap();
    std::fs::write(world.path(".ssh/config"), "Host other\n    User bea\n").unwrap();
    world.check = true;
    world.run("assert(sloth.ssh.add{ name = 'web', host = '10.0.0.7' }.changed)").unwrap();
    assert!(!std::fs::read_to_string(world.path(".ssh/config")).unwrap().contains("web"));
    world.check = false;
    world
        .run(
            "assert(sloth.ssh.add{ name = 'web', host = '10.0.0.7', user = 'ann', port = 2222, key_path = '~/.ssh/web' }.changed)
             assert(not sloth.ssh.add{ name = 'web', host = '10.0.0.7', user = 'ann', port = 2222, key_path = '~/.ssh/web' }.changed)
             local p = sloth.ssh.list()
             assert(#p == 1 and p[1].host == '10.0.0.7' and p[1].user == 'ann' and p[1].port == 2222)
             assert(not pcall(sloth.ssh.add, { name = 'x y', host = 'h' }))
             assert(not pcall(sloth.ssh.add, { name = 'x', host = 'h\\n  ProxyCommand evil' }))",
        )
        .unwrap();
    let text = std::fs::read_to_string(world.path(".ssh/config")).unwrap();
    assert_eq!(
        text,
        "Host other\n    User bea\n\n# hostler: web\nHost web\n    HostName 10.0.0.7\n    User ann\n    Port 2222\n    IdentityFile ~/.ssh/web\n# hostler: end\n"
    );
    world
        .run("assert(sloth.ssh.remove('web').changed and not sloth.ssh.remove('web').changed)")
        .unwrap();
    let text = std::fs::read_to_string(world.path(".ssh/config")).unwrap();
    assert_eq!(text, "Host other\n    User bea\n\n");
}
