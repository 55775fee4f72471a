//! Prints the OpenAPI document; `docs/reference/openapi.json` is its output.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    let text = serde_json::to_string_pretty(&hostler_api::openapi::document())?;
    writeln!(std::io::stdout(), "{text}")
}
