//! Words of groups that are scaled.

crate::labels! {
    /// What the number of an adjustment means.
    pub enum AdjustmentKind ("adjustment type") {
        ChangeInCapacity = "change_in_capacity",
        ExactCapacity = "exact_capacity",
        PercentChangeInCapacity = "percent_change_in_capacity",
    }
}

crate::labels! {
    /// Whether names that were taken out of a group once stay out.
    #[derive(Default)]
    pub enum RemovalMode ("removal policies mode") {
        #[default]
        Append = "append",
        Update = "update",
    }
}
