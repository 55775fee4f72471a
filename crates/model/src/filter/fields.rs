//! Which fields there are, and of what kind: what is asked of others, or of these in a way that can never
//! hold, is a mistake and not silence.
//!
//! A path is words with dots between them. In paths of fields `*` stands for any name, `#` for any place in a
//! list, and `**`, which is last, for whatever is there and below.

use std::borrow::Cow;

use crate::suggest::{nearest, plain};

/// Of how many fields a mistake names each.
const NAMED_MAX: usize = 24;

/// What the values of a field are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing is known of them.
    Any,
    Text,
    Number,
    Bool,
    /// A moment, as text.
    Time,
    /// A length of time, as text.
    Span,
    /// One of these words.
    OneOf(Vec<String>),
    List,
}

/// A field of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub path: Cow<'static, str>,
    pub kind: Kind,
}

impl Field {
    /// One of which only the path is known.
    pub const fn any(path: &'static str) -> Field {
        Field { path: Cow::Borrowed(path), kind: Kind::Any }
    }

    /// As somebody would write it.
    pub fn example(&self) -> String {
        let words = self.path.split('.').map(|word| match word {
            "*" => "NAME",
            "#" => "0",
            "**" => "…",
            word => word,
        });
        words.collect::<Vec<_>>().join(".")
    }

    fn fit(&self, path: &[String]) -> Fit {
        let mut given = path.iter();
        for word in self.path.split('.') {
            if word == "**" {
                return Fit::Whole;
            }
            match given.next() {
                None => return Fit::Part,
                Some(given) => match word {
                    "*" => {}
                    "#" if given.parse::<usize>().is_ok() => {}
                    word if word == given => {}
                    _ => return Fit::No,
                },
            }
        }
        if given.next().is_some() { Fit::No } else { Fit::Whole }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Whole,
    /// There is more below.
    Part,
    No,
}

/// What there is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<'f> {
    Value(&'f Kind),
    /// No value, but others below it, such as this one.
    Above(&'f Field),
}

/// The fields of documents.
#[derive(Clone, Debug)]
pub struct Fields(pub Cow<'static, [Field]>);

const ANY: &[Field] = &[Field::any("**")];

impl Fields {
    /// Nothing is known: every path is taken.
    pub const ANY: Fields = Fields(Cow::Borrowed(ANY));

    pub(super) fn at(&self, path: &[String]) -> Option<Found<'_>> {
        let value = self.0.iter().find(|field| field.fit(path) == Fit::Whole);
        let above = || self.0.iter().find(|field| field.fit(path) == Fit::Part);
        match value {
            Some(field) => Some(Found::Value(&field.kind)),
            None => above().map(Found::Above),
        }
    }

    /// What to say of a path that is not there.
    pub(super) fn hint(&self, path: &[String]) -> String {
        match self.mended(path).or_else(|| self.elsewhere(path)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("{}; text stands between quotes", self.words()),
        }
    }

    fn words(&self) -> String {
        let all: Vec<String> = self.0.iter().map(Field::example).collect();
        if all.len() <= NAMED_MAX {
            return format!("fields are {}", all.join(", "));
        }
        let mut firsts: Vec<&str> = all.iter().filter_map(|path| path.split('.').next()).collect();
        firsts.dedup();
        format!("fields begin with {}", firsts.join(", "))
    }

    /// The path with each word that is not known replaced by the nearest one there.
    fn mended(&self, path: &[String]) -> Option<String> {
        let mut good: Vec<String> = Vec::with_capacity(path.len());
        for word in path {
            good.push(word.clone());
            if self.at(&good).is_some() {
                continue;
            }
            good.pop();
            let below = self.0.iter().filter(|field| field.fit(&good) == Fit::Part);
            let names = below.filter_map(|field| field.path.split('.').nth(good.len()));
            let meant = nearest(word, names.filter(|name| !matches!(*name, "*" | "#" | "**")))?;
            good.push(meant.to_owned());
        }
        Some(good.join("."))
    }

    /// A field that is called so, but is below another.
    fn elsewhere(&self, path: &[String]) -> Option<String> {
        let last = plain(path.last()?);
        let called_so = self.0.iter().filter(|field| {
            !field.path.contains(['*', '#'])
                && field.path.rsplit('.').next().is_some_and(|name| plain(name) == last)
        });
        let shortest = called_so.min_by_key(|field| field.path.split('.').count())?;
        Some(shortest.path.to_string())
    }
}
