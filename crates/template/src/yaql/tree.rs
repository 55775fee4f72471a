//! An expression that was read.

use super::library::Builtin;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Whole(i128),
    Real(f64),
    Text(String),
    /// A bare word, which is a text: `{a => 1}`.
    Word(String),
    /// `$`, which is `$1`, and `$name`.
    Variable(String),
    List(Vec<Tree>),
    Dict(Vec<(Tree, Tree)>),
    Index(Box<Tree>, Vec<Tree>),
    /// `a.b`; `?.` gives nothing where `a` is nothing.
    Member {
        of: Box<Tree>,
        name: String,
        is_safe: bool,
    },
    Method {
        of: Box<Tree>,
        call: Call,
        is_safe: bool,
    },
    Function(Call),
    Unary(Prefix, Box<Tree>),
    Binary(Infix, Box<Tree>, Box<Tree>),
}

/// A builtin with its arguments; those that are named come last.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub builtin: &'static Builtin,
    pub arguments: Vec<Tree>,
    pub named: Vec<(Tree, Tree)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    Plus,
    Minus,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Matches,
    MatchesNot,
    Times,
    Over,
    Modulo,
    Plus,
    Minus,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    NotEqual,
    Equal,
    In,
    And,
    Or,
    /// `let(..) -> ..`
    Send,
}

impl Infix {
    /// How tightly it binds.
    pub fn power(self) -> u8 {
        match self {
            Infix::Matches | Infix::MatchesNot => 60,
            Infix::Times | Infix::Over | Infix::Modulo => 50,
            Infix::Plus | Infix::Minus => 40,
            Infix::Greater
            | Infix::Less
            | Infix::GreaterOrEqual
            | Infix::LessOrEqual
            | Infix::NotEqual
            | Infix::Equal
            | Infix::In => 30,
            Infix::And => 20,
            Infix::Or => 15,
            Infix::Send => 10,
        }
    }

    pub fn sign(self) -> &'static str {
        match self {
            Infix::Matches => "=~",
            Infix::MatchesNot => "!~",
            Infix::Times => "*",
            Infix::Over => "/",
            Infix::Modulo => "mod",
            Infix::Plus => "+",
            Infix::Minus => "-",
            Infix::Greater => ">",
            Infix::Less => "<",
            Infix::GreaterOrEqual => ">=",
            Infix::LessOrEqual => "<=",
            Infix::NotEqual => "!=",
            Infix::Equal => "=",
            Infix::In => "in",
            Infix::And => "and",
            Infix::Or => "or",
            Infix::Send => "->",
        }
    }
}

impl Prefix {
    pub fn power(self) -> u8 {
        match self {
            Prefix::Plus | Prefix::Minus => 70,
            Prefix::Not => 25,
        }
    }

    pub fn sign(self) -> &'static str {
        match self {
            Prefix::Plus => "+",
            Prefix::Minus => "-",
            Prefix::Not => "not",
        }
    }
}
