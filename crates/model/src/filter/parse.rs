//! From words to an expression, by descent; how deep is bounded, so a filter cannot exhaust the stack.

use regex::RegexBuilder;

use super::lex::{Token, lex};
use super::{
    Comparison, DEPTH_MAX, Expr, Fields, Inner, Literal, Mistake, Operand, PARTS_MAX,
    REGEX_DEPTH_MAX, REGEX_MAX, REGEXES_MAX,
};
use crate::suggest::nearest;

const WORDS: &[&str] =
    &["and", "or", "not", "in", "has", "startsWith", "endsWith", "contains", "true", "false"];

pub(super) fn parse(text: &str, fields: &Fields, inner: Inner<'_>) -> Result<Expr, Mistake> {
    parse_boxed(text, fields, inner).map_err(|mistake| *mistake)
}

fn parse_boxed(text: &str, fields: &Fields, inner: Inner<'_>) -> Result<Expr, Box<Mistake>> {
    let tokens = lex(text)?;
    let mut parser =
        Parser { text, fields, inner, tokens, next: 0, parts: 0, depth: 0, regexes: 0 };
    if parser.peek() == &Token::End {
        let hint = "leave the filter out to take everything";
        return Err(parser.wrong("there is nothing here", hint));
    }
    let root = parser.or()?;
    match parser.peek() {
        Token::End => Ok(root),
        other => {
            let words = format!("{} was not expected here", other.words());
            Err(parser.wrong(words, parser.hint_between()))
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    fields: &'t Fields,
    inner: Inner<'t>,
    tokens: Vec<(Token, usize)>,
    next: usize,
    parts: usize,
    depth: usize,
    regexes: usize,
}

type Parsed<T> = Result<T, Box<Mistake>>;

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn offset(&self) -> usize {
        self.tokens[self.next].1
    }

    /// The last one is the end, which stays.
    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_it = matches!(self.peek(), Token::Sign(given) if *given == sign);
        if is_it {
            self.take();
        }
        is_it
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_it = matches!(self.peek(), Token::Word(given) if given == word);
        if is_it {
            self.take();
        }
        is_it
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        match self.takes(sign) {
            true => Ok(()),
            false => {
                let words = format!("`{sign}` was expected, not {}", self.peek().words());
                Err(self.wrong(words, ""))
            }
        }
    }

    fn wrong(&self, detail: impl Into<String>, hint: impl Into<String>) -> Box<Mistake> {
        Mistake::new(self.text, self.offset(), detail, hint)
    }

    fn wrong_at(&self, at: usize, detail: impl Into<String>, hint: &str) -> Box<Mistake> {
        Mistake::new(self.text, at, detail, hint)
    }

    fn hint_between(&self) -> String {
        match self.peek() {
            Token::Word(word) => match nearest(word, WORDS.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "join conditions with `and` or `or`; text stands between quotes".to_owned(),
            },
            _ => "join conditions with `and` or `or`".to_owned(),
        }
    }

    fn count(&mut self) -> Parsed<()> {
        self.parts += 1;
        match self.parts > PARTS_MAX {
            true => Err(self.wrong(format!("a filter has at most {PARTS_MAX} parts"), "")),
            false => Ok(()),
        }
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let words = format!("parentheses and `not` go at most {DEPTH_MAX} deep");
            return Err(self.wrong(words, ""));
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn or(&mut self) -> Parsed<Expr> {
        let mut any = vec![self.and()?];
        while self.takes_word("or") || self.takes("||") {
            any.push(self.and()?);
        }
        Ok(single(any, Expr::Or))
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut all = vec![self.not()?];
        while self.takes_word("and") || self.takes("&&") {
            all.push(self.not()?);
        }
        Ok(single(all, Expr::And))
    }

    fn not(&mut self) -> Parsed<Expr> {
        if self.takes_word("not") || self.takes("!") {
            self.count()?;
            return Ok(Expr::Not(Box::new(self.deeper(Parser::not)?)));
        }
        self.condition()
    }

    fn condition(&mut self) -> Parsed<Expr> {
        self.count()?;
        if self.takes("(") {
            let inner = self.deeper(Parser::or)?;
            self.expect(")")?;
            return Ok(inner);
        }
        let is_has = matches!(self.peek(), Token::Word(word) if word == "has");
        if is_has && matches!(self.tokens.get(self.next + 1), Some((Token::Sign("("), _))) {
            self.take();
            self.take();
            let path = self.path()?;
            self.expect(")")?;
            return Ok(Expr::Has(path));
        }
        let start = self.offset();
        let left = self.operand()?;
        let at = self.offset();
        let is_negated = self.takes_word("not");
        if self.takes_word("in") {
            let within = Expr::In(left, self.list()?);
            return Ok(if is_negated { Expr::Not(Box::new(within)) } else { within });
        }
        if is_negated {
            return Err(self.wrong("`in` was expected after `not`", "x not in [\"a\", \"b\"]"));
        }
        if self.takes("=~") {
            return Ok(Expr::Matches(left, self.regex()?));
        }
        if self.takes("!~") {
            return Ok(Expr::Not(Box::new(Expr::Matches(left, self.regex()?))));
        }
        let Some(comparison) = self.comparison() else {
            return match left {
                Operand::Literal(Literal::Bool(_)) | Operand::Path(_) => Ok(Expr::Is(left)),
                Operand::Literal(_) => {
                    let words = "this value is compared with nothing";
                    Err(self.wrong_at(start, words, "write a comparison: kind == \"task.failed\""))
                }
            };
        };
        let right = self.operand()?;
        self.check(&left, comparison, &right, at)?;
        Ok(Expr::Compare(left, comparison, right))
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let found = match self.peek() {
            Token::Sign("==") => Comparison::Equal,
            Token::Sign("!=") => Comparison::Unequal,
            Token::Sign("<") => Comparison::Less,
            Token::Sign("<=") => Comparison::LessOrEqual,
            Token::Sign(">") => Comparison::Greater,
            Token::Sign(">=") => Comparison::GreaterOrEqual,
            Token::Word(word) => match word.as_str() {
                "startsWith" => Comparison::StartsWith,
                "endsWith" => Comparison::EndsWith,
                "contains" => Comparison::Contains,
                _ => return None,
            },
            _ => return None,
        };
        self.take();
        Some(found)
    }

    /// What can never hold is a mistake.
    fn check(
        &self,
        left: &Operand,
        comparison: Comparison,
        right: &Operand,
        at: usize,
    ) -> Parsed<()> {
        let is_order = matches!(
            comparison,
            Comparison::Less
                | Comparison::LessOrEqual
                | Comparison::Greater
                | Comparison::GreaterOrEqual
        );
        let is_part = matches!(comparison, Comparison::StartsWith | Comparison::EndsWith);
        for operand in [left, right] {
            let Operand::Literal(literal) = operand else { continue };
            let is_text = matches!(literal, Literal::Text(_));
            if is_order && !is_text && !matches!(literal, Literal::Number(_)) {
                return Err(self.wrong_at(at, "only numbers and text have an order", ""));
            }
            if is_part && !is_text {
                return Err(self.wrong_at(at, "only text begins or ends with something", ""));
            }
        }
        Ok(())
    }

    fn operand(&mut self) -> Parsed<Operand> {
        match self.peek() {
            Token::Word(word) if !matches!(word.as_str(), "true" | "false" | "null") => {
                Ok(Operand::Path(self.path()?))
            }
            _ => Ok(Operand::Literal(self.literal()?)),
        }
    }

    fn literal(&mut self) -> Parsed<Literal> {
        let literal = match self.peek() {
            Token::Text(text) => Literal::Text(text.clone()),
            Token::Number(number) => Literal::Number(*number),
            Token::Word(word) if word == "true" => Literal::Bool(true),
            Token::Word(word) if word == "false" => Literal::Bool(false),
            Token::Word(word) if word == "null" => Literal::Null,
            Token::Word(word) => {
                let hint = format!("text stands between quotes: \"{word}\"");
                return Err(self.wrong("a value was expected here", hint));
            }
            other => {
                let words = format!("a field or a value was expected, not {}", other.words());
                return Err(self.wrong(words, ""));
            }
        };
        self.take();
        Ok(literal)
    }

    fn list(&mut self) -> Parsed<Vec<Literal>> {
        self.expect("[")?;
        let mut list = Vec::new();
        while !self.takes("]") {
            self.count()?;
            list.push(self.literal()?);
            if !self.takes(",") {
                self.expect("]")?;
                break;
            }
        }
        Ok(list)
    }

    fn regex(&mut self) -> Parsed<regex::Regex> {
        let at = self.offset();
        let Token::Text(pattern) = self.peek().clone() else {
            let hint = "name =~ \"^web-[0-9]+$\"";
            return Err(self.wrong("a regular expression in quotes was expected", hint));
        };
        self.take();
        self.regexes += 1;
        if self.regexes > REGEXES_MAX {
            let words = format!("a filter has at most {REGEXES_MAX} regular expressions");
            return Err(self.wrong_at(at, words, "join some of them with `|`"));
        }
        let built = RegexBuilder::new(&pattern)
            .size_limit(REGEX_MAX)
            .dfa_size_limit(REGEX_MAX)
            .nest_limit(REGEX_DEPTH_MAX)
            .build();
        built.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => self.wrong_at(
                at,
                crate::pattern_mistake(&error),
                "repeat less: a{1,100} within (...){1,100} is ten thousand",
            ),
            error => self.wrong_at(
                at,
                crate::pattern_mistake(&error),
                "neither look-around nor back-references are supported",
            ),
        })
    }

    fn path(&mut self) -> Parsed<Vec<String>> {
        let start = self.offset();
        let mut path = Vec::new();
        match self.take() {
            Token::Word(word) => path.push(word),
            other => {
                let words = format!("a field was expected, not {}", other.words());
                return Err(self.wrong_at(start, words, "such as object.kind"));
            }
        }
        loop {
            if self.takes(".") {
                let at = self.offset();
                match self.take() {
                    Token::Word(word) => path.push(word),
                    Token::Number(number) if number >= 0.0 && number.fract() == 0.0 => {
                        path.push(number.to_string());
                    }
                    other => {
                        let words = format!("a name was expected, not {}", other.words());
                        let hint = "other names stand in brackets: labels[\"zone.name\"]";
                        return Err(self.wrong_at(at, words, hint));
                    }
                }
            } else if self.takes("[") {
                let at = self.offset();
                match self.take() {
                    Token::Text(text) => path.push(text),
                    Token::Number(number) if number >= 0.0 && number.fract() == 0.0 => {
                        path.push(number.to_string());
                    }
                    other => {
                        let words = format!("a name in quotes was expected, not {}", other.words());
                        return Err(self.wrong_at(at, words, "labels[\"zone.name\"]"));
                    }
                }
                self.expect("]")?;
            } else {
                break;
            }
        }
        if !self.fields.has(&path) {
            return Err(self.unknown(&path, start));
        }
        self.check_inner(&path, start)?;
        Ok(path)
    }

    fn check_inner(&self, path: &[String], at: usize) -> Parsed<()> {
        let (Some(names), [open, name, ..]) = (self.inner.names, path) else { return Ok(()) };
        if open != self.inner.open || names.contains(name) {
            return Ok(());
        }
        let hint = match nearest(name, names.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{open}.{meant}`?"),
            None => format!("below `{open}` there are {}", names.join(", ")),
        };
        Err(Mistake::new(self.text, at, format!("there is no field `{open}.{name}`"), hint))
    }

    fn unknown(&self, path: &[String], at: usize) -> Box<Mistake> {
        let given = path.join(".");
        let known = self.fields.paths;
        let open = self.fields.open;
        let first = path.first().map(String::as_str).unwrap_or_default();
        let hint = match nearest(&given, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => match nearest(first, open.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => {
                    let fields: Vec<String> = known
                        .iter()
                        .map(|path| (*path).to_owned())
                        .chain(open.iter().map(|open| format!("{open}.…")))
                        .collect();
                    format!("fields are {}; text stands between quotes", fields.join(", "))
                }
            },
        };
        Mistake::new(self.text, at, format!("there is no field `{given}`"), hint)
    }
}

fn single(mut list: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    match list.len() {
        1 => list.remove(0),
        _ => join(list),
    }
}
