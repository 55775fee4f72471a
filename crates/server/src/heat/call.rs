//! A request that may be served: who calls, about which project, and what was asked.

use bytes::Bytes;
use hostler_control::{Control, Cx, RequestMeta};
use hostler_model::{Limit, Page, Project};
use hostler_trust::SecretString;
use serde_json::{Map, Value};

use super::Doors;
use super::fault::Fault;
use super::here::Here;
use super::query::{Query, step};
use crate::http::App;

pub(super) struct Call {
    pub(super) doors: Doors,
    pub(super) here: Here,
    pub(super) query: Query,
    /// JSON; nothing where there was none.
    pub(super) body: Option<Value>,
    /// The token that a request is about, besides the one it comes with.
    pub(super) subject: Option<SecretString>,
    /// The body where it is taken as it is.
    pub(super) raw: Bytes,
    pub(super) request: RequestMeta,
    pub(super) path: Vec<(String, String)>,
    pub(super) cx: Option<Cx>,
    pub(super) project: Option<Project>,
}

impl Call {
    pub(super) fn app(&self) -> &App {
        self.doors.app()
    }

    pub(super) fn control(&self) -> &Control {
        self.doors.app().control()
    }

    pub(super) fn cx(&self) -> &Cx {
        self.cx.as_ref().expect("mounting asks who calls, where a route wants to know")
    }

    pub(super) fn project(&self) -> &Project {
        self.project.as_ref().expect("mounting resolves the project of routes that are about one")
    }

    /// A part of the path, by the name that the route gives it.
    pub(super) fn part(&self, name: &str) -> &str {
        let found = self.path.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// The body where it has to be a map; no body is an empty one.
    pub(super) fn map(&self) -> Result<Map<String, Value>, Fault> {
        match &self.body {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(map)) => Ok(map.clone()),
            Some(_) => Err(Fault::bad("The body of the request is not a map.")),
        }
    }
}

/// A list that is read page by page, until there are as many as are wanted, or no more.
pub(super) struct Gathering<T> {
    wanted: Option<usize>,
    after: Option<String>,
    is_over: bool,
    all: Vec<T>,
}

impl<T> Gathering<T> {
    pub(super) fn new(wanted: Option<usize>, after: Option<&str>) -> Gathering<T> {
        let is_over = wanted == Some(0);
        Gathering { wanted, after: after.map(str::to_owned), is_over, all: Vec::new() }
    }

    /// After which, and how many are to be read next; nothing when there are enough.
    pub(super) fn next(&self) -> Option<(Option<&str>, Limit)> {
        (!self.is_over).then(|| (self.after.as_deref(), step(self.wanted, self.all.len())))
    }

    pub(super) fn take(&mut self, page: Page<T>) {
        self.all.extend(page.items);
        self.after = page.next;
        let is_enough = self.wanted.is_some_and(|wanted| self.all.len() >= wanted);
        self.is_over = self.after.is_none() || is_enough;
    }

    pub(super) fn all(self) -> Vec<T> {
        self.all
    }
}
