//! Which stacks use what others give. The other one is known by its name only: it may be made later, go, and come again.
//! What deleted stacks used does not count.

use hostler_model::stack::StackDependency;
use hostler_model::{ProjectId, StackId};

use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! select {
    () => {
        "SELECT stack_dependency.stack_id, stack_dependency.project_id, stack_dependency.on_name, stack_dependency.outputs FROM stack_dependency JOIN stack ON stack.id = stack_dependency.stack_id AND stack.time_deleted IS NULL"
    };
}

fn decode(row: &Row) -> Result<StackDependency, Error> {
    let mut columns = row.columns("stack_dependency");
    Ok(StackDependency {
        stack_id: columns.parse()?,
        project_id: columns.parse()?,
        on: columns.parse()?,
        outputs: columns.json()?,
    })
}

impl Conn {
    /// What a stack uses, by name.
    pub async fn stack_dependencies(
        &mut self,
        stack: StackId,
    ) -> Result<Vec<StackDependency>, Error> {
        let sql = concat!(
            select!(),
            " WHERE stack_dependency.stack_id = $1 ORDER BY stack_dependency.on_name"
        );
        self.query(sql, params![stack]).await?.iter().map(decode).collect()
    }

    /// Who uses the stack of this name, the oldest first.
    pub async fn stack_dependents(
        &mut self,
        project: ProjectId,
        name: &str,
    ) -> Result<Vec<StackDependency>, Error> {
        let sql = concat!(
            select!(),
            " WHERE stack_dependency.project_id = $1 AND stack_dependency.on_name = $2 ORDER BY stack_dependency.stack_id"
        );
        self.query(sql, params![project, name]).await?.iter().map(decode).collect()
    }

    /// Who uses what in a project: for its graph.
    pub async fn stack_dependency_list(
        &mut self,
        project: ProjectId,
    ) -> Result<Vec<StackDependency>, Error> {
        let sql = concat!(
            select!(),
            " WHERE stack_dependency.project_id = $1 ORDER BY stack_dependency.stack_id, stack_dependency.on_name"
        );
        self.query(sql, params![project]).await?.iter().map(decode).collect()
    }
}

impl Tx<'_> {
    /// What a stack uses from now on, each name once, in the place of what it used.
    pub async fn stack_dependency_set(
        &mut self,
        stack: StackId,
        dependencies: &[StackDependency],
    ) -> Result<(), Error> {
        self.execute("DELETE FROM stack_dependency WHERE stack_id = $1", params![stack]).await?;
        let row = |one: &StackDependency| {
            params![stack, one.on.as_str(), one.project_id, Value::json(&one.outputs)]
        };
        self.insert_many(
            "INSERT INTO stack_dependency (stack_id, on_name, project_id, outputs)",
            dependencies.iter().map(row).collect(),
        )
        .await?;
        Ok(())
    }
}
