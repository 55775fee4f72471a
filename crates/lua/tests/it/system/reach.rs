//! Other machines, what is true of this one, and what is left when nobody waits.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hostler_lua::body::{Input, Performer};
use hostler_lua::modules::services::LocalServices;
use hostler_lua::modules::{Acting, Sink};
use hostler_lua::{Bundle, Given};

use super::{Machine, files};

#[test]
fn keys_let_people_in() {
    let machine = Machine::new();
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ6 ann@laptop";
    machine.ok(&format!(
        "local key = '{key}'
         assert(ssh.add_authorized_key {{ user = 'ann', key = key }}.changed)
         assert(not ssh.add_authorized_key {{ user = 'ann', key = key }}.changed)
         assert(ssh.key_exists('ann', key))
         assert(ssh.list_authorized_keys('ann')[1].comment == 'ann@laptop')",
    ));
    assert_eq!(machine.read("root/people/ann/.ssh/authorized_keys").trim(), key);
    machine.ok(&format!("assert(ssh.remove_authorized_key('ann', '{key}').changed and not ssh.key_exists('ann', '{key}'))"));
}

/// Programs that stand for OpenSSH: the line is run by a shell of this machine.
fn remote() -> Machine {
    let machine = files();
    machine.program(
        "ssh",
        "while [ \"$1\" != -- ]; do shift; done
         case \"$2\" in
           unknown) echo 'Host key verification failed.' >&2; exit 255;;
         esac
         exec /bin/sh -c \"$3\"",
    );
    machine.program("sftp", "cat >> \"$0.given\"");
    machine
}

#[test]
fn a_password_is_told_to_ssh_alone() {
    let machine = files();
    let ask = "test \"$(\"$SSH_ASKPASS\" 'password: ')\" = \"it's secret\" || { echo 'Permission denied' >&2; exit 255; }\necho \"$SSH_ASKPASS\" > \"$HOME/asked\"";
    machine.program("ssh", ask).program("sftp", ask);
    machine.write("desk/a", "");
    machine.ok("local c = assert(ssh.connect('web1', 'deploy', { password = \"it's secret\" }))
         assert(ssh.exec(c, 'true') and ssh.upload(c, 'a', '/tmp/x'))
         for key, value in c do assert(not tostring(value):find('secret')) end
         local none, err = ssh.connect('web1', 'deploy', { password = 'wrong' })
         assert(none == nil and err:find('Permission denied'))
         local plain = ssh.connect('web1', 'deploy')
         assert(plain == nil)");
    let calls = machine.calls();
    assert!(calls[..3].iter().all(|call| call.contains("-o BatchMode=no -o PreferredAuth")));
    assert!(!calls.iter().any(|call| call.contains("secret")), "{calls:?}");
    assert!(calls.last().unwrap().contains("-o BatchMode=yes"));
    let asked = machine.read("desk/asked");
    assert!(asked.contains("hostler-askpass-") && !Path::new(asked.trim()).exists());
}

#[test]
fn another_machine_is_spoken_to_with_its_key_checked() {
    let machine = remote();
    machine.write("desk/a b", "12345");
    machine.ok(
        "local c = assert(ssh.connect('web1', 'deploy', { port = 2222, key_path = 'id', accept_new = true }))
         local ok, r = ssh.exec(c, 'echo out; echo err >&2; exit 3')
         assert(ok and r.stdout == 'out\\n' and r.stderr == 'err\\n' and r.exit_code == 3)
         local _, quoted = ssh.exec(c, { 'echo', \"it's $HOME\" })
         assert(quoted.stdout == \"it's $HOME\\n\")
         assert(ssh.exists(c, 'a b') and not ssh.exists(c, 'c'))
         local _, s = ssh.stat(c, 'a b')
         assert(s.size == 5 and not s.is_dir)
         assert(ssh.mkdir(c, 'x/y z').changed)
         local _, names = ssh.list_dir(c, 'x')
         assert(names[1] == 'y z')
         assert(ssh.upload(c, 'a b', '/tmp/x').changed)
         assert(ssh.disconnect(c))
         local r, err = ssh.exec(c, 'true')
         assert(r == nil and err:find('disconnected'))
         local c, err = ssh.connect('unknown', 'deploy')
         assert(c == nil and err:find('accept_new'))",
    );
    let calls = machine.calls();
    let options = "-o BatchMode=yes -o StrictHostKeyChecking=accept-new";
    assert!(
        calls[0].contains(options) && calls[0].contains("-o User=deploy -o Port=2222"),
        "{calls:?}"
    );
    assert!(
        calls
            .iter()
            .any(|call| call.contains("StrictHostKeyChecking=yes") && call.contains("unknown"))
    );
    let local = machine.path("desk/a b");
    assert_eq!(machine.read("bin/sftp.given"), format!("put \"{}\" \"/tmp/x\"\n", local.display()));
}

#[test]
pub(crate) fn a_tunnel_is_there_until_it_is_closed() {
    let machine = Machine { check: false, ..remote() };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let way = format!("-L 127.0.0.1:{port}:db.internal:5432 -- web1");
    machine.program(
        "ssh",
        "case \"$*\" in
           *' -N '*refused*) echo 'Permission denied (publickey).' >&2; exit 255;;
           *' -N '*) echo $$ > \"$0.pid\"; exec sleep 60;;
         esac",
    );
    machine.ok(&format!(
        "local c = assert(ssh.connect('web1', 'deploy'))
         local t = assert(ssh.create_tunnel(c, {port}, 'db.internal', 5432))
         assert(t.local_port == {port} and t.address == '127.0.0.1:{port}')
         local function begun() return fs.exists('../bin/ssh.pid') and #fs.read('../bin/ssh.pid') > 0 end
         for _ = 1, 2000 do if begun() then break end goroutine.sleep(5) end
         assert(ssh.close_tunnel(t) and not ssh.close_tunnel(t))
         local t, err = ssh.create_tunnel(c, 0, 'refused', 1)
         assert(t == nil and err:find('Permission denied'), err)
         assert(not pcall(ssh.create_tunnel, c, 0, '-x', 1))"
    ));
    assert!(machine.calls().iter().any(|call| call.ends_with(&way)), "how it is called");
    let pid = machine.read("bin/ssh.pid").trim().to_owned();
    wait_for_end(&pid);
    let machine = Machine { check: true, ..machine };
    let said = machine.ok(
        "local c = assert(ssh.connect('web1', 'deploy')) assert(ssh.create_tunnel(c, 7, 'db', 1))",
    );
    assert!(said[0].contains("a tunnel through web1: 127.0.0.1:7:db:1"), "{said:?}");
}

#[test]
fn another_machine_is_not_touched_in_a_check() {
    let machine = Machine { check: true, ..remote() };
    let said = machine.ok("local c = assert(ssh.connect('web1', 'deploy'))
         assert(ssh.exec(c, 'touch made'))
         assert(ssh.mkdir(c, 'made').changed and ssh.upload(c, 'a', 'b').changed)");
    assert!(!machine.path("desk/made").exists() && !machine.path("bin/sftp.given").exists());
    assert_eq!(said.len(), 3, "{said:?}");
}

#[test]
fn without_openssh_it_is_said_what_to_install() {
    let machine = files();
    machine.ok("local c, err = ssh.connect('web1', 'deploy') assert(c == nil and err:find('ssh is not installed here'), err)");
    machine.ok("local r, err = ssh.generate_keypair('id') assert(r == nil and err:find('ssh%-keygen is not installed'), err)");
}

#[test]
fn what_is_listening_and_running_is_read_from_the_kernel() {
    let machine = Machine::new();
    machine.write(
        "root/proc/net/tcp",
        "  sl  local_address rem_address   st\n   0: 00000000:1F90 00000000:0000 0A 0\n   1: 0100007F:0050 0100007F:1234 01 0\n",
    );
    machine.write("root/proc/41/cmdline", "/usr/bin/postgres\0-D\0/data\0");
    machine.write("root/proc/41/stat", "41 (post (x) gres) S 1 1");
    machine
        .write("root/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 250 kB\nMemFree: 100 kB\n");
    machine.write("root/proc/sys/kernel/hostname", "box\n");
    machine.write("root/proc/loadavg", "0.50 0.25 0.10 1/100 5\n");
    machine.write("root/proc/uptime", "100.5 1.0\n");
    machine.write(
        "root/etc/os-release",
        "ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"24.04\"\nPRETTY_NAME=\"Ubuntu 24.04\"\n",
    );
    machine.ok("infra_test.port_is_listening(8080)
         infra_test.port_is_tcp { port = 8080, target = 'localhost' }
         assert(not pcall(infra_test.port_is_tcp, 80))
         infra_test.process_is_running('postgres -D')
         infra_test.process_count('^/usr/bin/postgres', 1)
         local ok, why = pcall(infra_test.file_exists, 'x', 'web1')
         assert(not ok and tostring(why):find('delegate_to'))
         assert(facts.get_hostname() == 'box')
         assert(facts.get_hostname { agent = 'box' } == 'box')
         local m, err = facts.get_memory { agent = 'other' }
         assert(m == nil and err == 'facts of other nodes need a server')
         assert(facts.get_memory().used_percent == 75)
         assert(facts.get_platform().family == 'debian' and facts.os().name == 'Ubuntu 24.04')
         assert(facts.get_load()[1] == 0.5 and facts.query('load.2') == 0.25)
         assert(facts.get_processes().sleeping == 1)
         assert(facts.get_uptime().seconds == 100)
         assert(facts.get_user { username = 'ann' }.home == '/people/ann')");
}

#[test]
fn whoever_waits_no_more_takes_the_program_along() {
    let machine = remote();
    machine.program("slow", "echo $$ > \"$0.pid\"; exec sleep 60");
    let bundle = Bundle {
        name: "t.lua".into(),
        text: format!(
            "local c = assert(ssh.connect('web1', 'deploy')) ssh.exec(c, '{}')",
            machine.path("bin/slow").display()
        ),
        files: BTreeMap::new(),
    };
    let acting = Rc::new(Acting {
        workdir: machine.path("desk"),
        environment: BTreeMap::from([(
            "PATH".to_owned(),
            machine.path("bin").display().to_string(),
        )]),
        secrets: BTreeMap::new(),
        sink: Rc::clone(&machine.said) as Rc<dyn Sink>,
        check: false,
        exported: RefCell::default(),
        services: Rc::new(LocalServices::new(machine.path(".services"))),
    });
    let performer = Performer::new(bundle, &Given::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = tokio::task::LocalSet::new();
    let mark = machine.path("bin/slow.pid");
    local.block_on(&runtime, async {
        let step = performer.step("t", "main", Input::default(), acting);
        let begun = async {
            while fs::read_to_string(&mark).unwrap_or_default().trim().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! { _ = step => panic!("it ended"), () = begun => {} }
    });
    let pid = fs::read_to_string(&mark).unwrap().trim().to_owned();
    wait_for_end(&pid);
}

/// Waits until a process is gone, or only waits to be asked how it ended.
fn wait_for_end(pid: &str) {
    let process = Path::new("/proc").join(pid).join("cmdline");
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        while fs::read(&process).is_ok_and(|line| !line.is_empty()) {
            assert!(begun.elapsed() < Duration::from_secs(10), "it is still there");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}
