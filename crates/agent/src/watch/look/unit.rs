//! Units of systemd.

use std::time::Duration;

use hostler_engine::watch::{Seen, UnitState};
use hostler_host::call::Call;
use hostler_host::{Host, service};

const TIMEOUT: Duration = Duration::from_secs(20);

/// Nothing while it is on its way from one state to another.
pub(super) async fn state(host: &Host, unit: &str) -> Result<Option<Seen>, String> {
    let told = |error: hostler_host::HostError| hostler_base::chain(&error).to_string();
    service::require_systemd(host).map_err(told)?;
    let call = Call::new("systemctl")
        .args(["show", "--property=LoadState,ActiveState,SubState", "--", unit])
        .timeout(TIMEOUT);
    let shown = host.run(call).await.map_err(told)?.text();
    read(unit, &shown).map(|state| state.map(Seen::Unit))
}

fn read(unit: &str, shown: &str) -> Result<Option<UnitState>, String> {
    let value = |name: &str| {
        let mut lines = shown.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default()
    };
    if value("LoadState") == "not-found" {
        return Err(format!("there is no unit {unit}"));
    }
    Ok(match (value("ActiveState"), value("SubState")) {
        ("active" | "reloading" | "refreshing", _) => Some(UnitState::Running),
        ("inactive", _) => Some(UnitState::Stopped),
        // It has failed, and is begun again after a while.
        ("failed", _) | ("activating", "auto-restart") => Some(UnitState::Failed),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_systemd_shows_is_read() {
        let shown = |active: &str, sub: &str| {
            read("a", &format!("LoadState=loaded\nActiveState={active}\nSubState={sub}\n"))
        };
        assert_eq!(shown("active", "exited"), Ok(Some(UnitState::Running)));
        assert_eq!(shown("inactive", "dead"), Ok(Some(UnitState::Stopped)));
        assert_eq!(shown("failed", "failed"), Ok(Some(UnitState::Failed)));
        assert_eq!(shown("activating", "auto-restart"), Ok(Some(UnitState::Failed)));
        assert_eq!(shown("activating", "start"), Ok(None));
        assert_eq!(shown("deactivating", "stop-sigterm"), Ok(None));
        assert!(read("a", "LoadState=not-found\nActiveState=inactive\n").is_err());
    }
}
