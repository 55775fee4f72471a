//! Functions of `nixos` that need a thought of their own.

use serde_json::{Map, Value as Json, json};

use super::options::{Edit, Options};
use crate::modules::system::given::Given;
use crate::modules::system::machine::Trouble;

pub(super) const MORE: &[(&str, &str, Edit)] = &[
    ("set_bootloader", "bootloader device timeout; type", bootloader),
    ("configure_desktop", "desktop; environment", |given, options| {
        let field = if given.has("environment") { "environment" } else { "desktop" };
        let known = ["gnome", "plasma", "xfce", "mate", "cinnamon", "lxqt", "pantheon", "budgie"];
        let desktop = given.word(field, &known)?.ok_or_else(|| given.misuse("needs `desktop`"))?;
        options.set(&["services", "xserver", "enable"], json!(true));
        match desktop {
            "plasma" => {
                options.set(&["services", "desktopManager", "plasma6", "enable"], json!(true))
            }
            other => options
                .set(&["services", "xserver", "desktopManager", other, "enable"], json!(true)),
        }
        Ok(())
    }),
    ("configure_display_manager", "manager; auto_login_user", |given, options| {
        let known = ["gdm", "lightdm", "sddm", "ly"];
        let manager =
            given.word("manager", &known)?.ok_or_else(|| given.misuse("needs `manager`"))?;
        match manager {
            "gdm" | "lightdm" => options
                .set(&["services", "xserver", "displayManager", manager, "enable"], json!(true)),
            other => options.set(&["services", "displayManager", other, "enable"], json!(true)),
        }
        if let Some(user) = given.maybe("auto_login_user")? {
            let login = ["services", "displayManager", "autoLogin"];
            options.set(&[login[0], login[1], login[2], "enable"], json!(true));
            options.set(&[login[0], login[1], login[2], "user"], json!(user));
        }
        Ok(())
    }),
    ("configure_audio", "server; alsa pulse jack", |given, options| {
        let server = given.word("server", &["pipewire", "pulseaudio"])?.unwrap_or("pipewire");
        let is_pipewire = server == "pipewire";
        options.set(&["security", "rtkit", "enable"], json!(true));
        options.set(&["services", "pipewire", "enable"], json!(is_pipewire));
        options.set(&["services", "pulseaudio", "enable"], json!(!is_pipewire));
        for part in ["alsa", "pulse", "jack"] {
            if let Some(is_wanted) = given.flag(part)? {
                options.set(&["services", "pipewire", part, "enable"], json!(is_wanted));
            }
        }
        Ok(())
    }),
    ("configure_swap", "device size priority", |given, options| {
        let mut entry = Map::from_iter([("device".to_owned(), json!(given.text("device")?))]);
        for field in ["size", "priority"] {
            if let Some(number) = given.number::<u64>(field)? {
                entry.insert(field.to_owned(), json!(number));
            }
        }
        replaced(options, &["swapDevices"], "device", entry);
        Ok(())
    }),
    ("create_systemd_mount", "what where type options wanted_by; fs_type", |given, options| {
        let mut entry = Map::from_iter([
            ("what".to_owned(), json!(given.text("what")?)),
            ("where".to_owned(), json!(given.text("where")?)),
        ]);
        let kind = if given.has("fs_type") { "fs_type" } else { "type" };
        for (field, option) in [(kind, "type"), ("options", "options")] {
            let words = given.texts(field)?;
            if !words.is_empty() {
                entry.insert(option.to_owned(), json!(words.join(",")));
            }
        }
        if given.has("wanted_by") {
            entry.insert("wantedBy".to_owned(), json!(given.texts("wanted_by")?));
        }
        replaced(options, &["systemd", "mounts"], "where", entry);
        Ok(())
    }),
    ("add_certificate", "path; certificate", |given, options| {
        match (given.maybe_path("path")?, given.maybe("certificate")?) {
            (Some(path), None) => options
                .add(&["security", "pki", "certificateFiles"], json!(path.display().to_string())),
            (None, Some(text)) => options.add(&["security", "pki", "certificates"], json!(text)),
            _ => return Err(given.misuse("needs `path` or `certificate`, one of them").into()),
        }
        Ok(())
    }),
];

fn bootloader(given: &Given, options: &mut Options) -> Result<(), Trouble> {
    let field = if given.has("type") { "type" } else { "bootloader" };
    let loader = given
        .word(field, &["systemd-boot", "grub"])?
        .ok_or_else(|| given.misuse("needs `bootloader`: systemd-boot or grub"))?;
    let is_grub = loader == "grub";
    options.set(&["boot", "loader", "grub", "enable"], json!(is_grub));
    options.set(&["boot", "loader", "systemd-boot", "enable"], json!(!is_grub));
    match given.maybe("device")? {
        Some(device) if is_grub => {
            options.set(&["boot", "loader", "grub", "device"], json!(device))
        }
        Some(_) => return Err(given.misuse("has `device`, which only grub needs").into()),
        None if is_grub => {
            return Err(given.misuse("needs `device` for grub, such as /dev/sda").into());
        }
        None => options.set(&["boot", "loader", "efi", "canTouchEfiVariables"], json!(true)),
    }
    if let Some(timeout) = given.number::<u64>("timeout")? {
        options.set(&["boot", "loader", "timeout"], json!(timeout));
    }
    Ok(())
}

/// Puts an entry into a list, in the place of the one that is about the same thing.
fn replaced(options: &mut Options, path: &[&str], key: &str, entry: Map<String, Json>) {
    let mut list = options.get(path).and_then(Json::as_array).cloned().unwrap_or_default();
    match list.iter_mut().find(|known| known[key] == entry[key]) {
        Some(known) => *known = Json::Object(entry),
        None => list.push(Json::Object(entry)),
    }
    options.set(path, Json::Array(list));
}
