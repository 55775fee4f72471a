//! Secrets: set, generate, list, read, destroy, remove.
//!
//! *Who may what.* Everybody who sees a project sees which secrets there are. A `user` sets secrets of
//! their own and names any secret of the project in workloads; changing somebody else's, and reading a
//! value back, is for operators. (Who runs a program with a secret can have the program tell it, so
//! *using* is as much as *reading* to somebody who wants it to be. The difference keeps values out of
//! sight, not from a determined user.)
//!
//! *What is left of a value.* It is sealed before it is stored (`trust::keyring`), bound to the secret and
//! the version, and appears in no event, audit entry, log line or error. Reading it is in the audit trail
//! before it is handed out: what cannot be recorded is not read.
//!
//! Setting the value that is current already makes no new version, so that a repeated request, or a file
//! that is applied again, changes nothing.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hostler_model::{
    Code, Diagnostic, Envelope, Error, EventKind, Generation, Limit, Name, ObjectKind, ObjectRef,
    Page, Permission, Project, SECRET_MAX, Secret, SecretId, SecretPayload, SecretRef,
    SecretSource, SecretVersion,
};
use hostler_store::{Conn, Tx};
use hostler_trust::{SecretBytes, keyring};
use serde_json::{Value, json};

use super::approval_gate::{Deed, What};
use super::project::{settled, taken};
use super::quota::room_for_secret;
use super::secret_link::is_linked;
use super::task::{Names, require_own};
use crate::vault::Fetched;
use crate::{Control, Cx, Stateless, audit_state};

/// Random bytes of a value that is made here.
const GENERATED: std::ops::RangeInclusive<u32> = 16..=1024;

/// A secret, and who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretDetail {
    pub secret: Secret,
    pub created_by: String,
}

/// A value, and which version it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretValue {
    pub secret: Secret,
    pub version: u32,
    pub value: SecretBytes,
}

/// What was done with values since this server started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecretCounts {
    /// Read by people and programs.
    pub read: u64,
    /// Given to nodes for a run.
    pub delivered: u64,
    /// Could not be opened.
    pub unopened: u64,
    /// Linked ones that were had, from the vault or from memory.
    pub followed: u64,
    /// Linked ones that could not be had.
    pub lost: u64,
}

#[derive(Default)]
pub(crate) struct SecretTally {
    read: AtomicU64,
    delivered: AtomicU64,
    unopened: AtomicU64,
    pub(super) followed: AtomicU64,
    pub(super) lost: AtomicU64,
    /// Those that an event tells of.
    told: Mutex<HashSet<(SecretId, u32)>>,
}

impl SecretTally {
    pub(crate) fn delivered(&self, count: usize) {
        self.delivered.fetch_add(count as u64, Ordering::Relaxed);
    }
}

pub(crate) fn secret_object(secret: &Secret) -> ObjectRef {
    ObjectRef::new(ObjectKind::Secret, secret.id, secret.called())
}

/// A secret as it was found, and whether it was changed.
struct Written {
    secret: Secret,
    is_changed: bool,
}

impl Control {
    /// What was done with secrets since this server started.
    pub fn secret_counts(&self) -> SecretCounts {
        let tally = &self.secret_tally;
        SecretCounts {
            read: tally.read.load(Ordering::Relaxed),
            delivered: tally.delivered.load(Ordering::Relaxed),
            unopened: tally.unopened.load(Ordering::Relaxed),
            followed: tally.followed.load(Ordering::Relaxed),
            lost: tally.lost.load(Ordering::Relaxed),
        }
    }

    /// By environment and name.
    pub async fn secret_list(
        &self,
        _: &Cx,
        project: &Project,
        environment: Option<&Name>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<SecretDetail>, Error> {
        let mut read = self.store.read().await?;
        let page = read.secret_list(project.id, environment, after, limit).await?;
        let (mut names, mut items) = (Names::default(), Vec::with_capacity(page.items.len()));
        for secret in page.items {
            let created_by = names.principal(&mut read, secret.created_by).await?;
            items.push(SecretDetail { secret, created_by });
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn secret_get(
        &self,
        _: &Cx,
        project: &Project,
        reference: &SecretRef,
    ) -> Result<SecretDetail, Error> {
        let mut read = self.store.read().await?;
        let secret = find(&mut read, project, reference).await?;
        self.secret_detail(&mut read, secret).await
    }

    /// Newest first.
    pub async fn secret_versions(
        &self,
        _: &Cx,
        project: &Project,
        reference: &SecretRef,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<(Secret, Page<SecretVersion>), Error> {
        let mut read = self.store.read().await?;
        let secret = find(&mut read, project, reference).await?;
        let page = read.secret_version_list(secret.id, after, limit).await?;
        Ok((secret, page))
    }

    /// Makes this the current value; with `must_exist`, only of a secret that is there.
    pub async fn secret_set(
        &self,
        cx: &Cx,
        project: &Project,
        reference: &SecretRef,
        value: &SecretBytes,
        must_exist: bool,
    ) -> Result<SecretDetail, Error> {
        if value.is_empty() {
            let text = "the value is empty; send it as the body, or pass a file that holds it";
            return Err(Error::invalid(vec![Diagnostic::new("", text)]));
        }
        if value.len() > SECRET_MAX {
            let text = "a value has at most 64 KiB";
            return Err(Error::new(Code::TooLarge, text, "keep what is larger as a blob"));
        }
        let written = self
            .store
            .tx("secret_set", |tx| {
                Box::pin(async move {
                    let found = tx.secret_find(project.id, reference).await?;
                    if found.is_none() && must_exist {
                        return Err(unknown(reference));
                    }
                    self.secret_write(tx, cx, project, reference, found, value).await
                })
            })
            .await?;
        if written.is_changed {
            self.feed.ring();
        }
        let mut read = self.store.read().await?;
        self.secret_detail(&mut read, written.secret).await
    }

    /// Makes a value of random bytes, as text, the current one; nobody sees it.
    pub async fn secret_generate(
        &self,
        cx: &Cx,
        project: &Project,
        reference: &SecretRef,
        bytes: u32,
    ) -> Result<SecretDetail, Error> {
        if !GENERATED.contains(&bytes) {
            let text = format!("{} to {} random bytes", GENERATED.start(), GENERATED.end());
            return Err(Error::invalid(vec![Diagnostic::new("/bytes", text)]));
        }
        let text = keyring::random_text(bytes as usize);
        let value = &SecretBytes::new(text.expose());
        let written = self
            .store
            .tx("secret_generate", |tx| {
                Box::pin(async move {
                    let found = tx.secret_find(project.id, reference).await?;
                    let claimed = match &found {
                        Some(secret) => secret_object(secret),
                        None => ObjectRef::new(
                            ObjectKind::Secret,
                            self.ids.fresh::<SecretId>(),
                            reference,
                        ),
                    };
                    if self.claim(tx, cx, &claimed).await?.is_some() {
                        let secret = found.ok_or_else(|| unknown(reference))?;
                        return Ok(Written { secret, is_changed: false });
                    }
                    self.secret_write(tx, cx, project, reference, found, value).await
                })
            })
            .await?;
        self.feed.ring();
        let mut read = self.store.read().await?;
        self.secret_detail(&mut read, written.secret).await
    }

    async fn secret_write(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        project: &Project,
        reference: &SecretRef,
        found: Option<Secret>,
        value: &SecretBytes,
    ) -> Result<Written, Error> {
        let now = self.now();
        let is_new = found.is_none();
        let before = found.as_ref().map(audit_state::secret);
        let mut secret = match found {
            Some(secret) => {
                let owner = Names::default().principal(tx, secret.created_by).await?;
                require_own(
                    cx,
                    project,
                    "secret",
                    Permission::SecretManage,
                    secret.created_by,
                    &owner,
                )?;
                if secret.link.is_some() {
                    return Err(is_linked(&secret));
                }
                if self.is_current(tx, &secret, value).await? {
                    return Ok(Written { secret, is_changed: false });
                }
                secret
            }
            None => {
                room_for_secret(tx, project).await?;
                let fresh = self.fresh_secret(cx, project, reference);
                tx.secret_insert(&fresh).await.map_err(|e| taken(e, "secret", reference))?;
                fresh
            }
        };
        let version = secret.version_last.saturating_add(1);
        let envelope = self
            .keyring
            .enclose(value.expose(), &secret.binding(version))
            .map_err(Error::internal)?;
        let made = SecretVersion {
            secret_id: secret.id,
            version,
            size: u32::try_from(value.len()).unwrap_or(u32::MAX),
            key_id: Some(envelope.key_id),
            created_by: cx.actor(),
            time_created: now,
            time_destroyed: None,
        };
        tx.secret_version_insert(&made, &envelope).await?;
        (secret.version_current, secret.version_last) = (version, version);
        secret.time_modified = now;
        settled(tx.secret_update(&secret).await?, "secret", reference)?;
        secret.generation = secret.generation.next();
        let (kind, action) = match is_new {
            true => (EventKind::SecretCreated, "secret.create"),
            false => (EventKind::SecretRotated, "secret.rotate"),
        };
        let after = Some(audit_state::secret(&secret));
        let told = (kind, format!("version {version}"), Some(version));
        self.secret_journal(tx, cx, &secret, told, action, [before, after]).await?;
        Ok(Written { secret, is_changed: true })
    }

    /// One version's value, for somebody who may read it.
    pub async fn secret_read(
        &self,
        cx: &Cx,
        project: &Project,
        reference: &SecretRef,
    ) -> Result<SecretValue, Error> {
        let mut read = self.store.read().await?;
        let secret = find(&mut read, project, reference).await?;
        drop(read);
        let asked = reference.version.unwrap_or(secret.version_current);
        let what = json!({
            "secret": secret.id, "environment": secret.environment, "name": secret.name,
            "version": asked, "link": secret.link,
        });
        let deed = Deed {
            verb: Permission::SecretValue,
            project: Some(project),
            name: format!("{}/{}", secret.environment, secret.name),
            what: What::Plain(what),
            specs: Vec::new(),
            node: None,
        };
        let pass = self.approval_pass(cx, &deed).await?;
        let (version, value, detail) = match &secret.link {
            None => {
                let mut read = self.store.read().await?;
                let (version, envelope) = envelope(&mut read, &secret, reference).await?;
                drop(read);
                let value = self.secret_open(&secret, version, &envelope).await?;
                (version, value, json!({ "version": version }))
            }
            Some(link) => {
                let Fetched { version, value } =
                    self.secret_follow(project, &secret, link, reference).await?;
                (version, value, json!({ "version": version, "link": link }))
            }
        };
        let audit = self.audit(
            cx,
            Stateless::SecretRead,
            &secret_object(&secret),
            Some(project.id),
            detail,
        );
        let (audit, pass) = (&audit, &pass);
        self.store
            .tx("secret_read", |tx| {
                Box::pin(async move {
                    self.approval_use(tx, cx, pass).await?;
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.secret_tally.read.fetch_add(1, Ordering::Relaxed);
        Ok(SecretValue { secret, version, value })
    }

    /// Lets go of one version for ever. The newest that is left becomes current.
    pub async fn secret_destroy(
        &self,
        cx: &Cx,
        project: &Project,
        reference: &SecretRef,
        version: u32,
    ) -> Result<SecretDetail, Error> {
        let secret = self
            .store
            .tx("secret_destroy", |tx| {
                Box::pin(async move {
                    let mut secret = self.own_secret(tx, cx, project, reference).await?;
                    let before = Some(audit_state::secret(&secret));
                    let now = self.now();
                    if tx.secret_version_get(secret.id, version).await?.is_none() {
                        return Err(no_version(&secret, version));
                    }
                    if !tx.secret_version_destroy(secret.id, version, now).await? {
                        return Ok(secret);
                    }
                    secret.version_current =
                        tx.secret_version_newest(secret.id).await?.unwrap_or_default();
                    secret.time_modified = now;
                    settled(tx.secret_update(&secret).await?, "secret", reference)?;
                    secret.generation = secret.generation.next();
                    let (kind, words) = (EventKind::SecretDestroyed, format!("version {version}"));
                    let told = (kind, words, Some(version));
                    let states = [before, Some(audit_state::secret(&secret))];
                    self.secret_journal(tx, cx, &secret, told, "secret.destroy", states).await?;
                    Ok::<_, Error>(secret)
                })
            })
            .await?;
        self.feed.ring();
        let mut read = self.store.read().await?;
        self.secret_detail(&mut read, secret).await
    }

    /// Removes a secret with all its versions.
    pub async fn secret_remove(
        &self,
        cx: &Cx,
        project: &Project,
        reference: &SecretRef,
    ) -> Result<(), Error> {
        self.store
            .tx("secret_remove", |tx| {
                Box::pin(async move {
                    let secret = self.own_secret(tx, cx, project, reference).await?;
                    tx.secret_delete(secret.id).await?;
                    let told = (EventKind::SecretRemoved, "removed".to_owned(), None);
                    let states = [Some(audit_state::secret(&secret)), None];
                    self.secret_journal(tx, cx, &secret, told, "secret.remove", states).await
                })
            })
            .await?;
        self.feed.ring();
        Ok(())
    }

    async fn own_secret(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        project: &Project,
        reference: &SecretRef,
    ) -> Result<Secret, Error> {
        let secret = find(tx, project, reference).await?;
        let owner = Names::default().principal(tx, secret.created_by).await?;
        require_own(cx, project, "secret", Permission::SecretManage, secret.created_by, &owner)?;
        Ok(secret)
    }

    async fn secret_journal(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        secret: &Secret,
        (kind, message, version): (EventKind, String, Option<u32>),
        action: &str,
        [before, after]: [Option<Value>; 2],
    ) -> Result<(), Error> {
        let (object, project) = (secret_object(secret), Some(secret.project_id));
        let detail = json!({ "current": secret.version_current });
        let event = self
            .event(kind, project, &object, cx.actor(), message)
            .with_payload(SecretPayload { version, ..SecretPayload::from(secret) });
        let audit = self
            .audit(cx, action, &object, project, detail)
            .with_states(before.as_ref(), after.as_ref());
        Ok(tx.journal_append(&[event], &[audit]).await?)
    }

    /// Opens a value; where that fails, an event tells of it, once.
    pub(crate) async fn secret_open(
        &self,
        secret: &Secret,
        version: u32,
        envelope: &Envelope,
    ) -> Result<SecretBytes, Error> {
        let error = match self.keyring.disclose(envelope, &secret.binding(version)) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let tally = &self.secret_tally;
        tally.unopened.fetch_add(1, Ordering::Relaxed);
        let called = secret.called();
        tracing::error!(secret = called, version, key = %envelope.key_id, %error, "secret cannot be opened");
        let is_fresh = {
            let mut told = tally.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.insert((secret.id, version))
        };
        if is_fresh {
            let (object, project) = (secret_object(secret), Some(secret.project_id));
            let message = format!("version {version}: {error}");
            let actor = self.system_actor();
            let event = self
                .event(EventKind::SecretUnopened, project, &object, actor, message.clone())
                .with_payload(SecretPayload {
                    version: Some(version),
                    problem: Some(error.to_string()),
                    ..SecretPayload::from(secret)
                });
            let detail = json!({ "version": version });
            let audit = self.audit_system(Stateless::SecretUnopened, &object, project, detail);
            let (event, audit) = (&event, &audit);
            self.store
                .tx("secret_unopened", |tx| {
                    Box::pin(async move {
                        tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                            .await?;
                        Ok::<_, Error>(())
                    })
                })
                .await?;
            self.feed.ring();
        }
        Err(Error::new(
            Code::Unavailable,
            format!("version {version} of the secret `{called}` cannot be opened: {error}"),
            "start the server with the master key it was sealed with, or set the secret anew",
        ))
    }

    async fn is_current(
        &self,
        read: &mut Conn,
        secret: &Secret,
        value: &SecretBytes,
    ) -> Result<bool, Error> {
        let version = secret.version_current;
        let Some(envelope) = read.secret_envelope(secret.id, version).await? else {
            return Ok(false);
        };
        let current = self.keyring.disclose(&envelope, &secret.binding(version));
        Ok(current.is_ok_and(|current| current == *value))
    }

    pub(super) fn fresh_secret(&self, cx: &Cx, project: &Project, reference: &SecretRef) -> Secret {
        let now = self.now();
        Secret {
            id: self.ids.fresh(),
            project_id: project.id,
            environment: reference.environment.clone(),
            name: reference.name.clone(),
            source: SecretSource::Kept,
            link: None,
            version_current: 0,
            version_last: 0,
            generation: Generation::FIRST,
            created_by: cx.caller.principal_id,
            time_created: now,
            time_modified: now,
        }
    }

    pub(super) async fn secret_detail(
        &self,
        read: &mut Conn,
        secret: Secret,
    ) -> Result<SecretDetail, Error> {
        let created_by = Names::default().principal(read, secret.created_by).await?;
        Ok(SecretDetail { secret, created_by })
    }
}

async fn find(read: &mut Conn, project: &Project, reference: &SecretRef) -> Result<Secret, Error> {
    let found = read.secret_find(project.id, reference).await?;
    found.ok_or_else(|| unknown(reference))
}

fn unknown(reference: &SecretRef) -> Error {
    let named = SecretRef { version: None, ..reference.clone() };
    Error::not_found("secret", named)
}

fn no_version(secret: &Secret, version: u32) -> Error {
    let called = secret.called();
    Error::new(
        Code::NotFound,
        format!("the secret `{called}` has no version {version}"),
        format!("list them with `hostler secret versions {called}`"),
    )
}

/// What is sealed of the version that is meant, and which that is.
pub(crate) async fn envelope(
    read: &mut Conn,
    secret: &Secret,
    reference: &SecretRef,
) -> Result<(u32, Envelope), Error> {
    let version = reference.version.unwrap_or(secret.version_current);
    if let Some(envelope) = read.secret_envelope(secret.id, version).await? {
        return Ok((version, envelope));
    }
    if version > 0 && read.secret_version_get(secret.id, version).await?.is_none() {
        return Err(no_version(secret, version));
    }
    let called = secret.called();
    let detail = match reference.version {
        Some(version) => format!("version {version} of the secret `{called}` was destroyed"),
        None => format!("every version of the secret `{called}` was destroyed"),
    };
    Err(Error::new(
        Code::NotFound,
        detail,
        format!("set it anew with `hostler secret set {called}`"),
    ))
}
