//! systemd units: services, and the timers that start them.
//!
//! A service is a workload: `oneshot` runs once, the others as their `Restart` says. A timer turns its
//! service into a scheduled workload. Units that are read together know each other: what a service
//! requires or comes after becomes `depends`. Everything that systemd does to confine a service, and
//! every unit that is neither service nor timer, is lost and said.

mod calendar;
mod exec;
mod lost;
mod service;
mod settings;
mod timer;
mod unit;

use std::collections::BTreeMap;

use hostler_model::{Dependency, DependencyCondition, Mode, Name};

use crate::plan::{Draft, Plan, Source, Unreadable};
use service::Reading;
use unit::Unit;

pub fn systemd(sources: &[Source<'_>]) -> Result<Plan, Unreadable> {
    let mut draft = Draft::new(sources);
    let mut units = unit::read_all(sources)?;
    for unit in &mut units {
        fill_in(unit, &mut draft);
    }
    for unit in units.iter().filter(|unit| unit.settings.is_empty()) {
        draft.lost(unit.place, &unit.name, "it is empty or masked, so there is nothing to run");
    }
    units.retain(|unit| !unit.settings.is_empty());
    let services: Vec<&Unit<'_>> = units.iter().filter(|unit| unit.kind() == "service").collect();
    let timers: Vec<&Unit<'_>> = units.iter().filter(|unit| unit.kind() == "timer").collect();
    for unit in units.iter().filter(|unit| !matches!(unit.kind(), "service" | "timer")) {
        draft.lost(unit.place, &unit.name, lost::of_kind(unit.kind()));
    }
    let names: BTreeMap<&str, Name> =
        services.iter().map(|unit| (unit.name.as_str(), draft.name(unit.stem()))).collect();
    for timer in &timers {
        if !names.contains_key(timer::target(timer).as_str()) {
            draft.lost(
                timer.place,
                &timer.name,
                format!(
                    "`{}`, which it starts, is not among these files; give it too",
                    timer::target(timer)
                ),
            );
        }
    }
    let depends = dependencies(&services, &names, &mut draft);
    for unit in services {
        let name = names[unit.name.as_str()].clone();
        let mut reading = Reading::new(unit, &name, &mut draft);
        reading.service()?;
        reading.spec.depends = depends.get(unit.name.as_str()).cloned().unwrap_or_default();
        let mut modes = Vec::new();
        for timer in timers.iter().filter(|timer| timer::target(timer) == unit.name) {
            modes.extend(timer::modes(timer, &mut reading));
        }
        let mut spec = reading.spec;
        let mut modes = modes.into_iter();
        if let Some((mode, restart)) = modes.next() {
            spec.mode = mode;
            spec.restart = restart.unwrap_or(spec.restart);
        }
        let further: Vec<_> = modes.map(|(mode, _)| mode).collect();
        draft.push(unit.place, name.clone(), spec.clone());
        for mode in further {
            let copy = draft.name(name.as_str());
            draft.changed(
                unit.place,
                copy.as_str(),
                format!("a workload has one time; this is `{name}` at another of its times"),
            );
            draft.push(unit.place, copy, hostler_model::WorkloadSpec { mode, ..spec.clone() });
        }
    }
    Ok(draft.finish())
}

fn fill_in(unit: &mut Unit<'_>, draft: &mut Draft) {
    let known = unit.clone();
    for setting in &mut unit.settings {
        let mut unknown = Vec::new();
        setting.value = exec::specifiers(&setting.value, &known, &mut unknown);
        if !unknown.is_empty() && settings::is_service(&setting.key) {
            unknown.dedup();
            draft.lost(
                setting.place,
                format!("{}.{}", known.stem(), setting.key),
                format!(
                    "{} is not known here and stays as it is; write its value",
                    unknown.join(", ")
                ),
            );
        }
    }
}

const BEFORE_THIS: &[&str] = &["After", "Requires", "Requisite", "BindsTo", "Wants", "PartOf"];

/// What each service waits for, as far as it is among these units.
fn dependencies<'u>(
    services: &[&'u Unit<'_>],
    names: &BTreeMap<&str, Name>,
    draft: &mut Draft,
) -> BTreeMap<&'u str, Vec<Dependency>> {
    let mut pairs: Vec<(&'u str, String)> = Vec::new();
    for unit in services {
        let mut outside = Vec::new();
        for setting in unit.settings.iter().filter(|setting| setting.section == "Unit") {
            let is_before = setting.key == "Before";
            if !is_before && !BEFORE_THIS.contains(&setting.key.as_str()) {
                continue;
            }
            for other in setting.value.split_whitespace() {
                let known = services.iter().find(|known| known.name == other);
                match known {
                    Some(known) if is_before => pairs.push((&known.name, unit.name.clone())),
                    Some(_) => pairs.push((&unit.name, other.to_owned())),
                    None if !outside.contains(&other) => {
                        outside.push(other);
                    }
                    None => {}
                }
            }
        }
        if !outside.is_empty() {
            let line = unit
                .settings
                .iter()
                .find(|s| s.section == "Unit" && outside.iter().any(|o| s.value.contains(o)));
            let place = line.map_or(unit.place, |setting| setting.place);
            draft.lost(
                place,
                format!("{}.depends", names[unit.name.as_str()]),
                format!(
                    "{}: units that are not among these files cannot be waited for; the \
                     agent itself starts with the machine",
                    outside.join(", ")
                ),
            );
        }
    }
    let mut found: BTreeMap<&str, Vec<Dependency>> = BTreeMap::new();
    for (unit, other) in pairs {
        let Some(target) = services.iter().find(|known| known.name == other && known.name != unit)
        else {
            continue;
        };
        let condition = if target.text("Service", "Type") == Some("oneshot") {
            DependencyCondition::Completed
        } else {
            DependencyCondition::Started
        };
        let workload = names[target.name.as_str()].clone();
        let list = found.entry(unit).or_default();
        if !list.iter().any(|known| known.workload == workload) {
            list.push(Dependency { workload, condition });
        }
    }
    found
}

/// Modes of a timer come with a restart policy where the mode needs one.
type TimerMode = (Mode, Option<hostler_model::RestartPolicy>);
