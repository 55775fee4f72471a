//! What others could use against a machine.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

use super::{Machine, files};

#[test]
fn what_anybody_can_change_is_found_below_a_path() {
    let machine = files();
    for (name, mode) in [
        ("desk/a/fine", 0o644),
        ("desk/a/open", 0o666),
        ("desk/a/site.key", 0o640),
        ("desk/a/id_ed25519", 0o600),
        ("desk/a/id_ed25519.pub", 0o644),
        ("desk/a/tool", 0o4755),
        ("desk/a/group-tool", 0o2755),
    ] {
        machine.write(name, "");
        fs::set_permissions(machine.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    for (name, mode) in [("desk/a/shared", 0o1777), ("desk/a/wild", 0o777)] {
        fs::create_dir(machine.path(name)).unwrap();
        fs::set_permissions(machine.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    std::os::unix::fs::symlink("fine", machine.path("desk/a/link")).unwrap();
    machine.ok(
        "local names = {}
         for _, found in security.audit_permissions('a') do
           table.insert(names, found.path:match('[^/]+$') .. ' ' .. found.mode)
         end
         table.sort(names)
         assert(table.concat(names, ', ') == 'open 0666, site.key 0640, wild 0777', table.concat(names, ', '))
         local suid = security.find_suid_files('a')
         assert(#suid == 2)
         for _, found in suid do
           assert(found.setuid == (found.path:find('/tool$') ~= nil) and found.setgid ~= found.setuid)
         end
         local none, err = security.audit_permissions('nowhere')
         assert(none == nil and err:find('nowhere'))
         assert(security.check_file_integrity('nowhere', 'x') == nil)",
    );
}

#[test]
fn the_usual_questions_are_asked_of_the_machine() {
    let machine = Machine::new();
    machine.write("root/etc/shadow", "root:!:1::::::\nann::1::::::\n");
    machine.write("root/etc/ssh/sshd_config", "# PermitRootLogin no\nPermitRootLogin yes\n");
    machine.write("root/proc/sys/kernel/randomize_va_space", "2\n");
    machine.write("root/proc/sys/net/ipv4/tcp_syncookies", "0\n");
    machine.write(
        "root/etc/passwd",
        "root:x:0:0:root:/root:/bin/bash\nann:x:1000:1000::/people/ann:/bin/sh\ntoor:x:0:0::/:/bin/sh\n",
    );
    machine.ok("local r = security.cis_benchmark()
         local by = {}
         for _, check in r.checks do by[check.id] = check end
         assert(by['accounts.empty_passwords'].passed == false)
         assert(by['accounts.empty_passwords'].detail:find('ann'))
         assert(by['accounts.roots'].passed == false and by['accounts.roots'].detail:find('toor'))
         assert(by['accounts.numbers'].passed == false)
         assert(by['ssh.root'].passed == false and by['ssh.empty_passwords'].passed == true)
         assert(by['kernel.addresses'].passed == true and by['kernel.syncookies'].passed == false)
         assert(by['kernel.redirects'].passed == nil and r.skipped > 0)
         assert(r.total == #r.checks and r.total == r.passed + r.failed + r.skipped)
         assert(r.score == math.floor(r.passed * 100 / (r.passed + r.failed)))");
}

#[test]
fn headers_of_a_server_are_judged() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = [0; 1024];
        let _read = stream.read(&mut heard).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nx-frame-options: DENY\r\nReferrer-Policy: no-referrer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .unwrap();
    });
    let machine = files();
    machine.ok(&format!(
        "local r = assert(security.check_http_headers('http://127.0.0.1:{port}/'))
         assert(r.status_code == 200 and r.score == 33 and #r.missing == 4)
         assert(r.present['X-Frame-Options'] == 'DENY')"
    ));
    server.join().unwrap();
}

#[test]
fn ports_are_told_as_lists_and_ranges() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let machine = files();
    machine.ok(&format!(
        "local r = security.scan_ports('127.0.0.1', {{ {port}, '1-3' }}, 2)
         assert(r.total_scanned == 4 and #r.open == 1 and r.open[1] == {port})
         assert(not pcall(security.scan_ports, '127.0.0.1', '3-1'))
         assert(not pcall(security.scan_ports, '127.0.0.1', {{ 'http' }}))"
    ));
}
