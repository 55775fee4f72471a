//! Projects.

use hostler_api::project::{
    ProjectCreate, ProjectGet, ProjectList, ProjectRemove, ProjectUpdate, ProjectView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::ProjectChange;
use hostler_model::{Error, Project};

use super::gather::Gather;
use super::{Answer, App, Call, view};

pub(crate) async fn list(
    app: App,
    call: Call<ProjectList>,
) -> Result<Answer<Listing<ProjectView>>, Error> {
    let mut list = Gather::of::<ProjectList>(&call.query)?;
    while let Some(ask) = list.ask() {
        let projects = app.control().project_list(&call.cx, ask.after(), ask.limit).await?;
        list.take(projects, view::project)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn create(
    app: App,
    call: Call<ProjectCreate>,
) -> Result<Answer<ProjectView>, Error> {
    let body = call.body;
    let change = ProjectChange {
        description: Some(body.description),
        weight: body.weight,
        quota: body.quota,
    };
    let project = app.control().project_create(&call.cx, body.name, change).await?;
    let location = format!("/api/v1/projects/{}", project.name);
    Ok(shown(project).with_location(location))
}

pub(crate) async fn get(_: App, call: Call<ProjectGet>) -> Result<Answer<ProjectView>, Error> {
    Ok(shown(call.project().clone()))
}

pub(crate) async fn update(
    app: App,
    call: Call<ProjectUpdate>,
) -> Result<Answer<ProjectView>, Error> {
    let body = call.body.clone();
    let change =
        ProjectChange { description: body.description, weight: body.weight, quota: body.quota };
    let updated =
        app.control().project_update(&call.cx, call.project(), change, call.expected).await?;
    Ok(shown(updated))
}

pub(crate) async fn remove(app: App, call: Call<ProjectRemove>) -> Result<Answer<Nothing>, Error> {
    let project = app.control().project_resolve(&call.path.project).await?;
    app.control().project_remove(&call.cx, &project, call.expected).await?;
    Ok(Answer::new(Nothing {}))
}

fn shown(project: Project) -> Answer<ProjectView> {
    let generation = project.generation;
    Answer::new(view::project(project)).with_generation(generation)
}
