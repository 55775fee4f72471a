//! Approvals: what somebody may do, but only when others agree.
//!
//! A *policy* says which verbs need an approval, on what, from whom not, and who has to agree. What it
//! holds back becomes an *approval*: a request that is bound to the digest of exactly what will be done.
//! It has one outcome:
//!
//! ```text
//!   waiting --enough agree--> approved --done once--> used
//!      |                         |
//!      |-- denied                |-- expired
//!      |-- expired               |-- withdrawn
//!      |-- withdrawn             '-- void
//!      '-- void
//! ```
//!
//! Who asks never agrees, and nobody agrees twice. A request is void when what it was for is gone, or
//! when somebody whom it rests on lost the right to it. Owner and deadline: `waiting` is owned by those
//! who may decide, `approved` by who asked, both until `time_expires`; the rest is final.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    ApprovalId, ApprovalPolicyId, ArrayId, Bytes, Caller, Cores, Diagnostic, Digest, Generation,
    Labels, Name, ParseNameError, Permission, PrincipalId, ProjectId, RoleName, Scope, Span,
    Timestamp, WorkloadId, WorkloadSpec, selector_matches,
};

/// What a policy can hold back.
pub const GATED: &[Permission] = &[
    Permission::TaskSubmit,
    Permission::WorkflowRun,
    Permission::WorkloadApply,
    Permission::WorkloadRemove,
    Permission::StackApply,
    Permission::StackRemove,
    Permission::LockForce,
    Permission::NodeDrain,
    Permission::NodeRemove,
    Permission::NodeAdminister,
    Permission::NodeBackup,
    Permission::SecretValue,
];

/// A request, or an approval, that lives longer is nobody's any more.
const LIFE_MAX: Span = Span::from_secs(30 * 86_400);
const LIFE_MIN: Span = Span::from_secs(60);
const LIST_MAX: usize = 50;

/// A rule with a name, in a project or for the whole installation.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalPolicy {
    pub id: ApprovalPolicyId,
    pub scope: Scope,
    pub name: Name,
    pub rule: ApprovalRule,
    pub created_by: PrincipalId,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// What needs an approval, and whose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ApprovalRule {
    /// What needs an approval: `task.submit`, `workflow.run`, `workload.apply`, `workload.remove`,
    /// `stack.apply`, `stack.remove`, `node.drain`, `node.remove`, `secret.value`.
    #[schemars(length(min = 1, max = 50))]
    pub verbs: Vec<Permission>,
    /// Only where all of this is true; everything when absent.
    #[serde(default, skip_serializing_if = "ApprovalWhen::is_empty")]
    pub when: ApprovalWhen,
    /// Who needs none: names of users, `group:NAME`, or `role:NAME` for that role and those above it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub exempt: Vec<ApprovalParty>,
    /// How many people have to agree: 1 or 2.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 2))]
    pub approvals: u32,
    /// Who may agree, of those with `approval.decide`; all of them when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub by: Vec<ApprovalParty>,
    /// How long a request waits; a day when absent.
    #[serde(default = "one_day")]
    pub request_ttl: Span,
    /// How long an approval can be used; an hour when absent.
    #[serde(default = "one_hour")]
    pub approval_ttl: Span,
}

const fn one() -> u32 {
    1
}

const fn one_day() -> Span {
    Span::from_secs(86_400)
}

const fn one_hour() -> Span {
    Span::from_secs(3600)
}

/// Which things a rule is about. What is absent narrows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct ApprovalWhen {
    /// Nodes with all of these labels, and what could run on one.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub node_labels: Labels,
    /// What has one of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub tags: Vec<String>,
    /// Containers of an image whose name begins with one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub images: Vec<String>,
    /// Privileged containers only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub privileged: bool,
    /// What asks for more cores than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores_above: Option<Cores>,
    /// What asks for more memory than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_above: Option<Bytes>,
    /// What asks for more GPUs than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus_above: Option<u32>,
}

impl ApprovalWhen {
    pub fn is_empty(&self) -> bool {
        *self == ApprovalWhen::default()
    }

    /// Whether the rule is about a thing: what would run, or a node with its labels. What is neither is
    /// met by rules without conditions only.
    pub fn matches(&self, spec: Option<&WorkloadSpec>, node: Option<&Labels>) -> bool {
        self.is_empty()
            || match (spec, node) {
                (Some(spec), _) => self.matches_spec(spec),
                (None, Some(labels)) => {
                    let of_nodes = ApprovalWhen {
                        node_labels: self.node_labels.clone(),
                        ..ApprovalWhen::default()
                    };
                    *self == of_nodes && selector_matches(&self.node_labels, labels)
                }
                (None, None) => false,
            }
    }

    fn matches_spec(&self, spec: &WorkloadSpec) -> bool {
        let image = spec.container.as_ref().map(|container| container.image.as_str());
        // What does not say where it runs could run there.
        let selector = &spec.placement.selector;
        let could_be_there =
            |(key, value): (&String, &String)| selector.get(key).is_none_or(|asked| asked == value);
        let asks = &spec.resources;
        self.node_labels.iter().all(could_be_there)
            && (self.tags.is_empty() || self.tags.iter().any(|tag| spec.tags.contains(tag)))
            && (self.images.is_empty()
                || image.is_some_and(|image| self.images.iter().any(|i| image.starts_with(i))))
            && (!self.privileged || spec.container.as_ref().is_some_and(|c| c.privileged))
            && self.cores_above.is_none_or(|most| asks.cores > most)
            && self.memory_above.is_none_or(|most| asks.memory > most)
            && self.gpus_above.is_none_or(|most| asks.gpus.count > most)
    }
}

impl ApprovalRule {
    /// Every mistake in a rule, below the pointer `at`.
    pub fn problems(&self, at: &str) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut say = |pointer: &str, text: String| {
            found.push(Diagnostic::new(format!("{at}{pointer}"), text));
        };
        if self.verbs.is_empty() {
            say("/verbs", format!("at least one verb of {}", gated_words()));
        }
        for (i, verb) in self.verbs.iter().enumerate() {
            if !GATED.contains(verb) {
                let text = format!("{verb} cannot be held back; what can is {}", gated_words());
                say(&format!("/verbs/{i}"), text);
            }
        }
        if !(1..=2).contains(&self.approvals) {
            say("/approvals", "1 or 2 people have to agree".to_owned());
        }
        for (pointer, list) in [("/exempt", &self.exempt), ("/by", &self.by)] {
            if list.len() > LIST_MAX {
                say(pointer, format!("at most {LIST_MAX}"));
            }
        }
        for (pointer, list) in
            [("/when/tags", &self.when.tags), ("/when/images", &self.when.images)]
        {
            if list.len() > LIST_MAX || list.iter().any(String::is_empty) {
                say(pointer, format!("at most {LIST_MAX}, and none is empty"));
            }
        }
        for (pointer, life) in
            [("/requestTtl", self.request_ttl), ("/approvalTtl", self.approval_ttl)]
        {
            if !(LIFE_MIN..=LIFE_MAX).contains(&life) {
                say(pointer, format!("{LIFE_MIN} to {LIFE_MAX}"));
            }
        }
        found
    }

    /// What it holds back, in words.
    pub fn words(&self) -> String {
        let verbs: Vec<&str> = self.verbs.iter().map(|verb| verb.label()).collect();
        let who = match self.by.as_slice() {
            [] => "who may decide".to_owned(),
            by => by.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        };
        let count = if self.approvals == 1 { "one" } else { "two" };
        format!("{} needs {count} of {who}", verbs.join(", "))
    }
}

fn gated_words() -> String {
    GATED.iter().map(|verb| verb.label()).collect::<Vec<_>>().join(", ")
}

/// Somebody a policy names: a user, `group:NAME`, or `role:NAME`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApprovalParty {
    User(Name),
    Group(Name),
    /// Whoever holds the role; of a built-in one also who holds one above it.
    Role(RoleName),
}

impl ApprovalParty {
    /// Whether a caller, who is in these groups, is meant.
    pub fn has(&self, caller: &Caller, groups: &[Name], scope: Scope) -> bool {
        match self {
            ApprovalParty::User(name) => caller.name == *name,
            ApprovalParty::Group(name) => groups.contains(name),
            ApprovalParty::Role(role) => caller.grants.iter().any(|grant| {
                grant.holds_in(scope)
                    && match (role, &grant.role) {
                        (RoleName::BuiltIn(least), RoleName::BuiltIn(held)) => held >= least,
                        (asked, held) => asked == held,
                    }
            }),
        }
    }
}

impl fmt::Display for ApprovalParty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApprovalParty::User(name) => f.pad(name.as_str()),
            ApprovalParty::Group(name) => f.pad(&format!("group:{name}")),
            ApprovalParty::Role(role) => f.pad(&format!("role:{role}")),
        }
    }
}

impl FromStr for ApprovalParty {
    type Err = ParseNameError;
    fn from_str(text: &str) -> Result<ApprovalParty, ParseNameError> {
        match text.split_once(':') {
            Some(("group", name)) => name.parse().map(ApprovalParty::Group),
            Some(("role", name)) => name.parse().map(ApprovalParty::Role),
            _ => text.parse().map(ApprovalParty::User),
        }
    }
}

impl Serialize for ApprovalParty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ApprovalParty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for ApprovalParty {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ApprovalParty".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^((group|role):)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
        })
    }
}

crate::labels! {
    pub enum ApprovalState ("approval state") {
        /// Somebody has to decide.
        Waiting = "waiting",
        /// Enough people agreed, and it was not done yet.
        Approved = "approved",
        /// It was done.
        Used = "used",
        Denied = "denied",
        Expired = "expired",
        /// Who asked took it back.
        Withdrawn = "withdrawn",
        /// What it was for is gone, or somebody lost the right to it.
        Void = "void",
    }
}

impl ApprovalState {
    /// Nothing further happens.
    pub const fn is_final(self) -> bool {
        !matches!(self, ApprovalState::Waiting | ApprovalState::Approved)
    }
}

/// What one policy asks of one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalNeed {
    pub policy: ApprovalPolicyId,
    pub name: Name,
    pub approvals: u32,
    pub by: Vec<ApprovalParty>,
    pub approval_ttl: Span,
}

/// What somebody said to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalDecision {
    pub by: PrincipalId,
    /// As they were called then.
    pub name: Name,
    pub is_approval: bool,
    pub reason: String,
    /// The policies it counts for.
    pub policies: Vec<ApprovalPolicyId>,
    pub time: Timestamp,
}

/// Something that is held back until others agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    pub id: ApprovalId,
    /// Absent for what belongs to none, such as nodes.
    pub project_id: Option<ProjectId>,
    pub verb: Permission,
    /// Of what it is about.
    pub name: String,
    /// Of exactly what will be done.
    pub digest: Digest,
    /// The same for people, without what not everybody may see.
    pub what: serde_json::Value,
    pub requested_by: PrincipalId,
    /// Tasks that wait for it.
    pub tasks: Vec<WorkloadId>,
    /// The array that waits for it.
    pub array_id: Option<ArrayId>,
    pub needs: Vec<ApprovalNeed>,
    pub decisions: Vec<ApprovalDecision>,
    pub state: ApprovalState,
    /// Why it ended, in words.
    pub why: String,
    pub generation: Generation,
    pub time_created: Timestamp,
    /// When the request, and later the approval, is worth nothing any more.
    pub time_expires: Timestamp,
    pub time_ended: Option<Timestamp>,
}

/// Why a decision does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalRefusal {
    #[error("it is {0} already")]
    Settled(ApprovalState),
    #[error("who asks never agrees to it")]
    Own,
    #[error("you have agreed to it already; another person has to agree too")]
    Twice,
    #[error("its policies name others to decide")]
    NotAsked,
}

impl Approval {
    /// What its events say to programs.
    pub fn payload(&self) -> crate::ApprovalPayload {
        crate::ApprovalPayload {
            id: self.id,
            verb: self.verb,
            digest: self.digest,
            state: self.state,
            time_expires: self.time_expires,
        }
    }

    pub const fn scope(&self) -> Scope {
        match self.project_id {
            Some(project) => Scope::Project(project),
            None => Scope::Global,
        }
    }

    /// The state at a time: what is past its time is worth nothing, even before somebody wrote that down.
    pub fn state_at(&self, now: Timestamp) -> ApprovalState {
        match self.state.is_final() || now < self.time_expires {
            true => self.state,
            false => ApprovalState::Expired,
        }
    }

    /// How many people agreed for a need.
    pub fn agreed(&self, need: &ApprovalNeed) -> u32 {
        let counts = |d: &&ApprovalDecision| d.is_approval && d.policies.contains(&need.policy);
        u32::try_from(self.decisions.iter().filter(counts).count()).unwrap_or(u32::MAX)
    }

    fn is_met(&self) -> bool {
        self.needs.iter().all(|need| self.agreed(need) >= need.approvals)
    }

    /// With one more decision: the one place where a request is approved or denied.
    pub fn decided(&self, decision: ApprovalDecision) -> Result<Approval, ApprovalRefusal> {
        let now = decision.time;
        match self.state_at(now) {
            ApprovalState::Waiting => {}
            other => return Err(ApprovalRefusal::Settled(other)),
        }
        if decision.by == self.requested_by && decision.is_approval {
            return Err(ApprovalRefusal::Own);
        }
        if decision.is_approval && self.decisions.iter().any(|d| d.by == decision.by) {
            return Err(ApprovalRefusal::Twice);
        }
        if decision.policies.is_empty() {
            return Err(ApprovalRefusal::NotAsked);
        }
        let mut next = self.clone();
        if !decision.is_approval {
            let why = match decision.reason.as_str() {
                "" => format!("denied by {}", decision.name),
                reason => format!("denied by {}: {reason}", decision.name),
            };
            next.decisions.push(decision);
            return Ok(next.ended(ApprovalState::Denied, why, now));
        }
        next.decisions.push(decision);
        if next.is_met() {
            next.state = ApprovalState::Approved;
            let life = next.needs.iter().map(|need| need.approval_ttl).min().unwrap_or(one_hour());
            next.time_expires = now.plus(life.duration());
        }
        Ok(next)
    }

    /// Ended otherwise, or used.
    #[must_use]
    pub fn ended(&self, state: ApprovalState, why: impl Into<String>, now: Timestamp) -> Approval {
        Approval { state, why: why.into(), time_ended: Some(now), ..self.clone() }
    }

    /// Which needs somebody can decide on.
    pub fn asked_of(&self, caller: &Caller, groups: &[Name]) -> Vec<ApprovalPolicyId> {
        let scope = self.scope();
        self.needs
            .iter()
            .filter(|need| {
                need.by.is_empty() || need.by.iter().any(|party| party.has(caller, groups, scope))
            })
            .map(|need| need.policy)
            .collect()
    }
}

/// The digest of what will be done: one for one meaning, whatever the order of its fields.
pub fn approval_digest(
    verb: Permission,
    project: Option<ProjectId>,
    name: &str,
    what: &serde_json::Value,
) -> Digest {
    let project = project.map(|project| project.to_string()).unwrap_or_default();
    let what = canonical(what).to_string();
    let mut hasher = blake3::Hasher::new();
    for part in ["hostler approval 1", verb.label(), &project, name, &what] {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    Digest::from_bytes(*hasher.finalize().as_bytes())
}

/// With the fields of every object in the order of their names.
fn canonical(value: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(fields) => {
            let sorted: std::collections::BTreeMap<&String, &Value> = fields.iter().collect();
            Value::Object(sorted.into_iter().map(|(k, v)| (k.clone(), canonical(v))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
