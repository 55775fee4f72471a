//! Everything that a plugin has to hold, tried out without a server.
//!
//! Each type is taken through its life with the properties of its example: made, made again under the same key, looked at,
//! changed, replaced, taken over, removed, and removed again; once with a crash in the middle and several at once. What a type
//! says it cannot do is left out, and said so.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hostler_model::stack::{
    PluginDone, PluginExample, PluginManifest, PluginPrior, PluginReply, PluginRequest, PluginType,
    PluginVerb,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Plugin;

/// How many are made at once.
const AT_ONCE: usize = 4;
/// How long a call is let go on before it is ended in the middle.
const CRASH: Duration = Duration::from_millis(30);
/// How often something that takes time is asked after.
const POLLS_MAX: usize = 200;
/// What stands for an empty directory in an example.
const WORKDIR: &str = "${workdir}";
/// No type has it.
const UNKNOWN: &str = "no_such_property";

/// How a try ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    Passed,
    Failed,
    /// The type says that it cannot.
    Skipped,
}

/// One thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// Of which type; empty where it is about all of it.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub kind: String,
    pub check: &'static str,
    pub result: Mark,
    /// What went wrong, or why it was left out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Milliseconds.
    pub duration: u64,
}

/// Tries everything out, below a directory that may be filled.
pub async fn examine(plugin: &Plugin, scratch: &Path) -> Vec<Trial> {
    let mut book = Book::default();
    let began = Instant::now();
    let manifest = plugin.manifest().await;
    let manifest = manifest.map_err(|trouble| trouble.to_string());
    let Some(manifest) = book.note("", "handshake", began, manifest) else { return book.trials };
    let began = Instant::now();
    let schema = sane(plugin, &manifest).await;
    if book.note("", "schema", began, schema).is_none() {
        return book.trials;
    }
    for (number, (kind, it)) in manifest.types.iter().enumerate() {
        let life = Life {
            plugin,
            kind,
            it,
            scratch: scratch.join(number.to_string()),
            number: std::cell::Cell::new(0),
            slowest: std::cell::Cell::new(Duration::ZERO),
        };
        Box::pin(life.examine(&mut book)).await;
    }
    book.trials
}

async fn sane(plugin: &Plugin, manifest: &PluginManifest) -> Result<(), String> {
    let problems = manifest.problems();
    if !problems.is_empty() {
        let all = problems.iter().map(|one| format!("{}: {}", one.pointer, one.detail));
        return Err(all.collect::<Vec<_>>().join("; "));
    }
    let again = plugin.manifest().await.map_err(|trouble| trouble.to_string())?;
    match again.digest() == manifest.digest() {
        true => Ok(()),
        false => Err("it says something else of its types every time".to_owned()),
    }
}

#[derive(Default)]
struct Book {
    trials: Vec<Trial>,
}

impl Book {
    fn note<T>(
        &mut self,
        kind: &str,
        check: &'static str,
        began: Instant,
        came: Result<T, String>,
    ) -> Option<T> {
        let (result, message, value) = match came {
            Ok(value) => (Mark::Passed, String::new(), Some(value)),
            Err(why) => (Mark::Failed, why, None),
        };
        let duration = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.trials.push(Trial { kind: kind.to_owned(), check, result, message, duration });
        value
    }

    fn skip(&mut self, kind: &str, check: &'static str, why: &str) {
        let message = why.to_owned();
        let trial =
            Trial { kind: kind.to_owned(), check, result: Mark::Skipped, message, duration: 0 };
        self.trials.push(trial);
    }
}

/// An object that was made.
#[derive(Clone, Debug, Default)]
struct Made {
    reference: String,
    key: String,
    properties: Map<String, Value>,
    attributes: Map<String, Value>,
    state: Value,
}

impl Made {
    fn prior(&self) -> PluginPrior {
        PluginPrior {
            reference: Some(self.reference.clone()),
            key: self.key.clone(),
            properties: self.properties.clone(),
            attributes: self.attributes.clone(),
            state: self.state.clone(),
        }
    }

    fn take(&mut self, done: PluginDone) {
        if let Some(attributes) = done.attributes {
            self.attributes = attributes;
        }
        if let Some(state) = done.state {
            self.state = state;
        }
    }
}

/// One type on its way.
struct Life<'a> {
    plugin: &'a Plugin,
    kind: &'a str,
    it: &'a PluginType,
    scratch: PathBuf,
    number: std::cell::Cell<u32>,
    slowest: std::cell::Cell<Duration>,
}

impl Life<'_> {
    async fn examine(&self, book: &mut Book) {
        let Some(example) = self.it.example.clone() else {
            let began = Instant::now();
            let why = "it has no example, so nothing of it can be tried out".to_owned();
            book.note::<()>(self.kind, "example", began, Err(why));
            return;
        };
        let began = Instant::now();
        let made = self.created(&example).await;
        let Some(mut made) = book.note(self.kind, "create", began, made) else { return };
        let began = Instant::now();
        let again = self.created_again(&made).await;
        book.note(self.kind, "create-again", began, again);
        let began = Instant::now();
        book.note(self.kind, "attributes", began, self.attributes(&made));
        self.looked_at(book, "check", "get", &made).await;
        self.updated(book, &example, &mut made).await;
        let began = Instant::now();
        let unknown = self.unknown(&made).await;
        book.note(self.kind, "unknown-property", began, unknown);
        self.adopted(book, &made).await;
        self.replaced(book, &example, &made).await;
        let began = Instant::now();
        let gone = self.deleted(&made, false).await;
        book.note(self.kind, "delete", began, gone);
        let began = Instant::now();
        let gone = self.deleted(&made, true).await;
        book.note(self.kind, "delete-again", began, gone);
        let began = Instant::now();
        let crashed = self.crashed(&example).await;
        book.note(self.kind, "crash", began, crashed);
        match has_workdir(&example.create) {
            false => book.skip(self.kind, "parallel", "its example does not use ${workdir}"),
            true => {
                let began = Instant::now();
                let parallel = self.parallel(&example).await;
                book.note(self.kind, "parallel", began, parallel);
            }
        }
        let began = Instant::now();
        let (slowest, limit) = (self.slowest.get(), self.plugin.timeout);
        let timely = match slowest < limit {
            true => Ok(()),
            false => Err(format!(
                "a call took {:.1} s, and may take {:.1} s",
                slowest.as_secs_f64(),
                limit.as_secs_f64()
            )),
        };
        book.note(self.kind, "time", began, timely);
    }

    fn next(&self) -> u32 {
        self.number.set(self.number.get() + 1);
        self.number.get()
    }

    /// Properties of the example, in a directory of their own.
    fn properties(
        &self,
        of: &Map<String, Value>,
        folder: &str,
    ) -> Result<Map<String, Value>, String> {
        let place = self.scratch.join(folder);
        std::fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        let mut properties = of.clone();
        for value in properties.values_mut() {
            settle(value, &place.to_string_lossy());
        }
        for (name, property) in &self.it.properties {
            if !property.default.is_null() && !properties.contains_key(name) {
                properties.insert(name.clone(), property.default.clone());
            }
        }
        Ok(properties)
    }

    fn request(
        &self,
        verb: PluginVerb,
        key: &str,
        properties: &Map<String, Value>,
    ) -> PluginRequest {
        let number = self.next();
        PluginRequest {
            id: format!("r{number}"),
            verb,
            kind: self.kind.to_owned(),
            key: key.to_owned(),
            name: format!("kit-{}", key.replace('/', "-")),
            properties: properties.clone(),
            prior: None,
            changed: Vec::new(),
            waiting: None,
            left: Map::new(),
            deadline: self.plugin.timeout.as_secs(),
        }
    }

    /// Asks, and asks after what takes time until it is over.
    async fn ask(&self, request: PluginRequest) -> Result<PluginReply, String> {
        let mut next = request.clone();
        for _ in 0..POLLS_MAX {
            let began = Instant::now();
            let called = self.plugin.call(&next).await;
            self.slowest.set(self.slowest.get().max(began.elapsed()));
            let (_, reply) = called.map_err(|trouble| trouble.to_string())?;
            let PluginReply::InProgress { reference, state, poll_after } = reply else {
                return Ok(reply);
            };
            let wait = poll_after.filter(|wait| wait.is_finite()).unwrap_or(1.0).clamp(0.0, 5.0);
            tokio::time::sleep(Duration::from_secs_f64(wait)).await;
            let mut prior = next.prior.clone().unwrap_or_default();
            prior.key.clone_from(&request.key);
            prior.reference = reference.or(prior.reference);
            prior.state = state;
            next = PluginRequest {
                id: format!("r{}", self.next()),
                verb: PluginVerb::Poll,
                waiting: Some(request.verb),
                prior: Some(prior),
                ..request.clone()
            };
        }
        Err(format!("it was still in progress when it was asked for the {POLLS_MAX}th time"))
    }

    async fn make(&self, key: &str, properties: Map<String, Value>) -> Result<Made, String> {
        let reply = self.ask(self.request(PluginVerb::Create, key, &properties)).await?;
        let done = done(reply)?;
        let reference = done.reference.clone().filter(|reference| !reference.is_empty());
        let reference = reference.ok_or("it made something without a reference")?;
        let mut made = Made { reference, key: key.to_owned(), properties, ..Made::default() };
        made.take(done);
        Ok(made)
    }

    async fn created(&self, example: &PluginExample) -> Result<Made, String> {
        self.make("kit/1", self.properties(&example.create, "one")?).await
    }

    async fn created_again(&self, made: &Made) -> Result<(), String> {
        let again = self.make(&made.key, made.properties.clone()).await?;
        match again.reference == made.reference {
            true => Ok(()),
            false => Err(format!(
                "the same key made another one: `{}` and `{}`",
                made.reference, again.reference
            )),
        }
    }

    fn attributes(&self, made: &Made) -> Result<(), String> {
        let missing = self.it.attributes.keys().filter(|name| !made.attributes.contains_key(*name));
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        if !missing.is_empty() {
            return Err(format!("it does not say {}", missing.join(", ")));
        }
        let wrong = self.it.attributes.iter().filter(|(name, it)| {
            let value = &made.attributes[*name];
            !value.is_null() && !it.kind.takes(value)
        });
        let wrong: Vec<&str> = wrong.map(|(name, _)| name.as_str()).collect();
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!("not of the kind that it says: {}", wrong.join(", "))),
        }
    }

    async fn looked_at(
        &self,
        book: &mut Book,
        check: &'static str,
        get: &'static str,
        made: &Made,
    ) {
        match self.it.can(PluginVerb::Check) {
            false => book.skip(self.kind, check, "it has no `check`"),
            true => {
                let began = Instant::now();
                let well = self.of(PluginVerb::Check, made).await.and_then(done).map(drop);
                book.note(self.kind, check, began, well);
            }
        }
        match self.it.can(PluginVerb::Get) {
            false => book.skip(self.kind, get, "it has no `get`"),
            true => {
                let began = Instant::now();
                let same = self.same(made).await;
                book.note(self.kind, get, began, same);
            }
        }
    }

    async fn of(&self, verb: PluginVerb, made: &Made) -> Result<PluginReply, String> {
        let request = self.request(verb, &format!("kit/look-{}", self.next()), &made.properties);
        self.ask(PluginRequest { prior: Some(made.prior()), ..request }).await
    }

    /// Whether it says of the object what it was made with.
    async fn same(&self, made: &Made) -> Result<(), String> {
        let found = done(self.of(PluginVerb::Get, made).await?)?.properties;
        let found = found.ok_or("`get` does not say the properties")?;
        let other = found.iter().filter(|(name, value)| {
            made.properties.get(*name).is_some_and(|known| known != *value)
        });
        let other: Vec<String> = other
            .map(|(name, value)| format!("{name} is {value}, and was {}", made.properties[name]))
            .collect();
        let strange = found.keys().filter(|name| !self.it.properties.contains_key(*name));
        let strange: Vec<String> = strange.map(|name| format!("{name} is no property")).collect();
        let wrong = [other, strange].concat();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }

    async fn updated(&self, book: &mut Book, example: &PluginExample, made: &mut Made) {
        if !self.it.can(PluginVerb::Update) || example.update.is_empty() {
            let why = match self.it.can(PluginVerb::Update) {
                false => "it has no `update`",
                true => "its example has no `update`",
            };
            return book.skip(self.kind, "update", why);
        }
        let began = Instant::now();
        let changed = self.change(example, made).await;
        book.note(self.kind, "update", began, changed);
    }

    async fn change(&self, example: &PluginExample, made: &mut Made) -> Result<(), String> {
        let mut wanted = made.properties.clone();
        let given = self.properties(&example.update, "one")?;
        let changes = given.into_iter().filter(|(name, _)| example.update.contains_key(name));
        wanted.extend(changes);
        for round in ["it", "it again under the same key"] {
            let request = PluginRequest {
                prior: Some(made.prior()),
                changed: example.update.keys().cloned().collect(),
                ..self.request(PluginVerb::Update, "kit/update", &wanted)
            };
            let reply = done(self.ask(request).await?).map_err(|why| format!("{round}: {why}"))?;
            if let Some(other) = reply.reference.as_ref().filter(|it| **it != made.reference) {
                return Err(format!("it became another one: `{other}`"));
            }
            made.take(reply);
        }
        made.properties = wanted;
        if self.it.can(PluginVerb::Get) { self.same(made).await } else { Ok(()) }
    }

    async fn unknown(&self, made: &Made) -> Result<(), String> {
        let mut properties = made.properties.clone();
        properties.insert(UNKNOWN.to_owned(), json!("x"));
        let request = self.request(PluginVerb::Create, "kit/unknown", &properties);
        match self.ask(request).await? {
            PluginReply::Failed { retryable: false, .. } => Ok(()),
            PluginReply::Failed { .. } => {
                Err("it says that trying again would help with a property that there is not".into())
            }
            other => Err(format!("it took a property that there is not: {}", word(&other))),
        }
    }

    async fn adopted(&self, book: &mut Book, made: &Made) {
        if !self.it.can(PluginVerb::Adopt) {
            return book.skip(self.kind, "adopt", "it has no `adopt`");
        }
        let began = Instant::now();
        let request = PluginRequest {
            left: Map::from_iter([("resource_id".to_owned(), json!(made.reference))]),
            prior: Some(PluginPrior {
                reference: Some(made.reference.clone()),
                ..PluginPrior::default()
            }),
            ..self.request(PluginVerb::Adopt, "kit/adopt", &made.properties)
        };
        let taken = self.ask(request).await.and_then(done).and_then(|done| match done.reference {
            Some(other) if other != made.reference => {
                Err(format!("it took over another one: `{other}`"))
            }
            _ => Ok(()),
        });
        book.note(self.kind, "adopt", began, taken);
    }

    async fn replaced(&self, book: &mut Book, example: &PluginExample, made: &Made) {
        if example.replace.is_empty() {
            return book.skip(self.kind, "replace", "its example has no `replace`");
        }
        let began = Instant::now();
        let came = self.replace(example, made).await;
        book.note(self.kind, "replace", began, came);
    }

    async fn replace(&self, example: &PluginExample, made: &Made) -> Result<(), String> {
        let mut properties = made.properties.clone();
        let given = self.properties(&example.replace, "one")?;
        let changes = given.into_iter().filter(|(name, _)| example.replace.contains_key(name));
        properties.extend(changes);
        let other = self.make("kit/2", properties).await?;
        if other.reference == made.reference {
            return Err(format!(
                "it is the same as the one that it replaces: `{}`",
                made.reference
            ));
        }
        if self.it.can(PluginVerb::Check) {
            done(self.of(PluginVerb::Check, made).await?)
                .map_err(|why| format!("the old one is not well beside the new one: {why}"))?;
        }
        self.deleted(&other, false).await?;
        if self.it.can(PluginVerb::Check) {
            done(self.of(PluginVerb::Check, made).await?)
                .map_err(|why| format!("removing the new one hurt the old one: {why}"))?;
        }
        Ok(())
    }

    async fn deleted(&self, made: &Made, is_gone: bool) -> Result<(), String> {
        match self.of(PluginVerb::Delete, made).await? {
            PluginReply::Done(_) | PluginReply::NotFound => {}
            PluginReply::Failed { reason, .. } => {
                let when = if is_gone { "when it was gone already" } else { "at first" };
                return Err(format!("it failed {when}: {reason}"));
            }
            other => return Err(format!("it said {}", word(&other))),
        }
        if !is_gone && self.it.can(PluginVerb::Get) {
            let reply = self.of(PluginVerb::Get, made).await?;
            if reply != PluginReply::NotFound {
                return Err(format!("`get` says {} of what is gone", word(&reply)));
            }
        }
        if !is_gone && self.it.can(PluginVerb::Check) {
            let reply = self.of(PluginVerb::Check, made).await?;
            if matches!(reply, PluginReply::Done(_)) {
                return Err("`check` says that what is gone is well".to_owned());
            }
        }
        Ok(())
    }

    /// A call is ended somewhere in the middle, made again under its key, and what there is then is removed.
    async fn crashed(&self, example: &PluginExample) -> Result<(), String> {
        for (number, part) in [1, 2, 4, 8].into_iter().enumerate() {
            let key = format!("kit/crash-{number}");
            let properties = self.properties(&example.create, &format!("crash-{number}"))?;
            let request = self.request(PluginVerb::Create, &key, &properties);
            let hurried = Plugin { timeout: CRASH * part, ..self.plugin.clone() };
            let _it_may_have_ended_or_not = hurried.call(&request).await;
            let made = self.make(&key, properties).await?;
            self.created_again(&made).await?;
            self.deleted(&made, false).await?;
        }
        let key = "kit/crash-unknown";
        let properties = self.properties(&example.create, "crash-unknown")?;
        let made = self.make(key, properties.clone()).await?;
        let nobody_knows = PluginPrior { reference: None, state: Value::Null, ..made.prior() };
        let request = self.request(PluginVerb::Delete, "kit/crash-delete", &properties);
        let reply = self.ask(PluginRequest { prior: Some(nobody_knows), ..request }).await?;
        if let PluginReply::Failed { reason, .. } = reply {
            return Err(format!(
                "it cannot remove what was made under a key when nobody knows its reference: {reason}"
            ));
        }
        if self.it.can(PluginVerb::Get)
            && self.of(PluginVerb::Get, &made).await? != PluginReply::NotFound
        {
            return Err("what was made under a key is still there when it was removed by its key, without a reference".to_owned());
        }
        self.deleted(&made, true).await
    }

    async fn parallel(&self, example: &PluginExample) -> Result<(), String> {
        let one = |number: usize| async move {
            let properties = self.properties(&example.create, &format!("parallel-{number}"))?;
            self.make(&format!("kit/parallel-{number}"), properties).await
        };
        let all = futures::future::join_all((0..AT_ONCE).map(one)).await;
        let all = all.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut references: Vec<&str> = all.iter().map(|made| made.reference.as_str()).collect();
        references.sort_unstable();
        references.dedup();
        if references.len() != AT_ONCE {
            return Err(format!("{AT_ONCE} were made at once, and they are {}", references.len()));
        }
        let gone =
            futures::future::join_all(all.iter().map(|made| self.deleted(made, false))).await;
        gone.into_iter().collect()
    }
}

fn done(reply: PluginReply) -> Result<PluginDone, String> {
    match reply {
        PluginReply::Done(done) => Ok(done),
        PluginReply::Failed { reason, .. } if reason.is_empty() => {
            Err("it failed, and does not say why".to_owned())
        }
        PluginReply::Failed { reason, .. } => Err(reason),
        other => Err(format!("it said {}", word(&other))),
    }
}

fn word(reply: &PluginReply) -> &'static str {
    match reply {
        PluginReply::Done(_) => "done",
        PluginReply::InProgress { .. } => "in_progress",
        PluginReply::Failed { .. } => "failed",
        PluginReply::NotFound => "not_found",
    }
}

fn has_workdir(properties: &Map<String, Value>) -> bool {
    Value::Object(properties.clone()).to_string().contains(WORKDIR)
}

fn settle(value: &mut Value, place: &str) {
    match value {
        Value::String(text) => *text = text.replace(WORKDIR, place),
        Value::Array(items) => items.iter_mut().for_each(|item| settle(item, place)),
        Value::Object(fields) => fields.values_mut().for_each(|field| settle(field, place)),
        _ => {}
    }
}
