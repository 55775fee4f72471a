//! A resource on a bench: what a plugin is given in tests.

use std::collections::HashMap;

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_model::stack::{
    Deed, DeedKind, DeletionPolicy, ResourceAction, ResourceBody, ResourceStanding, Stack,
    StackAction, StackOptions, StackResource, StackStanding, StackStatus,
};
use hostler_model::{
    Envelope, Error, Generation, KeyId, Mandate, PrincipalId, ProjectId, StackId, StackResourceId,
    Timestamp, TypedId,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::super::read::later;
use super::super::{
    Change, ChildView, Ctx, Desk, Doing, Member, Progress, Seen, SignalKind, Wanted,
};
use crate::Control;

/// One resource, with what is around it.
#[derive(Clone)]
pub(super) struct Bench {
    stack: Stack,
    pub(super) row: StackResource,
    body: ResourceBody,
    pub(super) child: Option<ChildView>,
    wanted: Wanted,
    now: Timestamp,
    files: Map<String, Value>,
    siblings: Vec<Bench>,
    configs: HashMap<String, Map<String, Value>>,
}

const BEGUN: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

fn id<T: TypedId>(name: &str) -> T {
    let mut bytes = [0; 16];
    for (at, byte) in name.bytes().enumerate() {
        bytes[at % 16] ^= byte;
    }
    T::from_uuid(Uuid::from_bytes(bytes))
}

pub(super) fn map(value: &Value) -> Map<String, Value> {
    value.as_object().expect("a map").clone()
}

fn stack() -> Stack {
    let id: StackId = id("stack");
    let sealed =
        Envelope { sealed: Vec::new(), wrapped_key: Vec::new(), key_id: KeyId::from_bytes([0; 4]) };
    Stack {
        id,
        project_id: self::id::<ProjectId>("project"),
        name: "demo".parse().expect("a name"),
        description: String::new(),
        parent: None,
        root_id: id,
        depth: 0,
        standing: StackStanding::begun(StackAction::Create),
        traversal: Generation::FIRST,
        wanted: None,
        settled: None,
        options: StackOptions::default(),
        revision: 0,
        key: sealed,
        mandate: Mandate { principal: self::id::<PrincipalId>("somebody"), can: None },
        generation: Generation::FIRST,
        time_created: BEGUN,
        time_updated: None,
        time_deleted: None,
        time_begun: BEGUN,
        failure: None,
        time_deadline: None,
        time_due: None,
    }
}

impl Bench {
    pub(super) fn new(name: &str) -> Bench {
        let standing = ResourceStanding {
            action: ResourceAction::Create,
            status: StackStatus::Complete,
            reason: "state changed".to_owned(),
        };
        let row = StackResource {
            id: id(name),
            stack_id: id("stack"),
            name: name.to_owned(),
            kind: "OS::Heat::Whatever".to_owned(),
            standing,
            physical: None,
            definition: None,
            traversal: Generation::FIRST,
            requires: Vec::new(),
            replaces: None,
            replaced_by: None,
            deletion_policy: DeletionPolicy::Delete,
            deed: None,
            deeds: 1,
            hooks: Default::default(),
            sealed: Vec::new(),
            time_created: BEGUN,
            time_modified: BEGUN,
        };
        Bench {
            stack: stack(),
            row,
            body: ResourceBody::default(),
            child: None,
            wanted: Wanted::default(),
            now: BEGUN,
            files: Map::new(),
            siblings: Vec::new(),
            configs: HashMap::new(),
        }
    }

    /// What it is to be as.
    pub(super) fn properties(mut self, properties: Value) -> Bench {
        self.wanted.properties = map(&properties);
        self
    }

    pub(super) fn policy(mut self, policy: Value) -> Bench {
        self.wanted.update_policy = policy;
        self
    }

    pub(super) fn template(mut self, template: Value) -> Bench {
        self.wanted.template = Some(template);
        self
    }

    /// What it is as.
    pub(super) fn was(mut self, properties: Value) -> Bench {
        self.body.properties = map(&properties);
        self
    }

    pub(super) fn metadata(mut self, metadata: Value) -> Bench {
        self.body.metadata = metadata;
        self
    }

    pub(super) fn data(mut self, data: Value) -> Bench {
        self.body.data = map(&data);
        self
    }

    pub(super) fn attributes(mut self, attributes: Value) -> Bench {
        self.body.attributes = map(&attributes);
        self
    }

    pub(super) fn physical(mut self, physical: &str) -> Bench {
        self.row.physical = Some(physical.to_owned());
        self
    }

    pub(super) fn file(mut self, name: &str, text: &str) -> Bench {
        self.files.insert(name.to_owned(), Value::String(text.to_owned()));
        self
    }

    pub(super) fn deed(mut self, kind: DeedKind) -> Bench {
        self.row.deed = Some(Deed {
            kind,
            definition: None,
            traversal: Generation::FIRST,
            owner: None,
            is_idle: false,
            time_due: None,
            time_begun: BEGUN,
        });
        self
    }

    pub(super) fn child(mut self, child: ChildView) -> Bench {
        self.child = Some(child);
        self
    }

    pub(super) fn sibling(mut self, sibling: Bench) -> Bench {
        self.siblings.push(sibling);
        self
    }

    pub(super) fn config(mut self, id: &str, config: Value) -> Bench {
        self.configs.insert(id.to_owned(), map(&config));
        self
    }

    /// The same, so many seconds after the deed was begun.
    pub(super) fn at(&self, seconds: f64) -> Bench {
        let mut bench = self.clone();
        bench.now = later(BEGUN, seconds);
        bench
    }

    pub(super) fn seconds(&self, seconds: f64) -> Timestamp {
        later(BEGUN, seconds)
    }

    /// The same after a change was written.
    pub(super) fn after(&self, change: &Change) -> Bench {
        let mut bench = self.clone();
        let change = change.clone();
        bench.row.physical = change.physical.or(bench.row.physical);
        bench.body.reference = change.reference.or(bench.body.reference);
        bench.body.attributes = change.attributes.unwrap_or(bench.body.attributes);
        bench.body.metadata = change.metadata.unwrap_or(bench.body.metadata);
        bench.body.data = change.data.unwrap_or(bench.body.data);
        bench
    }

    pub(super) fn seen(&self) -> Seen<'_> {
        Seen { stack: &self.stack, row: &self.row, body: &self.body, child: self.child.as_ref() }
    }

    pub(super) fn with<T>(&self, look: impl FnOnce(&Ctx<'_>) -> T) -> T {
        let key = self.row.deed_key();
        let ctx = Ctx {
            seen: self.seen(),
            wanted: &self.wanted,
            key: &key,
            begun: BEGUN,
            now: self.now,
            files: &self.files,
            desk: self,
        };
        look(&ctx)
    }

    pub(super) fn run(&self, act: impl FnOnce(&Ctx<'_>) -> Progress) -> Progress {
        self.with(act)
    }
}

impl Desk for Bench {
    fn control(&self) -> &Control {
        panic!("generic types do without")
    }

    fn sibling(&self, reference: &str) -> Option<Seen<'_>> {
        let is_meant = |bench: &&Bench| {
            let seen = bench.seen();
            seen.reference_text() == reference
                || bench.row.physical.as_deref() == Some(reference)
                || bench.row.name == reference
        };
        self.siblings.iter().find(is_meant).map(Bench::seen)
    }

    fn signal_url(&self, kind: SignalKind) -> Result<String, Error> {
        Ok(format!("http://signals/{kind:?}/{}?a=1&b=2", self.row.name))
    }

    fn fresh_id(&self) -> Uuid {
        Uuid::from_u128(rand::random())
    }

    fn software_config<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Map<String, Value>>, Error>> {
        let config = self.configs.get(id).cloned();
        async move { Ok(config) }.boxed()
    }
}

/// What is known at once.
pub(super) fn got(doing: Doing<'_>) -> Progress {
    doing.now_or_never().expect("a local type does not wait").expect("no error")
}

pub(super) fn done(progress: Progress) -> Change {
    match progress {
        Progress::Done(change) => change,
        other => panic!("not done: {other:?}"),
    }
}

pub(super) fn failed(progress: Progress) -> String {
    match progress {
        Progress::Failed(_, failure) => format!("{}: {}", failure.kind, failure.message),
        other => panic!("not failed: {other:?}"),
    }
}

pub(super) fn waits(progress: Progress) -> (Change, Timestamp) {
    match progress {
        Progress::Wait(change, until) => (change, until),
        other => panic!("does not wait: {other:?}"),
    }
}

/// A stack below, which stands as is said.
pub(super) fn child_of(
    standing: StackStanding,
    template: Value,
    members: Vec<Member>,
) -> ChildView {
    ChildView {
        id: id("child"),
        name: "demo-group-abc".parse().expect("a name"),
        standing,
        template,
        outputs: Map::new(),
        members,
    }
}

/// A member that is as it is to be.
pub(super) fn member(name: &str, age: f64, attributes: Value) -> Member {
    Member {
        name: name.to_owned(),
        kind: "OS::Heat::TestResource".to_owned(),
        physical: Some(format!("id-{name}")),
        reference: Value::String(format!("id-{name}")),
        standing: ResourceStanding {
            action: ResourceAction::Create,
            status: StackStatus::Complete,
            reason: "state changed".to_owned(),
        },
        time_created: BEGUN.minus(std::time::Duration::from_secs_f64(age)),
        attributes: map(&attributes),
    }
}

pub(super) fn resource_id(name: &str) -> StackResourceId {
    id(name)
}
