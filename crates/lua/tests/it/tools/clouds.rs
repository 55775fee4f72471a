//! Amazon, Google, Microsoft, DigitalOcean.

use super::World;

#[test]
fn amazon_by_functions_and_by_a_client() {
    let world = World::new();
    world.program("aws", "case \"$*\" in *bad*) echo denied >&2; exit 255;; *identity*) echo '{\"Account\":\"1\"}';; *secret*) echo s3cret;; esac");
    world
        .run(
            "local r = aws.exec({ 'sts', 'get-caller-identity' }, { profile = 'p' })\n\
             assert(r.exit_code == 0 and r.data.Account == '1')\n\
             assert(aws.s3.sync{ source = 'a', destination = 's3://b/', profile = 'p', delete = true })\n\
             local ok, why = aws.s3.sync{ source = 'a', destination = 's3://bad' }\n\
             assert(ok == false and why == 'aws ended with 255: denied')\n\
             assert(aws.secretsmanager.get_secret{ secret_id = 'db' } == 's3cret')\n\
             local client = aws.client{ profile = 'q', region = 'eu' }\n\
             assert(client:get_secret('db') == 's3cret')\n\
             client:s3():sync{ from = 'a', to = 's3://b' }:ls('s3://b')",
        )
        .unwrap();
    assert_eq!(
        world.calls(),
        [
            "aws|--profile|p|sts|get-caller-identity",
            "aws|s3|sync|a|s3://b/|--delete|--profile|p",
            "aws|s3|sync|a|s3://bad",
            "aws|secretsmanager|get-secret-value|--secret-id|db|--query|SecretString|--output|text",
            "aws|secretsmanager|get-secret-value|--secret-id|db|--query|SecretString|--output|text|--profile|q|--region|eu",
            "aws|s3|sync|a|s3://b|--profile|q|--region|eu",
            "aws|s3|ls|s3://b|--profile|q|--region|eu",
        ]
    );
}

#[test]
fn google_by_chains() {
    let world = World::new();
    world.program("gcloud", "echo '[{\"name\":\"vm-1\"}]'");
    world
        .run(
            "local client = gcp.client({ project = 'p' })\n\
             local r = client:compute({ zone = 'z' }):instances():list()\n\
             assert(r.success and r.stdout == '[{\"name\":\"vm-1\"}]\\n' and r.data[1].name == 'vm-1')\n\
             client:storage():buckets():list()\n\
             client:sql():instances():list()\n\
             client:gke():clusters():list()\n\
             client:service_account('ci'):create{ display_name = 'CI' }:add_iam_binding{ member = 'user:a', role = 'roles/x' }\n\
             gcp.exec({ 'config', 'list' })",
        )
        .unwrap();
    assert_eq!(
        world.calls(),
        [
            "gcloud|compute|instances|list|--format=json|--project|p|--zones|z",
            "gcloud|storage|buckets|list|--format=json|--project|p",
            "gcloud|sql|instances|list|--format=json|--project|p",
            "gcloud|container|clusters|list|--format=json|--project|p",
            "gcloud|iam|service-accounts|create|ci|--display-name|CI|--format=json|--project|p",
            "gcloud|iam|service-accounts|add-iam-policy-binding|ci@p.iam.gserviceaccount.com|--member|user:a|--role|roles/x|--format=json|--project|p",
            "gcloud|config|list",
        ]
    );
}

#[test]
fn azure_and_digitalocean_give_lists_and_say_whether_it_went_well() {
    let world = World::new();
    world.program("az", "case \"$1\" in vm) echo '[{\"name\":\"v\"}]';; *) exit 2;; esac");
    world.program(
        "doctl",
        "case \"$3\" in list) echo '[{\"id\":7,\"region\":{\"slug\":\"x\"}}]';; esac",
    );
    world
        .run(
            "assert(azure.vm.list({ resource_group = 'g' })[1].name == 'v')\n\
             local ok, why = azure.rg.delete({ name = 'g', yes = true })\n\
             assert(ok == false and why == 'az ended with 2')\n\
             local all = digitalocean.droplets.list()\n\
             assert(all[1].id == 7 and all[1].region.slug == 'x')\n\
             assert(digitalocean.droplets.delete({ id = tostring(all[1].id), force = true }))",
        )
        .unwrap();
    assert_eq!(
        world.calls(),
        [
            "az|vm|list|--output|json|--resource-group|g",
            "az|group|delete|--name|g|--yes",
            "doctl|compute|droplet|list|--output|json",
            "doctl|compute|droplet|delete|7|--force",
        ]
    );
}
