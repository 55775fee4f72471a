//! `digest`: what a text is, in short. The text is taken in latin-1, one byte for each character.

use md5::{Digest as _, Md5};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA384, SHA512, digest};
use serde_json::Value;
use sha2::Sha224;

use super::{Context, Expr, ResolveError};

const ALGORITHMS: &str = "md5, sha1, sha224, sha256, sha384, sha512";

pub(crate) fn resolve(
    name: &str,
    arguments: &Expr,
    context: &Context<'_>,
) -> Result<Value, ResolveError> {
    let arguments = arguments.value(context)?;
    let texts = match &arguments {
        Value::Array(items) => items.iter().map(Value::as_str).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    let Some(texts) = texts else {
        let message = format!("Argument to function \"{name}\" must be a list of strings");
        return Err(ResolveError::wrong(message));
    };
    let [algorithm, text] = texts.as_slice() else {
        let message = format!("Function \"{name}\" usage: [\"<algorithm>\", \"<value>\"]");
        return Err(ResolveError::wrong(message));
    };
    let bytes = || latin_1(name, text);
    let hash = match algorithm.to_lowercase().as_str() {
        "md5" => Md5::digest(bytes()?).to_vec(),
        "sha1" => digest(&SHA1_FOR_LEGACY_USE_ONLY, &bytes()?).as_ref().to_vec(),
        "sha224" => Sha224::digest(bytes()?).to_vec(),
        "sha256" => digest(&SHA256, &bytes()?).as_ref().to_vec(),
        "sha384" => digest(&SHA384, &bytes()?).as_ref().to_vec(),
        "sha512" => digest(&SHA512, &bytes()?).as_ref().to_vec(),
        _ => {
            return Err(ResolveError::wrong(format!("Algorithm must be one of {ALGORITHMS}")));
        }
    };
    Ok(Value::String(hash.iter().map(|byte| format!("{byte:02x}")).collect()))
}

fn latin_1(name: &str, text: &str) -> Result<Vec<u8>, ResolveError> {
    text.chars()
        .map(|c| {
            u8::try_from(u32::from(c)).map_err(|_| {
                let code = u32::from(c);
                ResolveError::wrong(format!(
                    "\"{name}\" can only take characters of latin-1, and U+{code:04X} is none"
                ))
            })
        })
        .collect()
}
