//! The generic types of Heat: what a template does with values, groups, signals and stacks, without anything outside.
//!
//! None of them has an effect outside the database. Those that wait are looked at again when their time has come, when
//! somebody signals, or when a stack below has ended.

mod below;
#[cfg(test)]
mod bench;
mod delay;
mod deployed_server;
mod deployment;
mod deployment_schema;
mod derived;
mod group;
mod handle;
mod mime;
mod nested;
mod plain;
mod random_string;
mod software_config;
mod test_resource;
mod wait_condition;
mod yaml;

pub(crate) use deployment::{DEPLOYMENT, DERIVED};
pub(super) use software_config::CONFIG;

use std::sync::Arc;

use hostler_template::schema::{ResourceSchema, Support};

use super::Plugin;

/// Every generic type but the one that templates are.
pub(super) fn all() -> Vec<Arc<dyn Plugin>> {
    vec![
        Arc::new(delay::Delay::new()),
        Arc::new(deployed_server::DeployedServer::new()),
        Arc::new(deployment::Deployment::software()),
        Arc::new(deployment::Deployment::structured()),
        Arc::new(group::AutoScalingGroup::new()),
        Arc::new(group::DeploymentGroup::software()),
        Arc::new(group::DeploymentGroup::structured()),
        Arc::new(group::InstanceGroup::aws()),
        Arc::new(group::InstanceGroup::heat()),
        Arc::new(group::LaunchConfiguration::new()),
        Arc::new(group::ResourceChain::new()),
        Arc::new(group::ResourceGroup::new()),
        Arc::new(group::ScalingPolicy::aws()),
        Arc::new(group::ScalingPolicy::heat()),
        Arc::new(handle::Handle::aws()),
        Arc::new(handle::Handle::heat()),
        Arc::new(handle::Handle::swift()),
        Arc::new(handle::Handle::update()),
        Arc::new(nested::Stack::aws()),
        Arc::new(nested::Stack::heat()),
        Arc::new(plain::AccessPolicy::new()),
        Arc::new(plain::Kept::new()),
        Arc::new(plain::Nothing::new()),
        Arc::new(plain::Nothing::restarter()),
        Arc::new(random_string::RandomString::new()),
        Arc::new(software_config::SoftwareConfig::cloud()),
        Arc::new(software_config::SoftwareConfig::component()),
        Arc::new(software_config::SoftwareConfig::mime()),
        Arc::new(software_config::SoftwareConfig::software()),
        Arc::new(software_config::SoftwareConfig::structured()),
        Arc::new(test_resource::TestResource::new()),
        Arc::new(wait_condition::WaitCondition::aws()),
        Arc::new(wait_condition::WaitCondition::heat()),
        Arc::new(wait_condition::WaitCondition::swift()),
    ]
}

/// The type that templates are.
pub(super) fn template() -> Arc<dyn Plugin> {
    Arc::new(nested::TemplateResource::new())
}

/// A type that there is since a release of Heat.
fn since(name: &str, about: &str, release: &str) -> ResourceSchema {
    ResourceSchema { support: Support::since(release), ..ResourceSchema::new(name, about) }
}
