//! The parts of a template.

use serde_json::Value as Json;

pub(super) enum Node {
    Text(String),
    Print(Pipe),
    Set(String, Pipe),
    If(Pipe, Vec<Node>, Vec<Node>),
    With(Pipe, Vec<Node>, Vec<Node>),
    Range { names: Vec<String>, pipe: Pipe, each: Vec<Node>, none: Vec<Node> },
}

/// Functions one after the other, each given what the one before made.
pub(super) struct Pipe {
    /// As it was written.
    pub text: String,
    pub stages: Vec<Vec<Expression>>,
}

pub(super) enum Expression {
    Literal(Json),
    /// `.A.B`
    Dot(Vec<String>),
    /// `$name.A`, where `$` alone is everything that was given.
    Name(String, Vec<String>),
    Pipe(Pipe),
    Function(String),
}

/// Text, or what is between braces and on which line.
enum Piece<'a> {
    Text(String),
    Action(&'a str, usize),
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let (mut rest, mut line, mut trims) = (text, 1, false);
    while let Some(start) = rest.find("{{") {
        let inside = &rest[start + 2..];
        let (trims_before, inside) = match inside.strip_prefix("- ") {
            Some(inside) => (true, inside),
            None => (false, inside),
        };
        let mut before = &rest[..start];
        line += before.matches('\n').count();
        if trims {
            before = before.trim_start();
        }
        if trims_before {
            before = before.trim_end();
        }
        pieces.push(Piece::Text(before.to_owned()));
        let end = closing(inside).ok_or_else(|| format!("line {line}: `{{{{` has no `}}}}`"))?;
        let action = &inside[..end];
        rest = &inside[end + 2..];
        trims = action.ends_with(" -") || action == "-";
        let action = if trims { &action[..action.len() - 1] } else { action };
        if !action.trim().starts_with("/*") {
            pieces.push(Piece::Action(action.trim(), line));
        }
        line += action.matches('\n').count();
    }
    pieces.push(Piece::Text(if trims { rest.trim_start().to_owned() } else { rest.to_owned() }));
    Ok(pieces)
}

/// Where the braces close that are not in a text.
fn closing(inside: &str) -> Option<usize> {
    let bytes = inside.as_bytes();
    if inside.trim_start().starts_with("/*") {
        let end = inside.find("*/")?;
        return inside[end..].find("}}").map(|at| end + at);
    }
    let (mut at, mut quote) = (0, None);
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(b'"'), b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (None, byte @ (b'"' | b'`')) => quote = Some(byte),
            (None, b'}') if bytes.get(at + 1) == Some(&b'}') => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

pub(super) fn parse(text: &str) -> Result<Vec<Node>, String> {
    let pieces = pieces(text)?;
    let mut reading = Reading { pieces: pieces.into_iter() };
    let (nodes, end) = reading.block()?;
    match end {
        None => Ok(nodes),
        Some((word, line)) => Err(format!("line {line}: `{{{{ {word} }}}}` closes nothing")),
    }
}

struct Reading<'a> {
    pieces: std::vec::IntoIter<Piece<'a>>,
}

type End<'a> = Option<(&'a str, usize)>;

impl<'a> Reading<'a> {
    /// Up to what closes it: `end`, `else`, `else if ..`.
    fn block(&mut self) -> Result<(Vec<Node>, End<'a>), String> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.next() {
            let (action, line) = match piece {
                Piece::Text(text) => {
                    nodes.push(Node::Text(text));
                    continue;
                }
                Piece::Action(action, line) => (action, line),
            };
            let at_line = |problem: String| format!("line {line}: {problem}");
            let (word, rest) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
            match word {
                "end" | "else" => return Ok((nodes, Some((action, line)))),
                "if" | "with" => nodes.push(self.branch(word, rest, line)?),
                "range" => {
                    let (names, text) = match rest.split_once(":=") {
                        Some((names, text)) if names.trim().starts_with('$') => (
                            names
                                .split(',')
                                .map(|name| name.trim().trim_start_matches('$').to_owned())
                                .collect(),
                            text,
                        ),
                        _ => (Vec::new(), rest),
                    };
                    let pipe = pipe(text).map_err(at_line)?;
                    let (each, none) = self.arms(word, line)?;
                    nodes.push(Node::Range { names, pipe, each, none });
                }
                "define" | "template" | "block" | "break" | "continue" => {
                    return Err(at_line(format!(
                        "`{word}` is not known here; put the text where it is used"
                    )));
                }
                _ => nodes.push(match setting(action) {
                    Some((name, text)) => Node::Set(name.to_owned(), pipe(text).map_err(at_line)?),
                    None => Node::Print(pipe(action).map_err(at_line)?),
                }),
            }
        }
        Ok((nodes, None))
    }

    fn branch(&mut self, word: &str, text: &str, line: usize) -> Result<Node, String> {
        let asked = pipe(text).map_err(|problem| format!("line {line}: {problem}"))?;
        let (then, other) = self.arms(word, line)?;
        Ok(if word == "if" { Node::If(asked, then, other) } else { Node::With(asked, then, other) })
    }

    /// What is done, and what is done otherwise.
    fn arms(&mut self, word: &str, line: usize) -> Result<(Vec<Node>, Vec<Node>), String> {
        let unclosed = || format!("line {line}: `{word}` is not closed with `{{{{ end }}}}`");
        let (then, end) = self.block()?;
        let (end, at) = end.ok_or_else(unclosed)?;
        if end == "end" {
            return Ok((then, Vec::new()));
        }
        let condition = end.trim_start_matches("else").trim();
        if let Some((word, text)) = condition.split_once(char::is_whitespace) {
            return match word {
                "if" | "with" => Ok((then, vec![self.branch(word, text, at)?])),
                _ => Err(format!("line {at}: `{end}` is not understood")),
            };
        }
        let (other, end) = self.block()?;
        match end {
            Some(("end", _)) => Ok((then, other)),
            _ => Err(unclosed()),
        }
    }
}

/// `$name := ..`
fn setting(action: &str) -> Option<(&str, &str)> {
    let (name, text) = action.split_once(":=")?;
    let name = name.trim().strip_prefix('$')?;
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some((name, text))
}

fn pipe(text: &str) -> Result<Pipe, String> {
    let mut words = Words { rest: text.trim() };
    let stages = words.stages(false)?;
    Ok(Pipe { text: text.trim().to_owned(), stages })
}

struct Words<'a> {
    rest: &'a str,
}

impl Words<'_> {
    fn stages(&mut self, is_inner: bool) -> Result<Vec<Vec<Expression>>, String> {
        let mut stages = vec![Vec::new()];
        loop {
            self.rest = self.rest.trim_start();
            let Some(first) = self.rest.chars().next() else {
                return if is_inner {
                    Err("a parenthesis is not closed".to_owned())
                } else {
                    Ok(stages)
                };
            };
            match first {
                '|' => {
                    self.rest = &self.rest[1..];
                    stages.push(Vec::new());
                }
                ')' if is_inner => {
                    self.rest = &self.rest[1..];
                    return Ok(stages);
                }
                _ => {
                    let expression = self.expression(first)?;
                    if let Some(stage) = stages.last_mut() {
                        stage.push(expression);
                    }
                }
            }
        }
    }

    fn expression(&mut self, first: char) -> Result<Expression, String> {
        match first {
            '(' => {
                let text = self.rest;
                self.rest = &self.rest[1..];
                let stages = self.stages(true)?;
                let text = text[..text.len() - self.rest.len()].to_owned();
                Ok(Expression::Pipe(Pipe { text, stages }))
            }
            '`' => {
                let end = self.rest[1..].find('`').ok_or("a quote is not closed")?;
                let text = self.rest[1..=end].to_owned();
                self.rest = &self.rest[end + 2..];
                Ok(Expression::Literal(Json::String(text)))
            }
            '"' => self.quoted(),
            _ => {
                let end =
                    self.rest.find([' ', '\t', '\n', '|', ')', '(']).unwrap_or(self.rest.len());
                let word = &self.rest[..end];
                self.rest = &self.rest[end..];
                plain(word)
            }
        }
    }

    fn quoted(&mut self) -> Result<Expression, String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(Expression::Literal(Json::String(text)));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err("a quote is not closed".to_owned())
    }
}

fn plain(word: &str) -> Result<Expression, String> {
    let path = |text: &str| -> Vec<String> {
        text.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    if let Some(rest) = word.strip_prefix('$') {
        let (name, rest) = rest.split_once('.').unwrap_or((rest, ""));
        return Ok(Expression::Name(name.to_owned(), path(rest)));
    }
    if word.starts_with('.') {
        return Ok(Expression::Dot(path(word)));
    }
    if let Ok(number) = word.parse::<i64>() {
        return Ok(Expression::Literal(number.into()));
    }
    if let Ok(number) = word.parse::<f64>() {
        return Ok(Expression::Literal(number.into()));
    }
    Ok(match word {
        "true" => Expression::Literal(true.into()),
        "false" => Expression::Literal(false.into()),
        "nil" => Expression::Literal(Json::Null),
        name => Expression::Function(name.to_owned()),
    })
}
