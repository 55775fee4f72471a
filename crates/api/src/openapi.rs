//! Writes the OpenAPI 3.1 document from the declarations.

use hostler_model::{Code, GATED};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::{Access, Described, IfMatch, Problem, Stream};

/// The status each code is answered with; `server` uses the same table.
pub const fn status_of(code: Code) -> u16 {
    match code {
        Code::Malformed => 400,
        Code::Unauthenticated | Code::SecondFactorRequired => 401,
        Code::Forbidden => 403,
        Code::NotFound | Code::NoSuchRoute => 404,
        Code::MethodNotAllowed => 405,
        Code::AlreadyExists | Code::ApprovalRequired | Code::Conflict | Code::QuotaExceeded => 409,
        Code::CursorGone => 410,
        Code::Stale => 412,
        Code::TooLarge => 413,
        Code::UnsupportedMediaType => 415,
        Code::Invalid | Code::KeyReused => 422,
        Code::PreconditionRequired => 428,
        Code::RateLimited => 429,
        Code::Internal => 500,
        Code::NodeUnreachable | Code::Unavailable => 503,
    }
}

/// Every code an endpoint can answer: its own, and those its shape brings with it.
pub fn codes_of(endpoint: &Described) -> Vec<Code> {
    let mut codes = vec![Code::Malformed, Code::RateLimited, Code::Internal, Code::Unavailable];
    if endpoint.access != Access::Public {
        codes.push(Code::Unauthenticated);
        codes.push(Code::Forbidden);
    }
    if matches!(endpoint.access, Access::Global(_) | Access::Project(_)) {
        codes.push(Code::SecondFactorRequired);
    }
    if matches!(endpoint.access, Access::Project(_)) {
        codes.push(Code::NotFound);
    }
    if endpoint.body_schema.is_some() || endpoint.raw_body.is_some() {
        codes.extend([Code::Invalid, Code::TooLarge, Code::UnsupportedMediaType]);
    }
    if endpoint.if_match != IfMatch::Never {
        codes.extend([Code::PreconditionRequired, Code::Stale]);
    }
    codes.extend_from_slice(endpoint.errors);
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// The whole document.
pub fn document() -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|s| s.definitions_path = "/components/schemas".into())
        .into_generator();
    let problem = generator.subschema_for::<Problem>();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in crate::all() {
        let operation = operation(&endpoint, &mut generator, &problem);
        let methods = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        methods[endpoint.method.as_str().to_ascii_lowercase()] = operation;
    }
    let mut schemas = generator.take_definitions(true);
    schemas.sort_keys();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Hostler",
            "version": "v1",
            "description": "Everything Hostler can do, as its command line and dashboard do it. Errors are RFC 9457 problems with a stable `code`, a `hint` and a `requestId`. Every POST takes an `Idempotency-Key`.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" }
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "An API token." },
                "session": { "type": "apiKey", "in": "cookie", "name": crate::SESSION_COOKIE, "description": "A browser session; changes also need the x-hostler-csrf header." }
            }
        }
    })
}

fn operation(endpoint: &Described, generator: &mut SchemaGenerator, problem: &Schema) -> Value {
    let mut operation = json!({
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "tags": [endpoint.tag],
        "x-hostler-access": access_label(endpoint.access),
        "security": if endpoint.access == Access::Public { json!([]) } else { json!([{ "token": [] }, { "session": [] }]) },
    });
    if let Some(permission) = endpoint.permission {
        operation["x-hostler-permission"] = permission.label().into();
    }
    let mut parameters = parameters(&(endpoint.path_schema)(generator), generator, "path");
    parameters.extend(self::parameters(&(endpoint.query_schema)(generator), generator, "query"));
    if endpoint.method == http::Method::POST {
        parameters.push(header_parameter(
            "Idempotency-Key",
            false,
            "Repeats with the same key and body have one effect.",
            "^[!-~]{1,255}$",
        ));
    }
    let if_match = match endpoint.if_match {
        IfMatch::Never => None,
        IfMatch::IfPresent => {
            Some((false, "The ETag of the object as you know it; absent to make a new one."))
        }
        IfMatch::Always => Some((true, "The ETag of the object as you know it.")),
    };
    if let Some((is_required, description)) = if_match {
        let pattern = "^\"[0-9]{1,18}\"$";
        parameters.push(header_parameter("If-Match", is_required, description, pattern));
    }
    if endpoint.permission.is_some_and(|permission| GATED.contains(&permission)) {
        parameters.push(header_parameter(
            "Hostler-Approval",
            false,
            "Id of the approval, where a policy asks for one.",
            "^[0-9a-f-]{36}$",
        ));
        parameters.push(header_parameter(
            "Hostler-Break-Glass",
            false,
            "The reason for doing it without the approval that a policy asks for.",
            "^.{1,1000}$",
        ));
    }
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if let Some(body) = endpoint.body_schema {
        operation["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": body(generator) } } });
    }
    if let Some(max) = endpoint.raw_body {
        operation["requestBody"] = json!({ "required": true, "content": { "application/octet-stream": { "schema": { "type": "string", "format": "binary", "maxLength": max } } } });
    }
    if endpoint.stream == Stream::Duplex {
        operation["requestBody"] = json!({ "required": false, "content": { "application/x-ndjson": { "schema": { "type": "string", "description": "One JSON document a line, for as long as the stream is wanted." } } } });
    }
    operation["responses"] = responses(endpoint, generator, problem);
    operation
}

fn responses(endpoint: &Described, generator: &mut SchemaGenerator, problem: &Schema) -> Value {
    let mut responses = Map::new();
    let mut success = json!({ "description": "Done." });
    if let Some(reply) = endpoint.reply_schema {
        let schema = reply(generator);
        let content = match endpoint.stream {
            Stream::None => json!({ "application/json": { "schema": schema } }),
            Stream::Watch => {
                json!({ "application/json": { "schema": schema }, "text/event-stream": { "schema": { "type": "string" } } })
            }
            Stream::Lines | Stream::Duplex => {
                json!({ "application/x-ndjson": { "schema": { "type": "string", "description": "One JSON document a line." } } })
            }
            Stream::Metrics => {
                json!({ "application/openmetrics-text": { "schema": { "type": "string" } } })
            }
            Stream::Raw => raw(),
        };
        success["content"] = content;
    } else if endpoint.stream == Stream::Raw {
        success["content"] = raw();
    }
    responses.insert(endpoint.status.to_string(), success);
    if endpoint.name == "readyz" {
        let schema = endpoint.reply_schema.map(|reply| reply(generator));
        responses.insert("503".into(), json!({ "description": "Not ready.", "content": { "application/json": { "schema": schema } } }));
    }
    for code in codes_of(endpoint) {
        let entry = responses.entry(status_of(code).to_string()).or_insert_with(
            || json!({ "description": "", "content": { crate::PROBLEM_CONTENT_TYPE: { "schema": problem } } }),
        );
        if let Some(Value::String(description)) = entry.get_mut("description")
            && !description.contains(code.label())
            && description != "Not ready."
        {
            if !description.is_empty() {
                description.push_str(", ");
            }
            description.push_str(code.label());
        }
    }
    responses.sort_keys();
    Value::Object(responses)
}

fn raw() -> Value {
    json!({ "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } })
}

fn parameters(schema: &Schema, generator: &SchemaGenerator, place: &str) -> Vec<Value> {
    let resolved =
        match schema.get("$ref").and_then(Value::as_str).and_then(|r| r.rsplit('/').next()) {
            Some(name) => generator.definitions().get(name).cloned().unwrap_or_default(),
            None => schema.as_value().clone(),
        };
    let required: Vec<&str> = resolved
        .get("required")
        .and_then(Value::as_array)
        .map(|r| r.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = resolved.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    properties
        .iter()
        .map(|(name, schema)| {
            let mut schema = schema.clone();
            let description = schema.as_object_mut().and_then(|s| s.remove("description"));
            plain_optional(&mut schema);
            if place == "path" {
                schema["minLength"] = json!(1);
            }
            let mut parameter = json!({ "name": name, "in": place, "required": place == "path" || required.contains(&name.as_str()), "schema": schema });
            if let Some(description) = description {
                parameter["description"] = description;
            }
            parameter
        })
        .collect()
}

/// An absent parameter is not `null`: drop the null alternative that `Option` brings.
fn plain_optional(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    object.remove("default");
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|t| t != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(any)) = object.get_mut("anyOf") {
        any.retain(|s| s.get("type").and_then(Value::as_str) != Some("null"));
        if let [only] = any.as_slice() {
            *schema = only.clone();
        }
    }
}

fn header_parameter(name: &str, required: bool, description: &str, pattern: &str) -> Value {
    json!({ "name": name, "in": "header", "required": required, "description": description, "schema": { "type": "string", "pattern": pattern } })
}

fn access_label(access: Access) -> String {
    match access {
        Access::Public => "public".into(),
        Access::LoggedIn => "logged-in".into(),
        Access::Global(role) => format!("global:{role}"),
        Access::Project(role) => format!("project:{role}"),
    }
}
