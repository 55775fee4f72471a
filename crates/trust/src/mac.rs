//! That a text comes from whoever has a key: HMAC-SHA256, in hexadecimal.

use ring::hmac;

use crate::certificate::hex;

/// What proves a text, with a key that nobody else has.
pub fn sign(key: &[u8; 32], text: &str) -> String {
    hex(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref())
}

/// Whether that is what proves the text. How long it takes tells nothing of what it should be.
pub fn is_signed(key: &[u8; 32], text: &str, signature: &str) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    bytes(signature).is_some_and(|tag| hmac::verify(&key, text.as_bytes(), &tag).is_ok())
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    };
    hex.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2, with its key filled up.
    #[test]
    fn it_is_what_the_standard_says() {
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let text = "what do ya want for nothing?";
        let signature = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(sign(&key, text), signature);
        assert!(is_signed(&key, text, signature));
    }

    #[test]
    fn nothing_else_is_a_proof() {
        let (key, text) = ([7; 32], "text");
        let signature = sign(&key, text);
        assert!(!is_signed(&[8; 32], text, &signature), "another key");
        assert!(!is_signed(&key, "texts", &signature), "another text");
        for other in ["", "0", "zz", &signature[1..], &signature[..62], &format!("{signature}00")] {
            assert!(!is_signed(&key, text, other), "{other}");
        }
    }
}
