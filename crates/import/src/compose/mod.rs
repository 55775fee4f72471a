//! Compose files (`compose.yaml`, `docker-compose.yml`).
//!
//! Compose describes containers; what comes out are processes. The command, its environment, limits,
//! health, restarts and dependencies carry over; whatever made the container (image, ports, volumes,
//! networks) is said in a remark with what to do instead. The command of a service that names none
//! lies in its image, which is not looked at: the image's name stands in for it, and a remark says so.

mod addresses;
mod deploy;
mod interpolate;
mod lost;
mod service;
mod tree;

use std::collections::BTreeMap;

use hostler_model::Name;

use crate::environment::Variables;
use crate::plan::{Draft, Place, Plan, Source, Unreadable};
use interpolate::{Incident, interpolate};
use tree::{Content, Node};

/// `variables` are those that `${NAME}` stands for: the environment, and a `.env` beside the file.
/// Further files lie over the first, as with `docker compose -f one -f two`.
pub fn compose(sources: &[Source<'_>], variables: &Variables) -> Result<Plan, Unreadable> {
    let mut draft = Draft::new(sources);
    let mut whole: Option<Node<'_>> = None;
    for source in sources {
        let tree = tree::read(*source)?;
        match &mut whole {
            None => whole = Some(tree),
            Some(below) => below.overlay(tree),
        }
    }
    let Some(mut whole) = whole else {
        return Ok(draft.finish());
    };
    fill_in(&mut whole, variables, &mut draft);
    let services = match whole.get("services").map(|services| &services.content) {
        Some(Content::Map(services)) => services,
        _ => {
            let hint = "give a Compose file; services stand under `services:`";
            return Err(whole.place.unreadable(1, "there are no services", hint));
        }
    };
    about_top(&whole, &mut draft);
    let names: BTreeMap<&str, Name> =
        services.iter().map(|pair| (pair.key.as_str(), draft.name(&pair.key))).collect();
    for pair in services {
        if !matches!(pair.value.content, Content::Map(_)) {
            let hint = "a service is a map with `command` and its like";
            return Err(pair.place.unreadable(1, format!("`{}` is not a service", pair.key), hint));
        }
        let spec = service::read(&pair.key, &pair.value, &names, variables, &mut draft)?;
        let called = addresses::called(&spec, &pair.key, names.keys().copied());
        if !called.is_empty() {
            draft.lost(
                pair.place,
                format!("{}.addresses", pair.key),
                format!(
                    "it calls {} by name, which resolves in Compose's network only; write an \
                     address, such as 127.0.0.1 where both run on one node",
                    called.join(", ")
                ),
            );
        }
        draft.push(pair.place, names[pair.key.as_str()].clone(), spec);
    }
    Ok(draft.finish())
}

fn fill_in<'a>(whole: &mut Node<'a>, variables: &Variables, draft: &mut Draft) {
    whole.each_scalar(&mut |place: Place<'a>, text: &mut String| {
        if !text.contains('$') {
            return;
        }
        let mut incidents = Vec::new();
        *text = interpolate(text, variables, &mut incidents);
        for incident in incidents {
            match incident {
                Incident::Unset(name) => draft.note(
                    place,
                    format!("${name}"),
                    "it is not set, so it is empty; set it, or give --env-file",
                ),
                Incident::Required(name, why) => draft.lost(
                    place,
                    format!("${name}"),
                    format!("it has to be set ({why}); set it, or give --env-file"),
                ),
                Incident::Malformed(what) => {
                    draft.lost(place, what, "this is not a variable and stays as it is")
                }
            }
        }
    });
}

fn about_top(whole: &Node<'_>, draft: &mut Draft) {
    for pair in whole.pairs() {
        let key = pair.key.as_str();
        match key {
            "services" | "version" | "name" => {}
            "volumes" | "networks" | "configs" | "secrets" | "models" => {
                draft.lost(pair.place, key, lost::advice(key).unwrap_or("they have no equivalent"));
            }
            "include" => draft.lost(
                pair.place,
                key,
                "included files are not followed; give them too, after this one",
            ),
            other if other.starts_with("x-") => {}
            other => draft.lost(pair.place, other, "this is not known"),
        }
    }
}
