//! Secrets: values in, and out where they are asked for by name.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hostler_api::secret::{
    SecretGenerate, SecretGet, SecretLinkSet, SecretList, SecretRead, SecretRemove, SecretRewrap,
    SecretRewrapView, SecretSet, SecretValueView, SecretVersionDestroy, SecretVersionList,
    SecretVersionView, SecretView, VaultList, VaultView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{SecretDetail, VaultDetail};
use hostler_model::{Error, Name, SecretRef, SecretVersion, default_environment};
use hostler_trust::SecretBytes;

use super::gather::Gather;
use super::{Answer, App, Call, page};

fn named(name: &Name, environment: Option<&Name>) -> SecretRef {
    let environment = environment.cloned().unwrap_or_else(default_environment);
    SecretRef { environment, name: name.clone(), version: None }
}

fn shown(SecretDetail { secret, created_by }: SecretDetail) -> SecretView {
    SecretView {
        reference: secret.called(),
        id: secret.id,
        environment: secret.environment,
        name: secret.name,
        source: secret.source,
        link: secret.link,
        version: Some(secret.version_current).filter(|version| *version > 0),
        created_by,
        time_created: secret.time_created,
        time_modified: secret.time_modified,
    }
}

fn version(of: SecretVersion, current: u32) -> SecretVersionView {
    SecretVersionView {
        version: of.version,
        is_current: of.version == current,
        is_destroyed: of.is_destroyed(),
        size: of.size,
        created_by: of.created_by,
        time_created: of.time_created,
        time_destroyed: of.time_destroyed,
    }
}

pub(crate) async fn list(
    app: App,
    call: Call<SecretList>,
) -> Result<Answer<Listing<SecretView>>, Error> {
    let mut list = Gather::of::<SecretList>(&call.query)?;
    let environment = call.query.environment.as_ref();
    let (control, project) = (app.control(), call.project());
    while let Some(ask) = list.ask() {
        let found =
            control.secret_list(&call.cx, project, environment, ask.after(), ask.limit).await?;
        list.take(found, shown)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn get(app: App, call: Call<SecretGet>) -> Result<Answer<SecretView>, Error> {
    let reference = named(&call.path.secret, call.query.environment.as_ref());
    Ok(Answer::new(shown(app.control().secret_get(&call.cx, call.project(), &reference).await?)))
}

pub(crate) async fn set(app: App, call: Call<SecretSet>) -> Result<Answer<SecretView>, Error> {
    let reference = named(&call.path.secret, Some(&call.query.environment));
    let must_exist = call.query.must_exist.unwrap_or_default();
    let value = SecretBytes::new(call.raw.to_vec());
    let set =
        app.control().secret_set(&call.cx, call.project(), &reference, &value, must_exist).await?;
    Ok(Answer::new(shown(set)))
}

pub(crate) async fn link(app: App, call: Call<SecretLinkSet>) -> Result<Answer<SecretView>, Error> {
    let reference = named(&call.path.secret, call.query.environment.as_ref());
    let linked =
        app.control().secret_link(&call.cx, call.project(), &reference, &call.body).await?;
    Ok(Answer::new(shown(linked)))
}

pub(crate) async fn vaults(
    app: App,
    call: Call<VaultList>,
) -> Result<Answer<Listing<VaultView>>, Error> {
    let vaults = app.control().vault_list(&call.cx, call.project());
    let view = |VaultDetail { name, kind, prefix }: VaultDetail| VaultView {
        name,
        kind: kind.to_owned(),
        prefix,
    };
    Ok(Answer::new(page::whole(vaults, view)))
}

pub(crate) async fn generate(
    app: App,
    call: Call<SecretGenerate>,
) -> Result<Answer<SecretView>, Error> {
    let reference = named(&call.path.secret, call.query.environment.as_ref());
    let bytes = call.body.bytes;
    let made = app.control().secret_generate(&call.cx, call.project(), &reference, bytes).await?;
    Ok(Answer::new(shown(made)))
}

pub(crate) async fn read(
    app: App,
    call: Call<SecretRead>,
) -> Result<Answer<SecretValueView>, Error> {
    let reference = SecretRef {
        version: call.query.version,
        ..named(&call.path.secret, call.query.environment.as_ref())
    };
    let read = app.control().secret_read(&call.cx, call.project(), &reference).await?;
    Ok(Answer::new(SecretValueView {
        environment: read.secret.environment,
        name: read.secret.name,
        version: read.version,
        value: STANDARD.encode(read.value.expose()),
    }))
}

pub(crate) async fn versions(
    app: App,
    call: Call<SecretVersionList>,
) -> Result<Answer<Listing<SecretVersionView>>, Error> {
    let mut list = Gather::of::<SecretVersionList>(&call.query)?;
    let reference = named(&call.path.secret, call.query.environment.as_ref());
    let (control, project) = (app.control(), call.project());
    while let Some(ask) = list.ask() {
        let (secret, found) =
            control.secret_versions(&call.cx, project, &reference, ask.after(), ask.limit).await?;
        list.take(found, |of| version(of, secret.version_current))?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn destroy(
    app: App,
    call: Call<SecretVersionDestroy>,
) -> Result<Answer<SecretView>, Error> {
    let reference = named(&call.path.secret, call.query.environment.as_ref());
    let number = call.path.version;
    let left = app.control().secret_destroy(&call.cx, call.project(), &reference, number).await?;
    Ok(Answer::new(shown(left)))
}

pub(crate) async fn remove(app: App, call: Call<SecretRemove>) -> Result<Answer<Nothing>, Error> {
    let reference = named(&call.path.secret, call.query.environment.as_ref());
    app.control().secret_remove(&call.cx, call.project(), &reference).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn rewrap(
    app: App,
    call: Call<SecretRewrap>,
) -> Result<Answer<SecretRewrapView>, Error> {
    let done = app.control().secret_rewrap(&call.cx).await?;
    Ok(Answer::new(SecretRewrapView {
        key: done.key_id.to_string(),
        rewrapped: done.count,
        left: done.left.iter().map(|(_, count)| count).sum(),
    }))
}
