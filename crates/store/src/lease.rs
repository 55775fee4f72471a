//! Named leases: at most one server does something at a time, such as compaction. A lease is a
//! courtesy that saves work, never what correctness rests on: clocks differ.

use hostler_model::{ServerId, Timestamp};

use crate::value::params;
use crate::{Error, Tx};

impl Tx<'_> {
    /// Takes or renews a lease until `until`; false while another server holds it.
    pub async fn lease_acquire(
        &mut self,
        name: &str,
        holder: ServerId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, Error> {
        let row = self
            .query_one(
                "INSERT INTO lease (name, holder_id, generation, time_until) VALUES ($1, $2, 1, $4) ON CONFLICT (name) DO UPDATE SET holder_id = excluded.holder_id, generation = lease.generation + 1, time_until = excluded.time_until WHERE lease.holder_id = excluded.holder_id OR lease.time_until <= $3 RETURNING generation",
                params![name, holder, now, until],
            )
            .await?;
        Ok(row.is_some())
    }

    /// Gives a lease back early; false when another server holds it.
    pub async fn lease_release(&mut self, name: &str, holder: ServerId) -> Result<bool, Error> {
        let gone = self
            .execute("DELETE FROM lease WHERE name = $1 AND holder_id = $2", params![name, holder])
            .await?;
        Ok(gone > 0)
    }
}
