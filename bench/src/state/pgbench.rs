//! PostgreSQL's own measuring program, with the plainest upsert there is.

use anyhow::{Context as _, ensure};

use super::process::Postgres;
use super::{CLIENTS, KEYS_EACH, LENGTH, Measured, VALUE, What};

pub async fn measure() -> anyhow::Result<Measured> {
    let database = Postgres::start().await?;
    let script = database.folder().join("upsert.sql");
    let keys = CLIENTS * KEYS_EACH;
    let value = "v".repeat(VALUE);
    std::fs::write(
        &script,
        format!(
            "\\set key random(1, {keys})\nINSERT INTO kept (key, value) VALUES (:key, '{value}') ON CONFLICT (key) DO UPDATE SET value = excluded.value;\n"
        ),
    )?;
    let made = database
        .run(
            "psql",
            &["-q", "-c", "CREATE TABLE kept (key BIGINT PRIMARY KEY, value TEXT NOT NULL)"],
        )
        .await?;
    ensure!(made.is_empty(), "psql says {made}");
    let mut measured = Measured::default();
    for clients in [1, CLIENTS] {
        let (many, seconds) = (clients.to_string(), LENGTH.as_secs().to_string());
        let path = script.to_string_lossy();
        let words = ["-n", "-M", "prepared", "-c", &many, "-j", "2", "-T", &seconds, "-f", &path];
        let told = database.run("pgbench", &words).await?;
        let rate = told
            .lines()
            .find_map(|line| line.strip_prefix("tps = "))
            .and_then(|rest| rest.split_ascii_whitespace().next())
            .with_context(|| format!("pgbench does not say how many: {told}"))?;
        measured.rates.insert((What::Put, clients), rate.parse()?);
    }
    Ok(measured)
}
