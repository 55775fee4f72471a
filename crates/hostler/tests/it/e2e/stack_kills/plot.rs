//! What a stack of two hundred resources is made of, and what is there outside when it is as it says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

const NODE: &str = "node-1";
const NAMESPACE: &str = "kills";
/// Members of the group.
const MEMBERS: usize = 6;

/// Which of its definitions the stack has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wave {
    /// How often it was made from nothing.
    pub cycle: usize,
    pub number: usize,
    /// One of its resources cannot be made.
    pub fails: bool,
}

impl Wave {
    fn word(self) -> String {
        format!("{}-{}", self.cycle, self.number)
    }

    /// Half of the definitions have others than the other half.
    fn is_odd(self) -> bool {
        self.number % 2 == 1
    }
}

/// What is there outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Entries of the state, with their values.
    pub state: BTreeMap<String, String>,
    /// Files, with their texts.
    pub files: BTreeMap<String, String>,
    /// Names of processes that run, each once.
    pub processes: BTreeSet<String>,
}

/// Which definition a template is of, as one of its values says.
pub fn number_of(template: &Value) -> Option<usize> {
    let value = template["resources"]["e10"]["properties"]["value"].as_str()?;
    value.rsplit_once('-')?.1.parse().ok()
}

/// A template, and what it means.
pub struct Plot {
    resources: Map<String, Value>,
    /// What has names that nobody gave: how many of each type.
    pub unnamed: BTreeMap<&'static str, usize>,
    pub outside: Outside,
    /// Rows, with those of stacks below.
    pub rows: usize,
    folder: PathBuf,
}

impl Plot {
    /// `folder` is where files are made, and what is done is noted.
    pub fn of(wave: Wave, folder: &Path) -> Plot {
        let (resources, unnamed) = (Map::new(), BTreeMap::new());
        let outside = Outside::default();
        let mut plot = Plot { resources, unnamed, outside, rows: 0, folder: folder.to_owned() };
        plot.entries(wave);
        plot.inside(wave);
        plot.services(wave);
        plot.machine(wave);
        plot.below(wave);
        plot
    }

    fn add(&mut self, name: &str, kind: &'static str, properties: Value, on: &[String]) {
        let mut one = json!({ "type": kind, "properties": properties });
        if !on.is_empty() {
            one["depends_on"] = json!(on);
        }
        self.resources.insert(name.to_owned(), one);
        self.rows += 1;
    }

    fn unnamed(&mut self, name: &str, kind: &'static str, properties: Value, on: &[String]) {
        *self.unnamed.entry(kind).or_default() += 1;
        self.add(name, kind, properties, on);
    }

    /// Chains of entries; the first ones go and others come, some change, and some have another key.
    fn entries(&mut self, wave: Wave) {
        let from: usize = if wave.is_odd() { 5 } else { 0 };
        for i in from..from + 70 {
            let key = match i % 10 {
                9 => format!("e{i}-w{}", wave.number),
                _ => format!("e{i}"),
            };
            let value = match i % 3 {
                0 => "as ever".to_owned(),
                _ => format!("e{i} of {}", wave.word()),
            };
            let on: Vec<String> = match i.checked_sub(10) {
                Some(before) if before >= from => vec![format!("e{before}")],
                _ => Vec::new(),
            };
            self.outside.state.insert(key.clone(), value.clone());
            let properties = json!({ "namespace": NAMESPACE, "key": key, "value": value });
            self.add(&format!("e{i}"), "Hostler::StateEntry", properties, &on);
        }
    }

    /// What has no effect outside, takes a while, and takes what others give.
    fn inside(&mut self, wave: Wave) {
        for i in 0..30 {
            let of = format!("e{}", 10 + i);
            let value = json!({ "value": { "get_attr": [of, "value"] } });
            self.add(&format!("v{i}"), "OS::Heat::Value", value, &[]);
        }
        for i in 0..10 {
            let length = if i % 4 == 0 { 16 + wave.number } else { 16 };
            self.add(&format!("r{i}"), "OS::Heat::RandomString", json!({ "length": length }), &[]);
        }
        for i in 0..20 {
            let seconds = [0.0, 0.2, 0.7][i % 3];
            let properties = json!({
                "value": { "str_replace": { "template": "V of W", "params": {
                    "V": { "get_attr": [format!("v{i}"), "value"] }, "W": wave.word(),
                } } },
                "wait_secs": seconds,
                "update_replace": i % 5 == 0,
            });
            self.add(&format!("t{i}"), "OS::Heat::TestResource", properties, &[]);
        }
        if wave.fails {
            let properties = json!({ "value": "x", "fail": true, "wait_secs": 1 });
            self.add("bad", "OS::Heat::TestResource", properties, &["e60".to_owned()]);
        }
        self.add("handle", "OS::Heat::WaitConditionHandle", json!({}), &["e20".to_owned()]);
        let properties = json!({ "handle": { "get_resource": "handle" }, "timeout": 600 });
        self.add("wait", "OS::Heat::WaitCondition", properties, &[]);
    }

    /// Objects of the services; none of them has a name.
    fn services(&mut self, wave: Wave) {
        let task = || json!({ "task": { "spec": { "command": ["true"] } } });
        for i in 0..13 {
            let bytes = if i % 3 == 0 { 16 + wave.number } else { 16 };
            let on = [format!("e{}", 10 + i * 4)];
            self.unnamed(&format!("s{i}"), "Hostler::Secret", json!({ "generate": bytes }), &on);
        }
        for i in 0..4 {
            let cron = format!("{} 0 1 1 *", wave.number + i);
            let properties = json!({ "cron": cron, "target": task() });
            self.unnamed(&format!("n{i}"), "Hostler::Schedule", properties, &[]);
            let on = if wave.is_odd() { "node.offline" } else { "node.joined" };
            let properties = json!({ "on": [on], "action": task() });
            self.unnamed(&format!("h{i}"), "Hostler::Hook", properties, &[]);
        }
        let noted = self.folder.join("done").display().to_string();
        for i in 0..6 {
            let word = if i % 2 == 0 { wave.word() } else { "ever".to_owned() };
            let line = format!("echo $HOSTLER_TASK >> {noted}");
            let properties = json!({
                "command": ["sh", "-c", line],
                "env": { "WORD": word },
                "resources": { "cores": 0.01 },
            });
            let on = [format!("e{}", 10 + i * 5)];
            self.unnamed(&format!("k{i}"), "Hostler::Task", properties, &on);
        }
    }

    /// What is on the machine of a node.
    fn machine(&mut self, wave: Wave) {
        for i in 0..3 {
            let marker = self.folder.join(format!("w{i}")).display().to_string();
            let word = if i == 0 { wave.word() } else { "ever".to_owned() };
            let properties = json!({
                "command": ["sh", "-c", "sleep 100000; true", marker],
                "env": { "WORD": word },
                "resources": { "cores": 0.01 },
            });
            self.outside.processes.insert(marker);
            self.unnamed(&format!("w{i}"), "Hostler::Workload", properties, &[]);
        }
        let from = if wave.is_odd() { 3 } else { 0 };
        for i in from..from + 16 {
            let name = match i % 7 {
                6 => format!("f{i}-w{}", wave.number),
                _ => format!("f{i}"),
            };
            let text = match i % 2 {
                0 => "as ever\n".to_owned(),
                _ => format!("f{i} of {}\n", wave.word()),
            };
            self.outside.files.insert(name.clone(), text.clone());
            let path = self.folder.join("files").join(name);
            let properties = json!({ "node": NODE, "path": path, "content": text, "mode": "0644" });
            let on = [format!("e{}", 10 + i * 2)];
            self.add(&format!("f{i}"), "Hostler::Host::File", properties, &on);
        }
    }

    /// Stacks below: one, and a group that is changed in batches.
    fn below(&mut self, wave: Wave) {
        let value = format!("below of {}", wave.word());
        let mut entry = |key: String| self.outside.state.insert(key, value.clone());
        entry("below".to_owned());
        for i in 0..MEMBERS {
            entry(format!("g{i}"));
        }
        self.rows += 2 + 3 * MEMBERS;
        let properties = json!({ "key": "below", "value": value });
        self.add("below", "below.yaml", properties, &["e30".to_owned()]);
        let member =
            json!({ "type": "below.yaml", "properties": { "key": "g%index%", "value": value } });
        let properties = json!({ "count": MEMBERS, "resource_def": member });
        self.add("group", "OS::Heat::ResourceGroup", properties, &["e15".to_owned()]);
        self.resources["group"]["update_policy"] =
            json!({ "rolling_update": { "max_batch_size": 2, "pause_time": 0.2 } });
    }

    /// Writes the template down under a name, and says where it is.
    pub fn write(&self, name: &str) -> String {
        let template =
            json!({ "heat_template_version": "2021-04-16", "resources": self.resources });
        let below = json!({
            "heat_template_version": "2021-04-16",
            "parameters": { "key": { "type": "string" }, "value": { "type": "string" } },
            "resources": {
                "entry": { "type": "Hostler::StateEntry", "properties": {
                    "namespace": NAMESPACE,
                    "key": { "get_param": "key" },
                    "value": { "get_param": "value" },
                } },
                "echo": { "type": "OS::Heat::Value", "properties": {
                    "value": { "get_attr": ["entry", "value"] },
                } },
            },
        });
        std::fs::write(self.folder.join("below.yaml"), below.to_string()).unwrap();
        let path = self.folder.join(name);
        std::fs::write(&path, template.to_string()).unwrap();
        path.display().to_string()
    }
}
