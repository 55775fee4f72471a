//! Types that projects bring themselves: a program or a file of Lua, called on a node.
//!
//! What users send never runs in the server. So a call is a task of the project, submitted in the name of the stack, with the
//! plugin and an order among its inputs and the answer among its outputs ([`call`]): where it runs, what it may use, how long it
//! may take, who may stop it and where its words are kept is what holds for every task. Order and answer are sealed with a key
//! of that call, because whoever may see the files of a project may not see what stacks keep sealed.
//!
//! A version of a plugin never changes, so what is made of one ([`Shelf`]) is kept in memory under its id: by whoever reads
//! a stack, before anything of it is looked at. What is kept is bounded by what projects may register.
//!
//! - Which version a type is read and made with stands in the definition ([`DefinitionBody::plugins`]), so that a definition is
//!   read the same way however often. A new one takes the newest versions.
//! - Which version looks after an object stands in its body, as `TYPE@ID`.
//!
//! [`DefinitionBody::plugins`]: hostler_model::stack::DefinitionBody

mod call;
mod schema;
mod types;

pub(crate) use call::{Bid, answer_of, silence_of};
use schema::schema_of;
pub(crate) use types::{ProjectTypes, Shelf};

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_model::Error;
use hostler_model::stack::{DeedKind, PluginType, PluginVerb, StackPlugin};
use hostler_template::schema::ResourceSchema;
use serde_json::{Map, Value};

use super::hostler::told;
use super::{Change, Ctx, Doing, Plugin, Progress, Seen, at_once};

/// One type of a version of a plugin.
pub(crate) struct Outside {
    plugin: Arc<StackPlugin>,
    it: PluginType,
    schema: ResourceSchema,
    key: String,
    /// Of the manifest: a plugin that says something else of itself is not the one that was registered.
    digest: Arc<str>,
}

impl Outside {
    /// Every type of a version, by name.
    pub(crate) fn all(plugin: StackPlugin) -> Vec<Arc<dyn Plugin>> {
        let plugin = Arc::new(plugin);
        let digest: Arc<str> = plugin.manifest.digest().into();
        let of = |(name, it): (&String, &PluginType)| -> Arc<dyn Plugin> {
            Arc::new(Outside {
                schema: schema_of(name, it, &plugin),
                key: plugin.key_of(name),
                it: it.clone(),
                plugin: Arc::clone(&plugin),
                digest: Arc::clone(&digest),
            })
        };
        plugin.manifest.types.iter().map(of).collect()
    }

    /// `lines (version 2)`
    fn words(&self) -> String {
        format!("the plugin {} (version {})", self.plugin.name, self.plugin.version)
    }
}

impl Plugin for Outside {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn key(&self) -> &str {
        &self.key
    }

    fn is_local(&self) -> bool {
        false
    }

    fn can(&self, kind: DeedKind) -> bool {
        match kind {
            DeedKind::Create | DeedKind::Update | DeedKind::Delete | DeedKind::Adopt => true,
            DeedKind::Check => self.it.can(PluginVerb::Check),
            DeedKind::Suspend | DeedKind::Resume | DeedKind::Snapshot => false,
        }
    }

    fn is_kept_after_failure(&self, seen: &Seen<'_>) -> bool {
        seen.row.physical.is_some() && self.it.can(PluginVerb::Update)
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.advance(ctx, PluginVerb::Create).await) }.boxed()
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        match self.it.can(PluginVerb::Update) {
            true => async move { told(self.advance(ctx, PluginVerb::Update).await) }.boxed(),
            false => at_once(Progress::Done(Change::of_metadata(ctx))),
        }
    }

    fn delete<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.take_away(ctx).await) }.boxed()
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move {
            told(match ctx.deed_kind() {
                Some(DeedKind::Create) => self.advance(ctx, PluginVerb::Create).await,
                Some(DeedKind::Update) => self.advance(ctx, PluginVerb::Update).await,
                Some(DeedKind::Delete) => self.take_away(ctx).await,
                Some(DeedKind::Check) => self.advance(ctx, PluginVerb::Check).await,
                Some(DeedKind::Adopt) => self.advance(ctx, PluginVerb::Adopt).await,
                _ => Ok(Progress::done()),
            })
        }
        .boxed()
    }

    fn check<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.advance(ctx, PluginVerb::Check).await) }.boxed()
    }

    fn adopt<'a>(&'a self, ctx: &'a Ctx<'a>, left: &'a Map<String, Value>) -> Doing<'a> {
        match self.it.can(PluginVerb::Adopt) {
            true => async move { told(self.take_over(ctx, left).await) }.boxed(),
            false => at_once(Progress::Done(Change::adopted(left))),
        }
    }

    fn live_state<'a>(
        &'a self,
        ctx: &'a Ctx<'a>,
    ) -> BoxFuture<'a, Result<Option<Map<String, Value>>, Error>> {
        self.present(ctx).boxed()
    }
}
