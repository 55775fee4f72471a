//! `aws`: Amazon Web Services.

use mlua::{Result, Table};

use super::super::{Described, Installer, Module};
use super::tool::{Program, one};
use super::verb::{Gives, Verb, describe, install as install_verbs};

static AWS: Program = Program::new(
    "aws",
    "see https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html",
);

pub(crate) const MODULE: Module = Module {
    name: "aws",
    about: "Amazon Web Services, with the `aws` of the machine and its credentials. `aws.client{ profile, region }` keeps both for what is called on it.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; OWN.len() + VERBS.len()] = describe(OWN, VERBS);

const OWN: &[Described] = &[
    Described {
        name: "client",
        signature: "([{ profile, region }]) -> client",
        about: "A client for a profile and a region.",
        example: "local r = aws.client{ profile = 'p' }:s3():sync{ from = 'a', to = 's3://b', delete = true, show_only = true }\nassert(r.command == 'aws s3 sync a s3://b --delete --profile p')",
    },
    Described {
        name: "client:s3",
        signature: "() -> s3",
        about: "Its buckets.",
        example: "assert(aws.client{ profile = 'p' }:s3():ls('s3://b', { show_only = true }).command == 'aws s3 ls s3://b --profile p')",
    },
];

const VERBS: &[Verb] = &[
    Verb::new(
        "exec",
        "(args[, { profile, region }]) -> result, error",
        "[--profile {profile}] [--region {region}] {args...}",
        "Runs aws with a list of words. Where it answers with JSON, `data` has it as a table.",
        "local r = aws.exec({ 'sts', 'get-caller-identity' }, { profile = 'p', show_only = true })\nassert(r.command == 'aws --profile p sts get-caller-identity')",
    )
    .gives(Gives::Document),
    Verb::new(
        "identity",
        "([{ profile, region }]) -> table | nil, error",
        "sts get-caller-identity --output json [--profile {profile}] [--region {region}]",
        "Who one is: `Account`, `Arn`, `UserId`.",
        "assert(aws.identity{ show_only = true }.command == 'aws sts get-caller-identity --output json')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "s3.sync",
        "{ source, destination, delete, exclude, include, acl, profile, region } -> boolean, output",
        "s3 sync {source/from~} {destination/to~} [--delete] [--exclude {exclude*}] [--include {include*}] [--acl {acl}] [--profile {profile}] [--region {region}]",
        "Makes a directory or a bucket like another.",
        "local r = aws.s3.sync{ source = 'a', destination = 's3://b', show_only = true }\nassert(r.command == 'aws s3 sync a s3://b')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "s3.cp",
        "{ source, destination, recursive, acl, profile, region } -> boolean, output",
        "s3 cp {source/from~} {destination/to~} [--recursive] [--acl {acl}] [--profile {profile}] [--region {region}]",
        "Copies to, from or between buckets.",
        "local r = aws.s3.cp('a', 's3://b/a', { show_only = true })\nassert(r.command == 'aws s3 cp a s3://b/a')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "s3.rm",
        "{ path, recursive, profile, region } -> boolean, output",
        "s3 rm {path} [--recursive] [--profile {profile}] [--region {region}]",
        "Removes from a bucket.",
        "assert(aws.s3.rm('s3://b/a', { show_only = true }).command == 'aws s3 rm s3://b/a')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "s3.ls",
        "([path][, { recursive, profile, region }]) -> lines | nil, error",
        "s3 ls [{path}] [--recursive] [--profile {profile}] [--region {region}]",
        "Buckets, or what is in one.",
        "assert(aws.s3.ls('s3://b', { show_only = true }).command == 'aws s3 ls s3://b')",
    )
    .gives(Gives::Lines)
    .reads()
    .takes(&["path"]),
    Verb::new(
        "secretsmanager.get_secret",
        "{ secret_id, version_stage, profile, region } -> text | nil, error",
        "secretsmanager get-secret-value --secret-id {secret_id} --query SecretString --output text [--version-stage {version_stage}] [--profile {profile}] [--region {region}]",
        "A secret.",
        "local r = aws.secretsmanager.get_secret{ secret_id = 's', show_only = true }\nassert(r.command == 'aws secretsmanager get-secret-value --secret-id s --query SecretString --output text')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "client:exec",
        "(args) -> result, error",
        "[--profile {profile}] [--region {region}] {args...}",
        "Runs aws with a list of words.",
        "assert(aws.client{ region = 'eu-west-1' }:exec({ 'ec2', 'describe-vpcs' }, { show_only = true }).command == 'aws --region eu-west-1 ec2 describe-vpcs')",
    )
    .gives(Gives::Document),
    Verb::new(
        "client:get_secret",
        "(id) -> text | nil, error",
        "secretsmanager get-secret-value --secret-id {secret_id} --query SecretString --output text [--profile {profile}] [--region {region}]",
        "A secret.",
        "assert(aws.client{ profile = 'p' }:get_secret('db', { show_only = true }).command == 'aws secretsmanager get-secret-value --secret-id db --query SecretString --output text --profile p')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "s3:sync",
        "{ from, to, delete, exclude, include, acl } -> result, error",
        "s3 sync {from/source~} {to/destination~} [--delete] [--exclude {exclude*}] [--include {include*}] [--acl {acl}] [--profile {profile}] [--region {region}]",
        "Makes a directory or a bucket like another.",
        "assert(aws.client():s3():sync{ from = 'site', to = 's3://b', show_only = true }.command == 'aws s3 sync site s3://b')",
    ),
    Verb::new(
        "s3:cp",
        "{ from, to, recursive, acl } -> result, error",
        "s3 cp {from/source~} {to/destination~} [--recursive] [--acl {acl}] [--profile {profile}] [--region {region}]",
        "Copies to, from or between buckets.",
        "assert(aws.client():s3():cp{ from = 'a', to = 's3://b/a', show_only = true }.command == 'aws s3 cp a s3://b/a')",
    ),
    Verb::new(
        "s3:ls",
        "([path]) -> lines | nil, error",
        "s3 ls [{path}] [--recursive] [--profile {profile}] [--region {region}]",
        "Buckets, or what is in one.",
        "assert(aws.client():s3():ls('s3://b', { show_only = true }).command == 'aws s3 ls s3://b')",
    )
    .gives(Gives::Lines)
    .reads()
    .takes(&["path"]),
];

fn install(module: &mut Installer<'_>) -> Result<()> {
    let classes = install_verbs(module, &AWS, VERBS)?;
    let (client, s3) = (classes["client"].clone(), classes["s3"].clone());
    client.pure(module.lua, "s3", move |lua, object, _| {
        let inner = lua.create_table()?;
        for name in ["profile", "region"] {
            inner.raw_set(name, object.raw_get::<Option<String>>(name)?)?;
        }
        one(lua, s3.object(inner)?)
    })?;
    module.pure("client", move |lua, given: Option<Table>| {
        let object = lua.create_table()?;
        for name in ["profile", "region"] {
            let value: Option<String> = given.as_ref().map_or(Ok(None), |given| given.get(name))?;
            object.raw_set(name, value)?;
        }
        client.object(object)
    })
}
