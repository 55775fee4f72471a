//! `crypto`: digests, encodings, random values, sealed texts.
//!
//! A sealed text is base64 of `1 | salt (16) | nonce (12) | AES-256-GCM of the text, with its tag (16)`. The key of
//! the cipher is made from the text that the user calls a key, by PBKDF2 with HMAC-SHA-256 and the salt; the first
//! 29 bytes are authenticated with it. Whoever changes a byte, or has another key, gets an error and no text.

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use md5::Digest;
use mlua::{Result, Value};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac, pbkdf2};

use super::given::{Text, answer, count};
use super::strings::as_bytes;
use crate::modules::{Described, Installer, Module};

/// How often a key is stirred.
const ROUNDS: NonZeroU32 = NonZeroU32::new(600_000).expect("it is not zero");
const VERSION: u8 = 1;
const SALT: usize = 16;
const NONCE: usize = 12;
const HEAD: usize = 1 + SALT + NONCE;

/// The most random characters or bytes that are made at once.
const MOST: u32 = 1 << 20;

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";
const SYMBOLS: &str = "!#$%&()*+,-./:;<=>?@[]^_{|}~";

pub(crate) const MODULE: Module = Module {
    name: "crypto",
    about: "Digests, encodings, random values, sealed texts. What is random is of the quality that keys need, and is not there while a file is defined, so that it is defined the same everywhere.",
    functions: &[
        Described {
            name: "md5",
            signature: "(text) -> text",
            about: "The MD5 digest in hex; for old protocols, not for safety.",
            example: "assert(crypto.md5('abc') == '900150983cd24fb0d6963f7d28e17f72')",
        },
        Described {
            name: "sha1",
            signature: "(text) -> text",
            about: "The SHA-1 digest in hex; for old protocols, not for safety.",
            example: "assert(crypto.sha1('abc') == 'a9993e364706816aba3e25717850c26c9cd0d89d')",
        },
        Described {
            name: "sha256",
            signature: "(text) -> text",
            about: "The SHA-256 digest in hex.",
            example: "assert(crypto.sha256('abc') == 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')",
        },
        Described {
            name: "sha512",
            signature: "(text) -> text",
            about: "The SHA-512 digest in hex.",
            example: "assert(crypto.sha512('abc'):sub(1, 16) == 'ddaf35a193617aba')",
        },
        Described {
            name: "hash",
            signature: "(algorithm, text) -> text | nil, error",
            about: "A digest in hex: `md5`, `sha1`, `sha256`, `sha384` or `sha512`.",
            example: "assert(crypto.hash('sha256', 'x') == crypto.sha256('x'))\nlocal none, why = crypto.hash('rot13', 'x')\nassert(none == nil and why:find('sha256'))",
        },
        Described {
            name: "hmac",
            signature: "(algorithm, key, text) -> text | nil, error",
            about: "A keyed digest in hex: with `sha1`, `sha256`, `sha384` or `sha512`.",
            example: "assert(crypto.hmac('sha256', 'key', 'text'):len() == 64)",
        },
        Described {
            name: "base64_encode",
            signature: "(text) -> text",
            about: "The bytes in base64.",
            example: "assert(crypto.base64_encode('hello') == 'aGVsbG8=')",
        },
        Described {
            name: "base64_decode",
            signature: "(text) -> text | nil, error",
            about: "The bytes behind base64, of either alphabet, with or without its padding.",
            example: "assert(crypto.base64_decode('aGVsbG8=') == 'hello')",
        },
        Described {
            name: "hex_encode",
            signature: "(text) -> text",
            about: "The bytes in hex.",
            example: "assert(crypto.hex_encode('az') == '617a')",
        },
        Described {
            name: "hex_decode",
            signature: "(text) -> text | nil, error",
            about: "The bytes behind hex digits.",
            example: "assert(crypto.hex_decode('617A') == 'az')\nassert(crypto.hex_decode('6') == nil)",
        },
        Described {
            name: "uuid",
            signature: "() -> text",
            about: "A random UUID (version 4).",
            example: "assert(crypto.uuid():find('^%x+%-%x+%-4%x+%-%x+%-%x+$'))",
        },
        Described {
            name: "uuid_v4",
            signature: "() -> text",
            about: "The same as `crypto.uuid`.",
            example: "assert(crypto.uuid_v4() ~= crypto.uuid_v4())",
        },
        Described {
            name: "generate_password",
            signature: "([length[, symbols]]) -> text",
            about: "A random password of 16 characters or so many, at least 4, with at least one of every kind: small and capital letters, digits, and symbols unless `symbols` is false.",
            example: "local p = crypto.generate_password(20)\nassert(#p == 20 and p:find('%d') and p:find('%u') and p:find('%l') and p:find('%p'))\nassert(not crypto.generate_password(20, false):find('%p'))",
        },
        Described {
            name: "random_string",
            signature: "(length[, characters]) -> text",
            about: "Random characters: letters and digits, or of those that are given.",
            example: "assert(#crypto.random_string(12) == 12)\nassert(crypto.random_string(8, 'ab'):find('^[ab]+$'))",
        },
        Described {
            name: "random_bytes",
            signature: "(length) -> text",
            about: "Random bytes.",
            example: "assert(#crypto.random_bytes(32) == 32)",
        },
        Described {
            name: "aes_encrypt",
            signature: "(text, key) -> text | nil, error",
            about: "Seals a text with AES-256-GCM under a key that is made from the given one, which may be any text; it takes a moment, so that keys cannot be tried fast. The result is base64, other each time.",
            example: "local sealed = crypto.aes_encrypt('secret', 'key')\nassert(sealed ~= 'secret' and crypto.aes_decrypt(sealed, 'key') == 'secret')",
        },
        Described {
            name: "aes_decrypt",
            signature: "(sealed, key) -> text | nil, error",
            about: "Opens what `crypto.aes_encrypt` sealed, if it is untouched and the key is the same.",
            example: "local text, why = crypto.aes_decrypt(crypto.aes_encrypt('secret', 'key'), 'other')\nassert(text == nil and why)",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> Result<()> {
    for (name, algorithm) in Algorithm::NAMES {
        if name != "sha384" {
            module.pure(name, move |_, text: Text| Ok(algorithm.hex(&text.0)))?;
        }
    }
    module.pure("hash", |_, (name, text): (String, Text)| {
        Ok(answer(Algorithm::named(&name).map(|algorithm| algorithm.hex(&text.0))))
    })?;
    module.pure("hmac", |_, (name, key, text): (String, Text, Text)| {
        let code = Algorithm::named(&name).and_then(|algorithm| {
            let keyed = algorithm.keyed().ok_or_else(|| {
                format!("`{name}` is not used with a key; use sha256, sha384 or sha512")
            })?;
            Ok(hex(hmac::sign(&hmac::Key::new(keyed, &key.0), &text.0).as_ref()))
        });
        Ok(answer(code))
    })?;
    module.pure("base64_encode", |_, text: Text| Ok(base64_encoded(&text.0)))?;
    module.pure("base64_decode", |lua, text: Text| as_bytes(lua, base64_decoded(&text.0)))?;
    module.pure("hex_encode", |_, text: Text| Ok(hex(&text.0)))?;
    module.pure("hex_decode", |lua, text: Text| as_bytes(lua, unhex(&text.0)))?;
    for name in ["uuid", "uuid_v4"] {
        module.act(name, |_, ()| Ok(uuid::Uuid::new_v4().to_string()))?;
    }
    module.act("generate_password", |_, (length, symbols): (Option<f64>, Option<bool>)| {
        password(count(length.unwrap_or(16.0), MOST) as usize, symbols.unwrap_or(true))
    })?;
    module.act("random_string", |_, (length, characters): (f64, Option<Text>)| {
        let characters = characters.map_or_else(|| format!("{LETTERS}{DIGITS}"), |c| c.lossy());
        let characters: Vec<char> = characters.chars().collect();
        if characters.is_empty() {
            return Err(mlua::Error::runtime(
                "crypto.random_string: there are no characters to choose from",
            ));
        }
        (0..count(length, MOST)).map(|_| chosen(&characters)).collect::<Result<String>>()
    })?;
    module.act("random_bytes", |lua, length: f64| {
        let mut bytes = vec![0; count(length, MOST) as usize];
        random(&mut bytes)?;
        Ok(Value::String(lua.create_string(bytes)?))
    })?;
    module.act_async("aes_encrypt", |lua, (text, key): (Text, Text)| async move {
        as_bytes(&lua, slowly(move || sealed(&text.0, &key.0)).await)
    })?;
    module.act_async("aes_decrypt", |lua, (text, key): (Text, Text)| async move {
        as_bytes(&lua, slowly(move || opened(&text.0, &key.0)).await)
    })
}

/// A digest.
#[derive(Clone, Copy, Debug)]
pub(super) enum Algorithm {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Algorithm {
    const NAMES: [(&'static str, Algorithm); 5] = [
        ("md5", Algorithm::Md5),
        ("sha1", Algorithm::Sha1),
        ("sha256", Algorithm::Sha256),
        ("sha384", Algorithm::Sha384),
        ("sha512", Algorithm::Sha512),
    ];

    fn named(name: &str) -> std::result::Result<Algorithm, String> {
        let plain = name.to_ascii_lowercase().replace('-', "");
        Algorithm::NAMES
            .iter()
            .find(|(known, _)| *known == plain)
            .map(|(_, algorithm)| *algorithm)
            .ok_or_else(|| {
                format!("there is no digest `{name}`; use md5, sha1, sha256, sha384 or sha512")
            })
    }

    pub fn hex(self, bytes: &[u8]) -> String {
        let of = |algorithm| hex(digest::digest(algorithm, bytes).as_ref());
        match self {
            Algorithm::Md5 => hex(&md5::Md5::digest(bytes)),
            Algorithm::Sha1 => of(&digest::SHA1_FOR_LEGACY_USE_ONLY),
            Algorithm::Sha256 => of(&digest::SHA256),
            Algorithm::Sha384 => of(&digest::SHA384),
            Algorithm::Sha512 => of(&digest::SHA512),
        }
    }

    fn keyed(self) -> Option<hmac::Algorithm> {
        match self {
            Algorithm::Md5 => None,
            Algorithm::Sha1 => Some(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
            Algorithm::Sha256 => Some(hmac::HMAC_SHA256),
            Algorithm::Sha384 => Some(hmac::HMAC_SHA384),
            Algorithm::Sha512 => Some(hmac::HMAC_SHA512),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _text_takes_everything = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(*high)? * 16 + digit(*low)?),
        _ => None,
    });
    pairs.collect::<Option<_>>().ok_or_else(|| "it is not made of pairs of hex digits".to_owned())
}

pub(super) fn base64_encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn base64_decoded(text: &[u8]) -> std::result::Result<Vec<u8>, String> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let plain: Vec<u8> = text
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => *byte,
        })
        .collect();
    LENIENT.decode(plain).map_err(|error| format!("it is no base64: {error}"))
}

fn random(bytes: &mut [u8]) -> Result<()> {
    SystemRandom::new()
        .fill(bytes)
        .map_err(|_| mlua::Error::runtime("the machine has no random numbers"))
}

/// A number below a bound, each as likely as the others.
fn below(bound: usize) -> Result<usize> {
    let bound = u64::try_from(bound.max(1)).unwrap_or(u64::MAX);
    let fair = u64::MAX - u64::MAX % bound;
    loop {
        let mut bytes = [0; 8];
        random(&mut bytes)?;
        let number = u64::from_le_bytes(bytes);
        if number < fair {
            return Ok(usize::try_from(number % bound).unwrap_or(0));
        }
    }
}

fn chosen(characters: &[char]) -> Result<char> {
    Ok(characters.get(below(characters.len())?).copied().unwrap_or('?'))
}

fn password(length: usize, with_symbols: bool) -> Result<String> {
    if length < 4 {
        return Err(mlua::Error::runtime(
            "crypto.generate_password: a password has at least 4 characters",
        ));
    }
    let (small, capital) = LETTERS.split_at(26);
    let kinds = [small, capital, DIGITS, if with_symbols { SYMBOLS } else { "" }];
    let all: Vec<char> = kinds.concat().chars().collect();
    let mut characters = Vec::with_capacity(length);
    for kind in kinds.into_iter().filter(|kind| !kind.is_empty()) {
        characters.push(chosen(&kind.chars().collect::<Vec<_>>())?);
    }
    while characters.len() < length {
        characters.push(chosen(&all)?);
    }
    for i in (1..characters.len()).rev() {
        characters.swap(i, below(i + 1)?);
    }
    Ok(characters.into_iter().collect())
}

/// Does what takes a moment where it does not hold up others.
async fn slowly<T: Send + 'static>(
    f: impl FnOnce() -> std::result::Result<T, String> + Send + 'static,
) -> std::result::Result<T, String> {
    tokio::task::spawn_blocking(f).await.unwrap_or_else(|error| Err(error.to_string()))
}

fn cipher(key: &[u8], salt: &[u8]) -> std::result::Result<LessSafeKey, String> {
    let mut stirred = [0; 32];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, ROUNDS, salt, key, &mut stirred);
    let key = UnboundKey::new(&AES_256_GCM, &stirred).map_err(|error| error.to_string())?;
    Ok(LessSafeKey::new(key))
}

fn sealed(text: &[u8], key: &[u8]) -> std::result::Result<Vec<u8>, String> {
    if key.is_empty() {
        return Err("the key is empty; give it a text that is hard to guess".to_owned());
    }
    let mut head = [0; HEAD];
    random(&mut head).map_err(|error| error.to_string())?;
    head[0] = VERSION;
    let (_, salt, nonce) = parts(&head)?;
    let mut body = text.to_vec();
    cipher(key, salt)?
        .seal_in_place_append_tag(nonce, Aad::from(head), &mut body)
        .map_err(|_| "it is too long to be sealed".to_owned())?;
    Ok(STANDARD.encode([head.as_slice(), &body].concat()).into_bytes())
}

fn opened(text: &[u8], key: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let bytes = base64_decoded(text)?;
    let Some((head, body)) = bytes.split_at_checked(HEAD) else {
        return Err("it is too short to be what aes_encrypt made".to_owned());
    };
    let (version, salt, nonce) = parts(head)?;
    if version != VERSION {
        return Err("it is not what aes_encrypt made".to_owned());
    }
    let mut body = body.to_vec();
    cipher(key, salt)?
        .open_in_place(nonce, Aad::from(head), &mut body)
        .map(|text| text.to_vec())
        .map_err(|_| "it was changed, or the key is another one".to_owned())
}

fn parts(head: &[u8]) -> std::result::Result<(u8, &[u8], Nonce), String> {
    match head.split_first() {
        Some((version, rest)) if rest.len() == SALT + NONCE => {
            let (salt, nonce) = rest.split_at(SALT);
            let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|e| e.to_string())?;
            Ok((*version, salt, nonce))
        }
        _ => Err("it is too short to be what aes_encrypt made".to_owned()),
    }
}
