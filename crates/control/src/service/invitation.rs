//! How people come to have an account: by an invitation, and in no other way but by an admin's hand.
//!
//! An invitation is bound to a role in one scope. It is used up in the same transaction that makes
//! the account, so of many that present it at once exactly one gets in. Whoever made it must still be
//! able to give that role when it is accepted: an admin who was shown the door leaves none open.

use std::time::Duration;

use hostler_model::{
    Caller, Code, Credential, Diagnostic, Error, EventKind, Generation, Invitation, InvitationId,
    InvitationPayload, InvitationState, Limit, Name, Need, NewEvent, ObjectKind, ObjectRef, Page,
    Permission, Principal, PrincipalId, PrincipalKind, Project, ProjectId, Role, Scope, Span,
    WebSessionId,
};
use hostler_store::Conn;
use hostler_trust::{SecretString, SecretToken, TokenKind};
use serde_json::json;

use super::login::user_actor;
use super::project::taken;
use crate::{Control, Cx, LoginGrant, LoginKind, RequestMeta, audit_state};

const TTL_DEFAULT: Duration = Duration::from_secs(3 * 86_400);
const TTL_MAX: Span = Span::from_secs(30 * 86_400);
const EMAIL_MAX: usize = 254;

#[derive(Clone, Debug)]
pub struct NewInvitation {
    pub role: Role,
    /// The only name that can be taken with it.
    pub name: Option<Name>,
    /// Whom it is meant for; nothing is sent there.
    pub email: String,
    pub ttl: Option<Span>,
}

/// An invitation with the names that go with it.
#[derive(Clone, Debug, PartialEq)]
pub struct InvitationDetail {
    pub invitation: Invitation,
    pub project: Option<Name>,
    pub created_by: String,
    pub used_by: Option<String>,
}

impl Control {
    /// Newest first; `None` lists those of every scope.
    pub async fn invitation_list(
        &self,
        _: &Cx,
        project: Option<&Project>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<InvitationDetail>, Error> {
        let scope = project.map(|project| Scope::Project(project.id));
        let mut read = self.store.read().await?;
        let page = read.invitation_list(scope, after, limit).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for invitation in page.items {
            items.push(detail(&mut read, invitation).await?);
        }
        Ok(Page { items, next: page.next })
    }

    /// Invites somebody to a role on the whole installation, or in a project. The secret is returned
    /// this once.
    pub async fn invitation_create(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        new: NewInvitation,
    ) -> Result<(InvitationDetail, SecretToken), Error> {
        let scope = project.map_or(Scope::Global, |project| Scope::Project(project.id));
        if cx.caller.role_in(scope).is_none_or(|held| held < new.role) {
            return Err(Error::forbidden(
                "nobody invites to a role that they do not hold themselves",
            ));
        }
        new.look()?;
        if let Some(name) = &new.name
            && self.store.read().await?.principal_by_name(name).await?.is_some()
        {
            return Err(Error::already_exists("user", name));
        }
        let now = self.now();
        let secret = SecretToken::generate(TokenKind::Invitation);
        let invitation = Invitation {
            id: self.ids.fresh(),
            secret_hash: secret.hash().to_vec(),
            scope,
            role: new.role,
            user_name: new.name,
            email: new.email,
            created_by: cx.caller.principal_id,
            time_created: now,
            time_expires: now.plus(new.ttl.map_or(TTL_DEFAULT, Span::duration)),
            time_used: None,
            used_by: None,
            time_revoked: None,
        };
        let object = object(&invitation);
        let message = format!("to be {} {}", invitation.role, place(project));
        let event = self.event(
            EventKind::InvitationCreated,
            project_of(scope),
            &object,
            cx.actor(),
            message,
        );
        let event = event.with_payload(InvitationPayload::from(&invitation));
        let told = json!({ "role": invitation.role, "name": invitation.user_name, "email": invitation.email, "expires": invitation.time_expires });
        let audit = self
            .audit(cx, "invitation.create", &object, project_of(scope), told)
            .with_states(None, Some(&audit_state::invitation(&invitation, false)));
        let (invitation_ref, object, event, audit) = (&invitation, &object, &event, &audit);
        self.store
            .tx("invitation_create", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return Err(Error::new(
                            Code::Conflict,
                            format!("an earlier request with this Idempotency-Key made the invitation {}", made.id),
                            "its link was shown once; if it was lost, revoke that invitation and make another with a fresh key",
                        ));
                    }
                    tx.invitation_insert(invitation_ref).await?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok(())
                })
            })
            .await?;
        let detail = InvitationDetail {
            invitation,
            project: project.map(|project| project.name.clone()),
            created_by: cx.caller.name.to_string(),
            used_by: None,
        };
        Ok((detail, secret))
    }

    /// Takes an invitation back; with a project, only one of that project.
    pub async fn invitation_revoke(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        id: InvitationId,
    ) -> Result<(), Error> {
        let scope = project.map(|project| Scope::Project(project.id));
        self.store
            .tx("invitation_revoke", |tx| {
                Box::pin(async move {
                    let found = tx.invitation_get(id).await?;
                    let found = found.filter(|i| scope.is_none_or(|scope| scope == i.scope));
                    let invitation = found.ok_or_else(|| Error::not_found("invitation", id))?;
                    if tx.invitation_revoke(id, self.now()).await? {
                        let (object, of) = (object(&invitation), project_of(invitation.scope));
                        let kind = EventKind::InvitationRevoked;
                        let event = self
                            .event(kind, of, &object, cx.actor(), "revoked")
                            .with_payload(InvitationPayload::from(&invitation));
                        let [before, after] = [false, true]
                            .map(|is_revoked| audit_state::invitation(&invitation, is_revoked));
                        let audit = self
                            .audit(cx, "invitation.revoke", &object, of, json!({}))
                            .with_states(Some(&before), Some(&after));
                        tx.journal_append(&[event], &[audit]).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// What an invitation is for, to whoever holds its secret.
    pub async fn invitation_look(&self, secret: &str) -> Result<InvitationDetail, Error> {
        let invitation = self.invitation_unused(secret).await?;
        let mut read = self.store.read().await?;
        detail(&mut read, invitation).await
    }

    /// Makes an account with an invitation, and logs it in.
    pub async fn invitation_accept(
        &self,
        request: &RequestMeta,
        secret: &str,
        name: Option<Name>,
        password: &SecretString,
        kind: LoginKind,
    ) -> Result<LoginGrant, Error> {
        let invitation = self.invitation_unused(secret).await?;
        let name = chosen_name(&invitation, name)?;
        let source = &request.source;
        let password_hash =
            self.checked_password_hash(source, password, &name, "/password").await?;
        let now = self.now();
        let principal = Principal {
            id: self.ids.fresh(),
            name,
            kind: PrincipalKind::User,
            password_hash: Some(password_hash),
            is_disabled: false,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        let (object, of) = (object(&invitation), project_of(invitation.scope));
        let actor = user_actor(&principal.name);
        let message = format!("by {}, who is {} now", principal.name, invitation.role);
        let event = self
            .event(EventKind::InvitationAccepted, of, &object, actor.clone(), message)
            .with_payload(InvitationPayload {
                user: Some(principal.name.clone()),
                ..InvitationPayload::from(&invitation)
            });
        let user = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let told = json!({ "invitation": invitation.id, "role": invitation.role });
        let role = invitation.role.into();
        let state = audit_state::user(&principal, of.is_none().then_some(&role));
        let audit = self
            .audit_by(actor, request, "invitation.accept", &user, of, told)
            .with_states(None, Some(&state));
        let (invitation_ref, principal_ref, event, audit) =
            (&invitation, &principal, &event, &audit);
        self.store
            .tx("invitation_accept", |tx| {
                Box::pin(async move {
                    inviter_check(tx, invitation_ref).await?;
                    if !tx.invitation_consume(invitation_ref.id, principal_ref.id, now).await? {
                        return Err(refused("the invitation was used already, or has ended"));
                    }
                    tx.principal_insert(principal_ref)
                        .await
                        .map_err(|e| taken(e, "user", &principal_ref.name))?;
                    tx.role_binding_set(
                        principal_ref.id,
                        invitation_ref.scope,
                        invitation_ref.role,
                    )
                    .await?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok(())
                })
            })
            .await?;
        self.grant(request, principal, kind).await
    }

    /// The invitation of a secret; a known one that cannot be used any more is an event.
    async fn invitation_unused(&self, secret: &str) -> Result<Invitation, Error> {
        let unknown = || refused("this is not an invitation of this installation");
        let secret = SecretToken::parse(secret, TokenKind::Invitation).map_err(|_| unknown())?;
        let mut read = self.store.read().await?;
        let found = read.invitation_by_hash(&secret.hash()).await?;
        let invitation = found.ok_or_else(unknown)?;
        let why = match invitation.state(self.now()) {
            InvitationState::Unused => {
                inviter_check(&mut read, &invitation).await?;
                return Ok(invitation);
            }
            InvitationState::Used => "the invitation was used already; each works once",
            InvitationState::Expired => "the invitation has expired",
            InvitationState::Revoked => "the invitation was revoked",
        };
        drop(read);
        let (object, of) = (object(&invitation), project_of(invitation.scope));
        let kind = EventKind::InvitationRefused;
        let event = self.event(kind, of, &object, self.system_actor(), why);
        let reason = Some(why.to_owned());
        let payload = InvitationPayload { reason, ..InvitationPayload::from(&invitation) };
        self.note(event.with_payload(payload)).await?;
        Err(refused(why))
    }

    async fn note(&self, event: NewEvent) -> Result<(), Error> {
        let event = &event;
        self.store
            .tx("invitation_refused", |tx| {
                Box::pin(async move {
                    tx.journal_append(std::slice::from_ref(event), &[]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await
    }
}

impl NewInvitation {
    fn look(&self) -> Result<(), Error> {
        let mut problems = Vec::new();
        if self.ttl.is_some_and(|t| t > TTL_MAX || t.is_zero()) {
            let words = "an invitation lives at least 1ms and at most 30d";
            problems.push(Diagnostic::new("/ttl", words));
        }
        if self.email.len() > EMAIL_MAX || self.email.chars().any(char::is_control) {
            let words = format!("at most {EMAIL_MAX} bytes of text on one line");
            problems.push(Diagnostic::new("/email", words));
        }
        if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
    }
}

fn chosen_name(invitation: &Invitation, given: Option<Name>) -> Result<Name, Error> {
    let wrong = |words: String| Error::invalid(vec![Diagnostic::new("/name", words)]);
    match (&invitation.user_name, given) {
        (Some(bound), Some(given)) if *bound != given => {
            Err(wrong(format!("the invitation is for the name `{bound}`")))
        }
        (Some(bound), _) => Ok(bound.clone()),
        (None, Some(given)) => Ok(given),
        (None, None) => Err(wrong("choose a name".to_owned())),
    }
}

/// Whoever made the invitation must still be there, and still hold what it gives.
async fn inviter_check(read: &mut Conn, invitation: &Invitation) -> Result<(), Error> {
    let inviter = read.principal_get(invitation.created_by).await?.filter(|p| !p.is_disabled);
    let holds = match inviter {
        None => false,
        Some(inviter) => {
            let inviter = Caller {
                grants: read.grants_of(inviter.id).await?,
                credential: Credential::WebSession(WebSessionId::from_uuid(inviter.id.uuid())),
                principal_id: inviter.id,
                name: inviter.name,
                kind: inviter.kind,
            };
            let permission = match invitation.scope {
                Scope::Global => Permission::UserInvite,
                Scope::Project(_) => Permission::InvitationCreate,
            };
            inviter.may(Need { permission, scope: invitation.scope })
                && inviter.lacks(invitation.role.permissions(), invitation.scope).is_empty()
        }
    };
    match holds {
        true => Ok(()),
        false => Err(refused("whoever made the invitation may not give that role any more")),
    }
}

fn refused(why: &str) -> Error {
    Error::new(
        Code::Unauthenticated,
        why.to_owned(),
        "if you have an account already, log in; otherwise ask an admin for another: `hostler user invite`",
    )
}

fn object(invitation: &Invitation) -> ObjectRef {
    let name = invitation.user_name.as_ref().map_or("anybody", Name::as_str);
    ObjectRef::new(ObjectKind::Invitation, invitation.id, name)
}

const fn project_of(scope: Scope) -> Option<ProjectId> {
    match scope {
        Scope::Global => None,
        Scope::Project(id) => Some(id),
    }
}

fn place(project: Option<&Project>) -> String {
    project.map_or_else(
        || "on the whole installation".to_owned(),
        |project| format!("in project {}", project.name),
    )
}

async fn detail(read: &mut Conn, invitation: Invitation) -> Result<InvitationDetail, Error> {
    let project = match invitation.scope {
        Scope::Global => None,
        Scope::Project(id) => read.project_get(id).await?.map(|project| project.name),
    };
    let created_by = name_of(read, invitation.created_by).await?;
    let used_by = match invitation.used_by {
        Some(id) => Some(name_of(read, id).await?),
        None => None,
    };
    Ok(InvitationDetail { invitation, project, created_by, used_by })
}

async fn name_of(read: &mut Conn, id: PrincipalId) -> Result<String, Error> {
    let found = read.principal_get(id).await?;
    Ok(found.map_or_else(|| "(removed)".to_owned(), |principal| principal.name.to_string()))
}
