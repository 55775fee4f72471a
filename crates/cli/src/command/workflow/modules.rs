//! What workflows can use.

use hostler_lua::modules;
use hostler_model::suggest::nearest;
use serde_json::json;

use super::super::{Cx, DONE};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;

pub fn modules(cx: &Cx, name: Option<&str>) -> Outcome {
    let Some(name) = name else {
        let mut all: Vec<_> = modules::all().collect();
        all.sort_by_key(|module| module.name);
        if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
            let listed: Vec<_> = all.iter().map(|module| json!({ "name": module.name, "about": module.about, "functions": module.functions.len() })).collect();
            output::document(&cx.ui, format, &listed)?;
        } else {
            for module in all {
                let first = module.about.split_once(". ").map_or(module.about, |(first, _)| first);
                cx.ui.line(&format!("{:<14} {}", module.name, first.trim_end_matches('.')))?;
            }
        }
        return Ok(DONE);
    };
    let Some(module) = modules::all().find(|module| module.name == name) else {
        let hint = nearest(name, modules::all().map(|module| module.name)).map_or_else(
            || "`hostler workflow modules` lists them".to_owned(),
            |meant| format!("did you mean `{meant}`?"),
        );
        return Err(Failure::told(
            exit::Code::NotFound,
            format!("there is no module `{name}`"),
            hint,
        ));
    };
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
        let functions: Vec<_> = module
            .functions
            .iter()
            .map(|function| json!({ "name": function.name, "signature": function.signature, "about": function.about, "example": function.example }))
            .collect();
        output::document(
            &cx.ui,
            format,
            &json!({ "name": module.name, "about": module.about, "functions": functions }),
        )?;
        return Ok(DONE);
    }
    cx.ui.line(module.about)?;
    for function in module.functions {
        cx.ui.line(&format!(
            "\n{}.{}{}\n    {}",
            module.name, function.name, function.signature, function.about
        ))?;
    }
    Ok(DONE)
}
