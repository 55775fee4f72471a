//! The first start, and every start after it: what must exist before anything else can.
//!
//! Everything is made with "insert if absent", so that servers starting together agree on one
//! authority and one default project. The authority's key is sealed with the master key; a master key
//! that cannot open it (the wrong file, a restored database) stops the start, with what to do. So does
//! one that cannot open the secrets, and sealing that does not seal.

use hostler_base::clock::Clock;
use hostler_base::ids::Ids;
use hostler_model::{
    DEFAULT_PROJECT, Error, EventKind, Generation, InstallationId, KeyId, Name, ObjectKind,
    ObjectRef, Principal, PrincipalKind, Project, Quota, Role, Scope, ServerId, ServerPayload,
    ServerRegistration, Token,
};
use hostler_store::{Conn, Dialect, RESTORE_UNFINISHED, Store};
use hostler_trust::{Authority, Keyring, MasterKey, SecretToken, TokenKind};

use crate::authorities::{AuthoritySet, StoredAuthority, StoredKey};
use crate::{Control, ControlConfig, Parts, audit_state};

pub(crate) const SETUP_CODE: &str = "setup_code_hash";
pub(crate) const SETUP_DONE: &str = "setup_done";
pub(crate) const AUTHORITY: &str = "authority";

/// A value that is known, sealed: what opens it opens the rest.
pub(crate) const SEAL_CHECK: &str = "seal_check";
const SEAL_CHECKED: &[u8] = b"what is sealed here can be opened";
/// What this installation is known by in its backups; made at the first start.
pub(crate) const INSTALLATION: &str = "installation";
const SALT: &str = "master_key_salt";

/// The salt of this installation's passphrase, if it has one; the same for every server.
pub async fn passphrase_salt(store: &Store) -> Result<Vec<u8>, BootError> {
    let fresh = hostler_trust::keyring::fresh_salt();
    let fresh = &fresh;
    let salt = store
        .tx("passphrase_salt", |tx| {
            Box::pin(async move {
                tx.setting_insert(SALT, fresh).await?;
                tx.setting_get(SALT).await.map(Option::unwrap_or_default)
            })
        })
        .await;
    salt.map_err(|e: hostler_store::Error| BootError::Store(e))
}

/// Which master key the installation was sealed with; `None` where it was never started.
pub(crate) async fn sealed_with(read: &mut Conn) -> Result<Option<KeyId>, hostler_store::Error> {
    let sealed = read.setting_get(SEAL_CHECK).await?;
    Ok(sealed.and_then(|sealed| MasterKey::sealed_with(&sealed)))
}

#[derive(Debug, thiserror::Error)]
pub enum BootError {
    #[error("the database cannot be prepared")]
    Store(#[from] hostler_store::Error),
    #[error("the certificate authority cannot be made or read")]
    Authority(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error(
        "the master key does not open what is in this database; start with the master.key that was used before, or with an empty database"
    )]
    WrongMasterKey(#[source] hostler_trust::seal::Error),
    #[error(
        "secrets in this database are sealed with master keys that this server does not have ({0}); put those keys, one a line, into the file with the former keys beside the master key (`master.key.former`), or restore the key file that was used before"
    )]
    LackingKeys(String),
    #[error(
        "sealing does not work: a value that should be sealed is stored as it is; do not use this build, and report it"
    )]
    NotSealed,
    #[error(
        "this database was only half restored from a backup; restore it again with `hostler backup restore`, which begins anew"
    )]
    HalfRestored,
    #[error("the stored certificate authority cannot be read; restore the database from a backup")]
    CorruptAuthority(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What a server needs to begin.
pub struct Boot {
    pub store: Store,
    pub clock: Clock,
    pub ids: Ids,
    pub config: ControlConfig,
    /// What opens what is sealed in the database.
    pub master_key: Keyring,
    pub server_name: String,
}

impl Boot {
    /// Prepares the database and makes the application. The store must be migrated already.
    pub async fn run(self) -> Result<Control, BootError> {
        let unfinished = self.store.read().await?.setting_get(RESTORE_UNFINISHED).await?;
        if unfinished.is_some() {
            return Err(BootError::HalfRestored);
        }
        let authority = self.authority().await?;
        self.check_sealing().await?;
        self.default_project().await?;
        self.installation().await?;
        let server_id: ServerId = self.ids.fresh();
        Ok(Control::new(Parts {
            store: self.store,
            clock: self.clock,
            ids: self.ids,
            config: self.config,
            authority,
            keyring: self.master_key,
            server_id,
            server_name: self.server_name,
        }))
    }

    async fn authority(&self) -> Result<AuthoritySet, BootError> {
        let stored = self.store.read().await?.setting_get(AUTHORITY).await?;
        let bytes = match stored {
            Some(bytes) => bytes,
            None => {
                let fresh = Authority::create(self.clock.now(), "Hostler")
                    .map_err(|e| BootError::Authority(e.into()))?;
                let document = StoredAuthority::alone(StoredKey::seal(&fresh, &self.master_key)?);
                let bytes =
                    serde_json::to_vec(&document).map_err(|e| BootError::Authority(e.into()))?;
                let bytes = &bytes;
                self.store
                    .tx("authority_create", |tx| {
                        Box::pin(async move {
                            tx.setting_insert(AUTHORITY, bytes).await?;
                            tx.setting_get(AUTHORITY).await.map(Option::unwrap_or_default)
                        })
                    })
                    .await
                    .map_err(|e: hostler_store::Error| BootError::Store(e))?
            }
        };
        AuthoritySet::open(bytes, &self.master_key)
    }

    /// What is sealed can be opened, and is sealed: a server that cannot read its secrets, or would store
    /// them as they are, does not start.
    async fn check_sealing(&self) -> Result<(), BootError> {
        let fresh = self
            .master_key
            .seal(SEAL_CHECKED, SEAL_CHECK.as_bytes())
            .map_err(BootError::WrongMasterKey)?;
        let fresh = &fresh;
        let kept = self
            .store
            .tx("seal_check", |tx| {
                Box::pin(async move {
                    if let Some(kept) = tx.setting_get(SEAL_CHECK).await? {
                        return Ok(kept);
                    }
                    tx.setting_insert(SEAL_CHECK, fresh).await?;
                    tx.setting_get(SEAL_CHECK).await.map(Option::unwrap_or_default)
                })
            })
            .await
            .map_err(|e: hostler_store::Error| BootError::Store(e))?;
        if kept.windows(SEAL_CHECKED.len()).any(|part| part == SEAL_CHECKED) {
            return Err(BootError::NotSealed);
        }
        let opened = self
            .master_key
            .open(&kept, SEAL_CHECK.as_bytes())
            .map_err(BootError::WrongMasterKey)?;
        if *opened != SEAL_CHECKED {
            return Err(BootError::WrongMasterKey(hostler_trust::seal::Error::Damaged));
        }
        let known = self.master_key.ids();
        let used = self.store.read().await?.secret_keys().await?;
        let lacking: Vec<String> = used
            .iter()
            .filter(|(id, _)| !known.contains(id))
            .map(|(id, _)| id.to_string())
            .collect();
        match lacking.is_empty() {
            true => Ok(()),
            false => Err(BootError::LackingKeys(lacking.join(", "))),
        }
    }

    async fn installation(&self) -> Result<(), BootError> {
        let id: InstallationId = self.ids.fresh();
        let id = id.to_string();
        let id = &id;
        self.store
            .tx("installation_ensure", |tx| {
                Box::pin(async move {
                    if tx.setting_get(INSTALLATION).await?.is_none() {
                        tx.setting_insert(INSTALLATION, id.as_bytes()).await?;
                    }
                    Ok::<_, hostler_store::Error>(())
                })
            })
            .await?;
        Ok(())
    }

    async fn default_project(&self) -> Result<(), BootError> {
        let name: Name = DEFAULT_PROJECT.parse().expect("the default project's name is a name");
        let now = self.clock.now();
        let project = Project {
            id: self.ids.fresh(),
            name,
            description: "Where things go when no project is named.".into(),
            quota: Quota::default(),
            weight: 1,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        let project = &project;
        self.store
            .tx("default_project_ensure", |tx| {
                Box::pin(async move {
                    if tx.project_by_name(&project.name).await?.is_none() {
                        tx.project_insert(project).await?;
                    }
                    Ok::<_, hostler_store::Error>(())
                })
            })
            .await?;
        Ok(())
    }
}

impl Control {
    /// Whether the first admin is still to be made.
    pub async fn needs_setup(&self) -> Result<bool, Error> {
        Ok(self.store.read().await?.setting_get(SETUP_DONE).await?.is_none())
    }

    /// Makes a one-time setup code while there is no admin; an earlier code stops working.
    pub async fn setup_code_issue(&self) -> Result<Option<SecretToken>, Error> {
        if !self.needs_setup().await? {
            return Ok(None);
        }
        let code = SecretToken::generate(TokenKind::Setup);
        let hash = code.hash();
        let hash = &hash;
        self.store
            .tx("setup_code_issue", |tx| {
                Box::pin(async move { Ok::<_, Error>(tx.setting_replace(SETUP_CODE, hash).await?) })
            })
            .await?;
        Ok(Some(code))
    }

    /// A token for whoever owns this server's data directory: they could read the database anyway.
    /// The token of the previous start is revoked.
    pub async fn local_token_issue(&self) -> Result<SecretToken, Error> {
        let now = self.now();
        let name: Name = "local".parse().expect("`local` is a name");
        let secret = SecretToken::generate(TokenKind::Personal);
        let (name, secret_ref) = (&name, &secret);
        self.store
            .tx("local_token_issue", |tx| {
                Box::pin(async move {
                    let principal = match tx.principal_by_name(name).await? {
                        Some(principal) => principal,
                        None => {
                            let principal = Principal {
                                id: self.ids.fresh(),
                                name: name.clone(),
                                kind: PrincipalKind::Service,
                                password_hash: None,
                                is_disabled: false,
                                generation: Generation::FIRST,
                                time_created: now,
                                time_modified: now,
                            };
                            tx.principal_insert(&principal).await?;
                            tx.role_binding_set(principal.id, Scope::Global, Role::Admin).await?;
                            principal
                        }
                    };
                    let old = tx
                        .token_list(Some(principal.id), None, hostler_model::Limit::DEFAULT)
                        .await?;
                    for token in old.items.iter().filter(|t| t.name == *name && t.is_live(now)) {
                        tx.token_revoke(token.id, now).await?;
                        let object = ObjectRef::new(ObjectKind::Token, token.id, &token.name);
                        let [was, is] =
                            [false, true].map(|revoked| audit_state::token(token, revoked));
                        let detail = serde_json::json!({ "for": "local command line" });
                        let audit = self
                            .audit_system("token.revoke", &object, None, detail)
                            .with_states(Some(&was), Some(&is));
                        tx.journal_append(&[], &[audit]).await?;
                    }
                    let token = Token {
                        id: self.ids.fresh(),
                        principal_id: principal.id,
                        name: name.clone(),
                        secret_hash: secret_ref.hash().to_vec(),
                        limits: hostler_model::TokenLimits::role(Role::Admin),
                        time_created: now,
                        time_expires: None,
                        time_last_used: None,
                        time_revoked: None,
                    };
                    tx.token_insert(&token).await?;
                    let object = ObjectRef::new(ObjectKind::Token, token.id, &token.name);
                    let detail = serde_json::json!({ "for": "local command line" });
                    let audit = self
                        .audit_system("token.create", &object, None, detail)
                        .with_states(None, Some(&audit_state::token(&token, false)));
                    tx.journal_append(&[], &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        Ok(secret)
    }

    /// Says in the database that this server lives. On a database that only one server can use, whatever another has in hand
    /// has nobody any more, and is gone on with at once.
    pub async fn register(
        &self,
        api_address: String,
        agent_address: String,
        version: &str,
    ) -> Result<(), Error> {
        let now = self.now();
        let server = ServerRegistration {
            id: self.server_id,
            name: self.server_name.clone(),
            version: version.to_owned(),
            api_address,
            agent_address,
            time_started: now,
            time_seen: now,
        };
        let object = ObjectRef::new(ObjectKind::Server, server.id, &server.name);
        let event = self.event(
            EventKind::ServerStarted,
            None,
            &object,
            self.system_actor(),
            format!("version {version}"),
        );
        let event = event.with_payload(ServerPayload {
            version: Some(version.to_owned()),
            api_address: Some(server.api_address.clone()),
        });
        let (server, event) = (&server, &event);
        self.store
            .tx("server_register", |tx| {
                Box::pin(async move {
                    tx.server_register(server).await?;
                    if tx.dialect() == Dialect::Sqlite {
                        tx.stack_deeds_inherit(server.id, now).await?;
                    }
                    tx.journal_append(std::slice::from_ref(event), &[]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await
    }

    /// Takes the registration back at a clean stop.
    pub async fn unregister(&self) -> Result<(), Error> {
        let object = ObjectRef::new(ObjectKind::Server, self.server_id, &self.server_name);
        let event = self
            .event(EventKind::ServerStopped, None, &object, self.system_actor(), "stopped")
            .with_payload(ServerPayload {
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                api_address: None,
            });
        let event = &event;
        self.store
            .tx("server_unregister", |tx| {
                Box::pin(async move {
                    tx.server_remove(self.server_id).await?;
                    tx.journal_append(std::slice::from_ref(event), &[]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await
    }
}
