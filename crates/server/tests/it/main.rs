//! Tests of the HTTP side over its real router and the real application on SQLite.

mod world;

mod access;
mod browser;
mod listen;
mod mounting;
mod requests;
mod routes;
mod watching;
