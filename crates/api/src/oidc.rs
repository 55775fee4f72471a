//! Logging in at an identity provider, and which identities there are whose.

use hostler_model::{Role, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::{LoginKind, LoginView};
use crate::user::UserPath;
use crate::{Access, Listing};

crate::endpoints! { "sessions"
    /// Say whether people can log in at an identity provider.
    OidcShow = "oidc_show" GET "/api/v1/oidc", Access::Public, Nobody, 200, reply: OidcView;
    /// Begin a login at the identity provider; its answer is needed to finish it.
    OidcBegin = "oidc_begin" POST "/api/v1/oidc/begin", Access::Public, Nobody, 200,
        reply: OidcBegunView, errors: [NotFound, Unauthenticated, RateLimited];
    /// Finish a login with what the identity provider gave to the browser.
    OidcFinish = "oidc_finish" POST "/api/v1/oidc/finish", Access::Public, Nobody, 200,
        body: OidcFinishBody, reply: LoginView, errors: [NotFound, Unauthenticated, Forbidden, Conflict, RateLimited];
    /// List the identities at providers that log in as a user.
    UserIdentityList = "user_identity_list" GET "/api/v1/users/{user}/identities", Access::Global(Role::Admin), UserRead, 200,
        path: UserPath, reply: Listing<UserIdentityView>, errors: [NotFound];
    /// Let an identity at the provider log in as a user.
    UserIdentityAdd = "user_identity_add" POST "/api/v1/users/{user}/identities", Access::Global(Role::Admin), UserUpdate, 201,
        path: UserPath, body: UserIdentityAddBody, reply: UserIdentityView, errors: [NotFound, Conflict];
    /// Let an identity at a provider not log in as a user any more.
    UserIdentityRemove = "user_identity_remove" POST "/api/v1/users/{user}/identities/remove", Access::Global(Role::Admin), UserUpdate, 204,
        path: UserPath, body: UserIdentityRemoveBody, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OidcView {
    /// What people know the provider as; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OidcBegunView {
    /// Where the person goes with a browser.
    pub url: String,
    /// To be kept by whoever began, and sent with the end.
    pub ticket: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OidcFinishBody {
    pub ticket: String,
    /// As the provider gave it back.
    pub state: String,
    /// As the provider gave it.
    pub code: String,
    pub kind: LoginKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserIdentityView {
    pub issuer: String,
    pub subject: String,
    /// As the provider last said, if it has checked it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub email: String,
    pub time_created: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_last_used: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserIdentityAddBody {
    /// What the provider calls the person: the claim `sub`.
    pub subject: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserIdentityRemoveBody {
    pub issuer: String,
    pub subject: String,
}
