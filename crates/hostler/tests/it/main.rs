//! End to end, on the real binary.
