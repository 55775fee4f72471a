//! A machine of its own for every test: a temporary root, and commands that record and answer.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hostler_host::call::Running;
use hostler_host::{Call, Commands, Finished, Host, HostError, Outcome, Primitive, Privilege};
use tempfile::TempDir;

/// Records what is run and says what it was told to say; where nothing was said, success.
#[derive(Debug, Default)]
pub struct Fake {
    programs: Mutex<Vec<String>>,
    answers: Mutex<Vec<(String, Finished)>>,
    calls: Mutex<Vec<Call>>,
}

impl Commands for Fake {
    fn run(&self, call: Call) -> Running<'_> {
        let line = call.argv().join(" ");
        self.calls.lock().unwrap().push(call);
        let answers = self.answers.lock().unwrap();
        let found = answers.iter().rev().find(|(start, _)| line.starts_with(start.as_str()));
        let default = Finished { code: Some(0), ..Finished::default() };
        let finished = found.map_or(default, |(_, finished)| finished.clone());
        Box::pin(async move { Ok(finished) })
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let programs = self.programs.lock().unwrap();
        programs.iter().any(|known| known == program).then(|| Path::new("/usr/bin").join(program))
    }
}

pub struct World {
    pub host: Host,
    root: TempDir,
    fake: Arc<Fake>,
}

impl World {
    /// A machine with these programs.
    pub fn with(programs: &str) -> World {
        let root = tempfile::tempdir().unwrap();
        let fake = Arc::new(Fake::default());
        let programs = programs.split_whitespace().map(str::to_owned).collect();
        *fake.programs.lock().unwrap() = programs;
        let host = Host::new(root.path(), fake.clone(), Privilege::Root);
        World { host, root, fake }
    }

    pub fn new() -> World {
        World::with("")
    }

    /// The same machine for somebody with other rights.
    pub fn host_as(&self, privilege: Privilege) -> Host {
        Host::new(self.root.path(), self.fake.clone(), privilege)
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path.strip_prefix('/').unwrap())
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &World {
        let at = self.at(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, content).unwrap();
        self
    }

    pub fn mkdir(&self, path: &str) -> &World {
        std::fs::create_dir_all(self.at(path)).unwrap();
        self
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    pub fn mode(&self, path: &str) -> u32 {
        std::fs::symlink_metadata(self.at(path)).unwrap().permissions().mode() & 0o7777
    }

    pub fn chmod(&self, path: &str, mode: u32) -> &World {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(self.at(path), permissions).unwrap();
        self
    }

    pub fn symlink(&self, path: &str, target: &str) -> &World {
        std::os::unix::fs::symlink(target, self.at(path)).unwrap();
        self
    }

    /// What is answered from now on to whatever begins like this.
    pub fn answer(&self, start: &str, code: i32, stdout: &str, stderr: &str) -> &World {
        let finished = Finished {
            code: Some(code),
            stdout: stdout.into(),
            stderr: stderr.into(),
            is_cut: false,
        };
        self.fake.answers.lock().unwrap().push((start.to_owned(), finished));
        self
    }

    pub fn answer_cut(&self, start: &str, stdout: &str) -> &World {
        let finished =
            Finished { code: Some(0), stdout: stdout.into(), stderr: Vec::new(), is_cut: true };
        self.fake.answers.lock().unwrap().push((start.to_owned(), finished));
        self
    }

    /// Everything that was run since the last time this was asked.
    pub fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.fake.calls.lock().unwrap())
    }

    /// The same as command lines.
    pub fn ran(&self) -> Vec<String> {
        self.calls().iter().map(|call| call.argv().join(" ")).collect()
    }

    /// The same without questions: only what only root may do.
    pub fn told(&self) -> Vec<String> {
        let calls = self.calls();
        let told = calls.iter().filter(|call| call.is_privileged);
        told.map(|call| call.argv().join(" ")).collect()
    }

    /// Everything below the root, with modes and contents.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let about = path.symlink_metadata().unwrap();
                let content = match about.file_type() {
                    kind if kind.is_dir() => {
                        folders.push(path.clone());
                        Vec::new()
                    }
                    kind if kind.is_symlink() => {
                        std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                    }
                    _ => std::fs::read(&path).unwrap(),
                };
                found.insert(path, (about.permissions().mode(), content));
            }
        }
        found
    }

    /// Applies something of files that is a change: a check says so and changes nothing, and the second
    /// time it is none.
    pub async fn applies(&self, primitive: &impl Primitive) -> Outcome {
        let before = self.snapshot();
        let checked = primitive.check(&self.host).await.unwrap();
        assert!(checked.changed, "{checked:?}");
        assert_eq!(self.snapshot(), before, "a check changed something");
        let applied = primitive.apply(&self.host).await.unwrap();
        assert_eq!((applied.changed, &applied.diff), (true, &checked.diff));
        self.is_settled(primitive).await;
        applied
    }

    pub async fn is_settled(&self, primitive: &impl Primitive) {
        let before = self.snapshot();
        let again = primitive.apply(&self.host).await.unwrap();
        assert!(!again.changed && again.diff.is_empty(), "{again:?}");
        assert_eq!(self.snapshot(), before);
    }

    /// The same for removing.
    pub async fn removes(&self, primitive: &impl Primitive) -> Outcome {
        let before = self.snapshot();
        let checked = primitive.check_remove(&self.host).await.unwrap();
        assert!(checked.changed, "{checked:?}");
        assert_eq!(self.snapshot(), before, "a check changed something");
        let removed = primitive.remove(&self.host).await.unwrap();
        assert_eq!((removed.changed, &removed.diff), (true, &checked.diff));
        let again = primitive.remove(&self.host).await.unwrap();
        assert!(!again.changed, "{again:?}");
        removed
    }

    pub async fn refuses(&self, primitive: &impl Primitive) -> HostError {
        let before = self.snapshot();
        let checked = primitive.check(&self.host).await.unwrap_err();
        let error = primitive.apply(&self.host).await.unwrap_err();
        assert_eq!(checked.to_string(), error.to_string());
        assert_eq!(self.snapshot(), before);
        error
    }
}

pub fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub fn gid() -> u32 {
    rustix::process::getegid().as_raw()
}
