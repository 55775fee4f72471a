//! `[stacks]`: what speaks with stacks besides the API, each on an address of its own.

use std::net::SocketAddr;

use hostler_control::StackConfig;
use hostler_model::Span;
use serde::Deserialize;

use super::{ConfigError, Kind, Setting};

settings! {
    /// What speaks with stacks besides the API.
    StacksSection STACKS_SETTINGS {
        /// The API that clients of OpenStack Heat speak, with what they need of Keystone to log in.
        heat: HeatSection = HeatSection::default(), Kind::Section(HEAT_SETTINGS), "";
        /// Where resources of stacks are signalled from outside: wait conditions, policies of groups, alarms.
        signal: SignalSection = SignalSection::default(), Kind::Section(SIGNAL_SETTINGS), "";
    }
}

settings! {
    /// The API that clients of OpenStack Heat speak.
    HeatSection HEAT_SETTINGS {
        /// Serve it.
        enabled: bool = false, Kind::Flag, "false";
        /// Address and port that it is served at.
        listen: SocketAddr = SocketAddr::from(([0, 0, 0, 0], 8004)), Kind::Text, "0.0.0.0:8004";
        /// Serve it without TLS; only at a loopback address.
        plain: bool = false, Kind::Flag, "false";
    }
}

settings! {
    /// Where resources of stacks are signalled from outside.
    SignalSection SIGNAL_SETTINGS {
        /// Take signals.
        enabled: bool = false, Kind::Flag, "false";
        /// Address and port that they are taken at.
        listen: SocketAddr = SocketAddr::from(([0, 0, 0, 0], 8000)), Kind::Text, "0.0.0.0:8000";
        /// Take them without TLS; only at a loopback address.
        plain: bool = false, Kind::Flag, "false";
        /// What addresses of signals begin with, such as `https://hostler.example.org:8000`, where that is not this server.
        address: Option<String> = None, Kind::Text, "the first of `advertise`, and the port of `listen`";
        /// How long an address of a signal is good that is not one for as long as its resource is there.
        ttl: Span = Span::from_secs(365 * 86_400), Kind::Text, "365d";
    }
}

impl StacksSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |setting, problem: &str| {
            Err(ConfigError::Setting { setting, problem: problem.to_owned() })
        };
        let plain = "whoever listens on the way would read what opens everything; listen at a loopback address, or leave it out";
        if self.heat.plain && !self.heat.listen.ip().is_loopback() {
            return wrong("stacks.heat.plain", plain);
        }
        if self.signal.plain && !self.signal.listen.ip().is_loopback() {
            return wrong("stacks.signal.plain", plain);
        }
        if let Some(address) = &self.signal.address {
            let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
            let is_plain = |c: char| c.is_ascii_graphic() && !"?#\\\"<>@".contains(c);
            if !rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_plain)) {
                return wrong(
                    "stacks.signal.address",
                    "write an address such as https://host:8000",
                );
            }
        }
        if !(Span::from_secs(60)..=Span::from_secs(3650 * 86_400)).contains(&self.signal.ttl) {
            return wrong("stacks.signal.ttl", "it is 1m to 3650d");
        }
        Ok(())
    }

    /// What was checked, for the application. `reached` is the `host:port` where signals are taken.
    pub(super) fn control(&self, reached: &str) -> StackConfig {
        let signal = &self.signal;
        let scheme = if signal.plain { "http" } else { "https" };
        let own = signal.enabled.then(|| format!("{scheme}://{reached}"));
        StackConfig {
            address: signal.address.clone().or(own).unwrap_or_default(),
            signal_ttl: signal.ttl.duration(),
        }
    }
}

impl super::ServerConfig {
    /// How resources of stacks are signalled from outside, with signals taken at `bound`.
    pub fn stacks(&self, bound: SocketAddr) -> StackConfig {
        self.stacks.control(&self.advertised(bound))
    }
}
