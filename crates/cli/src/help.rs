//! `hostler help`: commands, and what concerns them all.

use crate::exit;
use crate::failure::Failure;
use crate::{codes, reference};

/// A topic: its name, what it is about, its text.
struct Topic {
    name: &'static str,
    about: &'static str,
    text: fn() -> String,
}

const TOPICS: &[Topic] = &[
    Topic {
        name: "output",
        about: "formats, and what goes to stdout and stderr",
        text: || OUTPUT.to_owned(),
    },
    Topic { name: "exit-codes", about: "what a command ends with", text: codes::exit_table },
    Topic { name: "errors", about: "every error code of the API", text: codes::errors_markdown },
    Topic {
        name: "environment",
        about: "variables and files",
        text: || reference::ENVIRONMENT.to_owned(),
    },
    Topic {
        name: "contexts",
        about: "which server, as whom, in which project",
        text: || CONTEXTS.to_owned(),
    },
    Topic {
        name: "selectors",
        about: "choosing by labels, and changing many at once",
        text: || SELECTORS.to_owned(),
    },
];

const OUTPUT: &str = "\
Data goes to stdout, talk to stderr. `-o` (or HOSTLER_OUTPUT) chooses the form of the data:

  table                 columns for people; times are relative
  wide                  more columns, absolute times, nothing cut
  json                  one document; lists are {\"items\": [..]}
  jsonl                 one object a line
  yaml                  one document
  name                  KIND/NAME, one a line
  jsonpath=EXPRESSION   the values that the expression finds in the json document
  template=TEMPLATE     a Jinja template, filled in for every object

`--quiet` prints ids only. Colours are used on terminals; NO_COLOR, --no-color and CLICOLOR_FORCE
change that.

  hostler task ls -o 'jsonpath={.items[*].name}'
  hostler task ls -o 'template={{ name }} {{ status.state | upper }}'
";

const CONTEXTS: &str = "\
A context is a server, the authority that was pinned for it, and a project. `hostler login URL` makes
one, `hostler context ls` lists them, `hostler context use NAME` chooses one for good, `--context` or
HOSTLER_CONTEXT for one command.

Flags win over variables, variables over the context, the context over defaults;
`hostler context show` prints each value and where it came from. A stored token is only ever sent to
the address it was stored with.
";

const SELECTORS: &str = "\
`-l KEY=VALUE,..` chooses what has all these labels.

Verbs that end or remove take names, or `--all`: without either they are refused. `--all` asks first;
`--yes` answers. Nothing is ever asked where stdin is no terminal, or with `--no-input`.

  hostler node ls -l zone=shop,arch=arm64
  hostler run -l gpu=yes -- nvidia-smi
  hostler task kill --all --yes
";

/// The text for some words: a command where they name one, else a topic.
pub fn help(words: &[String]) -> Result<String, Failure> {
    let mut root = crate::command_tree();
    root.build();
    let mut command = &mut root;
    for word in words {
        command = match command.find_subcommand(word) {
            Some(_) => command.find_subcommand_mut(word).expect("it was just found"),
            None => return topic(words),
        };
    }
    let text = command.render_long_help().to_string();
    Ok(match words {
        [] => format!("{}\n\nTopics, with `hostler help TOPIC`:\n{}", text.trim_end(), topics()),
        _ => text,
    })
}

fn topic(words: &[String]) -> Result<String, Failure> {
    if words == ["topics"] {
        return Ok(topics());
    }
    let found = TOPICS.iter().find(|topic| words == [topic.name]);
    found.map(|topic| (topic.text)()).ok_or_else(|| {
        Failure::told(
            exit::Code::NotFound,
            format!("`{}` is neither a command nor a topic", words.join(" ")),
            "`hostler help` lists the commands, `hostler help topics` the topics",
        )
    })
}

fn topics() -> String {
    TOPICS.iter().map(|topic| format!("  {:<12} {}\n", topic.name, topic.about)).collect()
}
