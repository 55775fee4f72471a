//! Doors for the fuzz targets (`crates/fuzz`) to what reads messages of peers and nodes. Nothing else
//! uses them.

use hostler_proto::v1;

use super::asks;

/// Whether a question to be relayed makes sense.
pub fn is_relay(request: v1::RelayRequest) -> bool {
    asks::parse_relay(request).is_ok()
}

/// Takes a piece of output as it came from a node.
pub fn take_output(frame: v1::OutputFrame) {
    let _item = asks::item(frame);
}
