//! Command lines as systemd reads them: prefixes, quotes with C escapes, specifiers, variables.
//!
//! A command becomes plain words where it can. It becomes shell text where it must: several commands
//! after each other, one whose failure is ignored, or a variable whose value is not known here.

use crate::environment::{Variables, is_variable};
use crate::words;

use super::unit::Unit;

/// One command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exec {
    pub words: Vec<String>,
    /// `-`: a failure is no failure.
    pub is_failure_ignored: bool,
    /// `@`: it was called by another name.
    pub has_other_name: bool,
    /// `+`, `!`: with more rights than its user.
    pub is_privileged: bool,
    /// `:`: variables are not filled in.
    pub is_literal: bool,
}

/// Several commands may stand in one line, with `;` between them. `None` where a quote is not closed.
pub fn read(text: &str) -> Option<Vec<Exec>> {
    let mut lines = Vec::new();
    let mut words = Vec::new();
    for word in split(text)? {
        match word.as_str() {
            ";" => lines.push(std::mem::take(&mut words)),
            "\\;" => words.push(";".to_owned()),
            _ => words.push(word),
        }
    }
    lines.push(words);
    Some(lines.into_iter().filter(|words| !words.is_empty()).map(prefixed).collect())
}

fn prefixed(mut words: Vec<String>) -> Exec {
    let mut exec = Exec::default();
    let mut program = words[0].as_str();
    loop {
        let rest = match program.chars().next() {
            Some('-') => {
                exec.is_failure_ignored = true;
                &program[1..]
            }
            Some('@') => {
                exec.has_other_name = true;
                &program[1..]
            }
            Some(':') => {
                exec.is_literal = true;
                &program[1..]
            }
            Some('+' | '!') => {
                exec.is_privileged = true;
                &program[1..]
            }
            _ => break,
        };
        program = rest;
    }
    words[0] = program.to_owned();
    if exec.has_other_name && words.len() > 1 {
        words.remove(1);
    }
    exec.words = words;
    exec
}

/// Words in quotes as systemd has them: both kinds know the escapes of C.
pub fn split(text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, quote) {
            ('\\', _) => {
                let word = word.get_or_insert_default();
                let escaped = rest.next()?;
                match escaped {
                    'n' => word.push('\n'),
                    't' => word.push('\t'),
                    'r' => word.push('\r'),
                    'a' => word.push('\u{7}'),
                    'b' => word.push('\u{8}'),
                    'f' => word.push('\u{c}'),
                    'v' => word.push('\u{b}'),
                    's' => word.push(' '),
                    'x' => word.push(code(&mut rest, 2, 16)?),
                    'u' => word.push(code(&mut rest, 4, 16)?),
                    'U' => word.push(code(&mut rest, 8, 16)?),
                    '\\' | '"' | '\'' => word.push(escaped),
                    other => word.extend(['\\', other]),
                }
            }
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => found.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    found.extend(word);
    quote.is_none().then_some(found)
}

fn code(rest: &mut impl Iterator<Item = char>, digits: usize, radix: u32) -> Option<char> {
    let text: String = rest.take(digits).collect();
    char::from_u32(u32::from_str_radix(&text, radix).ok()?).filter(|c| *c != '\0')
}

/// `%i` and its like filled in; what is not known here stays, and is named.
pub fn specifiers(text: &str, unit: &Unit<'_>, unknown: &mut Vec<String>) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let value = match rest.next() {
            Some('%') => Some("%".to_owned()),
            Some('n') => Some(unit.name.clone()),
            Some('N') => Some(unit.stem().to_owned()),
            Some('p' | 'P') => Some(unit.prefix().to_owned()),
            Some('i' | 'I') if unit.instance().is_some() || !unit.stem().contains('@') => {
                Some(unit.instance().unwrap_or_default().to_owned())
            }
            Some(other) => {
                let whole = format!("%{other}");
                unknown.push(format!("`{whole}`"));
                Some(whole)
            }
            None => Some("%".to_owned()),
        };
        out.extend(value);
    }
    out
}

/// What a command becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub argv: Vec<String>,
    /// Variables that only the run will know.
    pub variables: Vec<String>,
}

impl Command {
    /// One command, or several that follow each other as long as they succeed.
    pub fn of(execs: &[Exec], env: &Variables) -> Command {
        let mut variables = Vec::new();
        let parts: Vec<Vec<Piece>> =
            execs.iter().map(|exec| filled(exec, env, &mut variables)).collect();
        let argv = match (execs, parts.as_slice()) {
            ([exec], [pieces]) if variables.is_empty() && !exec.is_failure_ignored => {
                pieces.iter().map(|piece| piece.text.clone()).collect()
            }
            ([exec], [pieces]) if !exec.is_failure_ignored => {
                words::shell(format!("exec {}", shell_text(pieces)))
            }
            _ => {
                let lines = execs.iter().zip(&parts).map(|(exec, pieces)| {
                    let text = shell_text(pieces);
                    if exec.is_failure_ignored { format!("{{ {text} || true; }}") } else { text }
                });
                words::shell(lines.collect::<Vec<_>>().join(" && "))
            }
        };
        Command { argv, variables }
    }
}

/// A word, and how a shell has to see it.
struct Piece {
    text: String,
    shell: String,
}

fn shell_text(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.shell.as_str()).collect::<Vec<_>>().join(" ")
}

/// `$NAME` as a word of its own is split at spaces, `${NAME}` anywhere is not, `$$` is a dollar sign.
fn filled(exec: &Exec, env: &Variables, unknown: &mut Vec<String>) -> Vec<Piece> {
    let as_it_stands = |word: &str| Piece { text: word.to_owned(), shell: words::quote(word) };
    let mut pieces = Vec::new();
    for word in &exec.words {
        if exec.is_literal || !word.contains('$') {
            pieces.push(as_it_stands(word));
            continue;
        }
        if let Some(name) = word.strip_prefix('$').filter(|name| is_variable(name)) {
            match env.get(name) {
                Some(value) => pieces.extend(value.split_whitespace().map(as_it_stands)),
                None => {
                    unknown.push(name.to_owned());
                    pieces.push(Piece { text: word.clone(), shell: word.clone() });
                }
            }
            continue;
        }
        pieces.push(braced(word, env, unknown));
    }
    pieces
}

fn braced(word: &str, env: &Variables, unknown: &mut Vec<String>) -> Piece {
    let mut text = String::new();
    let mut shell = String::new();
    let mut literal = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('$') {
        literal.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let inner = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        if let Some(after) = after.strip_prefix('$') {
            literal.push('$');
            rest = after;
        } else if let Some((name, tail)) = inner.filter(|(name, _)| is_variable(name)) {
            match env.get(name) {
                Some(value) => literal.push_str(value),
                None => {
                    unknown.push(name.to_owned());
                    if !literal.is_empty() {
                        shell.push_str(&words::quote(&literal));
                    }
                    text.push_str(&literal);
                    literal.clear();
                    shell.push_str(&format!("\"${{{name}}}\""));
                    text.push_str(&format!("${{{name}}}"));
                }
            }
            rest = tail;
        } else {
            literal.push('$');
            rest = after;
        }
    }
    literal.push_str(rest);
    text.push_str(&literal);
    if !literal.is_empty() || shell.is_empty() {
        shell.push_str(&words::quote(&literal));
    }
    Piece { text, shell }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env() -> Variables {
        [("OPTS", "-a -b"), ("DIR", "/x y")].map(|(k, v)| (k.to_owned(), v.to_owned())).into()
    }

    fn argv(text: &str) -> Vec<String> {
        Command::of(&read(text).unwrap(), &env()).argv
    }

    #[test]
    fn commands_become_words_where_they_can() {
        assert_eq!(argv("/bin/a 'b c' \"d\\x21\" e\\tf"), ["/bin/a", "b c", "d!", "e\tf"]);
        assert_eq!(argv("/bin/a $OPTS ${DIR}/z $$x"), ["/bin/a", "-a", "-b", "/x y/z", "$x"]);
        assert_eq!(argv(":/bin/a $OPTS"), ["/bin/a", "$OPTS"]);
        assert_eq!(argv("@/bin/a name b"), ["/bin/a", "b"]);
        assert_eq!(read("/bin/a 'b"), None);
    }

    #[test]
    fn commands_become_shell_text_where_they_must() {
        assert_eq!(argv("/bin/a $X p${Y}q 'r s'")[2], "exec /bin/a $X p\"${Y}\"q 'r s'");
        assert_eq!(argv("-/bin/a ; /bin/b c")[2], "{ /bin/a || true; } && /bin/b c");
        let command = Command::of(&read("/bin/kill $MAINPID").unwrap(), &env());
        assert_eq!(command.variables, ["MAINPID"]);
    }
}
