//! `docs/reference/access.md`: every endpoint and who may call it, and every permission.

use std::fmt::Write as _;

use hostler_api::{Access, Described};
use hostler_model::{Permission, Reach, Role};

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
         What counts is the permission; the columns say which built-in roles have it. A custom role has\n\
         those that it names. A token never allows more than its own role, projects and permissions,\n\
         whatever its owner may do. The list of permissions is [at the end](#permissions).\n",
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
    page.push_str(&permissions());
    page
}

/// Every permission with the roles that have it.
fn permissions() -> String {
    let roles: Vec<&str> = Role::ALL.iter().map(|role| role.label()).collect();
    let mut text = format!(
        "\n## permissions\n\n\
         A permission of a project is held in one project, or on the whole installation and so in every\n\
         one. `object.*` stands for all of an object wherever permissions are written.\n\n\
         | permission | it allows to | of | {} |\n|---|---|---|{}\n",
        roles.join(" | "),
        "---|".repeat(roles.len())
    );
    for permission in Permission::ALL {
        let of = match permission.reach() {
            Reach::Global => "installation",
            Reach::Project => "project",
        };
        let cells: Vec<&str> = Role::ALL
            .iter()
            .map(|role| match permission.least() {
                None => "everybody",
                Some(least) if *role >= least => "yes",
                Some(_) => "",
            })
            .collect();
        let meaning = permission.meaning().trim_end_matches('.');
        let (first, rest) = meaning.split_at(1);
        let meaning = format!("{}{rest}", first.to_lowercase());
        let _ = writeln!(text, "| `{permission}` | {meaning} | {of} | {} |", cells.join(" | "));
    }
    text
}

fn columns() -> String {
    let roles: Vec<&str> = Role::ALL.iter().map(|role| role.label()).collect();
    format!(
        "| endpoint | what it does | permission | nobody | logged in | {} |\n|---|---|---|{}\n",
        roles.join(" | "),
        "---|".repeat(roles.len() + 2)
    )
}

fn row(endpoint: &Described) -> String {
    let callers = std::iter::once(Caller::Nobody)
        .chain(std::iter::once(Caller::LoggedIn))
        .chain(Role::ALL.iter().map(|role| Caller::Holding(*role)));
    let cells: Vec<&str> = callers.map(|caller| verdict(endpoint.access, caller)).collect();
    let permission = endpoint.permission.map(|permission| format!("`{permission}`"));
    format!(
        "| `{} {}` | {} | {} | {} |",
        endpoint.method,
        endpoint.path,
        endpoint.summary,
        permission.unwrap_or_default(),
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

    /// Asked by services, for what goes beyond the call itself.
    const ASKED_INSIDE: [Permission; 14] = [
        Permission::AccessInspect,
        Permission::ApprovalBreakGlass,
        Permission::BlobManage,
        Permission::EgressCall,
        Permission::HookManage,
        Permission::ProjectShare,
        Permission::ScheduleManage,
        Permission::SecretManage,
        Permission::TaskEnv,
        Permission::TaskManage,
        Permission::TokenManage,
        Permission::WorkflowManage,
        Permission::WorkloadEnv,
        Permission::WorkloadManage,
    ];

    #[test]
    fn every_permission_is_asked_for_somewhere() {
        let endpoints = hostler_api::all();
        for permission in Permission::ALL {
            let is_declared = endpoints.iter().any(|e| e.permission == Some(*permission));
            let is_inside = ASKED_INSIDE.contains(permission);
            assert!(is_declared != is_inside, "{permission}");
        }
    }

    #[test]
    fn what_a_role_is_needed_for_has_a_permission() {
        for endpoint in hostler_api::all() {
            assert!(hostler_api::fits(endpoint.access, endpoint.permission), "{}", endpoint.name);
            assert!(!hostler_api::fits(Access::Global(Role::Viewer), None));
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
