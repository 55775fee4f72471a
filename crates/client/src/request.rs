//! From an endpoint and its typed parameters to a path, a query and a body. Pure.

use bytes::Bytes;
use hostler_api::{Endpoint, Nothing};
use serde::Serialize;
use serde_json::Value;

use crate::Error;

/// Everything about a request but where it goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts {
    /// Path with its parameters filled in.
    pub path: String,
    pub query: Vec<(String, String)>,
    pub body: Option<Bytes>,
}

impl Parts {
    pub fn of<E: Endpoint>(
        path: &E::Path,
        query: &E::Query,
        body: &E::Body,
    ) -> Result<Parts, Error> {
        let has_body = std::any::TypeId::of::<E::Body>() != std::any::TypeId::of::<Nothing>();
        Ok(Parts {
            path: fill(E::PATH, &pairs(path)?),
            query: pairs(query)?,
            body: has_body
                .then(|| serde_json::to_vec(body))
                .transpose()
                .map_err(|error| Error::Setup(error.into()))?
                .map(Bytes::from),
        })
    }

    pub fn raw<E: Endpoint>(path: &E::Path, query: &E::Query, body: Bytes) -> Result<Parts, Error> {
        let path = fill(E::PATH, &pairs(path)?);
        Ok(Parts { path, query: pairs(query)?, body: Some(body) })
    }

    /// Sets a query parameter, replacing what it was.
    pub fn set(&mut self, key: &str, value: &str) {
        self.unset(key);
        self.query.push((key.to_owned(), value.to_owned()));
    }

    pub fn unset(&mut self, key: &str) {
        self.query.retain(|(k, _)| k != key);
    }
}

/// The fields of a flat struct as text; absent ones are left out.
fn pairs(of: &impl Serialize) -> Result<Vec<(String, String)>, Error> {
    let value = serde_json::to_value(of).map_err(|error| Error::Setup(error.into()))?;
    let Value::Object(fields) = value else {
        return Err(Error::Setup("parameters must be a struct".into()));
    };
    let text = |value: Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    Ok(fields.into_iter().filter_map(|(key, value)| Some((key, text(value)?))).collect())
}

fn fill(template: &str, parameters: &[(String, String)]) -> String {
    parameters.iter().fold(template.to_owned(), |path, (key, value)| {
        path.replace(&format!("{{{key}}}"), &percent_encoded(value))
    })
}

/// Escapes everything but the unreserved characters, so that no value can leave its segment.
///
/// `.` and `..` would be taken for steps in the tree even when escaped; no name or id looks so, and
/// the server answers that there is no such object to what is sent instead.
fn percent_encoded(text: &str) -> String {
    if text.is_empty() || text.bytes().all(|b| b == b'.') {
        return "-".to_owned();
    }
    text.bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() || b"-_.~".contains(&b) {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_api::node::{NodeList, NodeListQuery, NodePath, NodeUncordon};
    use hostler_api::task::{TaskGet, TaskGetQuery, TaskPath};

    #[test]
    fn parameters_cannot_leave_their_segment() {
        let path = TaskPath { project: "default".to_owned(), task: "../a b/ü?x=1".to_owned() };
        let parts = Parts::of::<TaskGet>(&path, &TaskGetQuery::default(), &Nothing {}).unwrap();
        assert_eq!(parts.path, "/api/v1/projects/default/tasks/..%2Fa%20b%2F%C3%BC%3Fx%3D1");
        for steps in ["", ".", ".."] {
            assert_eq!(percent_encoded(steps), "-");
        }
    }

    #[test]
    fn absent_parameters_are_left_out_and_no_body_is_no_body() {
        let query = NodeListQuery { limit: Some(5), watch: Some(true), ..NodeListQuery::default() };
        let mut parts = Parts::of::<NodeList>(&Nothing {}, &query, &Nothing {}).unwrap();
        let pair = |k: &str, v: &str| (k.to_owned(), v.to_owned());
        assert_eq!(parts.query, [pair("limit", "5"), pair("watch", "true")]);
        assert_eq!(parts.body, None);
        parts.set("limit", "7");
        parts.unset("watch");
        assert_eq!(parts.query, [pair("limit", "7")]);
        let path = NodePath { node: "a".to_owned() };
        let parts = Parts::of::<NodeUncordon>(&path, &Nothing {}, &Nothing {}).unwrap();
        assert_eq!(parts.body, None);
    }
}
