//! `docs/reference/errors.md`: every error code with its HTTP status and meaning.

use std::fmt::Write as _;
use std::path::Path;

use hostler_api::openapi::{codes_of, status_of};
use hostler_model::Code;

use super::labels::Docs;

const SOURCE: &str = "crates/model/src/error.rs";

pub fn page(root: &Path) -> anyhow::Result<String> {
    let docs = Docs::read(root, SOURCE, "Code", Code::ALL.iter().map(|c| c.label()))?;
    let mut page = super::heading("Errors", &format!("`{SOURCE}` and `crates/api/src/openapi.rs`"));
    page.push_str(
        "Every error is a problem document (RFC 9457, `application/problem+json`) with a stable `code`,\n\
         a `detail` about this very request, a `hint` that says what to do next, and the `requestId`\n\
         under which the server logged it. `errors` lists every mistake with a JSON pointer to it.\n\
         `hostler explain CODE` says the same offline.\n\n",
    );
    page.push_str("| code | HTTP | means |\n|---|---|---|\n");
    for code in Code::ALL {
        let (label, status) = (code.label(), status_of(*code));
        writeln!(page, "| [`{label}`](#{label}) | {status} | {} |", docs.require(label)?)?;
    }
    let endpoints = hostler_api::all();
    for code in Code::ALL {
        let label = code.label();
        write!(page, "\n## {label}\n\n{}\n\n", docs.require(label)?)?;
        let answering: Vec<String> = endpoints
            .iter()
            .filter(|endpoint| codes_of(endpoint).contains(code))
            .map(|endpoint| format!("`{}`", endpoint.name))
            .collect();
        match answering.len() {
            0 => page.push_str("Answered before any endpoint is reached.\n"),
            all if all == endpoints.len() => page.push_str("Any endpoint can answer it.\n"),
            _ => writeln!(page, "Answered by {}.", answering.join(", "))?,
        }
    }
    Ok(page)
}
