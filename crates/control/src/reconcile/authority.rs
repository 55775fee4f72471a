//! Takes over the authorities as the database has them, should another server have changed them.

use hostler_base::reconcile::{Pass, Reconciler};
use serde::Serialize;

use super::pass;
use crate::Control;

pub(super) struct AuthorityFollow {
    control: Control,
}

#[derive(Default, Serialize)]
pub(super) struct Report {
    has_changed: bool,
}

impl AuthorityFollow {
    pub(super) fn new(control: Control) -> AuthorityFollow {
        AuthorityFollow { control }
    }
}

impl Reconciler for AuthorityFollow {
    const NAME: &'static str = "authority_follow";
    const DESCRIPTION: &'static str =
        "takes over the certificate authorities when another server has replaced one";
    type Report = Report;

    async fn reconcile(&mut self) -> Pass<Report> {
        let followed = self.control.authorities_reload().await;
        pass(followed.map(|has_changed| Pass::done(Report { has_changed })))
    }
}
