//! What a machine is made to be: files, packages, services, users, and what is true of it.

use super::Module;

pub(super) const MODULES: &[&Module] = &[];
