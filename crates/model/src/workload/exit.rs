//! How a run ended.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

crate::labels! {
    /// Why a run is over.
    pub enum ExitReason ("exit reason") {
        /// The program ended by itself, with a code or by a signal nobody here sent.
        Exited = "exited",
        /// It was asked to stop.
        Stopped = "stopped",
        /// It ran longer than its timeout.
        TimedOut = "timed-out",
        /// The kernel killed it for memory.
        OutOfMemory = "out-of-memory",
        /// Its health checks failed, so it was stopped.
        Unhealthy = "unhealthy",
        /// It could not be started; `message` says why.
        StartFailed = "start-failed",
        /// It was given up before it ran; `message` says why.
        GivenUp = "given-up",
        /// The node rebooted, or its supervisor died with it: the true status cannot be known.
        Vanished = "vanished",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Exit {
    pub reason: ExitReason,
    /// Exit code, when the program returned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// Signal number, when a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub time: Timestamp,
}

impl Exit {
    pub fn is_success(&self) -> bool {
        self.reason == ExitReason::Exited && self.code == Some(0)
    }

    /// What a shell would show: the code, 128 + signal, or 1 where there is neither.
    pub fn shell_code(&self) -> u8 {
        let number = match (self.code, self.signal) {
            (Some(code), _) => code,
            (None, Some(signal)) => 128 + signal,
            (None, None) => 1,
        };
        u8::try_from(number & 0xff).unwrap_or(1)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let status = match (self.code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => String::new(),
        };
        let reason = match self.reason {
            ExitReason::Exited => "",
            ExitReason::Stopped => "stopped on request",
            ExitReason::TimedOut => "timed out",
            ExitReason::OutOfMemory => "out of memory",
            ExitReason::Unhealthy => "unhealthy",
            ExitReason::StartFailed => "could not be started",
            ExitReason::GivenUp => "given up",
            ExitReason::Vanished => "vanished with its node or supervisor",
        };
        let parts = [reason, &status, self.message.as_deref().unwrap_or_default()];
        f.write_str(&parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(": "))
    }
}
