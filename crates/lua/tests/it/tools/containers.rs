//! Docker, Kubernetes, Helm.

use super::World;

#[test]
fn docker_is_called_with_what_was_said_and_nothing_else() {
    let world = World::new();
    world.program(
        "docker",
        "case \"$1\" in rm) echo 'no such container' >&2; exit 1;; *) echo done;; esac",
    );
    world
        .run(
            "local ok, r = docker.run{ image = 'nginx:1', name = 'web', detach = true, ports = { '80:80', '443:443' }, env = { A = 1, B = 'x y' }, command = { 'nginx', '-g', 'daemon off;' } }\n\
             assert(ok and r.success and r.stdout == 'done\\n' and r.exit_code == 0)\n\
             assert(docker.build{ tag = 'app:1', path = './app' }.success)\n\
             assert(docker.run{ image = 'app:1', command = 'a && b' }.success)\n\
             local r = docker.exec({ 'rm', 'web' })\n\
             assert(r.success == false and r.stderr == 'no such container\\n' and r.exit_code == 1)\n\
             assert(r.error == 'docker ended with 1: no such container')\n\
             docker.compose.up{ file = { 'a.yml', 'b.yml' }, build = true }",
        )
        .unwrap();
    assert_eq!(
        world.calls(),
        [
            "docker|run|-d|--name|web|-p|80:80|-p|443:443|-e|A=1|-e|B=x y|nginx:1|nginx|-g|daemon off;",
            "docker|build|-t|app:1|./app",
            "docker|run|app:1|sh|-c|a && b",
            "docker|rm|web",
            "docker|compose|-f|a.yml|-f|b.yml|up|-d|--build",
        ]
    );
}

#[test]
fn lists_of_docker_are_tables() {
    let world = World::new();
    world.program(
        "docker",
        "case \"$1\" in ps) printf '{\"ID\":\"1\",\"Names\":\"a\"}\\n{\"ID\":\"2\",\"Names\":\"b\"}\\n';; images) ;; *) echo '[{\"Id\":\"x\"}]';; esac",
    );
    world
        .run(
            "local all = docker.ps{ all = true, filter = { status = 'running' } }\n\
             assert(#all == 2 and all[2].Names == 'b')\n\
             assert(#docker.images() == 0)\n\
             assert(docker.inspect('a')[1].Id == 'x')",
        )
        .unwrap();
    assert_eq!(
        world.calls()[0],
        "docker|ps|--no-trunc|--format|{{json .}}|--all|--filter|status=running"
    );
}

#[test]
fn kubernetes_goes_by_three_names_and_answers_as_it_is_asked() {
    let world = World::new();
    world.program(
        "kubectl",
        "case \"$*\" in *json*) echo '{\"items\":[{\"metadata\":{\"name\":\"web-1\"}}]}';; *missing*) echo 'NotFound' >&2; exit 1;; *) echo \"did $1\";; esac",
    );
    world
        .run(
            "local ok, out = kubernetes.apply('app.yaml', { namespace = 'shop' })\n\
             assert(ok == true and out == 'did apply')\n\
             local ok, why = kubectl.delete('pod', 'missing')\n\
             assert(ok == false and why == 'kubectl ended with 1: NotFound')\n\
             assert(k8s.get_pods{ namespace = 'shop' }.items[1].metadata.name == 'web-1')\n\
             assert(k8s.logs('web-1', { tail = 5 }) == 'did logs')\n\
             assert(kubernetes.get('missing') == nil)\n\
             assert(kubernetes.exec('web-1', 'ls | wc', { stdin = 'text' }) == 'did exec')\n\
             assert(kubernetes.apply{ file = '-', stdin = 'kind: X' })",
        )
        .unwrap();
    assert_eq!(
        world.calls(),
        [
            "kubectl|apply|-f|app.yaml|--namespace|shop",
            "kubectl|delete|pod|missing",
            "kubectl|get|pods|--output|json|--namespace|shop",
            "kubectl|logs|web-1|--tail=5",
            "kubectl|get|missing",
            "kubectl|exec|web-1|--stdin|--|sh|-c|ls | wc",
            "kubectl|apply|-f|-",
        ]
    );
}

#[test]
fn values_of_helm_are_flattened_and_its_time_is_its_own() {
    let world = World::new();
    world.program(
        "helm",
        "case \"$1\" in list) echo '[{\"name\":\"web\"}]';; status) echo nonsense;; esac",
    );
    world
        .run(
            "assert(helm.upgrade('web', 'r/c', { install = true, wait = true, timeout = '5m', values = { image = { tag = 'v1', args = { 'a', 'b' } } } }))\n\
             assert(helm.list()[1].name == 'web')\n\
             local s, why = helm.status('web')\n\
             assert(s == nil and why:find('asked for JSON'))",
        )
        .unwrap();
    assert_eq!(
        world.calls()[0],
        "helm|upgrade|web|r/c|--install|--set|image.args={a,b}|--set|image.tag=v1|--wait|--timeout|5m"
    );
}
