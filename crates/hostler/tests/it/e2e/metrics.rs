//! A real Prometheus scrapes a real server over HTTPS, with a token that may do nothing else; what it finds
//! is what the rules and the dashboard ask for; and what is kept without it.

use serde_json::Value;

use crate::rig::{Agent, Prometheus, Rig, Server, until};

/// The configuration that is shipped, for this server and this token.
fn configuration(server: &Server, rules: &str, token: &str, authority: &str) -> String {
    let shipped =
        std::fs::read_to_string(Prometheus::packaging().join("prometheus/prometheus.yml"))
            .unwrap()
            .replace("scrape_interval: 15s", "scrape_interval: 1s")
            .replace("scrape_interval: 30s", "scrape_interval: 1s")
            .replace("evaluation_interval: 15s", "evaluation_interval: 1s")
            .replace("/usr/share/hostler/prometheus/hostler.rules.yml", rules)
            .replace("/etc/prometheus/hostler.token", token)
            .replace("/etc/prometheus/hostler-ca.pem", authority)
            .replace("\"SERVER-1:7443\", \"SERVER-2:7443\"", &format!("\"{}\"", server.api))
            .replace("HOSTLER:7443", &server.api.to_string());
    assert!(!shipped.contains("7443") && !shipped.contains("/etc/"), "{shipped}");
    shipped
}

/// Every expression of the dashboard, with what Grafana puts in.
fn dashboard_expressions() -> Vec<String> {
    let text =
        std::fs::read_to_string(Prometheus::packaging().join("grafana/hostler.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    targets
        .map(|target| {
            let expression = target["expr"].as_str().unwrap();
            expression
                .replace("$__rate_interval", "1m")
                .replace("$node", ".*")
                .replace("$project", ".*")
        })
        .collect()
}

const SERVICE: &str = "\
workloads:
  - name: beacon
    mode: forever
    command: [sleep, '1000']
  - name: shaky
    mode: forever
    command: [sh, -c, 'exit 3']
    restart: { delay: 100ms, maxDelay: 200ms }
";

#[test]
fn a_real_prometheus_finds_everything_and_its_rules_fire() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let admin = server.first_login(&rig);
    let mut agent = Agent::join(&rig, &admin, &server, "web-1");
    admin.ok(&["user", "create", "prometheus", "--service", "--role", "viewer"]);
    let words = ["token", "create", "scrape", "--user", "prometheus", "--can", "metrics.read"];
    let secret = admin.ok(&words).trim().to_owned();
    let certificate = admin.ok(&["ca", "show", "-o", "jsonpath={.present.certificate}"]);
    std::fs::write(rig.path("token"), &secret).unwrap();
    std::fs::write(rig.path("ca.pem"), certificate).unwrap();
    std::fs::write(rig.path("services.yaml"), SERVICE).unwrap();
    admin.ok(&["workload", "apply", "-f", rig.path("services.yaml").to_str().unwrap()]);
    admin.ok(&["run", "--", "true"]);

    // The token is for this alone, and nobody gets in without one.
    let https = server.https();
    assert_eq!(https.get("/metrics/nodes").status, 401);
    assert_eq!(https.token(&secret).get("/api/v1/nodes").status, 403);
    let page = https.token(&secret).get("/metrics/workloads");
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").unwrap().starts_with("application/openmetrics-text"));

    // For a rule to fire within a test, it may not want to wait.
    let rules =
        std::fs::read_to_string(Prometheus::packaging().join("prometheus/hostler.rules.yml"))
            .unwrap()
            .replace("for: 1m", "for: 0m")
            .replace("for: 5m", "for: 0m");
    std::fs::write(rig.path("rules.yml"), rules).unwrap();
    let path = |name: &str| rig.path(name).to_str().unwrap().to_owned();
    let configuration = configuration(&server, &path("rules.yml"), &path("token"), &path("ca.pem"));
    let Some(prometheus) = Prometheus::start(&rig, &configuration) else { return };

    until("all three pages are scraped", || {
        let targets = prometheus.targets();
        let is_up =
            |(_, health, error): &(String, String, String)| health == "up" && error.is_empty();
        (targets.len() == 3 && targets.iter().all(is_up)).then_some(())
    });
    for query in [
        "hostler_node_up{node=\"web-1\"} == 1",
        "hostler_node_memory_used_bytes{node=\"web-1\"} > 0",
        "hostler_agent_disk_written_bytes_total{node=\"web-1\"} > 0",
        "hostler_cert_expiry_timestamp_seconds{kind=\"node\",node=\"web-1\"} > time()",
        "hostler_cert_expiry_timestamp_seconds{kind=\"authority\"} > time()",
        "hostler_cert_expiry_timestamp_seconds{kind=\"server\"} > time()",
        "hostler_workload_up{project=\"default\",workload=\"beacon\",node=\"web-1\"} == 1",
        "hostler_workload_memory_bytes{workload=\"beacon\"} > 0",
        "hostler_workload_restarts_total{workload=\"shaky\",reason=\"exited\"} > 2",
        "hostler_queue_wait_seconds_count > 0",
        "hostler_tasks_ended_total{state=\"completed\"} > 0",
        "hostler_audit_chain_ok == 1",
        "hostler_build_info",
    ] {
        prometheus.until_some(query);
    }
    for expression in dashboard_expressions() {
        prometheus.query(&expression);
    }

    until("the rule about restarts fires", || {
        let fires = |(name, labels): &(String, Value)| {
            name == "HostlerWorkloadRestarting" && labels["workload"] == "shaky"
        };
        prometheus.firing().iter().any(fires).then_some(())
    });
    assert!(!prometheus.firing().iter().any(|(name, _)| name == "HostlerNodeDown"));
    agent.process.kill();
    admin.wait_node("web-1", "stale");
    prometheus.until_some("hostler_node_up{node=\"web-1\"} == 0");
    until("the rule about nodes fires", || {
        prometheus.firing().iter().any(|(name, _)| name == "HostlerNodeDown").then_some(())
    });
}

#[test]
fn a_server_remembers_its_figures_without_anybody_scraping() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    cli.ok(&["run", "--", "true"]);
    let view = until("figures were sampled after the task", || {
        let view = cli.json(&["metrics", "--since", "10m"]);
        let series = view["series"].as_array().unwrap().iter();
        let mut ended = series.filter(|one| one["name"] == "tasks.ended");
        let values = ended.next().unwrap()["values"].as_array().unwrap();
        values.iter().any(|value| value.as_f64().unwrap_or(0.0) > 0.0).then(|| view.clone())
    });
    let count = view["times"].as_array().unwrap().len();
    let last = |name: &str| {
        let series = view["series"].as_array().unwrap().iter().find(|one| one["name"] == name);
        let values = series.unwrap()["values"].as_array().unwrap();
        assert_eq!(values.len(), count, "{name}");
        values.last().unwrap().as_f64().unwrap()
    };
    assert_eq!((last("nodes.online"), last("nodes.offline")), (1.0, 0.0));
    assert!(last("cpu.total") >= 1.0 && last("memory.total") > 0.0);
    assert!(last("api.requests") > 0.0);
    let table = cli.ok(&["metrics", "nodes.online", "queue.wait", "--since", "10m"]);
    assert!(table.contains("nodes.online") && table.contains("queue.wait"), "{table}");
    assert!(!table.contains("cpu.used"), "{table}");
    let wrong = cli.run(&["metrics", "nodes.onlin"]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);
}
