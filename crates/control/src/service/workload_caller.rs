//! Callers that are something that runs here, and what may be given to them.
//!
//! Of a token it is believed which run it was given to, and nothing else. Who submitted what runs, which
//! role its spec names and whether it still runs is looked up with every call, so that it ends with its run,
//! with its role, and with whatever its submitter loses. It acts in its own project, as its submitter with no
//! more than the role; without one there is nothing that it may do but ask who it is.

use std::collections::BTreeSet;
use std::time::Duration;

use hostler_model::{
    Caller, Code, Credential, Diagnostic, Error, HOSTLER_AUDIENCE, PermissionSet, PrincipalKind,
    Project, Scope, WorkloadIdentity, WorkloadSpec,
};
use hostler_store::Tx;

use super::access::require_holding;
use super::login::caller;
use crate::identity::seconds;
use crate::node_identity::Placed;
use crate::{Control, Cx};

/// A run that an agent has just made may call before anybody has heard of it.
const UNHEARD_MAX: Duration = Duration::from_mins(2);

impl Control {
    /// Which run holds this token.
    pub(super) async fn caller_by_workload(&self, text: &str) -> Result<Caller, Error> {
        let refused = |why: &str| {
            Error::new(
                Code::Unauthenticated,
                format!("the token of a workload is not valid: {why}"),
                "read it anew from the file that HOSTLER_TOKEN_FILE names; it is good for 15 minutes, and only while its run goes on",
            )
        };
        let claims = self.identity_claims(text, HOSTLER_AUDIENCE).await?.map_err(refused)?;
        let mut read = self.store.read().await?;
        let placed = Placed::find(&mut read, claims.placement).await?;
        let placed = placed.ok_or_else(|| refused("its run is over"))?;
        let age = seconds(self.now()).saturating_sub(claims.iat);
        let is_young = age <= i64::try_from(UNHEARD_MAX.as_secs()).unwrap_or_default();
        if !placed.has_live(&mut read, claims.run).await?.unwrap_or(is_young) {
            return Err(refused("its run is over"));
        }
        let project_id = placed.placement.project_id;
        let project = read.project_get(project_id).await?;
        let project = project.ok_or_else(|| refused("its project is gone"))?;
        let Some(identity) = &placed.identity else {
            return Err(refused("its workload has no identity any more"));
        };
        let allowed = match &identity.role {
            Some(role) => read.role_permissions(role).await?.unwrap_or_default(),
            None => PermissionSet::EMPTY,
        };
        let credential = Credential::Workload(WorkloadIdentity {
            run_id: claims.run,
            project_id,
            subject: placed.subject(&project.name),
            can: allowed.intersection(PermissionSet::of_projects()),
        });
        let caller = caller(&mut read, placed.created_by, credential).await?;
        let caller = self.second_factor_bound(&mut read, caller).await?;
        Ok(Caller { name: placed.name, kind: PrincipalKind::Workload, ..caller })
    }
}

/// What runs has no session, no password and no second factor of its own.
pub(super) fn refuse_workloads(caller: &Caller) -> Result<(), Error> {
    match &caller.credential {
        Credential::Workload(_) => Err(Error::new(
            Code::Forbidden,
            "this is for people and service accounts, not for what runs",
            "log in, or use a token of an account: `hostler token create`",
        )),
        Credential::WebSession(_) | Credential::Token { .. } => Ok(()),
    }
}

/// Whoever gets beside what runs can read its token, and has to hold what that allows.
pub(super) async fn require_as_much(
    tx: &mut Tx<'_>,
    cx: &Cx,
    project: &Project,
    spec: &WorkloadSpec,
) -> Result<(), Error> {
    let Some(role) = spec.identity.as_ref().and_then(|identity| identity.role.as_ref()) else {
        return Ok(());
    };
    let permissions = tx.role_permissions(role).await?.unwrap_or_default();
    let what = format!("the role {role} of its identity");
    require_holding(&cx.caller, &what, permissions, Scope::Project(project.id))
}

/// Nobody gives what they submit more than they hold themselves; and the role has to be there.
pub(super) async fn check_identities(
    tx: &mut Tx<'_>,
    cx: &Cx,
    project: &Project,
    specs: &[&WorkloadSpec],
) -> Result<(), Error> {
    let roles: BTreeSet<_> =
        specs.iter().filter_map(|spec| spec.identity.as_ref()?.role.as_ref()).collect();
    for role in roles {
        let Some(permissions) = tx.role_permissions(role).await? else {
            let words = format!("there is no role `{role}`; `hostler role ls` lists them");
            return Err(Error::invalid(vec![Diagnostic::new("/spec/identity/role", words)]));
        };
        let what = format!("the role {role} of its identity");
        require_holding(&cx.caller, &what, permissions, Scope::Project(project.id))?;
    }
    Ok(())
}
