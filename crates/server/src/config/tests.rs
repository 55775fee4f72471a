//! Where settings come from, and which are refused.

use super::*;

fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(k, v): &(&str, &str)| ((*k).to_owned(), (*v).to_owned());
    pairs.iter().map(owned).collect()
}

fn load(file: &str, pairs: &[(&str, &str)], flags: Overrides) -> Result<ServerConfig, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.toml");
    std::fs::write(&path, file).unwrap();
    ServerConfig::load(ServerConfig::default(), Some(&path), env(pairs), flags)
}

fn problem(result: Result<ServerConfig, ConfigError>) -> String {
    hostler_base::chain(&result.unwrap_err()).to_string()
}

#[test]
fn flags_win_over_environment_over_file_over_defaults() {
    let file = "name = 'file'\nlisten = '127.0.0.1:1'\nagent_listen = '127.0.0.1:2'\n[patience]\nlost_after = '1h'\n";
    let pairs = [
        ("HOSTLER_SERVER__LISTEN", "127.0.0.1:3"),
        ("HOSTLER_SERVER__NAME", "env"),
        ("HOSTLER_SERVER__PATIENCE__OFFLINE_AFTER", "2m"),
        ("HOSTLER_SERVER__PATIENCE__REPLACE_AFTER", "30m"),
        ("HOSTLER_SERVER__ADVERTISE", "a.example, 10.0.0.1"),
        ("HOSTLER_SERVER__LIMITS__STREAMS", "7"),
        ("HOSTLER_SERVER__METRICS_ALLOW_REMOTE", "true"),
        ("HOSTLER_TOKEN", "not ours"),
    ];
    let flags = Overrides { name: Some("flag".into()), ..Overrides::default() };
    let config = load(file, &pairs, flags).unwrap();
    assert_eq!(config.name.as_deref(), Some("flag"));
    assert_eq!(config.listen.port(), 3);
    assert_eq!(config.agent_listen.port(), 2);
    assert_eq!(config.patience.lost_after, Span::from_secs(3600));
    assert_eq!(config.patience.offline_after, Span::from_secs(120));
    assert_eq!(config.patience.stale_after, Span::from_secs(20));
    assert_eq!(config.control(String::new()).replace_after.as_secs(), 1800);
    assert_eq!(config.advertise, ["a.example", "10.0.0.1"]);
    assert_eq!(config.limits.streams, 7);
    assert!(config.metrics_allow_remote);
    assert_eq!(config.log_filter, "info");
}

#[test]
fn what_does_not_exist_is_named() {
    let flags = Overrides::default;
    assert!(problem(load("listen = 'x'", &[], flags())).contains("listen"));
    assert!(problem(load("listen = 7443", &[], flags())).contains("line 1"));
    let bad = [("HOSTLER_SERVER__LISTEN__PORT", "1")];
    assert!(problem(load("", &bad, flags())).contains("HOSTLER_SERVER__LISTEN__PORT"));
    let bad = [("HOSTLER_SERVER__NOPE", "1")];
    assert!(problem(load("", &bad, flags())).contains("no such setting"));
    let bad = [("HOSTLER_SERVER__LIMITS__STREAMS", "many")];
    assert!(problem(load("", &bad, flags())).contains("not a number"));
}

#[test]
fn settings_are_checked_as_a_whole() {
    for (file, setting) in [
        ("metrics_listen = '0.0.0.0:9090'", "metrics_listen"),
        ("database = 'mysql://x'", "database"),
        ("log_filter = 'a=b=c'", "log_filter"),
        ("heartbeat = '1ms'", "heartbeat"),
        ("heartbeat = '30s'", "stale_after"),
        ("advertise = ['host:7443']", "advertise"),
        ("[patience]\nlost_after = '1s'", "lost_after"),
        ("[limits]\nstreams = 0", "limits"),
        ("[limits]\nhead_time = '1ms'", "limits"),
        ("[tls]\ncertificate = '/x'", "tls.key"),
        ("[tls]\nkey = '/x'", "tls.certificate"),
        ("[egress]\nallow = ['http://x']", "egress.allow"),
        ("[egress]\nauthorities = '/no/such/file'", "egress.authorities"),
        ("[audit]\nanchor_every = 0", "anchor_every"),
        ("[identity]\nissuer = 'http://x'", "identity.issuer"),
        ("[identity]\nissuer = 'https://x/'", "identity.issuer"),
        ("[identity]\nissuer = 'https://x?y'", "identity.issuer"),
        ("[identity]\nrotate_every = '1h'", "identity.rotate_every"),
        ("[oidc]\nissuer = 'http://id.example'\nclient_id = 'x'", "oidc.issuer"),
        ("[oidc]\nissuer = 'https://id.example'", "oidc.client_id"),
        ("[oidc]\nclient_id = 'x'", "oidc.issuer"),
        ("[oidc]\nissuer = 'https://i'\nclient_id = 'x'\nscopes = ['email']", "oidc.scopes"),
        (
            "[oidc]\nissuer = 'https://i'\nclient_id = 'x'\nredirect = 'https://h/?a'",
            "oidc.redirect",
        ),
        ("[oidc]\nissuer = 'https://i'\nclient_id = 'x'\nrequired = 'ops'", "oidc.required"),
        ("[oidc]\nissuer = 'https://i'\nclient_id = 'x'\ngroups = ['a']", "oidc.groups"),
        ("[oidc]\nissuer = 'https://i'\nclient_id = 'x'\nrole = 'admin'", "oidc.role"),
        ("[[audit.sink]]\nname = 'a'\nto = 'ftp://x'", "audit.sink.to"),
        ("[[audit.sink]]\nto = 'https://x'", "audit.sink.name"),
        ("[[audit.sink]]\nname = 'a'\nto = 'syslog+udp://x'\ntoken_file = 'y'", "token_file"),
        (
            "[[audit.sink]]\nname = 'a'\nto = 'https://x'\n[[audit.sink]]\nname = 'a'\nto = 'https://y'",
            "two sinks",
        ),
    ] {
        let text = problem(load(file, &[], Overrides::default()));
        assert!(text.contains(setting), "{file}: {text}");
    }
    assert!(load("metrics_listen = '127.0.0.1:9090'", &[], Overrides::default()).is_ok());
}

#[test]
fn sinks_and_destinations_reach_the_application() {
    let file = "[egress]\nallow = ['10.0.0.0/8', 'vault.example:8200']\npublic = false\n[audit]\nanchor_interval = '5m'\n[[audit.sink]]\nname = 'siem'\nto = 'https://siem.example/in'\n[[audit.sink]]\nname = 'log'\nto = 'syslog+tls://log.example'\nfacility = 4\n";
    let config = load(file, &[("HOSTLER_SERVER__AUDIT__ANCHOR_EVERY", "9")], Overrides::default());
    let control = config.unwrap().control(String::new());
    assert_eq!((control.audit.anchor_every, control.audit.anchor_interval.as_secs()), (9, 300));
    let shown: Vec<_> = control.audit.sinks.iter().map(|sink| sink.to.shown()).collect();
    assert_eq!(shown, ["https://siem.example", "syslog+tls://log.example:6514"]);
    assert_eq!(control.audit.sinks[1].facility, 4);
    assert_eq!(format!("{:?}", control.egress), "Egress(2 destinations allowed)");
    let bad = [("HOSTLER_SERVER__AUDIT__SINK", "x")];
    assert!(problem(load("", &bad, Overrides::default())).contains("only be set in the file"));
}

#[test]
fn a_key_is_made_for_sqlite_only() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = ServerConfig::for_up(dir.path().to_owned());
    config.master_key().unwrap();
    assert!(dir.path().join("master.key").exists());
    config.database = Some("postgres://db/hostler".into());
    config.master_key().unwrap();
    config.master_key_file = Some(dir.path().join("other.key"));
    assert!(matches!(config.master_key(), Err(ConfigError::MasterKeyMissing(_))));
    assert!(!dir.path().join("other.key").exists());
}

#[test]
fn addresses_are_those_others_can_use() {
    let mut config = ServerConfig::default();
    let bound = SocketAddr::from(([0, 0, 0, 0], 7443));
    assert_eq!(config.advertised(bound), format!("{}:7443", host_name()));
    assert_eq!(config.advertised(SocketAddr::from(([10, 0, 0, 9], 1))), "10.0.0.9:1");
    config.advertise = vec!["2001:db8::1".into()];
    assert_eq!(config.advertised(bound), "[2001:db8::1]:7443");
    assert!(config.certificate_names().contains(&"localhost".to_owned()));
}

#[test]
fn signals_are_reached_where_they_are_taken_or_where_it_is_said() {
    let flags = Overrides::default;
    let bound = SocketAddr::from(([127, 0, 0, 1], 8000));
    let address = |file: &str| load(file, &[], flags()).unwrap().stacks(bound).address;
    assert_eq!(address(""), "", "nobody takes them");
    assert_eq!(address("[stacks.signal]\nenabled = true"), "https://127.0.0.1:8000");
    let plain = "[stacks.signal]\nenabled = true\nplain = true\nlisten = '127.0.0.1:8000'";
    assert_eq!(address(plain), "http://127.0.0.1:8000");
    let other = "[stacks.signal]\naddress = 'https://lb.example:8000'";
    assert_eq!(address(other), "https://lb.example:8000");
    let pairs = [("HOSTLER_SERVER__STACKS__SIGNAL__TTL", "2h")];
    let ttl = load("", &pairs, flags()).unwrap().control(String::new()).stacks.signal_ttl;
    assert_eq!(ttl.as_secs(), 7200);
    for (file, setting) in [
        ("[stacks.heat]\nplain = true", "stacks.heat.plain"),
        ("[stacks.signal]\nplain = true", "stacks.signal.plain"),
        ("[stacks.signal]\naddress = 'lb.example'", "stacks.signal.address"),
        ("[stacks.signal]\nttl = '1s'", "stacks.signal.ttl"),
    ] {
        assert!(problem(load(file, &[], flags())).contains(setting), "{file}");
    }
}

#[test]
fn the_reference_shows_the_true_defaults() {
    let text = reference_markdown();
    let defaults = ServerConfig::default();
    assert_eq!(defaults, toml::from_str("").unwrap());
    for setting in SETTINGS.iter().chain(PATIENCE_SETTINGS).chain(LIMIT_SETTINGS) {
        assert!(text.contains(setting.name), "{}", setting.name);
    }
    let mut table = Table::new();
    for (prefix, settings) in [
        ("", SETTINGS),
        ("PATIENCE__", PATIENCE_SETTINGS),
        ("LIMITS__", LIMIT_SETTINGS),
        ("APPROVALS__", APPROVAL_SETTINGS),
        ("AUDIT__", AUDIT_SETTINGS),
        ("IDENTITY__", IDENTITY_SETTINGS),
        ("OIDC__", OIDC_SETTINGS),
        ("STACKS__HEAT__", HEAT_SETTINGS),
        ("STACKS__SIGNAL__", SIGNAL_SETTINGS),
        ("EGRESS__", EGRESS_SETTINGS),
        ("TLS__", TLS_SETTINGS),
    ] {
        let concrete = settings.iter().filter(|s| {
            !s.default.contains([' ', '`']) && !["nowhere", "none", ""].contains(&s.default)
        });
        for setting in concrete {
            set(&mut table, SETTINGS, &format!("{prefix}{}", setting.name), setting.default)
                .unwrap();
        }
    }
    assert_eq!(table.try_into::<ServerConfig>().unwrap(), defaults);
}
