//! What is sealed of stacks: the key of each, and what it opens.
//!
//! Whatever can have a secret in it (templates, parameters, properties, attributes, what plugins remember, snapshots) is
//! sealed with a key that belongs to the stack alone, and that key lies in an envelope that the master key opens. Everything
//! is bound to the row it is of: what was sealed for one resource cannot be put into another. A stack that is removed takes
//! its key with it.

use hostler_model::stack::{DefinitionBody, ResourceBody, SnapshotBody, Stack};
use hostler_model::{
    Envelope, Error, StackDefinitionId, StackId, StackResourceId, StackSnapshotId,
};
use hostler_trust::MasterKey;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Control;

/// The key of one stack, opened.
#[derive(Clone)]
pub(crate) struct StackKey {
    id: StackId,
    key: MasterKey,
}

impl std::fmt::Debug for StackKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StackKey({})", self.id)
    }
}

/// Which row something sealed belongs to.
#[derive(Clone, Copy, Debug)]
enum Of {
    Definition(StackDefinitionId),
    Resource(StackResourceId),
    Snapshot(StackSnapshotId),
    Revision(u32),
}

impl StackKey {
    fn place(&self, of: Of) -> String {
        let stack = self.id;
        match of {
            Of::Definition(id) => format!("stack/{stack}/definition/{id}"),
            Of::Resource(id) => format!("stack/{stack}/resource/{id}"),
            Of::Snapshot(id) => format!("stack/{stack}/snapshot/{id}"),
            Of::Revision(number) => format!("stack/{stack}/revision/{number}"),
        }
    }

    fn seal(&self, body: &impl Serialize, of: Of) -> Result<Vec<u8>, Error> {
        let text = serde_json::to_vec(body).map_err(Error::internal)?;
        self.key.seal(&text, self.place(of).as_bytes()).map_err(Error::internal)
    }

    fn open<T: DeserializeOwned>(&self, sealed: &[u8], of: Of) -> Result<T, Error> {
        let place = self.place(of);
        let text = self.key.open(sealed, place.as_bytes()).map_err(|error| {
            Error::unavailable(format!("what is sealed as `{place}` cannot be opened"), error)
        })?;
        serde_json::from_slice(&text).map_err(Error::internal)
    }

    pub fn seal_definition(
        &self,
        id: StackDefinitionId,
        body: &DefinitionBody,
    ) -> Result<Vec<u8>, Error> {
        self.seal(body, Of::Definition(id))
    }

    pub fn open_definition(
        &self,
        id: StackDefinitionId,
        sealed: &[u8],
    ) -> Result<DefinitionBody, Error> {
        self.open(sealed, Of::Definition(id))
    }

    pub fn seal_resource(
        &self,
        id: StackResourceId,
        body: &ResourceBody,
    ) -> Result<Vec<u8>, Error> {
        self.seal(body, Of::Resource(id))
    }

    /// A row that nothing was written of yet has an empty body.
    pub fn open_resource(&self, id: StackResourceId, sealed: &[u8]) -> Result<ResourceBody, Error> {
        match sealed.is_empty() {
            true => Ok(ResourceBody::default()),
            false => self.open(sealed, Of::Resource(id)),
        }
    }

    pub fn seal_snapshot(
        &self,
        id: StackSnapshotId,
        body: &SnapshotBody,
    ) -> Result<Vec<u8>, Error> {
        self.seal(body, Of::Snapshot(id))
    }

    pub fn open_snapshot(&self, id: StackSnapshotId, sealed: &[u8]) -> Result<SnapshotBody, Error> {
        self.open(sealed, Of::Snapshot(id))
    }

    pub fn seal_revision(&self, number: u32, body: &SnapshotBody) -> Result<Vec<u8>, Error> {
        self.seal(body, Of::Revision(number))
    }

    pub fn open_revision(&self, number: u32, sealed: &[u8]) -> Result<SnapshotBody, Error> {
        self.open(sealed, Of::Revision(number))
    }

    /// A key for another purpose, which does not tell anything of this one and ends with the stack.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        let context = "hostler.stack-key.v1";
        let own = blake3::derive_key(context, self.key.to_base64().expose().as_bytes());
        *blake3::keyed_hash(&own, format!("{}/{purpose}", self.id).as_bytes()).as_bytes()
    }
}

/// What the envelope of a stack's key is bound to.
pub(crate) fn key_place(id: StackId) -> Vec<u8> {
    format!("stack/{id}").into_bytes()
}

impl Control {
    /// A key for a new stack, and the envelope that is kept of it.
    pub(crate) fn stack_key_new(&self, id: StackId) -> Result<(StackKey, Envelope), Error> {
        let key = MasterKey::generate();
        let text = key.to_base64();
        let envelope = self.keyring.enclose(text.expose().as_bytes(), &key_place(id));
        Ok((StackKey { id, key }, envelope.map_err(Error::internal)?))
    }

    /// The key of a stack that is there.
    pub(crate) fn stack_key(&self, stack: &Stack) -> Result<StackKey, Error> {
        let text = self.keyring.disclose(&stack.key, &key_place(stack.id)).map_err(|error| {
            let text = format!("the key of stack {} cannot be opened", stack.name);
            Error::unavailable(text, error)
        })?;
        let text = std::str::from_utf8(text.expose()).map_err(Error::internal)?;
        Ok(StackKey { id: stack.id, key: text.parse().map_err(Error::internal)? })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(id: u128) -> StackKey {
        let id = StackId::from_uuid(uuid::Uuid::from_u128(id));
        StackKey { id, key: MasterKey::from_bytes([7; 32]) }
    }

    #[test]
    fn what_was_sealed_for_one_row_is_not_opened_for_another() {
        let id = |n| StackResourceId::from_uuid(uuid::Uuid::from_u128(n));
        let mut body = ResourceBody::default();
        body.properties.insert("password".to_owned(), json!("hidden-value"));
        let sealed = key(1).seal_resource(id(2), &body).unwrap();
        assert!(!String::from_utf8_lossy(&sealed).contains("hidden-value"));
        assert_eq!(key(1).open_resource(id(2), &sealed).unwrap(), body);
        assert!(key(1).open_resource(id(3), &sealed).is_err(), "another resource");
        assert!(key(4).open_resource(id(2), &sealed).is_err(), "another stack");
        assert!(key(1).open_revision(2, &sealed).is_err(), "another kind of thing");
        assert_eq!(key(1).open_resource(id(3), &[]).unwrap(), ResourceBody::default());
    }

    #[test]
    fn keys_for_other_purposes_differ() {
        let of = |purpose| key(1).derive(purpose);
        assert_eq!(of("signals"), of("signals"));
        assert_ne!(of("signals"), of("others"));
        assert_ne!(of("signals"), key(2).derive("signals"));
    }
}
