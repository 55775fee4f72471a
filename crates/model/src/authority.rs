//! How far one certificate authority is in taking the place of another.

crate::labels! {
    pub enum AuthorityPhase ("phase of an authority") {
        /// There is one authority, and everything is of it.
        Stable = "stable",
        /// A new authority is trusted; servers and agents hear of it, and the old one still issues.
        Spreading = "spreading",
        /// The new authority issues, and nodes fetch certificates of it; the old one is still trusted.
        Renewing = "renewing",
    }
}
