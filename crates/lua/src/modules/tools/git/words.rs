//! What `git` can do, as data.

use super::super::super::Described;
use super::super::verb::{Gives, Verb};

pub(super) const OWN: &[Described] = &[
    Described {
        name: "clone",
        signature: "(url, path[, { branch, depth, clean }]) or { url, local_path, branch, depth, clean } -> repo | nil, error",
        about: "Clones a repository. One that is there already is taken as it is (`repo.exists`), unless it is of another address; with `clean` what is there is removed first. The repo has `path`, `url`, `changed`, `current.branch` and `remote.url`.",
        example: "exec.run('git init -q -b main there && cd there && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one')\nlocal repo = git.clone('there', 'here')\nassert(repo.changed and repo.current.branch == 'main')\nassert(git.clone{ url = 'there', local_path = 'here' }.exists)",
    },
    Described {
        name: "repo",
        signature: "(path) -> repo | nil, error",
        about: "A repository that is there.",
        example: "local repo, err = git.repo('nowhere')\nassert(repo == nil and err:find('nowhere'))",
    },
    Described {
        name: "is_repo",
        signature: "(path) or { path } -> boolean",
        about: "Whether a directory is a repository, or in one.",
        example: "assert(git.is_repo{ path = '.' } == false)",
    },
    Described {
        name: "pull",
        signature: "{ path, remote, branch, rebase } -> result | nil, error",
        about: "Takes over what the remote has, where no merge is needed; `changed` says whether there was something.",
        example: "local r, err = git.pull{ path = '.' }\nassert(r == nil and err:find('repository'))",
    },
    Described {
        name: "commit",
        signature: "{ path, message, add_all, author } -> result | nil, error",
        about: "Commits what was added, with `add_all` everything. Where there is nothing to commit, `changed` is false.",
        example: "exec.run('git init -q && git config user.name a && git config user.email a@b && touch x')\nassert(git.commit{ path = '.', message = 'x', add_all = true }.changed)\nassert(git.commit{ path = '.', message = 'x', add_all = true }.changed == false)",
    },
    Described {
        name: "ensure_clean",
        signature: "(path) or { path } -> result | nil, error",
        about: "Removes a directory with everything in it, so that a clone can go there.",
        example: "exec.run('mkdir -p old/.git')\nassert(git.ensure_clean{ path = 'old' }.changed and not git.ensure_clean{ path = 'old' }.changed)",
    },
    Described {
        name: "repo:checkout",
        signature: "(branch[, { create, force }]) -> result, error",
        about: "Goes to a branch, a tag or a commit; with `create` to a branch that is made where it is not there.",
        example: "exec.run('git init -q -b main r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one')\nlocal repo = git.repo('r')\nassert(repo:checkout('next', { create = true }).success and repo.current.branch == 'next')",
    },
    Described {
        name: "repo:pull",
        signature: "([remote, branch]) -> result, error",
        about: "As `git.pull`.",
        example: "exec.run('git init -q -b main r')\nlocal r, err = git.repo('r'):pull()\nassert(not r.success and err)",
    },
    Described {
        name: "repo:commit",
        signature: "(message[, { add_all, author }]) -> result, error",
        about: "As `git.commit`.",
        example: "exec.run('git init -q -b main r')\nlocal repo = git.repo('r')\nfs.write('r/a', 'x')\nlocal r = repo:commit('one', { add_all = true, author = 'Ann <ann@example.org>' })\nlog.info(r.success, r.message)",
    },
    Described {
        name: "repo:result",
        signature: "() -> result",
        about: "The result of the last method that was called.",
        example: "exec.run('git init -q r')\nlocal repo = git.repo('r')\nrepo:status()\nrepo:add('nothing')\nassert(repo:result().success == false)",
    },
];

pub(super) const VERBS: &[Verb] = &[
    Verb::new(
        "exec",
        "(args[, options]) -> result, error",
        "{args...}",
        "Runs git with a list of words.",
        "assert(git.exec({ 'init', '-q' }).success)",
    ),
    Verb::new(
        "init",
        "(path[, { branch, bare }]) -> result | nil, error",
        "init --quiet [--bare] [--initial-branch {branch}] -- {path~}",
        "Makes a repository.",
        "assert(git.init('r', { branch = 'main' }) and git.is_repo('r'))",
    )
    .gives(Gives::Done),
    Verb::new(
        "status",
        "{ path } -> text | nil, error",
        "-C {path~} status --porcelain",
        "What is different from the last commit, one path a line.",
        "git.init('r') exec.run('touch r/x')\nassert(git.status{ path = 'r' } == '?? x')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "checkout",
        "{ path, branch, create, force } -> result | nil, error",
        "-C {path~} checkout [--force] [create? -B] {branch} --",
        "Goes to a branch, a tag or a commit.",
        "assert(git.checkout{ path = 'r', branch = 'v1', show_only = true }.command == 'git -C r checkout v1 --')",
    )
    .gives(Gives::Done),
    Verb::new(
        "add",
        "{ path, files } -> result | nil, error",
        "-C {path~} add -- {files...:.}",
        "Adds files to the next commit; everything where none is named.",
        "assert(git.add{ path = 'r', show_only = true }.command == 'git -C r add -- .')",
    )
    .gives(Gives::Done)
    .takes(&["path", "files"]),
    Verb::new(
        "push",
        "{ path, remote, branch, force, follow_tags, tags, set_upstream } -> result | nil, error",
        "-C {path~} push [--force] [--follow-tags] [--tags] [--set-upstream] {remote:origin} [{branch}]",
        "Gives commits to a remote.",
        "assert(git.push{ path = 'r', branch = 'main', show_only = true }.command == 'git -C r push origin main')",
    )
    .gives(Gives::Done)
    .takes(&["path", "remote", "branch"]),
    Verb::new(
        "fetch",
        "{ path, remote, branch, prune, tags, depth } -> result | nil, error",
        "-C {path~} fetch --quiet [--prune] [--tags] [--depth {depth}] {remote:origin} [{branch}]",
        "Gets what a remote has, and changes no file.",
        "assert(git.fetch{ path = 'r', show_only = true }.command == 'git -C r fetch --quiet origin')",
    )
    .gives(Gives::Done)
    .takes(&["path", "remote", "branch"]),
    Verb::new(
        "tag",
        "{ path, name, message, force } -> result | nil, error",
        "-C {path~} tag [--force] [-m {message}] {name}",
        "Names the commit that is checked out.",
        "assert(git.tag{ path = 'r', name = 'v1', message = 'one', show_only = true }.command == 'git -C r tag -m one v1')",
    )
    .gives(Gives::Done),
    Verb::new(
        "log",
        "{ path, limit } -> lines | nil, error",
        "-C {path~} log --oneline [-n {limit}]",
        "Commits, the newest first, one a line.",
        "local lines, err = git.log{ path = '.', limit = 3 }\nassert(lines == nil and err)",
    )
    .gives(Gives::Lines)
    .reads(),
    Verb::new(
        "current_branch",
        "{ path } -> text | nil, error",
        "-C {path~} rev-parse --abbrev-ref HEAD",
        "The branch that is checked out.",
        "assert(git.current_branch('nowhere') == nil)",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "revision",
        "{ path, ref } -> text | nil, error",
        "-C {path~} rev-parse --verify --quiet {ref:HEAD}",
        "The full name of a commit.",
        "assert(git.revision('nowhere') == nil)",
    )
    .gives(Gives::Text)
    .reads()
    .takes(&["path", "ref"]),
    Verb::new(
        "repo:exec",
        "(args[, options]) -> result, error",
        "-C {path} {args...}",
        "Runs git in the repository with a list of words.",
        "exec.run('git init -q -b main r')\nlocal repo = git.repo('r')\nassert(repo:exec({ 'rev-parse', '--is-bare-repository' }).stdout == 'false\\n')",
    ),
    Verb::new(
        "repo:status",
        "() -> result, error",
        "-C {path} status --porcelain",
        "What is different from the last commit.",
        "exec.run('git init -q -b main r')\nlocal repo = git.repo('r')\nfs.write('r/a', 'x')\nassert(repo:status().stdout == '?? a\\n')",
    )
    .reads(),
    Verb::new(
        "repo:add",
        "(files) -> result, error",
        "-C {path} add -- {files...:.}",
        "Adds files to the next commit; everything where none is named.",
        "exec.run('git init -q -b main r')\nlocal repo = git.repo('r')\nfs.write('r/a', 'x')\nassert(repo:add('a').success and repo:status().stdout == 'A  a\\n')",
    )
    .takes(&["files"]),
    Verb::new(
        "repo:push",
        "([remote, branch][, { force, follow_tags, tags, set_upstream }]) -> result, error",
        "-C {path} push [--force] [--follow-tags] [--tags] [--set-upstream] {remote_name:origin} [{branch}]",
        "Gives commits to a remote.",
        "exec.run('git init -q -b main r')\nlocal r = git.repo('r'):push('origin', 'main', { tags = true, show_only = true })\nassert(r.argv[4] == 'push' and r.argv[5] == '--tags' and r.argv[7] == 'main')",
    )
    .takes(&["remote_name", "branch"]),
    Verb::new(
        "repo:fetch",
        "([remote][, { prune, tags, depth }]) -> result, error",
        "-C {path} fetch --quiet [--prune] [--tags] [--depth {depth}] {remote_name:origin}",
        "Gets what a remote has, and changes no file.",
        "exec.run('git init -q -b main r')\nlocal r = git.repo('r'):fetch{ prune = true, show_only = true }\nassert(r.argv[4] == 'fetch' and r.argv[6] == '--prune')",
    )
    .takes(&["remote_name"]),
    Verb::new(
        "repo:tag",
        "(name[, message][, { force }]) -> result, error",
        "-C {path} tag [--force] [-m {message}] {name}",
        "Names the commit that is checked out.",
        "exec.run('git init -q -b main r')\nlocal r = git.repo('r'):tag('v1', 'first', { show_only = true })\nassert(r.argv[5] == '-m' and r.argv[7] == 'v1')",
    )
    .takes(&["name", "message"]),
    Verb::new(
        "repo:log",
        "([limit]) -> lines | nil, error",
        "-C {path} log --oneline [-n {limit}]",
        "Commits, the newest first, one a line.",
        "exec.run('git init -q -b main r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one')\nassert(git.repo('r'):log(5)[1]:find('one'))",
    )
    .gives(Gives::Lines)
    .reads()
    .takes(&["limit"]),
];
