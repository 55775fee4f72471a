//! `docs/reference/openapi.json`: the API as the endpoint declarations describe it.

pub fn document() -> anyhow::Result<String> {
    let document = hostler_api::openapi::document();
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
