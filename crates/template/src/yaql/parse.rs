//! From words to a tree, by how tightly operators bind.
//!
//! How deep the tree is gets counted while it is built, also along chains such as `a.b.c` that are not nested
//! in the text, so that nothing that walks it can run out of stack.

use super::DEPTH_MAX;
use super::lex::{Token, lex};
use super::library::{self, Builtin, Shape};
use super::tree::{Call, Infix, Prefix, Tree};

pub(super) fn parse(text: &str) -> Result<Tree, String> {
    let tokens = lex(text)?;
    let mut parser = Parser { text, tokens, next: 0, depth: 0 };
    let (tree, _) = parser.expression(0)?;
    match parser.peek() {
        Token::End => Ok(tree),
        _ => Err(parser.unexpected()),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, usize)>,
    next: usize,
    /// How many calls of [`Parser::expression`] are under way.
    depth: usize,
}

/// A tree with its depth.
type Deep = (Tree, usize);

/// What stands between the parentheses of a call.
type Arguments = (Vec<Tree>, Vec<(Tree, Tree)>, usize);

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
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

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        match self.takes(sign) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn unexpected(&self) -> String {
        let (token, at) = &self.tokens[self.next];
        let shown = match token {
            Token::End => return "Parse error: unexpected end of statement".to_owned(),
            Token::Whole(whole) => whole.to_string(),
            Token::Real(real) => real.to_string(),
            Token::Text(text) | Token::Call(text) | Token::Word(text) => text.clone(),
            Token::Variable(name) if name == "1" => "$".to_owned(),
            Token::Variable(name) => format!("${name}"),
            Token::Sign(sign) => (*sign).to_owned(),
        };
        let text = self.text;
        format!("Parse error: unexpected '{shown}' at position {at} of expression '{text}'")
    }

    fn too_deep() -> String {
        format!("The expression is more than {DEPTH_MAX} levels deep")
    }

    fn deeper(depth: usize) -> Result<usize, String> {
        match depth >= DEPTH_MAX {
            true => Err(Parser::too_deep()),
            false => Ok(depth + 1),
        }
    }

    /// Everything that binds at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Deep, String> {
        self.depth = Parser::deeper(self.depth)?;
        let (mut left, mut depth) = self.prefixed()?;
        while let Some(infix) = self.infix() {
            let power = infix.power();
            if power < least {
                break;
            }
            self.take();
            let right_power = if infix == Infix::Send { power } else { power + 1 };
            let (right, right_depth) = self.expression(right_power)?;
            depth = Parser::deeper(depth.max(right_depth))?;
            left = Tree::Binary(infix, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok((left, depth))
    }

    fn infix(&self) -> Option<Infix> {
        Some(match self.peek() {
            Token::Sign(sign) => match *sign {
                "=~" => Infix::Matches,
                "!~" => Infix::MatchesNot,
                "*" => Infix::Times,
                "/" => Infix::Over,
                "+" => Infix::Plus,
                "-" => Infix::Minus,
                ">" => Infix::Greater,
                "<" => Infix::Less,
                ">=" => Infix::GreaterOrEqual,
                "<=" => Infix::LessOrEqual,
                "!=" => Infix::NotEqual,
                "=" => Infix::Equal,
                "->" => Infix::Send,
                _ => return None,
            },
            Token::Word(word) => match word.as_str() {
                "mod" => Infix::Modulo,
                "in" => Infix::In,
                "and" => Infix::And,
                "or" => Infix::Or,
                _ => return None,
            },
            _ => return None,
        })
    }

    fn prefixed(&mut self) -> Result<Deep, String> {
        let prefix = match self.peek() {
            Token::Sign("+") => Prefix::Plus,
            Token::Sign("-") => Prefix::Minus,
            Token::Word(word) if word == "not" => Prefix::Not,
            _ => return self.postfixed(),
        };
        self.take();
        let (tree, depth) = self.expression(prefix.power())?;
        Ok((Tree::Unary(prefix, Box::new(tree)), Parser::deeper(depth)?))
    }

    /// A value, and everything that is asked of it: `.a`, `.b()`, `[0]`.
    fn postfixed(&mut self) -> Result<Deep, String> {
        let (mut tree, mut depth) = self.value()?;
        loop {
            if self.takes("[") {
                let (arguments, named, deepest) = self.arguments("]")?;
                if !named.is_empty() || arguments.is_empty() {
                    return Err("An index is one value, or one and a default".to_owned());
                }
                depth = Parser::deeper(depth.max(deepest))?;
                tree = Tree::Index(Box::new(tree), arguments);
                continue;
            }
            let is_safe = self.takes("?.");
            if !is_safe && !self.takes(".") {
                return Ok((tree, depth));
            }
            let of = Box::new(tree);
            match self.peek().clone() {
                Token::Word(name) => {
                    self.take();
                    tree = Tree::Member { of, name, is_safe };
                }
                Token::Call(name) => {
                    let builtin = find(&name, true)?;
                    self.take();
                    let (arguments, named, deepest) = self.arguments(")")?;
                    depth = depth.max(deepest);
                    tree = Tree::Method { of, call: Call { builtin, arguments, named }, is_safe };
                }
                _ => return Err(self.unexpected()),
            }
            depth = Parser::deeper(depth)?;
        }
    }

    fn value(&mut self) -> Result<Deep, String> {
        let tree = match self.peek().clone() {
            Token::Whole(whole) => Tree::Whole(whole),
            Token::Real(real) => Tree::Real(real),
            Token::Text(text) => Tree::Text(text),
            Token::Variable(name) => Tree::Variable(name),
            Token::Word(word) => match word.as_str() {
                "true" => Tree::Bool(true),
                "false" => Tree::Bool(false),
                "null" => Tree::Null,
                "and" | "or" | "in" | "mod" => return Err(self.unexpected()),
                _ => Tree::Word(word),
            },
            Token::Call(name) => {
                let builtin = find(&name, false)?;
                self.take();
                let (arguments, named, depth) = self.arguments(")")?;
                let call = Call { builtin, arguments, named };
                return Ok((Tree::Function(call), Parser::deeper(depth)?));
            }
            Token::Sign("(") => {
                self.take();
                let inner = self.expression(0)?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Sign("[") => {
                self.take();
                let (items, named, depth) = self.arguments("]")?;
                if !named.is_empty() {
                    return Err("A list has no names; write a map between { and }".to_owned());
                }
                return Ok((Tree::List(items), Parser::deeper(depth)?));
            }
            Token::Sign("{") => {
                self.take();
                let (items, named, depth) = self.arguments("}")?;
                if !items.is_empty() {
                    return Err("Between { and } there are pairs: key => value".to_owned());
                }
                return Ok((Tree::Dict(named), Parser::deeper(depth)?));
            }
            Token::Sign(_) | Token::End => return Err(self.unexpected()),
        };
        self.take();
        Ok((tree, 1))
    }

    /// Values, then pairs, up to the closing sign; and how deep the deepest of them is.
    fn arguments(&mut self, closing: &str) -> Result<Arguments, String> {
        let (mut plain, mut named, mut deepest) = (Vec::new(), Vec::new(), 0);
        if self.takes(closing) {
            return Ok((plain, named, deepest));
        }
        loop {
            let (tree, depth) = self.expression(0)?;
            deepest = deepest.max(depth);
            if self.takes("=>") {
                let (value, depth) = self.expression(0)?;
                deepest = deepest.max(depth);
                named.push((tree, value));
            } else if named.is_empty() {
                plain.push(tree);
            } else {
                return Err(self.unexpected());
            }
            if self.takes(closing) {
                return Ok((plain, named, deepest));
            }
            self.expect(",")?;
        }
    }
}

/// A function by its name, when it can be called like this.
fn find(name: &str, is_method: bool) -> Result<&'static Builtin, String> {
    let mut named = library::named(name).peekable();
    if named.peek().is_none() {
        return Err(match library::is_beyond(name) {
            true => format!("The yaql function \"{name}\" is not supported here"),
            false => {
                let near = hostler_model::suggest::nearest(name, library::names());
                let hint = near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
                format!("Unknown function \"{name}\"{hint}")
            }
        });
    }
    let fits = |builtin: &&Builtin| match builtin.shape {
        Shape::Both => true,
        Shape::Method => is_method,
        Shape::Function => !is_method,
    };
    named.find(fits).ok_or_else(|| match is_method {
        true => format!("\"{name}\" is a function and no method: write {name}(..)"),
        false => format!("\"{name}\" is a method and no function: write x.{name}(..)"),
    })
}
