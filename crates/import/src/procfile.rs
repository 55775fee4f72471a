//! Procfiles: `name: command` lines, as foreman, honcho, overmind and Heroku read them.
//!
//! Each line is a process that runs for ever, through a shell. foreman gives each of them a `PORT`
//! (5000 for the first, 100 more for each further one) and starts it in the Procfile's own folder; the
//! first is carried over where the command uses it, the second cannot be known here.

use hostler_model::{Mode, WorkloadSpec};

use crate::environment::Variables;
use crate::plan::{Draft, Place, Plan, Source, Unreadable, numbered};
use crate::words::shell;

const FIRST_PORT: u32 = 5000;
const PORTS_APART: u32 = 100;

/// `env` is what a `.env` beside it holds.
pub fn procfile(sources: &[Source<'_>], env: &Variables) -> Result<Plan, Unreadable> {
    let mut draft = Draft::new(sources);
    for source in sources {
        read(*source, env, &mut draft)?;
    }
    Ok(draft.finish())
}

fn read(source: Source<'_>, env: &Variables, draft: &mut Draft) -> Result<(), Unreadable> {
    let mut port = FIRST_PORT;
    for (line, text) in numbered(source.text) {
        let place = Place { file: source.file, line };
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (process, command) = entry(text).ok_or_else(|| {
            place.unreadable(
                1,
                "this is not `name: command`",
                "a name has letters, digits, - and _",
            )
        })?;
        let name = draft.name(process);
        if port == FIRST_PORT {
            draft.changed(
                place,
                format!("{name}.workdir"),
                "it was started in the Procfile's folder; set `workdir` to where the \
                 program is on the node",
            );
        }
        let mut spec = WorkloadSpec::command(shell(command));
        spec.env.clone_from(env);
        spec.mode = if process == "release" { Mode::Once } else { Mode::Forever };
        if process == "release" {
            draft.note(
                place,
                name.as_str(),
                "a release command runs once, before the others are updated; nothing \
                 waits for it here until they name it in `depends`",
            );
        }
        if uses_port(command) && !env.contains_key("PORT") {
            spec.env.insert("PORT".to_owned(), port.to_string());
            draft.changed(
                place,
                format!("{name}.env.PORT"),
                format!("nothing assigns ports; {port} is what foreman would have given it"),
            );
        }
        port += PORTS_APART;
        draft.push(place, name, spec);
    }
    Ok(())
}

fn entry(line: &str) -> Option<(&str, &str)> {
    let (name, command) = line.split_once(':')?;
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let command = command.trim();
    (is_name && !command.is_empty()).then_some((name, command))
}

fn uses_port(command: &str) -> bool {
    command.split('$').skip(1).any(|after| {
        let after = after.strip_prefix('{').unwrap_or(after);
        after
            .strip_prefix("PORT")
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_seen_where_they_are_used() {
        for (command, expected) in [
            ("rails s -p $PORT", true),
            ("serve ${PORT:-3000}", true),
            ("echo $PORTAL", false),
            ("echo PORT", false),
        ] {
            assert_eq!(uses_port(command), expected, "{command}");
        }
    }
}
