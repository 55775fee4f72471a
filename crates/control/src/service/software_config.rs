//! Configuration of software that was entered by itself: made, listed, shown, removed; and its keys, when the master key was
//! replaced.
//!
//! Configurations that stacks make lie in what their resources remember. Whoever asks for one by its id gets either kind.
//! What a configuration says may be a secret, and has addresses at which resources are signalled: it is shown to those who
//! may signal, not to everybody who sees the project.

use hostler_model::stack::{SoftwareConfig, SoftwareConfigBody};
use hostler_model::{
    Envelope, Error, Limit, ObjectKind, ObjectRef, Page, Permission, Project, ProjectId,
    SoftwareConfigId,
};
use hostler_store::Conn;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::project::check_text;
use super::stack_refusal::{StackRefusal, require};
use crate::{Control, Cx, audit_state};

/// Keys of one transaction.
const BATCH: u32 = 100;
/// How long names of configurations, of tools and of machines may be.
pub(super) const TEXT_MAX: usize = 255;

/// A configuration that is to be entered.
#[derive(Clone, Debug, Default)]
pub struct NewSoftwareConfig {
    pub name: String,
    /// Which tool understands it.
    pub group: String,
    pub body: SoftwareConfigBody,
}

/// What the envelope of a configuration is bound to.
pub(super) fn config_place(id: SoftwareConfigId) -> Vec<u8> {
    format!("software-config/{id}").into_bytes()
}

fn object(config: &SoftwareConfig) -> ObjectRef {
    ObjectRef::new(ObjectKind::SoftwareConfig, config.id, &config.name)
}

pub(super) fn no_config(id: &str) -> StackRefusal {
    let message = format!("Software config with id {id} not found");
    StackRefusal::new("NotFound", message, Error::not_found("software config", id))
}

/// As servers and programs are given it.
fn document(config: &SoftwareConfig, body: SoftwareConfigBody) -> Map<String, Value> {
    let document = json!({
        "id": config.id,
        "name": config.name,
        "group": config.group,
        "config": body.config,
        "options": body.options,
        "inputs": body.inputs,
        "outputs": body.outputs,
        "creation_time": config.time_created,
    });
    document.as_object().cloned().unwrap_or_default()
}

impl Control {
    pub(super) fn software_seal(
        &self,
        body: &impl Serialize,
        place: &[u8],
    ) -> Result<Envelope, Error> {
        let text = serde_json::to_vec(body).map_err(Error::internal)?;
        self.keyring.enclose(&text, place).map_err(Error::internal)
    }

    pub(super) fn software_open<T: DeserializeOwned>(
        &self,
        envelope: &Envelope,
        place: &[u8],
    ) -> Result<T, Error> {
        let text = self.keyring.disclose(envelope, place).map_err(|error| {
            let place = String::from_utf8_lossy(place);
            Error::unavailable(format!("what is sealed as `{place}` cannot be opened"), error)
        })?;
        serde_json::from_slice(text.expose()).map_err(Error::internal)
    }

    pub async fn software_config_create(
        &self,
        cx: &Cx,
        project: &Project,
        new: NewSoftwareConfig,
    ) -> Result<Map<String, Value>, StackRefusal> {
        require(cx, project, Permission::StackApply)?;
        check_text("/name", &new.name, 1..=TEXT_MAX)?;
        check_text("/group", &new.group, 0..=TEXT_MAX)?;
        let id: SoftwareConfigId = self.ids.fresh();
        let config = SoftwareConfig {
            id,
            project_id: project.id,
            name: new.name,
            group: new.group,
            envelope: self.software_seal(&new.body, &config_place(id))?,
            time_created: self.now(),
        };
        let audit = self
            .audit(cx, "software-config.create", &object(&config), Some(project.id), json!({}))
            .with_states(None, Some(&audit_state::software_config(&config)));
        let (made, audit) = (&config, &audit);
        let id = self
            .store
            .tx("software_config_create", |tx| {
                Box::pin(async move {
                    if let Some(earlier) = self.claim(tx, cx, &object(made)).await? {
                        return Ok(earlier.id);
                    }
                    tx.software_config_insert(made).await?;
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok::<_, Error>(made.id.to_string())
                })
            })
            .await?;
        self.software_config_known(project.id, &id).await
    }

    /// The newest first, without what they say.
    pub async fn software_config_list(
        &self,
        cx: &Cx,
        project: &Project,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<SoftwareConfig>, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        let mut read = self.store.read().await?;
        Ok(read.software_config_list(Some(project.id), after, limit).await?)
    }

    /// One that was entered, or that a stack has made.
    pub async fn software_config_get(
        &self,
        cx: &Cx,
        project: &Project,
        id: &str,
    ) -> Result<Map<String, Value>, StackRefusal> {
        require(cx, project, Permission::StackSignal)?;
        self.software_config_known(project.id, id).await
    }

    async fn software_config_known(
        &self,
        project: ProjectId,
        id: &str,
    ) -> Result<Map<String, Value>, StackRefusal> {
        let found = self.stack_software_config(project, id).await?;
        found.ok_or_else(|| no_config(id))
    }

    /// One that was entered by itself, whole.
    pub(crate) async fn software_config_entered(
        &self,
        read: &mut Conn,
        project: ProjectId,
        id: SoftwareConfigId,
    ) -> Result<Option<Map<String, Value>>, Error> {
        let found = read.software_config_get(id).await?;
        let Some(config) = found.filter(|config| config.project_id == project) else {
            return Ok(None);
        };
        let body = self.software_open(&config.envelope, &config_place(id))?;
        Ok(Some(document(&config, body)))
    }

    /// Not while a deployment is about it.
    pub async fn software_config_remove(
        &self,
        cx: &Cx,
        project: &Project,
        id: &str,
    ) -> Result<(), StackRefusal> {
        require(cx, project, Permission::StackApply)?;
        let known: SoftwareConfigId = id.parse().map_err(|_| no_config(id))?;
        self.store
            .tx("software_config_remove", |tx| {
                Box::pin(async move {
                    let found = tx.software_config_get(known).await?;
                    let found = found.filter(|config| config.project_id == project.id);
                    let config = found.ok_or_else(|| no_config(id))?;
                    tx.software_config_delete(known).await?;
                    let audit = self
                        .audit(
                            cx,
                            "software-config.remove",
                            &object(&config),
                            Some(project.id),
                            json!({}),
                        )
                        .with_states(Some(&audit_state::software_config(&config)), None);
                    tx.journal_append(&[], &[audit]).await?;
                    Ok::<_, StackRefusal>(())
                })
            })
            .await
    }

    /// Seals the keys of configurations with the present master key; how many.
    pub(super) async fn software_config_keys_rewrap(&self, cx: &Cx) -> Result<u64, Error> {
        let (mut count, mut after) = (0, None);
        loop {
            let key_id = self.keyring.present_id();
            let mut read = self.store.read().await?;
            let keys = read.software_config_keys_but(key_id, after, BATCH).await?;
            drop(read);
            let Some(last) = keys.last() else { return Ok(count) };
            after = Some(last.id);
            let keys = &keys;
            count += self
                .store
                .tx("software_config_rewrap", |tx| {
                    Box::pin(async move {
                        let mut done = 0;
                        for key in keys {
                            match self.keyring.rewrap(&key.wrapped_key, &config_place(key.id)) {
                                Ok(Some(fresh)) => {
                                    let is_put =
                                        tx.software_config_key_replace(key, &fresh, key_id).await?;
                                    done += u64::from(is_put);
                                }
                                Ok(None) => {}
                                Err(error) => {
                                    tracing::warn!(config = %key.id, %error, "key of a software config cannot be opened");
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
}
