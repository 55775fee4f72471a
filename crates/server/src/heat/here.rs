//! Where the caller reaches us, for addresses in answers.
//!
//! Programs go on where an answer says. So addresses have the host that the request named, or that a proxy in front of us
//! says it named; whoever sends something else only misleads itself.

use hostler_control::StackResourceDetail;
use hostler_model::stack::Stack;
use http::header::HOST;
use http::{HeaderMap, Uri};
use serde_json::{Value, json};

use super::Doors;

/// The address of these doors as the caller knows it, and which project its request is about.
#[derive(Clone, Debug)]
pub(super) struct Here {
    /// `https://host:port`
    base: String,
    /// As the request calls the project.
    tenant: String,
}

impl Here {
    pub(super) fn of(doors: &Doors, headers: &HeaderMap, uri: &Uri) -> Here {
        let told = |name: &str| {
            let text = headers.get(name)?.to_str().ok()?;
            text.split(',').next().map(str::trim).filter(|text| !text.is_empty())
        };
        let scheme = match told("x-forwarded-proto") {
            Some(scheme @ ("http" | "https")) => scheme,
            _ if doors.is_tls() => "https",
            _ => "http",
        };
        let named = told("x-forwarded-host")
            .or_else(|| uri.authority().map(http::uri::Authority::as_str))
            .or_else(|| headers.get(HOST)?.to_str().ok());
        let host = named.filter(|host| is_host(host)).unwrap_or_else(|| doors.address());
        Here { base: format!("{scheme}://{host}"), tenant: String::new() }
    }

    #[must_use]
    pub(super) fn in_project(self, tenant: &str) -> Here {
        Here { tenant: tenant.to_owned(), ..self }
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn identity(&self) -> String {
        format!("{}/identity/v3", self.base)
    }

    /// Where a project is served.
    pub(super) fn project(&self, tenant: &str) -> String {
        format!("{}/v1/{tenant}", self.base)
    }

    pub(super) fn tenant(&self) -> &str {
        &self.tenant
    }

    /// An address in the project of the request.
    pub(super) fn path(&self, path: &str) -> String {
        format!("{}{path}", self.project(&self.tenant))
    }

    pub(super) fn stack(&self, stack: &Stack) -> String {
        self.named(stack.name.as_str(), &stack.id.to_string())
    }

    pub(super) fn named(&self, name: &str, id: &str) -> String {
        self.path(&format!("/stacks/{name}/{id}"))
    }

    pub(super) fn resource(&self, detail: &StackResourceDetail) -> String {
        format!("{}/resources/{}", self.stack(&detail.stack), escaped(&detail.row.name))
    }
}

/// What stands before the path of an address.
fn is_host(text: &str) -> bool {
    text.len() <= 260
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte))
}

/// A text as a part of a path.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

pub(super) fn link(rel: &str, href: impl Into<String>) -> Value {
    json!({ "href": href.into(), "rel": rel })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_paths_are_escaped() {
        assert_eq!(escaped("a b/c"), "a%20b%2Fc");
        assert_eq!(escaped("OS::Heat"), "OS%3A%3AHeat");
        assert!(is_host("h:8004") && is_host("[::1]:8004"));
        assert!(!is_host("h/evil") && !is_host("h\"x") && !is_host("a@b"));
    }
}
