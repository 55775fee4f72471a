//! What stacks can be made of: types of resources, and the template language in its versions.

use hostler_template::function::Dialect;
use hostler_template::parameter::Pattern;
use hostler_template::schema::Status;
use hostler_template::template::Version;
use serde_json::{Value, json};

use super::call::Call;
use super::fault::Fault;
use super::function_words::words;
use super::reply::Reply;

/// Names that begin as an expression says.
fn begins(text: &str) -> Result<Pattern, Fault> {
    Pattern::new(&format!("(?:{text})(?s:.*)"))
        .map_err(|problem| Fault::bad(format!("'{text}' is not a regular expression: {problem}")))
}

fn status(text: &str) -> Result<Status, Fault> {
    let named = Status::ALL.into_iter().find(|one| one.name() == text.to_ascii_uppercase());
    named.ok_or_else(|| {
        let known: Vec<_> = Status::ALL.iter().map(|one| one.name()).collect();
        Fault::invalid(format!(
            "Invalid support status and should be one of ({})",
            known.join(", ")
        ))
    })
}

pub(super) async fn list(call: Call) -> Result<Reply, Fault> {
    let pattern = call.query.get("name").map(begins).transpose()?;
    let status = call.query.get("support_status").map(status).transpose()?;
    let version = call.query.get("version");
    let is_meant = |name: &str| pattern.as_ref().is_none_or(|pattern| pattern.is_match(name));
    let types = call.control().stack_types(call.project(), is_meant, version, status).await?;
    let all: Vec<Value> = match call.query.flag("with_description", false)? {
        false => types.into_iter().map(|one| one.name.into()).collect(),
        true => {
            let described = types.into_iter().map(
                |one| json!({ "resource_type": one.name, "description": one.schema.description }),
            );
            described.collect()
        }
    };
    Ok(Reply::ok(json!({ "resource_types": all })))
}

pub(super) async fn show(call: Call) -> Result<Reply, Fault> {
    let found = call.control().stack_type(call.project(), call.part("type")).await?;
    let mut out = found.schema.describe();
    out["resource_type"] = json!(found.name);
    if call.query.flag("with_description", false)? {
        out["description"] = json!(found.schema.description);
    }
    Ok(Reply::ok(out))
}

pub(super) async fn template(call: Call) -> Result<Reply, Fault> {
    let is_hot = match call.query.get("template_type").unwrap_or("cfn") {
        "hot" => true,
        "cfn" => false,
        other => {
            return Err(Fault::bad(format!(
                "Template type is not supported: Invalid template type \"{other}\", valid types are: cfn, hot."
            )));
        }
    };
    let found = call.control().stack_type(call.project(), call.part("type")).await?;
    Ok(Reply::ok(found.schema.to_template(is_hot)))
}

pub(super) async fn versions(_: Call) -> Result<Reply, Fault> {
    let version = |version: Version| {
        let kind = if version.is_hot() { "hot" } else { "cfn" };
        let alias = version.alias().map(|alias| format!("{}.{alias}", version.key()));
        json!({ "version": version.to_string(), "type": kind, "aliases": Vec::from_iter(alias) })
    };
    let all: Vec<Value> = Version::ALL.into_iter().map(version).collect();
    Ok(Reply::ok(json!({ "template_versions": all })))
}

pub(super) async fn functions(call: Call) -> Result<Reply, Fault> {
    let given = call.part("version");
    let version = given.split_once('.').and_then(|(key, word)| Version::read(key, word));
    let missing = || Fault::absent(format!("Template with version {given} not found"));
    let dialect = Dialect::new(version.ok_or_else(missing)?);
    let mut names: Vec<&str> = dialect.names().collect();
    if call.query.flag("with_condition_func", false)? {
        let more = dialect.condition_names().filter(|name| !names.contains(name));
        let more: Vec<&str> = more.collect();
        names.extend(more);
    }
    let function = |name: &str| json!({ "functions": name, "description": words(name) });
    let all: Vec<Value> = names.into_iter().map(function).collect();
    Ok(Reply::ok(json!({ "template_functions": all })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_are_matched_from_their_beginning() {
        assert!(!begins("Random").unwrap().is_match("OS::Heat::RandomString"));
        assert!(begins("OS::Heat::R").unwrap().is_match("OS::Heat::RandomString"));
        assert!(begins("OS::Heat::(Ran|None$)").unwrap().is_match("OS::Heat::None"));
        assert!(begins("(").is_err());
    }

    #[test]
    fn every_function_is_described() {
        for version in Version::ALL {
            let dialect = Dialect::new(version);
            for name in dialect.names().chain(dialect.condition_names()) {
                assert!(!words(name).is_empty(), "{name}");
            }
        }
    }
}
