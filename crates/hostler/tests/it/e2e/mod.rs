//! One file for each theme.

mod dashboard;
mod disk;
mod drain;
mod first_minutes;
mod join;
mod outage;
mod requests;
mod service;
mod standalone;
mod standalone_doors;
mod survive;
mod two_servers;
mod watch;
mod workloads;
