//! Hostler: the state stream, locks over HTTP, and the watch of a namespace.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use futures::StreamExt;
use hostler_api::lock::{LockAcquire, LockAcquireBody, LockHoldPath, LockRelease};
use hostler_api::state::{
    StateChangeView, StateEncoding, StateList, StateListQuery, StateNamespacePath, StateOpBody,
    StateVerb,
};
use hostler_api::{Nothing, WatchKind};
use hostler_base::Ids;
use hostler_client::{Client, StateCaller};
use hostler_model::{LockHolder, LockOutcome, Name, Span, StateKey, default_namespace};

use super::process::Postgres;
use super::{Caller, LOCKS, Measured, WATCHED, rates};
use crate::rig::Rig;

const PROJECT: &str = "default";

struct Ours {
    stream: StateCaller,
    namespace: Name,
    /// Of the entries that this caller wrote.
    revisions: HashMap<String, u64>,
}

impl Ours {
    async fn write(&mut self, key: &str, value: &str, expected: Option<u64>) -> anyhow::Result<()> {
        let put = StateOpBody {
            value: Some(value.to_owned()),
            encoding: Some(StateEncoding::Text),
            ..StateOpBody::new(StateVerb::Put, self.namespace.clone(), key.parse()?)
        };
        let answer = self.stream.call(put, expected).await?;
        ensure!(answer.held, "nobody else changes this key");
        let revision = answer.results.first().context("a put has a result")?.revision;
        let before = self.revisions.insert(key.to_owned(), revision).unwrap_or_default();
        ensure!(revision > before, "revisions grow");
        Ok(())
    }
}

impl Caller for Ours {
    async fn put(&mut self, key: &str, value: &str) -> anyhow::Result<()> {
        self.write(key, value, None).await
    }

    async fn swap(&mut self, key: &str, value: &str) -> anyhow::Result<()> {
        let expected = self.revisions.get(key).copied().context("it was put first")?;
        self.write(key, value, Some(expected)).await
    }

    async fn get(&mut self, key: &str) -> anyhow::Result<()> {
        let key: StateKey = key.parse()?;
        let op = StateOpBody::new(StateVerb::Get, self.namespace.clone(), key);
        let answer = self.stream.call(op, None).await?;
        let entry = answer.results.first().and_then(|result| result.entry.as_ref());
        ensure!(entry.is_some(), "what was put is there");
        Ok(())
    }
}

pub async fn measure(binary: &Path) -> anyhow::Result<Measured> {
    on(Rig::new(binary).await?).await
}

pub async fn measure_shared(binary: &Path) -> anyhow::Result<Measured> {
    let database = Postgres::start().await?;
    on(Rig::on(binary, Some(&database.url())).await?).await
}

async fn on(rig: Rig) -> anyhow::Result<Measured> {
    let mut measured = Measured::default();
    rates(&mut measured, async || {
        let stream = rig.another_client()?.state_caller(PROJECT).await?;
        Ok(Ours { stream, namespace: default_namespace(), revisions: HashMap::new() })
    })
    .await?;
    measured.lock_millis = locks(&rig).await?;
    measured.watch_millis = watch(&rig).await?;
    Ok(measured)
}

async fn locks(rig: &Rig) -> anyhow::Result<Vec<f64>> {
    let (client, ids) = (rig.another_client()?, Ids::system());
    let body = LockAcquireBody {
        slots: 1,
        ttl: Span::from_secs(30),
        wait: None,
        holder: LockHolder::default(),
    };
    let mut millis = Vec::new();
    for _ in 0..LOCKS {
        let path =
            LockHoldPath { project: PROJECT.to_owned(), lock: "bench".parse()?, hold: ids.fresh() };
        let begun = Instant::now();
        let got = client.call::<LockAcquire>(&path, &Nothing {}, &body).await?;
        client.call::<LockRelease>(&path, &Nothing {}, &Nothing {}).await?;
        millis.push(begun.elapsed().as_secs_f64() * 1000.0);
        ensure!(got.outcome == LockOutcome::Held, "nobody else wants it");
    }
    Ok(millis)
}

/// From the moment before a put is sent until a watch has told of it, on an idle server.
async fn watch(rig: &Rig) -> anyhow::Result<Vec<f64>> {
    let path = StateNamespacePath { project: PROJECT.to_owned(), namespace: default_namespace() };
    let query = StateListQuery { prefix: Some("watched".to_owned()), ..StateListQuery::default() };
    let watching: Client = rig.another_client()?;
    let mut changes = watching.watch::<StateList, StateChangeView>(&path, &query, &Nothing {})?;
    let first = changes.next().await.context("the watch ended")??;
    ensure!(first.kind == WatchKind::Bookmark, "nothing is there to be told of");
    let mut caller = rig.another_client()?.state_caller(PROJECT).await?;
    let mut millis = Vec::new();
    for n in 0..WATCHED {
        let put = StateOpBody {
            value: Some(n.to_string()),
            ..StateOpBody::new(StateVerb::Put, default_namespace(), "watched".parse()?)
        };
        let begun = Instant::now();
        let (answer, told) = tokio::join!(caller.call(put, None), changes.next());
        let took = begun.elapsed();
        let told = told.context("the watch ended")??.object.context("a change")?;
        ensure!(told.revision == answer?.revision, "the watch tells of another change");
        millis.push(took.as_secs_f64() * 1000.0);
    }
    Ok(millis)
}
