//! What modules make of a machine, seen on one that is only made of a directory and of programs that write down how
//! they were called.

mod here;
pub(crate) mod reach;
mod security;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hostler_lua::body::{Input, Performer};
use hostler_lua::modules::services::LocalServices;
use hostler_lua::modules::{Acting, Sink, Stream};
use hostler_lua::{Bundle, Given};
use hostler_model::workflow::StepEnd;

struct Kept(RefCell<Vec<String>>);

impl Sink for Kept {
    fn say(&self, _: Stream, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }
}

/// A machine of our own.
pub(crate) struct Machine {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) check: bool,
    rooted: bool,
    said: Rc<Kept>,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        for part in ["bin", "desk", "root/etc", "root/proc", "root/people/ann"] {
            fs::create_dir_all(folder.path().join(part)).unwrap();
        }
        for tool in ["cat", "grep", "sleep", "touch", "rm", "mkdir", "echo", "stat", "ls", "test"] {
            let found = ["/usr/bin", "/bin"].map(|dir| Path::new(dir).join(tool));
            let found = found.into_iter().find(|path| path.exists()).unwrap();
            symlink(found, folder.path().join("bin").join(tool)).unwrap();
        }
        let machine =
            Machine { folder, check: false, rooted: true, said: Rc::new(Kept(RefCell::default())) };
        let uid =
            fs::metadata(machine.path("desk")).map(|m| std::os::unix::fs::MetadataExt::uid(&m));
        let uid = uid.unwrap();
        machine.write(
            "root/etc/passwd",
            &format!(
                "root:x:0:0:root:/root:/bin/bash\nann:x:{uid}:1000:Ann,,,:/people/ann:/bin/sh\nbea:x:1001:1001::/people/bea:/bin/sh\n"
            ),
        );
        machine.write("root/etc/group", "root:x:0:\nann:x:1000:\ndocker:x:999:\n");
        machine
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A program that writes down its arguments and then does what the script says.
    fn program(&self, name: &str, script: &str) -> &Machine {
        let calls = self.path("calls");
        let text = format!("#!/bin/sh\necho \"{name} $*\" >> '{}'\n{script}\n", calls.display());
        self.write(&format!("bin/{name}"), &text);
        let path = self.path(&format!("bin/{name}"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// How programs were called, and forget it.
    fn calls(&self) -> Vec<String> {
        let calls = self.read("calls").lines().map(str::to_owned).collect();
        let _it_may_not_be_there = fs::remove_file(self.path("calls"));
        calls
    }

    pub(crate) fn run(&self, text: &str) -> Result<Vec<String>, String> {
        let mut environment = BTreeMap::from([
            ("PATH".to_owned(), self.path("bin").display().to_string()),
            ("HOME".to_owned(), self.path("desk").display().to_string()),
        ]);
        if self.rooted {
            environment.insert("HOSTLER_HOST_ROOT".into(), self.path("root").display().to_string());
        }
        let acting = Rc::new(Acting {
            workdir: self.path("desk"),
            environment,
            secrets: BTreeMap::new(),
            sink: Rc::clone(&self.said) as Rc<dyn Sink>,
            check: self.check,
            exported: RefCell::default(),
            services: Rc::new(LocalServices::new(self.folder.path().join(".services"))),
        });
        self.said.0.borrow_mut().clear();
        let bundle = Bundle { name: "t.lua".into(), text: text.into(), files: BTreeMap::new() };
        let performer =
            Performer::new(bundle, &Given::default()).map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = tokio::task::LocalSet::new();
        let result =
            local.block_on(&runtime, performer.step("t", "main", Input::default(), acting));
        match result.end {
            StepEnd::Succeeded => Ok(self.said.0.borrow().clone()),
            end => Err(format!("{end}: {}", result.message)),
        }
    }

    pub(crate) fn ok(&self, text: &str) -> Vec<String> {
        self.run(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

fn files() -> Machine {
    Machine { rooted: false, ..Machine::new() }
}
