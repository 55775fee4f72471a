//! Looks at everything that can be wrong with the control plane, for `engine::doctor` to judge.

use std::path::{Path, PathBuf};

use hostler_base::reconcile::Activity;
use hostler_engine::doctor::{self, Observations};
use hostler_model::{Error, Finding, Limit, OperationState};
use hostler_store::{OperationFilter, Reader, Store};

use crate::{BackupSchedule, Control, Cx};

/// A chain that is longer is left to `hostler audit verify`.
const AUDIT_VERIFIED_MAX: u64 = 100_000;

impl Control {
    /// What is wrong, the way a person would want to know it.
    pub async fn diagnose(&self, cx: &Cx) -> Result<Vec<Finding>, Error> {
        Ok(doctor::examine(&self.observe(cx).await?))
    }

    async fn observe(&self, cx: &Cx) -> Result<Observations, Error> {
        let begun = self.clock.instant();
        self.store.tx("doctor_probe", |tx| Box::pin(tx.setting_get("setup_done"))).await?;
        let latency = self.clock.instant().saturating_sub(begun);
        let vitals = self.store.vitals().await?;
        let now = self.now();
        let mut read = self.store.read().await?;
        let backlog = read.workload_backlog(now).await?;
        let (_, execution_due) = read.execution_next_due().await?;
        Ok(Observations {
            now,
            database: doctor::Database {
                kind: self.store.dialect().label().to_owned(),
                latency,
                clock: vitals.clock,
                size: vitals.size,
                log_size: vitals.log_size,
                schema: self.store.schema_version().await?,
                schema_known: Store::schema_known(),
                is_read_only: vitals.is_read_only,
                replica_lag: vitals.replica_lag,
            },
            disks: self.disks().await,
            servers: self.servers_seen(&mut read).await?,
            nodes: nodes_seen(&mut read).await?,
            nodes_waited_for: read.node_resync_count().await?,
            authority_expires: Some(self.authority().certificate().time_expires()),
            reconcilers: self.reconcilers_seen(),
            operations: operations_seen(&mut read).await?,
            execution_due,
            queue: doctor::Queue { waiting: backlog.waiting, oldest: backlog.oldest },
            keys: self.keys_seen(&mut read).await?,
            audit: self.audit_seen(cx, &mut read).await?,
            backup: self.backup_seen().await?,
        })
    }

    async fn servers_seen(&self, read: &mut Reader) -> Result<Vec<doctor::Server>, Error> {
        let servers = read.server_list().await?.into_iter().map(|server| doctor::Server {
            is_current: server.id == self.server_id,
            name: server.name,
            version: server.version,
            time_seen: server.time_seen,
        });
        Ok(servers.collect())
    }

    fn reconcilers_seen(&self) -> Vec<doctor::Reconciler> {
        let seen = self.reconcilers().into_iter().map(|status| doctor::Reconciler {
            name: status.name,
            period: status.period.duration(),
            time_last_started: status.time_last_started,
            is_running: matches!(status.activity, Activity::Running { .. }),
            consecutive_errors: status.consecutive_errors,
            panics: status.panics,
            error: status.error_last,
        });
        seen.collect()
    }

    async fn keys_seen(&self, read: &mut Reader) -> Result<doctor::Keys, Error> {
        let (known, present) = (self.keyring.ids(), self.keyring.present_id());
        let used = read.secret_keys().await?;
        let lacking = used.iter().filter(|(id, _)| !known.contains(id));
        let former = used.iter().filter(|(id, _)| *id != present && known.contains(id));
        Ok(doctor::Keys {
            lacking: lacking.map(|(id, _)| id.to_string()).collect(),
            former: former.map(|(_, count)| count).sum(),
        })
    }

    async fn audit_seen(&self, cx: &Cx, read: &mut Reader) -> Result<doctor::Audit, Error> {
        let (head, _) = read.audit_head().await?;
        let anchor = read.audit_anchor_last().await?;
        let broken = match head <= AUDIT_VERIFIED_MAX {
            true => {
                let verdict = self.audit_verify(cx).await?;
                let place = verdict.first_bad.map(|at| format!("entry {at}")).unwrap_or_default();
                let problem = verdict.problem.unwrap_or_default();
                (!verdict.is_intact).then(|| format!("{place} {problem}").trim().to_owned())
            }
            false => None,
        };
        let sinks = self.audit_sinks().await?.into_iter();
        Ok(doctor::Audit {
            broken,
            unanchored: head.saturating_sub(anchor.as_ref().map_or(0, |anchor| anchor.sequence)),
            time_anchored: anchor.map(|anchor| anchor.time),
            anchor_interval: self.config.audit.anchor_interval,
            sinks: sinks.filter_map(|sink| Some((sink.name, sink.problem?))).collect(),
        })
    }

    async fn backup_seen(&self) -> Result<doctor::Backup, Error> {
        let schedule = self.backup_schedule().await?;
        Ok(doctor::Backup {
            missing: self.backup_missing(&schedule).await,
            is_scheduled: schedule.directory.is_some(),
            is_overdue: schedule.is_overdue,
            every: schedule.every,
            time_last_good: schedule.last_good.map(|good| good.time_created),
            problem: schedule.last.and_then(|last| last.problem),
        })
    }

    /// The file of the last good backup, where this server made it and cannot find it.
    async fn backup_missing(&self, schedule: &BackupSchedule) -> Option<String> {
        let good =
            schedule.last_good.as_ref().filter(|good| good.server_name == self.server_name)?;
        let (path, size) = (schedule.directory.as_ref()?.join(&good.file), good.size);
        let shown = path.display().to_string();
        let look = move || std::fs::metadata(path).is_ok_and(|about| about.len() == size);
        let is_there = tokio::task::spawn_blocking(look).await.unwrap_or(true);
        (!is_there).then_some(shown)
    }

    pub(super) async fn disks(&self) -> Vec<doctor::Disk> {
        let database = self.store.file().and_then(Path::parent).map(Path::to_owned);
        let backups = self.config.backup.as_ref().map(|backup| backup.directory.clone());
        let places = [("database", database), ("backups", backups)];
        let places: Vec<(&'static str, PathBuf)> =
            places.into_iter().filter_map(|(what, path)| Some((what, path?))).collect();
        let look = move || {
            places.into_iter().filter_map(|(what, path)| disk(what, &path)).collect::<Vec<_>>()
        };
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }
}

fn disk(what: &str, path: &Path) -> Option<doctor::Disk> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(doctor::Disk {
        what: what.to_owned(),
        path: path.display().to_string(),
        size: stat.f_blocks * stat.f_frsize,
        free: stat.f_bavail * stat.f_frsize,
        inodes: stat.f_files,
        inodes_free: stat.f_favail,
    })
}

async fn nodes_seen(read: &mut Reader) -> Result<Vec<doctor::Node>, Error> {
    let ends = read.node_certificate_ends().await?;
    let nodes = read.node_list_all_present().await?.into_iter().map(|node| {
        let metrics = node.lease.as_ref().and_then(|lease| lease.metrics.as_ref());
        let disk_used = metrics.filter(|m| m.disk_size.get() > 0).map(|m| {
            #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
            let share = m.disk_used.get() as f64 / m.disk_size.get() as f64;
            share
        });
        let end = ends.get(&node.id);
        doctor::Node {
            state: node.state,
            time_seen: node.lease.as_ref().map(|lease| lease.time_seen),
            clock_skew_ms: metrics.and_then(|metrics| metrics.clock_skew_ms),
            certificate_expires: end.copied(),
            disk_used,
            name: node.name.to_string(),
        }
    });
    Ok(nodes.collect())
}

async fn operations_seen(read: &mut Reader) -> Result<Vec<doctor::Operation>, Error> {
    let mut seen = Vec::new();
    for state in [OperationState::Pending, OperationState::Running] {
        let filter = OperationFilter { projects: None, state: Some(state) };
        let page = read.operation_list(filter, None, Limit::LARGEST).await?;
        seen.extend(page.items.into_iter().map(|operation| doctor::Operation {
            id: operation.id.to_string(),
            kind: operation.plan.label().to_owned(),
            time_modified: operation.time_modified,
            has_owner: operation.owner.is_some(),
        }));
    }
    Ok(seen)
}

/// How far a node's clock is from ours, as a heartbeat shows it; ahead is positive.
pub(crate) fn skew_ms(
    theirs: hostler_model::Timestamp,
    ours: hostler_model::Timestamp,
) -> Option<i64> {
    let ahead = i64::try_from(theirs.since(ours).as_millis()).ok()?;
    let behind = i64::try_from(ours.since(theirs).as_millis()).ok()?;
    Some(ahead - behind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::Timestamp;

    #[test]
    fn a_clock_is_ahead_or_behind() {
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        assert_eq!(skew_ms(at(10), at(7)), Some(3000));
        assert_eq!(skew_ms(at(7), at(10)), Some(-3000));
    }
}
