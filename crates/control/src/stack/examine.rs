//! What an object is, compared with what it is to be.

use std::borrow::Cow;

use hostler_engine::stack::{Failure, Restriction, Verdict};
use hostler_model::stack::{
    DeedBody, ResourceAction, ResourceBody, Stack, StackResource, StackStatus, plugin_type,
};
use serde_json::{Map, Value};

use super::StackKey;
use super::blueprint::{Blueprint, Part};
use super::perform::{Others, StackDesk};
use super::plugin::{ChildView, Ctx, Lean, Plugin, Seen, Wanted};
use crate::Control;

/// A row, and everything that the answer depends on.
pub(super) struct Question<'a> {
    pub control: &'a Control,
    pub key: &'a StackKey,
    pub stack: &'a Stack,
    pub row: &'a StackResource,
    pub body: &'a ResourceBody,
    pub child: Option<&'a ChildView>,
    /// Properties as they are in the world, where somebody looked; the object is gone where there are none.
    pub live: Option<&'a Option<Map<String, Value>>>,
    pub blueprint: &'a Blueprint,
    pub others: &'a dyn Others,
}

impl Question<'_> {
    /// What has to be done, and what the object is to be as then.
    pub fn answer(&self, mut meant: DeedBody) -> Result<(Verdict, DeedBody), Failure> {
        let Some(part) = self.blueprint.part(&self.row.name) else {
            return Err(Failure::new("Error", "the template does not know it"));
        };
        let Some(plugin) = self.control.stack_plugin(&part.plugin) else {
            let text = format!("The Resource Type ({}) could not be found.", part.kind);
            return Err(Failure::new("EntityNotFound", text));
        };
        let is_new = self.row.deeds == 0 && self.row.physical.is_none();
        if is_new {
            return Ok((Verdict::Create, meant));
        }
        if let Some(external) = &part.external {
            return match self.row.physical.as_deref() == Some(external) {
                true => Ok((Verdict::Unchanged, meant)),
                false => {
                    let text = "Update to property external_id of a resource is not supported.";
                    Err(Failure::new("NotSupported", text))
                }
            };
        }
        let verdict = self.compare(plugin.as_ref(), part, &mut meant)?;
        let verdict = match verdict {
            Verdict::Update if part.no_update => Verdict::Refused(Restriction::Update),
            Verdict::Replace if part.no_replace => Verdict::Refused(Restriction::Replace),
            verdict => verdict,
        };
        Ok((verdict, meant))
    }

    fn with_ctx<T>(&self, wanted: &Wanted, ask: impl FnOnce(&Ctx<'_>) -> T) -> T {
        let (key, nothing) = (self.row.deed_key(), Map::new());
        let desk = StackDesk {
            control: self.control,
            key: self.key,
            stack: self.stack,
            row: self.row,
            others: self.others,
        };
        let now = self.control.now();
        ask(&Ctx {
            seen: Seen { stack: self.stack, row: self.row, body: self.body, child: self.child },
            wanted,
            key: &key,
            begun: now,
            now,
            files: if self.blueprint.files.is_empty() { &nothing } else { &self.blueprint.files },
            desk: &desk,
        })
    }

    fn compare(
        &self,
        plugin: &dyn Plugin,
        part: &Part,
        meant: &mut DeedBody,
    ) -> Result<Verdict, Failure> {
        let seen = Seen { stack: self.stack, row: self.row, body: self.body, child: self.child };
        if plugin_type(&self.body.plugin) != plugin_type(&part.plugin) {
            return Ok(Verdict::Replace);
        }
        let standing = &self.row.standing;
        let is_failed = standing.status == StackStatus::Failed;
        let is_blank = standing.action == ResourceAction::Init;
        if is_blank || is_failed && !plugin.is_kept_after_failure(&seen) {
            return Ok(Verdict::Replace);
        }
        if matches!(self.live, Some(None)) {
            return Ok(Verdict::Replace);
        }
        meant.changed = differing(&self.before(plugin), &meant.properties);
        let wanted = wanted_of(meant);
        let lean = self.with_ctx(&wanted, |ctx| plugin.lean(ctx, &meant.changed));
        let verdict = match lean {
            Lean::Unchanged => Verdict::Unchanged,
            Lean::Update => Verdict::Update,
            Lean::Replace => Verdict::Replace,
            Lean::BySchema => self.by_schema(plugin, part, meant, is_failed)?,
        };
        let is_off = || !unwell(self.body, plugin, self.live).is_empty();
        Ok(match verdict {
            Verdict::Unchanged if is_off() => Verdict::Update,
            verdict => verdict,
        })
    }

    /// The properties of the object: as it was made, and where somebody looked, as they are in the world.
    pub fn before(&self, plugin: &dyn Plugin) -> Cow<'_, Map<String, Value>> {
        let Some(Some(live)) = self.live else { return Cow::Borrowed(&self.body.properties) };
        let mut before = self.body.properties.clone();
        let schema = plugin.schema();
        let is_ours = |name: &&String| schema.get(name).is_some_and(|one| one.is_updatable);
        for name in live.keys().filter(is_ours) {
            before.insert(name.clone(), live[name].clone());
        }
        Cow::Owned(before)
    }

    fn by_schema(
        &self,
        plugin: &dyn Plugin,
        part: &Part,
        meant: &DeedBody,
        is_failed: bool,
    ) -> Result<Verdict, Failure> {
        let schema = plugin.schema();
        let of = |name: &String| schema.get(name);
        let immutable: Vec<&str> = meant
            .changed
            .iter()
            .filter(|name| of(name).is_some_and(|one| one.is_immutable))
            .map(String::as_str)
            .collect();
        if !immutable.is_empty() {
            let text = format!(
                "Update to properties {} of {} ({}) is not supported.",
                immutable.join(", "),
                self.row.name,
                part.kind
            );
            return Err(Failure::new("NotSupported", text));
        }
        let is_movable = |name: &String| of(name).is_none_or(|one| one.is_updatable);
        if !meant.changed.iter().all(is_movable) {
            return Ok(Verdict::Replace);
        }
        let is_other = !meant.changed.is_empty()
            || self.body.update_policy != meant.update_policy
            || part.has_metadata && self.body.metadata != meant.metadata;
        Ok(match is_other || is_failed {
            true => Verdict::Update,
            false => Verdict::Unchanged,
        })
    }
}

fn wanted_of(meant: &DeedBody) -> Wanted {
    Wanted {
        properties: meant.properties.clone(),
        metadata: meant.metadata.clone(),
        update_policy: meant.update_policy.clone(),
        template: meant.template.clone(),
    }
}

/// Attributes that are not as they are when the object is well.
pub(super) fn unwell<'a>(
    body: &ResourceBody,
    plugin: &dyn Plugin,
    live: Option<&'a Option<Map<String, Value>>>,
) -> Vec<&'a str> {
    let Some(Some(live)) = live else { return Vec::new() };
    let is_property = |name: &str| plugin.schema().get(name).is_some();
    let is_other = |(name, value): &(&String, &Value)| {
        !is_property(name) && body.attributes.get(*name).is_some_and(|known| known != *value)
    };
    live.iter().filter(is_other).map(|(name, _)| name.as_str()).collect()
}

/// Names of the properties that differ, in the order of what is wanted, and then of what was.
pub(super) fn differing(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<String> {
    let value =
        |map: &'_ Map<String, Value>, name: &str| map.get(name).cloned().unwrap_or_default();
    let is_other = |name: &&String| value(before, name) != value(after, name);
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    after.keys().chain(gone).filter(is_other).cloned().collect()
}
