//! The page for people about every type of resource.

use std::fmt::Write;

use hostler_template::schema::{Nested, PropertySchema, ResourceSchema, Status};
use serde_json::Value;

use super::catalog::{Catalog, aliases};

/// The page, in Markdown, without its heading.
pub fn stack_types_page() -> String {
    let catalog = Catalog::new();
    let mut text = String::from(
        "What a template can make. *Updated* means that a change of the property changes the resource where it is; a change of \
         any other property puts another one in its place. Every type has the attribute `show` besides.\n\n",
    );
    let told = || {
        catalog
            .types()
            .map(|plugin| plugin.schema())
            .filter(|schema| schema.support.status != Status::Hidden)
    };
    let names: Vec<_> = told()
        .map(|schema| format!("[{0}](#{1})", schema.type_name, anchor(&schema.type_name)))
        .collect();
    let _ = writeln!(text, "{}\n", names.join(" · "));
    for schema in told() {
        section(schema, &mut text);
    }
    text.trim_end().to_owned() + "\n"
}

fn anchor(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
}

fn section(schema: &ResourceSchema, text: &mut String) {
    let _ = writeln!(text, "## {}\n\n{}\n", schema.type_name, schema.description);
    let others = aliases(&schema.type_name);
    if !others.is_empty() {
        let others: Vec<_> = others.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(text, "Also called {}.\n", others.join(", "));
    }
    if schema.takes_anything {
        text.push_str("Takes any property, and has any attribute.\n\n");
    }
    list("Properties", &schema.properties, text);
    list("Update policy", &schema.update_policy, text);
    if !schema.attributes.is_empty() {
        text.push_str("Attributes:\n\n");
        for (name, attribute) in &schema.attributes {
            let about = attribute.description.as_deref().unwrap_or_default();
            let _ = writeln!(text, "- `{name}`: {about}");
        }
        text.push('\n');
    }
    let into: Vec<_> = schema.open_attributes.iter().map(String::as_str).collect();
    match into.as_slice() {
        [] => {}
        [""] => {
            text.push_str("Any attribute of its members, or any output, is an attribute, too.\n\n")
        }
        names => {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}…`")).collect();
            let _ = writeln!(text, "So is every name that begins with {}.\n", names.join(", "));
        }
    }
}

fn list(title: &str, properties: &[(String, PropertySchema)], text: &mut String) {
    if properties.is_empty() {
        return;
    }
    let _ = writeln!(text, "{title}:\n");
    fields(properties, 0, text);
    text.push('\n');
}

fn fields(properties: &[(String, PropertySchema)], depth: usize, text: &mut String) {
    let told = properties.iter().filter(|(_, property)| property.support.status != Status::Hidden);
    for (name, property) in told {
        let _ = writeln!(
            text,
            "{}- `{name}` ({}){}",
            "  ".repeat(depth),
            facts(property),
            about(property)
        );
        match &property.nested {
            Some(Nested::Fields(inner)) => fields(inner, depth + 1, text),
            Some(Nested::Each(item)) => {
                if let Some(Nested::Fields(inner)) = &item.nested {
                    fields(inner, depth + 1, text);
                }
            }
            None => {}
        }
    }
}

fn about(property: &PropertySchema) -> String {
    property.description.as_ref().map(|about| format!(": {about}")).unwrap_or_default()
}

/// `integer, required, updated, 1 to 9, default 3`
fn facts(property: &PropertySchema) -> String {
    let mut facts = vec![property.kind.name().to_lowercase()];
    if property.is_required {
        facts.push("required".to_owned());
    }
    if property.is_updatable {
        facts.push("updated".to_owned());
    }
    for constraint in &property.constraints {
        facts.extend(
            constraint
                .describe()
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(name, _)| *name != "description")
                .map(said),
        );
    }
    if let Some(default) = &property.default {
        facts.push(format!("default `{default}`"));
    }
    facts.join(", ")
}

fn said((name, rule): (&String, &Value)) -> String {
    let bound = |key: &str| rule.get(key).filter(|bound| !bound.is_null()).map(Value::to_string);
    match name.as_str() {
        "range" | "length" => {
            let what = if name == "length" { "length " } else { "" };
            match (bound("min"), bound("max")) {
                (Some(min), Some(max)) => format!("{what}{min} to {max}"),
                (Some(min), None) => format!("{what}at least {min}"),
                (None, Some(max)) => format!("{what}at most {max}"),
                (None, None) => "any".to_owned(),
            }
        }
        "allowed_values" => {
            let values = rule.as_array().into_iter().flatten().map(|value| format!("`{value}`"));
            format!("one of {}", values.collect::<Vec<_>>().join(", "))
        }
        _ => format!("{name} `{rule}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_type_with_its_properties() {
        let page = stack_types_page();
        for line in [
            "## OS::Heat::ResourceGroup",
            "Also called `Xloud::Heat::ResourceGroup`, `Xloud::Orchestration::ResourceGroup`.",
            "- `count` (integer, updated, at least 0, default `1`): How many.",
            "  - `type` (string, required): The type of every member.",
            "Takes any property, and has any attribute.",
            "- `alarm_url`: An address that is good for as long as the policy is there; whoever has it may signal.",
        ] {
            assert!(page.lines().any(|one| one == line), "{line}\n{page}");
        }
        assert!(!page.contains("HARestarter"));
    }
}
