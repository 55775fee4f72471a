//! What tasks used, by project, who submitted them, and the day they ended.

use hostler_model::{PrincipalId, ProjectId};

use crate::select::Select;
use crate::value::params;
use crate::{Conn, Error, Tx};

/// A line of the accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    pub project_id: ProjectId,
    pub principal_id: PrincipalId,
    /// Days since 1970.
    pub day: i64,
    pub used: Used,
}

/// Amounts that add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub tasks: u64,
    pub core_milliseconds: u64,
    pub gpu_milliseconds: u64,
    pub memory_mib_seconds: u64,
    pub wait_milliseconds: u64,
    pub run_milliseconds: u64,
}

impl std::ops::AddAssign for Used {
    fn add_assign(&mut self, other: Used) {
        self.tasks += other.tasks;
        self.core_milliseconds += other.core_milliseconds;
        self.gpu_milliseconds += other.gpu_milliseconds;
        self.memory_mib_seconds += other.memory_mib_seconds;
        self.wait_milliseconds += other.wait_milliseconds;
        self.run_milliseconds += other.run_milliseconds;
    }
}

impl Conn {
    /// From one day to another, both included; of one project or of all.
    pub async fn account_list(
        &mut self,
        project: Option<ProjectId>,
        from_day: i64,
        to_day: i64,
    ) -> Result<Vec<Account>, Error> {
        let (sql, params) = Select::new("SELECT project_id, principal_id, day, tasks, core_milliseconds, gpu_milliseconds, memory_mib_seconds, wait_milliseconds, run_milliseconds FROM account")
            .and_value("day >=", from_day)
            .and_value("day <=", to_day)
            .and_some("project_id =", project)
            .first("day, project_id, principal_id", u64::from(u32::MAX));
        let rows = self.query(sql, params).await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("account");
                Ok(Account {
                    project_id: columns.parse()?,
                    principal_id: columns.parse()?,
                    day: columns.int()?,
                    used: Used {
                        tasks: columns.number()?,
                        core_milliseconds: columns.number()?,
                        gpu_milliseconds: columns.number()?,
                        memory_mib_seconds: columns.number()?,
                        wait_milliseconds: columns.number()?,
                        run_milliseconds: columns.number()?,
                    },
                })
            })
            .collect()
    }
}

impl Tx<'_> {
    /// Adds to the lines, which are made where they are missing.
    pub async fn account_add(&mut self, lines: &[Account]) -> Result<(), Error> {
        for line in lines {
            let Account { project_id, principal_id, day, used } = line;
            self.execute(
                "INSERT INTO account (project_id, principal_id, day, tasks, core_milliseconds, gpu_milliseconds, memory_mib_seconds, wait_milliseconds, run_milliseconds) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (project_id, principal_id, day) DO UPDATE SET tasks = account.tasks + excluded.tasks, core_milliseconds = account.core_milliseconds + excluded.core_milliseconds, gpu_milliseconds = account.gpu_milliseconds + excluded.gpu_milliseconds, memory_mib_seconds = account.memory_mib_seconds + excluded.memory_mib_seconds, wait_milliseconds = account.wait_milliseconds + excluded.wait_milliseconds, run_milliseconds = account.run_milliseconds + excluded.run_milliseconds",
                params![
                    *project_id,
                    *principal_id,
                    *day,
                    used.tasks,
                    used.core_milliseconds,
                    used.gpu_milliseconds,
                    used.memory_mib_seconds,
                    used.wait_milliseconds,
                    used.run_milliseconds
                ],
            )
            .await?;
        }
        Ok(())
    }
}
