//! `gcp`: Google Cloud.

use mlua::{Lua, MultiValue, Result, Table, Value};

use super::super::{Described, Installer, Module};
use super::class::Class;
use super::tool::{Program, one};
use super::verb::{Classes, Gives, Verb, describe, install as install_verbs};

static GCLOUD: Program =
    Program::new("gcloud", "see https://cloud.google.com/sdk/docs/install for how to install it");

pub(crate) const MODULE: Module = Module {
    name: "gcp",
    about: "Google Cloud, with the `gcloud` of the machine and whoever is signed in there. A client keeps its project, and what comes of it its zone or region: `gcp.client{ project = 'p' }:compute{ zone = 'z' }:instances():list()`. Results have `stdout` and what it says as a table in `data`.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; OWN.len() + VERBS.len()] = describe(OWN, VERBS);

const OWN: &[Described] = &[
    Described {
        name: "client",
        signature: "{ project, region, zone } -> client",
        about: "A client for a project.",
        example: "local r = gcp.client{ project = 'p' }:compute{ zone = 'z' }:instances():list{ show_only = true }\nassert(r.command == 'gcloud compute instances list --format=json --project p --zones z')",
    },
    Described {
        name: "client:compute",
        signature: "([{ zone, region }]) -> compute",
        about: "Its machines: `compute:instances()`.",
        example: "assert(gcp.client{ project = 'p' }:compute{ zone = 'z' }:instances():list{ show_only = true }.command == 'gcloud compute instances list --format=json --project p --zones z')",
    },
    Described {
        name: "client:storage",
        signature: "() -> storage",
        about: "Its storage: `storage:buckets()`.",
        example: "assert(gcp.client{ project = 'p' }:storage():buckets():list{ show_only = true }.command == 'gcloud storage buckets list --format=json --project p')",
    },
    Described {
        name: "client:sql",
        signature: "() -> sql",
        about: "Its databases: `sql:instances()`.",
        example: "assert(gcp.client{ project = 'p' }:sql():instances():list{ show_only = true }.command == 'gcloud sql instances list --format=json --project p')",
    },
    Described {
        name: "client:gke",
        signature: "([{ zone, region }]) -> gke",
        about: "Its Kubernetes: `gke:clusters()`.",
        example: "assert(gcp.client{ project = 'p' }:gke{ region = 'r' }:clusters():list{ show_only = true }.command == 'gcloud container clusters list --format=json --project p --region r')",
    },
    Described {
        name: "compute:instances",
        signature: "() -> instances",
        about: "Its machines, by the zone or region that was told.",
        example: "assert(gcp.client{ project = 'p' }:compute{ zone = 'z' }:instances():list{ show_only = true }.command == 'gcloud compute instances list --format=json --project p --zones z')",
    },
    Described {
        name: "storage:buckets",
        signature: "() -> buckets",
        about: "Its buckets.",
        example: "assert(gcp.client{ project = 'p' }:storage():buckets():list{ show_only = true }.argv[3] == 'buckets')",
    },
    Described {
        name: "sql:instances",
        signature: "() -> instances",
        about: "Its databases.",
        example: "assert(gcp.client{ project = 'p' }:sql():instances():list{ show_only = true }.argv[2] == 'sql')",
    },
    Described {
        name: "gke:clusters",
        signature: "() -> clusters",
        about: "Its clusters of Kubernetes.",
        example: "assert(gcp.client{ project = 'p' }:gke{ region = 'r' }:clusters():list{ show_only = true }.argv[3] == 'clusters')",
    },
    Described {
        name: "client:service_account",
        signature: "(id) -> account",
        about: "A service account; the id is its short name, or its address.",
        example: "local a = gcp.client{ project = 'p' }:service_account('ci')\nassert(a:create{ display_name = 'CI', show_only = true }.command == \"gcloud iam service-accounts create ci --display-name CI --format=json --project p\")\nassert(a:add_iam_binding{ member = 'user:me', role = 'roles/x', show_only = true }.argv[4] == 'add-iam-policy-binding')",
    },
];

const VERBS: &[Verb] = &[
    Verb::new(
        "exec",
        "(args[, { project }]) -> result, error",
        "{args...} [--project {project}]",
        "Runs gcloud with a list of words.",
        "assert(gcp.exec({ 'config', 'list' }, { show_only = true }).command == 'gcloud config list')",
    )
    .gives(Gives::Document),
    Verb::new(
        "client:exec",
        "(args) -> result, error",
        "{args...} [--project {project}]",
        "Runs gcloud with a list of words for its project.",
        "assert(gcp.client{ project = 'p' }:exec({ 'services', 'list' }, { show_only = true }).command == 'gcloud services list --project p')",
    )
    .gives(Gives::Document),
    Verb::new(
        "instances:list",
        "([{ filter }]) -> result, error",
        "compute instances list --format=json [--project {project}] [--zones {zone}] [--filter {filter}]",
        "Machines.",
        "assert(gcp.client{ project = 'p' }:compute():instances():list{ filter = 'name:web', show_only = true }.command == 'gcloud compute instances list --format=json --project p --filter name:web')",
    )
    .gives(Gives::Document)
    .reads(),
    Verb::new(
        "instances:describe",
        "(name) -> result, error",
        "compute instances describe {name} --format=json [--project {project}] [--zone {zone}]",
        "A machine.",
        "assert(gcp.client{ project = 'p' }:compute{ zone = 'z' }:instances():describe('web', { show_only = true }).command == 'gcloud compute instances describe web --format=json --project p --zone z')",
    )
    .gives(Gives::Document)
    .reads(),
    Verb::new(
        "instances:start",
        "(name) -> result, error",
        "compute instances start {name} [--project {project}] [--zone {zone}]",
        "Starts a machine.",
        "assert(gcp.client{ project = 'p' }:compute{ zone = 'z' }:instances():start('web', { show_only = true }).command == 'gcloud compute instances start web --project p --zone z')",
    ),
    Verb::new(
        "instances:stop",
        "(name) -> result, error",
        "compute instances stop {name} [--project {project}] [--zone {zone}]",
        "Stops a machine.",
        "assert(gcp.client{ project = 'p' }:compute{ zone = 'z' }:instances():stop('web', { show_only = true }).command == 'gcloud compute instances stop web --project p --zone z')",
    ),
    Verb::new(
        "instances:delete",
        "(name) -> result, error",
        "compute instances delete {name} --quiet [--project {project}] [--zone {zone}]",
        "Deletes a machine.",
        "assert(gcp.client{ project = 'p' }:compute{ zone = 'z' }:instances():delete('web', { show_only = true }).command == 'gcloud compute instances delete web --quiet --project p --zone z')",
    ),
    Verb::new(
        "buckets:list",
        "() -> result, error",
        "storage buckets list --format=json [--project {project}]",
        "Buckets.",
        "assert(gcp.client{ project = 'p' }:storage():buckets():list{ show_only = true }.command == 'gcloud storage buckets list --format=json --project p')",
    )
    .gives(Gives::Document)
    .reads(),
    Verb::new(
        "buckets:create",
        "(url[, { location }]) -> result, error",
        "storage buckets create {url} [--location {location}] [--project {project}]",
        "Makes a bucket (`gs://name`).",
        "assert(gcp.client{ project = 'p' }:storage():buckets():create('gs://b', { location = 'eu', show_only = true }).command == 'gcloud storage buckets create gs://b --location eu --project p')",
    ),
    Verb::new(
        "databases:list",
        "() -> result, error",
        "sql instances list --format=json [--project {project}]",
        "Instances of Cloud SQL.",
        "assert(gcp.client{ project = 'p' }:sql():instances():list{ show_only = true }.command == 'gcloud sql instances list --format=json --project p')",
    )
    .gives(Gives::Document)
    .reads(),
    Verb::new(
        "clusters:list",
        "() -> result, error",
        "container clusters list --format=json [--project {project}] [--zone {zone}] [--region {region}]",
        "Clusters.",
        "assert(gcp.client{ project = 'p' }:gke():clusters():list{ show_only = true }.command == 'gcloud container clusters list --format=json --project p')",
    )
    .gives(Gives::Document)
    .reads(),
    Verb::new(
        "clusters:get_credentials",
        "(name) -> result, error",
        "container clusters get-credentials {name} [--project {project}] [--zone {zone}] [--region {region}]",
        "Writes how to reach a cluster into the configuration of kubectl.",
        "assert(gcp.client{ project = 'p' }:gke{ zone = 'z' }:clusters():get_credentials('c', { show_only = true }).command == 'gcloud container clusters get-credentials c --project p --zone z')",
    ),
    Verb::new(
        "account:create",
        "([{ display_name, description }]) -> result, error",
        "iam service-accounts create {id} [--display-name {display_name}] [--description {description}] --format=json [--project {project}]",
        "Makes the account.",
        "assert(gcp.client{ project = 'p' }:service_account('ci'):create{ show_only = true }.command == 'gcloud iam service-accounts create ci --format=json --project p')",
    )
    .gives(Gives::Document),
    Verb::new(
        "account:add_iam_binding",
        "{ member, role } -> result, error",
        "iam service-accounts add-iam-policy-binding {email} --member {member} --role {role} --format=json [--project {project}]",
        "Gives somebody a role on the account.",
        "local r = gcp.client{ project = 'p' }:service_account('ci'):add_iam_binding{ member = 'user:me', role = 'roles/x', show_only = true }\nassert(r.argv[5] == 'ci@p.iam.gserviceaccount.com')",
    )
    .gives(Gives::Document),
    Verb::new(
        "account:delete",
        "() -> result, error",
        "iam service-accounts delete {email} --quiet [--project {project}]",
        "Deletes the account.",
        "assert(gcp.client{ project = 'p' }:service_account('ci'):delete{ show_only = true }.command == 'gcloud iam service-accounts delete ci@p.iam.gserviceaccount.com --quiet --project p')",
    ),
];

/// Where methods of a client lead: `client:compute():instances()` is an object of the class `instances`.
const WAYS: [(&str, &str, &str); 4] = [
    ("compute", "instances", "instances"),
    ("storage", "buckets", "buckets"),
    ("sql", "instances", "databases"),
    ("gke", "clusters", "clusters"),
];

const KEPT: [&str; 3] = ["project", "zone", "region"];

fn install(module: &mut Installer<'_>) -> Result<()> {
    let classes = install_verbs(module, &GCLOUD, VERBS)?;
    let client = classes["client"].clone();
    for (service, collection, class) in WAYS {
        lead(module.lua, &client, &classes, (service, collection, class))?;
    }
    let account = classes["account"].clone();
    client.pure(module.lua, "service_account", move |lua, object, mut args| {
        let Some(Value::String(id)) = args.pop_front() else {
            return Err(mlua::Error::runtime("gcp client:service_account is given a name"));
        };
        let id = crate::value::text(&id);
        let inner = kept(lua, &object, args)?;
        let project: Option<String> = inner.raw_get("project")?;
        let email = match (id.contains('@'), project) {
            (false, Some(project)) => format!("{id}@{project}.iam.gserviceaccount.com"),
            _ => id.clone(),
        };
        inner.raw_set("id", id.split('@').next().unwrap_or(&id))?;
        inner.raw_set("email", email)?;
        one(lua, account.object(inner)?)
    })?;
    module.pure("client", move |lua, args: MultiValue| {
        client.object(kept(lua, &lua.create_table()?, args)?)
    })
}

fn lead(
    lua: &Lua,
    client: &Class,
    classes: &Classes,
    (service, collection, class): (&'static str, &'static str, &'static str),
) -> Result<()> {
    let middle = Class::new(lua, "gcp", service)?;
    let end = classes[class].clone();
    middle.pure(lua, collection, move |lua, object, args| {
        one(lua, end.object(kept(lua, &object, args)?)?)
    })?;
    client.pure(lua, service, move |lua, object, args| {
        one(lua, middle.object(kept(lua, &object, args)?)?)
    })
}

/// Project, zone and region: those of the object before, and those that are given.
fn kept(lua: &Lua, before: &Table, mut args: MultiValue) -> Result<Table> {
    let given = args.pop_front();
    let table = lua.create_table()?;
    for name in KEPT {
        let said: Option<String> = match &given {
            Some(Value::Table(given)) => given.get(name)?,
            _ => None,
        };
        let value = match said {
            Some(said) => Some(said),
            None => before.raw_get(name)?,
        };
        table.raw_set(name, value)?;
    }
    Ok(table)
}
