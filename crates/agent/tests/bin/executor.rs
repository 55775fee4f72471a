//! The executor and the keeper of this crate's tests: what hidden verbs of the `hostler` binary do.

use std::path::PathBuf;

fn main() {
    if let Some(keeper) = hostler_agent::container::Keeper::asked_for(std::env::args_os()) {
        keeper.main()
    }
    let data_dir = std::env::args_os()
        .skip_while(|word| word != "--data-dir")
        .nth(1)
        .map(PathBuf::from)
        .expect("the runner passes --data-dir");
    hostler_agent::executor::executor_main(&data_dir)
}
