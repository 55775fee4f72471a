//! `[vault.NAME]`: where linked secrets are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hostler_control::{HashiCorpVault, VaultConfig, VaultKind, VaultLogin, VaultProjects};
use hostler_model::{Name, Span, VaultPath, VaultPrefix};
use serde::Deserialize;

use super::{ConfigError, Kind, Setting};

/// Every project, in a list of them.
const ALL: &str = "*";

settings! {
    /// A vault that secrets of projects can lead to.
    VaultSection VAULT_SETTINGS {
        /// `hashicorp` for HashiCorp Vault, its key-value store of version 2, or `exec` for a program of yours.
        kind: String = String::new(), Kind::Text, "must be set";
        /// The projects that may use it; `*` for all.
        projects: Vec<String> = Vec::new(), Kind::List, "none";
        /// What comes before the paths that projects name, such as `teams/{project}`. Where there is more than one project, `{project}` has to be in it.
        prefix: String = String::new(), Kind::Text, "empty";
        /// How long one reading may take. A node waits about 10 s for everything it needs.
        time_max: Span = Span::from_secs(5), Kind::Text, "5s";
        /// How long a value is kept in the memory of a server; `0s` to ask every time.
        keep: Span = Span::from_secs(30), Kind::Text, "30s";
        /// Where HashiCorp Vault is: `https://host:8200`. What is not public has to be in `egress.allow`.
        address: String = String::new(), Kind::Text, "must be set for `hashicorp`";
        /// Where its key-value store is mounted.
        mount: String = "secret".to_owned(), Kind::Text, "secret";
        /// Its namespace, in Vault Enterprise.
        namespace: Option<String> = None, Kind::Text, "none";
        /// File with the certificates of its authority, in PEM form: then only these are believed.
        authorities: Option<PathBuf> = None, Kind::Text, "as for every call";
        /// File with a token for it, read for every reading; kept fresh by somebody else.
        token_file: Option<PathBuf> = None, Kind::Text, "none";
        /// Log in with the AppRole of this id.
        role_id: Option<String> = None, Kind::Text, "none";
        /// File with the secret id of the AppRole.
        secret_id_file: Option<PathBuf> = None, Kind::Text, "none";
        /// Log in with a JWT as this role.
        role: Option<String> = None, Kind::Text, "none";
        /// File with the JWT, such as a service account's in Kubernetes.
        jwt_file: Option<PathBuf> = None, Kind::Text, "none";
        /// Where the login is mounted.
        auth_mount: Option<String> = None, Kind::Text, "`approle` or `jwt`";
        /// The program and its arguments for `exec`; the program by its whole path.
        command: Vec<String> = Vec::new(), Kind::List, "must be set for `exec`";
    }
}

impl VaultSection {
    /// For the application, or what is wrong: the key, and why.
    fn read(&self, name: &str) -> Result<VaultConfig, (&'static str, String)> {
        let wrong = |key, problem: &str| (key, format!("`{name}`: {problem}"));
        let named = name
            .parse::<Name>()
            .map_err(|_| wrong("vault", "a name has small letters, digits and dashes"))?;
        let projects = match self.projects.as_slice() {
            [all] if all == ALL => VaultProjects::All,
            names => {
                let each = names.iter().map(|name| name.parse::<Name>());
                let problem = "it lists names of projects, or `*` alone for all";
                let names = each.collect::<Result<Vec<_>, _>>();
                VaultProjects::Named(names.map_err(|_| wrong("vault.projects", problem))?)
            }
        };
        let prefix = self
            .prefix
            .parse::<VaultPrefix>()
            .map_err(|error| wrong("vault.prefix", &error.to_string()))?;
        if self.time_max < Span::from_millis(100) || self.time_max > Span::from_secs(60) {
            return Err(wrong("vault.time_max", "it is 100ms to 60s"));
        }
        if self.keep > Span::from_secs(600) {
            return Err(wrong("vault.keep", "it is at most 10m"));
        }
        let kind = match self.kind.as_str() {
            "hashicorp" => VaultKind::HashiCorp(self.hashicorp().map_err(|(k, p)| wrong(k, p))?),
            "exec" => match self.command.first() {
                Some(program) if program.starts_with('/') => VaultKind::Exec(self.command.clone()),
                _ => {
                    let problem = "name the program by its whole path, and its arguments";
                    return Err(wrong("vault.command", problem));
                }
            },
            _ => return Err(wrong("vault.kind", "it is `hashicorp` or `exec`")),
        };
        let config = VaultConfig {
            name: named,
            projects,
            prefix,
            time_max: self.time_max.duration(),
            keep: self.keep.duration(),
            kind,
        };
        match config.problem() {
            Some(problem) => Err(wrong("vault.prefix", problem)),
            None => Ok(config),
        }
    }

    fn hashicorp(&self) -> Result<HashiCorpVault, (&'static str, &'static str)> {
        let address = self.address.trim_end_matches('/');
        let is_origin = address
            .strip_prefix("https://")
            .or_else(|| address.strip_prefix("http://"))
            .is_some_and(|host| !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']));
        if !is_origin || hostler_egress::Request::get(address).is_err() {
            return Err(("vault.address", "write `https://host:port`, without a path"));
        }
        let is_path = |text: &str| text.parse::<VaultPath>().is_ok();
        if !is_path(&self.mount) {
            return Err(("vault.mount", "it is a path such as `secret`"));
        }
        let is_header = |text: &str| text.bytes().all(|b| b.is_ascii_graphic());
        if self.namespace.as_deref().is_some_and(|text| text.is_empty() || !is_header(text)) {
            return Err(("vault.namespace", "it is a path such as `teams/web`"));
        }
        let mount = |usual: &str| self.auth_mount.clone().unwrap_or_else(|| usual.to_owned());
        if self.auth_mount.as_deref().is_some_and(|mount| !is_path(mount)) {
            return Err(("vault.auth_mount", "it is a path such as `approle`"));
        }
        let login = match (&self.token_file, &self.role_id, &self.role) {
            (Some(file), None, None) => VaultLogin::Token { file: file.clone() },
            (None, Some(role_id), None) => VaultLogin::AppRole {
                mount: mount("approle"),
                role_id: role_id.clone(),
                secret_id_file: self
                    .secret_id_file
                    .clone()
                    .ok_or(("vault.secret_id_file", "an AppRole has a secret id"))?,
            },
            (None, None, Some(role)) => VaultLogin::Jwt {
                mount: mount("jwt"),
                role: role.clone(),
                file: self.jwt_file.clone().ok_or(("vault.jwt_file", "a role needs a JWT"))?,
            },
            _ => return Err(("vault", "set one of `token_file`, `role_id` and `role`")),
        };
        let authorities_pem = match &self.authorities {
            Some(path) => {
                Some(std::fs::read(path).map_err(|_| ("vault.authorities", "it cannot be read"))?)
            }
            None => None,
        };
        Ok(HashiCorpVault {
            address: address.to_owned(),
            mount: self.mount.clone(),
            namespace: self.namespace.clone(),
            authorities_pem,
            login,
        })
    }
}

pub(super) fn check(vaults: &BTreeMap<String, VaultSection>) -> Result<(), ConfigError> {
    for (name, section) in vaults {
        section
            .read(name)
            .map_err(|(setting, problem)| ConfigError::Setting { setting, problem })?;
    }
    Ok(())
}

/// What was checked, for the application.
pub(super) fn control(vaults: &BTreeMap<String, VaultSection>) -> Vec<VaultConfig> {
    vaults.iter().filter_map(|(name, section)| section.read(name).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ServerConfig;

    fn read(text: &str) -> Result<Vec<VaultConfig>, String> {
        let config: ServerConfig = toml::from_str(text).unwrap();
        check(&config.vault).map_err(|error| error.to_string())?;
        Ok(control(&config.vault))
    }

    #[test]
    fn a_vault_is_read() {
        let found = read(
            "[vault.corp]\nkind = 'hashicorp'\naddress = 'https://vault.example:8200/'\nprojects = ['*']\nprefix = 'teams/{project}'\nrole_id = 'r'\nsecret_id_file = '/s'\nnamespace = 'web'\n[vault.own]\nkind = 'exec'\ncommand = ['/usr/bin/keeper', '--json']\nprojects = ['shop']\nkeep = '0s'",
        )
        .unwrap();
        assert_eq!(found.len(), 2);
        let VaultKind::HashiCorp(corp) = &found[0].kind else { panic!("{found:?}") };
        assert_eq!(corp.address, "https://vault.example:8200");
        assert_eq!((corp.mount.as_str(), corp.namespace.as_deref()), ("secret", Some("web")));
        let VaultLogin::AppRole { mount, .. } = &corp.login else { panic!("{corp:?}") };
        assert_eq!(mount, "approle");
        assert_eq!(found[0].projects, VaultProjects::All);
        assert_eq!(found[1].projects, VaultProjects::Named(vec!["shop".parse().unwrap()]));
        assert!(found[1].keep.is_zero());
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn what_is_wrong_with_a_vault_is_told_by_its_key() {
        let fine = "kind = 'exec'\ncommand = ['/x']\n";
        let vault = "kind = 'hashicorp'\naddress = 'https://v'\n";
        for (text, key) in [
            (format!("[vault.Bad]\n{fine}"), "`vault`"),
            ("[vault.a]\nkind = 'other'".to_owned(), "`vault.kind`"),
            ("[vault.a]\nkind = 'exec'".to_owned(), "`vault.command`"),
            ("[vault.a]\nkind = 'exec'\ncommand = ['sh', '-c']".to_owned(), "`vault.command`"),
            (format!("[vault.a]\n{fine}projects = ['*']"), "`vault.prefix`"),
            (format!("[vault.a]\n{fine}projects = ['a', 'b']\nprefix = 'x'"), "`vault.prefix`"),
            (format!("[vault.a]\n{fine}prefix = '../{{project}}'"), "`vault.prefix`"),
            (format!("[vault.a]\n{fine}projects = ['*', 'b']"), "`vault.projects`"),
            (format!("[vault.a]\n{fine}time_max = '2m'"), "`vault.time_max`"),
            (format!("[vault.a]\n{fine}keep = '1h'"), "`vault.keep`"),
            ("[vault.a]\nkind = 'hashicorp'".to_owned(), "`vault.address`"),
            (
                "[vault.a]\nkind = 'hashicorp'\naddress = 'https://v/ui'".to_owned(),
                "`vault.address`",
            ),
            (format!("[vault.a]\n{vault}"), "`vault`"),
            (format!("[vault.a]\n{vault}token_file = '/t'\nrole = 'r'"), "`vault`"),
            (format!("[vault.a]\n{vault}role_id = 'r'"), "`vault.secret_id_file`"),
            (format!("[vault.a]\n{vault}role = 'r'"), "`vault.jwt_file`"),
            (format!("[vault.a]\n{vault}token_file = '/t'\nmount = '../sys'"), "`vault.mount`"),
            (
                format!("[vault.a]\n{vault}token_file = '/t'\nauthorities = '/none'"),
                "`vault.authorities`",
            ),
        ] {
            let why = read(&text).unwrap_err();
            assert!(why.starts_with(key), "{text}: {why}");
        }
        assert!(toml::from_str::<ServerConfig>("[vault.a]\nkinds = 'x'").is_err());
    }
}
