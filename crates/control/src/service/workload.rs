//! Services: apply, list, get, start, stop, restart, remove. Each changes one row; the `service_place`
//! reconciler and the nodes do the rest.

use std::collections::{BTreeSet, HashMap};

use hostler_model::{
    Code, Desired, Error, EventKind, Generation, Limit, Name, Node, NodeId, ObjectKind, ObjectRef,
    Page, Permission, Phase, Placement, PlacementId, Project, Run, RunPayload, Service, WorkloadId,
    WorkloadSpec,
};
use hostler_store::{Conn, ServiceFilter, Tx};
use serde_json::json;

use super::approval_gate::{Deed, Pass, What};
use super::project::{settled, taken};
use super::quota::room_for_workload;
use super::secret_use::check_secrets;
use super::task::{Names, require_own};
use super::workload_caller::check_identities;
use crate::audit_state;
use crate::{Applied, Control, Cx, PlacementDetail, RunDetail, WorkloadDetail, WorkloadQuery};

impl Control {
    /// Makes a workload of this name be like this. With `expected`, only if it is there and still as
    /// the caller saw it; with zero, only if it is not there, or like this already. What was there
    /// already changes nothing.
    pub async fn workload_apply(
        &self,
        cx: &Cx,
        project: &Project,
        name: &Name,
        spec: &WorkloadSpec,
        expected: Option<Generation>,
    ) -> Result<(WorkloadDetail, Applied), Error> {
        let problems = spec.problems("/spec");
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let is_change = !self.is_applied(project, name, spec).await?;
        let pass = self.approval_pass_if(cx, &apply_deed(project, name, spec), is_change).await?;
        let fresh = self.fresh_service(cx, project, name, spec);
        let (fresh, pass) = (&fresh, &pass);
        let (id, applied) = self
            .store
            .tx("workload_apply", |tx| {
                Box::pin(async move {
                    let Some(before) = tx.service_by_name(project.id, name).await? else {
                        if expected.is_some_and(|expected| expected != Generation::ZERO) {
                            return Err(Error::not_found("workload", name));
                        }
                        if self.claim(tx, cx, &object(fresh)).await?.is_some() {
                            return Err(gone(name));
                        }
                        check_secrets(tx, project, [("/spec".to_owned(), spec)]).await?;
                        room_for_workload(tx, project).await?;
                        check_identities(tx, cx, project, &[spec]).await?;
                        self.approval_use(tx, cx, pass).await?;
                        self.service_create(tx, cx, fresh).await?;
                        return Ok((fresh.id, Applied::Created));
                    };
                    if self.claim(tx, cx, &object(&before)).await?.is_some() {
                        return Ok((before.id, Applied::Unchanged));
                    }
                    let owner = Names::default().principal(tx, before.created_by).await?;
                    require_own(
                        cx,
                        project,
                        "workload",
                        Permission::WorkloadManage,
                        before.created_by,
                        &owner,
                    )?;
                    require_staying(&before)?;
                    let is_same = before.spec == *spec;
                    match expected {
                        Some(Generation::ZERO) if !is_same => return Err(unseen(name)),
                        Some(seen) if seen != Generation::ZERO && seen != before.generation => {
                            return Err(Error::stale("workload", before.generation));
                        }
                        _ if is_same => return Ok((before.id, Applied::Unchanged)),
                        _ => {}
                    }
                    check_secrets(tx, project, [("/spec".to_owned(), spec)]).await?;
                    check_identities(tx, cx, project, &[spec]).await?;
                    self.approval_use(tx, cx, pass).await?;
                    let is_replaced = before.is_replaced_by(spec);
                    let mut after = Service { spec: spec.clone(), ..before.clone() };
                    if is_replaced {
                        after.revision = before.revision.next();
                    }
                    let message = match is_replaced {
                        true => format!("changed; revision {}", after.revision),
                        false => "changed; what runs goes on".to_owned(),
                    };
                    let news = News {
                        kind: EventKind::WorkloadChanged,
                        action: "workload.apply",
                        message,
                    };
                    self.service_change(tx, cx, &before, after, &news).await?;
                    Ok::<_, Error>((before.id, Applied::Changed))
                })
            })
            .await?;
        if applied != Applied::Unchanged {
            self.approval_done(cx, pass);
        }
        self.service_changed(id);
        Ok((self.workload_get(cx, project, &id.to_string()).await?, applied))
    }

    /// Whether a workload is there like this already: then there is nothing to approve.
    async fn is_applied(
        &self,
        project: &Project,
        name: &Name,
        spec: &WorkloadSpec,
    ) -> Result<bool, Error> {
        let before = self.store.read().await?.service_by_name(project.id, name).await?;
        Ok(before.is_some_and(|before| before.spec == *spec))
    }

    pub async fn workload_get(
        &self,
        _: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<WorkloadDetail, Error> {
        let mut read = self.store.read().await?;
        let service = find(&mut read, project, name_or_id).await?;
        let mut details = details(&mut read, project, vec![service]).await?;
        details.pop().ok_or_else(|| Error::not_found("workload", name_or_id))
    }

    /// By name.
    pub async fn workload_list(
        &self,
        _: &Cx,
        project: &Project,
        query: &WorkloadQuery,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<WorkloadDetail>, Error> {
        let mut read = self.store.read().await?;
        let filter =
            ServiceFilter { mode: query.mode, tag: query.tag.as_deref(), desired: query.desired };
        let page = read.service_list(project.id, filter, after, limit).await?;
        let items = details(&mut read, project, page.items).await?;
        Ok(Page { items, next: page.next })
    }

    /// Where it is and how it stands there, by the name of the node.
    pub async fn workload_placements(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Vec<PlacementDetail>, Error> {
        Ok(self.workload_get(cx, project, name_or_id).await?.placements)
    }

    /// Its runs, newest first; on one node, where one is named.
    pub async fn workload_runs(
        &self,
        _: &Cx,
        project: &Project,
        name_or_id: &str,
        node: Option<&str>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<RunDetail>, Error> {
        let node = match node {
            Some(node) => Some(self.node_find(node).await?.id),
            None => None,
        };
        let mut read = self.store.read().await?;
        let service = find(&mut read, project, name_or_id).await?;
        let page = read.service_run_list(service.id, node, after, limit).await?;
        let mut names = Names::default();
        let mut items = Vec::with_capacity(page.items.len());
        for run in page.items {
            let node = names.node(&mut read, run.node_id).await?;
            items.push(RunDetail { run, node });
        }
        Ok(Page { items, next: page.next })
    }

    /// Asks for a workload to run. One that has ended everywhere begins anew; one that runs somewhere
    /// is left alone.
    pub async fn workload_start(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<WorkloadDetail, Error> {
        let news = News {
            kind: EventKind::WorkloadStartRequested,
            action: "workload.start",
            message: "asked to run".to_owned(),
        };
        self.service_edit(cx, project, name_or_id, &news, &Pass::Free, |service, placements| {
            require_staying(service)?;
            let is_over = |placement: &Placement| {
                let status = placement.status.as_ref();
                status.is_some_and(|status| {
                    status.revision == service.revision && Phase::SETTLED.contains(&status.phase)
                })
            };
            match service.desired {
                Desired::Run if placements.is_empty() || !placements.iter().all(is_over) => {
                    return Ok(false);
                }
                Desired::Run => service.revision = service.revision.next(),
                Desired::Pause | Desired::Stop | Desired::Remove => {
                    service.desired = Desired::Run;
                }
            }
            Ok(true)
        })
        .await
    }

    /// Asks for a workload to stop, everywhere; it stays known to its nodes.
    pub async fn workload_stop(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<WorkloadDetail, Error> {
        let news = News {
            kind: EventKind::WorkloadStopRequested,
            action: "workload.stop",
            message: "asked to stop".to_owned(),
        };
        self.service_edit(cx, project, name_or_id, &news, &Pass::Free, |service, _| {
            require_staying(service)?;
            let is_news = service.desired != Desired::Stop;
            service.desired = Desired::Stop;
            Ok(is_news)
        })
        .await
    }

    /// Asks for new runs in place of those that are there, and for runs where it is stopped.
    pub async fn workload_restart(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<WorkloadDetail, Error> {
        let news = News {
            kind: EventKind::WorkloadRestartRequested,
            action: "workload.restart",
            message: "asked to restart".to_owned(),
        };
        self.service_edit(cx, project, name_or_id, &news, &Pass::Free, |service, _| {
            require_staying(service)?;
            service.desired = Desired::Run;
            service.revision = service.revision.next();
            Ok(true)
        })
        .await
    }

    /// Asks for a workload to be removed. It is stopped everywhere first, and listed as long as that
    /// takes; asking again changes nothing.
    pub async fn workload_remove(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        expected: Option<Generation>,
    ) -> Result<WorkloadDetail, Error> {
        let news = News {
            kind: EventKind::WorkloadRemoveRequested,
            action: "workload.remove",
            message: "asked to be removed".to_owned(),
        };
        let found = {
            let mut read = self.store.read().await?;
            find(&mut read, project, name_or_id).await?
        };
        let is_change = found.desired != Desired::Remove;
        let pass = self.approval_pass_if(cx, &remove_deed(project, &found), is_change).await?;
        self.service_edit(cx, project, name_or_id, &news, &pass, |service, _| {
            if service.desired == Desired::Remove {
                return Ok(false);
            }
            if expected.is_some_and(|expected| expected != service.generation) {
                return Err(Error::stale("workload", service.generation));
            }
            service.desired = Desired::Remove;
            Ok(true)
        })
        .await
    }

    /// Which workloads of a project a node holds.
    pub async fn workloads_on(
        &self,
        project: &Project,
        node: NodeId,
    ) -> Result<Vec<WorkloadId>, Error> {
        let placements = self.store.read().await?.service_placements_on(node).await?;
        let of = placements.iter().filter(|placement| placement.project_id == project.id);
        Ok(of.map(|placement| placement.workload_id).collect())
    }

    /// How many services are wanted in each state; for metrics.
    pub async fn workload_counts(&self) -> Result<Vec<(Desired, u64)>, Error> {
        let counts = self.store.read().await?.service_count_by_desired().await?;
        let count = |desired: &Desired| {
            counts.iter().find(|(other, _)| other == desired).map_or(0, |(_, count)| *count)
        };
        Ok(Desired::ALL.iter().map(|desired| (*desired, count(desired))).collect())
    }

    /// How many placements of services stand where, as last heard; for metrics.
    pub async fn placement_counts(&self) -> Result<Vec<(Phase, u64)>, Error> {
        let placements = self.store.read().await?.service_placements_all().await?;
        let phases: Vec<Phase> =
            placements.iter().filter_map(|p| p.status.as_ref().map(|s| s.phase)).collect();
        let count = |phase| phases.iter().filter(|other| **other == phase).count() as u64;
        Ok(Phase::ALL.iter().map(|phase| (*phase, count(*phase))).collect())
    }

    /// Changes a service as it is now. `edit` says whether it changed anything.
    async fn service_edit(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        news: &News,
        pass: &Pass,
        edit: impl Fn(&mut Service, &[Placement]) -> Result<bool, Error> + Send + Sync,
    ) -> Result<WorkloadDetail, Error> {
        let edit = &edit;
        let before = {
            let mut read = self.store.read().await?;
            find(&mut read, project, name_or_id).await?
        };
        let id = before.id;
        let name = &before.name;
        let service = self
            .store
            .tx("workload_edit", |tx| {
                Box::pin(async move {
                    let Some(before) = tx.service_get(id).await? else {
                        return Err(Error::not_found("workload", name));
                    };
                    if self.claim(tx, cx, &object(&before)).await?.is_some() {
                        return Ok(before);
                    }
                    let owner = Names::default().principal(tx, before.created_by).await?;
                    require_own(
                        cx,
                        project,
                        "workload",
                        Permission::WorkloadManage,
                        before.created_by,
                        &owner,
                    )?;
                    let placements = tx.service_placements(&[id]).await?;
                    let mut after = before.clone();
                    if !edit(&mut after, &placements)? {
                        return Ok(before);
                    }
                    self.approval_use(tx, cx, pass).await?;
                    self.service_change(tx, cx, &before, after, news).await
                })
            })
            .await?;
        if service.generation != before.generation {
            self.approval_done(cx, pass);
        }
        self.service_changed(id);
        // Its row may be gone by now; what was decided is told all the same.
        let mut read = self.store.read().await?;
        let mut details = details(&mut read, project, vec![service]).await?;
        details.pop().ok_or_else(|| Error::not_found("workload", name_or_id))
    }

    fn fresh_service(
        &self,
        cx: &Cx,
        project: &Project,
        name: &Name,
        spec: &WorkloadSpec,
    ) -> Service {
        let now = self.now();
        Service {
            id: self.ids.fresh(),
            project_id: project.id,
            name: name.clone(),
            spec: spec.clone(),
            desired: Desired::Run,
            revision: Generation::FIRST,
            trace: cx.request.trace,
            generation: Generation::FIRST,
            created_by: cx.caller.principal_id,
            time_created: now,
            time_modified: now,
        }
    }

    async fn service_create(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        service: &Service,
    ) -> Result<(), Error> {
        tx.service_insert(service).await.map_err(|e| taken(e, "workload", &service.name))?;
        let project = Some(service.project_id);
        let object = object(service);
        let event = self
            .event(EventKind::WorkloadCreated, project, &object, cx.actor(), "applied")
            .with_payload(RunPayload::of(&service.spec));
        let detail = json!({ "spec": service.spec });
        let audit = self
            .audit(cx, "workload.apply", &object, project, detail)
            .with_states(None, Some(&audit_state::workload(service)));
        tx.journal_append(&[event], &[audit]).await?;
        Ok(())
    }

    async fn service_change(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        before: &Service,
        after: Service,
        news: &News,
    ) -> Result<Service, Error> {
        let is_begun = after.desired != before.desired || after.revision != before.revision;
        let after = Service {
            generation: before.generation.next(),
            trace: if is_begun { cx.request.trace } else { before.trace },
            time_modified: self.now(),
            ..after
        };
        let update = tx.service_update(&after, before.generation).await?;
        settled(update, "workload", &after.name)?;
        let project = Some(after.project_id);
        let object = object(&after);
        let event = self
            .event(news.kind, project, &object, cx.actor(), news.message.clone())
            .with_payload(RunPayload::of(&after.spec));
        let mut detail = json!({ "revision": after.revision });
        if after.spec != before.spec {
            detail["spec"] = json!(after.spec);
        }
        let (old, new) = (audit_state::workload(before), audit_state::workload(&after));
        let audit = self
            .audit(cx, news.action, &object, project, detail)
            .with_states(Some(&old), Some(&new));
        tx.journal_append(&[event], &[audit]).await?;
        Ok(after)
    }

    fn service_changed(&self, id: WorkloadId) {
        self.wakers.service_place.wake();
        self.notify_waiters([id]);
        self.feed.ring();
    }
}

/// The key of the request was used before, and what it made is not there any more.
fn gone(name: &Name) -> Error {
    Error::conflict(
        format!(
            "an earlier request with this Idempotency-Key applied `{name}`, which was removed since"
        ),
        "use a fresh key to apply it again",
    )
}

/// Removal is final, and takes a while.
fn require_staying(service: &Service) -> Result<(), Error> {
    if service.desired == Desired::Remove {
        return Err(Error::conflict(
            format!("workload `{}` is being removed", service.name),
            "wait until it is gone (`hostler workload explain` says what that waits for)",
        ));
    }
    Ok(())
}

/// What is recorded of a change.
struct News {
    kind: EventKind,
    action: &'static str,
    message: String,
}

pub(crate) fn object(service: &Service) -> ObjectRef {
    ObjectRef::new(ObjectKind::Workload, service.id, &service.name)
}

fn unseen(name: &Name) -> Error {
    Error::new(
        Code::PreconditionRequired,
        format!(
            "a workload named `{name}` exists already, and changing it needs an If-Match header"
        ),
        "read it, and send the ETag of that answer as If-Match",
    )
}

pub(super) async fn find(
    read: &mut Conn,
    project: &Project,
    name_or_id: &str,
) -> Result<Service, Error> {
    let found = match (name_or_id.parse::<WorkloadId>(), name_or_id.parse::<Name>()) {
        (Ok(id), _) => read.service_get(id).await?,
        (_, Ok(name)) => read.service_by_name(project.id, &name).await?,
        _ => None,
    };
    found
        .filter(|service| service.project_id == project.id)
        .ok_or_else(|| Error::not_found("workload", name_or_id))
}

async fn details(
    read: &mut Conn,
    project: &Project,
    services: Vec<Service>,
) -> Result<Vec<WorkloadDetail>, Error> {
    let ids: Vec<WorkloadId> = services.iter().map(|service| service.id).collect();
    let mut by_service: HashMap<WorkloadId, Vec<PlacementDetail>> = HashMap::new();
    let placements = read.service_placements(&ids).await?;
    let nodes: BTreeSet<NodeId> = placements.iter().map(|placement| placement.node_id).collect();
    let nodes = read.node_get_many(&Vec::from_iter(nodes)).await?;
    let nodes: HashMap<NodeId, Node> = nodes.into_iter().map(|node| (node.id, node)).collect();
    let placed: Vec<PlacementId> = placements.iter().map(|placement| placement.id).collect();
    let live = read.service_runs_live_of(&placed).await?;
    let mut runs: HashMap<PlacementId, Run> =
        live.into_iter().map(|run| (run.placement_id, run)).collect();
    for placement in placements {
        if let Some(node) = nodes.get(&placement.node_id) {
            let list = by_service.entry(placement.workload_id).or_default();
            let (node, node_state) = (node.name.clone(), node.state);
            let run = runs.remove(&placement.id);
            list.push(PlacementDetail { placement, node, node_state, run });
        }
    }
    let mut names = Names::default();
    let mut details = Vec::with_capacity(services.len());
    for service in services {
        let created_by = names.principal(read, service.created_by).await?;
        let mut placements = by_service.remove(&service.id).unwrap_or_default();
        placements.sort_by(|a, b| a.node.cmp(&b.node));
        let project = project.name.clone();
        details.push(WorkloadDetail { service, project, created_by, placements });
    }
    Ok(details)
}

/// A workload that is about to be applied, for policies of approvals.
fn apply_deed<'a>(project: &'a Project, name: &'a Name, spec: &'a WorkloadSpec) -> Deed<'a> {
    Deed {
        verb: Permission::WorkloadApply,
        project: Some(project),
        name: name.to_string(),
        what: What::Spec(name, spec),
        specs: vec![spec],
        node: None,
    }
}

fn remove_deed<'a>(project: &'a Project, service: &'a Service) -> Deed<'a> {
    let what = json!({ "workload": service.id, "name": service.name });
    Deed {
        verb: Permission::WorkloadRemove,
        project: Some(project),
        name: service.name.to_string(),
        what: What::Plain(what),
        specs: vec![&service.spec],
        node: None,
    }
}
