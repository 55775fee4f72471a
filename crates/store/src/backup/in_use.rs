//! Whether somebody works on a database file.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Row as _};

use crate::{Error, Store};

const PATIENCE: Duration = Duration::from_millis(300);

/// What SQLite answers who wants a file for itself that others have open: busy, and locked.
const TAKEN: [i32; 2] = [5, 6];

impl Store {
    /// Whether a file of SQLite is open, here or in another process; nothing in it is changed. A database that is
    /// no file of this machine is never open in this sense.
    ///
    /// Every connection to a file with a write-ahead log holds a lock on it until it is closed, however idle it is;
    /// only who has the file alone can take the log away. The next store that opens the file brings it back.
    pub async fn file_is_open(url: &str) -> Result<bool, Error> {
        let Some(path) = url.strip_prefix("sqlite:") else { return Ok(false) };
        let path = Path::new(path.strip_prefix("//").unwrap_or(path));
        if !path.is_file() {
            return Ok(false);
        }
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(false)
            .busy_timeout(PATIENCE)
            .disable_statement_logging();
        let mut connection = options.connect().await?;
        let answered = sqlx::query("PRAGMA journal_mode = DELETE").fetch_one(&mut connection).await;
        let is_open = match answered {
            Ok(row) => row.try_get::<String, _>(0)? == "wal",
            Err(sqlx::Error::Database(error)) if is_taken(error.as_ref()) => true,
            Err(error) => return Err(error.into()),
        };
        connection.close().await?;
        Ok(is_open)
    }
}

fn is_taken(error: &dyn sqlx::error::DatabaseError) -> bool {
    let code = error.code().and_then(|code| code.parse::<i32>().ok());
    code.is_some_and(|code| TAKEN.contains(&(code & 0xff)))
}
