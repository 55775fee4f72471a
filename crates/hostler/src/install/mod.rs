//! `hostler agent install|uninstall`, `hostler server install|uninstall`: services of this machine.
//!
//! What is written is decided first and without touching anything (`units`): the texts of the units,
//! from the templates in `packaging/systemd`. The package ships the same texts, made by the same code.
//! Then it is compared with what is there. A unit that somebody has changed is never overwritten
//! unasked: the difference is shown and nothing is done at all.
//!
//! 1. Installing twice is the same as installing once.
//! 2. Uninstalling leaves workloads running, and data where it is, unless told otherwise; it says what
//!    it has left and how to be rid of it.
//! 3. A crash in the middle leaves units that are complete (each is written atomically) and perhaps not
//!    enabled; doing it again goes on.

mod diff;
mod system;
mod units;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use hostler_agent::Standalone;
use hostler_agent::local::{self, Question};
use hostler_base::Clock;
use hostler_base::fs::{create_dir, read_optional, remove_optional, write_atomic};
use hostler_cli::args::{AgentInstallArgs, AgentUninstallArgs, InstallOptions, ServerInstallArgs};
use hostler_cli::exit::Code;
use hostler_cli::{Failure, Outcome};

use crate::server::tell;
use system::{Systemd, need_root};
use units::{AGENT, AgentPlan, SERVER, SERVER_USER, SLICE, Unit};

const UNITS_DIR: &str = "etc/systemd/system";
const DONE: u8 = Code::Success.number();

pub fn agent(args: AgentInstallArgs) -> ExitCode {
    finish(async { install_agent(args).await })
}

pub fn agent_away(args: AgentUninstallArgs) -> ExitCode {
    finish(async { uninstall_agent(args).await })
}

pub fn server(args: ServerInstallArgs) -> ExitCode {
    finish(async { install_server(args.options).await })
}

pub fn server_away() -> ExitCode {
    finish(uninstall_server())
}

fn finish(work: impl Future<Output = Outcome>) -> ExitCode {
    let outcome = match super::runtime(1) {
        Ok(runtime) => runtime.block_on(work),
        Err(error) => Err(error.into()),
    };
    ExitCode::from(outcome.unwrap_or_else(|failure| {
        tell(failure.render(false).trim_end());
        failure.exit()
    }))
}

async fn install_agent(args: AgentInstallArgs) -> Outcome {
    let options = args.options;
    let standalone = args.standalone.map(std::path::absolute).transpose()?;
    let plan = AgentPlan {
        program: program(&options)?,
        data_dir: std::path::absolute(crate::agent::data_dir(args.place))?,
        standalone: standalone.clone(),
        user: args.user.clone().filter(|user| user != "root"),
        has_subgroups: options.root.is_none() && Systemd::version().await >= Some(254),
    };
    let wanted = units::agent(&plan).map_err(|why| Failure::usage(why, ""))?;
    if options.print {
        return print(&wanted);
    }
    let place = Place::of(&options)?;
    let change = place.compare(wanted, options.force)?;
    if place.systemd.is_some() {
        if let Some(user) = &plan.user {
            system::need_user(user).await?;
        }
        if let Some(directory) = &standalone {
            check_files(directory)?;
        }
    }
    if let (Some(directory), Some(_)) = (&standalone, &place.systemd) {
        make_directory(directory, 0o755)?;
    }
    place.write(change.as_ref())?;
    let Some(systemd) = &place.systemd else { return Ok(DONE) };
    make_directory(&plan.data_dir, 0o711)?;
    if let Some(user) = &plan.user {
        system::give(&plan.data_dir, user).await?;
    }
    systemd.call(&["daemon-reload"]).await?;
    systemd.call(&["enable", "--quiet", AGENT]).await?;
    if options.start {
        start(systemd, AGENT, change.is_some()).await?;
        tell(
            "The agent runs. `hostler agent ls` lists its workloads, `journalctl -u hostler-agent` shows its log.",
        );
    } else {
        tell(&format!(
            "The agent starts with this machine. Start it now with: systemctl start {AGENT}"
        ));
    }
    Ok(DONE)
}

async fn install_server(options: InstallOptions) -> Outcome {
    let wanted = units::server(&program(&options)?).map_err(|why| Failure::usage(why, ""))?;
    if options.print {
        return print(&wanted);
    }
    let place = Place::of(&options)?;
    let change = place.compare(wanted, options.force)?;
    place.write(change.as_ref())?;
    let Some(systemd) = &place.systemd else { return Ok(DONE) };
    system::make_user(SERVER_USER, "/var/lib/hostler/server").await?;
    systemd.call(&["daemon-reload"]).await?;
    systemd.call(&["enable", "--quiet", SERVER]).await?;
    if options.start {
        start(systemd, SERVER, change.is_some()).await?;
        tell(
            "The server runs. `journalctl -u hostler-server` shows its log, and the code with which the first admin is made.",
        );
    } else {
        tell(&format!(
            "The server starts with this machine. Start it now with: systemctl start {SERVER}"
        ));
    }
    Ok(DONE)
}

async fn start(systemd: &Systemd, unit: &str, is_changed: bool) -> Result<(), Failure> {
    let verb = if is_changed { "restart" } else { "start" };
    systemd.call(&[verb, unit]).await.map_err(|error| {
        let stem = unit.trim_end_matches(".service");
        let hint = format!("`journalctl -u {stem} -n 50` shows why");
        Failure::told(Code::Failure, format!("{error:#}"), hint)
    })
}

async fn uninstall_agent(args: AgentUninstallArgs) -> Outcome {
    need_root("removing a service")?;
    let systemd = Systemd::find()?;
    let data_dir = crate::agent::data_dir(args.place);
    if !systemd.knows(AGENT).await? {
        return Err(nothing_installed(AGENT));
    }
    if args.stop_workloads {
        // It must not come back while it stops what runs.
        let stay_away = systemd.override_until_reboot(AGENT, "[Service]\nRestart=no\n")?;
        systemd.call(&["daemon-reload"]).await?;
        let stopped = stop_workloads(&systemd, &data_dir).await;
        systemd.call(&["stop", AGENT]).await?;
        stay_away.remove()?;
        stopped?;
    } else {
        systemd.call(&["stop", AGENT]).await?;
    }
    systemd.call(&["disable", "--quiet", AGENT]).await?;
    remove_unit(&systemd, AGENT).await?;
    if args.purge {
        std::fs::remove_dir_all(&data_dir).or_else(absent_is_fine).with_context(|| {
            format!("the data directory {} cannot be removed", data_dir.display())
        })?;
        tell(&format!("Removed {}.", data_dir.display()));
        let _ = std::fs::remove_dir("/var/lib/hostler");
    } else {
        tell(&format!("Left: the data in {}.", data_dir.display()));
    }
    match system::processes_in(SLICE) {
        0 => system::clear(systemd, SLICE).await,
        left => tell(&format!(
            "Left: {left} processes of workloads, which go on with nobody to supervise them. End them with: systemctl kill {SLICE}"
        )),
    }
    Ok(DONE)
}

/// Asks the agent to end with everything it runs, and waits until it has.
async fn stop_workloads(systemd: &Systemd, data_dir: &Path) -> Result<(), Failure> {
    let clock = Clock::system();
    let question = Question::Shutdown { runs: Some(hostler_agent::OnStop::Stop) };
    if let Ok(answers) = local::ask(data_dir, &question, &clock).await {
        let _ = answers.only().await;
    }
    let limit = Duration::from_mins(10);
    let ended = async {
        while systemd.is_active(AGENT).await? {
            clock.sleep(Duration::from_millis(100)).await;
        }
        Ok::<(), anyhow::Error>(())
    };
    match clock.timeout(limit, ended).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Failure::told(
            Code::TimedOut,
            "workloads did not stop in 10 minutes; they were killed",
            "",
        )),
    }
}

async fn uninstall_server() -> Outcome {
    need_root("removing a service")?;
    let systemd = Systemd::find()?;
    if !systemd.knows(SERVER).await? {
        return Err(nothing_installed(SERVER));
    }
    systemd.call(&["disable", "--quiet", "--now", SERVER]).await?;
    remove_unit(&systemd, SERVER).await?;
    tell(&format!("Left: the data in /var/lib/hostler/server, and the user {SERVER_USER}."));
    Ok(DONE)
}

async fn remove_unit(systemd: &Systemd, name: &str) -> Result<(), Failure> {
    let path = Path::new("/").join(UNITS_DIR).join(name);
    if remove_optional(&path)? {
        tell(&format!("Removed {}.", path.display()));
    }
    systemd.call(&["daemon-reload"]).await?;
    // A failure would be remembered for ever; there need not have been one.
    let _ = systemd.call(&["reset-failed", name]).await;
    if let Some(path) = systemd.file_of(name).await? {
        tell(&format!("Left: {path}, which belongs to a package."));
    }
    Ok(())
}

fn nothing_installed(unit: &str) -> Failure {
    Failure::told(Code::NotFound, format!("there is no {unit} here"), "")
}

fn absent_is_fine(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn program(options: &InstallOptions) -> Result<PathBuf, Failure> {
    match &options.program {
        Some(program) => Ok(std::path::absolute(program)?),
        None => Ok(std::env::current_exe().context("find this program")?),
    }
}

fn print(unit: &Unit) -> Outcome {
    let text = format!("# /{UNITS_DIR}/{}\n{}", unit.name, unit.text);
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(DONE)
}

/// Mistakes are better found now than when the service does not start.
fn check_files(directory: &Path) -> Result<(), Failure> {
    if !directory.exists() {
        return Ok(());
    }
    let standalone = Standalone::new(directory, None)?;
    standalone.load().map(|_| ()).map_err(|report| {
        let detail = format!(
            "the workload files in {} cannot be used: {}\n{}",
            directory.display(),
            report.summary(),
            report.with_source()
        );
        Failure::usage(detail, "nothing was installed; correct the files and try again")
    })
}

fn make_directory(path: &Path, mode: u32) -> Result<(), Failure> {
    if !path.is_dir() {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        create_dir(path, mode)?;
        tell(&format!("Made {}.", path.display()));
    }
    Ok(())
}

/// Where units go, and the systemd that has to know.
struct Place {
    units: PathBuf,
    systemd: Option<Systemd>,
}

/// A unit that has to be written.
struct Change {
    path: PathBuf,
    text: String,
}

impl Place {
    fn of(options: &InstallOptions) -> Result<Place, Failure> {
        if let Some(root) = &options.root {
            return Ok(Place { units: root.join(UNITS_DIR), systemd: None });
        }
        need_root("installing a service")?;
        let systemd = Some(Systemd::find()?);
        Ok(Place { units: Path::new("/").join(UNITS_DIR), systemd })
    }

    /// What has to be written; nothing when it is there already.
    fn compare(&self, wanted: Unit, is_forced: bool) -> Result<Option<Change>, Failure> {
        let path = self.units.join(wanted.name);
        let present = read_optional(&path)?;
        let present = present.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        match present {
            Some(present) if present == wanted.text => Ok(None),
            Some(present) if !is_forced => {
                let difference = diff::lines(&path.display().to_string(), &present, &wanted.text);
                Err(Failure::told(
                    Code::Conflict,
                    format!("the unit is there with other content:\n{}", difference.trim_end()),
                    "--force replaces it; keep changes of your own in `systemctl edit`",
                ))
            }
            _ => Ok(Some(Change { path, text: wanted.text })),
        }
    }

    fn write(&self, change: Option<&Change>) -> Result<(), Failure> {
        let Some(Change { path, text }) = change else { return Ok(()) };
        std::fs::create_dir_all(&self.units)?;
        write_atomic(path, text.as_bytes(), 0o644)?;
        tell(&format!("Wrote {}.", path.display()));
        Ok(())
    }
}
