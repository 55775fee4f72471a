//! Every target in one binary, which is linked once: what `make test` runs for some seconds each. The environment says
//! which one it is this time. A binary of its own for a target has fewer counters to look at and is faster.
#![no_main]

use std::sync::LazyLock;

use hostler_fuzz::TARGETS;

static CHECK: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let wanted = std::env::var("HOSTLER_FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|target| target.name == wanted);
    found.expect("HOSTLER_FUZZ_TARGET names a target").check
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| CHECK(bytes));
