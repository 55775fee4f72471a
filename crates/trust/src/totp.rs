//! Time-based one-time codes (RFC 6238: HMAC-SHA-1, six digits, steps of 30 seconds), and the recovery
//! codes for when the device that makes them is lost.
//!
//! SHA-1 is what every authenticator knows; its weakness (collisions) does not touch HMAC. A code is
//! taken for the present step and one step to either side, never for a step at or before the last one
//! that was used: [`TotpSecret::find_step`] says which step a code belongs to, and whoever calls it
//! notes that step in the same breath.
//!
//! Recovery codes carry 80 random bits each, so that a fast hash is enough for them too.

use std::fmt;

use ring::hmac;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::secret::{SecretString, constant_time_eq, fill_random, hash_secret};

pub const STEP_SECONDS: u64 = 30;
const SECRET_BYTES: usize = 20;
const DIGITS: u32 = 6;
pub const RECOVERY_CODES: usize = 10;
const RECOVERY_BYTES: usize = 10;
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// What a person's device and this installation share.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct TotpSecret(Vec<u8>);

impl TotpSecret {
    pub fn generate() -> TotpSecret {
        let mut bytes = vec![0; SECRET_BYTES];
        fill_random(&mut bytes);
        TotpSecret(bytes)
    }

    pub fn from_bytes(bytes: &[u8]) -> TotpSecret {
        TotpSecret(bytes.to_vec())
    }

    /// To be sealed.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// As people type it into an authenticator.
    pub fn base32(&self) -> SecretString {
        SecretString::new(base32(&self.0))
    }

    /// As authenticators read it, from a link or a picture of one.
    pub fn uri(&self, issuer: &str, account: &str) -> SecretString {
        SecretString::new(format!(
            "otpauth://totp/{issuer}:{account}?secret={}&issuer={issuer}&algorithm=SHA1&digits={DIGITS}&period={STEP_SECONDS}",
            self.base32().expose()
        ))
    }

    /// The code of a time step.
    pub fn code(&self, step: u64) -> SecretString {
        SecretString::new(hotp(&self.0, step, DIGITS))
    }

    /// The step that `code` belongs to: the one at `seconds` since 1970 or one of its neighbours, and
    /// later than `after`.
    pub fn find_step(&self, code: &str, seconds: u64, after: u64) -> Option<u64> {
        let here = seconds / STEP_SECONDS;
        // All are computed, so that the time taken does not tell which one it was.
        let fits = |step: u64| {
            constant_time_eq(hotp(&self.0, step, DIGITS).as_bytes(), code.as_bytes())
                && step > after
        };
        [here.saturating_sub(1), here, here + 1]
            .map(|step| fits(step).then_some(step))
            .into_iter()
            .flatten()
            .next()
    }
}

impl fmt::Debug for TotpSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TotpSecret([secret])")
    }
}

/// RFC 4226.
fn hotp(key: &[u8], counter: u64, digits: u32) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key);
    let tag = hmac::sign(&key, &counter.to_be_bytes());
    let bytes = tag.as_ref();
    let at = usize::from(bytes[bytes.len() - 1] & 0x0f);
    let word = [bytes[at] & 0x7f, bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    let number = u32::from_be_bytes(word) % 10u32.pow(digits);
    format!("{number:0width$}", width = digits as usize)
}

fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for chunk in bytes.chunks(5) {
        let mut word = [0; 8];
        word[3..3 + chunk.len()].copy_from_slice(chunk);
        let word = u64::from_be_bytes(word);
        for n in 0..(chunk.len() * 8).div_ceil(5) {
            let letter = usize::try_from((word >> (35 - 5 * n)) & 31).unwrap_or(0);
            text.push(char::from(ALPHABET[letter]));
        }
    }
    text
}

/// Fresh recovery codes, as they are shown once: `ABCD-EFGH-IJKL-MNOP`.
pub fn recovery_codes() -> Vec<SecretString> {
    let one = |_| {
        let mut random = [0; RECOVERY_BYTES];
        fill_random(&mut random);
        let letters = base32(&random);
        random.zeroize();
        let groups: Vec<&str> = [0, 4, 8, 12].map(|at| &letters[at..at + 4]).into();
        SecretString::new(groups.join("-"))
    };
    (0..RECOVERY_CODES).map(one).collect()
}

/// What is stored of a recovery code, for the account it belongs to. However it is typed.
pub fn recovery_hash(account: &str, code: &str) -> [u8; 32] {
    let letters = plain(code).to_ascii_uppercase();
    hash_secret(&format!("recovery:{account}:{letters}"))
}

/// What was typed, without the spaces and dashes that people put into codes.
pub fn plain(code: &str) -> String {
    code.chars().filter(|c| !c.is_whitespace() && *c != '-').collect()
}

/// Whether what was typed reads as a code of a device, rather than a recovery code.
pub fn is_device_code(plain: &str) -> bool {
    plain.len() == DIGITS as usize && plain.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_rfc_6238() {
        let key = b"12345678901234567890";
        let cases = [
            (59, "94287082"),
            (1_111_111_109, "07081804"),
            (1_111_111_111, "14050471"),
            (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"),
            (20_000_000_000, "65353130"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(hotp(key, seconds / STEP_SECONDS, 8), expected);
            let secret = TotpSecret::from_bytes(key);
            assert_eq!(secret.code(seconds / STEP_SECONDS).expose(), &expected[2..]);
        }
    }

    #[test]
    fn counters_are_those_of_rfc_4226() {
        let expected = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583",
            "399871", "520489",
        ];
        for (counter, code) in expected.iter().enumerate() {
            assert_eq!(hotp(b"12345678901234567890", counter as u64, 6), *code);
        }
    }

    #[test]
    fn a_code_is_taken_once_and_one_step_to_either_side() {
        let secret = TotpSecret::generate();
        let (now, here) = (3_000_000_015, 100_000_000);
        let code = |step: u64| secret.code(step).expose().to_owned();
        let found = |step: u64, after: u64| secret.find_step(&code(step), now, after);
        for step in [here - 1, here, here + 1] {
            // Codes of two steps are alike once in a million; then either is right.
            assert!(found(step, 0).is_some());
            assert_eq!(found(step, here + 1), None, "used up");
        }
        assert_eq!(found(here, here - 1).map(|step| step >= here), Some(true));
        for code in ["", "12345", "1234567", "abcdef"] {
            assert_eq!(secret.find_step(code, now, 0), None, "{code}");
        }
        let far: Vec<String> = [here - 2, here + 2].map(code).into();
        let near: Vec<String> = [here - 1, here, here + 1].map(code).into();
        for code in far.iter().filter(|code| !near.contains(code)) {
            assert_eq!(secret.find_step(code, now, 0), None);
        }
    }

    #[test]
    fn base32_is_that_of_rfc_4648() {
        let cases = [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ];
        for (text, expected) in cases {
            assert_eq!(base32(text.as_bytes()), expected);
        }
        let secret = TotpSecret::from_bytes(b"12345678901234567890");
        assert_eq!(
            secret.uri("Hostler", "ada").expose(),
            "otpauth://totp/Hostler:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Hostler&algorithm=SHA1&digits=6&period=30"
        );
        assert_eq!(format!("{secret:?}"), "TotpSecret([secret])");
    }

    #[test]
    fn recovery_codes_differ_and_are_read_however_they_are_typed() {
        let codes = recovery_codes();
        assert_eq!(codes.len(), RECOVERY_CODES);
        let mut texts: Vec<&str> = codes.iter().map(SecretString::expose).collect();
        assert!(texts.iter().all(|text| text.len() == 19 && !is_device_code(&plain(text))));
        let hash = recovery_hash("a", texts[0]);
        assert_eq!(recovery_hash("a", &texts[0].to_lowercase().replace('-', " ")), hash);
        assert_ne!(recovery_hash("b", texts[0]), hash);
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), RECOVERY_CODES);
        assert!(is_device_code(&plain("123 456")));
    }
}
