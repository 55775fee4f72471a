//! A real Prometheus, asked over its own API.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use serde_json::Value;

use super::{DEADLINE, Process, Rig, command, skipped, until};

pub struct Prometheus {
    _process: Process,
    address: SocketAddr,
}

impl Prometheus {
    /// Nothing where it is not installed; `make test` does that.
    pub fn start(rig: &Rig, configuration: &str) -> Option<Prometheus> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let has = |name: &str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
        if !has("prometheus") {
            skipped("`prometheus` is not installed");
            return None;
        }
        let file = rig.path("prometheus.yml");
        std::fs::write(&file, configuration).unwrap();
        let mut prometheus = command(rig, "prometheus");
        prometheus.arg(format!("--config.file={}", file.display()));
        prometheus.arg(format!("--storage.tsdb.path={}", rig.path("prometheus").display()));
        prometheus.arg("--web.listen-address=127.0.0.1:0");
        let mut process = Process::spawn(rig, "prometheus", prometheus);
        let line = process.line(&["Listening on", "address="]);
        let address = line.rsplit_once("address=").unwrap().1.trim().parse().unwrap();
        process.line(&["Server is ready to receive web requests"]);
        Some(Prometheus { _process: process, address })
    }

    /// Where the rules and the dashboard of this repository are.
    pub fn packaging() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging"))
    }

    fn get(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let address = self.address;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let body = reply.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {reply}"))
    }

    /// Every target with its health and what was wrong with the last scrape.
    pub fn targets(&self) -> Vec<(String, String, String)> {
        let answer = self.get("/api/v1/targets");
        let targets = answer["data"]["activeTargets"].as_array().unwrap().iter();
        let text = |target: &Value, field: &str| target[field].as_str().unwrap().to_owned();
        targets
            .map(|target| {
                (text(target, "scrapeUrl"), text(target, "health"), text(target, "lastError"))
            })
            .collect()
    }

    /// The results of a query: labels and value.
    pub fn query(&self, query: &str) -> Vec<(Value, f64)> {
        let mut words = String::new();
        for byte in query.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => words.push(char::from(byte)),
                _ => words.push_str(&format!("%{byte:02X}")),
            }
        }
        let answer = self.get(&format!("/api/v1/query?query={words}"));
        assert_eq!(answer["status"], "success", "{query}: {answer}");
        let results = answer["data"]["result"].as_array().unwrap().iter();
        results
            .map(|one| {
                let value = one["value"][1].as_str().unwrap().parse().unwrap();
                (one["metric"].clone(), value)
            })
            .collect()
    }

    /// Waits until a query has a result.
    #[track_caller]
    pub fn until_some(&self, query: &str) -> Vec<(Value, f64)> {
        until(&format!("{query} has a result"), || {
            Some(self.query(query)).filter(|results| !results.is_empty())
        })
    }

    /// Alerts that fire, by name with their labels.
    pub fn firing(&self) -> Vec<(String, Value)> {
        let answer = self.get("/api/v1/alerts");
        let alerts = answer["data"]["alerts"].as_array().unwrap().iter();
        let firing = alerts.filter(|alert| alert["state"] == "firing");
        firing
            .map(|alert| {
                let labels = alert["labels"].clone();
                (labels["alertname"].as_str().unwrap().to_owned(), labels)
            })
            .collect()
    }
}
