//! Configurations on machines: which there are, how it went, and what a machine asks for.
//!
//! A deployment is entered by itself, or made by a stack; those of stacks lie in what their resources remember, and are only
//! looked at here. A machine asks for the configurations that are for it by its own name for itself, and gets both kinds.

use hostler_model::stack::{
    ResourceAction, SoftwareDeployment, SoftwareDeploymentBody, Stack, StackStatus,
};
use hostler_model::{
    Error, Generation, Limit, ObjectKind, ObjectRef, Permission, Project, SoftwareConfigId,
    SoftwareDeploymentId,
};
use hostler_store::{Conn, SoftwareDeploymentFilter, StackFilter, StackOrder, Tx};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::project::{check_text, settled};
use super::software_config::{TEXT_MAX, no_config};
use super::stack_refusal::{StackRefusal, require};
use crate::stack::plugin::{DEPLOYMENT, DERIVED};
use crate::{Control, Cx, audit_state};

/// Keys of one transaction.
const BATCH: u32 = 100;

/// A deployment that is to be entered.
#[derive(Clone, Debug)]
pub struct NewSoftwareDeployment {
    pub config: String,
    /// Which machine, as its agent calls itself when it asks.
    pub server: String,
    /// `CREATE`, `UPDATE` and their like, or any other word.
    pub action: String,
    pub status: StackStatus,
    pub reason: String,
    pub body: SoftwareDeploymentBody,
}

/// What of a deployment is to change.
#[derive(Clone, Debug, Default)]
pub struct SoftwareDeploymentEdit {
    pub config: Option<String>,
    pub action: Option<String>,
    pub status: Option<StackStatus>,
    pub reason: Option<String>,
    pub input_values: Option<Map<String, Value>>,
    pub output_values: Option<Map<String, Value>>,
}

/// What is sealed of a deployment, with its action where that is a word of the tool's own.
#[derive(Default, Serialize, Deserialize)]
struct Sealed {
    #[serde(flatten)]
    body: SoftwareDeploymentBody,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    word: Option<String>,
}

impl Sealed {
    fn act(&mut self, action: &str) -> ResourceAction {
        let known = ResourceAction::ALL.iter().copied().find(|known| known.heat() == action);
        self.word = known.is_none().then(|| action.to_owned());
        known.unwrap_or(ResourceAction::Init)
    }
}

/// A deployment that a stack has made.
struct Made {
    deployment: Map<String, Value>,
    /// The configuration that was derived for it.
    derived: Map<String, Value>,
}

/// What the envelope of a deployment is bound to.
fn deployment_place(id: SoftwareDeploymentId) -> Vec<u8> {
    format!("software-deployment/{id}").into_bytes()
}

fn object(deployment: &SoftwareDeployment) -> ObjectRef {
    ObjectRef::new(ObjectKind::SoftwareDeployment, deployment.id, &deployment.server)
}

fn no_deployment(id: &str) -> StackRefusal {
    let message = format!("Deployment with id {id} not found");
    StackRefusal::new("NotFound", message, Error::not_found("software deployment", id))
}

fn document(deployment: &SoftwareDeployment, sealed: Sealed) -> Map<String, Value> {
    let Sealed { body, word } = sealed;
    let document = json!({
        "id": deployment.id,
        "config_id": deployment.config_id,
        "server_id": deployment.server,
        "action": word.unwrap_or_else(|| deployment.action.heat()),
        "status": deployment.status.heat(),
        "status_reason": deployment.reason,
        "input_values": body.input_values,
        "output_values": body.output_values,
        "creation_time": deployment.time_created,
        "updated_time": deployment.time_updated,
    });
    document.as_object().cloned().unwrap_or_default()
}

fn check_reason(reason: &str) -> Result<(), Error> {
    check_text("/status_reason", reason, 0..=TEXT_MAX * 16)
}

impl Control {
    pub async fn software_deployment_create(
        &self,
        cx: &Cx,
        project: &Project,
        new: NewSoftwareDeployment,
    ) -> Result<Map<String, Value>, StackRefusal> {
        require(cx, project, Permission::StackApply)?;
        check_text("/server_id", &new.server, 1..=TEXT_MAX)?;
        check_reason(&new.reason)?;
        let id: SoftwareDeploymentId = self.ids.fresh();
        let config_id: SoftwareConfigId = new.config.parse().map_err(|_| no_config(&new.config))?;
        check_text("/action", &new.action, 1..=TEXT_MAX)?;
        let mut sealed = Sealed { body: new.body, word: None };
        let action = sealed.act(&new.action);
        let deployment = &SoftwareDeployment {
            id,
            project_id: project.id,
            config_id,
            server: new.server,
            action,
            status: new.status,
            reason: new.reason,
            envelope: self.software_seal(&sealed, &deployment_place(id))?,
            generation: Generation::FIRST,
            time_created: self.now(),
            time_updated: None,
        };
        let id = self
            .store
            .tx("software_deployment_create", |tx| {
                Box::pin(async move {
                    if let Some(earlier) = self.claim(tx, cx, &object(deployment)).await? {
                        return Ok(earlier.id);
                    }
                    check_config(tx, project, deployment.config_id).await?;
                    tx.software_deployment_insert(deployment).await?;
                    let states = [None, Some(deployment)];
                    self.deployment_journal(tx, cx, "software-deployment.create", states).await?;
                    Ok::<_, StackRefusal>(deployment.id.to_string())
                })
            })
            .await?;
        self.software_deployment_get(cx, project, &id).await
    }

    async fn deployment_journal(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        action: &'static str,
        [before, after]: [Option<&SoftwareDeployment>; 2],
    ) -> Result<(), Error> {
        let Some(one) = after.or(before) else { return Ok(()) };
        let [before, after] =
            [before, after].map(|state| state.map(audit_state::software_deployment));
        let audit = self
            .audit(cx, action, &object(one), Some(one.project_id), json!({}))
            .with_states(before.as_ref(), after.as_ref());
        Ok(tx.journal_append(&[], &[audit]).await?)
    }

    /// Those of a machine, or all; the oldest first, those of stacks after the others.
    pub async fn software_deployment_list(
        &self,
        cx: &Cx,
        project: &Project,
        server: Option<&str>,
    ) -> Result<Vec<Map<String, Value>>, StackRefusal> {
        require(cx, project, Permission::StackSignal)?;
        let mut read = self.store.read().await?;
        let mut all = Vec::new();
        for deployment in entered(&mut read, project, server).await? {
            all.push(self.deployment_document(&deployment)?);
        }
        let made = self.software_made(&mut read, project, server).await?;
        all.extend(made.into_iter().map(|made| made.deployment));
        Ok(all)
    }

    /// The configurations that are for a machine, by name.
    pub async fn software_metadata(
        &self,
        cx: &Cx,
        project: &Project,
        server: &str,
    ) -> Result<Vec<Map<String, Value>>, StackRefusal> {
        require(cx, project, Permission::StackSignal)?;
        let mut read = self.store.read().await?;
        let mut configs = Vec::new();
        for deployment in entered(&mut read, project, Some(server)).await? {
            let (of, id) = (project.id, deployment.config_id);
            configs.extend(self.software_config_entered(&mut read, of, id).await?);
        }
        let made = self.software_made(&mut read, project, Some(server)).await?;
        configs.extend(made.into_iter().map(|made| made.derived));
        configs.sort_by(|one, other| name_of(one).cmp(name_of(other)));
        Ok(configs)
    }

    pub async fn software_deployment_get(
        &self,
        cx: &Cx,
        project: &Project,
        id: &str,
    ) -> Result<Map<String, Value>, StackRefusal> {
        require(cx, project, Permission::StackSignal)?;
        let mut read = self.store.read().await?;
        if let Ok(known) = id.parse()
            && let Some(found) = read.software_deployment_get(known).await?
            && found.project_id == project.id
        {
            return Ok(self.deployment_document(&found)?);
        }
        let made = self.software_made(&mut read, project, None).await?;
        let mut all = made.into_iter().map(|made| made.deployment);
        all.find(|one| one.get("id").and_then(Value::as_str) == Some(id))
            .ok_or_else(|| no_deployment(id))
    }

    fn deployment_document(
        &self,
        deployment: &SoftwareDeployment,
    ) -> Result<Map<String, Value>, Error> {
        let place = deployment_place(deployment.id);
        Ok(document(deployment, self.software_open(&deployment.envelope, &place)?))
    }

    /// Changes one that was entered by itself: how it went is told so.
    pub async fn software_deployment_update(
        &self,
        cx: &Cx,
        project: &Project,
        id: &str,
        edit: &SoftwareDeploymentEdit,
    ) -> Result<Map<String, Value>, StackRefusal> {
        require(cx, project, Permission::StackApply)?;
        check_reason(edit.reason.as_deref().unwrap_or_default())?;
        if let Some(action) = &edit.action {
            check_text("/action", action, 1..=TEXT_MAX)?;
        }
        let known: SoftwareDeploymentId = id.parse().map_err(|_| no_deployment(id))?;
        let config: Option<SoftwareConfigId> = match &edit.config {
            None => None,
            Some(config) => Some(config.parse().map_err(|_| no_config(config))?),
        };
        self.store
            .tx("software_deployment_update", |tx| {
                Box::pin(async move {
                    let before = found(tx, project, known, id).await?;
                    if let Some(config) = config {
                        check_config(tx, project, config).await?;
                    }
                    let place = deployment_place(known);
                    let mut sealed: Sealed = self.software_open(&before.envelope, &place)?;
                    if let Some(values) = &edit.input_values {
                        sealed.body.input_values.clone_from(values);
                    }
                    if let Some(values) = &edit.output_values {
                        sealed.body.output_values.clone_from(values);
                    }
                    let action = edit.action.as_deref().map(|action| sealed.act(action));
                    let after = SoftwareDeployment {
                        config_id: config.unwrap_or(before.config_id),
                        action: action.unwrap_or(before.action),
                        status: edit.status.unwrap_or(before.status),
                        reason: edit.reason.clone().unwrap_or_else(|| before.reason.clone()),
                        envelope: self.software_seal(&sealed, &place)?,
                        time_updated: Some(self.now()),
                        ..before.clone()
                    };
                    let update = tx.software_deployment_update(&after, before.generation).await?;
                    settled(update, "software deployment", id)?;
                    let states = [Some(&before), Some(&after)];
                    self.deployment_journal(tx, cx, "software-deployment.update", states).await?;
                    Ok::<_, StackRefusal>(())
                })
            })
            .await?;
        self.software_deployment_get(cx, project, id).await
    }

    pub async fn software_deployment_remove(
        &self,
        cx: &Cx,
        project: &Project,
        id: &str,
    ) -> Result<(), StackRefusal> {
        require(cx, project, Permission::StackApply)?;
        let known: SoftwareDeploymentId = id.parse().map_err(|_| no_deployment(id))?;
        self.store
            .tx("software_deployment_remove", |tx| {
                Box::pin(async move {
                    let before = found(tx, project, known, id).await?;
                    tx.software_deployment_delete(known).await?;
                    let states = [Some(&before), None];
                    self.deployment_journal(tx, cx, "software-deployment.remove", states).await?;
                    Ok::<_, StackRefusal>(())
                })
            })
            .await
    }

    /// Those that the stacks of a project have made, for a machine or for all.
    async fn software_made(
        &self,
        read: &mut Conn,
        project: &Project,
        server: Option<&str>,
    ) -> Result<Vec<Made>, Error> {
        let filter =
            StackFilter { project: Some(project.id), with_nested: true, ..StackFilter::default() };
        let order = StackOrder { keys: &[], is_ascending: true };
        let (mut made, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = read.stack_list(filter, order, after.as_deref(), Limit::LARGEST).await?;
            for stack in &page.items {
                self.software_made_by(read, stack, server, &mut made).await?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(made);
            }
        }
    }

    async fn software_made_by(
        &self,
        read: &mut Conn,
        stack: &Stack,
        server: Option<&str>,
        made: &mut Vec<Made>,
    ) -> Result<(), Error> {
        let rows = read.stack_resources_bare(stack.id).await?;
        let is_meant = |kind: &str| kind.ends_with("Deployment");
        let ids: Vec<_> = rows.iter().filter(|row| is_meant(&row.kind)).map(|row| row.id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let key = self.stack_key(stack)?;
        for row in read.stack_resource_get_batch(&ids).await? {
            let body = key.open_resource(row.id, &row.sealed)?;
            let part = |name: &str| body.data.get(name).and_then(Value::as_object).cloned();
            let (Some(deployment), Some(derived)) = (part(DEPLOYMENT), part(DERIVED)) else {
                continue;
            };
            let of = deployment.get("server_id").and_then(Value::as_str);
            if server.is_none_or(|server| of == Some(server)) {
                made.push(Made { deployment, derived });
            }
        }
        Ok(())
    }

    /// Seals the keys of deployments with the present master key; how many.
    pub(super) async fn software_deployment_keys_rewrap(&self, cx: &Cx) -> Result<u64, Error> {
        let (mut count, mut after) = (0, None);
        loop {
            let key_id = self.keyring.present_id();
            let mut read = self.store.read().await?;
            let keys = read.software_deployment_keys_but(key_id, after, BATCH).await?;
            drop(read);
            let Some(last) = keys.last() else { return Ok(count) };
            after = Some(last.id);
            let keys = &keys;
            count += self
                .store
                .tx("software_deployment_rewrap", |tx| {
                    Box::pin(async move {
                        let mut done = 0;
                        for key in keys {
                            let place = deployment_place(key.id);
                            match self.keyring.rewrap(&key.wrapped_key, &place) {
                                Ok(Some(fresh)) => {
                                    let is_put = tx
                                        .software_deployment_key_replace(key, &fresh, key_id)
                                        .await?;
                                    done += u64::from(is_put);
                                }
                                Ok(None) => {}
                                Err(error) => {
                                    tracing::warn!(deployment = %key.id, %error, "key of a software deployment cannot be opened");
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

fn name_of(config: &Map<String, Value>) -> &str {
    config.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// All that were entered by themselves, for a machine or for all.
async fn entered(
    read: &mut Conn,
    project: &Project,
    server: Option<&str>,
) -> Result<Vec<SoftwareDeployment>, Error> {
    let filter =
        SoftwareDeploymentFilter { project: Some(project.id), server, ..Default::default() };
    let (mut all, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = read.software_deployment_list(filter, after.as_deref(), Limit::LARGEST).await?;
        all.extend(page.items);
        after = page.next;
        if after.is_none() {
            return Ok(all);
        }
    }
}

async fn found(
    tx: &mut Tx<'_>,
    project: &Project,
    id: SoftwareDeploymentId,
    text: &str,
) -> Result<SoftwareDeployment, StackRefusal> {
    let found = tx.software_deployment_get(id).await?;
    let found = found.filter(|deployment| deployment.project_id == project.id);
    found.ok_or_else(|| no_deployment(text))
}

/// A deployment is about a configuration of its own project.
async fn check_config(
    tx: &mut Tx<'_>,
    project: &Project,
    id: SoftwareConfigId,
) -> Result<(), StackRefusal> {
    let found = tx.software_config_get(id).await?;
    let found = found.filter(|config| config.project_id == project.id);
    found.map(drop).ok_or_else(|| no_config(&id.to_string()))
}
