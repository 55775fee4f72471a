//! Builds the text of list queries from optional conditions. Values always travel as parameters.

use std::fmt::Write as _;

use hostler_model::Limit;

use crate::value::Value;

pub(crate) struct Select {
    text: String,
    params: Vec<Value>,
    has_where: bool,
}

impl Select {
    /// Begins with everything up to, but without, `WHERE`.
    pub(crate) fn new(head: &str) -> Select {
        Select { text: head.to_owned(), params: Vec::new(), has_where: false }
    }

    fn condition(&mut self) -> &mut String {
        self.text.push_str(if self.has_where { " AND " } else { " WHERE " });
        self.has_where = true;
        &mut self.text
    }

    fn param(&mut self, value: impl Into<Value>) -> usize {
        self.params.push(value.into());
        self.params.len()
    }

    /// A parameter for a condition that the caller writes.
    pub(crate) fn given(&mut self, value: impl Into<Value>) -> String {
        format!("${}", self.param(value))
    }

    /// A condition without parameters.
    pub(crate) fn and(mut self, condition: &str) -> Select {
        self.condition().push_str(condition);
        self
    }

    /// `left` (a column and an operator) and one parameter.
    pub(crate) fn and_value(mut self, left: &str, value: impl Into<Value>) -> Select {
        let n = self.param(value);
        write!(self.condition(), "{left} ${n}").expect("writing to a string cannot fail");
        self
    }

    /// One parameter, and either of two conditions on it.
    pub(crate) fn and_either(mut self, one: &str, other: &str, value: impl Into<Value>) -> Select {
        let n = self.param(value);
        self.and(&format!("({one} ${n} OR {other} ${n})"))
    }

    /// Text that matches a pattern in which `\\` takes the meaning from the letter after it.
    pub(crate) fn and_like(mut self, text: &str, pattern: String) -> Select {
        let n = self.param(pattern.as_str());
        self.and(&format!("{text} LIKE ${n} ESCAPE '\\'"))
    }

    pub(crate) fn and_some<V: Into<Value>>(self, left: &str, value: Option<V>) -> Select {
        match value {
            Some(value) => self.and_value(left, value),
            None => self,
        }
    }

    /// `left` (a row and an operator) and a row of two parameters.
    pub(crate) fn and_pair(
        mut self,
        left: &str,
        first: impl Into<Value>,
        second: impl Into<Value>,
    ) -> Select {
        let a = self.param(first);
        let b = self.param(second);
        write!(self.condition(), "{left} (${a}, ${b})").expect("writing to a string cannot fail");
        self
    }

    /// `left` (a row and an operator) and a row of as many parameters.
    pub(crate) fn and_row(mut self, left: &str, values: Vec<Value>) -> Select {
        let numbers: Vec<String> = values.into_iter().map(|value| self.given(value)).collect();
        self.and(&format!("{left} ({})", numbers.join(", ")))
    }

    /// The column is one of `values`, where there are any; an empty list leaves it open.
    pub(crate) fn and_in_any<V: Into<Value>>(
        self,
        column: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Select {
        let mut values = values.into_iter().peekable();
        if values.peek().is_none() { self } else { self.and_in(column, values) }
    }

    /// The column is absent, or none of `values`.
    pub(crate) fn and_not_in<V: Into<Value>>(
        mut self,
        column: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Select {
        let mut values: Vec<Value> = values.into_iter().map(Into::into).collect();
        let Some(last) = values.last().cloned() else { return self };
        values.resize(values.len().next_power_of_two(), last);
        let numbers: Vec<String> =
            values.into_iter().map(|value| format!("${}", self.param(value))).collect();
        let numbers = numbers.join(", ");
        self.and(&format!("({column} IS NULL OR {column} NOT IN ({numbers}))"))
    }

    /// The column is one of `values`; an empty list matches nothing.
    pub(crate) fn and_in<V: Into<Value>>(
        mut self,
        column: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Select {
        let mut values: Vec<Value> = values.into_iter().map(Into::into).collect();
        let Some(last) = values.last().cloned() else {
            return self.and("1 = 0");
        };
        // Few lengths mean few prepared statements.
        values.resize(values.len().next_power_of_two(), last);
        let numbers: Vec<String> =
            values.into_iter().map(|value| format!("${}", self.param(value))).collect();
        self.and(&format!("{column} IN ({})", numbers.join(", ")))
    }

    /// Adds the order and a limit one larger than asked, so that the page knows whether there is more.
    pub(crate) fn page(self, order: &str, limit: Limit) -> (String, Vec<Value>) {
        self.first(order, u64::from(limit.get()) + 1)
    }

    /// As it is: for counts and sums.
    pub(crate) fn unordered(self) -> (String, Vec<Value>) {
        (self.text, self.params)
    }

    /// Adds the order and a limit.
    pub(crate) fn first(mut self, order: &str, limit: u64) -> (String, Vec<Value>) {
        let n = self.param(limit);
        write!(self.text, " ORDER BY {order} LIMIT ${n}").expect("writing to a string cannot fail");
        (self.text, self.params)
    }
}
