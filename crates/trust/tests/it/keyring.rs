//! Master keys and envelopes.

use std::os::unix::fs::PermissionsExt;

use hostler_trust::keyring::{self, Keyring};
use hostler_trust::{MasterKey, SecretBytes, SecretString, seal};

fn key(byte: u8) -> MasterKey {
    MasterKey::from_bytes([byte; 32])
}

#[test]
fn an_envelope_opens_only_where_it_belongs() {
    let ring = Keyring::from(key(1));
    let envelope = ring.enclose(b"hunter2", b"secret/a/1").unwrap();
    assert_eq!(ring.disclose(&envelope, b"secret/a/1").unwrap(), SecretBytes::new(b"hunter2"));
    assert_eq!(envelope.key_id, ring.present_id());
    for part in [&envelope.sealed, &envelope.wrapped_key] {
        assert!(!part.windows(7).any(|bytes| bytes == b"hunter2"));
    }
    assert!(matches!(ring.disclose(&envelope, b"secret/a/2"), Err(seal::Error::Damaged)));
    let again = ring.enclose(b"hunter2", b"secret/a/1").unwrap();
    assert_ne!(again.sealed, envelope.sealed, "each has a key of its own");
    let mut mixed = envelope.clone();
    mixed.wrapped_key = again.wrapped_key;
    assert!(ring.disclose(&mixed, b"secret/a/1").is_err());
    let swapped = hostler_model::Envelope {
        sealed: envelope.wrapped_key.clone(),
        wrapped_key: envelope.sealed.clone(),
        key_id: envelope.key_id,
    };
    assert!(ring.disclose(&swapped, b"secret/a/1").is_err());
    for at in 0..envelope.sealed.len() {
        let mut damaged = envelope.clone();
        damaged.sealed[at] ^= 1;
        assert!(ring.disclose(&damaged, b"secret/a/1").is_err(), "byte {at}");
    }
    assert!(matches!(
        Keyring::from(key(2)).disclose(&envelope, b"secret/a/1"),
        Err(seal::Error::OtherKey)
    ));
}

#[test]
fn a_new_master_key_opens_old_things_and_seals_them_anew() {
    let old = Keyring::from(key(1));
    let (envelope, plain) = (old.enclose(b"v", b"e").unwrap(), old.seal(b"p", b"s").unwrap());
    let ring = Keyring::new(key(2), vec![key(1), key(2)]);
    assert_eq!(ring.ids(), [key(2).id(), key(1).id()], "the present one is no former one");
    assert_eq!(*ring.open(&plain, b"s").unwrap(), b"p");
    let fresh = ring.rewrap(&envelope.wrapped_key, b"e").unwrap().unwrap();
    let moved = hostler_model::Envelope {
        wrapped_key: fresh.clone(),
        key_id: ring.present_id(),
        ..envelope.clone()
    };
    let alone = Keyring::from(key(2));
    assert_eq!(alone.disclose(&moved, b"e").unwrap().expose(), b"v");
    assert!(alone.disclose(&envelope, b"e").is_err());
    assert_eq!(ring.rewrap(&fresh, b"e").unwrap(), None, "there is nothing left to do");
    let resealed = ring.reseal(&plain, b"s").unwrap().unwrap();
    assert_eq!(*alone.open(&resealed, b"s").unwrap(), b"p");
    assert!(ring.rewrap(&envelope.wrapped_key, b"elsewhere").is_err());
}

#[test]
fn a_passphrase_is_always_the_same_key_with_its_salt() {
    let passphrase = SecretString::new("correct horse battery staple");
    let one = keyring::derive(&passphrase, &[1; 16]).unwrap();
    assert_eq!(one.id(), keyring::derive(&passphrase, &[1; 16]).unwrap().id());
    assert_ne!(one.id(), keyring::derive(&passphrase, &[2; 16]).unwrap().id());
    assert!(keyring::derive(&SecretString::new("too short"), &[1; 16]).is_err());
    assert!(keyring::derive(&passphrase, &[]).is_err(), "never without a salt");
}

#[test]
fn a_key_file_is_replaced_without_losing_the_old_key() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("master.key");
    let first = MasterKey::load_or_create(&path).unwrap();
    let former = keyring::former_path(&path);
    assert_eq!(former, dir.path().join("master.key.former"));
    assert!(keyring::load_former(&former).unwrap().is_empty());
    let (old, second) = keyring::replace_file(&path).unwrap();
    assert_eq!(old.id(), first.id());
    assert_eq!(MasterKey::load(&path).unwrap().id(), second.id());
    let (_, third) = keyring::replace_file(&path).unwrap();
    let kept: Vec<_> = keyring::load_former(&former).unwrap().iter().map(MasterKey::id).collect();
    assert_eq!(kept, [first.id(), second.id()]);
    assert_eq!(MasterKey::load(&path).unwrap().id(), third.id());
    for file in [&path, &former] {
        let mode = std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "no draft is left");
    std::fs::set_permissions(&former, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(keyring::load_former(&former), Err(seal::Error::FileIsOpen(_))));
    assert!(keyring::replace_file(&dir.path().join("none")).is_err());
}

#[test]
fn passphrases_and_credentials_are_read_from_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("passphrase");
    std::fs::write(&path, "correct horse battery staple\nand a second line\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let read = keyring::read_passphrase(&path).unwrap();
    assert_eq!(read.expose(), "correct horse battery staple");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(keyring::read_passphrase(&path).is_err());
    let credential = dir.path().join("hostler-master-key");
    std::fs::write(&credential, key(3).to_base64().expose()).unwrap();
    std::fs::set_permissions(&credential, std::fs::Permissions::from_mode(0o440)).unwrap();
    assert_eq!(MasterKey::load_credential(&credential).unwrap().id(), key(3).id());
}

#[test]
fn made_values_are_text_and_differ() {
    let (one, two) = (keyring::random_text(32), keyring::random_text(32));
    assert_ne!(one, two);
    assert_eq!(one.expose().len(), 43);
    assert!(one.expose().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
    assert_eq!(format!("{:?} {:?}", one, SecretBytes::new(b"x")), "[secret] [secret]");
}
