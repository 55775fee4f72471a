//! What `describe` prints: titled sections of names and values, for people only.

use hostler_model::WriteMetrics;

use super::printable;

#[derive(Clone, Debug, Default)]
pub struct Description {
    sections: Vec<(String, Vec<Line>)>,
}

#[derive(Clone, Debug)]
enum Line {
    Pair(String, String),
    Text(String),
}

impl Description {
    /// Begins a section; the first has no title.
    pub fn section(&mut self, title: &str) -> &mut Description {
        self.sections.push((title.to_owned(), Vec::new()));
        self
    }

    /// What is absent is left out.
    pub fn pair(&mut self, name: &str, value: impl Into<Option<String>>) -> &mut Description {
        if let Some(value) = value.into().filter(|value| !value.is_empty()) {
            self.push(Line::Pair(printable::one_line(name), printable::lines(&value)));
        }
        self
    }

    pub fn text(&mut self, text: impl Into<String>) -> &mut Description {
        self.push(Line::Text(printable::lines(&text.into())));
        self
    }

    fn push(&mut self, line: Line) {
        if self.sections.is_empty() {
            self.section("");
        }
        if let Some((_, lines)) = self.sections.last_mut() {
            lines.push(line);
        }
    }

    pub fn render(&self) -> String {
        let mut text = String::new();
        for (title, lines) in self.sections.iter().filter(|(_, lines)| !lines.is_empty()) {
            if !title.is_empty() {
                text.push_str(&format!("\n{title}:\n"));
            }
            let indent = if title.is_empty() { "" } else { "  " };
            let names = lines.iter().map(|line| match line {
                Line::Pair(name, _) => name.chars().count(),
                Line::Text(_) => 0,
            });
            let width = names.max().unwrap_or(0) + 1;
            for line in lines {
                match line {
                    Line::Pair(name, value) => {
                        let value = value.replace('\n', &format!("\n{indent}{:width$}  ", ""));
                        text.push_str(&format!("{indent}{:width$}  {value}\n", format!("{name}:")));
                    }
                    Line::Text(line) => text.push_str(&format!("{indent}{line}\n")),
                }
            }
        }
        text
    }
}

/// What was written to disk today, against what should be at most.
pub fn written_today(writes: &WriteMetrics) -> String {
    let today = writes.today;
    match (writes.budget, writes.percent()) {
        (Some(budget), Some(percent)) => format!("{today} of {budget} ({percent}%)"),
        _ => today.to_string(),
    }
}
