//! Short stories about one thing each.
