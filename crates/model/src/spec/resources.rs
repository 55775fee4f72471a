//! What a workload reserves on its node.
//!
//! A request says how much of what kind; a [`Reservation`](crate::Reservation) says which cores and
//! devices it became on the node it was given to.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Problems;
use crate::{Bytes, Cores};

/// What a workload asks of its node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Resources {
    pub cores: Cores,
    /// Whole cores of its own, which nothing else that Hostler runs may use meanwhile.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclusive: bool,
    /// Bytes of memory.
    pub memory: Bytes,
    /// Bytes on the disk that holds the agent's data.
    #[serde(skip_serializing_if = "Bytes::is_zero")]
    pub disk: Bytes,
    #[serde(skip_serializing_if = "GpuRequest::is_none")]
    pub gpus: GpuRequest,
    /// Cores and memory of one NUMA node: its number, or `any` for whichever has room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa: Option<NumaRequest>,
}

impl Default for Resources {
    /// Small enough that fifty unspecified tasks share a core, large enough that a node is never flooded.
    fn default() -> Resources {
        Resources {
            cores: Cores::from_millis(20),
            exclusive: false,
            memory: Bytes::ZERO,
            disk: Bytes::ZERO,
            gpus: GpuRequest::default(),
            numa: None,
        }
    }
}

impl Resources {
    pub(super) fn look(&self, say: &mut Problems<'_>) {
        if self.exclusive && (self.cores == Cores::ZERO || !self.cores.is_whole()) {
            say.at("/resources/cores", "exclusive cores are whole ones; ask for 1, 2 or more");
        }
        self.gpus.look(say);
    }
}

/// GPUs: a number of them, or an object that says which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GpuRequest {
    pub count: u32,
    /// How much of each, in thousandths; 1000 is all of it.
    pub share: GpuShareSize,
    /// Exactly these, by their numbers on the node.
    pub ids: Vec<u32>,
    /// Only where the model's name contains this, whatever the case.
    pub model: Option<String>,
    /// Only with at least this much memory.
    pub memory: Bytes,
}

/// A part of one GPU, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GpuShareSize(u16);

impl GpuShareSize {
    pub const WHOLE: GpuShareSize = GpuShareSize(1000);
    pub const fn from_millis(millis: u16) -> GpuShareSize {
        GpuShareSize(millis)
    }
    pub const fn millis(self) -> u16 {
        self.0
    }
    pub const fn is_whole(&self) -> bool {
        self.0 >= 1000
    }
}

impl Default for GpuShareSize {
    fn default() -> GpuShareSize {
        GpuShareSize::WHOLE
    }
}

/// The object form, as it is read and written.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename = "GpuRequest")]
struct GpuObject {
    /// How many; as many as `ids` names when that is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
    /// How much of each, more than 0 and at most 1; others may have the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1))]
    share: Option<f64>,
    /// Exactly these, by their numbers on the node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ids: Vec<u32>,
    /// Only where the model's name contains this, whatever the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// Only with at least this much memory.
    #[serde(default, skip_serializing_if = "Bytes::is_zero")]
    memory: Bytes,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(untagged, rename = "GpuRequest")]
enum GpuForm {
    Count(u32),
    Object(GpuObject),
}

impl GpuRequest {
    pub fn count(count: u32) -> GpuRequest {
        GpuRequest { count, ..GpuRequest::default() }
    }

    /// Exactly these.
    pub fn ids(ids: Vec<u32>) -> GpuRequest {
        let count = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        GpuRequest { count, ids, ..GpuRequest::default() }
    }

    pub const fn is_none(&self) -> bool {
        self.count == 0
    }

    fn is_plain(&self) -> bool {
        *self == GpuRequest::count(self.count)
    }

    fn look(&self, say: &mut Problems<'_>) {
        let mut sorted = self.ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() != self.ids.len() {
            say.at("/resources/gpus/ids", "a GPU is named twice");
        }
        if !self.ids.is_empty() && self.ids.len() != self.count as usize {
            say.at("/resources/gpus/count", "`ids` names another number of GPUs than `count`");
        }
        if self.count > 1024 {
            say.at("/resources/gpus/count", "at most 1024 GPUs");
        }
    }
}

impl Serialize for GpuRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_plain() {
            return serializer.serialize_u32(self.count);
        }
        let share = f64::from(self.share.0) / 1000.0;
        GpuObject {
            count: self.ids.is_empty().then_some(self.count),
            share: (self.share != GpuShareSize::WHOLE).then_some(share),
            ids: self.ids.clone(),
            model: self.model.clone(),
            memory: self.memory,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for GpuRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = match GpuForm::deserialize(deserializer).map_err(|_| {
            de::Error::custom(
                "expected a number of GPUs, or an object with count, share, ids, model, memory",
            )
        })? {
            GpuForm::Count(count) => return Ok(GpuRequest::count(count)),
            GpuForm::Object(object) => object,
        };
        let share = match object.share {
            None => GpuShareSize::WHOLE,
            Some(share) => parse_share(share).ok_or_else(|| {
                de::Error::custom(
                    "a share is more than 0 and at most 1, with at most three decimals",
                )
            })?,
        };
        let named = u32::try_from(object.ids.len()).unwrap_or(u32::MAX);
        let count = object.count.unwrap_or(if object.ids.is_empty() { 1 } else { named });
        let (ids, model, memory) = (object.ids, object.model, object.memory);
        Ok(GpuRequest { count, share, ids, model, memory })
    }
}

fn parse_share(share: f64) -> Option<GpuShareSize> {
    let millis = Cores::from_f64(share)?.millis();
    u16::try_from(millis).ok().filter(|millis| (1..=1000).contains(millis)).map(GpuShareSize)
}

impl schemars::JsonSchema for GpuRequest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GpuRequest".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        GpuForm::json_schema(generator)
    }
}

/// Which NUMA node: a number, or `any`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumaRequest {
    Any,
    Index(u32),
}

impl Serialize for NumaRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            NumaRequest::Any => serializer.serialize_str("any"),
            NumaRequest::Index(index) => serializer.serialize_u32(*index),
        }
    }
}

impl<'de> Deserialize<'de> for NumaRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Index(u32),
            Word(String),
        }
        match Form::deserialize(deserializer) {
            Ok(Form::Index(index)) => Ok(NumaRequest::Index(index)),
            Ok(Form::Word(word)) if word == "any" => Ok(NumaRequest::Any),
            _ => Err(de::Error::custom("expected the number of a NUMA node, or `any`")),
        }
    }
}

impl schemars::JsonSchema for NumaRequest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NumaRequest".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "oneOf": [{ "type": "integer", "minimum": 0 }, { "const": "any" }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_a_number_or_an_object() {
        let read = |text: &str| serde_json::from_str::<GpuRequest>(text);
        assert_eq!(read("2").unwrap(), GpuRequest::count(2));
        assert_eq!(read(r#"{"ids":[0,3]}"#).unwrap(), GpuRequest::ids(vec![0, 3]));
        let half = read(r#"{"share":0.5,"model":"A100"}"#).unwrap();
        assert_eq!((half.count, half.share.millis()), (1, 500));
        assert!(read(r#"{"share":0}"#).is_err() && read(r#"{"share":1.5}"#).is_err());
        assert!(read(r#""two""#).is_err() && read(r#"{"cuont":1}"#).is_err());
        for text in ["2", r#"{"ids":[0,3]}"#, r#"{"count":1,"share":0.5,"model":"A100"}"#] {
            assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
        }
    }

    #[test]
    fn numa_is_a_number_or_any() {
        let read = |text: &str| serde_json::from_str::<NumaRequest>(text);
        assert_eq!(read("1").unwrap(), NumaRequest::Index(1));
        assert_eq!(read(r#""any""#).unwrap(), NumaRequest::Any);
        assert!(read(r#""some""#).is_err() && read("-1").is_err());
    }
}
