//! `docker`: images and containers.

use mlua::Result;

use super::super::{Described, Installer, Module};
use super::tool::Program;
use super::verb::{Gives, Verb, describe, install as install_verbs};

static DOCKER: Program =
    Program::new("docker", "install Docker Engine, or put a `docker` that is podman on the path");

pub(crate) const MODULE: Module = Module {
    name: "docker",
    about: "Images and containers, with the `docker` of the machine. Functions that change something give their result twice, so that both `local ok, r =` and `local r =` work; `r.success` says whether it went well.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; VERBS.len()] = describe(&[], VERBS);

fn install(module: &mut Installer<'_>) -> Result<()> {
    install_verbs(module, &DOCKER, VERBS).map(drop)
}

const VERBS: &[Verb] = &[
    Verb::new(
        "exec",
        "(args[, options]) -> result, result",
        "{args...}",
        "Runs docker with a list of words.",
        "local r = docker.exec({ 'rm', '-f', 'web' }, { show_only = true })\nassert(r.command == 'docker rm -f web')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "build",
        "{ tag, path, dockerfile, build_args, labels, target, platform, no_cache, pull } -> result, result",
        "build -t {tag} [-f {dockerfile~}] [--build-arg {build_args=}] [--label {labels=}] [--target {target}] [--platform {platform}] [--no-cache] [--pull] {path~}",
        "Builds an image from a directory.",
        "local r = docker.build{ tag = 'app:1', path = '.', build_args = { B = 2, A = 1 }, show_only = true }\nassert(r.command == 'docker build -t app:1 --build-arg A=1 --build-arg B=2 .')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "push",
        "{ tag } -> result, result",
        "push {tag}",
        "Gives an image to its registry.",
        "assert(docker.push{ tag = 'r.example/app:1', show_only = true }.command == 'docker push r.example/app:1')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "pull",
        "(image[, { platform }]) -> result, result",
        "pull [--platform {platform}] {image}",
        "Gets an image from its registry.",
        "assert(docker.pull('alpine:3', { show_only = true }).command == 'docker pull alpine:3')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "run",
        "{ image, command, name, detach, remove, ports, env, env_file, volumes, network, restart, user, entrypoint, hostname, labels, memory, cpus, privileged } -> result, result",
        "run [detach? -d] [remove? --rm] [--name {name}] [--hostname {hostname}] [-p {ports*}] [-e {env=}] [--env-file {env_file~}] [-v {volumes*}] [--network {network}] [--restart {restart}] [--user {user}] [--entrypoint {entrypoint}] [--label {labels=}] [--memory {memory}] [--cpus {cpus}] [--privileged] {image} [{command$}]",
        "Makes a container of an image and starts it. A command is a list of words, or a line for the shell in the container.",
        "local r = docker.run{ image = 'nginx', name = 'web', detach = true, ports = { '80:80' }, env = { A = 1 }, show_only = true }\nassert(r.command == 'docker run -d --name web -p 80:80 -e A=1 nginx')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "start",
        "(name) -> result, result",
        "start {name}",
        "Starts a container.",
        "assert(docker.start('web', { show_only = true }).command == 'docker start web')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "stop",
        "(name[, { time }]) -> result, result",
        "stop [--time {time}] {name}",
        "Stops a container; `time` is the seconds it is given.",
        "assert(docker.stop('web', { time = 5, show_only = true }).command == 'docker stop --time 5 web')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "restart",
        "(name[, { time }]) -> result, result",
        "restart [--time {time}] {name}",
        "Stops and starts a container.",
        "assert(docker.restart('web', { show_only = true }).command == 'docker restart web')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "rm",
        "(name[, { force, volumes }]) -> result, result",
        "rm [--force] [--volumes] {name}",
        "Removes a container.",
        "assert(docker.rm('web', { force = true, show_only = true }).command == 'docker rm --force web')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "rmi",
        "(image[, { force }]) -> result, result",
        "rmi [--force] {image}",
        "Removes an image.",
        "assert(docker.rmi('app:1', { show_only = true }).command == 'docker rmi app:1')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "tag",
        "(source, target) -> result, result",
        "tag {source} {target}",
        "Gives an image another name.",
        "assert(docker.tag('app:1', 'app:latest', { show_only = true }).command == 'docker tag app:1 app:latest')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "exec_in",
        "(container, command[, { user, env }]) -> result, result",
        "exec [--user {user}] [-e {env=}] {container} {command$}",
        "Runs a list of words, or a line for the shell, in a container.",
        "local r = docker.exec_in('web', 'nginx -t', { show_only = true })\nassert(r.argv[6] == 'nginx -t' and r.argv[4] == 'sh')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "cp",
        "(from, to) -> result, result",
        "cp {from~} {to~}",
        "Copies between a container (`name:path`) and the machine.",
        "assert(docker.cp('a.conf', 'web:/etc/a.conf', { show_only = true }).command == 'docker cp a.conf web:/etc/a.conf')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "login",
        "{ username, registry, stdin } -> result, result",
        "login --username {username} --password-stdin [{registry}]",
        "Signs in at a registry; the password is given as `stdin`.",
        "local r = docker.login{ username = 'me', stdin = 'secret', show_only = true }\nassert(r.command == 'docker login --username me --password-stdin')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "logs",
        "(name[, { tail, since, timestamps }]) -> result, result",
        "logs [--tail {tail}] [--since {since}] [--timestamps] {name}",
        "What a container printed.",
        "assert(docker.logs('web', { tail = 10, show_only = true }).command == 'docker logs --tail 10 web')",
    )
    .gives(Gives::Twice)
    .reads(),
    Verb::new(
        "ps",
        "([{ all, filter }]) -> list | nil, error",
        "ps --no-trunc --format '{{json .}}' [--all] [--filter {filter=}]",
        "Containers, each as Docker describes it: `ID`, `Names`, `Image`, `State`.",
        "assert(docker.ps{ all = true, show_only = true }.argv[5] == '{{json .}}')",
    )
    .gives(Gives::JsonLines)
    .reads(),
    Verb::new(
        "images",
        "([{ all, filter }]) -> list | nil, error",
        "images --no-trunc --format '{{json .}}' [--all] [--filter {filter=}]",
        "Images, each as Docker describes it: `ID`, `Repository`, `Tag`, `Size`.",
        "assert(docker.images{ show_only = true }.argv[2] == 'images')",
    )
    .gives(Gives::JsonLines)
    .reads(),
    Verb::new(
        "inspect",
        "(name) -> list | nil, error",
        "inspect {name}",
        "Everything about a container or an image.",
        "assert(docker.inspect('web', { show_only = true }).command == 'docker inspect web')",
    )
    .gives(Gives::Json)
    .reads(),
    Verb::new(
        "network_create",
        "(name[, { driver, subnet, internal }]) -> result, result",
        "network create [--driver {driver}] [--subnet {subnet}] [--internal] {name}",
        "Makes a network.",
        "assert(docker.network_create('web', { show_only = true }).command == 'docker network create web')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "volume_create",
        "(name[, { driver }]) -> result, result",
        "volume create [--driver {driver}] {name}",
        "Makes a volume.",
        "assert(docker.volume_create('data', { show_only = true }).command == 'docker volume create data')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "compose.up",
        "([{ file, project, services, build, pull, wait, remove_orphans }]) -> result, result",
        "compose [-f {file*}] [-p {project}] up -d [--build] [--pull {pull|always}] [--wait] [--remove-orphans] [{services...}]",
        "Brings up what a compose file describes, in the background.",
        "local r = docker.compose.up{ file = 'c.yml', services = { 'web' }, show_only = true }\nassert(r.command == 'docker compose -f c.yml up -d web')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "compose.down",
        "([{ file, project, volumes, remove_orphans }]) -> result, result",
        "compose [-f {file*}] [-p {project}] down [--volumes] [--remove-orphans]",
        "Takes it down.",
        "assert(docker.compose.down{ project = 'shop', show_only = true }.command == 'docker compose -p shop down')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "compose.pull",
        "([{ file, project, services }]) -> result, result",
        "compose [-f {file*}] [-p {project}] pull --quiet [{services...}]",
        "Gets its images.",
        "assert(docker.compose.pull{ show_only = true }.command == 'docker compose pull --quiet')",
    )
    .gives(Gives::Twice),
    Verb::new(
        "compose.ps",
        "([{ file, project, all }]) -> list | nil, error",
        "compose [-f {file*}] [-p {project}] ps --format json [--all]",
        "Its containers.",
        "assert(docker.compose.ps{ show_only = true }.command == 'docker compose ps --format json')",
    )
    .gives(Gives::JsonLines)
    .reads(),
    Verb::new(
        "compose.logs",
        "([{ file, project, tail, services }]) -> result, result",
        "compose [-f {file*}] [-p {project}] logs --no-color [--tail {tail}] [{services...}]",
        "What its containers printed.",
        "assert(docker.compose.logs{ tail = 5, show_only = true }.command == 'docker compose logs --no-color --tail 5')",
    )
    .gives(Gives::Twice)
    .reads(),
    Verb::new(
        "compose.exec",
        "(args[, { file, project }]) -> result, result",
        "compose [-f {file*}] [-p {project}] {args...}",
        "Runs docker compose with a list of words.",
        "assert(docker.compose.exec({ 'config', '-q' }, { show_only = true }).command == 'docker compose config -q')",
    )
    .gives(Gives::Twice),
];
