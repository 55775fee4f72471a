//! Talking with the person: data to stdout, talk to stderr, questions only where somebody can answer.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use hostler_trust::SecretString;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};

use crate::args::Globals;
use crate::environment::{Environment, Streams};
use crate::failure::Failure;
use crate::output::{Format, Tame, lines};

pub struct Ui {
    streams: Streams,
    format: Option<Format>,
    is_quiet: bool,
    is_out_colored: bool,
    is_err_colored: bool,
    may_ask: bool,
    is_yes: bool,
    /// Where output of tasks on stdout and stderr stands, for terminals.
    tame: RefCell<[Tame; 2]>,
}

impl Ui {
    pub fn new(streams: Streams, globals: &Globals, environment: &Environment) -> Ui {
        let colored = |is_terminal: bool| {
            let is_off = globals.no_color || environment.has_no_color;
            !is_off && (is_terminal || environment.has_forced_color)
        };
        Ui {
            format: globals.output.clone(),
            is_quiet: globals.quiet,
            is_out_colored: colored(streams.is_out_terminal),
            is_err_colored: colored(streams.is_err_terminal),
            may_ask: streams.is_input_terminal && !globals.no_input,
            is_yes: globals.yes,
            tame: RefCell::default(),
            streams,
        }
    }

    /// The format that was asked for, if any.
    pub fn format(&self) -> Option<&Format> {
        self.format.as_ref()
    }

    pub fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    pub fn is_out_colored(&self) -> bool {
        self.is_out_colored
    }

    /// Columns of the terminal that tables are shown on.
    pub fn width(&self) -> Option<usize> {
        if !self.streams.is_out_terminal {
            return None;
        }
        let size = tcgetwinsize(std::io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns >= 40)
    }

    /// Data.
    pub fn data(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = self.streams.out.borrow_mut();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(())
    }

    pub fn line(&self, text: &str) -> Result<(), Failure> {
        self.data(format!("{text}\n").as_bytes())
    }

    /// What a task wrote to stdout: as it is, but on a terminal tamed.
    pub fn task_data(&self, bytes: &[u8]) -> Result<(), Failure> {
        if self.streams.is_out_terminal {
            let tamed = self.tame.borrow_mut()[0].piece(bytes);
            return self.data(&tamed);
        }
        self.data(bytes)
    }

    /// What a task wrote to stderr: as it is, but on a terminal tamed.
    pub fn task_error_data(&self, bytes: &[u8]) -> Result<(), Failure> {
        if self.streams.is_err_terminal {
            let tamed = self.tame.borrow_mut()[1].piece(bytes);
            return self.error_data(&tamed);
        }
        self.error_data(bytes)
    }

    fn error_data(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut err = self.streams.err.borrow_mut();
        err.write_all(bytes)?;
        err.flush()?;
        Ok(())
    }

    /// Talk; dropped with `--quiet`, and where nobody listens.
    pub fn say(&self, text: &str) {
        if !self.is_quiet {
            self.tell(&lines(text));
        }
    }

    /// Talk without which nobody could go on; said with `--quiet` too.
    pub fn instruct(&self, text: &str) {
        self.tell(&lines(text));
    }

    /// Talk that matters even with `--quiet`.
    pub fn warn(&self, text: &str) {
        let mark = if self.is_err_colored { "\x1b[1;33mwarning:\x1b[0m" } else { "warning:" };
        self.tell(&format!("{mark} {}", lines(text)));
    }

    pub fn fail(&self, failure: &Failure) {
        self.tell(failure.render(self.is_err_colored).trim_end());
    }

    fn tell(&self, text: &str) {
        if !text.is_empty() {
            let line = format!("{text}\n");
            let _nobody_listens = self.streams.err.borrow_mut().write_all(line.as_bytes());
        }
    }

    /// Asks before something that cannot be undone. `--yes` answers; without anybody to ask it fails.
    pub fn confirm(&self, question: &str) -> Result<(), Failure> {
        if self.is_yes {
            return Ok(());
        }
        if !self.may_ask {
            return Err(Failure::usage(
                format!("{question} Nobody can be asked"),
                "say --yes if you are sure",
            ));
        }
        let answer = self.ask(&format!("{question} [y/N] "))?;
        if matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes") {
            Ok(())
        } else {
            Err(Failure::told(crate::exit::Code::Failure, "nothing was done", ""))
        }
    }

    pub fn may_ask(&self) -> bool {
        self.may_ask
    }

    /// Asks for a line; only where [`may_ask`](Ui::may_ask).
    pub fn ask(&self, prompt: &str) -> Result<String, Failure> {
        {
            let mut err = self.streams.err.borrow_mut();
            write!(err, "{}", lines(prompt))?;
            err.flush()?;
        }
        Ok(self.input_line()?.trim().to_owned())
    }

    /// Asks without showing what is typed.
    pub fn ask_secret(&self, prompt: &str) -> Result<SecretString, Failure> {
        let hidden = Hidden::begin()?;
        let answer = self.ask(prompt);
        drop(hidden);
        let _nobody_listens = writeln!(self.streams.err.borrow_mut());
        Ok(SecretString::new(answer?))
    }

    /// The next line of stdin, without its end.
    pub fn input_line(&self) -> Result<String, Failure> {
        let mut line = String::new();
        self.streams.input.borrow_mut().read_line(&mut line)?;
        Ok(line.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Everything on stdin, whatever it is.
    pub fn input_bytes(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        self.streams.input.borrow_mut().read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    pub fn input_all(&self) -> Result<String, Failure> {
        let mut text = String::new();
        self.streams.input.borrow_mut().read_to_string(&mut text)?;
        Ok(text)
    }

    /// Something that turns while we wait, on a terminal; nothing elsewhere.
    pub fn spinner(&self, message: impl Into<Cow<'static, str>>) -> Spinner {
        if self.is_quiet || !self.streams.is_err_terminal {
            return Spinner(None);
        }
        let bar = ProgressBar::new_spinner().with_message(message);
        bar.enable_steady_tick(Duration::from_millis(120));
        Spinner(Some(bar))
    }

    /// Lines that are drawn anew while we wait, as somebody says them each time; on a terminal, nothing elsewhere.
    pub fn board(&self, lines: impl Fn() -> String + Clone + Send + Sync + 'static) -> Spinner {
        if self.is_quiet || !self.streams.is_err_terminal {
            return Spinner(None);
        }
        let style = ProgressStyle::with_template("{lines}")
            .expect("the template is well formed")
            .with_key("lines", move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _nobody_listens = out.write_str(&lines());
            });
        let bar = ProgressBar::new_spinner().with_style(style);
        bar.enable_steady_tick(Duration::from_millis(120));
        Spinner(Some(bar))
    }

    /// Something that grows while many things end, on a terminal; nothing elsewhere.
    pub fn bar(&self) -> Bar {
        if self.is_quiet || !self.streams.is_err_terminal {
            return Bar(None);
        }
        let style = ProgressStyle::with_template("{bar:32} {percent:>3}% {msg}")
            .expect("the template is well formed")
            .progress_chars("=> ");
        Bar(Some(ProgressBar::new(0).with_style(style)))
    }
}

/// Cleared when dropped.
pub struct Bar(Option<ProgressBar>);

impl Bar {
    pub fn show(&self, all: u64, done: u64, message: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(format!("{done}/{all}  {message}"));
            bar.set_length(all);
            bar.set_position(done);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Cleared when dropped.
pub struct Spinner(Option<ProgressBar>);

impl Spinner {
    /// One that never shows.
    pub fn none() -> Spinner {
        Spinner(None)
    }

    /// Says something that is not to be overwritten.
    pub fn aside(&self, say: impl FnOnce()) {
        match &self.0 {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    pub fn message(&self, message: impl Into<Cow<'static, str>>) {
        if let Some(bar) = &self.0 {
            bar.set_message(message);
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// The terminal shows nothing of what is typed until this is dropped.
struct Hidden(rustix::termios::Termios);

impl Hidden {
    fn begin() -> Result<Hidden, Failure> {
        let before = tcgetattr(std::io::stdin()).context("read the terminal's settings")?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &hidden)
            .context("hide what is typed")?;
        Ok(Hidden(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _best_effort = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.0);
    }
}
