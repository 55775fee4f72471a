//! What steps of workflows share, asked for by the agents of their nodes. Who speaks is the certificate, looked at anew
//! with every call: a connection may outlive a node's membership.

use hostler_control::Control;
use hostler_model::{Code, Error};
use hostler_proto::v1;
use hostler_proto::{parse_placement, parse_run};
use tonic::{Request, Response, Status};

pub(super) struct StepLinkService {
    control: Control,
}

impl StepLinkService {
    pub(super) fn new(control: Control) -> StepLinkService {
        StepLinkService { control }
    }
}

#[tonic::async_trait]
impl v1::step_link_server::StepLink for StepLinkService {
    async fn ask(
        &self,
        request: Request<v1::StepRequest>,
    ) -> Result<Response<v1::StepReply>, Status> {
        let certificate = super::peer(&request)?;
        let node = super::node_of(&certificate)?;
        super::admit(&self.control, node, &certificate).await.map_err(|e| status(&e))?;
        let asked = request.into_inner();
        let malformed = |e: hostler_proto::ConvertError| Status::invalid_argument(e.to_string());
        let placement = parse_placement(&asked.placement_id).map_err(malformed)?;
        let run = parse_run(&asked.run_id).map_err(malformed)?;
        let run = run.ok_or_else(|| Status::invalid_argument("it is not said which run asks"))?;
        let reply = self.control.node_step(node, placement, run, &asked.ask_json).await;
        let reply_json = reply.map_err(|e| status(&e))?;
        Ok(Response::new(v1::StepReply { reply_json }))
    }
}

/// The agent passes refusals on, and has the step ask again where a server is away.
fn status(error: &Error) -> Status {
    let words = format!("{}; {}", error.detail, error.hint);
    match error.code {
        Code::Unavailable | Code::RateLimited => Status::unavailable(words),
        Code::Forbidden => super::not_its_own(words),
        Code::Unauthenticated => Status::unauthenticated(words),
        Code::Internal => {
            tracing::error!(%error, "what a step asked for failed");
            Status::internal(words)
        }
        _ => Status::failed_precondition(words),
    }
}
