//! Tokens, tickets, and sealed values.

use std::os::unix::fs::PermissionsExt;

use hostler_model::Timestamp;
use hostler_trust::secret::{ParseTokenError, constant_time_eq, hash_secret};
use hostler_trust::{
    Authority, JoinTicket, MasterKey, SecretString, SecretToken, TokenKind, join, seal,
};
use proptest::prelude::*;

#[test]
fn tokens_are_recognised_whole_and_refused_damaged() {
    for kind in TokenKind::ALL {
        let token = SecretToken::generate(*kind);
        let text = token.expose().to_owned();
        assert!(text.starts_with(&format!("hst_{kind}_")));
        assert_eq!(text.parse::<SecretToken>().unwrap(), token);
        assert_eq!(format!(" {text}\n").parse::<SecretToken>().unwrap(), token);
        for (at, old) in text.char_indices() {
            let new = if old == 'A' { 'B' } else { 'A' };
            let damaged = format!("{}{new}{}", &text[..at], &text[at + 1..]);
            assert!(damaged.parse::<SecretToken>().is_err(), "at {at}");
        }
        for length in 0..text.len() {
            assert!(text[..length].parse::<SecretToken>().is_err());
        }
        assert!(format!("{text}A").parse::<SecretToken>().is_err());
    }
}

#[test]
fn a_token_of_the_wrong_kind_is_named() {
    let token = SecretToken::generate(TokenKind::Session);
    assert_eq!(
        SecretToken::parse(token.expose(), TokenKind::Personal),
        Err(ParseTokenError::WrongKind {
            expected: TokenKind::Personal,
            found: TokenKind::Session
        })
    );
}

#[test]
fn secrets_are_not_printed() {
    let token = SecretToken::generate(TokenKind::Personal);
    assert_eq!(format!("{token:?}"), "hst_pat_[secret]");
    let text = SecretString::new("swordfish");
    assert_eq!(format!("{text:?} {text}"), "[secret] [secret]");
    assert_eq!(format!("{:?}", MasterKey::generate()), "MasterKey([secret])");
}

#[test]
fn hashes_are_stable_and_differ() {
    let token = SecretToken::generate(TokenKind::Personal);
    assert_eq!(token.hash(), hash_secret(token.expose()));
    assert!(constant_time_eq(&token.hash(), &hash_secret(token.expose())));
    let other = SecretToken::generate(TokenKind::Personal);
    assert!(!constant_time_eq(&token.hash(), &other.hash()));
    assert!(!constant_time_eq(b"a", b"ab"));
}

#[test]
fn a_ticket_carries_token_and_fingerprint() {
    let authority = Authority::create(Timestamp::from_micros(1_790_000_000_000_000), "t").unwrap();
    let ticket = JoinTicket {
        token: SecretToken::generate(TokenKind::Join),
        authority: authority.fingerprint(),
    };
    let text = ticket.encode();
    assert_eq!(text.expose().parse::<JoinTicket>().unwrap(), ticket);
    assert!(!format!("{ticket:?}").contains(ticket.token.expose()));

    let token = ticket.token.expose();
    assert_eq!(token.parse::<JoinTicket>(), Err(join::ParseTicketError::NoFingerprint));
    let cut = &text.expose()[..text.expose().len() - 1];
    assert!(matches!(cut.parse::<JoinTicket>(), Err(join::ParseTicketError::Fingerprint(_))));
    let wrong = SecretToken::generate(TokenKind::Personal);
    let wrong = format!("{}.{}", wrong.expose(), ticket.authority.hex());
    assert!(matches!(wrong.parse::<JoinTicket>(), Err(join::ParseTicketError::Token(_))));
}

proptest! {
    #[test]
    fn sealed_values_open_only_unchanged_and_in_their_place(
        plain in prop::collection::vec(any::<u8>(), 0..200),
        place in prop::collection::vec(any::<u8>(), 0..40),
        at in any::<prop::sample::Index>(),
        flip in 1u8..=255,
    ) {
        let key = MasterKey::from_bytes([7; 32]);
        let sealed = key.seal(&plain, &place).unwrap();
        let opened = key.open(&sealed, &place).unwrap();
        prop_assert_eq!(opened.as_slice(), plain.as_slice());
        prop_assert_ne!(&key.seal(&plain, &place).unwrap(), &sealed);

        let mut elsewhere = place.clone();
        elsewhere.push(0);
        prop_assert!(key.open(&sealed, &elsewhere).is_err());
        let mut tampered = sealed.clone();
        let at = at.index(tampered.len());
        tampered[at] ^= flip;
        prop_assert!(key.open(&tampered, &place).is_err());
        prop_assert!(key.open(&sealed[..at], &place).is_err());
        let other = MasterKey::from_bytes([8; 32]);
        prop_assert!(matches!(other.open(&sealed, &place), Err(seal::Error::OtherKey)));
    }

    #[test]
    fn no_text_makes_parsing_panic(text in ".{0,80}") {
        let _ = text.parse::<SecretToken>();
        let _ = text.parse::<JoinTicket>();
        let _ = format!("hst_pat_{text}").parse::<SecretToken>();
        let _ = text.parse::<MasterKey>();
    }
}

#[test]
fn the_master_key_is_created_once_and_kept_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    let sealed = MasterKey::load_or_create(&path).unwrap().seal(b"secret", b"here").unwrap();
    let again = MasterKey::load_or_create(&path).unwrap();
    assert_eq!(again.open(&sealed, b"here").unwrap().as_slice(), b"secret");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");

    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(MasterKey::load_or_create(&path), Err(seal::Error::FileIsOpen(_))));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&path, "short").unwrap();
    assert!(matches!(MasterKey::load_or_create(&path), Err(seal::Error::FileIsDamaged(_))));
}

#[test]
fn many_starters_share_one_master_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    let keys: Vec<String> = std::thread::scope(|scope| {
        let starters: Vec<_> =
            (0..8).map(|_| scope.spawn(|| MasterKey::load_or_create(&path).unwrap())).collect();
        starters
            .into_iter()
            .map(|starter| starter.join().unwrap().to_base64().expose().to_owned())
            .collect()
    });
    assert!(keys.iter().all(|key| key == &keys[0]));
}
