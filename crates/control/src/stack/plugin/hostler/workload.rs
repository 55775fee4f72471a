//! `Hostler::Workload` and `Hostler::Container`: what the agents keep running.
//!
//! The properties are those of a workload file. A workload is made when it is applied, and its deed is over when it runs where
//! it is to run, and is healthy if somebody asks after its health. Removing stops it first.

use hostler_model::{Desired, Error, Health, Name, Permission, Phase, Runtime, WorkloadSpec};
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};

use super::super::read::Read;
use super::super::{Ctx, Given};
use super::hand::{Hand, name_of, named};
use super::noun::{Found, Naming, Noun, Standing};
use super::{present, since, spec};
use crate::{PlacementDetail, WorkloadDetail};

/// Properties that are not of the document.
const LEAVE: [&str; 1] = ["name"];
/// What tasks have and workloads do not.
const OF_TASKS: [&str; 4] = ["inputs", "outputs", "queue", "python"];
const NAMED: &str = "What it is called; a name of its own when nothing is said.";

pub(super) struct Workload {
    runtime: Option<Runtime>,
}

impl Workload {
    pub(super) fn any() -> Workload {
        Workload { runtime: None }
    }

    pub(super) fn container() -> Workload {
        Workload { runtime: Some(Runtime::Container) }
    }

    fn spec(&self, properties: &Map<String, Value>) -> Result<WorkloadSpec, Error> {
        let mut spec: WorkloadSpec = spec::read(properties, &LEAVE)?;
        if let Some(runtime) = self.runtime {
            spec.runtime = runtime;
        }
        Ok(spec)
    }

    fn found(&self, detail: &WorkloadDetail) -> Found {
        let service = &detail.service;
        let nodes: Vec<Value> = there(detail).map(|one| json!(one.node)).collect();
        Found {
            standing: standing(detail),
            is_paused: service.desired == Desired::Stop && there(detail).all(is_still),
            live: spec::live(&service.spec, &self.schema(), &LEAVE),
            ..Found::new(service.id.to_string())
        }
        .attribute("name", service.name.as_str())
        .attribute("nodes", nodes)
        .attribute("phase", phase(detail))
    }
}

/// Where it is to be.
fn there(detail: &WorkloadDetail) -> impl Iterator<Item = &PlacementDetail> {
    detail.placements.iter().filter(|one| one.placement.desired != Desired::Remove)
}

fn is_still(one: &PlacementDetail) -> bool {
    let status = one.placement.status.as_ref();
    status.is_none_or(|status| Phase::SETTLED.contains(&status.phase))
}

/// One word for all places: `running`, or `mixed` where they differ.
fn phase(detail: &WorkloadDetail) -> String {
    let told = |one: &PlacementDetail| one.placement.status.as_ref().map(|it| it.phase);
    let mut phases: Vec<_> = there(detail).filter_map(told).collect();
    phases.dedup();
    match phases.as_slice() {
        [] => "waiting".to_owned(),
        [one] => one.to_string(),
        _ => "mixed".to_owned(),
    }
}

fn standing(detail: &WorkloadDetail) -> Standing {
    let service = &detail.service;
    let rules = &service.spec.placement;
    let least = if rules.every { 0 } else { rules.count.unwrap_or(1) };
    let (mut ready, mut is_going) = (0, false);
    for one in there(detail) {
        let status = one.placement.status.as_ref();
        let Some(status) = status.filter(|status| status.revision == service.revision) else {
            is_going = true;
            continue;
        };
        let is_healthy = match status.health {
            Some(health) => health == Health::Healthy,
            None => service.spec.health.is_empty(),
        };
        match status.phase {
            Phase::Running if is_healthy => ready += 1,
            Phase::Completed | Phase::Idle => ready += 1,
            Phase::Failed => {
                let why = status.reason.as_deref().unwrap_or("it has failed");
                return Standing::Broken(format!("on {}: {why}", one.node));
            }
            _ => is_going = true,
        }
    }
    match service.desired {
        Desired::Run if !is_going && ready >= least => Standing::Ready,
        Desired::Run => Standing::Going,
        Desired::Stop | Desired::Pause if there(detail).all(is_still) => Standing::Ready,
        Desired::Stop | Desired::Pause | Desired::Remove => Standing::Going,
    }
}

impl Noun for Workload {
    fn schema(&self) -> ResourceSchema {
        let (name, about) = match self.runtime {
            None => (
                "Hostler::Workload",
                "Something that nodes keep running: the properties are those of a workload file. It is there when it runs where \
                 it is to run, and is healthy where its health is asked after; removing stops it first.",
            ),
            Some(_) => (
                "Hostler::Container",
                "A workload in a container of its node's engine: `container` says which image, and what of it.",
            ),
        };
        let base = since(name, about).property("name", PropertySchema::string(NAMED));
        let schema = spec::with_fields::<WorkloadSpec>(base, |name, it| match name {
            "runtime" if self.runtime.is_some() => None,
            name if OF_TASKS.contains(&name) => None,
            "mode" => Some(it.default("forever")),
            "container" if self.runtime.is_some() => Some(it.required()),
            _ => Some(it),
        });
        schema
            .attribute("name", AttributeSchema::new("What it is called.").of(Kind::String))
            .attribute("nodes", AttributeSchema::new("The nodes that it is on.").of(Kind::List))
            .attribute(
                "phase",
                AttributeSchema::new("How it stands there: `running`, `stopped`, …, or `mixed`.")
                    .of(Kind::String),
            )
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        match ctx.wanted.properties.text("name").filter(|name| !name.is_empty()) {
            Some(name) => Naming::Given(name.to_owned()),
            None => Naming::Own(name_of(&ctx.seen).to_string()),
        }
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::WorkloadRead)?;
        let found = hand.control.workload_get(&hand.plain(), &hand.project, at).await;
        Ok(present(found)?.map(|detail| self.found(&detail)))
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        hand.need(Permission::WorkloadApply)?;
        let (name, spec): (Name, _) = (named(name)?, self.spec(&hand.ctx.wanted.properties)?);
        let cx = hand.cx("apply");
        let made = hand.control.workload_apply(&cx, &hand.project, &name, &spec, None).await?;
        Ok(made.0.service.id.to_string())
    }

    async fn change(&self, hand: &Hand<'_>, at: &str, _: &[String]) -> Result<(), Error> {
        hand.need(Permission::WorkloadApply)?;
        let spec = self.spec(&hand.ctx.wanted.properties)?;
        let known = hand.control.workload_get(&hand.plain(), &hand.project, at).await?.service;
        let cx = hand.cx("apply");
        hand.control.workload_apply(&cx, &hand.project, &known.name, &spec, None).await?;
        if known.desired == Desired::Stop {
            hand.need(Permission::WorkloadStart)?;
            hand.control.workload_start(&hand.cx("start"), &hand.project, at).await?;
        }
        Ok(())
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::WorkloadRemove)?;
        let cx = hand.cx("remove");
        hand.control.workload_remove(&cx, &hand.project, at, None).await?;
        Ok(())
    }

    fn normal(&self, properties: &Map<String, Value>) -> Map<String, Value> {
        match self.spec(properties) {
            Ok(spec) => spec::fields(&spec),
            Err(_) => properties.clone(),
        }
    }

    fn problems(&self, given: &Given<'_>) -> Vec<String> {
        spec::problems::<WorkloadSpec>(given.properties, &LEAVE)
    }

    fn pauses(&self) -> bool {
        true
    }

    async fn pause(&self, hand: &Hand<'_>, at: &str, is_paused: bool) -> Result<(), Error> {
        if is_paused {
            hand.need(Permission::WorkloadStop)?;
            hand.control.workload_stop(&hand.cx("stop"), &hand.project, at).await?;
        } else {
            hand.need(Permission::WorkloadStart)?;
            hand.control.workload_start(&hand.cx("start"), &hand.project, at).await?;
        }
        Ok(())
    }
}
