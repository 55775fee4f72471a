//! What tasks used: what was reserved for them, for as long as they ran, by the day they ended.

use std::collections::BTreeMap;

use hostler_model::{Diagnostic, Error, Need, Permission, PrincipalId, ProjectId, Timestamp};
use hostler_store::Used;

use super::task::Names;
use crate::{AccountDetail, AccountQuery, Control, Cx};

/// Microseconds.
const DAY: i64 = 86_400_000_000;
/// How far back a report goes where nothing is said.
const DAYS: i64 = 30;

impl Control {
    /// What was used in the projects that the caller may see, whoever used most first.
    pub async fn account_report(
        &self,
        cx: &Cx,
        query: &AccountQuery,
    ) -> Result<Vec<AccountDetail>, Error> {
        let today = self.now().micros().div_euclid(DAY);
        let to = day(query.to.as_deref(), "/query/to")?.unwrap_or(today);
        let from = day(query.from.as_deref(), "/query/from")?.unwrap_or(to - DAYS);
        if from > to {
            let text = "the first day comes after the last";
            return Err(Error::invalid(vec![Diagnostic::new("/query/from", text)]));
        }
        let only = match &query.project {
            Some(project) => {
                let found = self.project_resolve(project).await?;
                let need = Need::of(Permission::AccountRead, Some(found.id));
                if !cx.caller.may(need) {
                    return Err(Error::not_found("project", project));
                }
                Some(found.id)
            }
            None => None,
        };
        let visible = cx.caller.projects_with(Permission::AccountRead);
        let may_see =
            |project: &ProjectId| visible.as_ref().is_none_or(|visible| visible.contains(project));
        let mut read = self.store.read().await?;
        let mut sums: BTreeMap<(ProjectId, PrincipalId), Used> = BTreeMap::new();
        for line in read.account_list(only, from, to).await? {
            if may_see(&line.project_id) {
                *sums.entry((line.project_id, line.principal_id)).or_default() += line.used;
            }
        }
        let projects: BTreeMap<ProjectId, String> = read
            .project_list_all()
            .await?
            .into_iter()
            .map(|project| (project.id, project.name.to_string()))
            .collect();
        let mut names = Names::default();
        let mut details = Vec::with_capacity(sums.len());
        for ((project, user), used) in sums {
            let project = projects.get(&project).cloned().unwrap_or_else(|| "(removed)".to_owned());
            let user = names.principal(&mut read, user).await?;
            details.push(AccountDetail { project, user, used });
        }
        details.sort_by(|a, b| {
            let most = b.used.core_milliseconds.cmp(&a.used.core_milliseconds);
            most.then_with(|| (&a.project, &a.user).cmp(&(&b.project, &b.user)))
        });
        Ok(details)
    }
}

/// The day that a text such as 2026-11-01 names.
fn day(text: Option<&str>, path: &str) -> Result<Option<i64>, Error> {
    let Some(text) = text else { return Ok(None) };
    let midnight = format!("{text}T00:00:00Z").parse::<Timestamp>();
    let day = midnight.map(|time| time.micros().div_euclid(DAY));
    day.map(Some).map_err(|_| {
        let text = format!("`{text}` is not a day; write it as 2026-11-01");
        Error::invalid(vec![Diagnostic::new(path, text)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read() {
        assert_eq!(day(Some("1970-01-02"), "/query/to").unwrap(), Some(1));
        assert_eq!(day(Some("2026-11-15"), "/query/to").unwrap(), Some(20772));
        assert_eq!(day(None, "/query/to").unwrap(), None);
        for text in ["", "yesterday", "2026-13-01", "2026-11-15T00:00:00Z"] {
            let error = day(Some(text), "/query/to").unwrap_err();
            assert_eq!(error.errors[0].pointer, "/query/to", "{text}");
        }
    }
}
