//! Fifty principals in five projects, and what they find there.
//!
//! Of the ten of a project three may only look, four may run things, two may tend everybody's, and one
//! may do everything there. A few of them hold a role on the whole installation besides. Every second
//! one is a person who logged in, the others are service accounts whose token an admin made.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use hostler_api::project::{ProjectCreate, ProjectCreateBody};
use hostler_api::secret::{SecretPath, SecretSet, SecretSetQuery};
use hostler_api::session::{Login, LoginBody, LoginKind};
use hostler_api::task::TaskSubmit;
use hostler_api::token::{TokenCreate, TokenCreateBody};
use hostler_api::user::{MemberPath, MemberSet, MemberSetBody, UserCreate, UserCreateBody};
use hostler_api::workload::{WorkloadApply, WorkloadPath};
use hostler_api::{Nothing, ProjectPath};
use hostler_client::{Client, ClientConfig, RetryPolicy};
use hostler_model::{Mode, Name, PrincipalKind, Role, Schedule, WorkloadId, WorkloadSpec};
use hostler_trust::SecretString;

use crate::rig::{DEADLINE, Rig};
use crate::throughput::body;

pub const PEOPLE: usize = 50;
pub const TEAMS: usize = 5;
const PASSWORD: &str = "a stable, a bucket, a broom";

/// Somebody who asks.
pub struct Person {
    pub client: Client,
    pub name: Name,
    pub kind: PrincipalKind,
    /// Number of the project.
    pub team: usize,
    /// In that project.
    pub role: Role,
    /// On the whole installation.
    pub global: Option<Role>,
}

impl Person {
    pub fn project(&self) -> ProjectPath {
        ProjectPath { project: team(self.team) }
    }

    /// The workload that this one looks after.
    pub fn workload(&self) -> WorkloadPath {
        WorkloadPath { project: team(self.team), workload: format!("of-{}", self.name) }
    }

    /// The secret that this one sets.
    pub fn secret(&self) -> anyhow::Result<SecretPath> {
        Ok(SecretPath { project: team(self.team), secret: format!("of-{}", self.name).parse()? })
    }

    /// Whether it may only look.
    pub fn is_guest(&self) -> bool {
        self.role == Role::Viewer && self.global.is_none()
    }
}

pub struct World {
    pub people: Vec<Person>,
    /// One of each project.
    pub tasks: Vec<WorkloadId>,
    submitted: AtomicU64,
}

impl World {
    pub async fn new(rig: &Rig) -> anyhow::Result<World> {
        for number in 0..TEAMS {
            let body = ProjectCreateBody {
                name: team(number).parse()?,
                description: String::new(),
                weight: None,
                quota: None,
            };
            rig.client.call::<ProjectCreate>(&Nothing {}, &Nothing {}, &body).await?;
            set_secret(&rig.client, &secret(number)?, "first").await?;
        }
        let mut people = Vec::new();
        for number in 0..PEOPLE {
            people.push(join(rig, number).await.with_context(|| format!("making {number}"))?);
        }
        let mut world = World { people, tasks: Vec::new(), submitted: AtomicU64::new(0) };
        for number in 0..TEAMS {
            let project = ProjectPath { project: team(number) };
            let one = body(&["true"]);
            let made = rig.client.call::<TaskSubmit>(&project, &Nothing {}, &one).await?;
            world.tasks.push(made.id);
            world.count();
        }
        for person in world.people.iter().filter(|person| person.role != Role::Viewer) {
            let (path, spec) = (person.workload(), rarely("0"));
            person.client.call::<WorkloadApply>(&path, &Nothing {}, &spec).await?;
        }
        Ok(world)
    }

    /// Somebody for whom this holds, another for every number.
    pub fn pick(&self, number: u64, fits: impl Fn(&Person) -> bool) -> anyhow::Result<&Person> {
        let fitting: Vec<&Person> = self.people.iter().filter(|person| fits(person)).collect();
        let count = u64::try_from(fitting.len())?;
        let at = scatter(number).checked_rem(count).context("there is nobody who may do this")?;
        Ok(fitting[usize::try_from(at)?])
    }

    /// One more task was submitted.
    pub fn count(&self) {
        self.submitted.fetch_add(1, Ordering::Relaxed);
    }

    pub fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Relaxed)
    }
}

/// Name of a project.
pub fn team(number: usize) -> String {
    format!("team-{number}")
}

/// The secret of a project that is there from the beginning.
pub fn secret(number: usize) -> anyhow::Result<SecretPath> {
    Ok(SecretPath { project: team(number), secret: "api-key".parse()? })
}

/// Name and right password of somebody who can log in.
pub fn login(person: &Person) -> LoginBody {
    LoginBody {
        name: person.name.to_string(),
        password: PASSWORD.to_owned(),
        code: None,
        kind: LoginKind::Token,
    }
}

/// A client that tries once, with a connection of its own.
pub fn client(rig: &Rig, token: Option<String>) -> anyhow::Result<Client> {
    let mut config = ClientConfig::new(&rig.url, &rig.ca_pem);
    config.token = token.map(SecretString::new);
    config.timeout = DEADLINE;
    config.retry = RetryPolicy::NONE;
    Ok(Client::new(config)?)
}

/// A workload that is placed and kept, and whose time comes once a year.
pub fn rarely(version: &str) -> WorkloadSpec {
    WorkloadSpec {
        mode: Mode::Schedule(Schedule::new("0 0 1 1 *")),
        version: Some(version.to_owned()),
        ..WorkloadSpec::command(["true"])
    }
}

pub async fn set_secret(client: &Client, path: &SecretPath, value: &str) -> anyhow::Result<()> {
    let query = SecretSetQuery { environment: "default".parse()?, must_exist: None };
    client.call_raw::<SecretSet>(path, &query, value.to_owned().into()).await?;
    Ok(())
}

fn role(number: usize) -> Role {
    match number / TEAMS {
        0..=2 => Role::Viewer,
        3..=6 => Role::User,
        7 | 8 => Role::Operator,
        _ => Role::Admin,
    }
}

fn global(number: usize) -> Option<Role> {
    match PEOPLE - number {
        1 => Some(Role::Admin),
        2 | 3 => Some(Role::Operator),
        4 => Some(Role::Viewer),
        _ => None,
    }
}

async fn join(rig: &Rig, number: usize) -> anyhow::Result<Person> {
    let is_user = number.is_multiple_of(2);
    let (kind, word) = match is_user {
        true => (PrincipalKind::User, "person"),
        false => (PrincipalKind::Service, "program"),
    };
    let name: Name = format!("{word}-{number}").parse()?;
    let create = UserCreateBody {
        name: name.clone(),
        kind,
        password: is_user.then(|| PASSWORD.to_owned()),
        role: global(number).map(Into::into),
    };
    rig.client.call::<UserCreate>(&Nothing {}, &Nothing {}, &create).await?;
    let person = Person {
        client: client(rig, None)?,
        name,
        kind,
        team: number % TEAMS,
        role: role(number),
        global: global(number),
    };
    let path = MemberPath { project: team(person.team), user: person.name.to_string() };
    let member = MemberSetBody { role: person.role.into() };
    rig.client.call::<MemberSet>(&path, &Nothing {}, &member).await?;
    let token = match is_user {
        true => {
            let body = login(&person);
            let made = person.client.call::<Login>(&Nothing {}, &Nothing {}, &body).await?;
            made.token.context("the login gave no token")?
        }
        false => {
            let body = TokenCreateBody {
                name: "bench".parse()?,
                user: Some(person.name.to_string()),
                role: Some(Role::Admin),
                project: None,
                projects: None,
                can: None,
                from: None,
                ttl: None,
            };
            rig.client.call::<TokenCreate>(&Nothing {}, &Nothing {}, &body).await?.secret
        }
    };
    Ok(Person { client: client(rig, Some(token))?, ..person })
}

/// Numbers that follow each other become numbers that have nothing to do with each other.
pub const fn scatter(number: u64) -> u64 {
    let a = (number ^ (number >> 30)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let b = (a ^ (a >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let c = (b ^ (b >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    c ^ (c >> 31)
}
