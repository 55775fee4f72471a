//! Who asks, and through which request: the first argument of every service method.

use hostler_model::{
    Actor, ActorKind, ApprovalId, Caller, Credential, PrincipalKind, TraceContext,
};

/// What is known of a request before anybody is authenticated.
#[derive(Clone, Debug)]
pub struct RequestMeta {
    pub request_id: String,
    /// The trace that the request is part of.
    pub trace: Option<TraceContext>,
    /// Address the request came from.
    pub source: String,
    pub user_agent: String,
    pub idempotency: Option<Idempotency>,
    pub consent: Option<Consent>,
}

/// Why something may be done that needs an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Others agreed to it.
    Approval(ApprovalId),
    /// Whatever others agreed to of it; of callers who cannot say which approval they mean.
    Given,
    /// There is no time to ask, for this reason.
    BreakGlass(String),
}

/// The caller's promise that requests with the same key are the same request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    pub key: String,
    pub request_hash: [u8; 32],
}

/// An authenticated request.
#[derive(Clone, Debug)]
pub struct Cx {
    pub caller: Caller,
    pub request: RequestMeta,
}

impl Cx {
    pub fn actor(&self) -> Actor {
        let kind = match self.caller.kind {
            PrincipalKind::User => ActorKind::User,
            PrincipalKind::Service => ActorKind::Service,
            PrincipalKind::Workload => ActorKind::Workload,
        };
        let name = match &self.caller.credential {
            Credential::Workload(identity) => identity.subject.clone(),
            Credential::WebSession(_) | Credential::Token { .. } => self.caller.name.to_string(),
        };
        Actor { kind, name }
    }
}
