//! Options of NixOS as they are said here: one document, and what each function makes of it.
//!
//! The document is JSON, because Nix reads that by itself; a package, which JSON has no word for, is
//! `{ "_package": "name" }`. Everything a function says ends in it, so that what was said before stays, and saying it
//! again changes nothing.

use serde_json::{Map, Value as Json, json};

use crate::modules::system::given::Given;
use crate::modules::system::machine::Trouble;

/// What is said, as a tree of options.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Options(Map<String, Json>);

impl Options {
    pub fn read(text: &str) -> Result<Options, String> {
        serde_json::from_str(text).map(Options).map_err(|error| error.to_string())
    }

    pub fn text(&self) -> String {
        let pretty = serde_json::to_string_pretty(&self.0).unwrap_or_default();
        format!("{pretty}\n")
    }

    pub fn get(&self, path: &[&str]) -> Option<&Json> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.0.get(*first)?, |at, name| at.get(name))
    }

    fn place(&mut self, path: &[&str]) -> Option<&mut Json> {
        let (first, rest) = path.split_first()?;
        let mut at = self.0.entry((*first).to_owned()).or_insert(Json::Null);
        for name in rest {
            if !at.is_object() {
                *at = json!({});
            }
            at = at.as_object_mut()?.entry((*name).to_owned()).or_insert(Json::Null);
        }
        Some(at)
    }

    pub fn set(&mut self, path: &[&str], value: Json) {
        if let Some(at) = self.place(path) {
            *at = value;
        }
    }

    /// Sets what is given, and leaves what is not.
    fn set_given(&mut self, path: &[&str], value: Option<Json>) {
        if let Some(value) = value {
            self.set(path, value);
        }
    }

    pub fn remove(&mut self, path: &[&str]) {
        let Some((last, above)) = path.split_last() else { return };
        if above.is_empty() {
            self.0.remove(*last);
        } else if self.get(path).is_some()
            && let Some(Json::Object(map)) = self.place(above)
        {
            map.remove(*last);
        }
    }

    /// Makes a value be in a list.
    pub fn add(&mut self, path: &[&str], value: Json) {
        match self.place(path) {
            Some(Json::Array(list)) if list.contains(&value) => {}
            Some(Json::Array(list)) => list.push(value),
            Some(at) => *at = json!([value]),
            None => {}
        }
    }

    /// Makes a value not be in a list.
    fn take(&mut self, path: &[&str], value: &Json) {
        if self.get(path).is_some()
            && let Some(Json::Array(list)) = self.place(path)
        {
            list.retain(|known| known != value);
        }
    }
}

/// A package by its name: `vim`, `pkgs.vim`.
pub(super) fn package(name: &str) -> Json {
    json!({ "_package": name.strip_prefix("pkgs.").unwrap_or(name) })
}

fn text(given: &Given, name: &str) -> Result<Option<Json>, Trouble> {
    Ok(given.maybe(name)?.map(Json::String))
}

fn flag(given: &Given, name: &str) -> Result<Option<Json>, Trouble> {
    Ok(given.flag(name)?.map(Json::Bool))
}

fn ports(given: &Given, name: &str) -> Result<Option<Json>, Trouble> {
    let ports = given.texts(name)?;
    if !given.has(name) {
        return Ok(None);
    }
    let ports = ports.iter().map(|port| port.parse::<u16>());
    let ports = ports.collect::<Result<Vec<u16>, _>>();
    ports
        .map(|ports| Some(json!(ports)))
        .map_err(|_| given.misuse(&format!("needs ports from 1 to 65535 as `{name}`")).into())
}

/// A name that is one part of an option.
pub(super) fn name(given: &Given, field: &str) -> Result<String, Trouble> {
    let name = given.text(field)?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_'@.".contains(&b);
    match !name.is_empty() && name.bytes().all(is_plain) {
        true => Ok(name),
        false => Err(given.misuse(&format!("cannot use `{name}` as `{field}`")).into()),
    }
}

/// What a function makes of the document.
pub(super) type Edit = fn(&Given, &mut Options) -> Result<(), Trouble>;

/// Functions that say something: what they take, and what they make of it.
pub(super) const EDITS: &[(&str, &str, Edit)] = &[
    ("set_option", "option value", |given, options| {
        let path = given.text("option")?;
        let path: Vec<&str> = path.split('.').collect();
        if path.iter().any(|part| part.is_empty()) {
            return Err(given.misuse("needs an option such as `services.nginx.enable`").into());
        }
        match crate::value::to_json(&given.value("value"))? {
            Json::Null => options.remove(&path),
            value => options.set(&path, value),
        }
        Ok(())
    }),
    ("set_hostname", "hostname", |given, options| {
        options.set(&["networking", "hostName"], json!(given.text("hostname")?));
        Ok(())
    }),
    ("set_timezone", "timezone", |given, options| {
        options.set(&["time", "timeZone"], json!(given.text("timezone")?));
        Ok(())
    }),
    ("set_locale", "locale", |given, options| {
        options.set(&["i18n", "defaultLocale"], json!(given.text("locale")?));
        Ok(())
    }),
    ("configure_system", "; timezone locale hostname console state_version", |given, options| {
        options.set_given(&["time", "timeZone"], text(given, "timezone")?);
        options.set_given(&["i18n", "defaultLocale"], text(given, "locale")?);
        options.set_given(&["networking", "hostName"], text(given, "hostname")?);
        options.set_given(&["system", "stateVersion"], text(given, "state_version")?);
        for (key, value) in given.map("console")? {
            let key = if key == "keymap" { "keyMap".to_owned() } else { key };
            options.set(&["console", &key], value);
        }
        Ok(())
    }),
    ("add_package", "package", |given, options| {
        options.add(&PACKAGES, package(&given.text("package")?));
        Ok(())
    }),
    ("remove_package", "package", |given, options| {
        options.take(&PACKAGES, &package(&given.text("package")?));
        Ok(())
    }),
    ("configure_environment", "; packages variables", |given, options| {
        for name in given.texts("packages")? {
            options.add(&PACKAGES, package(&name));
        }
        for (name, value) in given.map("variables")? {
            options.set(&["environment", "variables", &name], value);
        }
        Ok(())
    }),
    ("add_environment_variable", "name value", |given, options| {
        let variable = given.text("name")?;
        options.set(&["environment", "variables", &variable], json!(given.text("value")?));
        Ok(())
    }),
    ("remove_environment_variable", "name", |given, options| {
        options.remove(&["environment", "variables", &given.text("name")?]);
        Ok(())
    }),
    ("enable_service", "service", |given, options| {
        options.set(&["services", &name(given, "service")?, "enable"], json!(true));
        Ok(())
    }),
    ("disable_service", "service", |given, options| {
        options.set(&["services", &name(given, "service")?, "enable"], json!(false));
        Ok(())
    }),
    ("configure_service", "service; enable settings", |given, options| {
        let service = name(given, "service")?;
        options.set_given(&["services", &service, "enable"], flag(given, "enable")?);
        for (key, value) in given.map("settings")? {
            options.set(&["services", &service, &key], value);
        }
        Ok(())
    }),
    ("add_user", USER, user),
    ("configure_user", USER, user),
    ("remove_user", "username", |given, options| {
        options.remove(&["users", "users", &name(given, "username")?]);
        Ok(())
    }),
    ("add_ssh_key", "username key", |given, options| {
        let user = name(given, "username")?;
        options.add(
            &["users", "users", &user, "openssh", "authorizedKeys", "keys"],
            json!(given.text("key")?),
        );
        Ok(())
    }),
    ("remove_ssh_key", "username key", |given, options| {
        let user = name(given, "username")?;
        options.take(
            &["users", "users", &user, "openssh", "authorizedKeys", "keys"],
            &json!(given.text("key")?),
        );
        Ok(())
    }),
    ("add_user_to_group", "username group", |given, options| {
        let user = name(given, "username")?;
        options.add(&["users", "users", &user, "extraGroups"], json!(given.text("group")?));
        Ok(())
    }),
    ("remove_user_from_group", "username group", |given, options| {
        let user = name(given, "username")?;
        options.take(&["users", "users", &user, "extraGroups"], &json!(given.text("group")?));
        Ok(())
    }),
    ("enable_firewall", "enable", |given, options| {
        let is_enabled = given.flag("enable")?.unwrap_or(true);
        options.set(&["networking", "firewall", "enable"], json!(is_enabled));
        Ok(())
    }),
    ("configure_firewall", "; enable tcp_ports udp_ports", firewall),
    ("add_firewall_port", "port protocol", |given, options| open(given, options, true)),
    ("add_firewall_rule", "port protocol", |given, options| open(given, options, true)),
    ("remove_firewall_rule", "port protocol", |given, options| open(given, options, false)),
    (
        "configure_networking",
        "; hostname enable_network_manager firewall nameservers",
        |given, options| {
            options.set_given(&["networking", "hostName"], text(given, "hostname")?);
            let manager = flag(given, "enable_network_manager")?;
            options.set_given(&["networking", "networkmanager", "enable"], manager);
            if given.has("nameservers") {
                options.set(&["networking", "nameservers"], json!(given.texts("nameservers")?));
            }
            for (key, value) in given.map("firewall")? {
                let option = match key.as_str() {
                    "enable" => "enable",
                    "tcp_ports" => "allowedTCPPorts",
                    "udp_ports" => "allowedUDPPorts",
                    other => return Err(given.misuse(&format!("does not know `firewall.{other}`; it knows: enable, tcp_ports, udp_ports")).into()),
                };
                let value = if value == json!({}) { json!([]) } else { value };
                options.set(&["networking", "firewall", option], value);
            }
            Ok(())
        },
    ),
    ("configure_docker", "; enable enable_on_boot users", |given, options| {
        let docker = ["virtualisation", "docker"];
        let is_enabled = given.flag("enable")?.unwrap_or(true);
        options.set(&[docker[0], docker[1], "enable"], json!(is_enabled));
        options.set_given(&[docker[0], docker[1], "enableOnBoot"], flag(given, "enable_on_boot")?);
        for user in given.texts("users")? {
            options.add(&["users", "users", &user, "extraGroups"], json!("docker"));
        }
        Ok(())
    }),
    ("configure_filesystem", "mount_point device fs_type options", |given, options| {
        let at = given.text("mount_point")?;
        options.set(&["fileSystems", &at, "device"], json!(given.text("device")?));
        options.set_given(&["fileSystems", &at, "fsType"], text(given, "fs_type")?);
        if given.has("options") {
            options.set(&["fileSystems", &at, "options"], json!(given.texts("options")?));
        }
        Ok(())
    }),
    ("remove_filesystem", "mount_point", |given, options| {
        options.remove(&["fileSystems", &given.text("mount_point")?]);
        Ok(())
    }),
    ("enable_flakes", "enable", |given, options| {
        let features = ["nix", "settings", "experimental-features"];
        for feature in ["nix-command", "flakes"] {
            match given.flag("enable")?.unwrap_or(true) {
                true => options.add(&features, json!(feature)),
                false => options.take(&features, &json!(feature)),
            }
        }
        Ok(())
    }),
    ("add_binary_cache", "url key", |given, options| {
        options.add(&["nix", "settings", "substituters"], json!(given.text("url")?));
        if let Some(key) = text(given, "key")? {
            options.add(&["nix", "settings", "trusted-public-keys"], key);
        }
        Ok(())
    }),
];

const PACKAGES: [&str; 2] = ["environment", "systemPackages"];
const USER: &str = "username; description shell groups home uid create_home is_normal_user hashed_password ssh_keys packages settings";

fn user(given: &Given, options: &mut Options) -> Result<(), Trouble> {
    let user = name(given, "username")?;
    let mut set = |option: &str, value: Option<Json>| {
        options.set_given(&["users", "users", &user, option], value);
    };
    let is_normal = given.flag("is_normal_user")?.unwrap_or(true);
    set("isNormalUser", (user != "root").then(|| json!(is_normal)));
    set("description", text(given, "description")?);
    set("home", text(given, "home")?);
    set("uid", given.number::<u32>("uid")?.map(|uid| json!(uid)));
    set("createHome", flag(given, "create_home")?);
    set("hashedPassword", text(given, "hashed_password")?);
    set("shell", given.maybe("shell")?.map(|shell| package(&shell)));
    let list = |field: &str, item: fn(&str) -> Json| -> Result<Option<Json>, Trouble> {
        let items = given.texts(field)?;
        let items: Vec<Json> = items.iter().map(|text| item(text)).collect();
        Ok(given.has(field).then(|| Json::Array(items)))
    };
    set("extraGroups", list("groups", |group| json!(group))?);
    set("packages", list("packages", package)?);
    for (key, value) in given.map("settings")? {
        set(&key, Some(value));
    }
    if let Some(keys) = list("ssh_keys", |key| json!(key))? {
        options.set(&["users", "users", &user, "openssh", "authorizedKeys", "keys"], keys);
    }
    Ok(())
}

fn firewall(given: &Given, options: &mut Options) -> Result<(), Trouble> {
    options.set_given(&["networking", "firewall", "enable"], flag(given, "enable")?);
    options.set_given(&["networking", "firewall", "allowedTCPPorts"], ports(given, "tcp_ports")?);
    options.set_given(&["networking", "firewall", "allowedUDPPorts"], ports(given, "udp_ports")?);
    Ok(())
}

fn open(given: &Given, options: &mut Options, is_open: bool) -> Result<(), Trouble> {
    let port = given.number::<u16>("port")?.ok_or_else(|| given.misuse("needs `port`"))?;
    let option = match given.word("protocol", &["tcp", "udp"])?.unwrap_or("tcp") {
        "udp" => "allowedUDPPorts",
        _ => "allowedTCPPorts",
    };
    let path = ["networking", "firewall", option];
    match is_open {
        true => options.add(&path, json!(port)),
        false => options.take(&path, &json!(port)),
    }
    Ok(())
}
