//! Projects.

use hostler_model::{
    Code, Diagnostic, Error, EventKind, Generation, Limit, Name, ObjectKind, ObjectRef, Page,
    Project,
};
use hostler_store::Update;
use serde_json::json;

use crate::{Control, Cx};

impl Control {
    pub async fn project_list(
        &self,
        cx: &Cx,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Project>, Error> {
        let visible = cx.caller.visible_projects();
        Ok(self.store.read().await?.project_list(visible.as_deref(), after, limit).await?)
    }

    pub async fn project_create(
        &self,
        cx: &Cx,
        name: Name,
        description: String,
    ) -> Result<Project, Error> {
        check_text("/description", &description, 0..=DESCRIPTION_MAX)?;
        let now = self.now();
        let project = Project {
            id: self.ids.fresh(),
            name,
            description,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        let object = ObjectRef::new(ObjectKind::Project, project.id, &project.name);
        let event =
            self.event(EventKind::ProjectCreated, Some(project.id), &object, cx.actor(), "created");
        let audit = self.audit(cx, "project.create", &object, Some(project.id), json!({}));
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

    pub async fn project_update(
        &self,
        cx: &Cx,
        project: &Project,
        description: String,
        expected: Generation,
    ) -> Result<Project, Error> {
        check_text("/description", &description, 0..=DESCRIPTION_MAX)?;
        let mut changed = project.clone();
        changed.description = description;
        changed.generation = expected.next();
        changed.time_modified = self.now();
        let object = ObjectRef::new(ObjectKind::Project, project.id, &project.name);
        let event = self.event(
            EventKind::ProjectChanged,
            Some(project.id),
            &object,
            cx.actor(),
            "description changed",
        );
        let audit = self.audit(
            cx,
            "project.update",
            &object,
            Some(project.id),
            json!({ "description": changed.description }),
        );
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
        let event =
            self.event(EventKind::ProjectRemoved, Some(project.id), &object, cx.actor(), "removed");
        let audit = self.audit(cx, "project.remove", &object, Some(project.id), json!({}));
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
