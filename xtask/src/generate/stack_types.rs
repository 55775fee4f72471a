//! The page about every type of resource that a template can make.

pub fn page() -> String {
    let heading = super::heading("Types of resources", "`crates/control/src/stack/plugin`");
    heading + &hostler_server::stack_types_page()
}
