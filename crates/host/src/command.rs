//! A program that makes something so, and one that says whether it is.
//!
//! What programs do is known to nobody, so a command has a *check*: a program that ends with 0 when everything is as the
//! command would make it. Then nothing is done. What a command did can be undone by a third program; without one, removing
//! does nothing.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::outcome::Change;
use crate::plan::{Plan, Primitive};
use crate::{Host, HostError};

const TIMEOUT_MAX: u64 = 3600;

/// See the module. Every program is a list of its name and its arguments, and is run without a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    pub command: Vec<String>,
    /// Ends with 0 when nothing is left to do.
    pub check: Vec<String>,
    #[serde(default)]
    pub undo: Vec<String>,
    /// Seconds that each of them may take.
    #[serde(default = "a_minute")]
    pub timeout: u64,
}

const fn a_minute() -> u64 {
    60
}

impl Command {
    fn call(&self, what: &'static str, argv: &[String]) -> Result<Call, HostError> {
        let Some((program, args)) = argv.split_first().filter(|(program, _)| !program.is_empty())
        else {
            return Err(HostError::invalid(what, "", "name a program and its arguments"));
        };
        if argv.iter().any(|word| word.contains('\0')) {
            return Err(HostError::invalid(what, program, "an argument has a NUL character"));
        }
        let timeout = Duration::from_secs(self.timeout.clamp(1, TIMEOUT_MAX));
        Ok(Call::new(program).args(args).timeout(timeout))
    }

    async fn is_so(&self, host: &Host) -> Result<bool, HostError> {
        Ok(host.attempt(self.call("the check", &self.check)?).await?.is_success())
    }
}

impl Primitive for Command {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let call = self.call("the command", &self.command)?;
        let name = call.program.clone();
        if self.is_so(host).await? {
            return Ok(Plan::new(format!("{name} has nothing to do")));
        }
        let plan = Plan::new(format!("{name} is run"));
        Ok(plan.change(Change::added(format!("command {name}"), "done")).run(call))
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        if self.undo.is_empty() {
            return Ok(Plan::new("nothing says how it is undone"));
        }
        let call = self.call("the undoing", &self.undo)?;
        let name = call.program.clone();
        if !self.is_so(host).await? {
            return Ok(Plan::new(format!("{name} has nothing to undo")));
        }
        let plan = Plan::new(format!("{name} is run"));
        Ok(plan.change(Change::removed(format!("command {name}"), "done")).run(call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn a_command_is_run_until_its_check_is_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made");
        let path = path.to_str().unwrap();
        let command = Command {
            command: words(&format!("touch {path}")),
            check: words(&format!("test -e {path}")),
            undo: words(&format!("rm {path}")),
            timeout: 10,
        };
        let host = Host::local();
        assert!(command.check(&host).await.unwrap().changed);
        assert!(!command.check_remove(&host).await.unwrap().changed);
        assert!(command.apply(&host).await.unwrap().changed);
        assert!(!command.apply(&host).await.unwrap().changed, "once is enough");
        let kept = Command { undo: Vec::new(), ..command.clone() };
        assert!(!kept.remove(&host).await.unwrap().changed);
        assert!(command.remove(&host).await.unwrap().changed);
        assert!(!std::path::Path::new(path).exists());
    }

    #[tokio::test]
    async fn a_command_that_is_none_is_refused() {
        let base =
            Command { command: words("true"), check: words("false"), undo: vec![], timeout: 1 };
        let cases = [
            Command { command: vec![], ..base.clone() },
            Command { check: vec![String::new()], ..base.clone() },
            Command { command: vec!["a\0b".to_owned()], ..base.clone() },
        ];
        for wrong in cases {
            assert!(matches!(wrong.apply(&Host::local()).await, Err(HostError::Invalid { .. })));
        }
    }
}
