//! A thousand schedules, two servers, and servers that die in the middle of what they do.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::join_all;
use hostler_control::Control;
use hostler_model::schedule::{Fire, FireState, ScheduleSpec};
use hostler_model::{
    Action, CatchUp, Limit, Name, ObjectKind, Overlap, Span, TaskAction, Timestamp, WorkloadSpec,
};
use hostler_testkit::World;

use crate::postgres::Schema;

/// A future that is let go of after so many looks: a process that dies there.
struct Dies<F> {
    life: Pin<Box<F>>,
    looks: u32,
}

impl<F: Future> Future for Dies<F> {
    type Output = Option<F::Output>;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(left) = self.looks.checked_sub(1) else { return Poll::Ready(None) };
        self.looks = left;
        self.life.as_mut().poll(cx).map(Some)
    }
}

fn dies_after<F: Future>(looks: u32, life: F) -> Dies<F> {
    Dies { life: Box::pin(life), looks }
}

fn each_second(ends: Timestamp) -> ScheduleSpec {
    let task = TaskAction { name: None, spec: WorkloadSpec::command(["true"]) };
    ScheduleSpec {
        overlap: Overlap::Allow,
        catch_up: CatchUp::All,
        catch_up_limit: 1000,
        ends: Some(ends),
        ..ScheduleSpec::every(Span::from_secs(1), Action::Task(Box::new(task)))
    }
}

async fn passes(server: &Control) {
    for _ in 0..50 {
        if !server.schedules_advance().await.unwrap().1 {
            return;
        }
    }
    panic!("there is always more to do");
}

async fn fires_of(world: &World, name: &str) -> Vec<Fire> {
    let page = world.control.schedule_history(&world.project, name, None, None, Limit::LARGEST);
    page.await.unwrap().items.into_iter().map(|one| one.fire).collect()
}

async fn each_time_comes_once(world: World, schedules: usize, seconds: u32) {
    let servers = [world.control.clone(), world.another_server().await];
    let (cx, project) = (&world.cx, &world.project);
    let names: Vec<Name> = (0..schedules).map(|n| format!("s{n}").parse().unwrap()).collect();
    let ended = world.now().plus(Duration::from_secs(u64::from(seconds)));
    let spec = each_second(ended);
    for name in &names {
        servers[0].schedule_apply(cx, project, name, &spec, None).await.unwrap();
    }
    let began = world.now();
    let most = u32::try_from(schedules).unwrap();
    for second in 1..=seconds {
        world.advance(Duration::from_secs(1));
        let looks = second.wrapping_mul(2_654_435_761) % (most * 3) + 1;
        let (dying, other) =
            if second % 2 == 0 { (&servers[0], &servers[1]) } else { (&servers[1], &servers[0]) };
        match second % 5 {
            0 => drop(join_all(servers.iter().map(passes)).await),
            1 => passes(other).await,
            _ => drop(dies_after(looks, dying.schedules_advance()).await),
        }
    }
    // What died is over for good; who is left finds everything.
    world.advance(Duration::from_secs(11));
    join_all(servers.iter().map(passes)).await;

    let mut made: BTreeMap<String, Timestamp> = BTreeMap::new();
    let mut taken_over = 0;
    for name in &names {
        let fires = fires_of(&world, name.as_str()).await;
        let times: BTreeSet<Timestamp> = fires.iter().map(|fire| fire.time).collect();
        let mut wanted = began;
        while wanted < ended {
            wanted = wanted.plus(Duration::from_secs(1));
            assert!(times.contains(&wanted), "{name} at {wanted}");
        }
        assert_eq!(fires.len(), seconds as usize, "and nothing else: {name}");
        for fire in fires {
            assert_eq!(fire.state, FireState::Done, "{name} at {}: {}", fire.time, fire.message);
            taken_over += usize::from(fire.tries > 1);
            let object = fire.object.unwrap();
            assert_eq!(object.kind, ObjectKind::Task);
            assert_eq!(made.insert(object.id, fire.time), None, "one task for each time");
        }
    }
    let open = world.store.read().await.unwrap().workload_count_open(project.id).await.unwrap();
    assert_eq!(open, made.len() as u64, "and no task for no time");
    assert!(taken_over > 0, "some of them died while they were at it");
    world.store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_time_of_a_thousand_schedules_comes_once_on_postgres() {
    let Some(schema) = Schema::create("schedules") else { return };
    Box::pin(each_time_comes_once(World::on(schema.open().await, 1).await, 1000, 20)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_time_comes_once_on_sqlite() {
    Box::pin(each_time_comes_once(World::new(1).await, 40, 60)).await;
}
