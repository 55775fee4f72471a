//! Makes a new key for the tokens of what runs when the present one is old, and forgets former ones.

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::Error;

use super::pass;
use crate::Control;
use crate::identity::Kept;

/// The loop that keeps the keys.
pub struct IdentityKeyKeeper {
    control: Control,
}

impl IdentityKeyKeeper {
    async fn keep(&self) -> Result<Pass<Kept>, Error> {
        let control = &self.control;
        if !control.identity_keys_due().await? {
            return Ok(Pass::done(Kept::default()));
        }
        let (_, kept) = control.identity_keys_keep().await?;
        control.feed.ring();
        Ok(Pass::done(kept))
    }
}

impl Control {
    /// The loop that keeps the keys of tokens.
    pub fn identity_key_reconciler(&self) -> IdentityKeyKeeper {
        IdentityKeyKeeper { control: self.clone() }
    }
}

impl Reconciler for IdentityKeyKeeper {
    const NAME: &'static str = "identity_key";
    const DESCRIPTION: &'static str = "makes new keys for the tokens of what runs";
    type Report = Kept;

    async fn reconcile(&mut self) -> Pass<Kept> {
        pass(self.keep().await)
    }
}
