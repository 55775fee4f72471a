//! What is printed is read back as the same.

use std::collections::BTreeMap;

use hostler_manifest::{load_str, to_yaml};
use hostler_model::{
    Bytes, CatchUp, Check, Cores, Dependency, DependencyCondition, GpuRequest, HealthCheck, Hook,
    Hooks, HttpCheck, Limits, LogPolicy, Mode, Name, OnUnhealthy, Overlap, PlacementRules,
    PythonEntry, Resources, RestartOn, RestartPolicy, Schedule, Span, StopPolicy, StopSignal,
    TcpCheck, WorkloadSpec,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z/-]{1,12}",
        "(true|no|null|~|022|1e3|0x1F|12:30|\\.inf|-|=|<<|1_000|- a|a: b|a #b|&a|\\*a|!a|%a|@a|`a|\\{\\{ a \\}\\}|\\{%|\\{# )",
        "[ -~\n\t]{1,40}",
        "([a-z ]{0,8}\n){1,4}",
        any::<String>().prop_map(|text| text.replace('\0', "").chars().take(60).collect()),
    ]
}

fn word() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9]{0,8}"
}

fn name() -> impl Strategy<Value = Name> {
    word().prop_map(|word| word.parse().unwrap())
}

fn command() -> impl Strategy<Value = Vec<String>> {
    vec(text().prop_filter("a program", |text| !text.is_empty()), 1..5)
}

fn span() -> impl Strategy<Value = Span> {
    (1u64..200_000_000).prop_map(Span::from_millis)
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![(1u64..4096).prop_map(Bytes::mib), (1u64 << 20..1 << 40).prop_map(Bytes::new)]
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON", |n| n.is_finite()).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    let schedule = (span(), any::<bool>(), any::<bool>()).prop_map(|(jitter, a, b)| Schedule {
        timezone: if a { "UTC" } else { "local" }.to_owned(),
        jitter,
        overlap: if b { Overlap::Allow } else { Overlap::Forbid },
        catch_up: if a { CatchUp::All } else { CatchUp::One },
        ..Schedule::new("*/5 3 * * 1-5")
    });
    prop_oneof![
        Just(Mode::Once),
        Just(Mode::Forever),
        (1u32..100).prop_map(Mode::Times),
        schedule.prop_map(Mode::Schedule),
    ]
}

fn health() -> impl Strategy<Value = HealthCheck> {
    let check = prop_oneof![
        Just(Check::Process),
        (1u16..).prop_map(|port| Check::Tcp(TcpCheck { host: "127.0.0.1".into(), port })),
        (1u16.., "/[a-z]{0,5}", vec(100u16..600, 0..3)).prop_map(|(port, path, status)| {
            Check::Http(HttpCheck { host: "example".into(), port, path, status })
        }),
        command().prop_map(Check::Exec),
        "[a-z ]{0,9}".prop_map(Check::Log),
    ];
    let then = prop_oneof![
        Just(OnUnhealthy::Mark),
        Just(OnUnhealthy::Restart),
        command().prop_map(OnUnhealthy::Hook)
    ];
    (check, then, 1u32..9, any::<bool>()).prop_map(|(check, on_unhealthy, n, usual)| {
        let base = HealthCheck::new(check);
        match usual {
            true => base,
            false => HealthCheck { on_unhealthy, healthy_after: n, ..base },
        }
    })
}

fn env() -> impl Strategy<Value = BTreeMap<String, String>> {
    let key = text().prop_filter("a variable", |key| {
        !key.is_empty() && !key.contains('=') && !key.starts_with("HOSTLER_")
    });
    btree_map(key, text(), 0..5)
}

prop_compose! {
    fn around()(
        hook in option::of((command(), span()).prop_map(|(command, timeout)| Hook { command, timeout })),
        tags in vec("[a-z:0-9 ]{1,12}", 0..4),
        others in vec(name(), 0..3),
        memory in option::of(bytes()),
        nice in option::of(-20i32..=19),
        restart in (span(), 1u32..9, option::of(1u32..9)),
        grace in 0u64..80_000_000,
        log in bytes(),
        placement in (option::of(name()), btree_map(word(), word(), 0..3)),
    ) -> WorkloadSpec {
        let (delay, factor, attempts) = restart;
        let conditions = DependencyCondition::ALL.iter().cycle();
        WorkloadSpec {
            hooks: Hooks { pre_start: hook.clone(), post_stop: hook, ..Hooks::default() },
            tags,
            depends: others
                .into_iter()
                .zip(conditions)
                .map(|(workload, condition)| Dependency { workload, condition: *condition })
                .collect(),
            limits: Limits { memory, nice, ..Limits::default() },
            restart: RestartPolicy {
                on: attempts.map(|_| RestartOn::Failure),
                delay,
                factor,
                max_delay: delay,
                attempts,
                ..RestartPolicy::default()
            },
            stop: StopPolicy { signal: StopSignal::Int, grace: Span::from_millis(grace) },
            logs: LogPolicy { max_bytes: log, ..LogPolicy::default() },
            resources: Resources {
                cores: Cores::from_millis(factor * 125),
                memory: log,
                disk: log,
                gpus: GpuRequest { count: factor % 3, ..GpuRequest::default() },
                ..Resources::default()
            },
            placement: PlacementRules {
                node: placement.0,
                selector: placement.1,
                ..PlacementRules::default()
            },
            ..WorkloadSpec::default()
        }
    }
}

prop_compose! {
    fn spec()(
        around in prop_oneof![Just(WorkloadSpec::default()), around()],
        mode in mode(),
        command in command(),
        python in option::of(btree_map(text(), json(), 0..4)),
        env in env(),
        version in option::of(text()),
        timeout in option::of(span()),
        health in vec(health(), 0..3),
    ) -> WorkloadSpec {
        let python = python.map(|params| PythonEntry {
            module: "shop.sync".into(),
            entry: "run".into(),
            params: params.into_iter().collect(),
            interpreter: "python3".into(),
        });
        let command = if python.is_some() { Vec::new() } else { command };
        WorkloadSpec { mode, command, python, env, version, timeout, health, ..around }
    }
}

fn read_back(name: &Name, yaml: &str) -> WorkloadSpec {
    let loader = hostler_manifest::Loader::new().open();
    let set = loader.str("f.yaml", yaml).unwrap_or_else(|report| panic!("{report}\n{yaml}"));
    set.workloads[name].spec.clone()
}

proptest! {
    #[test]
    fn printed_workloads_are_read_back_as_the_same(spec in spec(), name in name()) {
        let spec = WorkloadSpec {
            depends: spec.depends.iter().filter(|d| d.workload != name).cloned().collect(),
            ..spec
        };
        prop_assert!(spec.problems("").is_empty(), "{:?}", spec.problems(""));
        let yaml = to_yaml(&name, &spec);
        prop_assert_eq!(read_back(&name, &yaml), spec, "{}", yaml);
    }

    #[test]
    fn no_text_at_all_breaks_the_reader(text in "[ -~\n]{0,200}|(name: a|command: |- |\\{|\\[|\n|  |\\* ?a|&a |<<: |x|'|\"|\\{\\{|%\\}|: |---\n){0,40}") {
        if let Err(report) = load_str("f", &text) {
            prop_assert!(!report.mistakes.is_empty());
            let lines = text.lines().count() + 1;
            for mistake in &report.mistakes {
                prop_assert!(mistake.line <= lines + 1, "{mistake}");
                prop_assert!(!mistake.with_source().is_empty());
            }
        }
    }
}

#[test]
fn printed_files_are_tidy() {
    let name: Name = "web".parse().unwrap();
    let spec = WorkloadSpec {
        mode: Mode::Forever,
        command: ["serve", "--port", "8080", "--format", "{{.Names}}", "it's"]
            .map(Into::into)
            .into(),
        env: [("GREETING".into(), "hello\nworld\n".into()), ("ON".into(), "yes".into())].into(),
        health: vec![HealthCheck::new(Check::Tcp(TcpCheck {
            host: "127.0.0.1".into(),
            port: 8080,
        }))],
        limits: Limits { memory: Some(Bytes::mib(512)), ..Limits::default() },
        depends: vec![Dependency {
            workload: "db".parse().unwrap(),
            condition: DependencyCondition::Healthy,
        }],
        ..WorkloadSpec::default()
    };
    insta::assert_snapshot!(to_yaml(&name, &spec));
    assert_eq!(read_back(&name, &to_yaml(&name, &spec)), spec);
    let smallest = WorkloadSpec::command(["true"]);
    assert_eq!(to_yaml(&name, &smallest), "name: web\ncommand: ['true']\n");
}
