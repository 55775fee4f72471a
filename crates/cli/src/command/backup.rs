//! Backups, as far as a server is asked for them. What reads databases and files is done by the binary.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use futures::TryStreamExt as _;
use hostler_api::backup::{
    BackupCreate, BackupCreateBody, BackupList, BackupScheduleRun, BackupScheduleShow,
    BackupScheduleView, BackupSeal, BackupStanding, BackupView,
};
use hostler_model::{Bytes, Timestamp};
use hostler_trust::{LockKey, MasterKey, keyring};
use serde::Serialize;

use super::{Cx, DONE, NONE};
use crate::args::{BackupCommand, BackupCreateArgs, BackupKeyArgs};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Cell, Column, Format, Show, column, moment, span, wide};
use crate::ui::Ui;

pub async fn perform(cx: &Cx, command: BackupCommand) -> Outcome {
    match command {
        BackupCommand::Create(args) => create(cx, args).await,
        BackupCommand::Ls(_) => {
            let link = cx.link()?;
            cx.list::<BackupList, BackupView>(&link, &NONE, &NONE, None).await
        }
        BackupCommand::Schedule(args) => {
            let client = cx.link()?.client;
            let view = match args.now {
                true => client.call::<BackupScheduleRun>(&NONE, &NONE, &NONE).await?,
                false => client.call::<BackupScheduleShow>(&NONE, &NONE, &NONE).await?,
            };
            if args.now {
                cx.ui.say("a backup is made now; `hostler backup ls` shows it");
            }
            schedule(cx, &view)
        }
        BackupCommand::Verify(_) | BackupCommand::Restore(_) => {
            Err(Failure::usage("this is done without a server", "run the whole binary"))
        }
    }
}

/// Reads what a backup is sealed with; asks for a passphrase where nothing was given.
pub fn key_of(ui: &Ui, args: &BackupKeyArgs, is_new: bool) -> Result<Option<LockKey>, Failure> {
    let wrong = |error: hostler_trust::seal::Error| {
        let detail = hostler_base::chain(&error).to_string();
        Failure::usage(detail, "`hostler help backup create` says how keys are made")
    };
    if let Some(path) = &args.key_file {
        return MasterKey::load(path).map(LockKey::File).map(Some).map_err(wrong);
    }
    if let Some(path) = &args.passphrase_file {
        return keyring::read_passphrase(path).map(LockKey::Passphrase).map(Some).map_err(wrong);
    }
    if !ui.may_ask() {
        return Ok(None);
    }
    let passphrase = ui.ask_secret("Passphrase of the backup")?;
    if is_new && ui.ask_secret("The same again")? != passphrase {
        return Err(Failure::usage("the two are not the same", "try again"));
    }
    Ok(Some(LockKey::Passphrase(passphrase)))
}

/// What a new backup is sealed with; nothing only where that was said.
pub fn key_of_new(ui: &Ui, args: &BackupCreateArgs) -> Result<Option<LockKey>, Failure> {
    if args.plain {
        return Ok(None);
    }
    let key = key_of(ui, &args.key, true)?;
    key.map(Some).ok_or_else(|| {
        Failure::usage(
            "a backup holds everything and is sealed",
            "give --key-file or --passphrase-file, or say --plain",
        )
    })
}

/// The file to write, unless one was named.
pub fn default_name(now: Timestamp) -> PathBuf {
    let time = now.to_string();
    let digits = time.split('.').next().unwrap_or_default();
    let digits: String = digits.chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect();
    format!("hostler-{digits}Z.backup").into()
}

/// Where the bytes of a backup go: beside its place, until it is whole.
pub enum Destination {
    Stdout,
    File { draft: PathBuf, place: PathBuf, file: std::fs::File },
}

impl Destination {
    pub fn open(place: &Path) -> Result<Destination, Failure> {
        use std::os::unix::fs::OpenOptionsExt as _;
        if place == Path::new("-") {
            return Ok(Destination::Stdout);
        }
        if place.exists() {
            let detail = format!("{} is there already", place.display());
            return Err(Failure::usage(detail, "name another file"));
        }
        let mut draft = place.as_os_str().to_owned();
        draft.push(".part");
        let draft = PathBuf::from(draft);
        let mut options = std::fs::OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(&draft).map_err(|e| unwritten(&draft, &e))?;
        Ok(Destination::File { draft, place: place.to_owned(), file })
    }

    pub fn write(&mut self, ui: &Ui, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Destination::Stdout => ui.data(bytes),
            Destination::File { file, draft, .. } => {
                file.write_all(bytes).map_err(|e| unwritten(draft, &e))
            }
        }
    }

    /// The file gets its name.
    pub fn finish(self) -> Result<Option<PathBuf>, Failure> {
        let Destination::File { draft, place, file } = self else { return Ok(None) };
        let done = file.sync_all().and_then(|()| std::fs::rename(&draft, &place));
        done.map_err(|e| unwritten(&place, &e))?;
        Ok(Some(place))
    }

    /// Nothing is left of it.
    pub fn discard(self) {
        if let Destination::File { draft, .. } = self {
            let _gone = std::fs::remove_file(draft);
        }
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::told(
        crate::exit::Code::Failure,
        format!("{} cannot be written: {error}", path.display()),
        "make room, or choose another place",
    )
}

async fn create(cx: &Cx, args: BackupCreateArgs) -> Outcome {
    let key = key_of_new(&cx.ui, &args)?;
    let seal = match &key {
        None => None,
        Some(key) => {
            let (lock, key) =
                key.lock().map_err(|e| Failure::usage(e.to_string(), "give another passphrase"))?;
            let lock = serde_json::to_value(&lock).map_err(|e| Failure::Other(e.into()))?;
            Some(BackupSeal { lock, key: key.to_base64().expose().to_owned() })
        }
    };
    let body = BackupCreateBody { seal, without_content: args.without_content };
    let client = cx.link()?.client;
    let mut content = client.bytes_with::<BackupCreate>(&NONE, &NONE, &body).await?;
    let place = args.file.unwrap_or_else(|| default_name(cx.now()));
    let mut to = Destination::open(&place)?;
    let spinner = cx.ui.spinner("reading the control plane");
    let mut size = 0;
    let copied: Result<(), Failure> = async {
        while let Some(bytes) = content.try_next().await? {
            to.write(&cx.ui, &bytes)?;
            size += bytes.len() as u64;
            spinner.message(format!("{} so far", Bytes::new(size)));
        }
        Ok(())
    }
    .await;
    drop(spinner);
    if let Err(failure) = copied {
        to.discard();
        return Err(failure);
    }
    if let Some(place) = to.finish()? {
        let made = Made { file: place, size, is_sealed: key.is_some(), has_master_key: false };
        if made.tell(&cx.ui)? {
            cx.ui.say(
                "the master key is not in it: keep a copy of the server's master.key elsewhere",
            );
            cx.ui.say("`hostler backup verify` checks it");
        }
    }
    Ok(DONE)
}

/// A file that was written here.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Made {
    pub file: PathBuf,
    pub size: u64,
    pub is_sealed: bool,
    pub has_master_key: bool,
}

impl Made {
    /// For people a line, and more may be said to them; for programs a document, which is all.
    pub fn tell(&self, ui: &Ui) -> Result<bool, Failure> {
        match ui.format() {
            None | Some(Format::Table | Format::Wide) => {
                ui.say(&format!("{}, {}", self.file.display(), Bytes::new(self.size)));
                Ok(true)
            }
            Some(format) => output::document(ui, format, self).map(|_| false),
        }
    }
}

fn schedule(cx: &Cx, view: &BackupScheduleView) -> Outcome {
    match cx.ui.format() {
        Some(format) if !cx.is_for_people() => output::document(&cx.ui, format, view)?,
        _ => cx.ui.data(describe(view, cx.now()).as_bytes())?,
    }
    Ok(DONE)
}

fn describe(view: &BackupScheduleView, now: Timestamp) -> String {
    let mut text = output::Description::default();
    let Some(directory) = &view.directory else {
        text.pair("Backups", "none: `directory` is not set in the section `[backup]`".to_owned());
        return text.render();
    };
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    text.pair("Directory", directory.clone())
        .pair("Every", span(view.every.duration()))
        .pair("Kept", view.keep.to_string())
        .pair("Sealed", yes(view.is_sealed))
        .pair("Master key", yes(view.has_master_key))
        .pair("Content", yes(view.has_content))
        .pair("Last", view.time_last_good.map(|time| moment(time, now, false)))
        .pair("Next", view.time_next.map(|time| moment(time, now, false)))
        .pair("Overdue", view.is_overdue.then(|| yes(true)))
        .pair("Problem", view.problem.clone());
    text.render()
}

impl Show for BackupView {
    const KIND: &'static str = "backup";
    const COLUMNS: &'static [Column] = &[
        column("NAME"),
        column("STANDING"),
        column("SIZE"),
        column("SEALED"),
        wide("MASTER KEY"),
        column("SERVER"),
        column("CREATED"),
        wide("DIGEST"),
        wide("PROBLEM"),
    ];
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let standing = match self.standing {
            BackupStanding::Verified => Cell::new("verified").good(),
            BackupStanding::Unverified => Cell::new("unverified"),
            BackupStanding::Failed => Cell::new("failed").bad(),
            BackupStanding::UnderWay => Cell::new("under way").warning(),
            BackupStanding::Elsewhere => Cell::new("elsewhere").dim(),
        };
        vec![
            Cell::new(&self.name),
            standing,
            Cell::new(Bytes::new(self.size)),
            self.is_sealed.map(yes).into(),
            self.has_master_key.map(yes).into(),
            self.server.clone().into(),
            Cell::new(moment(self.time_created, now, is_wide)),
            self.digest.map(|digest| digest.short()).into(),
            self.problem.clone().into(),
        ]
    }
}
