//! What stacks are made of, as somebody asked for it. Never changed; what nothing refers to any more is removed.

use hostler_model::stack::StackDefinition;
use hostler_model::{StackDefinitionId, StackId};

use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

fn decode(row: &Row) -> Result<StackDefinition, Error> {
    let mut columns = row.columns("stack_definition");
    Ok(StackDefinition {
        id: columns.parse()?,
        stack_id: columns.parse()?,
        sealed: columns.blob()?,
        plugins: Vec::new(),
        created_by: columns.json()?,
        time_created: columns.time()?,
    })
}

impl Conn {
    pub async fn stack_definition_get(
        &mut self,
        id: StackDefinitionId,
    ) -> Result<Option<StackDefinition>, Error> {
        let sql = "SELECT id, stack_id, sealed, created_by, time_created FROM stack_definition WHERE id = $1";
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// Of a stack, the oldest first.
    pub async fn stack_definition_ids(
        &mut self,
        stack: StackId,
    ) -> Result<Vec<StackDefinitionId>, Error> {
        let sql = "SELECT id FROM stack_definition WHERE stack_id = $1 ORDER BY id";
        let rows = self.query(sql, params![stack]).await?;
        rows.iter().map(|row| row.columns("stack_definition").parse()).collect()
    }
}

impl Tx<'_> {
    pub async fn stack_definition_insert(
        &mut self,
        definition: &StackDefinition,
    ) -> Result<(), Error> {
        self.execute(
            "INSERT INTO stack_definition (id, stack_id, sealed, created_by, time_created) VALUES ($1, $2, $3, $4, $5)",
            params![
                definition.id,
                definition.stack_id,
                &definition.sealed,
                Value::json(&definition.created_by),
                definition.time_created
            ],
        )
        .await?;
        self.stack_plugin_use(definition).await
    }

    /// Removes definitions of a stack that it neither goes towards nor was as, that no resource is or is to be as, and
    /// that no revision and no snapshot needs. Says how many.
    pub async fn stack_definition_prune(&mut self, stack: StackId) -> Result<u64, Error> {
        let pruned = self.execute(
            "DELETE FROM stack_definition WHERE stack_id = $1 AND id NOT IN (SELECT wanted FROM stack WHERE id = $1 AND wanted IS NOT NULL UNION SELECT settled FROM stack WHERE id = $1 AND settled IS NOT NULL UNION SELECT definition_id FROM stack_resource WHERE stack_id = $1 AND definition_id IS NOT NULL UNION SELECT deed_definition FROM stack_resource WHERE stack_id = $1 AND deed_definition IS NOT NULL UNION SELECT definition_id FROM stack_revision WHERE stack_id = $1 UNION SELECT definition_id FROM stack_snapshot WHERE stack_id = $1)",
            params![stack],
        )
        .await?;
        self.execute(
            "DELETE FROM stack_plugin_use WHERE stack_id = $1 AND definition_id NOT IN (SELECT id FROM stack_definition WHERE stack_id = $1)",
            params![stack],
        )
        .await?;
        Ok(pruned)
    }
}
