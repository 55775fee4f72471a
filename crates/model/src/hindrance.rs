//! Why a task is not placed, in one word of a fixed set: what can be counted.

crate::labels! {
    /// What stands in the way of a task.
    pub enum Hindrance ("hindrance") {
        /// There is no node at all.
        NoNodes = "no-nodes",
        /// No node is what it asks for: a name, labels, a container engine.
        Rules = "rules",
        NotOnline = "not-online",
        Cordoned = "cordoned",
        Cores = "cores",
        Memory = "memory",
        Disk = "disk",
        Numa = "numa",
        Gpus = "gpus",
        /// Where others are, it is not to be; or where they are not.
        Neighbours = "neighbours",
        /// A node would take it: its quota, its array, its gang or those before it keep it back.
        Queue = "queue",
    }
}
