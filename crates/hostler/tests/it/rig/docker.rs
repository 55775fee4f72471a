//! A real container engine: the one that `make test` starts, or one of a test's own that it may kill.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use hostler_agent::container::{ContainerRow, Engine};
use rustix::mount::UnmountFlags;
use rustix::process::Signal;

use super::process::command;
use super::{Rig, is_root, kill, skipped, until};

/// Made by `scripts/test-services`.
pub const IMAGE: &str = "hostler-test/busybox:1";

/// Asks an engine, as the person who looks after it would.
pub struct Docker {
    pub engine: Engine,
    /// What is made for this directory is removed with the test.
    place: PathBuf,
    runtime: tokio::runtime::Runtime,
}

impl Docker {
    /// The engine for tests; `None` where there is none.
    pub fn shared(rig: &Rig) -> Option<Docker> {
        let socket = std::env::var_os("HOSTLER_TEST_DOCKER");
        if socket.is_none() {
            skipped("there is no container engine; run with scripts/test-services");
        }
        Some(Docker::at(rig, Path::new(&socket?)))
    }

    pub fn at(rig: &Rig, socket: &Path) -> Docker {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Docker { engine: Engine::new(socket), place: rig.dir.clone(), runtime }
    }

    pub fn socket(&self) -> String {
        self.engine.socket().to_str().unwrap().to_owned()
    }

    pub fn ask<T>(&self, question: impl Future<Output = T>) -> T {
        self.runtime.block_on(question)
    }

    /// Containers that agents of this test have made.
    pub fn containers(&self) -> Vec<ContainerRow> {
        let all = self.ask(self.engine.containers()).unwrap();
        let is_ours = |row: &ContainerRow| {
            row.data.as_deref().is_some_and(|data| Path::new(data).starts_with(&self.place))
        };
        all.into_iter().filter(is_ours).collect()
    }

    /// An image with a shell and so many bytes of its own that nothing else is like.
    pub fn make_image(&self, rig: &Rig, name: &str, bytes: u64) {
        let root = rig.path(&format!("root-{name}"));
        std::fs::create_dir_all(root.join("bin")).unwrap();
        let busybox = found_in_path("busybox").expect("scripts/test-services has installed it");
        std::fs::copy(busybox, root.join("bin/busybox")).unwrap();
        for tool in ["sh", "cat", "wc", "sleep", "echo"] {
            std::os::unix::fs::symlink("busybox", root.join("bin").join(tool)).unwrap();
        }
        let mut random = File::open("/dev/urandom").unwrap().take(bytes);
        std::io::copy(&mut random, &mut File::create(root.join("own")).unwrap()).unwrap();
        let tar = rig.path(&format!("{name}.root.tar"));
        let mut pack = command(rig, "tar");
        pack.arg("-C").arg(&root).args(["--owner=0", "--group=0", "-c", "-f"]).arg(&tar).arg(".");
        assert!(pack.status().unwrap().success());
        let place = format!("http://docker/images/create?fromSrc=-&repo={name}&tag=1");
        let mut send = command(rig, "curl");
        send.args(["-fsS", "--unix-socket", &self.socket(), "-X", "POST", "-o", "/dev/null"]);
        send.args(["-H", "Content-Type: application/x-tar", "--data-binary"]);
        send.arg(format!("@{}", tar.display())).arg(place);
        assert!(send.status().unwrap().success());
    }

    /// What `docker save` would write, with its names.
    pub fn save(&self, rig: &Rig, image: &str, file: &Path) {
        let mut fetch = command(rig, "curl");
        fetch.args(["-fsS", "--unix-socket", &self.socket(), "-o"]).arg(file);
        fetch.arg(format!("http://docker/images/{image}/get"));
        assert!(fetch.status().unwrap().success());
    }

    #[track_caller]
    pub fn nothing_is_left(&self) {
        until("no container is left", || self.containers().is_empty().then_some(()));
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        if std::thread::panicking() && self.ask(self.engine.version()).is_ok() {
            for row in self.containers() {
                let _already_gone = self.ask(self.engine.remove_container(&row.id));
            }
        }
    }
}

/// An engine of a test's own.
pub struct OwnEngine {
    dir: PathBuf,
    lives_on: bool,
    process: Child,
}

impl OwnEngine {
    /// With the image of the tests. `None` where there is no engine to have it from.
    pub fn start(rig: &Rig, lives_on: bool) -> Option<OwnEngine> {
        let shared = Docker::shared(rig)?;
        let own = OwnEngine::bare(rig, lives_on)?;
        let to = Engine::new(own.socket());
        shared.ask(async {
            let image = shared.engine.export_image(IMAGE).await.unwrap();
            to.import_image(image.content, Some(&image.image_id), Some(IMAGE)).await.unwrap();
        });
        Some(own)
    }

    /// With nothing.
    pub fn bare(rig: &Rig, lives_on: bool) -> Option<OwnEngine> {
        Docker::shared(rig)?;
        if !is_root() {
            skipped("only root can start a container engine");
            return None;
        }
        let dir = rig.path("engine");
        std::fs::create_dir(&dir).unwrap();
        let own = OwnEngine { process: launch(rig, &dir, lives_on), dir, lives_on };
        own.until_it_answers(rig);
        Some(own)
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.join("docker.sock")
    }

    fn until_it_answers(&self, rig: &Rig) {
        let docker = Docker::at(rig, &self.socket());
        until("the engine answers", || docker.ask(docker.engine.version()).ok());
    }

    /// Stops it, and waits until it is gone.
    pub fn stop(&mut self, signal: Signal) {
        kill(self.process.id(), signal);
        until("the engine stops", || self.process.try_wait().unwrap());
    }

    pub fn start_again(&mut self, rig: &Rig) {
        // What is left of one that was killed: it takes any process of that number for its own.
        for stale in ["pid", "exec/containerd/containerd.pid"] {
            let _ = std::fs::remove_file(self.dir.join(stale));
        }
        self.process = launch(rig, &self.dir, self.lives_on);
        self.until_it_answers(rig);
    }
}

impl Drop for OwnEngine {
    fn drop(&mut self) {
        kill(self.process.id(), Signal::TERM);
        let _ = self.process.wait();
        let text = std::fs::read_to_string(self.dir.join("exec/containerd/containerd.pid"));
        if let Some(pid) = text.ok().and_then(|text| text.trim().parse().ok()) {
            kill(pid, Signal::TERM);
        }
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
        let points: Vec<_> = points.filter(|p| Path::new(p).starts_with(&self.dir)).collect();
        for point in points.into_iter().rev() {
            let _ = rustix::mount::unmount(point, UnmountFlags::DETACH);
        }
    }
}

fn found_in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.exists())
}

fn launch(rig: &Rig, dir: &Path, lives_on: bool) -> Child {
    let path = |name: &str| dir.join(name).display().to_string();
    let log = File::options().create(true).append(true).open(rig.path("logs/engine")).unwrap();
    let mut command: Command = command(rig, "dockerd");
    command
        .args(["--data-root", &path("data"), "--exec-root", &path("exec")])
        .args(["--pidfile", &path("pid"), "--host", &format!("unix://{}", path("docker.sock"))])
        .args(["--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false"])
        .args(["--ip-masq=false", "--userland-proxy=false", "--oom-score-adjust=0"])
        .args(["--shutdown-timeout=5"])
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    if lives_on {
        command.arg("--live-restore");
    }
    command.spawn().unwrap()
}
