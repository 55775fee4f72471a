//! What objects are like in the world at present, as their plugins find out.

use std::time::Duration;

use futures::StreamExt;
use hostler_model::stack::{ResourceBody, Stack, StackResource};
use hostler_model::{Code, Error, StackResourceId};
use serde_json::{Map, Value};

use super::StackKey;
use super::perform::{Others, StackDesk, is_meant, wanted_of};
use super::plugin::{ChildView, Ctx, Plugin, Seen};
use super::scene::Scene;
use crate::Control;

/// How long one object may take to be looked at.
const LOOK_MAX: Duration = Duration::from_secs(10);
/// How many are looked at at once.
const TOGETHER: usize = 64;

/// The properties of an object that is there; nothing when it is gone.
pub(super) type Live = Option<Map<String, Value>>;

/// An object that is to be looked at.
pub(super) struct Looking<'a> {
    pub control: &'a Control,
    pub key: &'a StackKey,
    pub stack: &'a Stack,
    pub row: &'a StackResource,
    pub body: &'a ResourceBody,
    pub child: Option<&'a ChildView>,
    pub files: &'a Map<String, Value>,
    pub others: &'a dyn Others,
}

/// Waits no longer than this.
pub(super) async fn within<T>(
    control: &Control,
    limit: Duration,
    what: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::select! {
        done = what => done,
        () = control.clock.sleep(limit) => {
            let text = format!("nothing was heard for {} seconds", limit.as_secs());
            Err(Error::unavailable(text, "the time for it is over"))
        }
    }
}

impl Looking<'_> {
    /// What the object is like; nothing when its type cannot tell.
    pub async fn ask(&self, plugin: &dyn Plugin) -> Result<Option<Live>, Error> {
        let desk = StackDesk {
            control: self.control,
            key: self.key,
            stack: self.stack,
            row: self.row,
            others: self.others,
        };
        let (key, wanted) = (self.row.deed_key(), wanted_of(self.body));
        let now = self.control.now();
        let ctx = Ctx {
            seen: Seen { stack: self.stack, row: self.row, body: self.body, child: self.child },
            wanted: &wanted,
            key: &key,
            begun: now,
            now,
            files: self.files,
            desk: &desk,
        };
        match within(self.control, LOOK_MAX, plugin.live_state(&ctx)).await {
            Ok(live) => Ok(live.map(Some)),
            Err(error) if error.code == Code::NotFound => Ok(Some(None)),
            Err(error) => Err(error),
        }
    }
}

/// What came of looking at an object.
pub(super) type Looked = (StackResourceId, Result<Option<Live>, Error>);

/// Waits for all of them, many at once.
pub(super) async fn all<F: Future<Output = Looked>>(looks: Vec<F>) -> Vec<Looked> {
    futures::stream::iter(looks).buffer_unordered(TOGETHER).collect().await
}

/// The resources of a scene, for plugins that ask for others.
pub(super) struct Around<'a>(pub &'a Scene);

impl Others for Around<'_> {
    fn find(&self, reference: &str) -> Option<Seen<'_>> {
        let mut all = self.0.rows.iter().filter_map(|row| self.0.seen(row));
        all.find(|seen| is_meant(seen, reference))
    }
}

impl Control {
    /// Looks at objects of a scene that are at rest: all that can be looked at, or only those whose type always is.
    pub(super) async fn stack_live(&self, scene: &Scene, is_all: bool) -> Vec<Looked> {
        let (around, nothing) = (&Around(scene), &Map::new());
        let files = scene.blueprint.as_ref().map_or(nothing, |blueprint| blueprint.files.as_ref());
        let looks = scene.rows.iter().filter(|row| row.deed.is_none()).filter_map(|row| {
            let body = scene.bodies.get(&row.id)?;
            let plugin = self.stack_plugin(&body.plugin)?;
            if plugin.is_local() || !is_all && !plugin.is_looked_at() {
                return None;
            }
            let looking = Looking {
                control: self,
                key: &scene.key,
                stack: &scene.stack,
                row,
                body,
                child: scene.children.get(&row.id).map(|child| &child.view),
                files,
                others: around,
            };
            Some(async move { (row.id, looking.ask(plugin.as_ref()).await) })
        });
        all(looks.collect()).await
    }
}
