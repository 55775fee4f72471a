//! What others wrote, on somebody's terminal.
//!
//! Names, messages and output come from people and programs that may mean harm, and a terminal obeys what
//! it is sent: an escape sequence can move the cursor over what stands there, retitle the window, or put
//! words on the clipboard, and a mark for another direction of writing can show a text as what it is not.
//! So whatever is shown in a table, a description or a message has such characters replaced ([`one_line`],
//! [`lines`]), and output of tasks that goes to a terminal is tamed ([`Tame`]): colours and the clearing of
//! a line stay, everything else is shown instead of obeyed. What goes to a file or a pipe is as it is.

/// Whether a terminal would do something else with a character than show it.
fn is_risky(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// On one line, and nothing but what can be seen.
pub fn one_line(text: &str) -> String {
    text.chars().map(|letter| if is_risky(letter) { ' ' } else { letter }).collect()
}

/// On as many lines as it has, and nothing but what can be seen.
pub fn lines(text: &str) -> String {
    let kept = |letter| matches!(letter, '\n' | '\t') || !is_risky(letter);
    text.chars().map(|letter| if kept(letter) { letter } else { ' ' }).collect()
}

/// The longest sequence that is looked at before it is given up.
const SEQUENCE_MAX: usize = 32;

/// Makes output fit for a terminal, as it comes in pieces.
#[derive(Clone, Debug, Default)]
pub struct Tame(State);

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    Plain,
    /// After the first byte of what may be a control character in two bytes.
    Wide,
    Escape,
    /// After `ESC [`, and what came since.
    Sequence(Vec<u8>),
}

impl Tame {
    pub fn piece(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.0 = std::mem::take(&mut self.0).next(*byte, &mut shown);
        }
        shown
    }
}

impl State {
    fn next(self, byte: u8, shown: &mut Vec<u8>) -> State {
        match (self, byte) {
            (State::Plain, 0x1b) => State::Escape,
            (State::Plain, 0xc2) => State::Wide,
            (State::Plain, b'\n' | b'\r' | b'\t') => shows(shown, &[byte]),
            (State::Plain, 0..=0x1f | 0x7f) => shows(shown, &[b'^', byte ^ 0x40]),
            (State::Plain, _) => shows(shown, &[byte]),
            (State::Wide, 0x80..=0x9f) => shows(shown, &[b'^', b'[', byte - 0x40]),
            (State::Wide, _) => {
                shown.push(0xc2);
                State::Plain.next(byte, shown)
            }
            (State::Escape, b'[') => State::Sequence(Vec::new()),
            (State::Escape, _) => {
                shown.extend(b"^[");
                State::Plain.next(byte, shown)
            }
            (State::Sequence(mut inside), b'0'..=b'9' | b';' | b':')
                if inside.len() < SEQUENCE_MAX =>
            {
                inside.push(byte);
                State::Sequence(inside)
            }
            (State::Sequence(inside), b'm' | b'K') => {
                shown.extend(b"\x1b[");
                shown.extend(inside);
                shows(shown, &[byte])
            }
            (State::Sequence(inside), _) => {
                shown.extend(b"^[[");
                shown.extend(inside);
                State::Plain.next(byte, shown)
            }
        }
    }
}

fn shows(shown: &mut Vec<u8>, bytes: &[u8]) -> State {
    shown.extend(bytes);
    State::Plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tamed(text: &str) -> String {
        let whole = Tame::default().piece(text.as_bytes());
        let mut tame = Tame::default();
        let split: Vec<u8> = text.bytes().flat_map(|byte| tame.piece(&[byte])).collect();
        assert_eq!(whole, split, "it does not matter how it comes");
        String::from_utf8(whole).unwrap()
    }

    #[test]
    fn what_a_terminal_would_obey_is_not_in_a_cell() {
        let text = "a\r\n\u{1b}]0;title\u{7}\u{9b}2J\u{202e}b\u{2066}\tc";
        assert_eq!(one_line(text), "a   ]0;title  2J b  c");
        assert_eq!(lines(text), "a \n ]0;title  2J b \tc");
        assert_eq!(one_line("Grüße, 東京, 🐎"), "Grüße, 東京, 🐎");
    }

    #[test]
    fn output_keeps_its_colours_and_moves_nothing() {
        let plain =
            "text\twith Grüße ©, 東京\r\n\u{1b}[1;31mred\u{1b}[0m\u{1b}[38:5:9mx\u{1b}[m\u{1b}[K\n";
        assert_eq!(tamed(plain), plain);
        for (risky, shown) in [
            ("\u{1b}]0;title\u{7}", "^[]0;title^G"),
            ("\u{1b}]52;c;cm0=\u{1b}\\", "^[]52;c;cm0=^[\\"),
            ("\u{1b}[2J\u{1b}[1;1H", "^[[2J^[[1;1H"),
            ("\u{1b}[?1049h", "^[[?1049h"),
            ("\u{1b}c\u{1b}Pq\u{1b}_x", "^[c^[Pq^[_x"),
            ("\u{9b}6n\u{9d}0;t\u{9c}", "^[[6n^[]0;t^[\\"),
            ("\u{8}\u{0}\u{7f}\u{b}", "^H^@^?^K"),
            ("\u{1b}\u{1b}[31m", "^[\u{1b}[31m"),
        ] {
            assert_eq!(tamed(risky), shown);
        }
        let long = format!("\u{1b}[{}m", "1;".repeat(40));
        assert!(tamed(&long).starts_with("^[[1;"), "what is too long is not believed");
        assert_eq!(Tame::default().piece(&[0xff, 0xc2, 0xc3, 0xa9]), [0xff, 0xc2, 0xc3, 0xa9]);
    }
}
