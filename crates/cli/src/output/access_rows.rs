//! What roles and groups show of themselves in a table.

use hostler_api::group::GroupView;
use hostler_api::role::RoleView;
use hostler_model::Timestamp;

use super::rows::when;
use super::{Cell, Column, Show, column, moment, wide};

impl Show for RoleView {
    const KIND: &'static str = "role";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("KIND"),
        column("PERMISSIONS"),
        wide("MODIFIED"),
        column("DESCRIPTION"),
    ];
    fn id(&self) -> String {
        self.id.map_or_else(|| self.name.to_string(), |id| id.to_string())
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            self.id.into(),
            Cell::new(&self.name),
            Cell::new(if self.is_built_in { "built-in" } else { "custom" }),
            Cell::new(self.permissions.len()),
            when(self.time_modified, now, is_wide),
            Cell::new(&self.description),
        ]
    }
}

impl Show for GroupView {
    const KIND: &'static str = "group";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("MEMBERS"),
        column("ROLES"),
        wide("CREATED"),
        column("DESCRIPTION"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let members: Vec<&str> = self.members.iter().map(|name| name.as_str()).collect();
        let roles: Vec<String> = self
            .roles
            .iter()
            .map(|bound| match &bound.project {
                Some(project) => format!("{} in {project}", bound.role),
                None => bound.role.to_string(),
            })
            .collect();
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            Cell::new(members.join(",")),
            Cell::new(roles.join(", ")),
            Cell::new(moment(self.time_created, now, is_wide)),
            Cell::new(&self.description),
        ]
    }
}
