//! Git, and what follows a repository. The git here is the real one.

use super::World;

const UPSTREAM: &str = "local r = exec.run([[set -e\n\
    git init -q --bare -b main up.git\n\
    git clone -q up.git work 2>/dev/null\n\
    cd work && git checkout -q -b main && mkdir app && echo 1 > app/a.yaml && echo x > README\n\
    git add . && git commit -q -m one && git push -q origin main]])\n\
    assert(r.success, r.stderr)\n";

fn world() -> World {
    let world = World::new();
    world.run(UPSTREAM).expect("a repository");
    world
}

#[test]
fn a_clone_is_made_once_and_follows_its_remote() {
    world()
        .run(
            "local repo, err = git.clone('up.git', 'here', { branch = 'main' })\n\
             assert(repo and repo.changed and not repo.exists, err)\n\
             assert(repo.current.branch == 'main' and repo['local'].path == repo.path)\n\
             local again = git.clone{ url = 'up.git', local_path = 'here' }\n\
             assert(again.exists and not again.changed)\n\
             assert(git.pull{ path = 'here' }.changed == false)\n\
             exec.run('cd work && echo 2 > app/a.yaml && git commit -q -a -m two && git push -q')\n\
             local r = git.pull{ path = 'here' }\n\
             assert(r.changed and #r.revision == 40 and r.revision == git.revision{ path = 'here' })\n\
             local none, why = git.clone('work', 'here')\n\
             assert(none == nil and why:find('give `clean = true`'))\n\
             assert(git.clone{ url = 'work', local_path = 'here', clean = true }.changed)\n\
             local none, why = git.clone('nowhere.git', 'there')\n\
             assert(none == nil and why:find('nowhere.git'))",
        )
        .unwrap();
}

#[test]
fn work_in_a_repository_can_be_chained() {
    let world = world();
    world
        .run(
            "local repo = git.clone('up.git', 'here')\n\
             repo:checkout('main'):pull('origin', 'main')\n\
             assert(repo:result().success)\n\
             exec.run('echo 1.2.3 > here/VERSION')\n\
             repo:add('VERSION'):commit('bump'):tag('v1.2.3', 'Release'):push('origin', 'main', { follow_tags = true })\n\
             assert(repo:result().success, repo:result().stderr)\n\
             assert(repo:commit('nothing').changed == false)\n\
             repo:checkout('next', { create = true })\n\
             assert(repo.current.branch == 'next' and git.current_branch{ path = 'here' } == 'next')\n\
             assert(repo:checkout('next', { create = true }).success)\n\
             assert(#repo:log(1) == 1)\n\
             local r, err = repo:checkout('nowhere')\n\
             assert(r.success == false and err)",
        )
        .unwrap();
    let said = world.run("print(exec.run('git -C up.git tag').stdout)").unwrap();
    assert_eq!(said[0].trim(), "v1.2.3");
    let error = world.run("git.repo('here'):checkout('nowhere'):pull()").unwrap_err();
    assert!(error.contains("git repo: git ended with 1"), "{error}");
}

#[test]
fn in_check_mode_no_repository_is_touched() {
    let mut world = world();
    world.run("git.clone('up.git', 'here')").unwrap();
    world.check = true;
    let said = world
        .run(
            "assert(git.clone('up.git', 'new').changed)\n\
             assert(git.commit{ path = 'here', message = 'x', add_all = true }.check)\n\
             assert(git.ensure_clean{ path = 'here' }.changed)\n\
             assert(git.status{ path = 'here' } == '')",
        )
        .unwrap();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(!world.path("new").exists() && world.path("here").exists());
    world.check = false;
    let error = world.run("local r, err = git.ensure_clean('.') error(err)").unwrap_err();
    assert!(error.contains("is not removed"), "{error}");
}

const FOLLOW: &str = "local ok, w = gitops.workflow{ id = 'web', repo = 'up.git', branch = 'main', path = 'app', rollback_on_failure = true,\n\
    command = { 'sh', '-c', 'cat a.yaml >> ../../../../../applied; echo \"$GITOPS_CHANGED\" >> ../../../../../changed; ! grep -q bad a.yaml' } }\n\
    assert(ok and w.workflow_id == 'web', w)\n";

#[test]
fn what_a_repository_says_is_applied_once_and_can_be_taken_back() {
    let world = world();
    world
        .run(&format!(
            "{FOLLOW}\
             local diff = gitops.generate_diff('web')\n\
             assert(diff.total_changes == 1 and diff.created_resources == 1 and diff.changes[1].path == 'app/a.yaml')\n\
             assert(gitops.preview_changes('web') == '1 created, 0 updated, 0 deleted\\n+ app/a.yaml')\n\
             local r, err = gitops.sync_workflow('web')\n\
             assert(r and r.changed, err)\n\
             assert(gitops.sync_workflow('web').changed == false)\n\
             exec.run('cd work && echo 2 > app/a.yaml && git commit -q -a -m two && git push -q')\n\
             local r = gitops.sync_workflow('web')\n\
             assert(r.changed and r.diff.updated_resources == 1 and r.previous)\n\
             exec.run('cd work && echo y > README && git commit -q -a -m three && git push -q')\n\
             assert(gitops.sync_workflow('web').changed == false)\n\
             local status = gitops.get_workflow_status('web')\n\
             assert(status.status == 'synced' and #status.history == 3)"
        ))
        .unwrap();
    let applied = || std::fs::read_to_string(world.path("applied")).unwrap();
    assert_eq!(applied(), "1\n2\n");
    world
        .run(
            "exec.run('cd work && echo bad > app/a.yaml && git commit -q -a -m four && git push -q')\n\
             local r, err = gitops.sync_workflow('web')\n\
             assert(r == nil and err:find('could not be applied') and err:find('is applied again'), err)\n\
             assert(gitops.get_workflow_status('web').status == 'rolled_back')",
        )
        .unwrap();
    assert_eq!(applied(), "1\n2\nbad\n2\n");
    world
        .run(
            "exec.run('cd work && echo 5 > app/a.yaml && git commit -q -a -m five && git push -q')\n\
             assert(gitops.sync_workflow('web').changed)\n\
             local r, err = gitops.rollback_workflow('web', 'it broke')\n\
             assert(r and r.changed, err)\n\
             assert(#gitops.list_workflows() == 1)",
        )
        .unwrap();
    assert_eq!(applied(), "1\n2\nbad\n2\n5\n2\n");
}

#[test]
fn without_a_command_files_are_given_to_hostler() {
    let mut world = world();
    world.program("hostler", "");
    let body = "gitops.register_repository{ id = 'r', url = 'up.git' }\n\
                assert(gitops.create_workflow{ id = 'w', repository = 'r', target_path = 'app' } == 'w')\n\
                local r, err = gitops.sync_workflow('w')\n\
                assert(r and r.changed, err)";
    world.run(body).unwrap();
    assert_eq!(world.calls(), ["hostler|run|-f|~/.hostler/gitops/checkouts/w/app/a.yaml"]);
    world
        .run(
            "exec.run('cd work && echo x > app/README && echo y > app/b.sloth && git add . && git commit -q -m more && git push -q')\n\
             local diff = gitops.generate_diff('w')\n\
             assert(diff.warnings[1]:find('^1 files are neither'), diff.warnings[1])\n\
             assert(gitops.sync_workflow('w').changed)",
        )
        .unwrap();
    assert_eq!(
        world.calls()[1..],
        ["hostler|workflow|run|~/.hostler/gitops/checkouts/w/app/b.sloth"]
    );
    world
        .run("assert(exec.run('cd work && git rm -q app/a.yaml && git commit -q -m gone && git push -q').success)")
        .unwrap();
    world.check = true;
    let said = world
        .run(
            "local r = gitops.sync_workflow('w')\n\
             assert(r.changed and r.diff.deleted_resources == 1 and #r.diff.warnings == 1)",
        )
        .unwrap();
    assert!(said[0].starts_with("would apply "), "{said:?}");
    assert_eq!(world.calls().len(), 2);
    world.check = false;
    let error = world
        .run("local r, err = gitops.create_workflow{ id = '../x', repository = 'r' } error(err)")
        .unwrap_err();
    assert!(error.contains("`../x` is no id"), "{error}");
}

#[test]
fn what_is_new_is_applied_while_a_step_follows() {
    let world = world();
    world
        .run(
            "gitops.register_repository{ id = 'r', url = 'up.git' }
             assert(gitops.create_workflow{ id = 'w', repository = 'r', target_path = 'app', auto_sync = true, command = { 'sh', '-c', 'cat a.yaml >> ../../../../../applied' } })
             local function wait(text)
               for _ = 1, 600 do
                 if fs.exists('applied') and fs.read('applied') == text then return end
                 goroutine.sleep(50)
               end
               error('it was not applied: ' .. text)
             end
             assert(gitops.start_auto_sync{ interval = 1 })
             wait('1\\n')
             exec.run('cd work && echo 2 > app/a.yaml && git commit -q -a -m two && git push -q')
             wait('1\\n2\\n')
             assert(gitops.stop_auto_sync() and not gitops.stop_auto_sync())
             assert(gitops.get_workflow_status('w').auto_sync)",
        )
        .unwrap();
}
