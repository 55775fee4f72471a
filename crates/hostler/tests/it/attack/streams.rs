//! Streams that somebody opened while they still might.

use std::time::{Duration, Instant};

use super::goes_on;
use crate::rig::{Rig, Server};

#[test]
fn every_stream_is_cut_within_five_seconds_of_a_revocation() {
    let rig = Rig::new();
    let (mut server, cli) = Server::up(&rig);
    cli.submit("ticks", "while true; do echo tick; sleep 0.2; done");
    cli.wait_pid("ticks");
    for how in ["token", "user"] {
        let name = format!("spy-{how}");
        cli.ok(&["user", "create", &name, "--service"]);
        cli.ok(&["project", "grant", "default", &name, "viewer"]);
        let made = cli.json(&["token", "create", "key", "--user", &name, "--role", "viewer"]);
        let https = server.https().token(made["secret"].as_str().unwrap());
        let paths = [
            "/api/v1/events?watch=true",
            "/api/v1/projects/default/tasks?watch=true",
            "/api/v1/projects/default/workloads?watch=true",
            "/api/v1/projects/default/tasks/ticks/logs?follow=true",
        ];
        let mut streams: Vec<_> = paths.iter().map(|path| https.watch(path, &[])).collect();
        let begun = Instant::now();
        match how {
            "token" => cli.ok(&["token", "rm", made["token"]["id"].as_str().unwrap(), "--yes"]),
            _ => cli.ok(&["user", "disable", &name]),
        };
        for (stream, path) in streams.iter_mut().zip(paths) {
            while stream.next().is_some() {}
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(5), "{path} went on for {took:?} ({how})");
        }
        https.get("/api/v1/whoami").problem(401, "unauthenticated");
    }
    let entries = cli.json(&["audit", "ls"]).to_string();
    assert!(entries.contains("token.revoke") && entries.contains("user."), "{entries}");
    goes_on(&mut server, &cli);
}
