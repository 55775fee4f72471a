//! Task arrays, the queue, and what was used.

use hostler_api::Listing;
use hostler_api::task::{
    AccountReport, AccountView, ArrayGet, ArrayKill, ArrayList, ArraySubmit, ArrayView, QueueShow,
    QueueView,
};
use hostler_control::{AccountQuery, ArrayDetail, NewArray};
use hostler_model::{Caller, Error};

use super::gather::Gather;
use super::{Answer, App, Call, page, view};

pub(crate) async fn list(
    app: App,
    call: Call<ArrayList>,
) -> Result<Answer<Listing<ArrayView>>, Error> {
    let mut list = Gather::of::<ArrayList>(&call.query)?;
    let control = app.control();
    while let Some(ask) = list.ask() {
        let arrays =
            control.task_array_list(&call.cx, call.project(), ask.after(), ask.limit).await?;
        list.take(arrays, |array| view::array(&call.cx.caller, array))?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn submit(app: App, call: Call<ArraySubmit>) -> Result<Answer<ArrayView>, Error> {
    let body = call.body.clone();
    let new = NewArray { name: body.name, spec: body.spec, range: body.range };
    let made = app.control().task_array_submit(&call.cx, call.project(), new).await?;
    let name = made.array.id.to_string();
    let detail = app.control().task_array_get(&call.cx, call.project(), &name).await?;
    let location =
        format!("/api/v1/projects/{}/task-arrays/{}", detail.project, detail.standing.array.name);
    Ok(shown(&call.cx.caller, detail).with_location(location))
}

pub(crate) async fn get(app: App, call: Call<ArrayGet>) -> Result<Answer<ArrayView>, Error> {
    Ok(shown(
        &call.cx.caller,
        app.control().task_array_get(&call.cx, call.project(), &call.path.array).await?,
    ))
}

pub(crate) async fn kill(app: App, call: Call<ArrayKill>) -> Result<Answer<ArrayView>, Error> {
    let (array, grace) = (&call.path.array, call.body.grace);
    Ok(shown(
        &call.cx.caller,
        app.control().task_array_kill(&call.cx, call.project(), array, grace).await?,
    ))
}

pub(crate) async fn queue(app: App, call: Call<QueueShow>) -> Result<Answer<QueueView>, Error> {
    let lines = app.control().queue_show(&call.cx).await?;
    Ok(Answer::new(QueueView { projects: lines.into_iter().map(view::queue).collect() }))
}

pub(crate) async fn accounts(
    app: App,
    call: Call<AccountReport>,
) -> Result<Answer<Listing<AccountView>>, Error> {
    let query = AccountQuery {
        project: call.query.project.clone(),
        from: call.query.from.clone(),
        to: call.query.to.clone(),
    };
    let lines = app.control().account_report(&call.cx, &query).await?;
    Ok(Answer::new(page::whole(lines, view::account)))
}

fn shown(caller: &Caller, detail: ArrayDetail) -> Answer<ArrayView> {
    let generation = detail.standing.array.generation;
    Answer::new(view::array(caller, detail)).with_generation(generation)
}
