//! Secrets and tokens for nodes. Who speaks is the certificate, looked at anew with every call: a connection may
//! outlive a node's membership.

use hostler_control::{Control, DeliveredIdentity};
use hostler_model::{Code, Error};
use hostler_proto::v1;
use hostler_proto::{parse_placement, parse_run};
use tonic::{Request, Response, Status};

pub(super) struct SecretLinkService {
    control: Control,
}

impl SecretLinkService {
    pub(super) fn new(control: Control) -> SecretLinkService {
        SecretLinkService { control }
    }
}

#[tonic::async_trait]
impl v1::secret_link_server::SecretLink for SecretLinkService {
    async fn fetch_secrets(
        &self,
        request: Request<v1::FetchSecretsRequest>,
    ) -> Result<Response<v1::FetchSecretsReply>, Status> {
        let certificate = super::peer(&request)?;
        let node = super::node_of(&certificate)?;
        super::admit(&self.control, node, &certificate).await.map_err(|e| status(&e))?;
        let asked = request.into_inner();
        let malformed = |e: hostler_proto::ConvertError| Status::invalid_argument(e.to_string());
        let placement = parse_placement(&asked.placement_id).map_err(malformed)?;
        let run = parse_run(&asked.run_id).map_err(malformed)?;
        let delivered = match asked.only_identity {
            true => Vec::new(),
            false => {
                let delivered = self.control.node_secrets(node, placement, run).await;
                delivered.map_err(|e| status(&e))?
            }
        };
        let secrets = delivered.into_iter().map(|given| {
            let (reference, version) = (given.reference.to_string(), given.version);
            v1::DeliveredSecret { reference, version, value: given.value.expose().to_vec() }
        });
        let secrets = secrets.collect();
        let identity = self.control.node_identity(node, placement, run, asked.only_identity).await;
        let identity = identity.map_err(|e| status(&e))?.map(message);
        Ok(Response::new(v1::FetchSecretsReply { secrets, identity }))
    }
}

fn message(identity: DeliveredIdentity) -> v1::DeliveredIdentity {
    let tokens = identity.tokens.into_iter().map(|given| {
        let token = given.token.expose().to_owned();
        v1::DeliveredToken { file: given.file, token }
    });
    v1::DeliveredIdentity {
        tokens: tokens.collect(),
        address: identity.address,
        authority_pem: identity.authority_pem,
        valid_seconds: u32::try_from(identity.lifetime.as_secs()).unwrap_or(u32::MAX),
    }
}

/// The agent tries again when a server is away or cannot open what it has, and takes everything else as
/// final.
fn status(error: &Error) -> Status {
    let words = format!("{}; {}", error.detail, error.hint);
    match error.code {
        Code::Unavailable | Code::RateLimited => Status::unavailable(words),
        Code::NotFound => Status::not_found(words),
        Code::Forbidden => super::not_its_own(words),
        Code::Unauthenticated => Status::unauthenticated(words),
        Code::Internal => {
            tracing::error!(%error, "secrets for a node failed");
            Status::internal(words)
        }
        _ => Status::failed_precondition(words),
    }
}
