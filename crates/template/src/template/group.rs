//! Groups of parameters, for those who show them to people.

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::python;
use crate::parameter::ParameterSchema;
use crate::place::Path;
use crate::value::Node;

#[derive(Clone, Debug, PartialEq)]
pub struct ParameterGroup {
    pub label: Option<String>,
    pub description: Option<String>,
    pub parameters: Vec<String>,
    /// The group as it was written.
    pub written: Value,
}

const SECTION: &str = "parameter_groups";

pub(crate) fn read(
    node: &Node,
    schemas: &[ParameterSchema],
    wrong: &mut Diagnostics,
) -> Vec<ParameterGroup> {
    let path = Path::of([SECTION]);
    if !python::is_true(&node.to_json()) {
        return Vec::new();
    }
    let Some(items) = node.as_list() else {
        let message = format!("The {SECTION} should be a list.");
        wrong.push(Diagnostic::new(Fault::GroupInvalid, &path, message).at(node.place));
        return Vec::new();
    };
    let mut seen: Vec<String> = Vec::new();
    items.iter().filter_map(|item| read_one(item, schemas, &path, &mut seen, wrong)).collect()
}

fn read_one(
    node: &Node,
    schemas: &[ParameterSchema],
    path: &Path,
    seen: &mut Vec<String>,
    wrong: &mut Diagnostics,
) -> Option<ParameterGroup> {
    let text = |key: &str| {
        node.get(key).filter(|node| !node.is_null()).map(|node| python::text(&node.to_json()))
    };
    let label = text("label");
    let path = label.as_ref().map_or(path.clone(), |label| path.key(label));
    let said =
        |place, message: String| Diagnostic::new(Fault::GroupInvalid, &path, message).at(place);
    let Some(parameters) = node.get("parameters").filter(|node| !node.is_null()) else {
        wrong.push(said(
            node.place,
            "The parameters must be provided for each parameter group.".to_owned(),
        ));
        return None;
    };
    let Some(items) = parameters.as_list() else {
        let message = "The parameters of parameter group should be a list.";
        wrong.push(said(parameters.place, message.to_owned()));
        return None;
    };
    let mut names = Vec::new();
    for item in items {
        let name = python::text(&item.to_json());
        if seen.contains(&name) {
            let message =
                format!("The {name} parameter must be assigned to one parameter group only.");
            wrong.push(said(item.place, message));
        }
        let known = schemas.iter().map(|schema| schema.name.as_str());
        if !known.clone().any(|known| known == name) {
            let message =
                format!("The grouped parameter {name} does not reference a valid parameter.");
            wrong.push(said(item.place, message).meant(&name, known));
        }
        seen.push(name.clone());
        names.push(name);
    }
    let description = text("description");
    Some(ParameterGroup { label, description, parameters: names, written: node.to_json() })
}
