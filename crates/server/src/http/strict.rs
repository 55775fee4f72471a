//! Reading JSON bodies, strictly.
//!
//! A body is JSON in UTF-8, without duplicate keys and without NUL characters (which no database
//! stores in text). An object is an object: a list of its values in order, which serde would take, is
//! refused. Fields that do not exist are mistakes. What is not JSON is `malformed`, with line and
//! column; what is JSON but says something wrong is `invalid`, with the JSON pointer of the value.

use std::fmt;

use hostler_model::{Diagnostic, Error};
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::decode::{pointer, push_key};
use super::error::malformed;

/// Reads text as one JSON document.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, Error> {
    let mut found = Found::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let result =
        Scan(&mut found).deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    match (result, found.diagnostic) {
        (Ok(value), None) => Ok(value),
        (_, Some(diagnostic)) => Err(Error::invalid(vec![diagnostic])),
        (Err(error), None) => Err(malformed(
            format!(
                "the body is not JSON: {}, at line {} column {}",
                without_position(&error),
                error.line(),
                error.column()
            ),
            "correct the JSON and send it again",
        )),
    }
}

/// Reads a document as the type it should have.
pub(crate) fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    serde_path_to_error::deserialize(Strict(value)).map_err(|error| {
        let detail = without_position(error.inner());
        Error::invalid(vec![Diagnostic::new(pointer(error.path()), detail)])
    })
}

/// The same document always has the same text: keys sorted, no spaces.
pub(crate) fn canonical(mut value: Value) -> Vec<u8> {
    value.sort_all_objects();
    value.to_string().into_bytes()
}

fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}

#[derive(Default)]
struct Found {
    pointer: String,
    diagnostic: Option<Diagnostic>,
}

impl Found {
    fn refuse<E: de::Error>(&mut self, detail: &str) -> E {
        if self.diagnostic.is_none() {
            self.diagnostic = Some(Diagnostic::new(self.pointer.clone(), detail));
        }
        E::custom(detail)
    }

    fn text<E: de::Error>(&mut self, text: &str) -> Result<(), E> {
        match text.contains('\0') {
            true => Err(self.refuse("a NUL character is not allowed in text")),
            false => Ok(()),
        }
    }
}

/// Builds a document and remembers where it went wrong.
struct Scan<'a>(&'a mut Found);

impl<'de> DeserializeSeed<'de> for Scan<'_> {
    type Value = Value;
    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Scan<'_> {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        self.0.text(text)?;
        Ok(text.into())
    }
    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        self.0.text(&text)?;
        Ok(text.into())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let length = self.0.pointer.len();
        let mut items = Vec::new();
        loop {
            self.0.pointer.push_str(&format!("/{}", items.len()));
            let item = seq.next_element_seed(Scan(self.0))?;
            self.0.pointer.truncate(length);
            match item {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let length = self.0.pointer.len();
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            push_key(&mut self.0.pointer, &key);
            self.0.text(&key)?;
            if object.contains_key(&key) {
                return Err(self.0.refuse("this key is given twice"));
            }
            let value = map.next_value_seed(Scan(self.0))?;
            object.insert(key, value);
            self.0.pointer.truncate(length);
        }
        Ok(Value::Object(object))
    }
}

/// Gives a document to serde, objects as objects only.
#[derive(Clone, Copy)]
struct Strict<'a>(&'a Value);

macro_rules! forward {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
            de::Deserializer::$method(self.0, visitor)
        }
    )+};
}

macro_rules! containers {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
            self.deserialize_any(visitor)
        }
    )+};
}

impl<'de> de::Deserializer<'de> for Strict<'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
        match self.0 {
            Value::Array(items) => visitor.visit_seq(Items(items.iter())),
            Value::Object(object) => {
                visitor.visit_map(Entries { entries: object.iter(), value: None })
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.0.deserialize_any(visitor)
            }
        }
    }
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        match self.0 {
            Value::Object(_) => self.deserialize_any(visitor),
            _ => self.0.deserialize_map(visitor),
        }
    }
    fn deserialize_option<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        visitor.visit_newtype_struct(self)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        self.0.deserialize_unit_struct(name, visitor)
    }
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        self.deserialize_any(visitor)
    }
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        self.deserialize_any(visitor)
    }
    containers! { deserialize_seq deserialize_map deserialize_ignored_any }
    forward! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32
        deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_unit deserialize_identifier
    }
}

struct Items<'de>(std::slice::Iter<'de, Value>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = serde_json::Error;
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Self::Error> {
        self.0.next().map(|value| seed.deserialize(Strict(value))).transpose()
    }
}

struct Entries<'de> {
    entries: serde_json::map::Iter<'de>,
    value: Option<&'de Value>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = serde_json::Error;
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Self::Error> {
        let Some((key, value)) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(StrDeserializer::new(key)).map(Some)
    }
    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, Self::Error> {
        seed.deserialize(Strict(self.value.take().unwrap_or(&Value::Null)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{Code, WorkloadSpec};
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        name: String,
        #[serde(default)]
        parts: Vec<Part>,
        #[serde(default)]
        env: std::collections::BTreeMap<String, String>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Part {
        size: u8,
    }

    fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
        typed(&parse(bytes)?)
    }

    fn refused(text: &str) -> (Code, String) {
        let error = json::<Body>(text.as_bytes()).unwrap_err();
        let pointer = error.errors.first().map(|d| d.pointer.clone());
        (error.code, pointer.unwrap_or_else(|| error.detail.clone()))
    }

    #[test]
    fn mistakes_in_a_body_are_named_by_their_pointer() {
        let invalid = |text, pointer: &str| {
            assert_eq!(refused(text), (Code::Invalid, pointer.to_owned()), "{text}")
        };
        invalid(r#"{"name":"a","extra":1}"#, "/extra");
        invalid(
            r#"{"name":"a","parts":[{"size":1},{"size":1,"colour":"red"}]}"#,
            "/parts/1/colour",
        );
        invalid(r#"{"name":"a","parts":[{"size":1},{"size":300}]}"#, "/parts/1/size");
        invalid(r#"{"name":7}"#, "/name");
        invalid(r#"{"parts":[]}"#, "");
        invalid(r#"{"name":"a","env":{"A/B":"1","A/B":"2"}}"#, "/env/A~1B");
        invalid(r#"{"name":"a\u0000b"}"#, "/name");
        invalid(r#"[1]"#, "");
        invalid(r#"["a"]"#, "");
        invalid(r#"{"name":"a","parts":[[1]]}"#, "/parts/0");
    }

    #[test]
    fn what_is_not_json_is_malformed_with_its_position() {
        for (text, position) in [
            ("{\"name\":\n  nope}", "line 2 column"),
            ("{\"name\":\"a\"} x", "line 1 column 14"),
            ("", "line 1 column 0"),
            ("{\"name\":\"a\"", "line 1"),
        ] {
            let (code, detail) = refused(text);
            assert_eq!(code, Code::Malformed, "{text}");
            assert!(detail.contains(position), "{detail}");
        }
        let deep = "[".repeat(5000);
        assert_eq!(refused(&deep).0, Code::Malformed);
        assert_eq!(json::<Body>(b"{\"name\":\"\xff\"}").unwrap_err().code, Code::Malformed);
    }

    #[test]
    fn specs_survive_the_strict_reader() {
        let text = br#"{"command":["a"],"timeout":"5s","resources":{"cores":0.5,"memory":10},"stop":{"signal":"SIGINT"},"user":null}"#;
        let spec: WorkloadSpec = json(text).unwrap();
        assert_eq!(spec, serde_json::from_slice(text).unwrap());
    }

    #[test]
    fn canonical_bodies_ignore_order_and_spaces() {
        let canonical = |text: &str| canonical(parse(text.as_bytes()).unwrap());
        assert_eq!(canonical(r#"{"b": 1, "a": [1, 2]}"#), canonical(r#"{"a":[1,2],"b":1}"#));
        assert_ne!(canonical(r#"{"a":[1,2]}"#), canonical(r#"{"a":[2,1]}"#));
    }
}
