//! Groups of real workloads: scaled by policies and by alarms, and changed a few at a time.

use hostler_control::{AlarmReport, StackAlarms, WorkloadQuery};
use hostler_model::{Bytes, Limit, NodeMetrics, WorkloadUsage};
use serde_json::{Value, json};

use crate::stack_bed::Bed;

fn member(version: &str) -> Value {
    json!({
        "type": "Hostler::Workload",
        "properties": {
            "command": ["serve", version], "tags": ["web"], "placement": { "node": "n1" },
        },
    })
}

fn group(version: &str, sizes: (u32, u32), desired: u32) -> Value {
    json!({
        "type": "OS::Heat::AutoScalingGroup",
        "properties": {
            "min_size": sizes.0, "max_size": sizes.1, "desired_capacity": desired, "cooldown": 60,
            "resource": member(version),
            "rolling_updates": { "min_in_service": 1, "max_batch_size": 1, "pause_time": 0 },
        },
    })
}

fn policy(by: i32, cooldown: u32) -> Value {
    json!({
        "type": "OS::Heat::ScalingPolicy",
        "properties": {
            "auto_scaling_group_id": { "get_resource": "group" }, "scaling_adjustment": by,
            "adjustment_type": "change_in_capacity", "cooldown": cooldown,
        },
    })
}

impl Bed {
    async fn signal(&mut self, resource: &str) {
        let (cx, project) = (self.world.cx.clone(), self.world.project.clone());
        let done = self.control().stack_signal(&cx, &project, "s", resource, &Value::Null).await;
        done.unwrap();
    }

    /// What workloads there are, and with which argument each is run.
    async fn running(&self) -> Vec<String> {
        let (cx, project) = (&self.world.cx, &self.world.project);
        let (query, limit) = (WorkloadQuery::default(), Limit::LARGEST);
        let all = self.control().workload_list(cx, project, &query, None, limit);
        let all = all.await.unwrap().items;
        all.iter().map(|it| it.service.spec.command[1].clone()).collect()
    }

    async fn rounds(&mut self, count: usize) {
        for _ in 0..count {
            self.round().await;
        }
    }

    async fn alarmed(&mut self, alarms: &mut StackAlarms, times: usize) -> AlarmReport {
        let mut all = AlarmReport::default();
        for _ in 0..times {
            let report = alarms.advance().await.unwrap().report;
            assert_eq!(report.failed, 0, "{report:?}");
            all.changed += report.changed;
            all.actions += report.actions;
            all.measured += report.measured;
            self.rounds(10).await;
        }
        all
    }

    /// Goes on until an alarm stands so; what was done until then.
    async fn until(&mut self, alarms: &mut StackAlarms, alarm: &str, state: &str) -> AlarmReport {
        let mut all = AlarmReport::default();
        for _ in 0..40 {
            let report = Box::pin(self.alarmed(alarms, 1)).await;
            all.changed += report.changed;
            all.actions += report.actions;
            if self.attribute("s", alarm, "state").await == json!(state) {
                return all;
            }
        }
        panic!("it never stood so: {state} {:?}", self.told("s").await);
    }
}

#[tokio::test]
async fn a_policy_changes_the_number_of_workloads_within_its_cooldown() {
    let mut bed = Box::pin(Bed::new(21, 1)).await;
    let resources =
        json!({ "group": group("v1", (1, 3), 1), "up": policy(1, 60), "down": policy(-1, 60) });
    let how = bed.create("s", resources.clone()).await;
    assert!(how.starts_with("CREATE_COMPLETE"), "{how}");
    assert_eq!(bed.running().await, ["v1"]);

    bed.signal("up").await;
    bed.rounds(5).await;
    assert_eq!(bed.running().await.len(), 1, "it rests after it was made");
    bed.world.advance(std::time::Duration::from_secs(61));
    for (size, resource) in [(2, "up"), (3, "up"), (3, "up"), (2, "down")] {
        bed.signal(resource).await;
        bed.rounds(40).await;
        assert_eq!(bed.running().await.len(), size, "{resource}");
        assert_eq!(bed.attribute("s", "group", "current_size").await, json!(size));
        bed.signal(resource).await;
        bed.rounds(3).await;
        assert_eq!(bed.running().await.len(), size, "and rests after that");
        bed.world.advance(std::time::Duration::from_secs(61));
    }

    // Another version goes through the group one workload at a time: one always runs.
    let mut changed = resources;
    changed["group"] = group("v2", (1, 3), 2);
    let how = bed.update("s", changed).await;
    assert!(how.starts_with("UPDATE_COMPLETE"), "{how}");
    assert_eq!(bed.running().await, ["v2", "v2"]);
    let told = bed.told("s").await;
    let at = told.iter().position(|line| line.starts_with("group UPDATE_IN_PROGRESS")).unwrap();
    let mut under_way = 0;
    for line in &told[at + 1..] {
        let is_member = line.contains("state changed") && !line.starts_with("group ");
        match is_member {
            true if line.contains(" UPDATE_IN_PROGRESS ") => under_way += 1,
            true if line.contains(" UPDATE_COMPLETE ") => under_way -= 1,
            _ => {}
        }
        assert!(under_way <= 1, "{told:?}");
    }

    bed.delete("s").await;
    assert!(bed.running().await.is_empty());
}

fn alarm(properties: Value) -> Value {
    let mut all = json!({ "threshold": 0, "period": 20, "evaluation_periods": 2 });
    all.as_object_mut().unwrap().extend(properties.as_object().unwrap().clone());
    json!({ "type": "Hostler::Alarm", "properties": all })
}

#[tokio::test]
async fn an_alarm_on_workloads_makes_the_group_larger_and_smaller() {
    let mut bed = Box::pin(Bed::new(22, 1)).await;
    let resources = json!({
        "group": group("v1", (1, 4), 1),
        "up": policy(1, 10),
        "down": policy(-1, 10),
        "busy": alarm(json!({
            "metric": "workload.running", "tag": "web", "comparison": "lt", "threshold": 2,
            "alarm_actions": [{ "get_attr": ["up", "alarm_url"] }], "ok_actions": ["down"],
            "repeat_actions": false,
        })),
    });
    let how = bed.create("s", resources).await;
    assert!(how.starts_with("CREATE_COMPLETE"), "{how}");
    assert_eq!(bed.attribute("s", "busy", "state").await, json!("insufficient data"));
    bed.world.advance(std::time::Duration::from_secs(61));
    let mut alarms = bed.control().stack_alarms();
    let first = Box::pin(bed.alarmed(&mut alarms, 3)).await;
    assert_eq!((first.changed, first.actions), (0, 0), "it has not looked for long enough");
    let rang = Box::pin(bed.until(&mut alarms, "busy", "alarm")).await;
    assert_eq!((rang.changed, rang.actions), (1, 1));
    assert_eq!(bed.times("s", "busy SIGNAL_COMPLETE alarm state changed").await, 1);

    // Two run then: it rings no more, and what is to be done then is done.
    let calmed = Box::pin(bed.until(&mut alarms, "busy", "ok")).await;
    assert_eq!((calmed.changed, calmed.actions), (1, 1));
    assert!(bed.running().await.len() <= 2);
    bed.rounds(20).await;
    assert_eq!(bed.running().await.len(), 1);
    bed.delete("s").await;
    assert_eq!(alarms.advance().await.unwrap().report, AlarmReport::default(), "there is none");
}

#[tokio::test]
async fn an_alarm_on_a_node_tells_what_is_measured_there() {
    let mut bed = Box::pin(Bed::new(23, 0)).await;
    let node = |comparison: &str, threshold: f64| {
        alarm(
            json!({ "metric": "node.cpu", "node": "m1", "comparison": comparison, "threshold": threshold }),
        )
    };
    let how = bed.create("s", json!({ "hot": node("gt", 80.0), "cold": node("lt", 10.0) })).await;
    assert!(how.starts_with("CREATE_COMPLETE"), "{how}");
    let states = async |bed: &Bed| {
        let of = async |name: &str| bed.attribute("s", name, "state").await;
        [of("hot").await, of("cold").await]
    };
    let mut alarms = bed.control().stack_alarms();
    Box::pin(bed.alarmed(&mut alarms, 6)).await;
    assert_eq!(states(&bed).await, [json!("insufficient data"), json!("insufficient data")]);
    for (busy, hot, cold) in [(0.95, "alarm", "ok"), (0.05, "ok", "alarm"), (0.5, "ok", "ok")] {
        bed.metrics = Some(NodeMetrics { cpu_ratio: busy, ..NodeMetrics::default() });
        Box::pin(bed.alarmed(&mut alarms, 6)).await;
        assert_eq!(states(&bed).await, [json!(hot), json!(cold)], "{busy}");
    }

    // Another server keeps out of it as long as one judges, and goes on when that is gone.
    let another = bed.world.another_server().await;
    let mut others = another.stack_alarms();
    bed.metrics = Some(NodeMetrics { cpu_ratio: 0.99, ..NodeMetrics::default() });
    for _ in 0..6 {
        assert_eq!(alarms.advance().await.unwrap().report.failed, 0);
        assert_eq!(others.advance().await.unwrap().report.changed, 0);
        bed.rounds(10).await;
    }
    assert_eq!(states(&bed).await, [json!("alarm"), json!("ok")]);
    drop(alarms);
    bed.metrics = Some(NodeMetrics { cpu_ratio: 0.01, ..NodeMetrics::default() });
    bed.rounds(31).await;
    Box::pin(bed.alarmed(&mut others, 6)).await;
    assert_eq!(states(&bed).await, [json!("ok"), json!("alarm")]);
}

#[tokio::test]
async fn an_alarm_adds_up_what_places_use_and_repeats_itself() {
    let mut bed = Box::pin(Bed::new(24, 0)).await;
    let resources = json!({
        "one": { "type": "Hostler::Workload", "properties": { "name": "one", "command": ["serve", "x"], "placement": { "node": "m1" } } },
        "relay": alarm(json!({ "metric": "node.load", "enabled": false })),
        "fat": alarm(json!({
            "metric": "workload.memory", "workloads": ["one"], "across": "sum", "comparison": "ge",
            "threshold": 1000, "alarm_actions": ["relay"],
        })),
    });
    bed.begin("s", resources).await.unwrap();
    bed.rounds(5).await;
    let (cx, project) = (bed.world.cx.clone(), bed.world.project.clone());
    let placed = bed.control().workload_get(&cx, &project, "one").await.unwrap();
    let placement = placed.placements[0].placement.id;
    bed.usage = vec![WorkloadUsage { placement, cpu: 0.5, memory: Bytes::new(1500) }];
    let mut alarms = bed.control().stack_alarms();
    let rang = Box::pin(bed.alarmed(&mut alarms, 12)).await;
    assert_eq!(rang.changed, 1);
    assert!(rang.actions > 2, "with every period: {rang:?}");
    assert_eq!(bed.attribute("s", "fat", "state").await, json!("alarm"));
    assert_eq!(bed.attribute("s", "relay", "state").await, json!("alarm"), "it was told");
}
