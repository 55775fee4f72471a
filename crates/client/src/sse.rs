//! Server-sent events: lines in, events out. Pure.

/// One event: its name and its data lines joined. Ids are not used: our data carries the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub name: String,
    pub data: String,
}

#[derive(Debug, Default)]
pub(crate) struct Parser {
    pending: Event,
    has_data: bool,
}

impl Parser {
    /// Takes a line; an empty line completes an event. Comments and unknown fields are skipped.
    pub fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.pending);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.pending.name),
            "data" => {
                if self.has_data {
                    self.pending.data.push('\n');
                }
                self.pending.data.push_str(value);
                self.has_data = true;
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_put_together_from_lines() {
        let text = ": hello\n\nevent: ADDED\nid: 7\ndata: {\"a\":\ndata: 1}\n\nevent: x\n\ndata:two\n\nretry: 5\n";
        let mut parser = Parser::default();
        let events: Vec<_> = text.split('\n').filter_map(|line| parser.line(line)).collect();
        let event = |name: &str, data: &str| Event { name: name.to_owned(), data: data.to_owned() };
        assert_eq!(events, [event("ADDED", "{\"a\":\n1}"), event("", "two")]);
    }
}
