//! Server registrations: which control-plane processes live.

use hostler_model::{ServerId, ServerRegistration, Timestamp};

use crate::value::{Row, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "id, name, version, api_address, agent_address, time_started, time_seen"
    };
}

fn decode(row: &Row) -> Result<ServerRegistration, Error> {
    let mut columns = row.columns("server");
    Ok(ServerRegistration {
        id: columns.parse()?,
        name: columns.text()?,
        version: columns.text()?,
        api_address: columns.text()?,
        agent_address: columns.text()?,
        time_started: columns.time()?,
        time_seen: columns.time()?,
    })
}

impl Conn {
    pub async fn server_get(&mut self, id: ServerId) -> Result<Option<ServerRegistration>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM server WHERE id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// All of them, by id; there are few.
    pub async fn server_list(&mut self) -> Result<Vec<ServerRegistration>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM server ORDER BY id LIMIT 1000");
        let rows = self.query(sql, Vec::new()).await?;
        rows.iter().map(decode).collect()
    }
}

impl Tx<'_> {
    /// Registers a server, or again one that was removed as stale.
    pub async fn server_register(&mut self, server: &ServerRegistration) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO server (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version, api_address = excluded.api_address, agent_address = excluded.agent_address, time_started = excluded.time_started, time_seen = excluded.time_seen"
            ),
            params![
                server.id,
                &server.name,
                &server.version,
                &server.api_address,
                &server.agent_address,
                server.time_started,
                server.time_seen
            ],
        )
        .await?;
        Ok(())
    }

    /// False when others have removed it: register again.
    pub async fn server_renew(&mut self, id: ServerId, now: Timestamp) -> Result<bool, Error> {
        let done = self
            .execute("UPDATE server SET time_seen = $2 WHERE id = $1", params![id, now])
            .await?;
        Ok(done > 0)
    }

    /// False when there was none.
    pub async fn server_remove(&mut self, id: ServerId) -> Result<bool, Error> {
        let gone = self.execute("DELETE FROM server WHERE id = $1", params![id]).await?;
        Ok(gone > 0)
    }

    /// Removes servers not seen since `before`; returns them.
    pub async fn server_remove_stale(
        &mut self,
        before: Timestamp,
    ) -> Result<Vec<ServerRegistration>, Error> {
        let sql = concat!("DELETE FROM server WHERE time_seen < $1 RETURNING ", columns!());
        let rows = self.query(sql, params![before]).await?;
        rows.iter().map(decode).collect()
    }
}
