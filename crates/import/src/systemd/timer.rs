//! `[Timer]`: when a service runs.

use hostler_model::{CatchUp, Mode, RestartOn, RestartPolicy, Schedule, Span};

use super::TimerMode;
use super::calendar;
use super::service::Reading;
use super::unit::{Setting, Unit};
use crate::quantities::systemd_span;

/// The unit that a timer starts.
pub fn target(timer: &Unit<'_>) -> String {
    match timer.text("Timer", "Unit") {
        Some(unit) => unit.to_owned(),
        None => format!("{}.service", timer.stem()),
    }
}

/// One mode for each of its times. Remarks go to the service's reading.
pub fn modes(timer: &Unit<'_>, reading: &mut Reading<'_, '_>) -> Vec<TimerMode> {
    let span = |key: &str| timer.text("Timer", key).and_then(systemd_span);
    let jitter = span("RandomizedDelaySec").unwrap_or_default();
    let catch_up = if timer.is_true("Timer", "Persistent") { CatchUp::One } else { CatchUp::None };
    let scheduled = |cron: String, timezone: Option<String>| {
        let timezone = timezone.unwrap_or_else(|| "local".to_owned());
        Mode::Schedule(Schedule { timezone, jitter, catch_up, ..Schedule::new(cron) })
    };
    let mut modes: Vec<TimerMode> = Vec::new();
    for setting in timer.all("Timer", "OnCalendar") {
        match calendar::read(&setting.value) {
            Ok(calendar) => modes.push((scheduled(calendar.cron, calendar.timezone), None)),
            Err(why) => reading.lost(setting, format!("`{}`: {why}", setting.value)),
        }
    }
    for key in ["OnUnitActiveSec", "OnUnitInactiveSec"] {
        let Some(setting) = timer.last("Timer", key) else { continue };
        let Some(every) = systemd_span(&setting.value).filter(|every| !every.is_zero()) else {
            reading.lost(setting, format!("`{}` is not a length of time", setting.value));
            continue;
        };
        if !modes.is_empty() {
            reading.lost(setting, "it runs at the times of OnCalendar only");
            continue;
        }
        match on_the_clock(every).filter(|_| key == "OnUnitActiveSec") {
            Some(cron) => {
                reading.changed(
                    setting,
                    format!("every {every} on the clock, not counted from the last start"),
                );
                modes.push((scheduled(cron, None), None));
            }
            None => {
                reading.changed(setting, format!("it runs again {every} after it has ended"));
                modes.push((Mode::Forever, Some(again_after(every))));
            }
        }
    }
    for key in ["OnBootSec", "OnStartupSec", "OnActiveSec"] {
        let Some(setting) = timer.last("Timer", key) else { continue };
        if modes.is_empty() {
            reading.changed(
                setting,
                "it runs once, at once; nothing counts from the start of the machine",
            );
            modes.push((Mode::Once, None));
        } else {
            reading.note(
                setting,
                "nothing counts from the start of the machine; its other times remain",
            );
        }
    }
    rest(timer, reading);
    modes
}

fn rest(timer: &Unit<'_>, reading: &mut Reading<'_, '_>) {
    for setting in timer.settings.iter().filter(|setting| setting.section == "Timer") {
        let is_on = |setting: &Setting<'_>| super::unit::is_true(&setting.value);
        match setting.key.as_str() {
            "WakeSystem" | "OnClockChange" | "OnTimezoneChange" if is_on(setting) => {
                reading.lost(setting, "it has no equivalent");
            }
            "DeferReactivation" if is_on(setting) => {
                reading.note(setting, "a time that comes while it still runs is left out anyway");
            }
            "RandomizedDelaySec" if systemd_span(&setting.value).is_none() => {
                reading.lost(setting, format!("`{}` is not a length of time", setting.value));
            }
            "RandomizedOffsetSec" => reading.lost(setting, "there is `jitter` only"),
            _ => {}
        }
    }
}

fn again_after(every: Span) -> RestartPolicy {
    RestartPolicy {
        on: Some(RestartOn::Always),
        delay: every,
        max_delay: every,
        factor: 1,
        jitter: 0,
        ..RestartPolicy::default()
    }
}

/// The cron expression that fires in this rhythm, where one does.
fn on_the_clock(every: Span) -> Option<String> {
    let seconds = every.millis() / 1000;
    if !every.millis().is_multiple_of(1000) {
        return None;
    }
    let step = |n: u64| if n == 1 { "*".to_owned() } else { format!("*/{n}") };
    match seconds {
        1..60 if 60 % seconds == 0 => Some(format!("{} * * * * *", step(seconds))),
        60..3_600 if seconds.is_multiple_of(60) && 60 % (seconds / 60) == 0 => {
            Some(format!("{} * * * *", step(seconds / 60)))
        }
        3_600..86_400 if seconds.is_multiple_of(3_600) && 24 % (seconds / 3_600) == 0 => {
            Some(format!("0 {} * * *", step(seconds / 3_600)))
        }
        86_400 => Some("0 0 * * *".to_owned()),
        604_800 => Some("0 0 * * 1".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rhythms_that_fit_the_clock_are_cron() {
        for (seconds, expected) in [
            (30, Some("*/30 * * * * *")),
            (60, Some("* * * * *")),
            (900, Some("*/15 * * * *")),
            (7_200, Some("0 */2 * * *")),
            (86_400, Some("0 0 * * *")),
            (420, None),
            (18_000, None),
        ] {
            assert_eq!(on_the_clock(Span::from_secs(seconds)).as_deref(), expected, "{seconds}");
        }
    }
}
