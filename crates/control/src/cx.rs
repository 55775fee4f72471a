//! Who asks, and through which request: the first argument of every service method.

use hostler_model::{Actor, ActorKind, Caller, PrincipalKind};

/// What is known of a request before anybody is authenticated.
#[derive(Clone, Debug)]
pub struct RequestMeta {
    pub request_id: String,
    /// Address the request came from.
    pub source: String,
    pub user_agent: String,
    pub idempotency: Option<Idempotency>,
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
        };
        Actor { kind, name: self.caller.name.to_string() }
    }
}
