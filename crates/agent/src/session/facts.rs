//! What the server is told of the machine: with every hello, and again when a device of it fails or works
//! again, or when a container engine answers where none did (at boot, agents are often the first).

use std::pin::Pin;
use std::time::Duration;

use hostler_model::Facts;
use hostler_proto::v1::{self, agent_message};

use super::talk::Talk;
use super::{End, Session};
use crate::supervisor::Opening;

/// Facts younger than this are not collected again for a new session.
const FACTS_FRESH: Duration = Duration::from_secs(30);
/// How often an engine is looked for where there is none.
const ENGINE_LOOK: Duration = Duration::from_secs(10);

impl Session {
    /// The machine's facts, collected anew unless they are fresh.
    pub(super) async fn facts(&mut self) -> Facts {
        let now = self.clock.instant();
        if let Some((collected, facts)) = &self.facts
            && now.saturating_sub(*collected) < FACTS_FRESH
        {
            return Facts { gpus: self.looker.devices.facts(), ..facts.clone() };
        }
        let facts = self.looker.look(&self.tasks, &self.clock).await;
        self.facts = Some((now, facts.clone()));
        facts
    }

    pub(super) fn hello(&self, opening: Opening, facts: &Facts) -> v1::Hello {
        let told = self.facts_told.as_ref().filter(|_| !self.manner.repeats_facts);
        let is_known = told.is_some_and(|told| told.is_same_machine(facts));
        let wish = self.manner.heartbeat_wish.unwrap_or_default().as_millis();
        v1::Hello {
            protocol: hostler_proto::PROTOCOL,
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            boot_id: self.boot_id.clone(),
            session_epoch: opening.epoch.get(),
            applied_generation: opening.applied.get(),
            facts_json: if is_known {
                String::new()
            } else {
                serde_json::to_string(facts).unwrap_or_default()
            },
            heartbeat_wish_ms: u32::try_from(wish).unwrap_or(u32::MAX),
            facts_unchanged: is_known,
            authorities_mark: self.identity.authority.mark(),
            tells_holdings: true,
            watches: true,
            watchers_generation: self.watching.generation().get(),
        }
    }

    /// The version of an engine that begins to answer; never comes back where one is known.
    pub(super) fn engine_begins(&self) -> Pin<Box<dyn Future<Output = String> + Send>> {
        let is_known = |(_, facts): &(Duration, Facts)| facts.container_engine.is_some();
        if self.facts.as_ref().is_none_or(is_known) {
            return Box::pin(std::future::pending());
        }
        let (looker, tasks, clock) = (self.looker.clone(), self.tasks.clone(), self.clock.clone());
        Box::pin(async move {
            loop {
                clock.sleep(ENGINE_LOOK).await;
                if let Some(version) = looker.look_for_engine(&tasks).await {
                    return version;
                }
            }
        })
    }

    pub(super) fn note_engine(&mut self, version: String) {
        if let Some((_, facts)) = &mut self.facts {
            facts.container_engine = Some(version);
        }
    }

    /// Tells of the machine again, when something of it has failed or works again.
    pub(super) async fn tell_facts(&mut self, talk: &Talk) -> Result<(), End> {
        let Some((_, known)) = &self.facts else { return Ok(()) };
        let facts = Facts { gpus: self.looker.devices.facts(), ..known.clone() };
        if self.facts_said.as_ref().is_some_and(|said| said.is_same_machine(&facts)) {
            return Ok(());
        }
        let facts_json = serde_json::to_string(&facts).unwrap_or_default();
        let body = agent_message::Body::FactsChanged(v1::FactsChanged { facts_json });
        self.send(talk, body).await?;
        // Whether it was kept is not answered, so the next hello says it all again.
        self.facts_told = None;
        self.facts_said = Some(facts);
        Ok(())
    }
}
