//! Tables without borders: columns padded to their widest cell, two spaces apart.

use super::printable;

/// How a cell looks on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tone {
    Plain,
    Good,
    Warning,
    Bad,
    Dim,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    pub fn new(text: impl ToString) -> Cell {
        Cell { text: one_line(&text.to_string()), tone: Tone::Plain }
    }
    #[must_use]
    pub fn good(self) -> Cell {
        Cell { tone: Tone::Good, ..self }
    }
    #[must_use]
    pub fn warning(self) -> Cell {
        Cell { tone: Tone::Warning, ..self }
    }
    #[must_use]
    pub fn bad(self) -> Cell {
        Cell { tone: Tone::Bad, ..self }
    }
    #[must_use]
    pub fn dim(self) -> Cell {
        Cell { tone: Tone::Dim, ..self }
    }
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// What is absent shows as a dash.
impl<T: ToString> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        match value {
            Some(value) => Cell::new(value),
            None => Cell::new("-").dim(),
        }
    }
}

fn one_line(text: &str) -> String {
    if text.is_empty() {
        return "-".to_owned();
    }
    printable::one_line(text)
}

pub struct Table {
    titles: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    widths: Vec<usize>,
}

const GAP: usize = 2;

impl Table {
    pub fn new(titles: Vec<&'static str>) -> Table {
        let widths = titles.iter().map(|title| title.len()).collect();
        Table { titles, rows: Vec::new(), widths }
    }

    pub fn push(&mut self, row: Vec<Cell>) {
        self.widen(&row);
        self.rows.push(row);
    }

    /// Makes the columns wide enough for a row that is not kept.
    pub fn widen(&mut self, row: &[Cell]) {
        for (width, cell) in self.widths.iter_mut().zip(row) {
            *width = (*width).max(cell.text.chars().count());
        }
    }

    /// With `width`, the last column is cut so that lines fit.
    pub fn render(&self, is_colored: bool, width: Option<usize>) -> String {
        let mut text = self.header(is_colored);
        for row in &self.rows {
            text.push_str(&self.line(row, is_colored, width));
        }
        text
    }

    pub fn header(&self, is_colored: bool) -> String {
        let titles: Vec<_> = self.titles.iter().map(|title| Cell::new(title).dim()).collect();
        self.line(&titles, is_colored, None)
    }

    /// One row, aligned with what was seen so far.
    pub fn line(&self, row: &[Cell], is_colored: bool, width: Option<usize>) -> String {
        let mut line = String::new();
        let mut used = 0;
        for (index, (cell, column)) in row.iter().zip(&self.widths).enumerate() {
            let is_last = index + 1 == row.len();
            let room = width.filter(|_| is_last).map(|width| width.saturating_sub(used).max(8));
            let shown = cut(&cell.text, room);
            let length = shown.chars().count();
            line.push_str(&painted(&shown, cell.tone, is_colored));
            if !is_last {
                line.push_str(&" ".repeat(column.saturating_sub(length) + GAP));
            }
            used += length.max(*column) + GAP;
        }
        line.push('\n');
        line
    }
}

fn cut(text: &str, room: Option<usize>) -> String {
    match room {
        Some(room) if text.chars().count() > room => {
            text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
        }
        _ => text.to_owned(),
    }
}

fn painted(text: &str, tone: Tone, is_colored: bool) -> String {
    let code = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Good => "32",
        Tone::Warning => "33",
        Tone::Bad => "31",
        Tone::Dim => "2",
    };
    if is_colored { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_the_last_is_cut_to_the_terminal() {
        let mut table = Table::new(vec!["NAME", "STATE", "MESSAGE"]);
        table.push(vec![Cell::new("a"), Cell::new("running").good(), Cell::new("fine")]);
        table.push(vec![
            Cell::new("longer"),
            Cell::from(None::<u8>),
            Cell::new("a\nvery long one"),
        ]);
        let text = table.render(false, Some(30));
        assert_eq!(
            text,
            "NAME    STATE    MESSAGE\na       running  fine\nlonger  -        a very long …\n"
        );
        let colored = table.render(true, None);
        assert!(colored.contains("a       \x1b[32mrunning\x1b[0m  fine\n"), "{colored:?}");
    }
}
