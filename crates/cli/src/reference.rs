//! The command-line reference, written from the arguments themselves.

use clap::{Arg, ArgAction, Command};

use crate::codes;

/// `docs/reference/cli.md`.
pub fn reference_markdown() -> String {
    let mut root = crate::command_tree();
    root.build();
    let mut text = String::from("# Command line\n\n");
    text.push_str(&paragraph(&root));
    text.push_str("\n## Commands\n\n");
    index(&mut text, &root, "hostler");
    text.push_str("\n## Global options\n\nEvery command takes these. A flag wins over the environment, which wins over the context.\n\n");
    for arg in root.get_arguments().filter(|arg| arg.is_global_set() && !arg.is_hide_set()) {
        text.push_str(&option(arg));
    }
    text.push_str(ENVIRONMENT);
    text.push_str("\n## Exit codes\n\n");
    text.push_str(&codes::exit_table());
    for command in subcommands(&root) {
        section(&mut text, command, "hostler");
    }
    text
}

pub(crate) const ENVIRONMENT: &str = "\
- `HOSTLER_TOKEN`: token to use; never a flag, where others could see it
- `HOSTLER_CONFIG`: file with the contexts, instead of `$XDG_CONFIG_HOME/hostler/config.toml`
- `HOSTLER_LOG`: what to log to stderr, such as `debug`; nothing when absent
- `NO_COLOR`, `CLICOLOR_FORCE`: no colours, or colours even where there is no terminal

Tokens and pinned authorities are kept in `$XDG_DATA_HOME/hostler/credentials.toml`, for their owner alone.
";

fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn paragraph(command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about());
    about.map(|about| format!("{about}\n")).unwrap_or_default()
}

fn index(text: &mut String, command: &Command, path: &str) {
    for sub in subcommands(command) {
        let path = format!("{path} {}", sub.get_name());
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        let anchor = path.replace(' ', "-");
        text.push_str(&format!("- [`{path}`](#{anchor}): {}\n", lower_first(&about)));
    }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn section(text: &mut String, command: &Command, above: &str) {
    let path = format!("{above} {}", command.get_name());
    let level = if above.contains(' ') { "###" } else { "##" };
    text.push_str(&format!("\n{level} {path}\n\n{}", paragraph(command)));
    let aliases: Vec<_> = command.get_visible_aliases().map(|alias| format!("`{alias}`")).collect();
    if !aliases.is_empty() {
        text.push_str(&format!("\nAlso: {}.\n", aliases.join(", ")));
    }
    let usage = command.clone().render_usage().to_string();
    let usage =
        usage.trim_start_matches("Usage:").lines().map(str::trim).collect::<Vec<_>>().join("\n");
    text.push_str(&format!("\n```text\n{}\n```\n", usage.trim()));
    let own = |arg: &&Arg| {
        !arg.is_global_set()
            && !arg.is_hide_set()
            && !["help", "version"].contains(&arg.get_id().as_str())
    };
    let arguments: Vec<_> = command.get_arguments().filter(own).collect();
    if !arguments.is_empty() {
        text.push('\n');
    }
    for arg in arguments {
        text.push_str(&option(arg));
    }
    if let Some(examples) = command.get_after_help() {
        text.push_str(&after(&examples.to_string()));
    }
    if subcommands(command).next().is_some() {
        text.push('\n');
        index(text, command, &path);
    }
    for sub in subcommands(command) {
        section(text, sub, &path);
    }
}

/// Examples as code, what follows them as text.
fn after(help: &str) -> String {
    let mut parts = help.trim_start_matches("Examples:\n").splitn(2, "\n\n");
    let examples: Vec<_> = parts
        .next()
        .unwrap_or_default()
        .lines()
        .map(|line| line.trim_start_matches("  "))
        .collect();
    let rest =
        parts.next().map(|rest| format!("\n{}\n", rest.replace('\n', " "))).unwrap_or_default();
    format!("\n```sh\n{}\n```\n{rest}", examples.join("\n"))
}

fn option(arg: &Arg) -> String {
    let value = arg
        .get_value_names()
        .map(|names| names.iter().map(|name| format!("<{name}>")).collect::<Vec<_>>().join(" "));
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let value = value.filter(|_| takes_value).unwrap_or_default();
    let name = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long} {value}"),
        (None, Some(long)) => format!("--{long} {value}"),
        (Some(short), None) => format!("-{short} {value}"),
        (None, None) => value,
    };
    let mut text = format!(
        "- `{}`: {}",
        name.trim(),
        arg.get_help().map(ToString::to_string).unwrap_or_default()
    );
    let possible: Vec<_> =
        arg.get_possible_values().iter().map(|v| format!("`{}`", v.get_name())).collect();
    if !possible.is_empty() && takes_value && !arg.is_hide_possible_values_set() {
        text.push_str(&format!(" ({})", possible.join(", ")));
    }
    if let [default] = arg.get_default_values()
        && takes_value
        && !default.is_empty()
    {
        text.push_str(&format!("; default `{}`", default.to_string_lossy()));
    }
    if let Some(variable) = arg.get_env() {
        text.push_str(&format!("; environment `{}`", variable.to_string_lossy()));
    }
    text + "\n"
}
