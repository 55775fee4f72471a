//! Numbered states of stacks. The number is the stack's; whoever enters one has written the stack with it.

use hostler_model::stack::StackRevision;
use hostler_model::{Limit, Page, StackId};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

const SELECT: &str = "SELECT stack_id, number, definition_id, action, reason, resources, created_by, time_created, sealed FROM stack_revision";

fn decode(row: &Row) -> Result<StackRevision, Error> {
    let mut columns = row.columns("stack_revision");
    Ok(StackRevision {
        stack_id: columns.parse()?,
        number: columns.small()?,
        definition: columns.parse()?,
        action: columns.parse()?,
        reason: columns.text()?,
        resources: columns.small()?,
        created_by: columns.json()?,
        time_created: columns.time()?,
        sealed: columns.blob()?,
    })
}

impl Conn {
    pub async fn stack_revision_get(
        &mut self,
        stack: StackId,
        number: u32,
    ) -> Result<Option<StackRevision>, Error> {
        let sql = format!("{SELECT} WHERE stack_id = $1 AND number = $2");
        self.query_one(sql, params![stack, number]).await?.as_ref().map(decode).transpose()
    }

    /// Newest first; an unknown cursor begins anew.
    pub async fn stack_revision_list(
        &mut self,
        stack: StackId,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StackRevision>, Error> {
        let after = after.and_then(|after| after.parse::<u32>().ok());
        let (sql, params) = Select::new(SELECT)
            .and_value("stack_id =", stack)
            .and_some("number <", after)
            .page("number DESC", limit);
        let rows = self.query(sql, params).await?;
        let revisions = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(revisions, limit, |revision| revision.number.to_string()))
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when the number was used.
    pub async fn stack_revision_insert(&mut self, revision: &StackRevision) -> Result<(), Error> {
        self.execute(
            "INSERT INTO stack_revision (stack_id, number, definition_id, action, reason, resources, created_by, time_created, sealed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            params![
                revision.stack_id,
                revision.number,
                revision.definition,
                revision.action.label(),
                &revision.reason,
                revision.resources,
                Value::json(&revision.created_by),
                revision.time_created,
                &revision.sealed
            ],
        )
        .await?;
        Ok(())
    }

    /// Removes revisions before this number; says how many.
    pub async fn stack_revision_delete_before(
        &mut self,
        stack: StackId,
        number: u32,
    ) -> Result<u64, Error> {
        let sql = "DELETE FROM stack_revision WHERE stack_id = $1 AND number < $2";
        self.execute(sql, params![stack, number]).await
    }
}
