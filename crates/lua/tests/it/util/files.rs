//! `fs`, `os`, `io`, `workdir`.

use std::time::{Duration, Instant};

use hostler_lua::body::Input;
use hostler_model::workflow::StepEnd;

use super::{World, alone, eventually, performer};

#[test]
fn in_check_mode_nothing_is_changed_and_everything_is_said() {
    let world = World::checking();
    std::fs::write(world.path("kept"), "as it was").unwrap();
    world.run(
        "assert(fs.write('new', 'x') and fs.append('kept', 'x') and fs.mkdir('d'))
         assert(fs.rm('kept') and fs.rmr('kept') and fs.copy('kept', 'b') and fs.move('kept', 'c'))
         assert(os.remove('kept') and os.rename('kept', 'c'))
         assert(os.execute('touch ran; exit 3') == 0)
         local f = io.open('kept', 'w') f:write('x') f:close()
         local p = io.popen('touch ran') assert(p:read('*a') == '') p:close()
         local w = io.popen('cat > ran', 'w') w:write('x') assert(w:close())
         assert(workdir.create('e') and workdir.cleanup())
         assert(fs.read('kept') == 'as it was')",
    );
    let names: Vec<_> = std::fs::read_dir(world.folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1);
    assert_eq!(std::fs::read_to_string(world.path("kept")).unwrap(), "as it was");
    let said = world.said();
    assert!(said.iter().all(|line| line.starts_with("would ")), "{said:#?}");
    for what in ["write 1 bytes to", "make the directory", "remove", "run: touch ran", "copy"] {
        assert!(said.iter().any(|line| line.contains(what)), "{what}: {said:#?}");
    }
}

#[test]
fn what_is_given_wrong_is_told_with_the_name_of_the_function() {
    let world = World::new();
    for (text, expected) in [
        ("fs.read()", "fs.read"),
        ("fs.write('a', {})", "fs.write"),
        ("fs.write('a', nil)", "fs.write"),
        ("io.open('a', 'w'):read('*x')", "*x"),
        ("io.popen('true', 'x')", "io.popen"),
        ("for l in io.lines('none') do end", "none"),
        ("io.output('a')", "io.open"),
        ("strings.join('a', ',')", "strings.join"),
        ("math.sum({ 'x' })", "math.sum"),
        ("time.add(0, 'soon')", "time.add"),
        ("crypto.generate_password(2)", "crypto.generate_password"),
        ("network.port_check('a', 70000)", "network.port_check"),
        ("http.request({})", "http.request"),
    ] {
        // A top line that acts keeps the definition from seeing it.
        let message = world.fail(&format!("if fs.exists('.') == true then {text} end"));
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn paths_that_lead_nowhere_or_everywhere_are_refused() {
    let world = World::new();
    world.run(
        "for _, f in { fs.rmr, fs.rm, fs.mkdir, workdir.create, workdir.cleanup } do
           local ok, why = f('')
           assert(not ok and why:find('empty'))
         end
         for _, f in { fs.rmr, workdir.cleanup } do
           for _, path in { '.', workdir.get(), '..', './inside/..' } do
             local ok, why = f(path)
             assert(not ok and why:find('is not removed'), path)
           end
         end
         assert(workdir.exists())
         local ok, why = fs.copy('.', './inside')
         assert(not ok and why:find('lies in'))
         local none, why = fs.read('')
         assert(none == nil and why)",
    );
}

#[test]
fn trees_are_copied_with_links_and_permissions() {
    let world = World::new();
    world.run(
        "fs.mkdir('a/b')
         fs.write('a/b/run', 'x')
         exec.run('chmod 750 a/b/run && ln -s run a/b/link')
         assert(fs.copy('a', 'c'))
         assert(fs.stat('c/b/run').mode == '0750')
         assert(os.readlink('c/b/link') == 'run')
         exec.run('ln -s /nothing away')
         assert(not fs.exists('away') and fs.rmr('away') and os.lstat('away') == nil)",
    );
}

#[test]
fn what_a_line_prints_is_said_and_what_it_leaves_behind_does_not_hold_it() {
    let world = World::new();
    let began = Instant::now();
    world.run(
        "assert(os.execute('echo out; echo err >&2; sleep 5 &') == 0)
         local code, how = os.execute('kill -9 $$')
         assert(code == 137 and how == 'signal')
         assert(io.popen('echo x; sleep 5 &'):read('*a') == 'x\\n')",
    );
    assert!(began.elapsed() < Duration::from_secs(4));
    assert!(world.said().contains(&"out".to_owned()));
    assert_eq!(world.complaints(), ["err"]);
}

#[test]
fn a_step_that_exits_ends_there() {
    let world = World::new();
    let message = world
        .fail("fs.write('a', '') if fs.exists('a') == true then os.exit(3) end fs.write('b', '')");
    assert!(message.contains("os.exit(3)"), "{message}");
    assert!(world.path("a").exists() && !world.path("b").exists());
}

#[test]
fn files_are_read_and_written_at_the_same_place() {
    let world = World::new();
    world.run(
        "fs.write('a', 'one\\ntwo\\nthree')
         local f = assert(io.open('a', 'r+'))
         assert(f:read() == 'one')
         f:write('TWO')
         assert(f:read() == '')
         assert(f:read('*L') == 'three' and f:read('*l') == nil)
         assert(f:seek('set') == 0 and f:read('*a') == 'one\\nTWO\\nthree')
         f:close()
         local g = io.open('a', 'a+')
         g:write('!')
         g:seek('set', 0)
         assert(g:read('*l', '*l', '*a') == 'one')
         g:close()
         assert(fs.read('a') == 'one\\nTWO\\nthree!')
         assert(not pcall(function() return g:lines()() end))
         local none, why = g:read()
         assert(none == nil and why:find('closed') and io.type(g) == 'closed file' and tostring(g) == 'file (closed)')
         local r = io.open('a')
         local none, why = r:write('x')
         assert(none == nil and why)
         local two = {}
         for a in io.open('a'):lines(4) do table.insert(two, a) end
         assert(two[1] == 'one\\n' and two[4] == '!' or #two > 2)",
    );
}

#[test]
fn streams_of_programs_go_where_they_belong() {
    let world = World::new();
    world.run(
        "local p = io.popen('echo read; echo complaint >&2')
         assert(p:read('*a') == 'read\\n')
         io.write('a', 1, '\\n')
         io.stderr:write('b\\n')
         local w = io.popen('cat; exit 4', 'w')
         w:write('fed')
         local ok, how, code = w:close()
         assert(ok == nil and how == 'exit' and code == 4)",
    );
    assert_eq!(world.complaints(), ["complaint", "b"]);
    assert_eq!(world.said(), ["complaint", "a1", "b", "fed"]);
}

#[test]
fn a_named_pipe_does_not_stop_everything() {
    let world = World::new();
    world.run(
        "exec.run('mkfifo p')
         local none, why = io.open('p')
         assert(none == nil and why:find('named pipe'))",
    );
}

#[test]
fn steps_of_one_file_go_on_while_others_wait() {
    let world = World::new();
    let text = "local me, other = os.getenv('ME'), os.getenv('OTHER')
         if me then
           fs.write(me, '')
           while not fs.exists(other) do time.sleep('5ms') end
         end";
    let performer = performer(text);
    alone(async {
        let mut on = Vec::new();
        for (me, other) in [("a", "b"), ("b", "a")] {
            let mut acting = std::rc::Rc::into_inner(world.acting()).unwrap();
            acting.environment.insert("ME".to_owned(), me.to_owned());
            acting.environment.insert("OTHER".to_owned(), other.to_owned());
            on.push(std::rc::Rc::new(acting));
        }
        let step = |on| performer.step("example", "main", Input::default(), on);
        let (second, first) = (on.pop().unwrap(), on.pop().unwrap());
        let (first, second) = tokio::join!(step(first), step(second));
        assert_eq!((first.end, second.end), (StepEnd::Succeeded, StepEnd::Succeeded));
    });
}

#[test]
fn a_step_that_is_given_up_takes_its_programs_with_it() {
    for line in ["os.execute(line)", "io.popen(line):close()", "exec.run(line)"] {
        let world = World::new();
        let text = format!("local line = 'sh -c \"echo $$ > pid; sleep 60\"' {line}");
        alone(async {
            let step = world.step(&text);
            let file = world.path("pid");
            let pid = || std::fs::read_to_string(&file).ok().filter(|pid| pid.ends_with('\n'));
            tokio::select! {
                result = step => panic!("{}", result.message),
                () = eventually(|| pid().is_some()) => {}
            }
            let alive = format!("/proc/{}/cmdline", pid().unwrap().trim());
            let is_gone = || std::fs::read(&alive).map_or(true, |line| line.is_empty());
            eventually(is_gone).await;
        });
    }
}
