//! What approvals and their policies show of themselves in a table.

use hostler_api::approval::{ApprovalPolicyView, ApprovalView};
use hostler_model::{ApprovalState, Timestamp};

use super::{Cell, Column, Show, column, moment, wide};

impl Show for ApprovalView {
    const KIND: &'static str = "approval";
    const COLUMNS: &'static [Column] = &[
        column("ID"),
        column("STATE"),
        column("VERB"),
        column("NAME"),
        column("PROJECT"),
        column("BY"),
        column("AGREED"),
        wide("DIGEST"),
        column("CREATED"),
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
        let agreed: Vec<String> =
            self.needs.iter().map(|need| format!("{}/{}", need.agreed, need.approvals)).collect();
        vec![
            Cell::new(self.id),
            match self.state {
                ApprovalState::Waiting => state.warning(),
                ApprovalState::Approved | ApprovalState::Used => state.good(),
                ApprovalState::Denied => state.bad(),
                ApprovalState::Expired | ApprovalState::Withdrawn | ApprovalState::Void => {
                    state.dim()
                }
            },
            Cell::new(self.verb),
            Cell::new(&self.name),
            self.project.as_ref().into(),
            Cell::new(&self.requested_by),
            Cell::new(agreed.join(" ")),
            Cell::new(self.digest.short()),
            Cell::new(moment(self.time_created, now, is_wide)),
            Cell::new(moment(self.time_expires, now, is_wide)),
        ]
    }
}

impl Show for ApprovalPolicyView {
    const KIND: &'static str = "approval-policy";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("PROJECT"),
        column("VERBS"),
        column("APPROVALS"),
        column("BY"),
        column("EXEMPT"),
        wide("CREATED BY"),
        wide("MODIFIED"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let words = |list: Vec<String>| Some(list.join(",")).filter(|text| !text.is_empty());
        let verbs: Vec<&str> = self.rule.verbs.iter().map(|verb| verb.label()).collect();
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            self.project.as_ref().into(),
            Cell::new(verbs.join(",")),
            Cell::new(self.rule.approvals),
            words(self.rule.by.iter().map(ToString::to_string).collect()).into(),
            words(self.rule.exempt.iter().map(ToString::to_string).collect()).into(),
            Cell::new(&self.created_by),
            Cell::new(moment(self.time_modified, now, is_wide)),
        ]
    }
}
