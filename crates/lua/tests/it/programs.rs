//! Programs that bodies start: how long they live, what is kept of them, and that check mode starts none.

use std::time::{Duration, Instant};

use crate::system::Machine;

fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn gone(pid: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let over = Instant::now() + Duration::from_secs(20);
    runtime.block_on(async {
        while is_running(pid) {
            assert!(Instant::now() < over, "{pid} still runs");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}

#[test]
fn what_runs_in_the_background_ends_with_its_step() {
    let machine = Machine::new();
    machine.ok("local p = exec.background('sleep 600 & echo $! > child; exec sleep 600')
         fs.write('head', tostring(p.pid))
         while not fs.exists('child') or fs.size('child') == 0 do time.sleep(0.01) end
         assert(p:is_running())");
    gone(&machine.read("desk/head"));
    gone(&machine.read("desk/child"));
}

#[test]
fn what_runs_in_the_background_does_not_hold_the_body_up() {
    let machine = Machine::new();
    machine.ok("local p = exec.background({ 'sleep', '600' }, { timeout = 0.05 })
         local r = p:wait(20)
         assert(r.exit_code == 124 and r.timed_out, tostring(r.exit_code))
         local q = exec.background('cat', { stdin = 'abc', env = { A = '1' } })
         assert(q:wait().stdout == 'abc' and q:kill().exit_code == 0)
         local none, err = exec.background({ 'no-such-program' })
         assert(none == nil and err:find('could not be started'))");
}

#[test]
fn what_a_program_said_before_its_time_was_over_is_kept() {
    let machine = Machine::new();
    machine.ok("local r = exec.run_timeout('echo begun; echo hm >&2; exec sleep 600', 0.3)
         assert(r.timed_out and r.exit_code == 124 and not r.success)
         assert(r.stdout == 'begun\\n' and r.stderr == 'hm\\n', r.stdout)");
}

#[test]
fn check_mode_runs_nothing() {
    let mut machine = Machine::new();
    machine.check = true;
    let said = machine.ok("for _, run in { exec.run, exec.command, exec.sh, exec } do
           local r, err = run('touch ran')
           assert(r.success and r.exit_code == 0 and r.stdout == '' and r.check and err == nil)
         end
         assert(exec.run_timeout({ 'touch', 'ran' }, 5).check)
         assert(exec.background('touch ran') == nil)
         assert(exec.run('echo hello', { reads = true }).stdout == 'hello\\n')");
    assert_eq!(said.iter().filter(|line| *line == "would run: touch ran").count(), 6, "{said:?}");
    assert!(!machine.path("desk/ran").exists());
}
