//! One file for each theme.

mod arrays;
mod bad_input;
mod conformance;
mod containers;
mod dashboard;
mod disk;
mod drain;
mod edge;
mod files;
mod first_minutes;
mod images;
mod join;
mod outage;
mod recovery;
mod requests;
mod river;
mod service;
mod standalone;
mod standalone_doors;
mod survive;
mod task_input;
mod two_servers;
mod watch;
mod workloads;
