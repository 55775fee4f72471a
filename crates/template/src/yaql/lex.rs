//! The words of an expression, each with where it begins (in characters, as messages count).

use super::TEXT_MAX;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Whole(i128),
    Real(f64),
    Text(String),
    /// A word that is called: `len(`.
    Call(String),
    Word(String),
    Variable(String),
    /// One of [`SIGNS`].
    Sign(&'static str),
    End,
}

/// Longer ones first.
const SIGNS: &[&str] = &[
    "=>", "->", "?.", "=~", "!~", "!=", ">=", "<=", ".", "+", "-", "*", "/", ">", "<", "=", "(",
    ")", "[", "]", "{", "}", ",",
];

pub(super) fn lex(text: &str) -> Result<Vec<(Token, usize)>, String> {
    if text.len() > TEXT_MAX {
        return Err(format!("The expression is longer than {TEXT_MAX} bytes"));
    }
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&first) = chars.get(at) {
        let start = at;
        let token = match first {
            ' ' | '\t' | '\r' | '\n' => {
                at += 1;
                continue;
            }
            '$' => {
                at = word_end(&chars, at + 1);
                let name: String = chars[start + 1..at].iter().collect();
                Token::Variable(if name.is_empty() { "1".to_owned() } else { name })
            }
            '0'..='9' => {
                at = number_end(&chars, at);
                let digits: String = chars[start..at].iter().collect();
                number(&digits).ok_or_else(|| illegal(first, start))?
            }
            '\'' | '"' | '`' => {
                let end = quote_end(&chars, at).ok_or_else(|| illegal(first, start))?;
                at = end + 1;
                Token::Text(match first {
                    '`' => chars[start + 1..end].iter().collect::<String>().replace("\\`", "`"),
                    _ => unescape(&chars[start + 1..end]),
                })
            }
            c if c.is_alphabetic() || c == '_' => {
                at = word_end(&chars, at);
                let word: String = chars[start..at].iter().collect();
                match chars.get(at) {
                    Some('(') if !is_operator(&word) => {
                        at += 1;
                        Token::Call(word)
                    }
                    _ => Token::Word(word),
                }
            }
            _ => {
                let rest = &chars[at..];
                let is_here =
                    |sign: &&&str| sign.chars().enumerate().all(|(i, c)| rest.get(i) == Some(&c));
                let sign = SIGNS.iter().find(is_here).ok_or_else(|| illegal(first, start))?;
                at += sign.len();
                Token::Sign(sign)
            }
        };
        tokens.push((token, start));
    }
    tokens.push((Token::End, chars.len()));
    Ok(tokens)
}

fn is_operator(word: &str) -> bool {
    matches!(word, "and" | "or" | "not" | "in" | "mod")
}

fn illegal(c: char, at: usize) -> String {
    format!("Lexical error: illegal character '{c}' at position {at}")
}

fn word_end(chars: &[char], from: usize) -> usize {
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    from + chars[from..].iter().take_while(|c| is_word(c)).count()
}

/// Digits, and a point with digits after it.
fn number_end(chars: &[char], from: usize) -> usize {
    let digits =
        |from: usize| from + chars[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let whole = digits(from);
    match (chars.get(whole), chars.get(whole + 1)) {
        (Some('.'), Some(c)) if c.is_ascii_digit() => word_end(chars, digits(whole + 1)),
        _ => word_end(chars, whole),
    }
}

fn number(digits: &str) -> Option<Token> {
    match digits.contains('.') {
        true => digits.parse().ok().filter(|real: &f64| real.is_finite()).map(Token::Real),
        false => digits.parse().ok().map(Token::Whole),
    }
}

/// Where the quote ends that begins here.
fn quote_end(chars: &[char], from: usize) -> Option<usize> {
    let quote = chars[from];
    let mut at = from + 1;
    while let Some(&c) = chars.get(at) {
        match c {
            '\\' => at += 2,
            c if c == quote => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// What stands for other characters; a backslash before anything else stays.
fn unescape(chars: &[char]) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let escaped = (c == '\\').then(|| escape(&chars[at + 1..])).flatten();
        match escaped {
            Some((c, length)) => {
                out.push(c);
                at += 1 + length;
            }
            None => {
                out.push(c);
                at += 1;
            }
        }
    }
    out
}

/// The character that is meant, and how many characters say so.
fn escape(rest: &[char]) -> Option<(char, usize)> {
    let coded = |digits: usize| {
        let code: String = rest.get(1..=digits)?.iter().collect();
        let c = char::from_u32(u32::from_str_radix(&code, 16).ok()?)?;
        Some((c, digits + 1))
    };
    let simple = |c| Some((c, 1));
    match rest.first()? {
        '\\' => simple('\\'),
        '\'' => simple('\''),
        '"' => simple('"'),
        'a' => simple('\u{7}'),
        'b' => simple('\u{8}'),
        'f' => simple('\u{c}'),
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        'v' => simple('\u{b}'),
        'x' => coded(2),
        'u' => coded(4),
        'U' => coded(8),
        '0'..='7' => {
            let digits: String =
                rest.iter().take(3).take_while(|c| ('0'..='7').contains(*c)).collect();
            let c = char::from_u32(u32::from_str_radix(&digits, 8).ok()?)?;
            Some((c, digits.len()))
        }
        _ => None,
    }
}
