//! `helm`: releases of charts.

use mlua::Result;

use super::super::{Described, Installer, Module};
use super::tool::Program;
use super::verb::{Gives, Verb, describe, install as install_verbs};

static HELM: Program =
    Program::new("helm", "see https://helm.sh/docs/intro/install for how to install it");

pub(crate) const MODULE: Module = Module {
    name: "helm",
    about: "Releases of Helm charts, with the `helm` of the machine. What changes something gives `true, output` or `false, error`; what looks gives what Helm says, as a table where it can.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; VERBS.len()] = describe(&[], VERBS);

fn install(module: &mut Installer<'_>) -> Result<()> {
    install_verbs(module, &HELM, VERBS).map(drop)
}

const VERBS: &[Verb] = &[
    Verb::new(
        "install",
        "(name, chart[, { namespace, context, create_namespace, version, values, values_file, wait, timeout, dry_run, atomic }]) -> boolean, output",
        "install {name} {chart} [--namespace {namespace}] [--kube-context {context}] [--create-namespace] [--version {version}] [--values {values_file*}] [--set {values#}] [--wait] [--timeout {timeout}] [--dry-run] [--atomic]",
        "Installs a chart as a release.",
        "local r = helm.install('web', 'repo/nginx', { namespace = 'shop', create_namespace = true, values = { replicas = 2 }, show_only = true })\nassert(r.command == 'helm install web repo/nginx --namespace shop --create-namespace --set replicas=2')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "upgrade",
        "(name, chart[, { install, force, reset_values, reuse_values, namespace, context, create_namespace, version, values, values_file, wait, timeout, dry_run, atomic }]) -> boolean, output",
        "upgrade {name} {chart} [--install] [--force] [--reset-values] [--reuse-values] [--namespace {namespace}] [--kube-context {context}] [--create-namespace] [--version {version}] [--values {values_file*}] [--set {values#}] [--wait] [--timeout {timeout}] [--dry-run] [--atomic]",
        "Brings a release to a chart and values; with `install` it is made where it is not there.",
        "local r = helm.upgrade('web', 'repo/nginx', { install = true, values_file = { 'a.yaml', 'b.yaml' }, show_only = true })\nassert(r.command == 'helm upgrade web repo/nginx --install --values a.yaml --values b.yaml')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "uninstall",
        "(name[, { namespace, context, keep_history, wait }]) -> boolean, output",
        "uninstall {name} [--namespace {namespace}] [--kube-context {context}] [--keep-history] [--wait]",
        "Removes a release.",
        "assert(helm.uninstall('web', { namespace = 'shop', show_only = true }).command == 'helm uninstall web --namespace shop')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "list",
        "([{ namespace, context, all_namespaces, filter }]) -> list | nil, error",
        "list --output json [--namespace {namespace}] [--kube-context {context}] [--all-namespaces] [--filter {filter}]",
        "Releases: `name`, `namespace`, `revision`, `status`, `chart`.",
        "assert(helm.list{ all_namespaces = true, show_only = true }.command == 'helm list --output json --all-namespaces')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "status",
        "(name[, { namespace, context, revision }]) -> table | nil, error",
        "status {name} --output json [--namespace {namespace}] [--kube-context {context}] [--revision {revision}]",
        "How a release is.",
        "assert(helm.status('web', { show_only = true }).command == 'helm status web --output json')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "get",
        "(what, release[, { namespace, context, revision }]) -> output | nil, error",
        "get {what} {release} [--namespace {namespace}] [--kube-context {context}] [--revision {revision}]",
        "A part of a release: `all`, `values`, `manifest`, `notes`, `hooks`.",
        "assert(helm.get('values', 'web', { show_only = true }).command == 'helm get values web')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "rollback",
        "(release[, revision][, { namespace, context, wait, timeout, force }]) -> boolean, output",
        "rollback {release} [{revision}] [--namespace {namespace}] [--kube-context {context}] [--wait] [--timeout {timeout}] [--force]",
        "Brings a release back to a revision, the one before where none is named.",
        "assert(helm.rollback('web', 3, { wait = true, show_only = true }).command == 'helm rollback web 3 --wait')",
    )
    .gives(Gives::Flag)
    .takes(&["release", "revision"]),
    Verb::new(
        "history",
        "(release[, { namespace, context, max }]) -> list | nil, error",
        "history {release} --output json [--namespace {namespace}] [--kube-context {context}] [--max {max}]",
        "Revisions of a release.",
        "assert(helm.history('web', { max = 5, show_only = true }).command == 'helm history web --output json --max 5')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "test",
        "(release[, { namespace, context, timeout, logs }]) -> boolean, output",
        "test {release} [--namespace {namespace}] [--kube-context {context}] [--timeout {timeout}] [--logs]",
        "Runs the tests of a release.",
        "assert(helm.test('web', { show_only = true }).command == 'helm test web')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "lint",
        "(chart[, { values_file, strict }]) -> boolean, output",
        "lint {chart~} [--values {values_file*}] [--strict]",
        "Looks for mistakes in a chart.",
        "assert(helm.lint('./chart', { strict = true, show_only = true }).command == 'helm lint ./chart --strict')",
    )
    .gives(Gives::Flag)
    .reads(),
    Verb::new(
        "template",
        "(name, chart[, { namespace, version, values, values_file }]) -> output | nil, error",
        "template {name} {chart} [--namespace {namespace}] [--version {version}] [--values {values_file*}] [--set {values#}]",
        "What a chart would make, as text.",
        "assert(helm.template('web', './chart', { show_only = true }).command == 'helm template web ./chart')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "dependency",
        "(action, chart) -> boolean, output",
        "dependency {action} {chart~}",
        "What a chart depends on: `update`, `build`, `list`.",
        "assert(helm.dependency('update', './chart', { show_only = true }).command == 'helm dependency update ./chart')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "package",
        "(chart[, { destination, version, app_version }]) -> boolean, output",
        "package {chart~} [--destination {destination~}] [--version {version}] [--app-version {app_version}]",
        "Packs a chart into an archive.",
        "assert(helm.package('./chart', { version = '1.2.3', show_only = true }).command == 'helm package ./chart --version 1.2.3')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "repo_add",
        "(name, url[, { username, stdin, force_update }]) -> boolean, output",
        "repo add {name} {url} [--username {username}] [stdin? --password-stdin] [--force-update]",
        "Adds a repository of charts; a password is given as `stdin`.",
        "assert(helm.repo_add('b', 'https://charts.example', { show_only = true }).command == 'helm repo add b https://charts.example')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "repo_update",
        "() -> boolean, output",
        "repo update",
        "Gets what repositories have.",
        "assert(helm.repo_update{ show_only = true }.command == 'helm repo update')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "repo_list",
        "() -> list | nil, error",
        "repo list --output json",
        "Repositories: `name`, `url`.",
        "assert(helm.repo_list{ show_only = true }.command == 'helm repo list --output json')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "repo_remove",
        "(name) -> boolean, output",
        "repo remove {name}",
        "Forgets a repository.",
        "assert(helm.repo_remove('b', { show_only = true }).command == 'helm repo remove b')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "search_repo",
        "([keyword][, { version, versions }]) -> list | nil, error",
        "search repo [{keyword}] --output json [--version {version}] [--versions]",
        "Charts in the repositories.",
        "assert(helm.search_repo('nginx', { show_only = true }).command == 'helm search repo nginx --output json')",
    )
    .gives(Gives::Json)
    .reads()
    .takes(&["keyword"]),
    Verb::new(
        "search_hub",
        "([keyword]) -> list | nil, error",
        "search hub [{keyword}] --output json",
        "Charts in the public hub.",
        "assert(helm.search_hub('nginx', { show_only = true }).command == 'helm search hub nginx --output json')",
    )
    .gives(Gives::Json)
    .reads()
    .takes(&["keyword"]),
    Verb::new(
        "create",
        "(name) -> boolean, output",
        "create {name~}",
        "Makes the skeleton of a chart.",
        "assert(helm.create('shop', { show_only = true }).command == 'helm create shop')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "plugin_install",
        "(url[, { version }]) -> boolean, output",
        "plugin install {url} [--version {version}]",
        "Installs a plugin.",
        "assert(helm.plugin_install('https://x.example/p', { show_only = true }).command == 'helm plugin install https://x.example/p')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "plugin_list",
        "() -> output | nil, error",
        "plugin list",
        "Plugins.",
        "assert(helm.plugin_list{ show_only = true }.command == 'helm plugin list')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "plugin_uninstall",
        "(name) -> boolean, output",
        "plugin uninstall {name}",
        "Removes a plugin.",
        "assert(helm.plugin_uninstall('diff', { show_only = true }).command == 'helm plugin uninstall diff')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "version",
        "() -> output | nil, error",
        "version --short",
        "The version of Helm.",
        "assert(helm.version{ show_only = true }.command == 'helm version --short')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "exec",
        "(args[, options]) -> result, error",
        "{args...}",
        "Runs helm with a list of words.",
        "assert(helm.exec({ 'env' }, { show_only = true }).command == 'helm env')",
    ),
];
