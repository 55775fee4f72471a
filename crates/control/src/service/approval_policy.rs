//! Policies of approvals: what needs one, in a project or on the whole installation.
//!
//! A policy counts from the next request on. What waits already keeps the needs that it was made with,
//! so nobody loosens a rule to let a request of their own through: it has to be made anew.

use hostler_model::{
    ApprovalPolicy, ApprovalPolicyPayload, ApprovalRule, Diagnostic, Error, EventKind, Generation,
    Limit, Name, ObjectKind, ObjectRef, Page, Project, ProjectId, Reach, Scope,
};
use serde_json::json;

use super::project::{settled, taken};
use super::task::Names;
use crate::{Control, Cx};

/// A policy with names.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalPolicyDetail {
    pub policy: ApprovalPolicy,
    /// `None` is the whole installation.
    pub project: Option<Name>,
    pub created_by: String,
}

fn scope(project: Option<&Project>) -> Scope {
    project.map_or(Scope::Global, |project| Scope::Project(project.id))
}

impl Control {
    /// Of a project, or of the whole installation, by name.
    pub async fn approval_policy_list(
        &self,
        _: &Cx,
        project: Option<&Project>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<ApprovalPolicyDetail>, Error> {
        let mut read = self.store.read().await?;
        let page = read.approval_policy_list(scope(project), after, limit).await?;
        let mut names = Names::default();
        let mut items = Vec::with_capacity(page.items.len());
        for policy in page.items {
            let created_by = names.principal(&mut read, policy.created_by).await?;
            let project = project.map(|project| project.name.clone());
            items.push(ApprovalPolicyDetail { policy, project, created_by });
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn approval_policy_get(
        &self,
        _: &Cx,
        project: Option<&Project>,
        name: &str,
    ) -> Result<ApprovalPolicyDetail, Error> {
        let policy = self.approval_policy_find(project, name).await?;
        let mut read = self.store.read().await?;
        let created_by = Names::default().principal(&mut read, policy.created_by).await?;
        let project = project.map(|project| project.name.clone());
        Ok(ApprovalPolicyDetail { policy, project, created_by })
    }

    /// Makes a policy of this name be like this. One that is there is changed only from the generation
    /// that the caller saw; zero is none.
    pub async fn approval_policy_set(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        name: &Name,
        rule: ApprovalRule,
        expected: Generation,
    ) -> Result<ApprovalPolicyDetail, Error> {
        let mut problems = rule.problems("");
        let is_global = |(i, verb): (usize, &hostler_model::Permission)| {
            (verb.reach() == Reach::Global).then(|| {
                let text = format!("{verb} is about the whole installation; set it with --global");
                Diagnostic::new(format!("/verbs/{i}"), text)
            })
        };
        if project.is_some() {
            problems.extend(rule.verbs.iter().enumerate().filter_map(is_global));
        }
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let now = self.now();
        let fresh = ApprovalPolicy {
            id: self.ids.fresh(),
            scope: scope(project),
            name: name.clone(),
            rule,
            created_by: cx.caller.principal_id,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        let project_id: Option<ProjectId> = project.map(|project| project.id);
        let fresh = &fresh;
        self.store
            .tx("approval_policy_set", |tx| {
                Box::pin(async move {
                    let before = tx.approval_policy_by_name(fresh.scope, &fresh.name).await?;
                    let (id, kind, words) = match &before {
                        None if expected != Generation::ZERO => {
                            return Err(Error::not_found("approval policy", &fresh.name));
                        }
                        None => {
                            tx.approval_policy_insert(fresh)
                                .await
                                .map_err(|e| taken(e, "approval policy", &fresh.name))?;
                            (fresh.id, EventKind::ApprovalPolicyCreated, "made")
                        }
                        Some(before) if before.rule == fresh.rule => return Ok(()),
                        Some(before) if expected == Generation::ZERO => {
                            return Err(Error::stale("approval policy", before.generation));
                        }
                        Some(before) => {
                            let after = ApprovalPolicy {
                                rule: fresh.rule.clone(),
                                time_modified: now,
                                ..before.clone()
                            };
                            let update = tx.approval_policy_update(&after, expected).await?;
                            settled(update, "approval policy", &fresh.name)?;
                            (before.id, EventKind::ApprovalPolicyChanged, "changed")
                        }
                    };
                    let object = ObjectRef::new(ObjectKind::ApprovalPolicy, id, &fresh.name);
                    let message = format!("{words}: {}", fresh.rule.words());
                    let event = self
                        .event(kind, project_id, &object, cx.actor(), message)
                        .with_payload(ApprovalPolicyPayload::from(&fresh.rule));
                    let detail = json!({ "rule": fresh.rule });
                    let was = before.map(|before| json!({ "rule": before.rule }));
                    let audit = self
                        .audit(cx, "approval-policy.set", &object, project_id, detail.clone())
                        .with_states(was.as_ref(), Some(&detail));
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.feed.ring();
        self.approval_policy_get(cx, project, name.as_str()).await
    }

    pub async fn approval_policy_remove(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        name: &str,
        expected: Generation,
    ) -> Result<(), Error> {
        let policy = self.approval_policy_find(project, name).await?;
        let project_id = project.map(|project| project.id);
        let object = ObjectRef::new(ObjectKind::ApprovalPolicy, policy.id, &policy.name);
        let kind = EventKind::ApprovalPolicyRemoved;
        let event = self
            .event(kind, project_id, &object, cx.actor(), "removed")
            .with_payload(ApprovalPolicyPayload::from(&policy.rule));
        let was = json!({ "rule": policy.rule });
        let audit = self
            .audit(cx, "approval-policy.remove", &object, project_id, was.clone())
            .with_states(Some(&was), None);
        let (policy, event, audit) = (&policy, &event, &audit);
        self.store
            .tx("approval_policy_remove", |tx| {
                Box::pin(async move {
                    let update = tx.approval_policy_delete(policy, expected).await?;
                    settled(update, "approval policy", &policy.name)?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.feed.ring();
        Ok(())
    }

    async fn approval_policy_find(
        &self,
        project: Option<&Project>,
        name: &str,
    ) -> Result<ApprovalPolicy, Error> {
        let missing = || Error::not_found("approval policy", name);
        let parsed: Name = name.parse().map_err(|_| missing())?;
        let mut read = self.store.read().await?;
        let found = read.approval_policy_by_name(scope(project), &parsed).await?;
        found.ok_or_else(missing)
    }
}
