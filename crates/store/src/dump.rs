//! The schema as the database itself reports it, as text that can be compared: the committed
//! `schema/current.*.sql` are such dumps, and a test keeps them true.

use crate::value::params;
use crate::{Conn, Dialect, Error, Store};

impl Store {
    /// Renders every table and index, in order of name.
    pub async fn schema_dump(&self) -> Result<String, Error> {
        let mut reader = self.read().await?;
        match self.dialect() {
            Dialect::Sqlite => reader.dump_sqlite().await,
            Dialect::Postgres => reader.dump_postgres().await,
        }
    }
}

impl Conn {
    async fn texts(
        &mut self,
        sql: &'static str,
        params: Vec<crate::value::Value>,
    ) -> Result<Vec<String>, Error> {
        let rows = self.query(sql, params).await?;
        rows.iter().map(|row| row.columns("schema").text()).collect()
    }

    async fn dump_sqlite(&mut self) -> Result<String, Error> {
        let statements = self
            .texts(
                "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name",
                Vec::new(),
            )
            .await?;
        Ok(statements.iter().map(|s| format!("{s};\n\n")).collect())
    }

    async fn dump_postgres(&mut self) -> Result<String, Error> {
        let tables = self
            .texts(
                "SELECT table_name::TEXT FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name",
                Vec::new(),
            )
            .await?;
        let schema = self.texts("SELECT current_schema()::TEXT", Vec::new()).await?.concat();
        let mut dump = String::new();
        for table in &tables {
            let mut lines = self
                .texts(
                    "SELECT column_name || ' ' || data_type || CASE WHEN collation_name IS NULL THEN '' ELSE ' COLLATE \"' || collation_name || '\"' END || CASE is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position",
                    params![table],
                )
                .await?;
            lines.extend(
                self.texts(
                    "SELECT 'CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = (quote_ident(current_schema()) || '.' || quote_ident($1))::regclass AND contype IN ('p', 'u', 'f') ORDER BY conname",
                    params![table],
                )
                .await?,
            );
            dump.push_str(&format!(
                "CREATE TABLE {table} (\n    {}\n);\n\n",
                lines.join(",\n    ")
            ));
            let indices = self
                .texts(
                    "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND tablename = $1 AND indexname NOT IN (SELECT conname FROM pg_constraint WHERE connamespace = current_schema()::regnamespace) ORDER BY indexname",
                    params![table],
                )
                .await?;
            for index in indices {
                dump.push_str(&format!("{index};\n\n"));
            }
        }
        Ok(dump.replace(&format!("{schema}."), ""))
    }
}
