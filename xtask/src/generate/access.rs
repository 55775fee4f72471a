//! `docs/reference/access.md`: every endpoint, and who may call it.

use std::fmt::Write as _;

use hostler_api::{Access, Described};
use hostler_model::Role;

pub fn page() -> String {
    let mut page = super::heading("Access", "the endpoint declarations in `crates/api/src`");
    page.push_str(
        "Who may call what. The same declarations are enforced by the authoriser before a handler runs,\n\
         and a test calls every endpoint as every role, and as nobody, and compares.\n\n\
         - **yes**: allowed.\n\
         - **project**: allowed with this role in the project that the path names, or with it on the\n\
         \u{20}\u{20}whole installation.\n\
         - **global**: allowed only with this role on the whole installation.\n\
         - **own**: allowed; each caller sees and changes only what it may.\n\
         - empty: refused.\n\n\
         A token never allows more than its own role and project, whatever its owner may do.\n",
    );
    let endpoints = hostler_api::all();
    let mut tag = "";
    for endpoint in &endpoints {
        if endpoint.tag != tag {
            tag = endpoint.tag;
            let _ = write!(page, "\n## {tag}\n\n{}", columns());
        }
        let _ = writeln!(page, "{}", row(endpoint));
    }
    page
}

fn columns() -> String {
    let roles: Vec<&str> = Role::ALL.iter().map(|role| role.label()).collect();
    format!(
        "| endpoint | what it does | nobody | logged in | {} |\n|---|---|{}\n",
        roles.join(" | "),
        "---|".repeat(roles.len() + 2)
    )
}

fn row(endpoint: &Described) -> String {
    let callers = std::iter::once(Caller::Nobody)
        .chain(std::iter::once(Caller::LoggedIn))
        .chain(Role::ALL.iter().map(|role| Caller::Holding(*role)));
    let cells: Vec<&str> = callers.map(|caller| verdict(endpoint.access, caller)).collect();
    format!(
        "| `{} {}` | {} | {} |",
        endpoint.method,
        endpoint.path,
        endpoint.summary,
        cells.join(" | ")
    )
}

#[derive(Clone, Copy)]
enum Caller {
    Nobody,
    LoggedIn,
    Holding(Role),
}

fn verdict(access: Access, caller: Caller) -> &'static str {
    match (access, caller) {
        (Access::Public, _) => "yes",
        (Access::LoggedIn, Caller::LoggedIn | Caller::Holding(_)) => "own",
        (Access::Global(need), Caller::Holding(role)) if role >= need => "global",
        (Access::Project(need), Caller::Holding(role)) if role >= need => "project",
        (Access::LoggedIn | Access::Global(_) | Access::Project(_), _) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_gets_only_what_is_public() {
        for endpoint in hostler_api::all() {
            let open = !verdict(endpoint.access, Caller::Nobody).is_empty();
            assert_eq!(open, endpoint.access == Access::Public, "{}", endpoint.name);
        }
    }

    #[test]
    fn roles_include_those_before_them() {
        let access = Access::Project(Role::Operator);
        assert_eq!(verdict(access, Caller::Holding(Role::User)), "");
        assert_eq!(verdict(access, Caller::Holding(Role::Operator)), "project");
        assert_eq!(verdict(access, Caller::Holding(Role::Admin)), "project");
    }
}
