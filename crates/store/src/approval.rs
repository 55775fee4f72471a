//! Approvals: policies, requests, and which tasks wait for which. A request is changed only from the
//! generation that was read, so it has one outcome whoever decides, and it is used up once.

use hostler_model::{
    Approval, ApprovalId, ApprovalPolicy, ApprovalState, ArrayId, Digest, Generation, Limit, Name,
    Page, Permission, PrincipalId, ProjectId, Scope, Timestamp, WorkloadId,
};

use crate::principal::{decode_scope, scope_value};
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! policy_columns {
    () => {
        "id, scope, name, rule, created_by, generation, time_created, time_modified"
    };
}

macro_rules! columns {
    () => {
        "id, project_id, verb, name, digest, what, requested_by, tasks, array_id, needs, decisions, state, why, generation, time_created, time_expires, time_ended"
    };
}

const POLICY_SELECT: &str = concat!("SELECT ", policy_columns!(), " FROM approval_policy");
const POLICY_PROBE: &str = "SELECT generation FROM approval_policy WHERE id = $1";
const SELECT: &str = concat!("SELECT ", columns!(), " FROM approval");
const PROBE: &str = "SELECT generation FROM approval WHERE id = $1";

/// Which requests to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApprovalFilter<'a> {
    /// Only of these projects; `None` is all, and what belongs to none.
    pub projects: Option<&'a [ProjectId]>,
    pub requested_by: Option<PrincipalId>,
    pub state: Option<ApprovalState>,
}

fn decode_policy(row: &Row) -> Result<ApprovalPolicy, Error> {
    let mut columns = row.columns("approval_policy");
    Ok(ApprovalPolicy {
        id: columns.parse()?,
        scope: decode_scope(&mut columns)?,
        name: columns.parse()?,
        rule: columns.json()?,
        created_by: columns.parse()?,
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

fn decode(row: &Row) -> Result<Approval, Error> {
    let mut columns = row.columns("approval");
    Ok(Approval {
        id: columns.parse()?,
        project_id: columns.opt_parse()?,
        verb: columns.parse()?,
        name: columns.text()?,
        digest: columns.digest()?,
        what: columns.json()?,
        requested_by: columns.parse()?,
        tasks: columns.json()?,
        array_id: columns.opt_parse()?,
        needs: columns.json()?,
        decisions: columns.json()?,
        state: columns.parse()?,
        why: columns.text()?,
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_expires: columns.time()?,
        time_ended: columns.opt_time()?,
    })
}

impl Conn {
    pub async fn approval_policy_by_name(
        &mut self,
        scope: Scope,
        name: &Name,
    ) -> Result<Option<ApprovalPolicy>, Error> {
        let sql = concat!(
            "SELECT ",
            policy_columns!(),
            " FROM approval_policy WHERE scope = $1 AND name = $2"
        );
        let row = self.query_one(sql, vec![scope_value(scope), name.into()]).await?;
        row.as_ref().map(decode_policy).transpose()
    }

    /// Of one scope, by name.
    pub async fn approval_policy_list(
        &mut self,
        scope: Scope,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<ApprovalPolicy>, Error> {
        let (sql, params) = Select::new(POLICY_SELECT)
            .and_value("scope =", scope_value(scope))
            .and_some("name >", after)
            .page("name", limit);
        let rows = self.query(sql, params).await?;
        let policies = rows.iter().map(decode_policy).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(policies, limit, |policy| policy.name.to_string()))
    }

    /// Those that hold in a project, or, where none is given, on the whole installation.
    pub async fn approval_policies_in(
        &mut self,
        project: Option<ProjectId>,
    ) -> Result<Vec<ApprovalPolicy>, Error> {
        let scopes = [Some(Scope::Global), project.map(Scope::Project)];
        let (sql, params) = Select::new(POLICY_SELECT)
            .and_in("scope", scopes.into_iter().flatten().map(scope_value))
            .unordered();
        let rows = self.query(format!("{sql} ORDER BY scope, name"), params).await?;
        rows.iter().map(decode_policy).collect()
    }

    pub async fn approval_get(&mut self, id: ApprovalId) -> Result<Option<Approval>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM approval WHERE id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// The one that a task waits for, or waited for.
    pub async fn approval_of_task(&mut self, task: WorkloadId) -> Result<Option<Approval>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM approval WHERE id = (SELECT approval_id FROM approval_task WHERE workload_id = $1)"
        );
        let row = self.query_one(sql, params![task]).await?;
        row.as_ref().map(decode).transpose()
    }

    pub async fn approval_of_array(&mut self, array: ArrayId) -> Result<Option<Approval>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM approval WHERE array_id = $1");
        let row = self.query_one(sql, params![array]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// A request that somebody made for the same before, and that is open.
    pub async fn approval_open(
        &mut self,
        by: PrincipalId,
        verb: Permission,
        digest: Digest,
        now: Timestamp,
    ) -> Result<Option<Approval>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("requested_by =", by)
            .and_value("verb =", verb.label())
            .and_value("digest =", digest)
            .and_value("time_expires >", now)
            .and("state IN ('waiting', 'approved')")
            .first("id DESC", 1);
        let rows = self.query(sql, params).await?;
        rows.first().map(decode).transpose()
    }

    /// Newest first.
    pub async fn approval_list(
        &mut self,
        filter: ApprovalFilter<'_>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Approval>, Error> {
        let mut select = Select::new(SELECT)
            .and_some("requested_by =", filter.requested_by)
            .and_some("state =", filter.state.map(ApprovalState::label));
        if let Some(projects) = filter.projects {
            select = select.and_in("project_id", projects.iter().copied());
        }
        let (sql, params) = select.and_some("id <", after).page("id DESC", limit);
        let rows = self.query(sql, params).await?;
        let approvals = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(approvals, limit, |approval| approval.id.to_string()))
    }

    /// Open ones whose time is over, the longest ago first.
    pub async fn approval_overdue(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Approval>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and("state IN ('waiting', 'approved')")
            .and_value("time_expires <=", now)
            .first("time_expires, id", u64::from(limit));
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }

    /// Requests for tasks none of which waits for it any more.
    pub async fn approval_orphans(&mut self, limit: u32) -> Result<Vec<Approval>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and("state = 'waiting'")
            .and_value("verb =", Permission::TaskSubmit.label())
            .and("NOT EXISTS (SELECT 1 FROM approval_task JOIN workload ON workload.id = approval_task.workload_id WHERE approval_task.approval_id = approval.id AND workload.state = 'pending_approval')")
            .and("NOT EXISTS (SELECT 1 FROM task_array WHERE task_array.id = approval.array_id AND task_array.is_stopped = FALSE)")
            .first("id", u64::from(limit));
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }

    /// How many wait for a decision.
    pub async fn approval_count_waiting(&mut self) -> Result<u64, Error> {
        self.count("SELECT COUNT(*) FROM approval WHERE state = 'waiting'".to_owned(), Vec::new())
            .await
    }

    /// Names of the groups that somebody is in.
    pub async fn groups_of(&mut self, principal: PrincipalId) -> Result<Vec<Name>, Error> {
        let rows = self
            .query(
                "SELECT principal_group.name FROM group_member JOIN principal_group ON principal_group.id = group_member.group_id WHERE group_member.principal_id = $1 ORDER BY principal_group.name",
                params![principal],
            )
            .await?;
        rows.iter().map(|row| row.columns("principal_group").parse()).collect()
    }

    /// Whether somebody was ever given a token of a service account.
    pub async fn token_maker_is(
        &mut self,
        principal: PrincipalId,
        maker: PrincipalId,
    ) -> Result<bool, Error> {
        let row = self
            .query_one(
                "SELECT 1 FROM token_maker WHERE principal_id = $1 AND maker_id = $2",
                params![principal, maker],
            )
            .await?;
        Ok(row.is_some())
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when the name is taken in the scope.
    pub async fn approval_policy_insert(&mut self, policy: &ApprovalPolicy) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO approval_policy (",
                policy_columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
            ),
            params![
                policy.id,
                scope_value(policy.scope),
                &policy.name,
                Value::json(&policy.rule),
                policy.created_by,
                policy.generation,
                policy.time_created,
                policy.time_modified
            ],
        )
        .await?;
        Ok(())
    }

    pub async fn approval_policy_update(
        &mut self,
        policy: &ApprovalPolicy,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE approval_policy SET rule = $3, generation = $4, time_modified = $5 WHERE id = $1 AND generation = $2",
            params![
                policy.id,
                expected,
                Value::json(&policy.rule),
                expected.next(),
                policy.time_modified
            ],
            POLICY_PROBE,
            policy.id,
        )
        .await
    }

    pub async fn approval_policy_delete(
        &mut self,
        policy: &ApprovalPolicy,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "DELETE FROM approval_policy WHERE id = $1 AND generation = $2",
            params![policy.id, expected],
            POLICY_PROBE,
            policy.id,
        )
        .await
    }

    /// With the tasks that wait for it.
    pub async fn approval_insert(&mut self, approval: &Approval) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO approval (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"
            ),
            params![
                approval.id,
                approval.project_id,
                approval.verb.label(),
                &approval.name,
                approval.digest,
                Value::json(&approval.what),
                approval.requested_by,
                Value::json(&approval.tasks),
                approval.array_id,
                Value::json(&approval.needs),
                Value::json(&approval.decisions),
                approval.state.label(),
                &approval.why,
                approval.generation,
                approval.time_created,
                approval.time_expires,
                approval.time_ended
            ],
        )
        .await?;
        for task in &approval.tasks {
            self.execute(
                "INSERT INTO approval_task (workload_id, approval_id) VALUES ($1, $2)",
                params![*task, approval.id],
            )
            .await?;
        }
        Ok(())
    }

    /// Writes what was decided, if nobody else did since `expected` was read.
    pub async fn approval_update(
        &mut self,
        approval: &Approval,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE approval SET decisions = $3, state = $4, why = $5, time_expires = $6, time_ended = $7, generation = $8 WHERE id = $1 AND generation = $2",
            params![
                approval.id,
                expected,
                Value::json(&approval.decisions),
                approval.state.label(),
                &approval.why,
                approval.time_expires,
                approval.time_ended,
                expected.next()
            ],
            PROBE,
            approval.id,
        )
        .await
    }

    /// Deletes requests that ended before `time`, except those of tasks and arrays that are still there.
    pub async fn approval_delete_before(
        &mut self,
        time: Timestamp,
        limit: u32,
    ) -> Result<u64, Error> {
        let (sql, params) = Select::new("SELECT id FROM approval")
            .and_value("time_ended <", time)
            .and("NOT EXISTS (SELECT 1 FROM approval_task JOIN workload ON workload.id = approval_task.workload_id WHERE approval_task.approval_id = approval.id)")
            .and("NOT EXISTS (SELECT 1 FROM task_array WHERE task_array.id = approval.array_id)")
            .first("id", u64::from(limit));
        let rows = self.query(sql, params).await?;
        let mut gone = 0;
        for row in &rows {
            let id: ApprovalId = row.columns("approval").parse()?;
            self.execute("DELETE FROM approval_task WHERE approval_id = $1", params![id]).await?;
            gone += self.execute("DELETE FROM approval WHERE id = $1", params![id]).await?;
        }
        Ok(gone)
    }

    /// From now on its tasks may be made.
    pub async fn task_array_touch(&mut self, id: ArrayId, now: Timestamp) -> Result<(), Error> {
        self.execute(
            "UPDATE task_array SET time_modified = $2, generation = generation + 1 WHERE id = $1",
            params![id, now],
        )
        .await?;
        Ok(())
    }

    /// Remembers who was given a token of a service account.
    pub async fn token_maker_add(
        &mut self,
        principal: PrincipalId,
        maker: PrincipalId,
    ) -> Result<(), Error> {
        self.execute(
            "INSERT INTO token_maker (principal_id, maker_id) VALUES ($1, $2) ON CONFLICT (principal_id, maker_id) DO NOTHING",
            params![principal, maker],
        )
        .await?;
        Ok(())
    }
}
