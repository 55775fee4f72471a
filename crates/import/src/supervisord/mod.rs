//! supervisord's configuration.
//!
//! A `[program:x]` is a workload; with `numprocs` it is several, as they are several processes there.
//! Whole-process settings (`[supervisord]`, the web interfaces) concern supervisord itself and fall
//! away. Expansions such as `%(program_name)s` are filled in here; those of the environment and of
//! the machine are not known and stay as they are, with a remark.

mod ini;
mod program;

use std::collections::BTreeMap;

use crate::environment::Variables;
use crate::plan::{Draft, Place, Plan, Source, Unreadable};
use ini::Section;

pub fn supervisord(sources: &[Source<'_>]) -> Result<Plan, Unreadable> {
    let mut draft = Draft::new(sources);
    let mut sections = Vec::new();
    for source in sources {
        sections.extend(ini::read(*source)?);
    }
    let shared = shared_environment(&sections, &mut draft);
    let groups = groups(&sections, &mut draft);
    for section in &sections {
        match section.name.split_once(':') {
            Some(("program", program)) => {
                let group = groups.get(program).map_or(program, String::as_str);
                program::read(section, program.trim(), group, &shared, &mut draft)?;
            }
            Some(("eventlistener", _)) => draft.lost(
                section.place,
                &section.name,
                "there are no event listeners; `hostler event watch -o jsonl` gives \
                 events to a program of yours",
            ),
            Some(("fcgi-program", _)) => draft.lost(
                section.place,
                &section.name,
                "Hostler opens no sockets for programs; let the program open its own",
            ),
            Some(("group" | "rpcinterface" | "ctlplugin", _)) => {}
            _ => about_section(section, sources.len() > 1, &mut draft),
        }
    }
    Ok(draft.finish())
}

fn about_section(section: &Section<'_>, has_more_files: bool, draft: &mut Draft) {
    match section.name.as_str() {
        "include" => {
            let files = section.text("files").unwrap_or_default();
            if has_more_files {
                draft.note(
                    section.place,
                    "include",
                    format!("only the files that were given are read; `{files}` may name more"),
                );
            } else {
                draft.lost(
                    section.place,
                    "include",
                    format!("`{files}` is not followed; give these files too"),
                );
            }
        }
        "supervisord" => {
            for entry in section.entries.iter().filter(|entry| {
                matches!(entry.key.as_str(), "user" | "umask" | "directory" | "minfds" | "minprocs")
            }) {
                let place = Place { line: entry.line, ..section.place };
                draft.lost(
                    place,
                    format!("supervisord.{}", entry.key),
                    "it concerned supervisord and what it starts; set it for each workload",
                );
            }
        }
        "supervisorctl" | "unix_http_server" | "inet_http_server" => {}
        other => draft.lost(section.place, other, "this section is not known"),
    }
}

/// Every program gets what `[supervisord]` has in `environment`.
fn shared_environment(sections: &[Section<'_>], draft: &mut Draft) -> Variables {
    let mut shared = Variables::new();
    for section in sections.iter().filter(|section| section.name == "supervisord") {
        if let Some(entry) = section.get("environment") {
            let place = Place { line: entry.line, ..section.place };
            match program::environment(&entry.value) {
                Some(found) => shared.extend(found),
                None => draft.lost(
                    place,
                    "supervisord.environment",
                    "it is not KEY=\"value\",KEY=\"value\"",
                ),
            }
        }
    }
    shared
}

/// Programs by the group they are in.
fn groups(sections: &[Section<'_>], draft: &mut Draft) -> BTreeMap<String, String> {
    let mut groups = BTreeMap::new();
    for section in sections {
        let Some(group) = section.name.strip_prefix("group:") else { continue };
        let programs = section.text("programs").unwrap_or_default();
        for program in programs.split(',').map(str::trim).filter(|program| !program.is_empty()) {
            groups.insert(program.to_owned(), group.trim().to_owned());
        }
        draft.changed(
            section.place,
            &section.name,
            format!("a group is a tag here: `group:{}` finds its workloads", group.trim()),
        );
    }
    groups
}
