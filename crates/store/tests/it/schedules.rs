//! Schedules and their fires: one of many decides, one row for each time, and the old ones go.

use hostler_model::schedule::{Fire, FireCause, FireState, Pause, Schedule, ScheduleSpec};
use hostler_model::{
    Generation, Mandate, ObjectKind, ObjectRef, Permission, PermissionSet, PrincipalId, Project,
    ScheduleId, Timestamp,
};
use hostler_store::{ScheduleMade, ScheduleTurn, Update};

use crate::world::*;

crate::conformance!(
    a_schedule_is_what_was_written,
    schedules_are_found_when_they_are_due,
    one_of_many_decides,
    a_change_and_a_decision_do_not_meet,
    a_time_has_one_row,
    what_was_begun_is_taken_over_and_ended_once,
    what_was_made_last_stays,
    history_is_bounded,
    a_schedule_goes_with_its_history,
);

fn spec() -> ScheduleSpec {
    serde_json::from_value(serde_json::json!({
        "cron": "0 3 * * *",
        "timezone": "Europe/Berlin",
        "target": { "workload": { "name": "web", "verb": "restart" } },
    }))
    .unwrap()
}

fn schedule(project: &Project, text: &str) -> Schedule {
    let by = PrincipalId::from_uuid(next_uuid());
    let can: PermissionSet = [Permission::WorkloadRestart].into_iter().collect();
    Schedule {
        id: ScheduleId::from_uuid(next_uuid()),
        project_id: project.id,
        name: name(text),
        spec: spec(),
        mandate: Mandate { principal: by, can: Some(can) },
        pause: None,
        log: serde_json::json!({ "decided": at(1) }),
        turn: Generation::FIRST,
        last_made: None,
        time_due: Some(at(10)),
        time_next: Some(at(10)),
        created_by: by,
        generation: Generation::FIRST,
        time_created: at(1),
        time_modified: at(1),
    }
}

fn fire(schedule: &Schedule, seconds: i64) -> Fire {
    Fire {
        schedule_id: schedule.id,
        time: at(seconds),
        project_id: schedule.project_id,
        state: FireState::Begun,
        cause: FireCause::Planned,
        time_planned: at(seconds),
        time_begun: at(seconds),
        time_ended: None,
        time_last: at(seconds),
        count: 1,
        object: None,
        status: None,
        message: String::new(),
        replaces: None,
        asked_by: None,
        is_call: false,
        tries: 1,
        server_id: server_id(),
        time_lease: at(seconds + 30),
    }
}

async fn inserted(world: &World, text: &str) -> Schedule {
    let project = world.project(&format!("{text}-home")).await;
    let made = schedule(&project, text);
    insert(world, &made).await;
    made
}

async fn insert(world: &World, schedule: &Schedule) {
    let done: Result<()> = world.tx("test", |tx| Box::pin(tx.schedule_insert(schedule))).await;
    done.unwrap();
}

async fn enter(world: &World, fires: &[Fire]) -> Vec<(ScheduleId, Timestamp)> {
    let done: Result<Vec<_>> =
        world.tx("test", |tx| Box::pin(tx.schedule_fire_insert_batch(fires))).await;
    done.unwrap()
}

async fn end(world: &World, fires: &[Fire]) -> usize {
    let done: Result<Vec<_>> =
        world.tx("test", |tx| Box::pin(tx.schedule_fire_end_batch(fires))).await;
    done.unwrap().len()
}

async fn fires(world: &World, schedule: &Schedule) -> Vec<Fire> {
    let mut read = world.read().await.unwrap();
    read.schedule_fire_list(schedule.id, None, None, limit(1000)).await.unwrap().items
}

async fn a_schedule_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let (one, two) = (schedule(&project, "nightly"), schedule(&project, "weekly"));
    for schedule in [&one, &two] {
        insert(&world, schedule).await;
    }
    let twin = schedule(&project, "nightly");
    let twice: Result<()> = world.tx("test", |tx| Box::pin(tx.schedule_insert(&twin))).await;
    assert!(matches!(twice.unwrap_err(), hostler_store::Error::Conflict { .. }));
    let mut read = world.read().await.unwrap();
    assert_eq!(read.schedule_get(one.id).await.unwrap(), Some(one.clone()));
    assert_eq!(read.schedule_by_name(project.id, &one.name).await.unwrap(), Some(one.clone()));
    assert_eq!(read.schedule_by_name(project.id, &name("other")).await.unwrap(), None);
    let page = read.schedule_list(project.id, None, limit(1)).await.unwrap();
    assert_eq!((page.items, page.next.as_deref()), (vec![one.clone()], Some("nightly")));
    let page = read.schedule_list(project.id, Some("nightly"), limit(1)).await.unwrap();
    assert_eq!((page.items, page.next), (vec![two.clone()], None));
    let batch = read.schedule_get_batch(&[two.id, one.id, twin.id]).await.unwrap();
    assert_eq!(batch.len(), 2);
    drop(read);
    let pause = Pause { by: "ada".to_owned(), reason: "patches".to_owned(), time: at(5) };
    let mut paused = Schedule { pause: Some(pause), time_due: None, ..one.clone() };
    let (row, first) = (&paused, Generation::FIRST);
    let done: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.schedule_update(row, first))).await;
    assert_eq!(done.unwrap(), Update::Updated);
    let done: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.schedule_update(row, first))).await;
    assert_eq!(done.unwrap(), Update::Stale { current: first.next() });
    (paused.generation, paused.turn) = (first.next(), first.next());
    let mut read = world.read().await.unwrap();
    assert_eq!(read.schedule_get(one.id).await.unwrap(), Some(paused));
    assert_eq!(read.schedule_count().await.unwrap(), (2, 1));
    assert_eq!(read.schedule_count_in(project.id).await.unwrap(), 2);
}

async fn schedules_are_found_when_they_are_due(world: World) {
    let project = world.project("alpha").await;
    for (text, due) in [("late", Some(30)), ("soon", Some(10)), ("never", None), ("then", Some(20))]
    {
        let time_due = due.map(at);
        insert(&world, &Schedule { time_due, ..schedule(&project, text) }).await;
    }
    let mut read = world.read().await.unwrap();
    let names = |found: Vec<Schedule>| -> Vec<String> {
        found.iter().map(|schedule| schedule.name.to_string()).collect()
    };
    assert_eq!(read.schedule_due(at(9), 9).await.unwrap(), []);
    assert_eq!(names(read.schedule_due(at(20), 9).await.unwrap()), ["soon", "then"]);
    assert_eq!(names(read.schedule_due(at(99), 2).await.unwrap()), ["soon", "then"]);
    assert_eq!(read.schedule_next_due().await.unwrap(), Some(at(10)));
}

fn decided(schedule: &Schedule, seconds: i64) -> ScheduleTurn {
    ScheduleTurn {
        id: schedule.id,
        turn: schedule.turn,
        log: serde_json::json!({ "decided": at(seconds) }),
        time_due: None,
        time_next: None,
    }
}

async fn one_of_many_decides(world: World) {
    let schedule = inserted(&world, "nightly").await;
    let other = Schedule { id: ScheduleId::from_uuid(next_uuid()), ..schedule.clone() };
    let turns = [decided(&schedule, 10), decided(&other, 10)];
    let mut winners = 0;
    for _ in 0..3 {
        let turns = &turns;
        let done: Result<Vec<_>> =
            world.tx("test", |tx| Box::pin(tx.schedule_turn_batch(turns))).await;
        let done = done.unwrap();
        assert!(!done.contains(&other.id), "what is not there is not decided on");
        winners += done.len();
    }
    assert_eq!(winners, 1);
    let mut read = world.read().await.unwrap();
    let now = read.schedule_get(schedule.id).await.unwrap().unwrap();
    assert_eq!((now.turn, now.generation), (Generation::FIRST.next(), Generation::FIRST));
    assert_eq!((now.log, now.time_due), (turns[0].log.clone(), None));
}

async fn a_change_and_a_decision_do_not_meet(world: World) {
    let schedule = inserted(&world, "nightly").await;
    let row = &Schedule { time_due: Some(at(77)), ..schedule.clone() };
    let first = Generation::FIRST;
    let done: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.schedule_update(row, first))).await;
    assert!(done.unwrap().is_updated());
    let turns = &[decided(&schedule, 10)];
    let done: Result<Vec<_>> = world.tx("test", |tx| Box::pin(tx.schedule_turn_batch(turns))).await;
    assert_eq!(done.unwrap(), [], "it was decided on what is not so any more");
}

async fn a_time_has_one_row(world: World) {
    let schedule = inserted(&world, "nightly").await;
    let many: Vec<Fire> = (0..250).map(|second| fire(&schedule, second)).collect();
    assert_eq!(enter(&world, &many[..150]).await.len(), 150);
    let rest = enter(&world, &many).await;
    assert_eq!(rest.len(), 100, "those that were not there");
    assert!(rest.iter().all(|(_, time)| *time >= at(150)));
    let mut read = world.read().await.unwrap();
    assert_eq!(read.schedule_fire_get(schedule.id, at(7)).await.unwrap(), Some(many[7].clone()));
    let page = read.schedule_fire_list(schedule.id, None, None, limit(2)).await.unwrap();
    assert_eq!(page.items, [many[249].clone(), many[248].clone()]);
    let page = read.schedule_fire_list(schedule.id, None, Some(at(248)), limit(1)).await.unwrap();
    assert_eq!(page.items, [many[247].clone()]);
    let missed = Some(FireState::Missed);
    let page = read.schedule_fire_list(schedule.id, missed, None, limit(2)).await.unwrap();
    assert_eq!(page.items, []);
    assert_eq!(read.schedule_fires_begun(&[schedule.id]).await.unwrap(), [schedule.id]);
}

async fn what_was_begun_is_taken_over_and_ended_once(world: World) {
    let schedule = inserted(&world, "nightly").await;
    let all: Vec<Fire> = (0..3).map(|second| fire(&schedule, second)).collect();
    enter(&world, &all).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.schedule_fires_next_left(false).await.unwrap(), Some(at(30)));
    assert_eq!(read.schedule_fires_left(false, at(29), 9).await.unwrap(), []);
    assert_eq!(read.schedule_fires_left(true, at(99), 9).await.unwrap(), [], "no calls");
    let left = read.schedule_fires_left(false, at(31), 9).await.unwrap();
    assert_eq!(left, all[..2]);
    drop(read);
    let (taker, left) = (server_id(), &left);
    for expected in [2, 0] {
        let done: Result<Vec<_>> =
            world.tx("test", |tx| Box::pin(tx.schedule_fire_take_batch(left, taker, at(60)))).await;
        assert_eq!(done.unwrap().len(), expected);
    }
    let object = ObjectRef::new(ObjectKind::Task, "x", "task-x");
    let ended = |fire: &Fire, tries| Fire {
        state: FireState::Done,
        time_ended: Some(at(40)),
        object: Some(object.clone()),
        status: Some(204),
        tries,
        ..fire.clone()
    };
    assert_eq!(end(&world, &[ended(&all[0], 1)]).await, 0, "it was taken from whoever says so");
    assert_eq!(end(&world, &[ended(&all[0], 2), ended(&all[2], 1)]).await, 2);
    assert_eq!(end(&world, &[ended(&all[0], 2)]).await, 0, "once");
    let rows = fires(&world, &schedule).await;
    let states: Vec<FireState> = rows.iter().map(|fire| fire.state).collect();
    assert_eq!(states, [FireState::Done, FireState::Begun, FireState::Done]);
    assert_eq!((rows[2].server_id, rows[2].tries, rows[2].status), (taker, 2, Some(204)));
    assert_eq!(rows[2].object.as_ref(), Some(&object));
}

async fn what_was_made_last_stays(world: World) {
    let schedule = inserted(&world, "nightly").await;
    let made = |seconds, id: &str| ScheduleMade {
        id: schedule.id,
        time: at(seconds),
        object: ObjectRef::new(ObjectKind::Task, id, id),
    };
    for one in [made(5, "five"), made(3, "three"), made(7, "seven"), made(7, "again")] {
        let one = &[one];
        let done: Result<()> = world.tx("test", |tx| Box::pin(tx.schedule_made_batch(one))).await;
        done.unwrap();
    }
    let now = world.read().await.unwrap().schedule_get(schedule.id).await.unwrap().unwrap();
    assert_eq!(now.last_made.unwrap().id, "seven");
    assert_eq!(now.turn, Generation::FIRST);
}

async fn history_is_bounded(world: World) {
    let (busy, calm) = (inserted(&world, "busy").await, inserted(&world, "calm").await);
    let done = |one: &Schedule, second| Fire { state: FireState::Done, ..fire(one, second) };
    let mut all: Vec<Fire> = (100..130).map(|second| done(&busy, second)).collect();
    all[3].state = FireState::Begun;
    all.extend([done(&calm, 5), fire(&calm, 6), done(&calm, 120)]);
    enter(&world, &all).await;
    let prune = async |limit| {
        let done: Result<(u64, bool)> =
            world.tx("test", |tx| Box::pin(tx.schedule_fire_prune(at(50), 10, limit))).await;
        done.unwrap()
    };
    assert_eq!(prune(9).await, (20, false), "one is old, nineteen are too many");
    assert_eq!(prune(9).await, (0, false));
    let times = |rows: Vec<Fire>| rows.iter().map(|fire| fire.time).collect::<Vec<_>>();
    assert_eq!(times(fires(&world, &calm).await), [at(120), at(6)]);
    let kept = times(fires(&world, &busy).await);
    assert_eq!((kept.len(), kept[9], kept[10]), (11, at(120), at(103)), "begun ones stay");
}

async fn a_schedule_goes_with_its_history(world: World) {
    let schedule = inserted(&world, "nightly").await;
    enter(&world, &[fire(&schedule, 1)]).await;
    let id = schedule.id;
    let stale = Generation::FIRST.next();
    for (expected, update) in [
        (stale, Update::Stale { current: Generation::FIRST }),
        (Generation::FIRST, Update::Updated),
        (Generation::FIRST, Update::Missing),
    ] {
        let done: Result<Update> =
            world.tx("test", |tx| Box::pin(tx.schedule_delete(id, expected))).await;
        assert_eq!(done.unwrap(), update);
    }
    assert_eq!(fires(&world, &schedule).await, []);
}
