//! Terraform, Pulumi, Python.

use std::os::unix::fs::PermissionsExt;

use super::World;

#[test]
fn a_client_of_terraform_acts_in_its_directory() {
    let world = World::new();
    std::fs::create_dir(world.path("infra")).unwrap();
    world.program("terraform", "case \"$1\" in init) pwd;; plan) echo plan;; apply) echo no >&2; exit 1;; output) echo web;; workspace) printf '  default\\n* dev\\n';; esac");
    let said = world
        .run(
            "local client = terraform.init('infra')\n\
             assert(not client.error and client.success)\n\
             print(client.stdout)\n\
             local file = client:create_tfvars('a.tfvars', { name = 'x${y}', tags = { 'a' }, on = true })\n\
             assert(file.filename == 'a.tfvars' and file.success)\n\
             local plan = client:plan({ var_file = file.filename })\n\
             assert(plan.success and plan.output == 'plan\\n')\n\
             local apply = client:apply({ var_file = file.filename, auto_approve = true })\n\
             assert(apply.success == false and apply.error == 'terraform ended with 1: no')\n\
             assert(client:output{ name = 'n' }.output == 'web\\n')\n\
             assert(terraform.output({ workdir = 'infra', name = 'n' }) == 'web')\n\
             assert(#terraform.workspace_list{ workdir = 'infra' } == 2)\n\
             assert(terraform.plan({ workdir = 'infra', refresh = false, vars = { a = { 1 } } }).success)",
        )
        .unwrap();
    assert_eq!(said[0].trim(), world.path("infra").to_string_lossy());
    let written = std::fs::read_to_string(world.path("infra/a.tfvars")).unwrap();
    assert_eq!(written, "name = \"x$${y}\"\non = true\ntags = [\"a\"]\n");
    let mode = std::fs::metadata(world.path("infra/a.tfvars")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        world.calls(),
        [
            "terraform|init|-input=false|-no-color",
            "terraform|plan|-input=false|-no-color|-var-file=a.tfvars",
            "terraform|apply|-input=false|-no-color|-auto-approve|-var-file=a.tfvars",
            "terraform|output|-no-color|n",
            "terraform|output|-no-color|-raw|--|n",
            "terraform|workspace|list",
            "terraform|plan|-input=false|-no-color|-refresh=false|-var|a=[1]",
        ]
    );
}

#[test]
fn terraform_that_cannot_begin_says_so_in_its_answer() {
    let world = World::bare();
    world.run("local c = terraform.init('.') assert(c.success == false and c.error:find('terraform is not installed'))").unwrap();
    let world = World::new();
    world.program("terraform", "echo broken >&2; exit 1");
    world
        .run("local c = terraform.init('.') assert(c.error == 'terraform ended with 1: broken')")
        .unwrap();
}

#[test]
fn pulumi_by_a_client_answers_with_a_flag_and_a_text() {
    let world = World::new();
    world.program("pulumi", "case \"$*\" in *broken*) echo no >&2; exit 1;; config\\ get*) echo nyc3;; preview*) echo \"+ create $TOKEN\";; esac");
    world
        .run(
            "local client = pulumi.login('file://.', { login_local = true })\n\
             assert(client and not client.error and client.success)\n\
             client:set_workdir('.')\n\
             assert(client:stack('dev', { create = true }))\n\
             assert(client:set_config('region', 'nyc3'))\n\
             assert(client:get_config('region') == 'nyc3')\n\
             local ok, out = client:preview({ envs = { TOKEN = 't' } })\n\
             assert(ok == true and string.find(out, 'create t'))\n\
             assert(client:up({ auto_approve = true }))\n\
             local ok, why = client:stack('broken')\n\
             assert(ok == false and why == 'pulumi ended with 1: no')\n\
             local none, why = pulumi.login('file://broken')\n\
             assert(none == nil and why)",
        )
        .unwrap();
    assert_eq!(
        world.calls(),
        [
            "pulumi|login|--non-interactive|file://.",
            "pulumi|stack|select|--non-interactive|--create|--stack|dev",
            "pulumi|config|set|--non-interactive|--stack|dev|--|region|nyc3",
            "pulumi|config|get|--non-interactive|--stack|dev|--|region",
            "pulumi|preview|--non-interactive|--color|never|--stack|dev",
            "pulumi|up|--non-interactive|--color|never|--yes|--stack|dev",
            "pulumi|stack|select|--non-interactive|--stack|broken",
            "pulumi|login|--non-interactive|file://broken",
        ]
    );
}

#[test]
fn pulumi_by_a_stack_answers_with_results_and_takes_its_backend_along() {
    let world = World::new();
    std::fs::create_dir(world.path("infra")).unwrap();
    world.program("pulumi", "echo \"$PULUMI_BACKEND_URL $VIRTUAL_ENV ${PATH%%:*}\" >> env; case \"$*\" in *output*) echo '{\"url\":\"http://x\"}';; *destroy*) echo bad; exit 1;; esac");
    world
        .run(
            "local venv = python.venv('v')\n\
             local stack = pulumi:stack('org/app/dev', { workdir = 'infra', login = 's3://state', venv = venv })\n\
             stack:select():config_map({ ['gcp:project'] = 'p', tags = { 'a' } })\n\
             assert(stack:config('k', 'v').success)\n\
             local r = stack:up({ yes = true, skip_preview = true, config = { ['app:id'] = 7 } })\n\
             assert(r.success and r.stderr == '')\n\
             assert(stack:outputs().url == 'http://x')\n\
             local r = stack:destroy({ yes = true })\n\
             assert(not r.success and r.stdout == 'bad\\n')",
        )
        .unwrap();
    assert_eq!(
        world.calls(),
        [
            "pulumi|stack|select|--non-interactive|--stack|org/app/dev",
            "pulumi|config|set-all|--non-interactive|--stack|org/app/dev|--plaintext|gcp:project=p|--plaintext|tags=[\"a\"]",
            "pulumi|config|set|--non-interactive|--stack|org/app/dev|--|k|v",
            "pulumi|up|--yes|--non-interactive|--color|never|--skip-preview|--config|app:id=7|--stack|org/app/dev",
            "pulumi|stack|output|--json|--non-interactive|--stack|org/app/dev",
            "pulumi|destroy|--yes|--non-interactive|--color|never|--stack|org/app/dev",
        ]
    );
    let seen = std::fs::read_to_string(world.path("infra/env")).unwrap();
    let venv = world.path("v");
    let line = format!("s3://state {0} {0}/bin", venv.display());
    assert!(seen.lines().all(|seen| seen == line), "{seen}");
}

#[test]
fn a_virtual_environment_is_made_once_and_used() {
    let world = World::new();
    world.program(
        "python3",
        "for last; do :; done; mkdir -p \"$last/bin\"; touch \"$last/pyvenv.cfg\"; cp bin/inner \"$last/bin/python\"",
    );
    world.program(
        "inner",
        "case \"$*\" in *fail*) echo oops >&2; exit 4;; *) echo \"$VIRTUAL_ENV\";; esac",
    );
    let said = world
        .run(
            "local venv = python.venv('.venv')\n\
             assert(not venv:exists())\n\
             local none, why = venv:pip('install x')\n\
             assert(none == nil and why:find('make it with :create()', 1, true))\n\
             local done = venv:create():pip('install -r \"my file.txt\"')\n\
             assert(done.success and done.path == '.venv')\n\
             assert(venv:exists() and venv:create().changed == false)\n\
             print(venv:exec('app.py --port 80').stdout)\n\
             local r = venv:exec({ 'fail.py', 'a b' })\n\
             assert(r.success == false and r.stderr == 'oops\\n' and r.exit_code == 4)\n\
             assert(venv:remove().changed and not venv:exists())",
        )
        .unwrap();
    assert_eq!(said[0].trim(), world.path(".venv").to_string_lossy());
    assert_eq!(
        world.calls(),
        [
            "python3|-m|venv|~/.venv",
            "inner|-m|pip|install|-r|my file.txt",
            "inner|app.py|--port|80",
            "inner|fail.py|a b",
        ]
    );
}
