//! Operations.

use hostler_api::Listing;
use hostler_api::operation::{OperationCancel, OperationGet, OperationList, OperationView};
use hostler_model::{Error, OperationId};

use super::gather::Gather;
use super::task::patience;
use super::{Answer, App, Call, view};

pub(crate) async fn list(
    app: App,
    call: Call<OperationList>,
) -> Result<Answer<Listing<OperationView>>, Error> {
    let mut list = Gather::of::<OperationList>(&call.query)?;
    let (control, state) = (app.control(), call.query.state);
    while let Some(ask) = list.ask() {
        let operations = control.operation_list(&call.cx, state, ask.after(), ask.limit).await?;
        list.take(operations, view::operation)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn get(
    app: App,
    call: Call<OperationGet>,
) -> Result<Answer<OperationView>, Error> {
    let id = id(&call.path.operation)?;
    let operation = match patience(call.query.wait)? {
        Some(patience) => app.control().operation_wait(&call.cx, id, patience).await?,
        None => app.control().operation_get(&call.cx, id).await?,
    };
    let generation = operation.generation;
    Ok(Answer::new(view::operation(operation)).with_generation(generation))
}

pub(crate) async fn cancel(
    app: App,
    call: Call<OperationCancel>,
) -> Result<Answer<OperationView>, Error> {
    let id = id(&call.path.operation)?;
    let operation = app.control().operation_cancel(&call.cx, id).await?;
    Ok(Answer::new(view::operation(operation)))
}

fn id(given: &str) -> Result<OperationId, Error> {
    given.parse().map_err(|_| Error::not_found("operation", given))
}
