//! From words to an expression, by descent; how deep is bounded, so a filter cannot exhaust the stack.

use regex::RegexBuilder;

use super::fields::{Found, Kind};
use super::lex::{Token, lex};
use super::{
    Comparison, DEPTH_MAX, Expr, Fields, Inner, Literal, Mistake, Operand, PARTS_MAX,
    REGEX_DEPTH_MAX, REGEX_MAX, REGEXES_MAX, kinds,
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
            let within = self.within(left, start)?;
            return Ok(if is_negated { Expr::Not(Box::new(within)) } else { within });
        }
        if is_negated {
            return Err(self.wrong("`in` was expected after `not`", "x not in [\"a\", \"b\"]"));
        }
        if self.takes("=~") {
            self.check_text(&left, at)?;
            return Ok(Expr::Matches(left, self.regex()?));
        }
        if self.takes("!~") {
            self.check_text(&left, at)?;
            return Ok(Expr::Not(Box::new(Expr::Matches(left, self.regex()?))));
        }
        let Some(comparison) = self.comparison() else {
            self.check_alone(&left, start)?;
            return match left {
                Operand::Literal(Literal::Bool(_)) | Operand::Path(_) | Operand::Length(_) => {
                    Ok(Expr::Is(left))
                }
                Operand::Literal(_) => {
                    let words = "this value is compared with nothing";
                    Err(self.wrong_at(start, words, "write a comparison: kind == \"task.failed\""))
                }
            };
        };
        let end = self.offset();
        let right = self.operand()?;
        self.check(&left, comparison, &right, at)?;
        self.fitted(left, start, comparison, right, end)
    }

    /// One of several values, each of a form that the field can have.
    fn within(&mut self, left: Operand, start: usize) -> Parsed<Expr> {
        let kind = self.kind_of(&left).cloned();
        self.expect("[")?;
        let (mut list, mut is_length) = (Vec::new(), false);
        while !self.takes("]") {
            self.count()?;
            let at = self.offset();
            let literal = self.literal()?;
            match (&kind, &left) {
                (Some(Kind::List), Operand::Path(path)) => {
                    let words = format!("`{}` is a list", path.join("."));
                    return Err(self.wrong_at(start, words, "ask `contains`"));
                }
                (Some(kind), Operand::Path(path)) => {
                    let fitted = kinds::fitted(path, kind, Comparison::Equal, literal);
                    let fitted = fitted.map_err(|(words, hint)| self.wrong_at(at, words, &hint))?;
                    is_length |= fitted.is_length;
                    list.push(fitted.literal);
                }
                _ => list.push(literal),
            }
            if !self.takes(",") {
                self.expect("]")?;
                break;
            }
        }
        Ok(Expr::In(if is_length { kinds::length_of(left) } else { left }, list))
    }

    /// A comparison of a field with a value, in the form that the field has; of two fields as they are.
    fn fitted(
        &self,
        left: Operand,
        start: usize,
        comparison: Comparison,
        right: Operand,
        end: usize,
    ) -> Parsed<Expr> {
        let fit = |path: &[String], kind: &Kind, literal, at| {
            let fitted = kinds::fitted(path, kind, comparison, literal);
            fitted.map_err(|(words, hint)| self.wrong_at(at, words, &hint))
        };
        let (left_kind, right_kind) = (self.kind_of(&left), self.kind_of(&right));
        Ok(match (left, left_kind, right, right_kind) {
            (Operand::Path(path), Some(kind), Operand::Literal(literal), _) => {
                let fitted = fit(&path, kind, literal, end)?;
                let path = Operand::Path(path);
                let left = if fitted.is_length { kinds::length_of(path) } else { path };
                Expr::Compare(left, comparison, Operand::Literal(fitted.literal))
            }
            (Operand::Literal(literal), _, Operand::Path(path), Some(kind)) => {
                let fitted = fit(&path, kind, literal, start)?;
                let path = Operand::Path(path);
                let right = if fitted.is_length { kinds::length_of(path) } else { path };
                Expr::Compare(Operand::Literal(fitted.literal), comparison, right)
            }
            (left, Some(Kind::Span), right, Some(Kind::Span)) => {
                Expr::Compare(kinds::length_of(left), comparison, kinds::length_of(right))
            }
            (left, _, right, _) => Expr::Compare(left, comparison, right),
        })
    }

    fn kind_of(&self, operand: &Operand) -> Option<&Kind> {
        let Operand::Path(path) = operand else { return None };
        match self.fields.at(path)? {
            Found::Value(kind) => Some(kind),
            Found::Above(_) => None,
        }
    }

    fn check_text(&self, left: &Operand, at: usize) -> Parsed<()> {
        match self.kind_of(left).is_none_or(kinds::is_text) {
            true => Ok(()),
            false => Err(self.wrong_at(at, "regular expressions are for text", "")),
        }
    }

    fn check_alone(&self, left: &Operand, at: usize) -> Parsed<()> {
        match (left, self.kind_of(left)) {
            (_, None | Some(Kind::Any | Kind::Bool)) | (Operand::Literal(_), _) => Ok(()),
            (Operand::Path(path) | Operand::Length(path), Some(_)) => {
                let hint = format!("compare it, or ask has({})", path.join("."));
                Err(self.wrong_at(at, "this field is neither true nor false", &hint))
            }
        }
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
                let start = self.offset();
                let path = self.path()?;
                match self.fields.at(&path) {
                    Some(Found::Above(field)) => {
                        let words = format!("`{}` is not a value", path.join("."));
                        let hint =
                            format!("there are others below it, such as {}", field.example());
                        Err(self.wrong_at(start, words, &hint))
                    }
                    _ => Ok(Operand::Path(path)),
                }
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
        if self.fields.at(&path).is_none() {
            let words = format!("there is no field `{}`", path.join("."));
            return Err(self.wrong_at(start, words, &self.fields.hint(&path)));
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
}

fn single(mut list: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    match list.len() {
        1 => list.remove(0),
        _ => join(list),
    }
}
