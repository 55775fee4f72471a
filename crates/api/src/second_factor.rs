//! The second factor: a time-based code (RFC 6238) besides the password.

use hostler_model::{Role, SecondFactorState, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Access;
use crate::user::UserPath;

crate::endpoints! { "second factor"
    /// Show how the caller stands with the second factor.
    TotpShow = "totp_show" GET "/api/v1/whoami/totp", Access::LoggedIn, Own, 200, reply: TotpView;
    /// Make a secret for an authenticator; it counts once a code of it was confirmed.
    TotpEnrol = "totp_enrol" POST "/api/v1/whoami/totp", Access::LoggedIn, PasswordChange, 201,
        body: TotpEnrolBody, reply: TotpEnrolledView, errors: [Conflict, RateLimited];
    /// Confirm the secret with a code of it: logins need one from then on, and other sessions end.
    TotpConfirm = "totp_confirm" POST "/api/v1/whoami/totp/confirm", Access::LoggedIn, PasswordChange, 200,
        body: TotpConfirmBody, reply: RecoveryCodesView, errors: [Conflict, RateLimited];
    /// Switch the caller's second factor off.
    TotpDisable = "totp_disable" POST "/api/v1/whoami/totp/disable", Access::LoggedIn, PasswordChange, 204,
        body: TotpDisableBody, errors: [Conflict, RateLimited];
    /// Take the second factor off a user who lost the device and the recovery codes.
    TotpReset = "totp_reset" DELETE "/api/v1/users/{user}/totp", Access::Global(Role::Admin), UserUpdate, 204,
        path: UserPath, errors: [NotFound, Conflict];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TotpView {
    pub state: SecondFactorState,
    pub recovery_codes_left: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_confirmed: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TotpEnrolBody {
    /// The caller's password: a session alone is not enough.
    pub password: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TotpEnrolledView {
    /// Shown this once, in base32, to be typed into an authenticator.
    pub secret: String,
    /// The same as a link that authenticators open.
    pub uri: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TotpConfirmBody {
    /// Six digits.
    pub code: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryCodesView {
    /// Shown this once. Each stands in for a code, once.
    pub recovery_codes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TotpDisableBody {
    pub password: String,
    /// Six digits, or a recovery code.
    pub code: String,
}
