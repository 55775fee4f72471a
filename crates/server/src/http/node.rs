//! Nodes and joining.

use hostler_api::node::{
    Join, JoinTokenCreate, JoinTokenCreatedView, JoinTokenList, JoinTokenRevoke, JoinTokenView,
    JoinView, NodeCordon, NodeDrain, NodeGet, NodeHeldList, NodeHeldView, NodeList, NodeReload,
    NodeReloadView, NodeRemove, NodeUncordon, NodeUpdate, NodeView, NodeWorkloadList,
    NodeWorkloadView,
};
use hostler_api::operation::OperationView;
use hostler_api::{Listing, Nothing};
use hostler_control::{NewJoinToken, NodeFilter};
use hostler_model::{Diagnostic, Error, Labels, Node, Operation};

use super::error::malformed;
use super::gate::Gate;
use super::gather::Gather;
use super::watch::{self, Watched};
use super::{Answer, App, Call, PublicCall, gather, page, view, workload_view};

pub(crate) async fn list(
    app: App,
    call: Call<NodeList>,
) -> Result<Answer<Listing<NodeView>>, Error> {
    let filter =
        NodeFilter { state: call.query.state, selector: selector(call.query.selector.as_deref())? };
    if call.query.watch == Some(true) {
        let cursor = call.query.cursor.clone();
        let asked = gather::filter::<NodeList>(call.query.filter.as_deref())?;
        return watch::open(app, call, cursor, Watched::Nodes(filter), asked).await;
    }
    let mut list = Gather::of::<NodeList>(&call.query)?;
    let head = app.control().event_head().await?;
    while let Some(ask) = list.ask() {
        let nodes = app.control().node_list(&call.cx, &filter, ask.after(), ask.limit).await?;
        list.take(nodes, view::node)?;
    }
    let mut listing = list.listing();
    listing.watch_cursor = Some(head.to_string());
    Ok(Answer::new(listing))
}

/// Reads `key=value,key=value`.
fn selector(text: Option<&str>) -> Result<Labels, Error> {
    let mut labels = Labels::new();
    for part in text.unwrap_or_default().split(',').filter(|p| !p.is_empty()) {
        let pair = part.split_once('=');
        let is_new =
            pair.map(|(key, value)| labels.insert(key.to_owned(), value.to_owned()).is_none());
        if is_new != Some(true) {
            let detail = "the selector is not `key=value,key=value` with every key once";
            let mut error = malformed(detail, "write for example zone=a,gpu=yes");
            error.errors = vec![Diagnostic::new("/query/selector", detail)];
            return Err(error);
        }
    }
    Ok(labels)
}

pub(crate) async fn get(app: App, call: Call<NodeGet>) -> Result<Answer<NodeView>, Error> {
    Ok(shown(app.control().node_get(&call.cx, &call.path.node).await?))
}

pub(crate) async fn workloads(
    app: App,
    call: Call<NodeWorkloadList>,
) -> Result<Answer<Listing<NodeWorkloadView>>, Error> {
    let found = app.control().node_workloads(&call.cx, &call.path.node).await?;
    Ok(Answer::new(page::whole(found, workload_view::on_node)))
}

pub(crate) async fn held(
    app: App,
    call: Call<NodeHeldList>,
) -> Result<Answer<Listing<NodeHeldView>>, Error> {
    let held = app.control().node_held_list(&call.cx).await?;
    Ok(Answer::new(page::whole(held, view::node_held)))
}

pub(crate) async fn update(app: App, call: Call<NodeUpdate>) -> Result<Answer<NodeView>, Error> {
    let updated = app
        .control()
        .node_update(&call.cx, &call.path.node, call.body.labels, call.expected)
        .await?;
    Ok(shown(updated))
}

pub(crate) async fn cordon(app: App, call: Call<NodeCordon>) -> Result<Answer<NodeView>, Error> {
    let cordoned = app.control().node_cordon(&call.cx, &call.path.node, call.body.reason).await?;
    Ok(shown(cordoned))
}

pub(crate) async fn uncordon(
    app: App,
    call: Call<NodeUncordon>,
) -> Result<Answer<NodeView>, Error> {
    Ok(shown(app.control().node_uncordon(&call.cx, &call.path.node).await?))
}

pub(crate) async fn reload(
    app: App,
    call: Call<NodeReload>,
) -> Result<Answer<NodeReloadView>, Error> {
    let reloaded = app.control().node_reload(&call.cx, &call.path.node).await?;
    Ok(Answer::new(NodeReloadView {
        node: view::node(reloaded.node),
        facts_changed: reloaded.facts_changed,
        placements: reloaded.placements,
    }))
}

pub(crate) async fn drain(app: App, call: Call<NodeDrain>) -> Result<Answer<OperationView>, Error> {
    let operation = app
        .control()
        .node_drain(&call.cx, &call.path.node, call.body.reason, call.body.deadline)
        .await?;
    Ok(begun(operation))
}

pub(crate) async fn remove(
    app: App,
    call: Call<NodeRemove>,
) -> Result<Answer<OperationView>, Error> {
    let operation = app.control().node_remove(&call.cx, &call.path.node, call.expected).await?;
    Ok(begun(operation))
}

fn shown(node: Node) -> Answer<NodeView> {
    let generation = node.generation;
    Answer::new(view::node(node)).with_generation(generation)
}

fn begun(operation: Operation) -> Answer<OperationView> {
    let location = format!("/api/v1/operations/{}", operation.id);
    Answer::new(view::operation(operation)).with_location(location)
}

pub(crate) async fn token_list(
    app: App,
    call: Call<JoinTokenList>,
) -> Result<Answer<Listing<JoinTokenView>>, Error> {
    let mut list = Gather::of::<JoinTokenList>(&call.query)?;
    let now = app.clock().now();
    while let Some(ask) = list.ask() {
        let tokens = app.control().join_token_list(&call.cx, ask.after(), ask.limit).await?;
        list.take(tokens, |token| view::join_token(token, now))?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn token_create(
    app: App,
    call: Call<JoinTokenCreate>,
) -> Result<Answer<JoinTokenCreatedView>, Error> {
    let new = NewJoinToken { name: call.body.name, labels: call.body.labels, ttl: call.body.ttl };
    let (token, ticket) = app.control().join_token_create(&call.cx, new).await?;
    let ticket = ticket.expose().to_owned();
    let named = token.node_name.as_ref().map(|name| format!(" --name {name}"));
    let command = format!(
        "hostler agent join {ticket} --server https://{}{}",
        app.api_address(),
        named.unwrap_or_default()
    );
    let created =
        JoinTokenCreatedView { token: view::join_token(token, app.clock().now()), ticket, command };
    Ok(Answer::new(created))
}

pub(crate) async fn token_revoke(
    app: App,
    call: Call<JoinTokenRevoke>,
) -> Result<Answer<Nothing>, Error> {
    let given = &call.path.token;
    let id = given.parse().map_err(|_| Error::not_found("join token", given))?;
    app.control().join_token_revoke(&call.cx, id).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn join(app: App, call: PublicCall<Join>) -> Result<Answer<JoinView>, Error> {
    let body = call.body;
    let joined = app.control().join(&call.request, &body.token, body.name, &body.csr).await?;
    Ok(Answer::new(JoinView {
        node_id: joined.node_id,
        certificate: joined.certificate,
        authority: joined.authority,
        agent_addresses: joined.agent_addresses,
        time_expires: joined.time_expires,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_name_every_key_once() {
        let read = selector(Some("zone=a,gpu=yes")).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(selector(None).unwrap(), Labels::new());
        for bad in ["zone", "zone=a,zone=b", "=,=", "a=1,b"] {
            assert!(selector(Some(bad)).is_err(), "{bad}");
        }
    }
}
