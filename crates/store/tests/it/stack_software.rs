//! Configuration of software beside stacks, and how it went on machines.

use hostler_model::stack::*;
use hostler_model::*;
use hostler_store::{ConflictReason, Error, SealedKey, SoftwareDeploymentFilter, Update};

use crate::stacks::{envelope, key};
use crate::world::*;

crate::conformance!(
    configurations_are_what_was_written,
    a_configuration_stays_while_it_is_deployed,
    deployments_are_what_was_written,
    a_deployment_is_changed_from_what_was_read,
    keys_of_software_are_sealed_anew,
);

fn config(project: &Project, text: &str) -> SoftwareConfig {
    SoftwareConfig {
        id: SoftwareConfigId::from_uuid(next_uuid()),
        project_id: project.id,
        name: text.to_owned(),
        group: "script".to_owned(),
        envelope: envelope(1),
        time_created: at(1),
    }
}

fn deployment(config: &SoftwareConfig, server: &str) -> SoftwareDeployment {
    SoftwareDeployment {
        id: SoftwareDeploymentId::from_uuid(next_uuid()),
        project_id: config.project_id,
        config_id: config.id,
        server: server.to_owned(),
        action: ResourceAction::Init,
        status: StackStatus::Complete,
        reason: String::new(),
        envelope: envelope(2),
        generation: Generation::FIRST,
        time_created: at(1),
        time_updated: None,
    }
}

async fn put_config(world: &World, config: &SoftwareConfig) {
    let done: Result<()> = world.tx("test", |tx| Box::pin(tx.software_config_insert(config))).await;
    done.unwrap();
}

async fn put(world: &World, deployment: &SoftwareDeployment) -> Result<()> {
    world.tx("test", |tx| Box::pin(tx.software_deployment_insert(deployment))).await
}

/// One configuration on one machine.
pub async fn with_software(world: &World, project: &Project) {
    let config = config(project, "c");
    put_config(world, &config).await;
    put(world, &deployment(&config, "n1")).await.unwrap();
}

async fn configurations_are_what_was_written(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let odd = SoftwareConfig { group: String::new(), ..config(&alpha, "ä \u{1F600}") };
    let all = [odd, config(&alpha, "a"), config(&beta, "a"), config(&alpha, "a")];
    for one in &all {
        put_config(&world, one).await;
    }
    let mut read = world.read().await.unwrap();
    for one in &all {
        assert_eq!(read.software_config_get(one.id).await.unwrap().as_ref(), Some(one));
    }
    let first = read.software_config_list(Some(alpha.id), None, limit(2)).await.unwrap();
    assert_eq!(first.items, [all[3].clone(), all[1].clone()], "newest first");
    let next = first.next.as_deref();
    let second = read.software_config_list(Some(alpha.id), next, limit(2)).await.unwrap();
    assert_eq!((second.items, second.next), (vec![all[0].clone()], None));
    let every = read.software_config_list(None, None, limit(9)).await.unwrap();
    assert_eq!(every.items.len(), 4);
}

async fn a_configuration_stays_while_it_is_deployed(world: World) {
    let project = world.project("alpha").await;
    let one = config(&project, "a");
    put_config(&world, &one).await;
    let on = deployment(&one, "n1");
    put(&world, &on).await.unwrap();
    let delete = async || -> Result<bool> {
        world.tx("test", |tx| Box::pin(tx.software_config_delete(one.id))).await
    };
    let reason = ConflictReason::InUse;
    let refused = delete().await.unwrap_err();
    assert!(matches!(refused, Error::Conflict { reason: r, .. } if r == reason));
    for is_there in [true, false] {
        let gone: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.software_deployment_delete(on.id))).await;
        assert_eq!(gone.unwrap(), is_there);
    }
    assert!(delete().await.unwrap());
    assert!(!delete().await.unwrap());
    assert!(matches!(put(&world, &on).await.unwrap_err(), Error::Conflict { .. }));
}

async fn deployments_are_what_was_written(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let (one, two, other) = (config(&alpha, "1"), config(&alpha, "2"), config(&beta, "3"));
    for config in [&one, &two, &other] {
        put_config(&world, config).await;
    }
    let full = SoftwareDeployment {
        action: ResourceAction::Update,
        status: StackStatus::Failed,
        reason: "exit 1 \u{1F600}".to_owned(),
        generation: Generation::from_u64(7),
        time_updated: Some(at(9)),
        ..deployment(&two, "n1")
    };
    let all = [
        full,
        deployment(&one, "n1"),
        deployment(&one, "n2"),
        deployment(&other, "n1"),
        deployment(&one, "n1"),
    ];
    for one in &all {
        put(&world, one).await.unwrap();
    }
    let mut read = world.read().await.unwrap();
    for one in &all {
        assert_eq!(read.software_deployment_get(one.id).await.unwrap().as_ref(), Some(one));
    }
    let mine = SoftwareDeploymentFilter { project: Some(alpha.id), ..Default::default() };
    let n1 = SoftwareDeploymentFilter { server: Some("n1"), ..mine };
    for (filter, meant) in [
        (SoftwareDeploymentFilter::default(), vec![0, 1, 2, 3, 4]),
        (mine, vec![0, 1, 2, 4]),
        (n1, vec![0, 1, 4]),
        (SoftwareDeploymentFilter { config: Some(one.id), ..n1 }, vec![1, 4]),
        (SoftwareDeploymentFilter { server: Some("N1"), ..mine }, vec![]),
    ] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = read.software_deployment_list(filter, after.as_deref(), limit(2)).await;
            let page = page.unwrap();
            seen.extend(page.items);
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let meant: Vec<SoftwareDeployment> =
            meant.into_iter().map(|n: usize| all[n].clone()).collect();
        assert_eq!(seen, meant, "{filter:?}");
    }
}

async fn a_deployment_is_changed_from_what_was_read(world: World) {
    let project = world.project("alpha").await;
    let (one, other) = (config(&project, "1"), config(&project, "2"));
    put_config(&world, &one).await;
    put_config(&world, &other).await;
    let first = deployment(&one, "n1");
    put(&world, &first).await.unwrap();
    let next = SoftwareDeployment {
        config_id: other.id,
        action: ResourceAction::Create,
        status: StackStatus::InProgress,
        reason: "begun".to_owned(),
        envelope: envelope(8),
        time_updated: Some(at(3)),
        ..first.clone()
    };
    let update = async |deployment: &SoftwareDeployment, expected| -> Update {
        let done: Result<Update> = world
            .tx("test", |tx| Box::pin(tx.software_deployment_update(deployment, expected)))
            .await;
        done.unwrap()
    };
    let second = Generation::FIRST.next();
    let stale = Update::Stale { current: Generation::FIRST };
    assert_eq!(update(&next, second).await, stale);
    assert_eq!(update(&next, Generation::FIRST).await, Update::Updated);
    let found = world.read().await.unwrap().software_deployment_get(first.id).await.unwrap();
    assert_eq!(found, Some(SoftwareDeployment { generation: second, ..next }));
    let nobody = deployment(&one, "n1");
    assert_eq!(update(&nobody, Generation::FIRST).await, Update::Missing);
}

async fn keys_of_software_are_sealed_anew(world: World) {
    let project = world.project("alpha").await;
    let one = config(&project, "1");
    put_config(&world, &one).await;
    let on = deployment(&one, "n1");
    put(&world, &on).await.unwrap();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.software_config_keys().await.unwrap(), [(key(1), 1)]);
    assert_eq!(read.software_deployment_keys().await.unwrap(), [(key(2), 1)]);
    let configs = read.software_config_keys_but(key(9), None, 9).await.unwrap();
    assert_eq!(configs, [SealedKey { id: one.id, wrapped_key: vec![1; 40] }]);
    assert_eq!(read.software_config_keys_but(key(1), None, 9).await.unwrap(), []);
    assert_eq!(read.software_config_keys_but(key(9), Some(one.id), 9).await.unwrap(), []);
    let deployments = read.software_deployment_keys_but(key(9), None, 9).await.unwrap();
    assert_eq!(deployments, [SealedKey { id: on.id, wrapped_key: vec![2; 40] }]);
    drop(read);
    for is_there in [true, false] {
        let done: Result<[bool; 2]> = world
            .tx("test", |tx| {
                let (config, deployment) = (&configs[0], &deployments[0]);
                Box::pin(async move {
                    Ok([
                        tx.software_config_key_replace(config, &[5], key(9)).await?,
                        tx.software_deployment_key_replace(deployment, &[6], key(9)).await?,
                    ])
                })
            })
            .await;
        assert_eq!(done.unwrap(), [is_there; 2]);
    }
    let mut read = world.read().await.unwrap();
    let sealed =
        |n: u8, wrapped: u8| Envelope { wrapped_key: vec![wrapped], key_id: key(9), ..envelope(n) };
    let config = read.software_config_get(one.id).await.unwrap().unwrap();
    assert_eq!(config.envelope, sealed(1, 5));
    let deployment = read.software_deployment_get(on.id).await.unwrap().unwrap();
    assert_eq!(deployment.envelope, sealed(2, 6));
}
