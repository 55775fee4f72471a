//! `kubernetes` (also `kubectl` and `k8s`): objects of a cluster.

use mlua::Result;

use super::super::{Described, Installer, Module};
use super::tool::Program;
use super::verb::{Gives, Verb, describe, install as install_verbs};

static KUBECTL: Program =
    Program::new("kubectl", "see https://kubernetes.io/docs/tasks/tools for how to install it");

const ABOUT: &str = "Objects of a Kubernetes cluster, with the `kubectl` of the machine and the cluster that its configuration names. What changes something gives `true, output` or `false, error`; what looks gives its output, or nothing and an error.";

pub(crate) const MODULE: Module =
    Module { name: "kubernetes", about: ABOUT, functions: &FUNCTIONS, install };
pub(crate) const KUBECTL_MODULE: Module =
    Module { name: "kubectl", about: "The same as `kubernetes`.", functions: &FUNCTIONS, install };
pub(crate) const K8S_MODULE: Module =
    Module { name: "k8s", about: "The same as `kubernetes`.", functions: &FUNCTIONS, install };

const FUNCTIONS: [Described; VERBS.len()] = describe(&[], VERBS);

fn install(module: &mut Installer<'_>) -> Result<()> {
    install_verbs(module, &KUBECTL, VERBS).map(drop)
}

const VERBS: &[Verb] = &[
    Verb::new(
        "exec_args",
        "(args[, options]) -> result, error",
        "{args...}",
        "Runs kubectl with a list of words.",
        "local r = kubernetes.exec_args({ 'version', '--client' }, { show_only = true })\nassert(r.command == 'kubectl version --client')",
    ),
    Verb::new(
        "apply",
        "(file[, { namespace, context, dry_run, server_side, prune, selector, recursive }]) -> boolean, output",
        "apply -f {file~} [--namespace {namespace}] [--context {context}] [--dry-run={dry_run|client}] [--server-side] [--prune] [--selector {selector}] [--recursive]",
        "Makes what a file describes so. `-` takes the description from `stdin`.",
        "local r = kubernetes.apply('app.yaml', { namespace = 'shop', dry_run = true, show_only = true })\nassert(r.command == 'kubectl apply -f app.yaml --namespace shop --dry-run=client')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "delete",
        "(kind, name[, { namespace, context, force, grace_period, ignore_not_found, wait }]) -> boolean, output",
        "delete {kind} {name} [--namespace {namespace}] [--context {context}] [--force] [--grace-period={grace_period}] [--ignore-not-found] [wait~ --wait=false]",
        "Deletes an object.",
        "local r = kubernetes.delete('pod', 'web-1', { force = true, grace_period = 0, show_only = true })\nassert(r.command == 'kubectl delete pod web-1 --force --grace-period=0')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "get",
        "(kind[, { name, namespace, context, output, selector, field_selector, all_namespaces }]) -> output | nil, error",
        "get {kind} [{name}] [--namespace {namespace}] [--context {context}] [--output {output}] [--selector {selector}] [--field-selector {field_selector}] [--all-namespaces]",
        "Objects of a kind, as text; `output` is how (`json`, `yaml`, `wide`, `name`).",
        "local r = kubernetes.get('pods', { namespace = 'shop', output = 'name', show_only = true })\nassert(r.command == 'kubectl get pods --namespace shop --output name')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "get_json",
        "(kind[, { name, namespace, context, selector, field_selector, all_namespaces }]) -> table | nil, error",
        "get {kind} [{name}] --output json [--namespace {namespace}] [--context {context}] [--selector {selector}] [--field-selector {field_selector}] [--all-namespaces]",
        "One object as a table, or several as a table with `items`.",
        "local r = kubernetes.get_json('service', { name = 'web', show_only = true })\nassert(r.command == 'kubectl get service web --output json')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "describe",
        "(kind, name[, { namespace, context }]) -> output | nil, error",
        "describe {kind} {name} [--namespace {namespace}] [--context {context}]",
        "An object with its events.",
        "assert(kubernetes.describe('pod', 'web-1', { show_only = true }).command == 'kubectl describe pod web-1')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "logs",
        "(pod[, { namespace, context, container, follow, tail, since, previous }]) -> output | nil, error",
        "logs {pod} [--namespace {namespace}] [--context {context}] [--container {container}] [--follow] [--tail={tail}] [--since={since}] [--previous]",
        "What a pod printed. With `follow` it goes on until its `timeout`, or the end of the step.",
        "local r = kubernetes.logs('web-1', { tail = 20, show_only = true })\nassert(r.command == 'kubectl logs web-1 --tail=20')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "exec",
        "(pod, command[, { namespace, context, container, stdin, tty }]) -> output | nil, error",
        "exec {pod} [--namespace {namespace}] [--context {context}] [--container {container}] [stdin? --stdin] [tty? --tty] -- {command$}",
        "Runs a list of words, or a line for the shell, in a pod.",
        "local r = kubernetes.exec('web-1', { 'nginx', '-t' }, { container = 'web', show_only = true })\nassert(r.command == 'kubectl exec web-1 --container web -- nginx -t')",
    )
    .gives(Gives::Text),
    Verb::new(
        "port_forward",
        "(kind, name, ports[, { namespace, context, address }]) -> result, error",
        "port-forward [--namespace {namespace}] [--context {context}] [--address {address}] {kind}/{name} {ports...}",
        "Forwards ports (`'8080:80'`, or a list) until its `timeout` or the end of the step. Call it in a goroutine to go on meanwhile.",
        "local r = kubernetes.port_forward('service', 'web', '8080:80', { show_only = true })\nassert(r.command == 'kubectl port-forward service/web 8080:80')",
    ),
    Verb::new(
        "scale",
        "(kind, name, replicas[, { namespace, context }]) -> boolean, output",
        "scale {kind} {name} --replicas={replicas} [--namespace {namespace}] [--context {context}]",
        "Sets how many there are.",
        "assert(kubernetes.scale('deployment', 'web', 3, { show_only = true }).command == 'kubectl scale deployment web --replicas=3')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "rollout",
        "(action, kind, name[, { namespace, context, revision, to_revision, timeout }]) -> boolean, output",
        "rollout {action} {kind}/{name} [--namespace {namespace}] [--context {context}] [--revision={revision}] [--to-revision={to_revision}] [--timeout={timeout}]",
        "Looks at or steers a rollout: `status`, `restart`, `undo`, `history`, `pause`, `resume`.",
        "local r = kubernetes.rollout('status', 'deployment', 'web', { timeout = '60s', show_only = true })\nassert(r.command == 'kubectl rollout status deployment/web --timeout=60s')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "patch",
        "(kind, name, patch[, { type, namespace, context }]) -> boolean, output",
        "patch {kind} {name} [--type {type}] [--namespace {namespace}] [--context {context}] --patch {patch@}",
        "Changes a part of an object; the patch is a table, or JSON.",
        "local r = kubernetes.patch('deployment', 'web', { spec = { replicas = 2 } }, { type = 'merge', show_only = true })\nassert(r.argv[#r.argv] == '{\"spec\":{\"replicas\":2}}')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "label",
        "(kind, name, labels[, { namespace, context, overwrite }]) -> boolean, output",
        "label {kind} {name} [--namespace {namespace}] [--context {context}] [--overwrite] {labels=}",
        "Sets labels, given as a table, or as `'key=value'`.",
        "local r = kubernetes.label('node', 'n1', { disk = 'ssd' }, { overwrite = true, show_only = true })\nassert(r.command == 'kubectl label node n1 --overwrite disk=ssd')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "annotate",
        "(kind, name, annotations[, { namespace, context, overwrite }]) -> boolean, output",
        "annotate {kind} {name} [--namespace {namespace}] [--context {context}] [--overwrite] {annotations=}",
        "Sets annotations.",
        "local r = kubernetes.annotate('pod', 'web-1', { note = 'x' }, { show_only = true })\nassert(r.command == 'kubectl annotate pod web-1 note=x')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "create_namespace",
        "(name[, { context }]) -> boolean, output",
        "create namespace {name} [--context {context}]",
        "Makes a namespace.",
        "assert(kubernetes.create_namespace('shop', { show_only = true }).command == 'kubectl create namespace shop')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "delete_namespace",
        "(name[, { context, ignore_not_found }]) -> boolean, output",
        "delete namespace {name} [--context {context}] [--ignore-not-found]",
        "Deletes a namespace with everything in it.",
        "assert(kubernetes.delete_namespace('shop', { show_only = true }).command == 'kubectl delete namespace shop')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "get_nodes",
        "([{ context, selector }]) -> table | nil, error",
        "get nodes --output json [--context {context}] [--selector {selector}]",
        "Nodes; `items[i].metadata.name` and so on.",
        "assert(kubernetes.get_nodes{ show_only = true }.command == 'kubectl get nodes --output json')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "get_pods",
        "([{ namespace, context, selector, all_namespaces }]) -> table | nil, error",
        "get pods --output json [--namespace {namespace}] [--context {context}] [--selector {selector}] [--all-namespaces]",
        "Pods, in `items`.",
        "local r = kubernetes.get_pods{ selector = 'app=web', show_only = true }\nassert(r.command == 'kubectl get pods --output json --selector app=web')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "get_services",
        "([{ namespace, context, selector, all_namespaces }]) -> table | nil, error",
        "get services --output json [--namespace {namespace}] [--context {context}] [--selector {selector}] [--all-namespaces]",
        "Services, in `items`.",
        "assert(kubernetes.get_services{ all_namespaces = true, show_only = true }.command == 'kubectl get services --output json --all-namespaces')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "get_deployments",
        "([{ namespace, context, selector, all_namespaces }]) -> table | nil, error",
        "get deployments --output json [--namespace {namespace}] [--context {context}] [--selector {selector}] [--all-namespaces]",
        "Deployments, in `items`.",
        "assert(kubernetes.get_deployments{ namespace = 'shop', show_only = true }.command == 'kubectl get deployments --output json --namespace shop')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "create_secret",
        "(type, name[, { from_literal, from_file, namespace, context }]) -> boolean, output",
        "create secret {type} {name} [--from-literal={from_literal=}] [--from-file={from_file=}] [--namespace {namespace}] [--context {context}]",
        "Makes a secret; `type` is `generic`, `tls` or `docker-registry`.",
        "local r = kubernetes.create_secret('generic', 'db', { from_file = { pw = 'pw.txt' }, show_only = true })\nassert(r.command == 'kubectl create secret generic db --from-file=pw=pw.txt')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "create_configmap",
        "(name[, { from_literal, from_file, namespace, context }]) -> boolean, output",
        "create configmap {name} [--from-literal={from_literal=}] [--from-file={from_file=}] [--namespace {namespace}] [--context {context}]",
        "Makes a config map.",
        "local r = kubernetes.create_configmap('app', { from_literal = { a = 1 }, show_only = true })\nassert(r.command == 'kubectl create configmap app --from-literal=a=1')",
    )
    .gives(Gives::Flag),
    Verb::new(
        "wait_for_ready",
        "(kind, name[, { namespace, context, timeout, condition }]) -> boolean, output",
        "wait {kind}/{name} --for=condition={condition:Ready} --timeout={timeout:300s} [--namespace {namespace}] [--context {context}]",
        "Waits until an object is ready; `condition` can name another condition, as `Available` for a deployment.",
        "local r = kubernetes.wait_for_ready('pod', 'web-1', { timeout = '60s', show_only = true })\nassert(r.command == 'kubectl wait pod/web-1 --for=condition=Ready --timeout=60s')",
    )
    .gives(Gives::Flag)
    .reads(),
    Verb::new(
        "top",
        "(kind[, { namespace, context, all_namespaces }]) -> output | nil, error",
        "top {kind} [--namespace {namespace}] [--context {context}] [--all-namespaces]",
        "What nodes or pods use.",
        "assert(kubernetes.top('nodes', { show_only = true }).command == 'kubectl top nodes')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "events",
        "([{ namespace, context, all_namespaces }]) -> output | nil, error",
        "get events --sort-by=.lastTimestamp [--namespace {namespace}] [--context {context}] [--all-namespaces]",
        "Events, the newest last.",
        "assert(kubernetes.events{ namespace = 'shop', show_only = true }.command == 'kubectl get events --sort-by=.lastTimestamp --namespace shop')",
    )
    .gives(Gives::Text)
    .reads(),
];
