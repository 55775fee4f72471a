//! A PostgreSQL schema for one test, where `HOSTLER_TEST_POSTGRES` names a server.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test says that it was left out, and psql is no workload"
)]

use std::process::Command;

use hostler_store::{OpenOptions, Store};

/// Gone with the test.
pub struct Schema {
    admin: String,
    name: String,
    pub url: String,
}

impl Schema {
    pub fn create(name: &str) -> Option<Schema> {
        let Ok(admin) = std::env::var("HOSTLER_TEST_POSTGRES") else {
            eprintln!(
                "SKIPPED: set HOSTLER_TEST_POSTGRES to the address of a PostgreSQL to run this"
            );
            return None;
        };
        let name = format!("c_{name}_{}", std::process::id());
        let mark = if admin.contains('?') { '&' } else { '?' };
        let url = format!("{admin}{mark}options=-c%20search_path%3D{name}");
        let schema = Schema { admin, name, url };
        assert!(schema.sql(&format!("CREATE SCHEMA {}", schema.name)), "the schema is made");
        Some(schema)
    }

    pub async fn open(&self) -> Store {
        Store::open(&self.url, OpenOptions::default()).await.unwrap()
    }

    fn sql(&self, text: &str) -> bool {
        let mut psql = Command::new("psql");
        psql.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--command", text]);
        psql.arg(&self.admin).output().is_ok_and(|done| done.status.success())
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        self.sql(&format!("SET client_min_messages = warning; DROP SCHEMA {} CASCADE", self.name));
    }
}
