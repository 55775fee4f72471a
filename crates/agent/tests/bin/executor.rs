//! The executor of this crate's tests: what the hidden verb of the `hostler` binary does.

use std::path::PathBuf;

fn main() {
    let data_dir = std::env::args_os()
        .skip_while(|word| word != "--data-dir")
        .nth(1)
        .map(PathBuf::from)
        .expect("the runner passes --data-dir");
    hostler_agent::executor::executor_main(&data_dir)
}
