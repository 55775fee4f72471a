//! Devices from a file, through everything that the agent holds of them.

use std::path::Path;

use serde_json::{Value, json};

use super::*;

fn write(path: &Path, gpus: Value) {
    let temporary = path.with_extension("new");
    let text = json!({ "driver": "550", "gpus": gpus }).to_string();
    std::fs::write(&temporary, text).unwrap();
    std::fs::rename(temporary, path).unwrap();
}

fn world(gpus: Value) -> (tempfile::TempDir, PathBuf, Devices) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gpus.json");
    write(&path, gpus);
    let devices = Devices::new(Some(path.clone()));
    (dir, path, devices)
}

fn troubles(facts: &[GpuFact]) -> Vec<Option<&str>> {
    facts.iter().map(|fact| fact.trouble.as_deref()).collect()
}

/// Hears of everything that is new.
fn hear(devices: &Devices) {
    let rounds = std::cell::Cell::new(0);
    let is_over = || rounds.replace(rounds.get() + 1) >= 1;
    devices.source.listen(&is_over, &mut |error| devices.error(error));
}

#[test]
fn devices_are_as_the_file_says() {
    let gpus = json!([
        { "model": "simulated A100", "memory": "40GiB", "numa": 1 },
        { "model": "simulated T4", "uuid": "GPU-t4", "xids": [13, 79] },
    ]);
    let (_dir, path, devices) = world(gpus);
    assert_eq!(devices.facts(), [], "nothing is known before the first look");
    let facts = devices.look();
    assert_eq!(facts, devices.facts());
    assert_eq!((facts[0].uuid.as_str(), facts[0].numa), ("GPU-simulated-0", Some(1)));
    assert_eq!((facts[1].uuid.as_str(), facts[1].driver.as_str()), ("GPU-t4", "550"));
    hear(&devices);
    assert_eq!(troubles(&devices.facts()), [None, None], "errors before the first look are past");
    std::fs::write(path, "{").unwrap();
    assert_eq!(devices.look(), facts, "a file that makes no sense changes nothing");
}

#[test]
fn an_error_puts_a_device_out_of_service_until_somebody_looks_anew() {
    let gpus = |xids: &[u64], is_lost| json!([{ "model": "a" }, { "model": "b", "xids": xids, "isLost": is_lost }]);
    let (_dir, path, devices) = world(gpus(&[], false));
    devices.look();
    let seen = devices.seen();
    assert_eq!(*seen.borrow(), Seen { devices: 2, troubles: 0 });

    write(&path, gpus(&[31], false));
    hear(&devices);
    assert_eq!(troubles(&devices.facts()), [None, None]);
    assert_eq!(seen.borrow().troubles, 0, "a program's own error is nobody else's");

    write(&path, gpus(&[31, 48], false));
    hear(&devices);
    let trouble = "Xid 48: uncorrectable memory error";
    assert_eq!(troubles(&devices.facts()), [None, Some(trouble)]);
    assert_eq!(seen.borrow().troubles, 1);
    assert_eq!(troubles(&devices.look()), [None, Some(trouble)], "a mere look helps nothing");

    write(&path, gpus(&[31, 48], true));
    hear(&devices);
    let anew = devices.look_anew();
    assert_eq!(troubles(&anew), [None, Some("Xid 48: uncorrectable memory error")]);
    write(&path, gpus(&[31, 48], false));
    assert_eq!(troubles(&devices.look_anew()), [None, None], "it answers again");
    assert_eq!(seen.borrow().troubles, 2);
}

#[test]
fn a_device_that_is_gone_is_not_forgotten_until_somebody_looks_anew() {
    let (_dir, path, devices) = world(json!([{ "model": "a" }, { "model": "b" }]));
    devices.look();
    write(&path, json!([{ "model": "a" }]));
    assert_eq!(troubles(&devices.look()), [None, Some("it is not there any more")]);
    assert_eq!(devices.look_anew().len(), 1);
    assert_eq!(devices.seen().borrow().devices, 1);
}

#[test]
fn a_sample_grows_old() {
    let gpus = json!([{ "model": "a", "utilisation": 0.5, "memoryUsed": "1GiB", "power": 70 }]);
    let (_dir, path, devices) = world(gpus);
    devices.look();
    let clock = Clock::system();
    assert_eq!(devices.metrics(clock.instant()), []);
    devices.sample(&clock);
    let now = clock.instant();
    let metrics = devices.metrics(now);
    assert_eq!((metrics[0].utilisation, metrics[0].power), (Some(0.5), Some(70.0)));
    write(&path, json!([{ "model": "a", "xids": [43] }]));
    hear(&devices);
    assert_eq!(devices.metrics(now)[0].errors, 1);
    assert_eq!(devices.metrics(now + SAMPLE_FRESH * 2), []);
}

#[tokio::test]
async fn devices_are_watched_until_the_agent_stops() {
    let (_dir, path, devices) = world(json!([{ "model": "a", "temperature": 40 }]));
    let devices = Arc::new(devices);
    let clock = Clock::system();
    let shutdown = hostler_base::Shutdown::new(clock.clone());
    let tasks = shutdown.tasks(hostler_base::Phase::Sessions);
    tasks.spawn_until_cancelled(
        "gpus",
        OnError::Log,
        devices.clone().watch(tasks.clone(), clock.clone()),
    );
    devices.look();
    let limit = Duration::from_secs(20);
    let mut seen = devices.seen();
    write(&path, json!([{ "model": "a", "temperature": 40, "isLost": true }]));
    let told = tokio::time::timeout(limit, seen.wait_for(|seen| seen.troubles == 1)).await;
    assert!(told.is_ok_and(|told| told.is_ok()), "in vain waited for the trouble");
    assert_eq!(troubles(&devices.facts()), [Some("Xid 79: GPU has fallen off the bus")]);
    shutdown.request("the test is over");
    assert!(shutdown.run(limit).await.is_clean());
}
