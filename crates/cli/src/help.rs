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
    Topic {
        name: "tasks",
        about: "arrays, gangs, GPUs, conditions, and what a task finds in its environment",
        text: || TASKS.to_owned(),
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

const TASKS: &str = "\
Arrays: `--array RANGE` submits one task for each index.

  1-100      from one to a hundred
  0-99:5     every fifth
  1,4,7-9    these
  1-1000%50  at most fifty at once

The tasks of the array `sweep` are sweep-1, sweep-2 and so on. Where a task is expected, `array/sweep`
is all of them: `hostler wait array/sweep`, `--after sweep:any`. A gang (`--nodes N`) is an array whose
tasks run at the same time on as many nodes, or not at all.

GPUs: `--gpus COUNT[:SHARE][,KEY=VALUE..]`.

  2                            two, whole
  1:0.5                        half of one; others may have the rest
  2,model=A100,memory=40GiB    two of that model, with at least that much memory
  ids=0,1                      exactly these, by their numbers on the node

Targets: `--target NODE`, `NODE:NUMA` or `NODE[:NUMA]::GPU,GPU`.

Conditions for --constraint and --prefer: ATTRIBUTE OPERATOR VALUE.

  attributes   node os kernel arch cgroup cpu cores memory gpus gpu.model agent label.KEY
  operators    =  !=  <  <=  >  >=  ~ (regular expression)  !~  in (a, b)  not in (a, b)
               exists  missing

In its environment a task finds HOSTLER_TASK, HOSTLER_PROJECT and HOSTLER_NODE; in an array
HOSTLER_ARRAY and HOSTLER_ARRAY_INDEX; in a gang HOSTLER_RANK, HOSTLER_WORLD_SIZE, HOSTLER_NODES and
HOSTLER_ADDRESSES; with GPUs HOSTLER_GPUS and CUDA_VISIBLE_DEVICES.

  hostler task submit --array 1-1000%50 --retries 2 -- sh -c './step $HOSTLER_ARRAY_INDEX'
  hostler task submit --constraint 'kernel >= 6.1' --prefer 'label.zone = a' -- ./simulate
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
