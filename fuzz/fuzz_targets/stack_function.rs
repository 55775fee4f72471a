#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostler_fuzz::stack_function(bytes));
