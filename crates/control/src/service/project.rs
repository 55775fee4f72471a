//! Projects.

use hostler_model::{
    Code, Diagnostic, Error, EventKind, Generation, Limit, Name, Need, ObjectKind, ObjectRef, Page,
    Permission, Project, ProjectPayload, Quota,
};
use hostler_store::Update;
use serde_json::json;

use crate::audit_state;
use crate::{Control, Cx};

impl Control {
    pub async fn project_list(
        &self,
        cx: &Cx,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Project>, Error> {
        let visible = cx.caller.projects_with(Permission::ProjectRead);
        Ok(self.store.read().await?.project_list(visible.as_deref(), after, limit).await?)
    }

    /// What `change` leaves out is as for most.
    pub async fn project_create(
        &self,
        cx: &Cx,
        name: Name,
        change: ProjectChange,
    ) -> Result<Project, Error> {
        change.look()?;
        let now = self.now();
        let project = Project {
            id: self.ids.fresh(),
            name,
            description: change.description.unwrap_or_default(),
            quota: change.quota.unwrap_or_default(),
            weight: change.weight.unwrap_or(1),
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        let object = ObjectRef::new(ObjectKind::Project, project.id, &project.name);
        let event = self
            .event(EventKind::ProjectCreated, Some(project.id), &object, cx.actor(), "created")
            .with_payload(ProjectPayload::from(&project));
        let audit = self
            .audit(cx, "project.create", &object, Some(project.id), json!({}))
            .with_states(None, Some(&audit_state::project(&project)));
        let (project_ref, object, event, audit) = (&project, &object, &event, &audit);
        let replay = self
            .store
            .tx("project_create", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return Ok(Some(made));
                    }
                    tx.project_insert(project_ref)
                        .await
                        .map_err(|e| taken(e, "project", &project_ref.name))?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(None)
                })
            })
            .await?;
        self.feed.ring();
        match replay {
            Some(made) => self.project_resolve(&made.id).await,
            None => Ok(project),
        }
    }

    /// Weight and quota are what projects have of each other: only somebody above all of them may change
    /// them.
    pub async fn project_update(
        &self,
        cx: &Cx,
        project: &Project,
        change: ProjectChange,
        expected: Generation,
    ) -> Result<Project, Error> {
        change.look()?;
        let words = change.words();
        let is_share = change.weight.is_some() || change.quota.is_some();
        if is_share && !cx.caller.may(Need::of(Permission::ProjectShare, None)) {
            return Err(Error::forbidden(
                "weight and quota of a project are set by an admin of the whole installation",
            ));
        }
        let mut changed = project.clone();
        changed.description = change.description.unwrap_or(changed.description);
        changed.weight = change.weight.unwrap_or(changed.weight);
        changed.quota = change.quota.unwrap_or(changed.quota);
        changed.generation = expected.next();
        changed.time_modified = self.now();
        let object = ObjectRef::new(ObjectKind::Project, project.id, &project.name);
        let event = self
            .event(EventKind::ProjectChanged, Some(project.id), &object, cx.actor(), words)
            .with_payload(ProjectPayload::from(&changed));
        let audit = self.audit(
            cx,
            "project.update",
            &object,
            Some(project.id),
            json!({
                "description": changed.description,
                "weight": changed.weight,
                "quota": changed.quota,
            }),
        );
        let (old, new) = (audit_state::project(project), audit_state::project(&changed));
        let audit = audit.with_states(Some(&old), Some(&new));
        let (changed_ref, event, audit) = (&changed, &event, &audit);
        self.store
            .tx("project_update", |tx| {
                Box::pin(async move {
                    settled(
                        tx.project_update(changed_ref, expected).await?,
                        "project",
                        &changed_ref.name,
                    )?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.wakers.placement.wake();
        self.feed.ring();
        Ok(changed)
    }

    pub async fn project_remove(
        &self,
        cx: &Cx,
        project: &Project,
        expected: Generation,
    ) -> Result<(), Error> {
        if project.name.as_str() == hostler_model::DEFAULT_PROJECT {
            return Err(Error::conflict(
                "the default project cannot be removed",
                "remove what is in it instead",
            ));
        }
        let object = ObjectRef::new(ObjectKind::Project, project.id, &project.name);
        let event = self
            .event(EventKind::ProjectRemoved, Some(project.id), &object, cx.actor(), "removed")
            .with_payload(ProjectPayload::from(project));
        let audit = self
            .audit(cx, "project.remove", &object, Some(project.id), json!({}))
            .with_states(Some(&audit_state::project(project)), None);
        let (event, audit) = (&event, &audit);
        self.store
            .tx("project_remove", |tx| {
                Box::pin(async move {
                    settled(
                        tx.project_delete(project.id, expected).await?,
                        "project",
                        &project.name,
                    )?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        self.feed.ring();
        Ok(())
    }
}

const DESCRIPTION_MAX: usize = 1000;
const WEIGHT_MAX: u32 = 1_000_000;

/// What is to be otherwise about a project; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectChange {
    pub description: Option<String>,
    pub weight: Option<u32>,
    pub quota: Option<Quota>,
}

impl ProjectChange {
    fn look(&self) -> Result<(), Error> {
        if let Some(description) = &self.description {
            check_text("/description", description, 0..=DESCRIPTION_MAX)?;
        }
        if self.weight.is_some_and(|weight| !(1..=WEIGHT_MAX).contains(&weight)) {
            let text = format!("a weight is a whole number from 1 to {WEIGHT_MAX}");
            return Err(Error::invalid(vec![Diagnostic::new("/weight", text)]));
        }
        Ok(())
    }

    fn words(&self) -> String {
        let parts = [
            ("description", self.description.is_some()),
            ("weight", self.weight.is_some()),
            ("quota", self.quota.is_some()),
        ];
        let said: Vec<&str> =
            parts.iter().filter(|(_, is_there)| *is_there).map(|(word, _)| *word).collect();
        format!("{} changed", if said.is_empty() { "nothing".to_owned() } else { said.join(", ") })
    }
}

/// What people write about things has a length; the same as in `api`.
pub(super) fn check_text(
    pointer: &str,
    text: &str,
    length: std::ops::RangeInclusive<usize>,
) -> Result<(), Error> {
    if length.contains(&text.chars().count()) {
        return Ok(());
    }
    let (least, most) = length.into_inner();
    let problem = format!("the text has {least} to {most} characters");
    Err(Error::invalid(vec![Diagnostic::new(pointer, problem)]))
}

/// The person's error for a conditional update that did not happen.
pub(super) fn settled(
    update: Update,
    kind: &str,
    name: impl std::fmt::Display,
) -> Result<(), Error> {
    match update {
        Update::Updated => Ok(()),
        Update::Stale { current } => Err(Error::stale(kind, current)),
        Update::Missing => Err(Error::not_found(kind, name)),
    }
}

/// The person's error for an insert whose name is taken.
pub(super) fn taken(
    error: hostler_store::Error,
    kind: &str,
    name: impl std::fmt::Display,
) -> Error {
    let error = Error::from(error);
    if error.code == Code::AlreadyExists { Error::already_exists(kind, name) } else { error }
}
