//! Watchers.

use std::path::Path;

use hostler_api::ProjectPath;
use hostler_api::watcher::{
    WatcherApply, WatcherDisable, WatcherEnable, WatcherGet, WatcherList, WatcherPath,
    WatcherRemove, WatcherView,
};
use hostler_model::{
    CertificateWatch, Code, CommandWatch, DirectoryWatch, DiskWatch, FileWatch, LogWatch,
    PortWatch, ProcessWatch, ServiceWatch, Span, Threshold, Watch, WatcherSpec,
};

use super::spec::labels;
use super::{Cx, DONE, Link, NONE, again_if_stale, bare};
use crate::args::{WatcherAddArgs, WatcherCommand};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Description};

const TIME_LIMIT: Span = Span::from_secs(10);
const WITHIN: Span = Span::from_secs(30 * 86_400);

pub async fn perform(cx: &Cx, command: WatcherCommand) -> Outcome {
    let link = &cx.link()?;
    match command {
        WatcherCommand::Add(args) => add(cx, link, *args).await,
        WatcherCommand::Ls(list) => {
            let path = ProjectPath { project: link.project.clone() };
            let query = list.page();
            cx.list::<WatcherList, _>(link, &path, &query, list.limit).await
        }
        WatcherCommand::Show(args) => show(cx, link, &args.watcher).await,
        WatcherCommand::Enable(args) => {
            for name in &args.watchers {
                let path = named(link, name);
                let now = link.client.call::<WatcherEnable>(&path, &NONE, &NONE).await?;
                cx.changed(&now, "enabled")?;
            }
            Ok(DONE)
        }
        WatcherCommand::Disable(args) => {
            for name in &args.watchers {
                let path = named(link, name);
                let now = link.client.call::<WatcherDisable>(&path, &NONE, &NONE).await?;
                cx.changed(&now, "disabled")?;
            }
            Ok(DONE)
        }
        WatcherCommand::Rm(args) => {
            for name in &args.watchers {
                let path = named(link, name);
                link.client.call::<WatcherRemove>(&path, &NONE, &NONE).await?;
                cx.ui.say(&format!("watcher {} removed", path.watcher));
            }
            Ok(DONE)
        }
    }
}

fn named(link: &Link, name: &str) -> WatcherPath {
    let watcher = bare("watcher", name).to_owned();
    WatcherPath { project: link.project.clone(), watcher }
}

async fn show(cx: &Cx, link: &Link, name: &str) -> Outcome {
    let path = named(link, name);
    let watcher = link.client.call::<WatcherGet>(&path, &NONE, &NONE).await?;
    if !cx.is_for_people() || cx.ui.is_quiet() {
        return cx.one(&watcher);
    }
    cx.ui.data(described(&watcher).render().as_bytes())?;
    if watcher.nodes.is_empty() {
        cx.ui.say("no node has this name, or these labels");
        return Ok(DONE);
    }
    output::list(&cx.ui, cx.now(), &watcher.nodes)?;
    Ok(DONE)
}

fn described(watcher: &WatcherView) -> Description {
    let spec = &watcher.spec;
    let on: Vec<&str> = spec.watch.on().iter().map(|on| on.label()).collect();
    let only = match (spec.nodes.is_empty(), spec.selector.is_empty()) {
        (false, _) => spec.nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        (true, false) => {
            let labels = spec.selector.iter().map(|(key, value)| format!("{key}={value}"));
            labels.collect::<Vec<_>>().join(",")
        }
        (true, true) => "all nodes".to_owned(),
    };
    let mut text = Description::default();
    text.pair("Name", watcher.name.to_string())
        .pair("Description", spec.description.clone())
        .pair("Watches", watcher.summary.clone())
        .pair("Fires on", on.join(", "))
        .pair("Every", spec.interval().to_string())
        .pair("Cooldown", (!spec.cooldown.is_zero()).then(|| spec.cooldown.to_string()))
        .pair("On", only)
        .pair("Enabled", (if watcher.is_enabled { "yes" } else { "no" }).to_owned())
        .pair("No node looks", watcher.hindrance.clone())
        .pair("Owner", watcher.owner.clone());
    text.section("Nodes");
    text
}

async fn add(cx: &Cx, link: &Link, args: WatcherAddArgs) -> Outcome {
    let path = &named(link, args.name.as_str());
    let spec = &match &args.spec {
        Some(file) => from_file(cx, file)?,
        None => from_flags(args)?,
    };
    let client = &link.client;
    let change =
        again_if_stale(async || match client.call::<WatcherGet>(path, &NONE, &NONE).await {
            Ok(known) => {
                client.call_if_match::<WatcherApply>(path, &NONE, spec, known.generation).await
            }
            Err(error) if error.is(Code::NotFound) => {
                client.call::<WatcherApply>(path, &NONE, spec).await
            }
            Err(error) => Err(error),
        });
    cx.changed(&change.await?, "set")
}

fn from_file(cx: &Cx, file: &Path) -> Result<WatcherSpec, Failure> {
    let text = if file == Path::new("-") {
        cx.ui.input_all()?
    } else {
        std::fs::read_to_string(file).map_err(|error| {
            let words = format!("{} cannot be read: {error}", file.display());
            Failure::usage(words, "name a file of text")
        })?
    };
    parse(&text).map_err(|error| {
        let words = format!("{} is not a watcher: {error}", file.display());
        Failure::usage(words, "docs/watchers.md shows one")
    })
}

/// Reads what `watcher add -f` is given.
pub fn parse(text: &str) -> Result<WatcherSpec, String> {
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}

/// Flags that say more of one kind are mistakes beside another.
fn check(args: &WatcherAddArgs) -> Result<(), Failure> {
    let is_process = args.process.is_some() || args.process_command.is_some();
    let (is_log, is_command) =
        (args.log.is_some() || args.unit.is_some(), !args.command.is_empty());
    let is_disk = args.disk_above.is_some() || args.disk_below.is_some();
    let is_level = [args.cpu_above, args.cpu_below, args.memory_above, args.memory_below]
        .into_iter()
        .chain([args.load_above, args.load_below, args.disk_above, args.disk_below])
        .any(|figure| figure.is_some());
    let is_edge = !is_level && !is_log && args.certificate.is_none();
    let level = "a threshold such as --cpu-above";
    for (is_given, fits, flag, needs) in [
        (args.hash, args.file.is_some(), "--hash", "--file"),
        (args.recursive, args.directory.is_some(), "--recursive", "--directory"),
        (!args.entry_name.is_empty(), args.directory.is_some(), "--name", "--directory"),
        (args.count != 1, is_process, "--count", "--process"),
        (!args.pattern.is_empty(), is_log || is_command, "--pattern", "--log, --unit or a command"),
        (args.disk != "/", is_disk, "--disk", "--disk-above or --disk-below"),
        (args.lasts.is_some(), is_level, "--for", level),
        (args.clear.is_some(), is_level, "--clear", level),
        (args.within.is_some(), args.certificate.is_some(), "--within", "--certificate"),
        (args.user.is_some(), is_command, "--user", "a command"),
        (args.time_limit.is_some(), is_command, "--time-limit", "a command"),
        (!args.on.is_empty(), is_edge, "--on", "what has several conditions"),
    ] {
        if is_given && !fits {
            let words = format!("{flag} goes with {needs}, and there is none");
            return Err(Failure::usage(words, "`hostler watcher add --help` shows examples"));
        }
    }
    Ok(())
}

fn from_flags(args: WatcherAddArgs) -> Result<WatcherSpec, Failure> {
    check(&args)?;
    Ok(WatcherSpec {
        description: args.description.clone(),
        nodes: args.nodes.clone(),
        selector: labels(&args.selector)?,
        interval: args.interval,
        cooldown: args.cooldown.unwrap_or_default(),
        watch: watch(args),
    })
}

/// Exactly one of those is given.
fn watch(args: WatcherAddArgs) -> Watch {
    let on = args.on;
    let threshold = Threshold {
        lasts: args.lasts.unwrap_or_default(),
        clear: args.clear,
        ..Threshold::default()
    };
    let level = |above, below| Threshold { above, below, ..threshold };
    if let Some(path) = args.file {
        return Watch::File(FileWatch { path, on, hash: args.hash });
    }
    if let Some(path) = args.directory {
        let (recursive, pattern) = (args.recursive, args.entry_name);
        return Watch::Directory(DirectoryWatch { path, on, recursive, pattern });
    }
    if args.process.is_some() || args.process_command.is_some() {
        let (name, command) = (args.process, args.process_command);
        let (name, command) = (name.unwrap_or_default(), command.unwrap_or_default());
        return Watch::Process(ProcessWatch { name, command, on, count: args.count });
    }
    if let Some((host, port)) = args.port {
        return Watch::Port(PortWatch { port, host, on });
    }
    if args.log.is_some() || args.unit.is_some() {
        let (path, unit) = (args.log.unwrap_or_default(), args.unit.unwrap_or_default());
        return Watch::Log(LogWatch { path, unit, pattern: args.pattern });
    }
    if args.cpu_above.is_some() || args.cpu_below.is_some() {
        return Watch::Cpu(level(args.cpu_above, args.cpu_below));
    }
    if args.memory_above.is_some() || args.memory_below.is_some() {
        return Watch::Memory(level(args.memory_above, args.memory_below));
    }
    if args.load_above.is_some() || args.load_below.is_some() {
        return Watch::Load(level(args.load_above, args.load_below));
    }
    if args.disk_above.is_some() || args.disk_below.is_some() {
        let threshold = level(args.disk_above, args.disk_below);
        return Watch::Disk(DiskWatch { path: args.disk, threshold });
    }
    if let Some(unit) = args.service {
        return Watch::Service(ServiceWatch { unit, on });
    }
    if let Some(given) = args.certificate {
        let is_path = given.starts_with('/');
        let (path, address) = if is_path { (given, String::new()) } else { (String::new(), given) };
        let within = args.within.unwrap_or(WITHIN);
        return Watch::Certificate(CertificateWatch { path, address, within });
    }
    Watch::Command(CommandWatch {
        command: args.command,
        user: args.user,
        time_limit: args.time_limit.unwrap_or(TIME_LIMIT),
        on,
        pattern: args.pattern,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Command;

    fn given(words: &[&str]) -> Option<WatcherSpec> {
        let words = ["hostler", "watcher", "add", "w"].iter().chain(words);
        let crate::Invocation::Client(client) = crate::parse_from(words).ok()? else { return None };
        match client.command {
            Command::Watcher(WatcherCommand::Add(args)) => from_flags(*args).ok(),
            _ => None,
        }
    }

    #[test]
    fn flags_say_what_is_looked_at() {
        for (words, summary) in [
            (&["--file", "/a", "--hash"][..], "file /a created, changed, removed"),
            (
                &["--directory", "/a", "--name", "*.c", "--on", "created"],
                "directory /a/*.c created",
            ),
            (&["--process", "nginx", "--count", "2"], "process nginx started, ended"),
            (&["--process-command", "^java"], "process ^java started, ended"),
            (&["--port", "443"], "port 127.0.0.1:443 opened, closed"),
            (&["--port", "[::1]:443"], "port [::1]:443 opened, closed"),
            (&["--log", "/var/log/a", "--pattern", "x"], "log /var/log/a matches x"),
            (&["--unit", "ssh", "--pattern", "x"], "log ssh matches x"),
            (&["--cpu-above", "90", "--for", "5m"], "cpu above 90% for 5m"),
            (&["--memory-below", "5"], "memory below 5%"),
            (&["--load-above", "8"], "load above 8"),
            (&["--disk", "/srv", "--disk-above", "85"], "disk /srv above 85%"),
            (&["--disk-above", "85"], "disk / above 85%"),
            (&["--service", "a", "--on", "failed,stopped"], "service a failed, stopped"),
            (&["--certificate", "/a", "--within", "14d"], "certificate /a within 14d"),
            (&["--certificate", "a:443"], "certificate a:443 within 30d"),
            (&["--", "df", "-h"], "command df -h failed, recovered"),
        ] {
            let spec = given(words).unwrap_or_else(|| panic!("{words:?}"));
            assert_eq!(spec.watch.summary(), summary, "{words:?}");
            assert!(spec.problems("").is_empty(), "{words:?}");
        }
        let spec = given(&["--port", "1", "-l", "a=b,c=d", "--interval", "9s", "--cooldown", "1m"]);
        let spec = spec.unwrap();
        assert_eq!((spec.selector.len(), spec.interval()), (2, Span::from_secs(9)));
        for wrong in [
            &[][..],
            &["--port", "1", "--file", "/a"],
            &["--port", "x"],
            &["--log", "/var/log/a"],
            &["--file", "/a", "--recursive"],
            &["--port", "1", "--on", "burnt"],
            &["--port", "1", "--user", "a"],
            &["--port", "1", "--for", "5m"],
            &["--cpu-above", "1", "--on", "above"],
            &["--cpu-above", "1", "--disk", "/srv"],
            &["--certificate", "/a", "--hash"],
        ] {
            assert!(given(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn a_watcher_is_written_in_yaml() {
        let text = "description: disks\nselector: { role: db }\ninterval: 1m\nwatch:\n  disk:\n    path: /srv\n    above: 85\n    for: 5m\n";
        let spec = parse(text).unwrap();
        assert_eq!(spec.watch.summary(), "disk /srv above 85% for 5m");
        assert!(spec.problems("").is_empty());
        assert!(parse("watch: { moon: {} }").is_err());
        assert!(parse("watch: { port: { port: 1 } }\nphase: full").is_err());
    }
}
