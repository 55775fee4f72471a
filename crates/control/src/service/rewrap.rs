//! After the master key was replaced: what is sealed with a former key is sealed with the present one.
//!
//! Bit by bit, each bit a transaction of its own, so that it can be stopped at any moment and begun again;
//! every row says which key it is sealed with. Until it is done the former keys are needed, and every
//! server must have the present one before it begins. Values are not touched, only the keys they are
//! sealed with.

use std::collections::BTreeMap;

use hostler_model::{Error, EventKind, KeyId, ObjectKind, ObjectRef, SecretId, SecretPayload};
use hostler_store::{Tx, WrappedKey};
use hostler_trust::MasterKey;
use serde_json::json;

use super::second_factor::belongs_to;
use super::stack_plan::plan_place;
use crate::authorities::StoredAuthority;
use crate::bootstrap::{AUTHORITY, SEAL_CHECK};
use crate::identity::{IDENTITY_KEYS, StoredKeys};
use crate::node_backup::BACKUP_KEY;
use crate::stack::key_place;
use crate::{Control, Cx, Stateless};

/// Keys of one transaction.
const BATCH: u32 = 100;

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrapped {
    /// The present master key.
    pub key_id: KeyId,
    /// How many keys were sealed anew now.
    pub count: u64,
    /// What is left under other keys, because it could not be opened.
    pub left: Vec<(KeyId, u64)>,
}

impl Control {
    /// Seals everything with the present master key that is sealed with a former one.
    pub async fn secret_rewrap(&self, cx: &Cx) -> Result<Rewrapped, Error> {
        let mut count = self.settings_reseal(cx).await?;
        let mut after: Option<(SecretId, u32)> = None;
        loop {
            let key_id = self.keyring.present_id();
            let mut read = self.store.read().await?;
            let keys = read.secret_keys_but(key_id, after, BATCH).await?;
            drop(read);
            let Some(last) = keys.last() else { break };
            after = Some((last.secret_id, last.version));
            count += self.keys_rewrap(cx, &keys).await?;
        }
        count += self.stack_keys_rewrap(cx).await?;
        count += self.stack_plans_reseal(cx).await?;
        count += self.software_config_keys_rewrap(cx).await?;
        count += self.software_deployment_keys_rewrap(cx).await?;
        let (resealed, unopened) = self.second_factors_reseal(cx).await?;
        count += resealed;
        let key_id = self.keyring.present_id();
        let mut left = self.store.read().await?.secret_keys().await?;
        left.retain(|(id, _)| *id != key_id);
        let stacks = self.keys_of_stacks().await?;
        let unopened =
            unopened.into_iter().chain(stacks.into_iter().filter(|(id, _)| *id != key_id));
        for (id, count) in unopened {
            match left.iter_mut().find(|(known, _)| *known == id) {
                Some((_, sum)) => *sum += count,
                None => left.push((id, count)),
            }
        }
        self.feed.ring();
        Ok(Rewrapped { key_id, count, left })
    }

    async fn keys_rewrap(&self, cx: &Cx, keys: &[WrappedKey]) -> Result<u64, Error> {
        self.store
            .tx("secret_rewrap", |tx| {
                Box::pin(async move {
                    let mut count = 0;
                    for key in keys {
                        let Some(secret) = tx.secret_get(key.secret_id).await? else { continue };
                        let binding = secret.binding(key.version);
                        match self.keyring.rewrap(&key.wrapped_key, &binding) {
                            Ok(Some(fresh)) => {
                                let id = self.keyring.present_id();
                                count += u64::from(tx.secret_key_replace(key, &fresh, id).await?);
                            }
                            Ok(None) => {}
                            Err(error) => {
                                let (secret, version) = (secret.called(), key.version);
                                tracing::warn!(secret, version, %error, "key of a secret cannot be opened");
                            }
                        }
                    }
                    self.rewrap_journal(tx, cx, count).await?;
                    Ok::<_, Error>(count)
                })
            })
            .await
    }

    /// The keys of stacks.
    async fn stack_keys_rewrap(&self, cx: &Cx) -> Result<u64, Error> {
        let (mut count, mut after) = (0, None);
        loop {
            let key_id = self.keyring.present_id();
            let keys = self.store.read().await?.stack_keys_but(key_id, after, BATCH).await?;
            let Some(last) = keys.last() else { return Ok(count) };
            after = Some(last.id);
            let keys = &keys;
            count += self
                .store
                .tx("stack_rewrap", |tx| {
                    Box::pin(async move {
                        let mut done = 0;
                        for key in keys {
                            match self.keyring.rewrap(&key.wrapped_key, &key_place(key.id)) {
                                Ok(Some(fresh)) => {
                                    done += u64::from(
                                        tx.stack_key_replace(key, &fresh, key_id).await?,
                                    );
                                }
                                Ok(None) => {}
                                Err(error) => {
                                    tracing::warn!(stack = %key.id, %error, "key of a stack cannot be opened");
                                }
                            }
                        }
                        self.rewrap_journal(tx, cx, done).await?;
                        Ok::<_, Error>(done)
                    })
                })
                .await?;
        }
    }

    /// What is sealed of plans that can still be carried out.
    async fn stack_plans_reseal(&self, cx: &Cx) -> Result<u64, Error> {
        let (mut count, mut after) = (0, None);
        loop {
            let plans = self.store.read().await?.stack_plan_open_list(after, BATCH).await?;
            let Some(last) = plans.last() else { return Ok(count) };
            after = Some(last.id);
            let plans = &plans;
            count += self
                .store
                .tx("stack_plan_reseal", |tx| {
                    Box::pin(async move {
                        let mut done = 0;
                        for plan in plans {
                            match self.keyring.reseal(&plan.sealed, &plan_place(plan.id)) {
                                Ok(Some(fresh)) => {
                                    done += u64::from(tx.stack_plan_reseal(plan, &fresh).await?);
                                }
                                Ok(None) => {}
                                Err(error) => {
                                    tracing::warn!(plan = %plan.id, %error, "a plan of a stack cannot be opened");
                                }
                            }
                        }
                        self.rewrap_journal(tx, cx, done).await?;
                        Ok::<_, Error>(done)
                    })
                })
                .await?;
        }
    }

    /// The secrets of second factors; how many, and which keys seal those that could not be opened.
    async fn second_factors_reseal(&self, cx: &Cx) -> Result<(u64, BTreeMap<KeyId, u64>), Error> {
        let (mut count, mut unopened) = (0, BTreeMap::new());
        let mut after = None;
        loop {
            let factors = self.store.read().await?.second_factor_list(after, BATCH).await?;
            let Some(last) = factors.last() else { return Ok((count, unopened)) };
            after = Some(last.principal_id);
            let mut fresh = Vec::new();
            for factor in factors {
                match self.keyring.reseal(&factor.secret_sealed, &belongs_to(factor.principal_id)) {
                    Ok(Some(sealed)) => fresh.push((factor, sealed)),
                    Ok(None) => {}
                    Err(error) => {
                        let principal = factor.principal_id;
                        tracing::warn!(%principal, %error, "second factor cannot be opened");
                        if let Some(key) = MasterKey::sealed_with(&factor.secret_sealed) {
                            *unopened.entry(key).or_default() += 1;
                        }
                    }
                }
            }
            let fresh = &fresh;
            count += self
                .store
                .tx("second_factors_reseal", |tx| {
                    Box::pin(async move {
                        let mut done = 0;
                        for (factor, sealed) in fresh {
                            done += u64::from(tx.second_factor_reseal(factor, sealed).await?);
                        }
                        self.rewrap_journal(tx, cx, done).await?;
                        Ok::<_, Error>(done)
                    })
                })
                .await?;
        }
    }

    /// The keys of authorities, those that sign tokens, and the value by which a start is checked.
    async fn settings_reseal(&self, cx: &Cx) -> Result<u64, Error> {
        self.store
            .tx("settings_reseal", |tx| {
                Box::pin(async move {
                    let mut count = 0;
                    if let Some(kept) = tx.setting_get(SEAL_CHECK).await?
                        && let Some(fresh) = self.resealed(&kept, SEAL_CHECK)?
                    {
                        tx.setting_replace(SEAL_CHECK, &fresh).await?;
                        count += 1;
                    }
                    if let Some(kept) = tx.setting_get(BACKUP_KEY).await?
                        && let Some(fresh) = self.resealed(&kept, BACKUP_KEY)?
                    {
                        tx.setting_replace(BACKUP_KEY, &fresh).await?;
                        count += 1;
                    }
                    if let Some(kept) = tx.setting_get(AUTHORITY).await? {
                        let mut document: StoredAuthority =
                            serde_json::from_slice(&kept).map_err(Error::internal)?;
                        let former = document.former.as_mut().map(|former| &mut former.key);
                        let mut resealed = 0;
                        for key in [&mut document.key].into_iter().chain(former) {
                            if let Some(fresh) = self.resealed(key, AUTHORITY)? {
                                *key = fresh;
                                resealed += 1;
                            }
                        }
                        if resealed > 0 {
                            let bytes = serde_json::to_vec(&document).map_err(Error::internal)?;
                            tx.setting_replace(AUTHORITY, &bytes).await?;
                            count += resealed;
                        }
                    }
                    if let Some(kept) = tx.setting_get(IDENTITY_KEYS).await? {
                        let (mut document, before) = (StoredKeys::read(&kept)?, count);
                        for key in &mut document.keys {
                            if let Some(fresh) = self.resealed(&key.sealed, &key.belongs_to())? {
                                key.sealed = fresh;
                                count += 1;
                            }
                        }
                        if count > before {
                            tx.setting_replace(IDENTITY_KEYS, &document.write()?).await?;
                        }
                    }
                    self.rewrap_journal(tx, cx, count).await?;
                    Ok::<_, Error>(count)
                })
            })
            .await
    }

    fn resealed(&self, sealed: &[u8], belongs_to: &str) -> Result<Option<Vec<u8>>, Error> {
        self.keyring.reseal(sealed, belongs_to.as_bytes()).map_err(|error| {
            Error::unavailable(format!("what is sealed as `{belongs_to}` cannot be opened"), error)
        })
    }

    /// Under which master keys there are keys of stacks, and of configurations beside them.
    async fn keys_of_stacks(&self) -> Result<Vec<(KeyId, u64)>, Error> {
        let mut read = self.store.read().await?;
        let mut all = read.stack_keys().await?;
        all.extend(read.software_config_keys().await?);
        all.extend(read.software_deployment_keys().await?);
        Ok(all)
    }

    pub(super) async fn rewrap_journal(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        count: u64,
    ) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        let key = self.keyring.present_id();
        let object = ObjectRef::new(ObjectKind::Server, self.server_id, &self.server_name);
        let message = format!("{count} sealed with the master key {key}");
        let event = self
            .event(EventKind::SecretRewrapped, None, &object, cx.actor(), message)
            .with_payload(SecretPayload {
                count: Some(count),
                key: Some(key.to_string()),
                ..SecretPayload::default()
            });
        let detail = json!({ "count": count, "key": key.to_string() });
        let audit = self.audit(cx, Stateless::SecretRewrap, &object, None, detail);
        Ok(tx.journal_append(&[event], &[audit]).await?)
    }
}
