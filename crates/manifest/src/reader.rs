//! Reads a tree into types.
//!
//! What people write is taken as they mean it, where that is certain: where a text is wanted, a
//! number or `true` without quotes is the text that stands there (`[sleep, 60]`, `umask: 022`), and
//! a field with nothing after the colon is as if it had not been written. Nothing else is guessed.

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use crate::fault::{Fault, Kind};
use crate::scalar::Meaning;
use crate::tree::{Entry, Node, Step, Value};

#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(pub &'a Node);

impl Reader<'_> {
    fn found(&self) -> Unexpected<'_> {
        match &self.0.value {
            Value::List(_) => Unexpected::Seq,
            Value::Map(_) => Unexpected::Map,
            Value::Lost | Value::Gone => Unexpected::Unit,
            Value::Scalar(scalar) => match scalar.meaning() {
                Meaning::Nothing => Unexpected::Unit,
                Meaning::Bool(value) => Unexpected::Bool(value),
                Meaning::Unsigned(value) => Unexpected::Unsigned(value),
                Meaning::Signed(value) => Unexpected::Signed(value),
                Meaning::Float(value) => Unexpected::Float(value),
                Meaning::Text(text) => Unexpected::Str(text),
            },
        }
    }
}

impl<'de> de::Deserializer<'de> for Reader<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Lost | Value::Gone => Err(Fault::new(Kind::Noted)),
            Value::List(items) => visitor.visit_seq(Items { items: items.iter().enumerate() }),
            Value::Map(entries) => visitor.visit_map(Fields::new(entries, &[])),
            Value::Scalar(scalar) => match scalar.meaning() {
                Meaning::Nothing => visitor.visit_unit(),
                Meaning::Bool(value) => visitor.visit_bool(value),
                Meaning::Unsigned(value) => visitor.visit_u64(value),
                Meaning::Signed(value) => visitor.visit_i64(value),
                Meaning::Float(value) => visitor.visit_f64(value),
                Meaning::Text(text) => visitor.visit_str(text),
            },
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Scalar(scalar) if !scalar.is_nothing() => visitor.visit_str(&scalar.text),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.is_nothing() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Map(entries) => visitor.visit_map(Fields::new(entries, fields)),
            Value::List(_) => Err(de::Error::invalid_type(Unexpected::Seq, &"a mapping")),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let (given, content) = match &self.0.value {
            Value::Lost | Value::Gone => return Err(Fault::new(Kind::Noted)),
            Value::Scalar(scalar) if !scalar.is_nothing() => (&scalar.text, None),
            Value::Map(entries) if entries.len() == 1 => (&entries[0].key, Some(&entries[0].node)),
            Value::Map(entries) if entries.len() > 1 => {
                let found = format!("{} of them", entries.len());
                let expected = format!("exactly one of {}", variants.join(", "));
                return Err(Fault::new(Kind::Type { found, expected }));
            }
            _ => {
                let expected = format!("one of {}", variants.join(", "));
                return Err(de::Error::invalid_type(self.found(), &expected.as_str()));
            }
        };
        if !variants.contains(&given.as_str()) {
            let given = crate::fault::short(given);
            let is_key = content.is_some();
            return Err(Fault::new(Kind::UnknownVariant { given, known: variants, is_key }));
        }
        visitor.visit_enum(Choice { given, content })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'a> {
    items: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let Some((at, node)) = self.items.find(|(_, node)| node.value != Value::Gone) else {
            return Ok(None);
        };
        seed.deserialize(Reader(node)).map(Some).map_err(|fault| fault.below(Step::Index(at)))
    }
}

struct Fields<'a> {
    entries: std::slice::Iter<'a, Entry>,
    /// Of these, those with nothing in them are left out.
    known: &'static [&'static str],
    value: Option<&'a Entry>,
}

impl<'a> Fields<'a> {
    fn new(entries: &'a [Entry], known: &'static [&'static str]) -> Fields<'a> {
        Fields { entries: entries.iter(), known, value: None }
    }
}

impl<'de> de::MapAccess<'de> for Fields<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let known = self.known;
        let is_set = |e: &&Entry| !(known.contains(&e.key.as_str()) && e.node.is_nothing());
        self.value = self.entries.find(is_set);
        let Some(entry) = self.value else {
            return Ok(None);
        };
        let key: StrDeserializer<'_, Fault> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|fault| fault.below(Step::Key(entry.key.clone())))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        let entry = self.value.take().expect("a value is asked for after its key");
        seed.deserialize(Reader(&entry.node))
            .map_err(|fault| fault.below(Step::Key(entry.key.clone())))
    }
}

struct Choice<'a> {
    given: &'a str,
    content: Option<&'a Node>,
}

impl<'de, 'a> de::EnumAccess<'de> for Choice<'a> {
    type Error = Fault;
    type Variant = Choice<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Choice<'a>), Fault> {
        let name: StrDeserializer<'_, Fault> = self.given.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl Choice<'_> {
    fn content(&self) -> Result<Reader<'_>, Fault> {
        self.content.map(Reader).ok_or_else(|| {
            let given = self.given;
            Fault::new(Kind::Other(format!("`{given}` needs more; write `{given}: …` below it")))
        })
    }

    fn below(&self, fault: Fault) -> Fault {
        fault.below(Step::Key(self.given.to_owned()))
    }
}

impl<'de> de::VariantAccess<'de> for Choice<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.content {
            Some(node) if !node.is_nothing() => {
                let given = self.given;
                Err(Fault::new(Kind::Other(format!("`{given}` stands alone, with nothing below"))))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self.content()?).map_err(|fault| self.below(fault))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        de::Deserializer::deserialize_any(self.content()?, visitor)
            .map_err(|fault| self.below(fault))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        de::Deserializer::deserialize_struct(self.content()?, "", fields, visitor)
            .map_err(|fault| self.below(fault))
    }
}
