//! What a word without quotes means in YAML 1.2: nothing, true or false, a number, or a text.
//!
//! Two things are stricter than the standard, because people disagree about them: a number with
//! leading zeros (octal for some readers, decimal for others) and `.inf` and `.nan` (no JSON number)
//! are texts here.

/// A value that is neither list nor mapping, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub text: String,
    /// Without quotes, so that it may be something else than a text.
    pub is_plain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning<'a> {
    Nothing,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(&'a str),
}

impl Scalar {
    pub fn meaning(&self) -> Meaning<'_> {
        if self.is_plain { meaning(&self.text) } else { Meaning::Text(&self.text) }
    }

    pub fn is_nothing(&self) -> bool {
        self.meaning() == Meaning::Nothing
    }
}

/// What a word without quotes means.
pub(crate) fn meaning(word: &str) -> Meaning<'_> {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => Meaning::Nothing,
        "true" | "True" | "TRUE" => Meaning::Bool(true),
        "false" | "False" | "FALSE" => Meaning::Bool(false),
        _ => number(word).unwrap_or(Meaning::Text(word)),
    }
}

fn number(word: &str) -> Option<Meaning<'_>> {
    let (radix, digits) = match word.get(..2) {
        Some("0x") => (16, &word[2..]),
        Some("0o") => (8, &word[2..]),
        _ => (10, word),
    };
    if radix != 10 {
        let is_digits = digits.chars().all(|c| c.is_digit(radix));
        let value = u64::from_str_radix(digits, radix).ok().filter(|_| is_digits)?;
        return Some(Meaning::Unsigned(value));
    }
    let body = word.strip_prefix(['-', '+']).unwrap_or(word);
    let whole = body.bytes().take_while(u8::is_ascii_digit).count();
    if whole > 1 && body.starts_with('0') {
        return None;
    }
    if whole > 0 && whole == body.len() {
        return match word.strip_prefix('+').unwrap_or(word).parse::<u64>() {
            Ok(value) => Some(Meaning::Unsigned(value)),
            Err(_) => word.parse::<i64>().ok().map(Meaning::Signed),
        };
    }
    let looks_like_float = body.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && body.bytes().any(|b| b.is_ascii_digit())
        && body.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    let value = word.parse::<f64>().ok().filter(|value| looks_like_float && value.is_finite())?;
    Some(Meaning::Float(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_what_yaml_says() {
        use Meaning::{Bool, Float, Nothing, Signed, Text, Unsigned};
        for (word, expected) in [
            ("", Nothing),
            ("~", Nothing),
            ("null", Nothing),
            ("true", Bool(true)),
            ("False", Bool(false)),
            ("yes", Text("yes")),
            ("no", Text("no")),
            ("0", Unsigned(0)),
            ("42", Unsigned(42)),
            ("+7", Unsigned(7)),
            ("-7", Signed(-7)),
            ("0x1F", Unsigned(31)),
            ("0o17", Unsigned(15)),
            ("0x", Text("0x")),
            ("0x+1", Text("0x+1")),
            ("022", Text("022")),
            ("1.5", Float(1.5)),
            (".5", Float(0.5)),
            ("-1e3", Float(-1000.0)),
            ("1.2.3", Text("1.2.3")),
            ("12:30", Text("12:30")),
            (".inf", Text(".inf")),
            (".", Text(".")),
            ("-", Text("-")),
            ("e3", Text("e3")),
            ("1e999", Text("1e999")),
            ("18446744073709551615", Unsigned(u64::MAX)),
            ("99999999999999999999", Text("99999999999999999999")),
            ("ä1", Text("ä1")),
        ] {
            assert_eq!(meaning(word), expected, "{word}");
        }
        assert_eq!(Scalar { text: "1".into(), is_plain: false }.meaning(), Text("1"));
    }
}
