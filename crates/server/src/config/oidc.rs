//! `[oidc]`: an identity provider where people can log in.

use std::path::PathBuf;

use hostler_control::OidcConfig;
use hostler_model::{Name, RoleName};
use serde::Deserialize;

use super::{ConfigError, Kind, Setting};

settings! {
    /// An identity provider where people can log in.
    OidcSection OIDC_SETTINGS {
        /// The provider, exactly as it calls itself; `/.well-known/openid-configuration` is looked for below it. What is not public has to be in `egress.allow`.
        issuer: String = String::new(), Kind::Text, "none";
        /// What the provider calls this installation.
        client_id: String = String::new(), Kind::Text, "must be set";
        /// File with the secret that the provider gave; read for every login. A public client has none.
        client_secret_file: Option<PathBuf> = None, Kind::Text, "none";
        /// Where the provider sends people back to: the address of the dashboard, exactly as it is registered there.
        redirect: Option<String> = None, Kind::Text, "`https://` and the first of `advertise`, with the port and a slash";
        /// What the provider is asked for; `openid` is among it.
        scopes: Vec<String> = vec!["openid".into(), "profile".into(), "email".into()], Kind::List, "openid,profile,email";
        /// What people know the provider as.
        label: String = "identity provider".into(), Kind::Text, "identity provider";
        /// The claim that an account which is made gets its name from.
        name_claim: String = "preferred_username".into(), Kind::Text, "preferred_username";
        /// Only people with a checked e-mail address in one of these domains come in.
        email_domains: Vec<String> = Vec::new(), Kind::List, "none";
        /// Only people with this value in this claim come in: `groups=hostler-users`.
        required: Option<String> = None, Kind::Text, "none";
        /// The claim with the groups that somebody is in.
        groups_claim: String = "groups".into(), Kind::Text, "groups";
        /// Groups there whose members are in a group here, which has to be there: `platform-team=ops`. At every login people are put into these groups, and taken out.
        groups: Vec<String> = Vec::new(), Kind::List, "none";
        /// Whether people whom nobody knows get an account. Others have to be linked first: `hostler user identity add`.
        create_accounts: bool = false, Kind::Flag, "false";
        /// The role on the whole installation of an account that is made.
        role: Option<String> = None, Kind::Text, "no role";
        /// Whether people who are linked cannot log in with a password any more.
        password_off: bool = false, Kind::Flag, "false";
    }
}

impl OidcSection {
    fn is_off(&self) -> bool {
        *self == OidcSection::default()
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |setting, problem: &str| {
            Err(ConfigError::Setting { setting, problem: problem.to_owned() })
        };
        if self.is_off() {
            return Ok(());
        }
        if !self.issuer.starts_with("https://") || self.issuer.contains(['?', '#']) {
            return wrong("oidc.issuer", "it is the provider's address and begins with https://");
        }
        if self.client_id.is_empty() {
            return wrong("oidc.client_id", "it must be set");
        }
        let is_address = |url: &String| url.starts_with("https://") && !url.contains(['?', '#']);
        if self.redirect.as_ref().is_some_and(|url| !is_address(url)) {
            return wrong("oidc.redirect", "it begins with https://, and has neither `?` nor `#`");
        }
        if !self.scopes.iter().any(|scope| scope == "openid") {
            return wrong("oidc.scopes", "`openid` has to be among them");
        }
        if self.required.is_some() && self.required().is_none() {
            return wrong("oidc.required", "it is a claim and a value, such as groups=hostler");
        }
        if self.groups().len() != self.groups.len() {
            return wrong("oidc.groups", "each is a group there and one here: platform-team=ops");
        }
        if self.role.is_some() && (!self.create_accounts || self.role().is_none()) {
            return wrong("oidc.role", "it is a role, and goes with `create_accounts`");
        }
        Ok(())
    }

    fn required(&self) -> Option<(String, String)> {
        let (claim, value) = self.required.as_ref()?.split_once('=')?;
        (!claim.is_empty() && !value.is_empty()).then(|| (claim.to_owned(), value.to_owned()))
    }

    fn groups(&self) -> Vec<(String, Name)> {
        let pair = |text: &String| {
            let (theirs, own) = text.rsplit_once('=')?;
            Some((theirs.to_owned(), own.parse::<Name>().ok()?))
                .filter(|(theirs, _)| !theirs.is_empty())
        };
        self.groups.iter().filter_map(pair).collect()
    }

    fn role(&self) -> Option<RoleName> {
        self.role.as_ref()?.parse().ok()
    }

    /// What was checked, for the application; `None` where nothing is set.
    pub(crate) fn control(&self, api_address: &str) -> Option<OidcConfig> {
        if self.is_off() {
            return None;
        }
        Some(OidcConfig {
            issuer: self.issuer.clone(),
            client_id: self.client_id.clone(),
            client_secret_file: self.client_secret_file.clone(),
            redirect_uri: match &self.redirect {
                Some(url) => url.clone(),
                None => format!("https://{api_address}/"),
            },
            scopes: self.scopes.clone(),
            label: self.label.clone(),
            name_claim: self.name_claim.clone(),
            email_domains: self.email_domains.clone(),
            required: self.required(),
            groups_claim: self.groups_claim.clone(),
            groups: self.groups(),
            creates_accounts: self.create_accounts,
            role: self.role(),
            is_password_off: self.password_off,
        })
    }
}
