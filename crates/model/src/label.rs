//! `labels!`: an enum whose variants are known to the outside by a fixed lowercase label.
//!
//! The label is what is stored in SQL, sent over the wire, printed by the CLI and written in
//! documents, so it is never renamed. Unknown labels are errors that list the known ones.

/// Error of parsing a label.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{given}`; expected one of: {expected}")]
pub struct UnknownLabel {
    pub what: &'static str,
    pub given: String,
    pub expected: String,
}

/// Declares a field-less enum with labels, `ALL`, `label()`, `FromStr`, `Display`, serde and JSON schema.
#[macro_export]
macro_rules! labels {
    ($(#[$meta:meta])* $vis:vis enum $name:ident ($what:literal) { $($(#[$vmeta:meta])* $variant:ident = $label:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $vis enum $name { $($(#[$vmeta])* #[serde(rename = $label)] $variant,)+ }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];
            /// The stored and printed form; never renamed.
            pub const fn label(self) -> &'static str {
                match self { $($name::$variant => $label,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.pad(self.label()) }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::label::UnknownLabel;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|v| v.label() == text).ok_or_else(|| $crate::label::UnknownLabel {
                    what: $what,
                    given: text.chars().take(64).collect(),
                    expected: Self::ALL.iter().map(|v| v.label()).collect::<Vec<_>>().join(", "),
                })
            }
        }
    };
}
