//! What a person's phone does: makes codes from a secret that was typed in.

use hostler_model::Timestamp;
use hostler_trust::TotpSecret;
use hostler_trust::totp::STEP_SECONDS;

pub struct Authenticator(TotpSecret);

impl Authenticator {
    /// With a secret as people type it, in base32.
    pub fn new(secret: &str) -> Authenticator {
        let (mut bytes, mut word, mut bits) = (Vec::new(), 0u32, 0);
        for letter in secret.bytes() {
            let value = match letter {
                b'A'..=b'Z' => letter - b'A',
                b'2'..=b'7' => letter - b'2' + 26,
                _ => panic!("`{secret}` is not base32"),
            };
            word = ((word << 5) | u32::from(value)) & 0xfff;
            bits += 5;
            if bits >= 8 {
                bits -= 8;
                bytes.push(u8::try_from((word >> bits) & 0xff).expect("eight bits"));
            }
        }
        Authenticator(TotpSecret::from_bytes(&bytes))
    }

    /// The code that it shows at a time, by a clock that is so many steps ahead.
    pub fn code(&self, now: Timestamp, ahead: i64) -> String {
        let here = now.since(Timestamp::EPOCH).as_secs() / STEP_SECONDS;
        self.0.code(here.saturating_add_signed(ahead)).expose().to_owned()
    }
}
