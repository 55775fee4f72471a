//! One file for each theme.

mod dashboard;
mod disk;
mod drain;
mod first_minutes;
mod join;
mod outage;
mod requests;
mod survive;
mod two_servers;
mod watch;
