//! Watchers: apply, enable, disable, remove, and how they stand on nodes.
//!
//! Whoever writes a watcher is whose rights it needs from then on, also when it was somebody else's before.

use std::collections::{HashMap, HashSet};

use hostler_model::suggest::nearest;
use hostler_model::{
    Code, Error, EventKind, Generation, Limit, Mandate, Name, Node, NodeId, Page, Project,
    WATCHERS_MAX, Watcher, WatcherId, WatcherOn, WatcherSetPayload, WatcherSpec,
};
use hostler_store::{Conn, Tx};
use serde_json::json;

use super::project::{settled, taken};
use super::task::Names;
use crate::watch::{WatcherCounts, watcher_object};
use crate::{Applied, Control, Cx, audit_state};

/// A watcher with what people want to see beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct WatcherDetail {
    pub watcher: Watcher,
    /// Whose rights it needs.
    pub owner: String,
    /// Why it is with no node, if so.
    pub hindrance: Option<String>,
    /// The nodes that it is for, by name.
    pub nodes: Vec<WatcherNode>,
}

/// A watcher on a node that it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct WatcherNode {
    pub node: Name,
    /// Whether the node is to look; not while the watcher is with no node, or the node has too many.
    pub is_given: bool,
    /// What the node told last.
    pub on: Option<WatcherOn>,
}

struct News {
    kind: EventKind,
    action: &'static str,
    words: String,
}

impl Control {
    /// By name.
    pub async fn watcher_list(
        &self,
        project: &Project,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<WatcherDetail>, Error> {
        let (page, scene) = {
            let mut read = self.store.read().await?;
            let page = read.watcher_list(project.id, after, limit).await?;
            (page, Scene::of(&mut read).await?)
        };
        let mut names = Names::default();
        let mut items = Vec::with_capacity(page.items.len());
        for watcher in page.items {
            items.push(self.watcher_detail(&scene, &mut names, watcher).await?);
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn watcher_get(
        &self,
        project: &Project,
        name_or_id: &str,
    ) -> Result<WatcherDetail, Error> {
        let (watcher, scene) = {
            let mut read = self.store.read().await?;
            (find(&mut read, project, name_or_id).await?, Scene::of(&mut read).await?)
        };
        self.watcher_detail(&scene, &mut Names::default(), watcher).await
    }

    async fn watcher_detail(
        &self,
        scene: &Scene,
        names: &mut Names,
        watcher: Watcher,
    ) -> Result<WatcherDetail, Error> {
        let (owner, told) = {
            let mut read = self.store.read().await?;
            let owner = names.principal(&mut read, watcher.mandate.principal).await?;
            (owner, read.watcher_nodes(watcher.id).await?)
        };
        let hindrance = self.watcher_hindrance(&watcher, &owner).await?;
        let mut told: HashMap<NodeId, WatcherOn> =
            told.into_iter().map(|on| (on.node_id, on)).collect();
        let meant = scene.nodes.iter();
        let meant = meant.filter(|node| watcher.spec.is_for(&node.name, &node.labels));
        let nodes = meant.map(|node| WatcherNode {
            node: node.name.clone(),
            is_given: scene.given.contains(&(node.id, watcher.id)),
            on: told.remove(&node.id),
        });
        let nodes = nodes.collect();
        Ok(WatcherDetail { watcher, owner, hindrance, nodes })
    }

    /// Makes a watcher of this name be like this. With `expected`, only if it is there and still as the caller
    /// saw it; with zero, only if it is not there, or like this already.
    pub async fn watcher_apply(
        &self,
        cx: &Cx,
        project: &Project,
        name: &Name,
        spec: &WatcherSpec,
        expected: Option<Generation>,
    ) -> Result<(WatcherDetail, Applied), Error> {
        let problems = spec.problems("");
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        self.watcher_require(cx, spec.watch.needs())?;
        let now = self.now();
        let fresh = &Watcher {
            id: self.ids.fresh(),
            project_id: project.id,
            name: name.clone(),
            spec: spec.clone(),
            mandate: Mandate::of(&cx.caller, project.id),
            is_enabled: true,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        let (id, applied) = self
            .store
            .tx("watcher_apply", |tx| {
                Box::pin(async move {
                    let Some(before) = tx.watcher_by_name(project.id, name).await? else {
                        if expected.is_some_and(|expected| expected != Generation::ZERO) {
                            return Err(Error::not_found("watcher", name));
                        }
                        self.watcher_create(tx, cx, project, fresh).await?;
                        return Ok((fresh.id, Applied::Created));
                    };
                    if self.claim(tx, cx, &watcher_object(&before)).await?.is_some() {
                        return Ok((before.id, Applied::Unchanged));
                    }
                    let is_same = before.spec == *spec && before.mandate == fresh.mandate;
                    match expected {
                        Some(Generation::ZERO) if !is_same => {
                            return Err(Error::already_exists("watcher", name));
                        }
                        Some(seen) if seen != Generation::ZERO && seen != before.generation => {
                            return Err(Error::stale("watcher", before.generation));
                        }
                        _ if is_same => return Ok((before.id, Applied::Unchanged)),
                        _ => {}
                    }
                    let after =
                        Watcher { spec: spec.clone(), mandate: fresh.mandate, ..before.clone() };
                    let words = spec.watch.summary();
                    let news =
                        News { kind: EventKind::WatcherChanged, action: "watcher.apply", words };
                    self.watcher_write(tx, cx, &before, after, &news).await?;
                    Ok::<_, Error>((before.id, Applied::Changed))
                })
            })
            .await?;
        self.watchers_changed();
        Ok((self.watcher_get(project, &id.to_string()).await?, applied))
    }

    /// Has nodes look, or not. Asking again changes nothing.
    pub async fn watcher_enable(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        is_enabled: bool,
    ) -> Result<WatcherDetail, Error> {
        let found = {
            let mut read = self.store.read().await?;
            find(&mut read, project, name_or_id).await?
        };
        let id = found.id;
        self.store
            .tx("watcher_enable", |tx| {
                Box::pin(async move {
                    let Some(before) = tx.watcher_get(id).await? else {
                        return Err(Error::not_found("watcher", name_or_id));
                    };
                    if is_enabled {
                        self.watcher_require(cx, before.spec.watch.needs())?;
                    }
                    if self.claim(tx, cx, &watcher_object(&before)).await?.is_some()
                        || before.is_enabled == is_enabled
                    {
                        return Ok(());
                    }
                    let after = Watcher { is_enabled, ..before.clone() };
                    let (action, words) = match is_enabled {
                        true => ("watcher.enable", "enabled"),
                        false => ("watcher.disable", "disabled"),
                    };
                    let words = words.to_owned();
                    let news = News { kind: EventKind::WatcherChanged, action, words };
                    self.watcher_write(tx, cx, &before, after, &news).await
                })
            })
            .await?;
        self.watchers_changed();
        self.watcher_get(project, &id.to_string()).await
    }

    pub async fn watcher_remove(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<(), Error> {
        let id = {
            let mut read = self.store.read().await?;
            find(&mut read, project, name_or_id).await?.id
        };
        self.store
            .tx("watcher_remove", |tx| {
                Box::pin(async move {
                    let Some(before) = tx.watcher_get(id).await? else { return Ok(()) };
                    let update = tx.watcher_delete(id, before.generation).await?;
                    settled(update, "watcher", &before.name)?;
                    let (object, of) = (watcher_object(&before), Some(project.id));
                    let words = "removed; nodes look no more";
                    let event = self
                        .event(EventKind::WatcherRemoved, of, &object, cx.actor(), words)
                        .with_payload(WatcherSetPayload::from(&before));
                    let audit = self
                        .audit(cx, "watcher.remove", &object, of, json!({}))
                        .with_states(Some(&audit_state::watcher(&before)), None);
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.watchers_changed();
        Ok(())
    }

    /// How many watchers there are, and what this server heard of them; for metrics.
    pub async fn watcher_counts(&self) -> Result<WatcherCounts, Error> {
        let (all, enabled) = self.store.read().await?.watcher_count().await?;
        Ok(self.watcher_tally.counts(all, enabled))
    }

    async fn watcher_create(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        project: &Project,
        fresh: &Watcher,
    ) -> Result<(), Error> {
        let object = watcher_object(fresh);
        if self.claim(tx, cx, &object).await?.is_some() {
            return Err(Error::conflict(
                format!("watcher `{}` was made by this request before, and is gone", fresh.name),
                "use a fresh Idempotency-Key to make it again",
            ));
        }
        if tx.watcher_count_in(project.id).await? >= WATCHERS_MAX {
            return Err(Error::new(
                Code::QuotaExceeded,
                format!("a project has at most {WATCHERS_MAX} watchers"),
                "remove those that nobody needs: `hostler watcher ls`",
            ));
        }
        tx.watcher_insert(fresh).await.map_err(|e| taken(e, "watcher", &fresh.name))?;
        let (of, words) = (Some(project.id), fresh.spec.watch.summary());
        let event = self
            .event(EventKind::WatcherCreated, of, &object, cx.actor(), words)
            .with_payload(WatcherSetPayload::from(fresh));
        let audit = self
            .audit(cx, "watcher.apply", &object, of, detail(fresh))
            .with_states(None, Some(&audit_state::watcher(fresh)));
        tx.journal_append(&[event], &[audit]).await?;
        Ok(())
    }

    async fn watcher_write(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        before: &Watcher,
        mut after: Watcher,
        news: &News,
    ) -> Result<(), Error> {
        after.time_modified = self.now();
        let update = tx.watcher_update(&after, before.generation).await?;
        settled(update, "watcher", &before.name)?;
        after.generation = before.generation.next();
        let (object, of) = (watcher_object(before), Some(before.project_id));
        let event = self
            .event(news.kind, of, &object, cx.actor(), news.words.clone())
            .with_payload(WatcherSetPayload::from(&after));
        let audit = self
            .audit(cx, news.action, &object, of, detail(&after))
            .with_states(Some(&audit_state::watcher(before)), Some(&audit_state::watcher(&after)));
        tx.journal_append(&[event], &[audit]).await?;
        Ok(())
    }

    fn watchers_changed(&self) {
        self.wakers.watcher.wake();
        self.feed.ring();
    }
}

fn detail(watcher: &Watcher) -> serde_json::Value {
    json!({ "watch": watcher.spec.watch.label() })
}

/// The nodes there are, and which watchers each was given.
struct Scene {
    nodes: Vec<Node>,
    given: HashSet<(NodeId, WatcherId)>,
}

impl Scene {
    async fn of(read: &mut Conn) -> Result<Scene, Error> {
        let nodes = read.node_list_all_present().await?;
        let watches = read.node_watches().await?;
        let given = watches
            .iter()
            .flat_map(|watch| watch.orders.iter().map(|(watcher, _)| (watch.node_id, *watcher)));
        Ok(Scene { given: given.collect(), nodes })
    }
}

async fn find(read: &mut Conn, project: &Project, name_or_id: &str) -> Result<Watcher, Error> {
    let found = match (name_or_id.parse::<WatcherId>(), name_or_id.parse::<Name>()) {
        (Ok(id), _) => read.watcher_get(id).await?,
        (_, Ok(name)) => read.watcher_by_name(project.id, &name).await?,
        _ => None,
    };
    if let Some(found) = found.filter(|found| found.project_id == project.id) {
        return Ok(found);
    }
    let all = read.watcher_list(project.id, None, Limit::LARGEST).await?;
    let meant = nearest(name_or_id, all.items.iter().map(|known| known.name.as_str()));
    Err(match meant {
        Some(meant) => Error::new(
            Code::NotFound,
            format!("there is no watcher `{name_or_id}`"),
            format!("did you mean `{meant}`?"),
        ),
        None => Error::not_found("watcher", name_or_id),
    })
}
