//! Takes the values of secrets out of a stream of bytes, whatever pieces it comes in.
//!
//! No byte that belongs to a value, or to one of the forms that encodings make of it, gets through; what
//! is left out is replaced by the secret's name. Bytes that may be the beginning of one are held back until
//! what follows tells, or the stream ends; nothing is let through because time passes.
//!
//! The forms of a value: as it is without the white space around it; its base64 in both alphabets, also
//! where it stands in the middle of something larger; hexadecimal; percent-encoded; as a JSON string; each
//! of its longer lines. A value of less than [`WHOLE_MIN`] bytes has none: it would be found everywhere.
//! Large values are looked for in pieces, and beyond [`ENCODED_MAX`] only as they are. This protects from
//! accidents. A program that wants to tell a secret can always find a form of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// A shorter value is not looked for.
const WHOLE_MIN: usize = 4;
/// A shorter part or form of a value is not looked for.
const PART_MIN: usize = 8;
/// Of a larger value, encoded forms are not looked for.
const ENCODED_MAX: usize = 4096;
/// A multiple of three, so that the base64 of pieces is the pieces of the base64.
const PIECE: usize = 510;

/// What is looked for.
pub struct Forms {
    search: AhoCorasick,
    patterns: Vec<Pattern>,
    /// For each first byte, which patterns begin with it.
    beginning: Vec<Vec<u32>>,
    longest: usize,
    names: Vec<String>,
}

struct Pattern {
    bytes: Vec<u8>,
    name: usize,
}

impl Forms {
    /// `None` when there is nothing to look for.
    pub fn of<'s>(secrets: impl IntoIterator<Item = (&'s str, &'s [u8])>) -> Option<Forms> {
        Forms::replaced(
            secrets.into_iter().map(|(name, value)| (format!("[secret:{name}]"), value)),
        )
    }

    /// The same, each with the words that are written instead of it.
    pub fn replaced<'s>(secrets: impl IntoIterator<Item = (String, &'s [u8])>) -> Option<Forms> {
        let (mut patterns, mut names) = (Vec::new(), Vec::new());
        let mut known = BTreeSet::new();
        for (words, value) in secrets {
            let number = names.len();
            names.push(words);
            let fresh = forms(value).into_iter().filter(|bytes| known.insert(bytes.clone()));
            patterns.extend(fresh.map(|bytes| Pattern { bytes, name: number }));
        }
        let longest = patterns.iter().map(|pattern| pattern.bytes.len()).max()?;
        let search = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::Standard)
            .build(patterns.iter().map(|pattern| &pattern.bytes))
            .ok()?;
        let mut beginning = vec![Vec::new(); 256];
        for (number, pattern) in (0u32..).zip(&patterns) {
            beginning[usize::from(pattern.bytes[0])].push(number);
        }
        Some(Forms { search, patterns, beginning, longest, names })
    }

    /// Where the longest end of `data` begins that may be the beginning of something.
    fn unfinished(&self, data: &[u8]) -> usize {
        let first = (data.len() + 1).saturating_sub(self.longest);
        let may_begin = |at: &usize| {
            let rest = &data[*at..];
            self.beginning[usize::from(rest[0])].iter().any(|number| {
                let bytes = &self.patterns[*number as usize].bytes;
                bytes.len() > rest.len() && bytes.starts_with(rest)
            })
        };
        (first..data.len()).find(may_begin).unwrap_or(data.len())
    }

    /// Everything that is found, by where it begins.
    fn found(&self, data: &[u8]) -> Vec<(usize, usize, usize)> {
        let mut found: Vec<_> = self
            .search
            .find_overlapping_iter(data)
            .map(|hit| (hit.start(), hit.end(), self.patterns[hit.pattern().as_usize()].name))
            .collect();
        found.sort_unstable();
        found
    }

    /// Which of the secrets are found, by their number in the order in which they were given.
    pub fn which(&self, data: &[u8]) -> BTreeSet<usize> {
        self.found(data).into_iter().map(|(_, _, name)| name).collect()
    }

    pub fn is_in(&self, data: &[u8]) -> bool {
        self.search.is_match(data)
    }

    /// The whole text at once.
    pub fn clean(self: &Arc<Self>, bytes: &[u8]) -> Vec<u8> {
        let (mut scrub, mut clean) = (Scrub::new(self.clone()), Vec::new());
        scrub.feed(bytes, &mut clean);
        scrub.end(&mut clean);
        clean
    }
}

/// One stream on its way.
pub struct Scrub {
    forms: Arc<Forms>,
    /// What is not decided yet.
    held: Vec<u8>,
    /// So many bytes of it belong to what has been replaced already.
    covered: usize,
    /// What was replaced right before.
    last: Option<usize>,
}

impl Scrub {
    pub fn new(forms: Arc<Forms>) -> Scrub {
        Scrub { forms, held: Vec::new(), covered: 0, last: None }
    }

    /// Takes more of the stream; what is decided is added to `clean`.
    pub fn feed(&mut self, bytes: &[u8], clean: &mut Vec<u8>) {
        self.held.extend_from_slice(bytes);
        let decided = self.forms.unfinished(&self.held);
        self.decide(decided, clean);
    }

    /// Nothing more comes.
    pub fn end(&mut self, clean: &mut Vec<u8>) {
        self.decide(self.held.len(), clean);
    }

    fn decide(&mut self, decided: usize, clean: &mut Vec<u8>) {
        let mut at = self.covered;
        for (start, end, name) in self.forms.found(&self.held) {
            if start >= decided {
                break;
            }
            if end <= at {
                continue;
            }
            let is_apart = start > at || start == at && self.last != Some(name);
            if is_apart {
                clean.extend_from_slice(&self.held[at..start]);
                clean.extend_from_slice(self.forms.names[name].as_bytes());
                self.last = Some(name);
            }
            at = end;
        }
        if at < decided {
            clean.extend_from_slice(&self.held[at..decided]);
            self.last = None;
            at = decided;
        }
        self.held.drain(..decided);
        self.covered = at - decided;
    }
}

fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let whole = value.trim_ascii();
    if whole.len() < WHOLE_MIN {
        return Vec::new();
    }
    let mut forms = Vec::new();
    for piece in pieces(whole) {
        if whole.len() <= ENCODED_MAX {
            encoded(piece, &mut forms);
        }
        forms.push(piece.to_vec());
    }
    if whole.len() <= ENCODED_MAX && whole.len() != value.len() {
        forms.extend([STANDARD_NO_PAD.encode(value).into(), URL_SAFE_NO_PAD.encode(value).into()]);
    }
    for line in whole.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        if line.len() >= PART_MIN && line.len() < whole.len() {
            forms.extend(pieces(line).map(<[u8]>::to_vec));
        }
    }
    forms
}

/// All of it in pieces that are not too long; the last is as long as the others.
fn pieces(whole: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..whole.len()).step_by(PIECE).map(|at| {
        let end = (at + PIECE).min(whole.len());
        &whole[at.min(end.saturating_sub(PIECE))..end]
    })
}

fn encoded(piece: &[u8], forms: &mut Vec<Vec<u8>>) {
    let mut add = |text: String| {
        if text.len() >= PART_MIN.min(piece.len() + 1) && text.as_bytes() != piece {
            forms.push(text.into_bytes());
        }
    };
    add(STANDARD_NO_PAD.encode(piece));
    add(URL_SAFE_NO_PAD.encode(piece));
    for shift in 0..3 {
        for text in [inner(piece, shift, &STANDARD_NO_PAD), inner(piece, shift, &URL_SAFE_NO_PAD)] {
            if text.len() >= PART_MIN {
                add(text);
            }
        }
    }
    let hex = |upper: bool| -> String {
        let two = |byte: &u8| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
        piece.iter().map(two).collect()
    };
    add(hex(false));
    add(hex(true));
    for (is_upper, space) in [(true, "%20"), (true, "+"), (false, "%20")] {
        add(percent(piece, is_upper, space));
    }
    if let Ok(text) = std::str::from_utf8(piece)
        && let Ok(quoted) = serde_json::to_string(text)
    {
        add(quoted[1..quoted.len() - 1].to_owned());
    }
}

/// What is surely in the base64 of something that has the piece at such a place: without the characters
/// that its neighbours have a part in.
fn inner(piece: &[u8], shift: usize, engine: &impl Engine) -> String {
    let text = engine.encode([&[0; 3][..shift], piece].concat());
    let front = [0, 2, 3][shift];
    let has_tail = !(shift + piece.len()).is_multiple_of(3);
    text.get(front..text.len() - usize::from(has_tail)).unwrap_or_default().to_owned()
}

fn percent(piece: &[u8], is_upper: bool, space: &str) -> String {
    let one = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(*byte).to_string()
        }
        b' ' => space.to_owned(),
        byte if is_upper => format!("%{byte:02X}"),
        byte => format!("%{byte:02x}"),
    };
    piece.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(secrets: &[(&str, &[u8])]) -> Arc<Forms> {
        Arc::new(Forms::of(secrets.iter().copied()).unwrap())
    }

    /// The same in every division into pieces of one size.
    fn cleaned(forms: &Arc<Forms>, bytes: &[u8]) -> String {
        let whole = forms.clean(bytes);
        for size in 1..=bytes.len().min(40) {
            let (mut scrub, mut clean) = (Scrub::new(forms.clone()), Vec::new());
            for piece in bytes.chunks(size) {
                scrub.feed(piece, &mut clean);
            }
            scrub.end(&mut clean);
            assert_eq!(clean, whole, "in pieces of {size}");
        }
        String::from_utf8_lossy(&whole).into_owned()
    }

    #[test]
    fn values_and_their_forms_are_replaced() {
        let value = b"s3cr3t/pa ss+word?\"x";
        let forms = of(&[("db", value)]);
        let text = std::str::from_utf8(value).unwrap();
        assert_eq!(cleaned(&forms, format!("a {text} b\n").as_bytes()), "a [secret:db] b\n");
        let base64 = STANDARD_NO_PAD.encode(value);
        assert_eq!(cleaned(&forms, format!("{base64}=\n").as_bytes()), "[secret:db]=\n");
        for encoded in [
            URL_SAFE_NO_PAD.encode(value),
            percent(value, true, "%20"),
            percent(value, false, "%20"),
            percent(value, true, "+"),
            "7333637233742f7061207373".to_owned() + "2b776f72643f2278",
            text.replace('"', "\\\""),
        ] {
            assert_eq!(cleaned(&forms, encoded.as_bytes()), "[secret:db]", "{encoded}");
        }
        for before in ["x", "xy", "xyz"] {
            let inside = STANDARD_NO_PAD.encode(format!("{before}:{text}:more of it"));
            let clean = cleaned(&forms, inside.as_bytes());
            assert!(clean.contains("[secret:db]"), "{clean}");
            assert!(clean.len() < inside.len() - base64.len() + 4 + "[secret:db]".len(), "{clean}");
        }
    }

    #[test]
    fn what_is_found_is_known_by_its_number() {
        let forms = of(&[("one", b"first-secret"), ("two", b"second-secret")]);
        assert!(forms.is_in(b"a second-secret") && !forms.is_in(b"nothing"));
        assert_eq!(forms.which(STANDARD_NO_PAD.encode("second-secret").as_bytes()), [1].into());
        let stars = Forms::replaced([("***".to_owned(), &b"first-secret"[..])]).map(Arc::new);
        assert_eq!(stars.unwrap().clean(b"a first-secret"), b"a ***");
    }

    #[test]
    fn what_is_no_secret_stays_as_it_is() {
        let forms = of(&[("db", b"hunter2!")]);
        let noise: Vec<u8> = (0u8..=255).chain(*b"hunter2 hunter hunthunter2").collect();
        assert_eq!(forms.clean(&noise), noise);
        let (mut scrub, mut clean) = (Scrub::new(forms.clone()), Vec::new());
        scrub.feed(b"a line\nhunt", &mut clean);
        assert_eq!(clean, b"a line\n", "what may be a secret waits");
        scrub.feed(b"ing\n", &mut clean);
        assert_eq!(clean, b"a line\nhunting\n");
        assert!(Forms::of([("pin", &b"123"[..]), ("empty", b""), ("white", b" \n ")]).is_none());
    }

    #[test]
    fn secrets_that_overlap_leave_nothing() {
        let forms = of(&[("one", b"abcdef"), ("two", b"efghij"), ("three", b"abcdefghijkl")]);
        assert_eq!(cleaned(&forms, b"-abcdefghij-"), "-[secret:one]-");
        assert_eq!(cleaned(&forms, b"-abcdefghijkl-"), "-[secret:one]-");
        assert_eq!(cleaned(&forms, b"-abcdef-efghij-"), "-[secret:one]-[secret:two]-");
        assert_eq!(cleaned(&forms, b"efghijabcdef"), "[secret:two][secret:one]");
        let repeated = of(&[("a", b"aaaa")]);
        assert_eq!(cleaned(&repeated, b"baaaaaaab"), "b[secret:a]b");
        assert_eq!(cleaned(&repeated, b"baaab"), "baaab");
    }

    #[test]
    fn long_values_are_found_whole_and_by_line() {
        let key: String = (0..40).map(|n| format!("line {n:03} of a private key\n")).collect();
        let forms = of(&[("key", key.as_bytes())]);
        assert_eq!(cleaned(&forms, key.as_bytes()), "[secret:key]\n");
        assert_eq!(cleaned(&forms, b"> line 017 of a private key"), "> [secret:key]");
        let large: Vec<u8> = (0..60_000u32).flat_map(|n| n.to_le_bytes()).take(65_536).collect();
        let forms = of(&[("large", &large)]);
        assert_eq!(forms.clean(&large), b"[secret:large]");
    }

    #[test]
    fn white_space_around_a_value_is_not_part_of_it() {
        let forms = of(&[("db", b"hunter2!\n")]);
        assert_eq!(cleaned(&forms, b"pw=hunter2!;"), "pw=[secret:db];");
        let base64 = STANDARD_NO_PAD.encode("hunter2!\n");
        assert_eq!(cleaned(&forms, base64.as_bytes()), "[secret:db]");
    }
}
