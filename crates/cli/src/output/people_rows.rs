//! What invitations, sessions and identities show of themselves in a table.

use hostler_api::invitation::InvitationView;
use hostler_api::oidc::UserIdentityView;
use hostler_api::session::WebSessionView;
use hostler_model::{InvitationState, Timestamp};

use super::{Cell, Column, Show, column, moment, wide};

impl Show for InvitationView {
    const KIND: &'static str = "invitation";
    const COLUMNS: &'static [Column] = &[
        column("ID"),
        column("STATE"),
        column("ROLE"),
        column("PROJECT"),
        column("NAME"),
        column("EMAIL"),
        column("BY"),
        wide("USED BY"),
        wide("CREATED"),
        column("EXPIRES"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.id.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let state = Cell::new(self.state);
        vec![
            Cell::new(self.id),
            match self.state {
                InvitationState::Unused => state.good(),
                InvitationState::Used | InvitationState::Expired | InvitationState::Revoked => {
                    state.dim()
                }
            },
            Cell::new(self.role),
            self.project.as_ref().into(),
            self.name.as_ref().into(),
            Some(self.email.as_str()).filter(|text| !text.is_empty()).into(),
            Cell::new(&self.created_by),
            self.used_by.as_ref().into(),
            Cell::new(moment(self.time_created, now, is_wide)),
            Cell::new(moment(self.time_expires, now, is_wide)),
        ]
    }
}

impl Show for WebSessionView {
    const KIND: &'static str = "session";
    const COLUMNS: &'static [Column] = &[
        column("ID"),
        column("CURRENT"),
        column("USED"),
        wide("CREATED"),
        column("EXPIRES"),
        column("BROWSER"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.id.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.id),
            self.is_current.then_some("*").into(),
            Cell::new(moment(self.time_last_used, now, is_wide)),
            Cell::new(moment(self.time_created, now, is_wide)),
            Cell::new(moment(self.time_expires, now, is_wide)),
            Cell::new(&self.user_agent),
        ]
    }
}

impl Show for UserIdentityView {
    const KIND: &'static str = "identity";
    const COLUMNS: &'static [Column] =
        &[column("SUBJECT"), column("ISSUER"), column("EMAIL"), column("USED"), wide("CREATED")];
    fn id(&self) -> String {
        self.subject.clone()
    }
    fn name(&self) -> String {
        self.subject.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(&self.subject),
            Cell::new(&self.issuer),
            Some(self.email.as_str()).filter(|text| !text.is_empty()).into(),
            self.time_last_used.map(|time| moment(time, now, is_wide)).into(),
            Cell::new(moment(self.time_created, now, is_wide)),
        ]
    }
}
