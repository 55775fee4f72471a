//! A program that speaks lines of JSON.
//!
//! It is started for one call. The first line that it reads asks what it is, and its answer has to come first; the second says
//! what is to be done. Whatever it prints to its standard output is a reply, one a line, with the id of the request; what it
//! prints to its standard error is for people. When it has answered, its input ends, and it has a moment to end as well.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use hostler_model::stack::{
    PLUGIN_LINE_MAX, PLUGIN_PROTOCOL, PluginManifest, PluginReply, PluginRequest,
};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{Hear, Plugin, Trouble};

/// How long it may take to say what it is.
const HELLO_TIME: Duration = Duration::from_secs(10);
/// How long it may take to end when it has answered.
const END_TIME: Duration = Duration::from_secs(2);
/// How many words it may say before it answers.
const WORDS_MAX: usize = 10_000;
/// How much of a line is told to people.
const TOLD_MAX: usize = 200;
/// The longest line for people, and how many of its last ones are told with its end.
const ERROR_LINE_MAX: usize = 16 << 10;
const LAST: usize = 5;
/// What the first request is called.
const HELLO: &str = "hello";

/// A line of a program.
enum Line {
    Text(Vec<u8>),
    TooLong,
    End,
}

/// The group of a program, which ends with whoever holds this.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            let _it_may_be_gone = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// Says hello and, where something is asked for, that; within the time of the plugin.
pub(super) async fn converse(
    plugin: &Plugin,
    program: &Path,
    request: Option<&PluginRequest>,
) -> Result<(PluginManifest, Option<PluginReply>), Trouble> {
    let mut child = Command::new(program)
        .current_dir(&plugin.workdir)
        .env_clear()
        .envs(&plugin.environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| Trouble(format!("it cannot be started: {error}")))?;
    let group = Group(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw));
    let (Some(input), Some(output), Some(errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Trouble("it has no pipes".to_owned()));
    };
    let hear = plugin.hear.clone();
    let mut talk = Talk { input: Some(input), output: BufReader::new(output), hear, words: 0 };
    let mut last = Last::default();
    // Its input ends with this.
    let asked = async move {
        let manifest = tokio::time::timeout(HELLO_TIME.min(plugin.timeout), talk.hello());
        let manifest = manifest.await.map_err(|_| {
            let time = HELLO_TIME.min(plugin.timeout);
            Wrong::Said(format!("it did not say what it is within {} s", time.as_secs_f64()))
        })??;
        let reply = match request {
            Some(request) => Some(talk.ask(request).await?),
            None => None,
        };
        Ok::<_, Wrong>((manifest, reply))
    };
    let (told, status) = {
        let heard = last.follow(errors, &plugin.hear);
        let spoken = async {
            let told = tokio::time::timeout(plugin.timeout, asked).await.unwrap_or_else(|_| {
                let time = plugin.timeout.as_secs_f64();
                Err(Wrong::Said(format!("it did not answer within {time} s, and was ended")))
            });
            let status = match &told {
                Ok(_) | Err(Wrong::Ended) => ended(&mut child).await,
                Err(Wrong::Said(_)) => None,
            };
            drop(group);
            (told, status)
        };
        tokio::pin!(heard, spoken);
        tokio::select! {
            spoken = &mut spoken => {
                // What it said last is read by the time that nobody can write any more.
                let _nobody_waits_longer = tokio::time::timeout(END_TIME, heard).await;
                spoken
            }
            () = &mut heard => (&mut spoken).await,
        }
    };
    let _it_is_reaped = tokio::time::timeout(END_TIME, child.wait()).await;
    told.map_err(|wrong| match wrong {
        Wrong::Said(text) => Trouble(text),
        Wrong::Ended => {
            let how = status.map_or_else(|| "closed its output".to_owned(), |it| it.to_string());
            Trouble(format!("it ended before it answered ({how}){}", last.words()))
        }
    })
}

async fn ended(child: &mut Child) -> Option<ExitStatus> {
    tokio::time::timeout(END_TIME, child.wait()).await.ok().and_then(Result::ok)
}

enum Wrong {
    Said(String),
    Ended,
}

struct Talk {
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    hear: Hear,
    words: usize,
}

impl Talk {
    async fn hello(&mut self) -> Result<PluginManifest, Wrong> {
        let asked = json!({ "id": HELLO, "verb": HELLO, "protocol": PLUGIN_PROTOCOL });
        self.write(&asked).await;
        let mut reply = self.reply(HELLO).await?;
        if reply.get("reply").and_then(Value::as_str) != Some(HELLO) {
            return Err(Wrong::Said(format!("it does not say what it is: {}", told_of(&reply))));
        }
        reply.retain(|name, _| name == "protocol" || name == "types");
        serde_json::from_value(Value::Object(reply))
            .map_err(|error| Wrong::Said(format!("what it says of its types is wrong: {error}")))
    }

    async fn ask(&mut self, request: &PluginRequest) -> Result<PluginReply, Wrong> {
        let asked = serde_json::to_value(request)
            .map_err(|error| Wrong::Said(format!("it cannot be asked: {error}")))?;
        self.write(&asked).await;
        let reply = self.reply(&request.id).await?;
        let told = told_of(&reply);
        serde_json::from_value(Value::Object(reply))
            .map_err(|error| Wrong::Said(format!("its answer is wrong: {error}: {told}")))
    }

    /// One that does not read has to be heard nevertheless.
    async fn write(&mut self, asked: &Value) {
        if let Some(input) = &mut self.input {
            let text = format!("{asked}\n");
            let _it_may_have_ended = input.write_all(text.as_bytes()).await;
            let _it_may_have_ended = input.flush().await;
        }
    }

    /// The next that is no word on the way.
    async fn reply(&mut self, id: &str) -> Result<Map<String, Value>, Wrong> {
        loop {
            let text = match line(&mut self.output, PLUGIN_LINE_MAX).await {
                Line::Text(text) => text,
                Line::TooLong => {
                    let text = format!("it wrote a line of more than {PLUGIN_LINE_MAX} bytes");
                    return Err(Wrong::Said(text));
                }
                Line::End => return Err(Wrong::Ended),
            };
            let Ok(Value::Object(reply)) = serde_json::from_slice(&text) else {
                let text = cut(&String::from_utf8_lossy(&text));
                let hint = "what is for people goes to the standard error";
                return Err(Wrong::Said(format!("it wrote what is no document: {text}; {hint}")));
            };
            let given = reply.get("id").and_then(Value::as_str);
            if given != Some(id) {
                let given = given.map_or("nothing".to_owned(), |id| format!("`{}`", cut(id)));
                return Err(Wrong::Said(format!("it answered {given} when `{id}` was asked")));
            }
            match reply.get("reply").and_then(Value::as_str) {
                Some("progress" | "log") => {
                    self.words += 1;
                    if self.words > WORDS_MAX {
                        let text = format!("it said more than {WORDS_MAX} words on the way");
                        return Err(Wrong::Said(text));
                    }
                    let said = reply.get("message").and_then(Value::as_str).unwrap_or_default();
                    (self.hear)(false, said);
                }
                _ => return Ok(reply),
            }
        }
    }
}

/// The last lines for people.
#[derive(Default)]
struct Last(Vec<String>);

impl Last {
    async fn follow(&mut self, errors: impl AsyncRead + Unpin, hear: &Hear) {
        let mut errors = BufReader::new(errors);
        loop {
            match line(&mut errors, ERROR_LINE_MAX).await {
                Line::Text(text) => {
                    let text = String::from_utf8_lossy(&text).into_owned();
                    hear(true, &text);
                    if self.0.len() == LAST {
                        self.0.remove(0);
                    }
                    self.0.push(text);
                }
                Line::TooLong => {}
                Line::End => return,
            }
        }
    }

    fn words(&self) -> String {
        if self.0.is_empty() { String::new() } else { format!(": {}", cut(&self.0.join("; "))) }
    }
}

/// A line without its end. Of one that is too long the rest is left where it is.
async fn line(from: &mut (impl AsyncBufReadExt + Unpin), most: usize) -> Line {
    let mut text = Vec::new();
    loop {
        let Ok(some) = from.fill_buf().await else { return Line::End };
        if some.is_empty() {
            return if text.is_empty() { Line::End } else { Line::Text(text) };
        }
        let end = some.iter().position(|byte| *byte == b'\n');
        let count = end.unwrap_or(some.len());
        let is_long = text.len() + count > most;
        if !is_long {
            text.extend_from_slice(&some[..count]);
        }
        from.consume(count + usize::from(end.is_some()));
        match (is_long, end) {
            (true, _) => return Line::TooLong,
            (false, Some(_)) => return Line::Text(text),
            (false, None) => {}
        }
    }
}

fn told_of(reply: &Map<String, Value>) -> String {
    cut(&Value::Object(reply.clone()).to_string())
}

fn cut(text: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control()).take(TOLD_MAX).collect();
    if clean.len() < text.len() { format!("{clean}..") } else { clean }
}
