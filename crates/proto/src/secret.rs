//! Checked conversions of what is said about secrets.

use std::fmt;

use hostler_model::PlacementId;

use crate::{ConvertError, v1};

pub fn parse_placement(text: &str) -> Result<PlacementId, ConvertError> {
    text.parse().map_err(|e: hostler_model::ParseIdError| ConvertError::Bad {
        field: "placement_id",
        problem: e.to_string(),
    })
}

/// Without the value.
impl fmt::Debug for v1::DeliveredSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeliveredSecret({}, version {})", self.reference, self.version)
    }
}

/// Without the token.
impl fmt::Debug for v1::DeliveredToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeliveredToken({})", self.file)
    }
}
