//! What the commands do: one file per noun. Each takes its arguments and a [`Cx`], talks to the
//! server, prints, and gives an exit code or a [`Failure`].

mod approval;
mod array;
mod audit;
mod auth;
pub(crate) mod authority;
pub(crate) mod backup;
mod context;
mod doctor;
mod drawing;
mod explain;
mod files;
mod group;
mod hook;
mod image;
mod import;
mod invitation;
mod lock;
mod login;
mod logs;
mod machine;
mod member;
mod node;
mod oidc;
mod operation;
mod progress;
mod project;
mod queue;
mod record;
mod role;
mod run;
pub(crate) mod schedule;
mod second_factor;
mod secret;
mod session;
pub(crate) mod spec;
mod spec_flags;
mod spec_text;
mod stack;
mod state;
mod system;
mod task;
mod task_describe;
mod telling;
mod timeline;
mod token;
mod user;
mod wait;
mod watch;
pub(crate) mod watcher;
mod workflow;
mod workload;

pub(crate) use progress::{Tally, count};

use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use futures::TryStreamExt;
use hostler_api::{Endpoint, Listing, Nothing};
use hostler_client::{Client, Consent, Error};
use hostler_model::{Code, Finding, Timestamp};

use crate::args::{Command, Globals, ServerCommand};
use crate::environment::Environment;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Show};
use crate::target::Target;
use crate::ui::Ui;

const NONE: Nothing = Nothing {};
const DONE: u8 = crate::exit::Code::Success.number();
/// The most that a server gives at once; fewer round trips when everything is wanted.
const PAGE: Option<u32> = Some(1000);

/// What every command has at hand.
pub struct Cx {
    pub ui: Rc<Ui>,
    pub globals: Globals,
    pub environment: Environment,
    /// The client that was used with what a context has pinned, and the context's name.
    pub used: OnceLock<(Client, String)>,
    /// What the binary found of a server on this machine, for `doctor`.
    pub findings: Vec<Finding>,
    /// What takes secrets out of what workflows on this machine tell.
    pub scrubber: Option<crate::Scrubber>,
}

/// A server and the project to work in.
struct Link {
    client: Client,
    project: String,
}

impl Cx {
    fn now(&self) -> Timestamp {
        self.environment.clock.now()
    }

    fn link(&self) -> Result<Link, Failure> {
        let target = Target::resolve(&self.globals, &self.environment)?;
        let client = target.client()?;
        if let Some(context) = target.context.clone().filter(|_| self.globals.cacert.is_none()) {
            // The first one tells what there is to learn.
            let _known = self.used.set((client.clone(), context));
        }
        let client = match (self.globals.approval, &self.globals.break_glass) {
            (Some(id), _) => client.with_consent(&Consent::Approval(id))?,
            (None, Some(reason)) => client.with_consent(&Consent::BreakGlass(reason.clone()))?,
            (None, None) => client,
        };
        Ok(Link { client, project: target.project.value })
    }

    async fn list<E, T>(
        &self,
        link: &Link,
        path: &E::Path,
        query: &E::Query,
        limit: Option<usize>,
    ) -> Outcome
    where
        E: Endpoint<Body = Nothing, Reply = Listing<T>>,
        T: Show + Send + 'static,
    {
        let items: Vec<T> = link.client.pages::<E, T>(path, query, limit)?.try_collect().await?;
        output::list(&self.ui, self.now(), &items)?;
        Ok(DONE)
    }

    /// Whether prose is wanted, rather than a document.
    fn is_for_people(&self) -> bool {
        matches!(self.ui.format(), None | Some(output::Format::Table | output::Format::Wide))
    }

    fn one<T: Show>(&self, item: &T) -> Outcome {
        output::one(&self.ui, self.now(), item)?;
        Ok(DONE)
    }

    fn changed<T: Show>(&self, item: &T, what: &str) -> Outcome {
        output::changed(&self.ui, self.now(), item, what)?;
        Ok(DONE)
    }
}

/// `node/web-1` and `web-1` are the same node.
fn bare<'a>(kind: &str, given: &'a str) -> &'a str {
    given.strip_prefix(kind).and_then(|rest| rest.strip_prefix('/')).unwrap_or(given)
}

/// Reads and changes again when somebody else changed the object in between.
async fn again_if_stale<T>(change: impl AsyncFn() -> Result<T, Error>) -> Result<T, Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        match change().await {
            Err(error) if error.is(Code::Stale) && tries < 3 => {}
            other => return other,
        }
    }
}

/// Asks again after a short while.
async fn pause(length: Duration) {
    tokio::time::sleep(length).await;
}

pub async fn perform(cx: &Cx, command: Command) -> Outcome {
    match command {
        Command::Run(args) => Box::pin(run::run(cx, *args)).await,
        Command::Logs(args) => logs::logs(cx, args).await,
        Command::Wait(args) => wait::wait(cx, args).await,
        Command::Explain(args) => explain::explain(cx, &args.what).await,
        Command::Task(command) => Box::pin(task::perform(cx, command)).await,
        Command::Queue => queue::queue(cx).await,
        Command::Account(args) => queue::account(cx, args).await,
        Command::Workload(command) => Box::pin(workload::perform(cx, command)).await,
        Command::Workflow(command) => Box::pin(workflow::perform(cx, command)).await,
        Command::Stack(command) => Box::pin(stack::perform(cx, command)).await,
        Command::Schedule(command) => Box::pin(schedule::perform(cx, command)).await,
        Command::Watcher(command) => Box::pin(watcher::perform(cx, command)).await,
        Command::Node(command) => Box::pin(node::perform(cx, command)).await,
        Command::Image(command) => Box::pin(image::images(cx, command)).await,
        Command::Container(command) => image::containers(cx, command).await,
        Command::Blob(command) => files::blobs(cx, command).await,
        Command::Secret(command) => Box::pin(secret::perform(cx, command)).await,
        Command::Lock(command) => Box::pin(lock::perform(cx, command)).await,
        Command::State(command) => Box::pin(state::perform(cx, command)).await,
        Command::Operation(command) => operation::perform(cx, command).await,
        Command::Event(command) => Box::pin(record::events(cx, command)).await,
        Command::Timeline(args) => Box::pin(timeline::timeline(cx, args)).await,
        Command::Import(command) => import::perform(cx, command),
        Command::Project(command) => project::perform(cx, command).await,
        Command::User(command) => user::perform(cx, command).await,
        Command::Group(command) => group::perform(cx, command).await,
        Command::Role(command) => role::perform(cx, command).await,
        Command::Invitation(command) => invitation::perform(cx, command).await,
        Command::Token(command) => token::perform(cx, command).await,
        Command::Auth(command) => auth::perform(cx, command).await,
        Command::Hook(command) => Box::pin(hook::perform(cx, command)).await,
        Command::Approval(command) => Box::pin(approval::perform(cx, command)).await,
        Command::Audit(command) => Box::pin(audit::perform(cx, command)).await,
        Command::Ca(command) => authority::perform(cx, command).await,
        Command::Backup(command) => backup::perform(cx, command).await,
        Command::Login(args) => login::login(cx, args).await,
        Command::Logout => login::logout(cx).await,
        Command::Whoami => login::whoami(cx).await,
        Command::Session(command) => session::perform(cx, command).await,
        Command::Context(command) => context::perform(cx, command),
        Command::Doctor(args) => doctor::doctor(cx, args).await,
        Command::Metrics(args) => system::metrics(cx, &args).await,
        Command::Debug(command) => system::debug(cx, command).await,
        Command::Version => system::version(cx).await,
        Command::Completion(args) => system::completion(cx, args.shell),
        Command::Help(args) => system::help(cx, &args.words),
        Command::Server(args) if matches!(args.command, Some(ServerCommand::Ls)) => {
            system::servers(cx).await
        }
        Command::Up(_) | Command::Server(_) | Command::Agent(_) => Err(Failure::usage(
            "this command becomes a server or an agent and is not carried out here",
            "run it with the `hostler` program",
        )),
    }
}
