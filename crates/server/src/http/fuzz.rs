//! Doors for the fuzz targets (`crates/fuzz`) to what reads requests before anybody is known to have sent
//! them. Nothing else uses them.

use hostler_model::{Error, StateTxn};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{decode, gate, in_url, page, state_stream, strict, workload_logs};

/// Reads a body as JSON.
pub fn json(bytes: &[u8]) -> Result<Value, Error> {
    strict::parse(bytes)
}

/// Reads a JSON document as the type it should have.
pub fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    strict::typed(value)
}

/// The one text of a document.
pub fn canonical(value: Value) -> Vec<u8> {
    strict::canonical(value)
}

/// Reads the part of an address after `?`.
pub fn query<T: DeserializeOwned>(raw: &str) -> Result<T, Error> {
    decode::query(Some(raw))
}

/// Reads a line of a state stream.
pub fn state_line(line: &[u8], project: hostler_model::ProjectId) -> Option<StateTxn> {
    state_stream::asked(project, serde_json::from_slice(line).ok()?).ok()
}

/// Whether headers carry a credential that can be looked up.
pub fn has_credential(headers: &[(HeaderName, &[u8])]) -> bool {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_bytes(value) {
            map.append(name, value);
        }
    }
    gate::presented(&map).is_ok()
}

/// Whether a well-formed secret is in an address.
pub fn has_secret(uri: &Uri) -> bool {
    in_url::found(uri).is_some()
}

/// Reads a cursor in every way there is; says the key of a page, where it is one.
pub fn cursor(text: &str) -> Option<String> {
    let _of_numbers = page::before(Some(text));
    let _of_the_journal = page::watch_after(Some(text));
    let _of_nodes = workload_logs::parse_cursors(Some(text));
    page::after(Some(text)).ok().flatten()
}
