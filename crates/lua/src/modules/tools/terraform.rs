//! `terraform`: infrastructure as files.
//!
//! `terraform.init(workdir)` gives a client that has every function of the module as a method, in that directory; the
//! functions themselves take `workdir`. Results have `success` and `output` or `error`.

use std::path::Path;

use mlua::{MultiValue, Result, Value};
use serde_json::Value as Json;

use super::super::{Described, Installer, Module, acting};
use super::arguments::Arguments;
use super::class::Class;
use super::tool::{Call, Program, one, result, settled, two, would};
use super::verb::{Gives, Verb, describe, install as install_verbs, methods};
use crate::value::to_json;

static TERRAFORM: Program = Program {
    name: "terraform",
    hint: "see https://developer.hashicorp.com/terraform/install, or name another program (as `tofu`) in HOSTLER_TERRAFORM",
    variable: Some("HOSTLER_TERRAFORM"),
};

pub(crate) const MODULE: Module = Module {
    name: "terraform",
    about: "Infrastructure that files describe, with the `terraform` of the machine. The client that `terraform.init` gives has every function here as a method that acts in its directory.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; OWN.len() + VERBS.len()] = describe(OWN, VERBS);

const OWN: &[Described] = &[
    Described {
        name: "init",
        signature: "(workdir) or { workdir, upgrade, reconfigure, backend, backend_config } -> client | { success = false, error }",
        about: "Prepares a directory, and gives a client for it.",
        example: "local client = terraform.init('nowhere')\nassert(client.success == false and client.error)",
    },
    Described {
        name: "create_tfvars",
        signature: "(file, values[, { workdir }]) -> { filename, full_path, content, changed, success }",
        about: "Writes values into a file of variables that only its owner can read. One that says the same stays as it is.",
        example: "local f = terraform.create_tfvars('a.tfvars', { name = 'web', count = 2, tags = { 'a', 'b' } })\nassert(f.content == 'count = 2\\nname = \"web\"\\ntags = [\"a\",\"b\"]\\n' and f.changed)\nassert(not terraform.create_tfvars('a.tfvars', { name = 'web', count = 2, tags = { 'a', 'b' } }).changed)",
    },
    Described {
        name: "output",
        signature: "{ workdir, name } -> text or table | nil, error",
        about: "An output as text, or all of them as a table. `client:output{ name, json }` gives a result.",
        example: "local r, err = terraform.output{ name = 'x', workdir = 'nowhere' }\nassert(r == nil and err)",
    },
];

const VERBS: &[Verb] = &[
    Verb::new(
        "plan",
        "([{ workdir, out, destroy, refresh, refresh_only, var_file, vars, target, detailed_exitcode }]) -> result, error",
        "plan -input=false -no-color [-out={out}] [destroy? -destroy] [refresh~ -refresh=false] [refresh_only? -refresh-only] [-var-file={var_file*}] [-var {vars=}] [-target={target*}] [detailed_exitcode? -detailed-exitcode]",
        "Says what would change. With `out` the plan is kept for `apply`.",
        "local r = terraform.plan{ vars = { region = 'x' }, out = 'p', show_only = true }\nassert(r.command == 'terraform plan -input=false -no-color -out=p -var region=x')",
    )
    .reads(),
    Verb::new(
        "apply",
        "([{ workdir, plan, auto_approve, var_file, vars, target, replace, parallelism }]) -> result, error",
        "apply -input=false -no-color [auto_approve? -auto-approve] [-var-file={var_file*}] [-var {vars=}] [-target={target*}] [-replace={replace*}] [-parallelism={parallelism}] [{plan}]",
        "Makes it so. It needs a kept plan, or `auto_approve`.",
        "local r = terraform.apply{ auto_approve = true, var_file = 'a.tfvars', show_only = true }\nassert(r.command == 'terraform apply -input=false -no-color -auto-approve -var-file=a.tfvars')",
    ),
    Verb::new(
        "destroy",
        "([{ workdir, auto_approve, var_file, vars, target }]) -> result, error",
        "destroy -input=false -no-color [auto_approve? -auto-approve] [-var-file={var_file*}] [-var {vars=}] [-target={target*}]",
        "Destroys everything that the files describe.",
        "local r = terraform.destroy{ auto_approve = true, show_only = true }\nassert(r.command == 'terraform destroy -input=false -no-color -auto-approve')",
    ),
    Verb::new(
        "refresh",
        "([{ workdir, var_file, vars }]) -> result, error",
        "refresh -input=false -no-color [-var-file={var_file*}] [-var {vars=}]",
        "Brings the state to what is there.",
        "assert(terraform.refresh{ show_only = true }.command == 'terraform refresh -input=false -no-color')",
    ),
    Verb::new(
        "validate",
        "([{ workdir }]) -> result, error",
        "validate -json",
        "Looks for mistakes; `data` has the diagnostics.",
        "assert(terraform.validate{ show_only = true }.command == 'terraform validate -json')",
    )
    .gives(Gives::Document)
    .reads(),
    Verb::new(
        "fmt",
        "([{ workdir, check, diff, recursive }]) -> result, error",
        "fmt -no-color [check? -check] [diff? -diff] [recursive? -recursive]",
        "Lays files out; with `check` it only says which are not.",
        "assert(terraform.fmt{ check = true, show_only = true }.command == 'terraform fmt -no-color -check')",
    ),
    Verb::new(
        "show",
        "([{ workdir, plan }]) -> result, error",
        "show -json [{plan}]",
        "The state, or a kept plan; `data` has it as a table.",
        "assert(terraform.show{ plan = 'p', show_only = true }.command == 'terraform show -json p')",
    )
    .gives(Gives::Document)
    .reads(),
    Verb::new(
        "get",
        "([{ workdir, update }]) -> result, error",
        "get -no-color [update? -update]",
        "Gets modules.",
        "assert(terraform.get{ update = true, show_only = true }.command == 'terraform get -no-color -update')",
    ),
    Verb::new(
        "providers",
        "([{ workdir }]) -> result, error",
        "providers",
        "Providers that are needed.",
        "assert(terraform.providers{ show_only = true }.command == 'terraform providers')",
    )
    .reads(),
    Verb::new(
        "graph",
        "([{ workdir, type, plan }]) -> result, error",
        "graph [-type={type}] [-plan={plan}]",
        "What depends on what, in the language of Graphviz.",
        "assert(terraform.graph{ show_only = true }.command == 'terraform graph')",
    )
    .reads(),
    Verb::new(
        "import",
        "(address, id[, { workdir, var_file, vars }]) -> result, error",
        "import -input=false -no-color [-var-file={var_file*}] [-var {vars=}] {address} {id}",
        "Takes something that is there into the state.",
        "assert(terraform.import('a.b', 'i-1', { show_only = true }).command == 'terraform import -input=false -no-color a.b i-1')",
    ),
    Verb::new(
        "taint",
        "(address[, { workdir, allow_missing }]) -> result, error",
        "taint [allow_missing? -allow-missing] {address}",
        "Has something made anew by the next apply.",
        "assert(terraform.taint('a.b', { show_only = true }).command == 'terraform taint a.b')",
    ),
    Verb::new(
        "untaint",
        "(address[, { workdir, allow_missing }]) -> result, error",
        "untaint [allow_missing? -allow-missing] {address}",
        "Takes that back.",
        "assert(terraform.untaint('a.b', { show_only = true }).command == 'terraform untaint a.b')",
    ),
    Verb::new(
        "force_unlock",
        "(lock_id[, { workdir }]) -> result, error",
        "force-unlock -force {lock_id}",
        "Releases a lock that was left behind.",
        "assert(terraform.force_unlock('l1', { show_only = true }).command == 'terraform force-unlock -force l1')",
    ),
    Verb::new(
        "version",
        "() -> result, error",
        "version -json",
        "The version; `data.terraform_version`.",
        "assert(terraform.version{ show_only = true }.command == 'terraform version -json')",
    )
    .gives(Gives::Document)
    .reads(),
    Verb::new(
        "state_list",
        "([{ workdir, id }]) -> list | nil, error",
        "state list [-id={id}]",
        "Addresses of everything in the state.",
        "assert(terraform.state_list{ show_only = true }.command == 'terraform state list')",
    )
    .gives(Gives::Lines)
    .reads(),
    Verb::new(
        "state_show",
        "(address[, { workdir }]) -> result, error",
        "state show -no-color {address}",
        "One thing in the state.",
        "assert(terraform.state_show('a.b', { show_only = true }).command == 'terraform state show -no-color a.b')",
    )
    .reads(),
    Verb::new(
        "state_mv",
        "(from, to[, { workdir }]) -> result, error",
        "state mv {from} {to}",
        "Gives something in the state another address.",
        "assert(terraform.state_mv('a.b', 'a.c', { show_only = true }).command == 'terraform state mv a.b a.c')",
    ),
    Verb::new(
        "state_rm",
        "(address[, { workdir }]) -> result, error",
        "state rm {address...}",
        "Forgets something, which stays where it is.",
        "assert(terraform.state_rm('a.b', { show_only = true }).command == 'terraform state rm a.b')",
    ),
    Verb::new(
        "state_pull",
        "([{ workdir }]) -> result, error",
        "state pull",
        "The state as JSON, in `data`.",
        "assert(terraform.state_pull{ show_only = true }.command == 'terraform state pull')",
    )
    .gives(Gives::Document)
    .reads(),
    Verb::new(
        "state_push",
        "(file[, { workdir, force }]) -> result, error",
        "state push [force? -force] {file}",
        "Replaces the state by that in a file.",
        "assert(terraform.state_push('s.json', { show_only = true }).command == 'terraform state push s.json')",
    ),
    Verb::new(
        "workspace_list",
        "([{ workdir }]) -> list | nil, error",
        "workspace list",
        "Workspaces; the current one has a star before it.",
        "assert(terraform.workspace_list{ show_only = true }.command == 'terraform workspace list')",
    )
    .gives(Gives::Lines)
    .reads(),
    Verb::new(
        "workspace_show",
        "([{ workdir }]) -> text | nil, error",
        "workspace show",
        "The current workspace.",
        "assert(terraform.workspace_show{ show_only = true }.command == 'terraform workspace show')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "workspace_new",
        "(name[, { workdir }]) -> result, error",
        "workspace new -no-color {name}",
        "Makes a workspace and goes to it.",
        "assert(terraform.workspace_new('dev', { show_only = true }).command == 'terraform workspace new -no-color dev')",
    ),
    Verb::new(
        "workspace_select",
        "(name[, { workdir, create }]) -> result, error",
        "workspace select -no-color [create? -or-create=true] {name}",
        "Goes to a workspace; with `create` it is made where it is not there.",
        "assert(terraform.workspace_select('dev', { show_only = true }).command == 'terraform workspace select -no-color dev')",
    ),
    Verb::new(
        "workspace_delete",
        "(name[, { workdir, force }]) -> result, error",
        "workspace delete -no-color [force? -force] {name}",
        "Deletes a workspace.",
        "assert(terraform.workspace_delete('dev', { show_only = true }).command == 'terraform workspace delete -no-color dev')",
    ),
    Verb::new(
        "exec",
        "(args[, { workdir }]) -> result, error",
        "{args...}",
        "Runs terraform with a list of words.",
        "assert(terraform.exec({ 'console' }, { show_only = true }).command == 'terraform console')",
    ),
];

const CLIENT: &[Verb] = &[Verb::new(
    "output",
    "([{ name, json }]) -> result, error",
    "output -no-color [json? -json] [{name}]",
    "Outputs.",
    "",
)
.gives(Gives::Document)
.reads()];

fn install(module: &mut Installer<'_>) -> Result<()> {
    install_verbs(module, &TERRAFORM, VERBS)?;
    let client = Class::new(module.lua, "terraform", "client")?;
    methods(module.lua, &client, &TERRAFORM, VERBS)?;
    methods(module.lua, &client, &TERRAFORM, CLIENT)?;
    client.act(module.lua, "create_tfvars", |lua, object, args| async move {
        let workdir: String = object.raw_get("workdir")?;
        create_tfvars(lua, args, Some(workdir)).await
    })?;
    module.act_async("create_tfvars", |lua, args: MultiValue| create_tfvars(lua, args, None))?;
    module.act_async("output", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "terraform.output", args, &["name"])?;
        let name = args.text("name")?;
        let mut call = Call::new(&TERRAFORM, ["output", "-no-color"]);
        match &name {
            Some(name) => call.words.extend(["-raw".to_owned(), "--".to_owned(), name.clone()]),
            None => call.words.push("-json".to_owned()),
        }
        if let Some(workdir) = args.text("workdir")? {
            call.workdir = acting().path(&workdir);
        }
        match (call.text().await, name) {
            (Err(why), _) => two(&lua, Value::Nil, why),
            (Ok(text), Some(_)) => one(&lua, text),
            (Ok(text), None) => match serde_json::from_str::<Json>(&text) {
                Ok(json) => one(&lua, crate::value::from_json(&lua, &values_of(json))?),
                Err(error) => two(&lua, Value::Nil, format!("its outputs are no JSON: {error}")),
            },
        }
    })?;
    module.act_async("init", move |lua, args: MultiValue| init(lua, client.clone(), args))
}

/// `{ name: { value, type, sensitive } }` as `{ name: value }`.
fn values_of(outputs: Json) -> Json {
    let Json::Object(entries) = outputs else { return outputs };
    let values = entries.into_iter().map(|(name, mut output)| {
        let value = output.get_mut("value").map_or(Json::Null, Json::take);
        (name, value)
    });
    Json::Object(values.collect())
}

async fn init(lua: mlua::Lua, class: Class, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "terraform.init", args, &["workdir"])?;
    let workdir = acting().path(&args.text("workdir")?.unwrap_or_else(|| ".".to_owned()));
    let mut call = Call::new(&TERRAFORM, ["init", "-input=false", "-no-color"]).at(&workdir);
    for (name, flag) in [("upgrade", "-upgrade"), ("reconfigure", "-reconfigure")] {
        if args.flag(name)? {
            call.words.push(flag.to_owned());
        }
    }
    if matches!(args.value("backend")?, Value::Boolean(false)) {
        call.words.push("-backend=false".to_owned());
    }
    if let Json::Object(entries) = to_json(&args.value("backend_config")?)? {
        for (name, value) in entries {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            call.words.push(format!("-backend-config={name}={value}"));
        }
    }
    let table = if acting().check {
        let table = would(&lua, &call)?;
        acting().say(&table.raw_get::<String>("message")?);
        table
    } else {
        match call.run().await {
            Ok(ended) => result(&lua, &TERRAFORM, &ended)?,
            Err(why) => {
                let table = lua.create_table()?;
                table.raw_set("success", false)?;
                table.raw_set("error", why.as_str())?;
                return two(&lua, table, why);
            }
        }
    };
    let error: Option<String> = table.raw_get("error")?;
    if error.is_none() {
        table.raw_set("workdir", workdir.to_string_lossy().into_owned())?;
        // What it printed would hide the method.
        table.raw_remove("output")?;
        class.object(table.clone())?;
    }
    two(&lua, table, error)
}

async fn create_tfvars(
    lua: mlua::Lua,
    args: MultiValue,
    workdir: Option<String>,
) -> Result<MultiValue> {
    let mut values = args.into_iter();
    let (file, given) = (values.next(), values.next());
    let options = Arguments::read(&lua, "create_tfvars", values.collect(), &[])?;
    let (Some(Value::String(file)), Some(given @ Value::Table(_))) = (file, given) else {
        return Err(options.mistake("it is called with a file name and a table of values"));
    };
    let file = crate::value::text(&file);
    let folder = match options.text("workdir")?.or(workdir) {
        Some(workdir) => acting().path(&workdir),
        None => acting().workdir.clone(),
    };
    let path = folder.join(&file);
    let content = tfvars(&to_json(&given)?);
    let changed = tokio::fs::read_to_string(&path).await.ok().as_ref() != Some(&content);
    if changed
        && !acting().check
        && let Err(error) = write_private(&path, &content).await
    {
        return two(&lua, Value::Nil, format!("{} could not be written: {error}", path.display()));
    }
    let table = settled(&lua, changed, &format!("{} is written", path.display()))?;
    table.raw_set("filename", file)?;
    table.raw_set("full_path", path.to_string_lossy().into_owned())?;
    table.raw_set("content", content)?;
    one(&lua, table)
}

async fn write_private(path: &Path, content: &str) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    tokio::fs::write(path, content).await?;
    tokio::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).await
}

/// Values in the language of Terraform, whose lists and objects can be written as JSON is; only `${` and `%{` mean
/// something in its texts.
fn tfvars(values: &Json) -> String {
    let Json::Object(entries) = values else { return String::new() };
    let lines = entries.iter().map(|(name, value)| {
        let value = value.to_string().replace("${", "$${").replace("%{", "%%{");
        format!("{name} = {value}\n")
    });
    lines.collect()
}
