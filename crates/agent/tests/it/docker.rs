//! A real container engine: the one that `make test` starts, or one of a test's own that it may kill.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hostler_agent::container::{ContainerConfig, ContainerRow, Engine};
use hostler_agent::output::Limits;
use hostler_agent::runner::Config;
use hostler_model::{Container, ContainerNetwork, PullPolicy, Runtime, WorkloadSpec};

use crate::support::{DEADLINE, World, config, is_root, kill, sh};

/// Made by `scripts/test-services`.
pub const IMAGE: &str = "hostler-test/busybox:1";

/// The socket of the engine for tests; `None` where there is none.
pub fn socket() -> Option<PathBuf> {
    let socket = std::env::var_os("HOSTLER_TEST_DOCKER").map(PathBuf::from);
    if socket.is_none() {
        println!("skipped: there is no container engine; run with scripts/test-services");
    }
    socket
}

/// A world on an engine.
pub struct Docked {
    pub world: World,
    pub engine: Engine,
    /// Of this world's own, allowed to be mounted.
    pub shelf: PathBuf,
    _dir: tempfile::TempDir,
}

impl std::ops::Deref for Docked {
    type Target = World;
    fn deref(&self) -> &World {
        &self.world
    }
}

impl std::ops::DerefMut for Docked {
    fn deref_mut(&mut self) -> &mut World {
        &mut self.world
    }
}

impl Docked {
    pub async fn new() -> Option<Docked> {
        Some(Docked::at(&socket()?).await)
    }

    pub async fn at(socket: &Path) -> Docked {
        let dir = tempfile::tempdir().unwrap();
        let (data, shelf) = (dir.path().join("data"), dir.path().join("shelf"));
        std::fs::create_dir(&data).unwrap();
        std::fs::create_dir(&shelf).unwrap();
        let containers = ContainerConfig {
            socket: socket.to_owned(),
            mounts: vec![shelf.clone()],
            pull_timeout: Duration::from_secs(20),
            ..ContainerConfig::default()
        };
        let config = Config { containers, ..config(&data, Limits::default()) };
        let world = World::of(config).await;
        Docked { world, engine: Engine::new(socket), shelf, _dir: dir }
    }

    /// Containers of this world.
    pub async fn containers(&self) -> Vec<ContainerRow> {
        let data = std::fs::canonicalize(&self.world.data).unwrap();
        let is_ours = |row: &ContainerRow| row.data.as_deref() == data.to_str();
        self.engine.containers().await.unwrap().into_iter().filter(is_ours).collect()
    }

    pub async fn nothing_is_left(&self) {
        let left = self.containers().await;
        assert!(left.is_empty(), "{left:?}");
    }
}

impl Drop for Docked {
    fn drop(&mut self) {
        let (engine, data) = (self.engine.clone(), std::fs::canonicalize(&self.world.data));
        let clear = async move {
            let Ok(data) = data else { return };
            for row in engine.containers().await.unwrap_or_default() {
                if row.data.as_deref() == data.to_str() {
                    let _ = engine.remove_container(&row.id).await;
                }
            }
        };
        if std::thread::panicking() {
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(clear);
            })
            .join()
            .unwrap();
        }
    }
}

pub fn inside(script: &str) -> WorkloadSpec {
    contained(sh(script))
}

pub fn contained(spec: WorkloadSpec) -> WorkloadSpec {
    let container = Container {
        image: IMAGE.to_owned(),
        pull: PullPolicy::Never,
        network: ContainerNetwork::None,
        ..Container::default()
    };
    WorkloadSpec { runtime: Runtime::Container, container: Some(container), ..spec }
}

/// With something changed about its container.
pub fn with(spec: WorkloadSpec, change: impl FnOnce(&mut Container)) -> WorkloadSpec {
    let mut spec = spec;
    change(spec.container.as_mut().unwrap());
    spec
}

/// The keeper of a run: the child of its shim.
pub fn keeper(dir: &Path) -> u32 {
    crate::support::number(&crate::support::started_record(dir)["pid"])
}

/// An engine of a test's own.
pub struct OwnEngine {
    dir: tempfile::TempDir,
    lives_on: bool,
    process: std::process::Child,
}

impl OwnEngine {
    /// With the image of the tests. `None` where there is no engine to have it from.
    pub async fn start(lives_on: bool) -> Option<OwnEngine> {
        let shared = Engine::new(socket()?);
        if !is_root() {
            println!("skipped: only root can start an engine");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let process = launch(dir.path(), lives_on);
        let own = OwnEngine { dir, lives_on, process };
        own.until_it_answers().await;
        let image = shared.export_image(IMAGE).await.unwrap();
        let taken = Engine::new(own.socket())
            .import_image(image.content, Some(&image.image_id), Some(IMAGE))
            .await
            .unwrap();
        assert_eq!(taken.image_id, image.image_id);
        Some(own)
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("docker.sock")
    }

    async fn until_it_answers(&self) {
        let engine = Engine::new(self.socket());
        let answers = async {
            while engine.version().await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(DEADLINE, answers).await.expect("the engine answers");
    }

    /// Stops it with a signal, and waits until it is gone.
    pub async fn stop(&mut self, signal: i32) {
        kill(self.process.id(), signal);
        let gone = async {
            while self.process.try_wait().unwrap().is_none() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(DEADLINE, gone).await.expect("the engine stops");
    }

    pub async fn start_again(&mut self) {
        // What is left of one that was killed: it takes any process of that number for its own.
        for stale in ["pid", "exec/containerd/containerd.pid"] {
            let _ = std::fs::remove_file(self.dir.path().join(stale));
        }
        self.process = launch(self.dir.path(), self.lives_on);
        self.until_it_answers().await;
    }
}

impl Drop for OwnEngine {
    fn drop(&mut self) {
        kill(self.process.id(), 15);
        let _ = self.process.wait();
        let text = std::fs::read_to_string(self.dir.path().join("exec/containerd/containerd.pid"));
        if let Some(pid) = text.ok().and_then(|text| text.trim().parse().ok()) {
            kill(pid, 15);
        }
        for mount in ["data", "exec"] {
            let path = self.dir.path().join(mount);
            unmount_below(&path);
        }
    }
}

fn unmount_below(dir: &Path) {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let points: Vec<_> = points.filter(|point| Path::new(point).starts_with(dir)).collect();
    for point in points.into_iter().rev() {
        let _ = rustix::mount::unmount(point, rustix::mount::UnmountFlags::DETACH);
    }
}

#[expect(clippy::disallowed_methods, reason = "the engine is no workload")]
fn launch(dir: &Path, lives_on: bool) -> std::process::Child {
    let path = |name: &str| dir.join(name).display().to_string();
    let log = std::fs::OpenOptions::new().create(true).append(true).open(dir.join("log")).unwrap();
    let mut command = std::process::Command::new("dockerd");
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
