//! What is wrong with a template or an environment.
//!
//! Everything is said at once. The first of several is the one that a client is told as *the* error of a
//! request ([`Diagnostics::first`], [`Diagnostic::api_message`]); people are shown all of them, each with its
//! file, line and column, the line itself, a caret, and what was probably meant.

use std::fmt;

use serde::Serialize;

use crate::place::{Path, Place};

/// More than this in one text help nobody.
pub const MOST: usize = 500;

/// Something wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    pub fault: Fault,
    /// How the file is called; empty until it is known.
    pub file: String,
    /// The path of the value, as in `resources.server.properties.flavor`; empty when the whole is meant.
    pub path: String,
    pub place: Option<Place>,
    /// The words of the interface, without path.
    pub message: String,
    /// What to do about it, or what was probably meant.
    pub hint: Option<String>,
    /// The line of the file, for people to see.
    #[serde(skip)]
    pub text: Option<String>,
}

/// What kind of wrong it is. Each is known to clients by a name ([`Fault::heat_type`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The value at the path does not hold; clients are told the path.
    ValidationFailed,
    /// The shape of the template is wrong; clients are told the message alone.
    StructureInvalid,
    /// What the template says of groups of parameters does not hold.
    GroupInvalid,
    /// An output is not one.
    OutputInvalid,
    /// A property does not hold against the schema of its resource type.
    PropertyInvalid,
    TypeUnknown,
    InvalidReference,
    CircularDependency,
    /// A resource that was there before depends on another one.
    ExternalDependency,
    /// A parameter is declared wrongly.
    InvalidSchema,
    InvalidVersion,
    /// The text is not a template, or not an environment, at all.
    InvalidFormat,
    ParameterMissing,
    ParameterUnknown,
    /// The value of a parameter does not hold.
    ParameterInvalid,
    ImmutableParameter,
    /// A way of merging that parameters of this type do not have.
    MergeInvalid,
    /// Two files want the same parameter merged in different ways.
    MergeConflict,
    HookInvalid,
    RestrictionInvalid,
    /// A file is referred to that was not sent along.
    FileMissing,
    LimitExceeded,
    /// Nothing is refused for it.
    Warning,
}

impl Fault {
    /// The `type` of an error in the API.
    pub fn heat_type(self) -> &'static str {
        match self {
            Fault::ValidationFailed
            | Fault::StructureInvalid
            | Fault::GroupInvalid
            | Fault::OutputInvalid
            | Fault::PropertyInvalid
            | Fault::TypeUnknown
            | Fault::ParameterInvalid
            | Fault::FileMissing
            | Fault::Warning => "StackValidationFailed",
            Fault::InvalidReference => "InvalidTemplateReference",
            Fault::ExternalDependency => "InvalidExternalResourceDependency",
            Fault::CircularDependency => "CircularDependencyException",
            Fault::InvalidSchema => "InvalidSchemaError",
            Fault::InvalidVersion => "InvalidTemplateVersion",
            Fault::InvalidFormat => "HTTPBadRequest",
            Fault::ParameterMissing => "UserParameterMissing",
            Fault::ParameterUnknown => "UnknownUserParameter",
            Fault::ImmutableParameter => "ImmutableParameterModified",
            Fault::MergeInvalid => "InvalidMergeStrategyForParam",
            Fault::MergeConflict => "ConflictingMergeStrategyForParam",
            Fault::HookInvalid => "InvalidBreakPointHook",
            Fault::RestrictionInvalid => "InvalidRestrictedAction",
            Fault::LimitExceeded => "RequestLimitExceeded",
        }
    }
}

impl Diagnostic {
    pub fn new(fault: Fault, path: &Path, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            fault,
            file: String::new(),
            path: path.to_string(),
            place: None,
            message: message.into(),
            hint: None,
            text: None,
        }
    }

    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Diagnostic {
        self.place = place;
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        let hint = hint.into();
        self.hint = Some(hint).filter(|hint| !hint.is_empty());
        self
    }

    /// Hints at the known word that is nearest to the given one, when one is near.
    #[must_use]
    pub fn meant<'a>(self, given: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        match hostler_model::suggest::nearest(given, known) {
            Some(word) => self.hint(format!("did you mean `{word}`?")),
            None => self,
        }
    }

    /// The `message` of an error in the API.
    pub fn api_message(&self) -> String {
        let Diagnostic { path, message, .. } = self;
        match self.fault {
            Fault::PropertyInvalid => format!("Property error: : {path}: : {message}"),
            Fault::GroupInvalid => format!("Parameter Groups error: : {path}: : {message}"),
            Fault::OutputInvalid => format!("Output validation error: : {path}: : {message}"),
            Fault::ValidationFailed if !path.is_empty() => format!("{path}: : {message}"),
            _ => message.clone(),
        }
    }

    fn headline(&self) -> String {
        let mut out = String::new();
        if !self.file.is_empty() {
            out.push_str(&self.file);
            out.push(':');
        }
        if let Some(place) = self.place {
            out.push_str(&format!("{}:{}:", place.line, place.column));
        }
        if !out.is_empty() {
            out.push(' ');
        }
        if self.fault == Fault::Warning {
            out.push_str("warning: ");
        }
        if !self.path.is_empty() {
            out.push_str(&format!("{}: ", self.path));
        }
        out + &self.message
    }
}

/// Longer lines are shown in part, around the column that matters.
const SHOWN: usize = 100;

/// `file:line:column: path: message`, the line with a caret below it, and the hint.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        if let (Some(text), Some(place)) = (&self.text, self.place) {
            let column = usize::try_from(place.column).unwrap_or(usize::MAX);
            let chars: Vec<char> =
                text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let at = column.saturating_sub(1).min(chars.len());
            let from = if chars.len() > SHOWN { at.saturating_sub(SHOWN / 2) } else { 0 };
            let shown: String = chars.iter().skip(from).take(SHOWN).collect();
            let number = place.line.to_string();
            let margin = " ".repeat(number.len());
            write!(f, "\n {margin} |\n {number} | {}", shown.trim_end())?;
            write!(f, "\n {margin} | {}^", " ".repeat(at - from))?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong, in the order in which it is to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Beyond [`MOST`] nothing is kept.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.0.len() < MOST {
            self.0.push(diagnostic);
        }
    }

    pub fn extend(&mut self, more: Diagnostics) {
        for diagnostic in more.0 {
            self.push(diagnostic);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Those that are of this sort are no obstacle any more.
    #[must_use]
    pub(crate) fn eased(mut self, is_eased: impl Fn(&Diagnostic) -> bool) -> Diagnostics {
        self.0.iter_mut().filter(|one| is_eased(one)).for_each(|one| one.fault = Fault::Warning);
        self
    }

    /// What is no obstacle.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter().filter(|one| one.fault == Fault::Warning)
    }

    /// What a request is refused with.
    pub fn first(&self) -> Option<&Diagnostic> {
        self.0.iter().find(|found| found.fault != Fault::Warning).or(self.0.first())
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Says of those that do not know it yet in which file they are, and shows its lines.
    #[must_use]
    pub fn in_file(mut self, name: &str, text: Option<&str>) -> Diagnostics {
        if self.0.iter().all(|found| !found.file.is_empty()) {
            return self;
        }
        let lines: Vec<&str> = text.map(|text| text.lines().collect()).unwrap_or_default();
        for found in self.0.iter_mut().filter(|found| found.file.is_empty()) {
            name.clone_into(&mut found.file);
            let before = found.place.and_then(|place| place.line.checked_sub(1));
            let line = before.and_then(|before| lines.get(usize::try_from(before).ok()?));
            found.text = line.map(|line| (*line).to_owned());
        }
        self
    }

    /// The value, when nothing is wrong; warnings are no obstacle.
    pub fn or<T>(self, value: T) -> Result<T, Diagnostics> {
        match self.0.iter().all(|found| found.fault == Fault::Warning) {
            true => Ok(value),
            false => Err(self),
        }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, diagnostic) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n\n")?;
            }
            diagnostic.fmt(f)?;
        }
        Ok(())
    }
}
