//! Traces: what happened when, in spans that lie in each other.
//!
//! They are kept in memory for as long as the interpreter lives, up to a bound: the oldest trace that has ended makes
//! room for a new one.

use std::cell::RefCell;
use std::collections::VecDeque;

use hostler_model::Timestamp;
use serde_json::{Map, Value as Json, json};

/// The most traces that are kept.
const KEPT: usize = 1000;

#[derive(Clone, Debug)]
pub(super) struct Span {
    id: String,
    parent: Option<String>,
    name: String,
    tags: Map<String, Json>,
    events: Vec<(Timestamp, String, Json)>,
    began: Timestamp,
    ended: Option<Timestamp>,
    status: String,
}

#[derive(Clone, Debug)]
pub(super) struct Trace {
    id: String,
    name: String,
    tags: Map<String, Json>,
    spans: Vec<Span>,
    began: Timestamp,
    ended: Option<Timestamp>,
    status: String,
}

#[derive(Default)]
pub(super) struct Traces(RefCell<VecDeque<Trace>>);

const RUNNING: &str = "running";

fn fresh_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

fn millis(from: Timestamp, to: Option<Timestamp>) -> Json {
    to.map_or(Json::Null, |to| (to.since(from).as_secs_f64() * 1e3).into())
}

impl Traces {
    pub fn start(&self, name: String, tags: Map<String, Json>, now: Timestamp) -> String {
        let mut traces = self.0.borrow_mut();
        if traces.len() >= KEPT {
            let oldest = traces.iter().position(|trace| trace.ended.is_some()).unwrap_or(0);
            traces.remove(oldest);
        }
        let id = fresh_id();
        traces.push_back(Trace {
            id: id.clone(),
            name,
            tags,
            spans: Vec::new(),
            began: now,
            ended: None,
            status: RUNNING.to_owned(),
        });
        id
    }

    fn with_trace<T>(&self, id: &str, f: impl FnOnce(&mut Trace) -> T) -> Result<T, String> {
        let mut traces = self.0.borrow_mut();
        let found = traces.iter_mut().find(|trace| trace.id == id);
        found.map(f).ok_or_else(|| format!("there is no trace `{id}`"))
    }

    fn with_span<T>(&self, id: &str, f: impl FnOnce(&mut Span) -> T) -> Result<T, String> {
        let mut traces = self.0.borrow_mut();
        let mut spans = traces.iter_mut().flat_map(|trace| trace.spans.iter_mut());
        let found = spans.find(|span| span.id == id);
        found.map(f).ok_or_else(|| format!("there is no span `{id}`"))
    }

    /// Ends a trace with what is still open in it; how long it took in milliseconds.
    pub fn end(&self, id: &str, status: &str, now: Timestamp) -> Result<Json, String> {
        self.with_trace(id, |trace| {
            for span in trace.spans.iter_mut().filter(|span| span.ended.is_none()) {
                span.ended = Some(now);
                status.clone_into(&mut span.status);
            }
            trace.ended = Some(now);
            status.clone_into(&mut trace.status);
            millis(trace.began, trace.ended)
        })
    }

    pub fn start_span(
        &self,
        trace: &str,
        name: String,
        parent: Option<String>,
        tags: Map<String, Json>,
        now: Timestamp,
    ) -> Result<String, String> {
        self.with_trace(trace, |trace| {
            if let Some(parent) = &parent
                && !trace.spans.iter().any(|span| span.id == *parent)
            {
                return Err(format!("the trace has no span `{parent}`"));
            }
            let id = fresh_id()[..16].to_owned();
            trace.spans.push(Span {
                id: id.clone(),
                parent,
                name,
                tags,
                events: Vec::new(),
                began: now,
                ended: None,
                status: RUNNING.to_owned(),
            });
            Ok(id)
        })?
    }

    pub fn end_span(&self, id: &str, status: &str, now: Timestamp) -> Result<Json, String> {
        self.with_span(id, |span| {
            span.ended = Some(now);
            status.clone_into(&mut span.status);
            millis(span.began, span.ended)
        })
    }

    pub fn add_event(
        &self,
        id: &str,
        name: String,
        more: Json,
        now: Timestamp,
    ) -> Result<(), String> {
        self.with_span(id, |span| span.events.push((now, name, more)))
    }

    pub fn add_tag(&self, id: &str, name: String, value: Json) -> Result<(), String> {
        self.with_span(id, |span| drop(span.tags.insert(name, value)))
    }

    pub fn get(&self, id: &str) -> Option<Json> {
        self.0.borrow().iter().find(|trace| trace.id == id).map(Trace::shown)
    }

    /// Those with a status, or all.
    pub fn list(&self, status: Option<&str>) -> Vec<Json> {
        let traces = self.0.borrow();
        let wanted = traces.iter().filter(|trace| status.is_none_or(|word| trace.status == word));
        wanted.map(Trace::shown).collect()
    }

    /// What Jaeger can load: one trace, or all.
    pub fn jaeger(&self, id: Option<&str>, service: &str) -> Json {
        let traces = self.0.borrow();
        let wanted = traces.iter().filter(|trace| id.is_none_or(|id| trace.id == id));
        json!({ "data": wanted.map(|trace| trace.jaeger(service)).collect::<Vec<_>>() })
    }
}

impl Trace {
    fn shown(&self) -> Json {
        json!({
            "id": self.id,
            "name": self.name,
            "status": self.status,
            "tags": self.tags,
            "start_time": self.began,
            "end_time": self.ended,
            "duration_ms": millis(self.began, self.ended),
            "spans": self.spans.iter().map(Span::shown).collect::<Vec<_>>(),
        })
    }

    fn jaeger(&self, service: &str) -> Json {
        // The trace itself is told as the span around the others.
        let around = Span {
            id: self.id[..16].to_owned(),
            parent: None,
            name: self.name.clone(),
            tags: self.tags.clone(),
            events: Vec::new(),
            began: self.began,
            ended: self.ended,
            status: self.status.clone(),
        };
        let inner = self.spans.iter().map(|span| {
            let parent = span.parent.clone().or_else(|| Some(around.id.clone()));
            Span { parent, ..span.clone() }.jaeger(&self.id)
        });
        let spans: Vec<Json> = std::iter::once(around.jaeger(&self.id)).chain(inner).collect();
        json!({
            "traceID": self.id,
            "spans": spans,
            "processes": { "p1": { "serviceName": service, "tags": [] } },
        })
    }
}

impl Span {
    fn shown(&self) -> Json {
        let events = self
            .events
            .iter()
            .map(|(time, name, more)| json!({ "name": name, "time": time, "attributes": more }));
        json!({
            "id": self.id,
            "parent": self.parent,
            "name": self.name,
            "status": self.status,
            "tags": self.tags,
            "start_time": self.began,
            "end_time": self.ended,
            "duration_ms": millis(self.began, self.ended),
            "events": events.collect::<Vec<_>>(),
        })
    }

    fn jaeger(&self, trace: &str) -> Json {
        let references: Vec<Json> = self
            .parent
            .iter()
            .map(|parent| json!({ "refType": "CHILD_OF", "traceID": trace, "spanID": parent }))
            .collect();
        let mut tags: Vec<Json> = self.tags.iter().map(|(key, value)| tag(key, value)).collect();
        tags.push(tag("status", &self.status.as_str().into()));
        let logs = self.events.iter().map(|(time, name, more)| {
            let mut fields = vec![tag("event", &name.as_str().into())];
            if let Json::Object(more) = more {
                fields.extend(more.iter().map(|(key, value)| tag(key, value)));
            }
            json!({ "timestamp": time.micros(), "fields": fields })
        });
        let took = self.ended.map_or(0, |ended| ended.micros() - self.began.micros());
        json!({
            "traceID": trace,
            "spanID": self.id,
            "operationName": self.name,
            "references": references,
            "startTime": self.began.micros(),
            "duration": took,
            "tags": tags,
            "logs": logs.collect::<Vec<_>>(),
            "processID": "p1",
        })
    }
}

fn tag(key: &str, value: &Json) -> Json {
    match value {
        Json::Bool(_) => json!({ "key": key, "type": "bool", "value": value }),
        Json::Number(number) if number.is_i64() => {
            json!({ "key": key, "type": "int64", "value": value })
        }
        Json::Number(_) => json!({ "key": key, "type": "float64", "value": value }),
        Json::String(_) => json!({ "key": key, "type": "string", "value": value }),
        other => json!({ "key": key, "type": "string", "value": other.to_string() }),
    }
}
