//! `hostler backup`, as far as it needs no server: files are read, and databases directly.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hostler_api::backup::{BackupStanding, BackupView};
use hostler_backup::{Head, Opened};
use hostler_base::{Clock, chain};
use hostler_cli::args::{
    BackupCreateArgs, BackupListArgs, BackupRestoreArgs, BackupStoreArgs, BackupVerifyArgs, Globals,
};
use hostler_cli::backup::{Destination, Made, default_name, key_of, key_of_new};
use hostler_cli::exit::Code;
use hostler_cli::output::{self, Description, Format};
use hostler_cli::{BackupInvocation, Environment, Failure, Outcome, Streams, Ui};
use hostler_control::backup::{self, BackupError, Kept, NewBackup, Shelf};
use hostler_model::{KeyId, Timestamp};
use hostler_server::config::ServerConfig;
use hostler_store::{OpenOptions, Store};
use hostler_trust::{Keyring, LockKey, MasterKey, keyring};
use serde::Serialize;
use tokio::sync::mpsc;

const DONE: u8 = Code::Success.number();

pub fn run(globals: &Globals, invocation: BackupInvocation) -> ExitCode {
    let or_root = |key: &str| std::env::var_os(key).or_else(|| (key == "HOME").then(|| "/".into()));
    let environment = Environment::from_process()
        .or_else(|_| Environment::from_lookup(or_root))
        .expect("with a home, every place is known");
    let ui = Ui::new(Streams::of_process(), globals, &environment);
    let outcome = match super::runtime(2) {
        Ok(runtime) => runtime.block_on(Box::pin(perform(&ui, invocation))),
        Err(error) => Err(error.into()),
    };
    ExitCode::from(outcome.unwrap_or_else(|failure| {
        ui.fail(&failure);
        failure.exit()
    }))
}

async fn perform(ui: &Ui, invocation: BackupInvocation) -> Outcome {
    match invocation {
        BackupInvocation::Create(args) => create(ui, args).await,
        BackupInvocation::List(args) => list(ui, args),
        BackupInvocation::Verify(args) => verify(ui, args).await,
        BackupInvocation::Restore(args) => restore(ui, args).await,
    }
}

fn failure(error: BackupError) -> Failure {
    let code = match &error {
        BackupError::Occupied(_) | BackupError::Alive(_) | BackupError::Foreign(_) => {
            Code::Conflict
        }
        BackupError::File(_) | BackupError::Key(_) | BackupError::OwnKey => Code::Usage,
        _ => Code::Failure,
    };
    Failure::told(code, chain(&error).to_string(), "`hostler help backup` says how it is done")
}

fn config(args: BackupStoreArgs) -> Result<ServerConfig, Failure> {
    crate::server::load_present(args.into_options()).map_err(Failure::Other)
}

async fn open_store(config: &ServerConfig, must_exist: bool) -> Result<Store, Failure> {
    let url = config.database_url();
    let file = url.strip_prefix("sqlite:").map(Path::new);
    if let Some(file) = file.filter(|file| must_exist && !file.exists()) {
        return Err(Failure::told(
            Code::NotFound,
            format!("there is no database {}", file.display()),
            "name the data directory or the database of the server",
        ));
    }
    let opened = Store::open(&url, OpenOptions::default()).await;
    opened.map_err(|error| failure(error.into()))
}

async fn create(ui: &Ui, args: BackupCreateArgs) -> Outcome {
    let key = key_of_new(ui, &args)?;
    let config = config(args.store)?;
    let store = open_store(&config, true).await?;
    let keys = match args.with_master_key {
        true => Some(master_keys(&config, &store).await?),
        false => None,
    };
    let now = Clock::system().now();
    let new =
        NewBackup::checked(super::VERSION, now, key.as_ref(), keys.as_ref(), !args.without_content);
    let new = new.map_err(failure)?;
    let place = args.file.unwrap_or_else(|| default_name(now));
    let mut to = Destination::open(&place)?;
    let (sender, mut portions) = mpsc::channel(2);
    let making = backup::create(&store, new, sender);
    let copy = async {
        while let Some(bytes) = portions.recv().await {
            to.write(ui, &bytes)?;
        }
        Ok::<_, Failure>(())
    };
    let (made, copied) = tokio::join!(making, copy);
    store.close().await;
    let made = match copied.and_then(|()| made.map_err(failure)) {
        Ok(made) => made,
        Err(failure) => {
            to.discard();
            return Err(failure);
        }
    };
    if let Some(file) = to.finish()? {
        let (is_sealed, has_master_key) = (made.head.lock.is_some(), made.head.has_keys);
        if (Made { file, size: made.size, is_sealed, has_master_key }).tell(ui)? {
            tell_of_keys(ui, &made.head);
        }
    }
    Ok(DONE)
}

fn tell_of_keys(ui: &Ui, head: &Head) {
    match head.has_keys {
        true => ui.say("the master key is in it: who has the file and its key has everything"),
        false => ui.say(&format!(
            "the master key ({}) is not in it: keep a copy of master.key elsewhere",
            head.needs_keys.join(", ")
        )),
    }
}

/// The keys as a server would have them; made by nobody here.
async fn master_keys(config: &ServerConfig, store: &Store) -> Result<Keyring, Failure> {
    let path = config.master_key_path();
    let is_given = std::env::var_os("CREDENTIALS_DIRECTORY").is_some();
    if !config.has_passphrase() && !is_given && !path.exists() {
        return Err(Failure::told(
            Code::NotFound,
            format!("there is no master key {}", path.display()),
            "name it with --master-key-file, or leave out --with-master-key",
        ));
    }
    let salt = match config.has_passphrase() {
        true => {
            let salt = hostler_control::passphrase_salt(store).await;
            Some(salt.map_err(|e| Failure::Other(e.into()))?)
        }
        false => None,
    };
    config.keyring(salt.as_deref()).map_err(|e| Failure::Other(e.into()))
}

fn list(ui: &Ui, args: BackupListArgs) -> Outcome {
    let shelf = Shelf::new(args.directory.unwrap_or_else(|| PathBuf::from(".")));
    let kept = shelf.list().map_err(failure)?;
    let views: Vec<BackupView> = kept.into_iter().map(view).collect();
    output::list(ui, Clock::system().now(), &views)?;
    Ok(DONE)
}

fn view(kept: Kept) -> BackupView {
    let (head, problem) = match kept.head {
        Ok(head) => (Some(head), None),
        Err(problem) => (None, Some(problem)),
    };
    BackupView {
        name: kept.name,
        server: None,
        standing: match problem {
            None => BackupStanding::Unverified,
            Some(_) => BackupStanding::Failed,
        },
        size: kept.size,
        digest: None,
        problem,
        is_sealed: head.as_ref().map(|head| head.lock.is_some()),
        has_master_key: head.as_ref().map(|head| head.has_keys),
        time_created: head.map_or(Timestamp::EPOCH, |head| head.time),
    }
}

/// What is said of a file that was read to its end.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Checked {
    file: String,
    product: String,
    schema: u64,
    installation: String,
    time: Timestamp,
    is_sealed: bool,
    has_master_key: bool,
    needs_master_keys: Vec<String>,
    has_content: bool,
    tables: usize,
    rows: u64,
    digest: String,
    is_restored: bool,
}

impl Checked {
    fn describe(&self) -> String {
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let mut text = Description::default();
        text.pair("File", self.file.clone())
            .pair("Time", self.time.to_string())
            .pair("Hostler", self.product.clone())
            .pair("Schema", self.schema.to_string())
            .pair("Installation", self.installation.clone())
            .pair("Sealed", yes(self.is_sealed))
            .pair("Content", yes(self.has_content))
            .pair(
                "Master key",
                match self.has_master_key {
                    true => "in it".to_owned(),
                    false => format!("not in it; needs {}", self.needs_master_keys.join(", ")),
                },
            )
            .pair("Tables", self.tables.to_string())
            .pair("Rows", self.rows.to_string())
            .pair("Digest", self.digest.clone())
            .pair(
                "Verdict",
                match self.is_restored {
                    true => "whole, and can be restored: every row came back".to_owned(),
                    false => "whole".to_owned(),
                },
            );
        text.render()
    }
}

/// The head is read before a passphrase is asked for: it may not be needed.
fn head_and_key(
    ui: &Ui,
    file: &Path,
    args: &hostler_cli::args::BackupKeyArgs,
) -> Result<(Head, Option<LockKey>), Failure> {
    let opened = std::fs::File::open(file)
        .map_err(|e| {
            let detail = format!("{} cannot be read: {e}", file.display());
            Failure::told(Code::NotFound, detail, "name the file of a backup")
        })
        .and_then(|file| Opened::new(file).map_err(|error| failure(error.into())))?;
    let head = opened.head().clone();
    let is_given = args.key_file.is_some() || args.passphrase_file.is_some();
    let key = match head.lock.is_some() || is_given {
        true => key_of(ui, args, false)?,
        false => None,
    };
    Ok((head, key))
}

async fn verify(ui: &Ui, args: BackupVerifyArgs) -> Outcome {
    let (head, key) = head_and_key(ui, &args.file, &args.key)?;
    let spinner = ui.spinner("reading it to its end");
    let summary = match args.drill {
        true => {
            let drilled = backup::drill(&args.file, key.as_ref(), Clock::system().now()).await;
            drilled.map_err(failure)?.summary
        }
        false => std::fs::File::open(&args.file)
            .map_err(|e| Failure::Other(e.into()))
            .map(std::io::BufReader::new)
            .and_then(|file| Opened::new(file).map_err(|e| failure(e.into())))
            .and_then(|opened| {
                hostler_backup::verify(opened, key.as_ref()).map_err(|e| failure(e.into()))
            })?,
    };
    drop(spinner);
    let checked = Checked {
        file: args.file.display().to_string(),
        product: head.product,
        schema: head.schema,
        installation: head.installation,
        time: head.time,
        is_sealed: head.lock.is_some(),
        has_master_key: head.has_keys,
        needs_master_keys: head.needs_keys,
        has_content: head.has_content,
        tables: summary.tables.len(),
        rows: summary.rows,
        digest: summary.digest.to_string(),
        is_restored: args.drill,
    };
    match ui.format() {
        None | Some(Format::Table | Format::Wide) => ui.data(checked.describe().as_bytes())?,
        Some(format) => output::document(ui, format, &checked)?,
    }
    Ok(DONE)
}

async fn restore(ui: &Ui, args: BackupRestoreArgs) -> Outcome {
    let (head, key) = head_and_key(ui, &args.file, &args.key)?;
    let config = config(args.store)?;
    let place = KeyPlace::look(&config, &head)?;
    let url = config.database_url();
    if Store::file_is_open(&url).await.map_err(|error| failure(error.into()))? {
        return Err(Failure::told(
            Code::Conflict,
            format!("{} is in use", url.trim_start_matches("sqlite:")),
            "stop the server that works on it, and whatever else has it open, and restore then",
        ));
    }
    if args.force {
        let what = if url.starts_with("sqlite:") { url.as_str() } else { "the database" };
        ui.confirm(&format!("Lose everything in {what}?"))?;
    }
    let made = hostler_base::fs::create_dir(&config.data_dir, 0o700);
    made.map_err(|e| Failure::Other(e.into()))?;
    let store = open_store(&config, false).await?;
    let spinner = ui.spinner("restoring");
    let now = Clock::system().now();
    let restored = backup::restore(&store, &args.file, key.as_ref(), args.force, now).await;
    store.close().await;
    drop(spinner);
    let restored = restored.map_err(failure)?;
    ui.say(&format!(
        "{} rows of {} tables, as they were at {}",
        restored.summary.rows,
        restored.summary.tables.len(),
        restored.head.time
    ));
    place.settle(ui, &restored.keys, &restored.head)?;
    ui.say(&format!(
        "{} nodes will say what they hold when they come back; browsers log in again",
        restored.nodes
    ));
    ui.say("tokens and certificates that were revoked since are valid again: revoke them again");
    ui.say(
        "start one server, look at `hostler doctor` and `hostler audit verify`, then the others",
    );
    Ok(DONE)
}

/// The master key beside the database: what is there, and what has to be.
struct KeyPlace {
    path: PathBuf,
    present: Option<KeyId>,
    /// The key does not come from a file.
    is_elsewhere: bool,
}

impl KeyPlace {
    /// Another key in the place of the one that comes with the backup is not overwritten.
    fn look(config: &ServerConfig, head: &Head) -> Result<KeyPlace, Failure> {
        let path = config.master_key_path();
        let present = MasterKey::load(&path).ok().map(|key| key.id());
        let fits = |id: KeyId| head.needs_keys.contains(&id.to_string());
        if let Some(id) = present.filter(|id| !head.needs_keys.is_empty() && !fits(*id)) {
            return Err(Failure::told(
                Code::Conflict,
                format!(
                    "{} holds the master key {id}, and the backup needs {}",
                    path.display(),
                    head.needs_keys.join(", ")
                ),
                "move it away, or name the right one with --master-key-file",
            ));
        }
        Ok(KeyPlace { path, present, is_elsewhere: config.has_passphrase() })
    }

    fn settle(&self, ui: &Ui, keys: &[MasterKey], head: &Head) -> Result<(), Failure> {
        let shown = self.path.display();
        match (self.present, keys.split_first()) {
            (Some(_), _) => {}
            (None, Some((present, former))) if !self.is_elsewhere => {
                keyring::install(&self.path, present, former)
                    .map_err(|e| Failure::Other(e.into()))?;
                ui.say(&format!("the master key {} is in {shown}", present.id()));
            }
            _ if self.is_elsewhere || head.needs_keys.is_empty() => {}
            _ => ui.warn(&format!(
                "the master key {} is needed and was not in the backup: copy it to {shown} before a server starts",
                head.needs_keys.join(", ")
            )),
        }
        Ok(())
    }
}
