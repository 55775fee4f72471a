//! Linked secrets: a name here, a value in a vault outside.
//!
//! Linking is setting: who may set a secret may link it, to whatever the vault has for the project. Nothing is
//! read then; whether it can be read shows `hostler secret get`, or the first run. A secret is either kept or
//! linked for as long as it is there, so that nobody takes a value for another by mistake.

use std::sync::atomic::Ordering;

use hostler_model::{
    Code, Diagnostic, Error, EventKind, Permission, Project, Secret, SecretLink, SecretPayload,
    SecretRef, SecretSource,
};
use serde_json::json;

use super::project::{settled, taken};
use super::quota::room_for_secret;
use super::secret::{SecretDetail, secret_object};
use super::task::{Names, require_own};
use crate::vault::{Fetched, VaultDetail};
use crate::{Control, Cx, audit_state};

impl Control {
    /// The vaults that the project may use, by name.
    pub fn vault_list(&self, _: &Cx, project: &Project) -> Vec<VaultDetail> {
        self.vaults.list(project)
    }

    /// Makes the secret lead there. One that leads there already is left as it is.
    pub async fn secret_link(
        &self,
        cx: &Cx,
        project: &Project,
        reference: &SecretRef,
        link: &SecretLink,
    ) -> Result<SecretDetail, Error> {
        let mut problems = link.problems();
        if !self.vaults.has(&link.provider) {
            let text = "there is no such vault; `hostler secret vaults` lists those of the project";
            problems.push(Diagnostic::new("/provider", text));
        }
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        self.vaults.check(project, &link.provider)?;
        let (secret, is_changed) = self
            .store
            .tx("secret_link", |tx| {
                Box::pin(async move {
                    let now = self.now();
                    let mut before = None;
                    let mut secret = match tx.secret_find(project.id, reference).await? {
                        Some(secret) => {
                            let owner = Names::default().principal(tx, secret.created_by).await?;
                            let manage = Permission::SecretManage;
                            require_own(cx, project, "secret", manage, secret.created_by, &owner)?;
                            if secret.link.is_none() {
                                return Err(is_kept(&secret));
                            }
                            if secret.link.as_ref() == Some(link) {
                                return Ok((secret, false));
                            }
                            before = Some(audit_state::secret(&secret));
                            secret
                        }
                        None => {
                            room_for_secret(tx, project).await?;
                            let mut fresh = self.fresh_secret(cx, project, reference);
                            fresh.source = SecretSource::Linked;
                            let inserted = tx.secret_insert(&fresh).await;
                            inserted.map_err(|e| taken(e, "secret", reference))?;
                            fresh
                        }
                    };
                    secret.link = Some(link.clone());
                    secret.time_modified = now;
                    settled(tx.secret_update(&secret).await?, "secret", reference)?;
                    secret.generation = secret.generation.next();
                    let (object, of) = (secret_object(&secret), Some(project.id));
                    let message = format!("linked to {link}");
                    let event = self
                        .event(EventKind::SecretLinked, of, &object, cx.actor(), message)
                        .with_payload(SecretPayload::from(&secret));
                    let detail = json!({ "link": link });
                    let audit = self
                        .audit(cx, "secret.link", &object, of, detail)
                        .with_states(before.as_ref(), Some(&audit_state::secret(&secret)));
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>((secret, true))
                })
            })
            .await?;
        if is_changed {
            self.feed.ring();
        }
        let mut read = self.store.read().await?;
        self.secret_detail(&mut read, secret).await
    }

    /// What a linked secret leads to, now or a moment ago.
    pub(crate) async fn secret_follow(
        &self,
        project: &Project,
        secret: &Secret,
        link: &SecretLink,
        reference: &SecretRef,
    ) -> Result<Fetched, Error> {
        if reference.version.is_some() {
            let called = secret.called();
            return Err(Error::new(
                Code::NotFound,
                format!("the secret `{called}` is a link and has no versions here"),
                "leave the version out; `hostler secret link --version` names one of the vault's",
            ));
        }
        let named = secret.reference(None);
        let followed = self.vaults.resolve(project, &named, link, self.clock.instant()).await;
        let tally = match &followed {
            Ok(_) => &self.secret_tally.followed,
            Err(error) => {
                tracing::warn!(secret = %named, vault = %link.provider, why = %error, "linked secret cannot be had");
                &self.secret_tally.lost
            }
        };
        tally.fetch_add(1, Ordering::Relaxed);
        followed
    }
}

fn is_kept(secret: &Secret) -> Error {
    let called = secret.called();
    Error::new(
        Code::Conflict,
        format!("the secret `{called}` has a value that is kept here"),
        format!("remove it first with `hostler secret rm {called}`, or link another name"),
    )
}

/// The error for who sets the value of a link.
pub(super) fn is_linked(secret: &Secret) -> Error {
    let called = secret.called();
    Error::new(
        Code::Conflict,
        format!("the secret `{called}` is a link; its value is in a vault outside"),
        format!("change it there, or remove the link first with `hostler secret rm {called}`"),
    )
}
