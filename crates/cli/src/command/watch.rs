//! Changes as they happen: the list first, then every change after it, and the list again when the
//! server no longer remembers where we were.

use std::collections::BTreeMap;

use futures::StreamExt;
use hostler_api::node::{NodeList, NodeListQuery, NodeView};
use hostler_api::record::{EventList, EventListQuery, EventView};
use hostler_api::task::{TaskList, TaskListQuery, TaskView};
use hostler_api::workload::{WorkloadList, WorkloadListQuery, WorkloadView};
use hostler_api::{Endpoint, Listing, Nothing, ProjectPath, WatchKind, WatchMessage};
use hostler_model::Code;
use serde::de::DeserializeOwned;

use super::{Cx, Link, NONE, PAGE, bare};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Cell, Format, Show, Table};

pub async fn nodes(cx: &Cx) -> Outcome {
    let link = cx.link()?;
    let query = |cursor| NodeListQuery { limit: PAGE, cursor, ..NodeListQuery::default() };
    changes::<NodeList, NodeView>(cx, &link, &NONE, query, |_| true).await
}

pub async fn tasks(cx: &Cx, only: Option<&str>) -> Outcome {
    let link = cx.link()?;
    let path = ProjectPath { project: link.project.clone() };
    let query = |cursor| TaskListQuery { limit: PAGE, cursor, ..TaskListQuery::default() };
    let only = only.map(|name| bare("task", name));
    let is_meant = |task: &TaskView| {
        only.is_none_or(|name| task.name.as_str() == name || task.id.to_string() == name)
    };
    changes::<TaskList, TaskView>(cx, &link, &path, query, is_meant).await
}

pub async fn workloads(cx: &Cx, only: Option<&str>) -> Outcome {
    let link = cx.link()?;
    let path = ProjectPath { project: link.project.clone() };
    let query = |cursor| WorkloadListQuery { limit: PAGE, cursor, ..WorkloadListQuery::default() };
    let only = only.map(|name| bare("workload", name));
    let is_meant = |workload: &WorkloadView| {
        only.is_none_or(|name| workload.name.as_str() == name || workload.id.to_string() == name)
    };
    changes::<WorkloadList, WorkloadView>(cx, &link, &path, query, is_meant).await
}

/// Events have happened once and for all: only new ones are shown.
pub async fn events(cx: &Cx, query: EventListQuery) -> Outcome {
    let link = cx.link()?;
    let mut screen = Screen::<EventView>::new(cx, false);
    let mut query = query;
    loop {
        let newest = EventListQuery { limit: Some(1), cursor: None, ..query.clone() };
        query.cursor = link.client.call::<EventList>(&NONE, &newest, &NONE).await?.watch_cursor;
        let mut stream = link.client.watch::<EventList, EventView>(&NONE, &query, &NONE)?;
        while let Some(message) = stream.next().await {
            match message {
                Ok(message) => screen.show(cx, &message, None)?,
                Err(error) if error.is(Code::CursorGone) => {
                    cx.ui.warn("some events were missed: the server no longer has them");
                    break;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

async fn changes<E, T>(
    cx: &Cx,
    link: &Link,
    path: &E::Path,
    query: impl Fn(Option<String>) -> E::Query,
    is_meant: impl Fn(&T) -> bool,
) -> Outcome
where
    E: Endpoint<Body = Nothing, Reply = Listing<T>>,
    T: Show + DeserializeOwned + Send + 'static,
{
    let mut screen = Screen::<T>::new(cx, true);
    loop {
        let listing = link.client.list_all::<E, T>(path, &query(None)).await?;
        let cursor = listing.watch_cursor;
        let mut known: BTreeMap<String, T> = BTreeMap::new();
        let items: Vec<T> = listing.items.into_iter().filter(|item| is_meant(item)).collect();
        screen.measure(cx, &items);
        for object in items {
            let cursor = cursor.clone().unwrap_or_default();
            let added =
                WatchMessage { kind: WatchKind::Added, cursor, object: Some(object), id: None };
            screen.show(cx, &added, None)?;
            known.extend(added.object.map(|object| (object.id(), object)));
        }
        let mut stream = link.client.watch::<E, T>(path, &query(cursor), &NONE)?;
        while let Some(message) = stream.next().await {
            match message {
                Ok(message) if message.kind == WatchKind::Deleted => {
                    let id = message.id.clone().or(message.object.as_ref().map(Show::id));
                    let last = id.and_then(|id| known.remove(&id));
                    if last.is_some() {
                        screen.show(cx, &message, last.as_ref())?;
                    }
                }
                Ok(message) if message.object.as_ref().is_some_and(&is_meant) => {
                    screen.show(cx, &message, None)?;
                    known.extend(message.object.map(|object| (object.id(), object)));
                }
                Ok(_) => {}
                Err(error) if error.is(Code::CursorGone) => break,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// A table that grows, or lines of JSON.
pub(super) struct Screen<T> {
    table: Table,
    is_wide: bool,
    /// Whether the kind of the change has a column of its own.
    has_kind: bool,
    is_begun: bool,
    of: std::marker::PhantomData<T>,
}

impl<T: Show> Screen<T> {
    pub(super) fn new(cx: &Cx, has_kind: bool) -> Screen<T> {
        let is_wide = cx.ui.format() == Some(&Format::Wide);
        Screen {
            table: output::table_of::<T>(is_wide),
            is_wide,
            has_kind,
            is_begun: false,
            of: std::marker::PhantomData,
        }
    }

    /// Makes the columns as wide as these need.
    fn measure(&mut self, cx: &Cx, items: &[T]) {
        for item in items {
            self.table.widen(&output::row(item, cx.now(), self.is_wide));
        }
    }

    /// `last` is what a deleted object was; the message itself only has its id.
    pub(super) fn show(
        &mut self,
        cx: &Cx,
        message: &WatchMessage<T>,
        last: Option<&T>,
    ) -> Result<(), Failure> {
        let Some(object) = message.object.as_ref().or(last) else {
            return Ok(());
        };
        match cx.ui.format() {
            Some(Format::Json | Format::Jsonl) => cx.ui.line(&output::compact(message)?),
            Some(Format::Name) => cx.ui.line(&format!("{}/{}", T::KIND, object.name())),
            Some(format @ (Format::JsonPath(_) | Format::Template(_))) => {
                output::document(&cx.ui, format, object)
            }
            Some(format @ Format::Yaml) => {
                cx.ui.line("---")?;
                output::document(&cx.ui, format, object)
            }
            None | Some(Format::Table | Format::Wide) => self.row(cx, message.kind, object),
        }
    }

    fn row(&mut self, cx: &Cx, kind: WatchKind, object: &T) -> Result<(), Failure> {
        let cells: Vec<Cell> = output::row(object, cx.now(), self.is_wide);
        self.table.widen(&cells);
        let is_colored = cx.ui.is_out_colored();
        let mark = |text: &str| if self.has_kind { format!("{text:<10}") } else { String::new() };
        let mut text = String::new();
        if !self.is_begun {
            text = mark("CHANGE") + &self.table.header(is_colored);
        }
        text += &mark(&kind.label().to_ascii_lowercase());
        text += &self.table.line(&cells, is_colored, None);
        self.is_begun = true;
        cx.ui.data(text.as_bytes())
    }
}
