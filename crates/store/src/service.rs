//! Services: workloads that are kept by name. They share the table of tasks, so that a name belongs
//! to one of them only; their kind tells them apart, and their state column says `service`, which is
//! no state of a task.

use hostler_model::{
    Desired, Generation, Limit, ModeKind, Name, Page, ProjectId, Service, WorkloadId,
};

use crate::select::Select;
use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "workload.id, workload.project_id, workload.name, workload.spec, workload.desired, workload.revision, workload.trace, workload.generation, workload.created_by, workload.time_created, workload.time_modified"
    };
}

const PROBE: &str = "SELECT generation FROM workload WHERE id = $1 AND kind = 'service'";

/// Which services to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServiceFilter<'a> {
    pub mode: Option<ModeKind>,
    pub tag: Option<&'a str>,
    pub desired: Option<Desired>,
}

impl ServiceFilter<'_> {
    fn matches(&self, service: &Service) -> bool {
        self.mode.is_none_or(|mode| service.spec.mode.kind() == mode)
            && self.tag.is_none_or(|tag| service.spec.tags.iter().any(|other| other == tag))
    }
}

/// What a service is called, and what is wanted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceName {
    pub id: WorkloadId,
    pub project_name: Name,
    pub name: Name,
    pub desired: Desired,
}

fn decode_from(columns: &mut Columns<'_>) -> Result<Service, Error> {
    Ok(Service {
        id: columns.parse()?,
        project_id: columns.parse()?,
        name: columns.parse()?,
        spec: columns.json()?,
        desired: columns.parse()?,
        revision: columns.generation()?,
        trace: columns.opt_parse()?,
        generation: columns.generation()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

fn decode(row: &Row) -> Result<Service, Error> {
    decode_from(&mut row.columns("workload"))
}

impl Conn {
    pub async fn service_get(&mut self, id: WorkloadId) -> Result<Option<Service>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM workload WHERE workload.id = $1 AND workload.kind = 'service'"
        );
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    pub async fn service_by_name(
        &mut self,
        project: ProjectId,
        name: &Name,
    ) -> Result<Option<Service>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM workload WHERE workload.project_id = $1 AND workload.name = $2 AND workload.kind = 'service'"
        );
        let row = self.query_one(sql, params![project, name]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// By name. Mode and tags are matched here, so it may take several reads to fill a page.
    pub async fn service_list(
        &mut self,
        project: ProjectId,
        filter: ServiceFilter<'_>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Service>, Error> {
        let wanted = limit.get() as usize + 1;
        let mut found: Vec<Service> = Vec::new();
        let mut after = after.map(str::to_owned);
        loop {
            let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM workload"))
                .and("workload.kind = 'service'")
                .and_value("workload.project_id =", project)
                .and_some("workload.desired =", filter.desired.map(|desired| desired.label()))
                .and_some("workload.name >", after.as_deref())
                .page("workload.name", limit);
            let rows = self.query(sql, params).await?;
            let is_last = rows.len() < wanted;
            let read = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
            after = read.last().map(|service| service.name.to_string());
            found.extend(read.into_iter().filter(|service| filter.matches(service)));
            if found.len() >= wanted || is_last {
                found.truncate(wanted);
                return Ok(Page::from_rows(found, limit, |service| service.name.to_string()));
            }
        }
    }

    /// Every service there is, by name alone: for those who measure.
    pub async fn service_names_all(&mut self) -> Result<Vec<ServiceName>, Error> {
        let rows = self
            .query(
                "SELECT workload.id, project.name, workload.name, workload.desired FROM workload JOIN project ON project.id = workload.project_id WHERE workload.kind = 'service' ORDER BY project.name, workload.name",
                Vec::new(),
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("workload");
                Ok(ServiceName {
                    id: columns.parse()?,
                    project_name: columns.parse()?,
                    name: columns.parse()?,
                    desired: columns.parse()?,
                })
            })
            .collect()
    }

    /// Every service there is: for the reconciler that places them.
    pub async fn service_list_all(&mut self) -> Result<Vec<Service>, Error> {
        const READ: u64 = 1000;
        let mut services: Vec<Service> = Vec::new();
        loop {
            let mut select = Select::new(concat!("SELECT ", columns!(), " FROM workload"))
                .and("workload.kind = 'service'");
            if let Some(last) = services.last() {
                let row = "(workload.project_id, workload.name) >";
                select = select.and_pair(row, last.project_id, &last.name);
            }
            let (sql, params) = select.first("workload.project_id, workload.name", READ);
            let rows = self.query(sql, params).await?;
            for row in &rows {
                services.push(decode(row)?);
            }
            if (rows.len() as u64) < READ {
                return Ok(services);
            }
        }
    }
}

impl Conn {
    /// What is wanted of nothing is left out.
    pub async fn service_count_by_desired(&mut self) -> Result<Vec<(Desired, u64)>, Error> {
        let rows = self
            .query(
                "SELECT desired, COUNT(*) FROM workload WHERE kind = 'service' GROUP BY desired ORDER BY desired",
                Vec::new(),
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("workload");
                Ok((columns.parse()?, columns.number()?))
            })
            .collect()
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when a service or a task has the name.
    pub async fn service_insert(&mut self, service: &Service) -> Result<(), Error> {
        self.execute(
            "INSERT INTO workload (id, project_id, name, spec, desired, kind, revision, state, state_detail, trace, generation, created_by, time_created, time_modified) VALUES ($1, $2, $3, $4, $5, 'service', $6, 'service', '{}', $7, $8, $9, $10, $11)",
            params![
                service.id,
                service.project_id,
                &service.name,
                Value::json(&service.spec),
                service.desired.label(),
                service.revision,
                Value::from(service.trace.map(|trace| trace.to_string()).as_deref()),
                service.generation,
                service.created_by,
                service.time_created,
                service.time_modified
            ],
        )
        .await?;
        Ok(())
    }

    /// Writes spec, desired state, revision and trace. Name and project are fixed.
    pub async fn service_update(
        &mut self,
        service: &Service,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE workload SET spec = $3, desired = $4, revision = $5, generation = $6, time_modified = $7, trace = $8 WHERE id = $1 AND generation = $2 AND kind = 'service'",
            params![
                service.id,
                expected,
                Value::json(&service.spec),
                service.desired.label(),
                service.revision,
                expected.next(),
                service.time_modified,
                Value::from(service.trace.map(|trace| trace.to_string()).as_deref())
            ],
            PROBE,
            service.id,
        )
        .await
    }

    /// Deletes a service with its placements and runs; `Stale` when it is not as the caller saw it,
    /// or something of it is still on a node.
    pub async fn service_delete(
        &mut self,
        id: WorkloadId,
        expected: Generation,
    ) -> Result<Update, Error> {
        let Some(row) = self.query_one(PROBE, params![id]).await? else {
            return Ok(Update::Missing);
        };
        let current = row.columns("workload").generation()?;
        let held = self
            .count(
                "SELECT COUNT(*) FROM placement WHERE workload_id = $1 AND is_released = FALSE",
                params![id],
            )
            .await?;
        if current != expected || held > 0 {
            return Ok(Update::Stale { current });
        }
        for sql in [
            "DELETE FROM run WHERE workload_id = $1",
            "DELETE FROM placement WHERE workload_id = $1",
            "DELETE FROM workload WHERE id = $1",
        ] {
            self.execute(sql, params![id]).await?;
        }
        Ok(Update::Updated)
    }
}
