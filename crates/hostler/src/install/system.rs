//! The machine's own tools: `systemctl` and the few others that installing a service takes.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, anyhow};
use hostler_base::fs::{create_dir, remove_optional, write_atomic};
use hostler_cli::Failure;
use hostler_cli::exit::Code;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

pub fn need_root(what: &str) -> Result<(), Failure> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let hint = "run it with sudo, or see what would be written with `install --print`";
    Err(Failure::told(Code::Denied, format!("{what} needs root"), hint))
}

/// A systemd that runs this machine.
pub struct Systemd;

impl Systemd {
    pub fn find() -> Result<Systemd, Failure> {
        if Path::new("/run/systemd/system").is_dir() {
            return Ok(Systemd);
        }
        Err(Failure::told(
            Code::Failure,
            "systemd does not run this machine",
            "`install --print` shows what a service manager has to do; \
             `install --root DIR` prepares another machine's disk",
        ))
    }

    /// `None` where there is none.
    pub async fn version() -> Option<u32> {
        let told = output(&["systemctl", "--version"]).await.ok()?;
        told.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    pub async fn call(&self, args: &[&str]) -> anyhow::Result<()> {
        output(&[&["systemctl"], args].concat()).await.map(|_| ())
    }

    async fn property(&self, unit: &str, name: &str) -> anyhow::Result<String> {
        let told = output(&["systemctl", "show", "--value", "--property", name, unit]).await?;
        Ok(told.trim().to_owned())
    }

    pub async fn knows(&self, unit: &str) -> anyhow::Result<bool> {
        Ok(self.property(unit, "LoadState").await? != "not-found")
    }

    pub async fn is_active(&self, unit: &str) -> anyhow::Result<bool> {
        let state = self.property(unit, "ActiveState").await?;
        Ok(!["inactive", "failed"].contains(&state.as_str()))
    }

    /// Where a unit that is still known is written.
    pub async fn file_of(&self, unit: &str) -> anyhow::Result<Option<String>> {
        let path = self.property(unit, "FragmentPath").await?;
        Ok((!path.is_empty()).then_some(path))
    }

    /// Changes a unit until the machine restarts, or [`Override::remove`] is called.
    pub fn override_until_reboot(&self, unit: &str, text: &str) -> Result<Override, Failure> {
        let dir = Path::new("/run/systemd/system").join(format!("{unit}.d"));
        create_dir(&dir, 0o755)?;
        write_atomic(&dir.join("uninstall.conf"), text.as_bytes(), 0o644)?;
        Ok(Override(dir))
    }
}

/// Processes in a slice.
pub fn processes_in(slice: &str) -> usize {
    fn count(dir: &Path) -> usize {
        let here = std::fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
        here.lines().count() + below(dir).map(|dir| count(&dir)).sum::<usize>()
    }
    HIERARCHIES.iter().map(|top| count(&Path::new(top).join(slice))).max().unwrap_or_default()
}

/// Removes the empty cgroups of a slice, and then the slice.
pub async fn clear(systemd: Systemd, slice: &str) {
    fn remove(dir: &Path) {
        below(dir).for_each(|dir| remove(&dir));
        let _ = std::fs::remove_dir(dir);
    }
    for top in HIERARCHIES {
        below(&Path::new(top).join(slice)).for_each(|dir| remove(&dir));
    }
    let _ = systemd.call(&["stop", slice]).await;
}

const HIERARCHIES: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

fn below(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(|one| one.file_type().is_ok_and(|kind| kind.is_dir())).map(|one| one.path())
}

#[must_use]
pub struct Override(PathBuf);

impl Override {
    pub fn remove(self) -> Result<(), Failure> {
        remove_optional(&self.0.join("uninstall.conf"))?;
        let _ = std::fs::remove_dir(&self.0);
        Ok(())
    }
}

pub async fn need_user(user: &str) -> Result<(), Failure> {
    output(&["id", "-u", "--", user]).await.map(|_| ()).map_err(|_| {
        let hint = format!("make it, such as with: useradd --system {user}");
        Failure::usage(format!("there is no user `{user}` on this machine"), hint)
    })
}

pub async fn give(path: &Path, user: &str) -> anyhow::Result<()> {
    let path = path.to_str().context("the path is not plain text")?;
    output(&["chown", "--", &format!("{user}:"), path]).await.map(|_| ())
}

/// A user that only services have; nothing happens where it exists.
pub async fn make_user(user: &str, home: &str) -> anyhow::Result<()> {
    let line = format!("u {user} - \"Hostler\" {home}\n");
    tell_program(&["systemd-sysusers", "-"], &line).await.map(|_| ())
}

async fn output(words: &[&str]) -> anyhow::Result<String> {
    tell_program(words, "").await
}

/// Runs a program to its end with `input`, and returns what it printed. What it complains about when it
/// fails is the error.
async fn tell_program(words: &[&str], input: &str) -> anyhow::Result<String> {
    let (program, args) = words.split_first().expect("every call names a program");
    let spoken = words.join(" ");
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{program}` cannot be run"))?;
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(input.as_bytes()).await;
    }
    let done = child.wait_with_output().await.with_context(|| format!("`{spoken}` failed"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Err(anyhow!("`{spoken}` failed: {said}"))
}
