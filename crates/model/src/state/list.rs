//! A value that is a list: a JSON array, whose items stay as they were written, byte by byte.

use std::collections::VecDeque;

use serde_json::value::RawValue;

use super::StateEnd;

/// The value is no JSON array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value is not a list, which is a JSON array")]
pub struct NotAList;

/// A list, to be changed and written back.
#[derive(Clone, Debug, Default)]
pub struct StateList(VecDeque<Box<RawValue>>);

impl StateList {
    pub fn read(value: &[u8]) -> Result<StateList, NotAList> {
        serde_json::from_slice(value).map(StateList).map_err(|_| NotAList)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds items at an end; the last of them is outermost.
    pub fn push(&mut self, items: &[Box<RawValue>], end: StateEnd) {
        for item in items {
            match end {
                StateEnd::Front => self.0.push_front(item.clone()),
                StateEnd::Back => self.0.push_back(item.clone()),
            }
        }
    }

    /// Takes at most so many, the outermost first.
    pub fn pop(&mut self, count: u32, end: StateEnd) -> Vec<Box<RawValue>> {
        let take = || match end {
            StateEnd::Front => self.0.pop_front(),
            StateEnd::Back => self.0.pop_back(),
        };
        std::iter::from_fn(take).take(count as usize).collect()
    }

    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec(&self.0).expect("a list of JSON texts is JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(texts: &[&str]) -> Vec<Box<RawValue>> {
        texts.iter().map(|text| RawValue::from_string((*text).to_owned()).unwrap()).collect()
    }

    fn texts(items: &[Box<RawValue>]) -> Vec<&str> {
        items.iter().map(|item| item.get()).collect()
    }

    #[test]
    fn both_ends_work_and_items_stay_as_they_were() {
        let mut list = StateList::read(b" [1.50, {\"b\":1, \"a\":2}] ").unwrap();
        list.push(&items(&["\"x\"", "18446744073709551617"]), StateEnd::Back);
        list.push(&items(&["null", "true"]), StateEnd::Front);
        let all = r#"[true,null,1.50,{"b":1, "a":2},"x",18446744073709551617]"#;
        assert_eq!(String::from_utf8(list.write()).unwrap(), all);
        assert_eq!(texts(&list.pop(1, StateEnd::Back)), ["18446744073709551617"]);
        assert_eq!(texts(&list.pop(2, StateEnd::Front)), ["true", "null"]);
        assert_eq!(list.len(), 3);
        assert_eq!(list.pop(9, StateEnd::Front).len(), 3);
        assert!(list.is_empty() && list.pop(1, StateEnd::Back).is_empty());
        assert_eq!(list.write(), b"[]");
    }

    #[test]
    fn what_is_no_array_is_no_list() {
        for value in [&b""[..], b"7", b"{}", b"[1", b"[1] x", b"\xff"] {
            assert!(StateList::read(value).is_err());
        }
    }
}
