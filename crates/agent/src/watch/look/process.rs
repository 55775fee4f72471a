//! Processes, by what `/proc` says of them.

use hostler_engine::watch::Seen;
use hostler_model::ProcessWatch;
use regex::bytes::Regex;

/// What the kernel keeps of a name.
const NAME_KEPT: usize = 15;
const COMMAND_MAX: usize = 4096;

pub(super) fn count(watch: &ProcessWatch, pattern: Option<&Regex>) -> Result<Seen, String> {
    let entries = std::fs::read_dir("/proc").map_err(|error| format!("/proc: {error}"))?;
    let mut count = 0;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).ok();
        let Some(stat) = read("stat") else { continue };
        let Some((name, state)) = name_and_state(&stat) else { continue };
        // A process that has ended and was not waited for does not run.
        if matches!(state, b'Z' | b'X') {
            continue;
        }
        let fits = match pattern {
            Some(pattern) => {
                read("cmdline").is_some_and(|command| pattern.is_match(&command_line(command)))
            }
            None => {
                let wanted = watch.name.as_bytes();
                name == &wanted[..wanted.len().min(NAME_KEPT)]
            }
        };
        count += u64::from(fits);
    }
    Ok(Seen::Processes(count))
}

/// Of the line in `stat`. A name may have anything in it, also brackets.
fn name_and_state(stat: &[u8]) -> Option<(&[u8], u8)> {
    let begin = stat.iter().position(|byte| *byte == b'(')? + 1;
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    Some((stat.get(begin..end)?, *stat.get(end + 2)?))
}

/// Words with spaces between them.
fn command_line(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(COMMAND_MAX);
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b' ');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_brackets_are_read() {
        assert_eq!(name_and_state(b"12 (a) b) S 1 2"), Some((&b"a) b"[..], b'S')));
        assert_eq!(name_and_state(b"12 (a"), None);
        assert_eq!(name_and_state(b")("), None);
        assert_eq!(command_line(b"a\0b c\0\0".to_vec()), b"a b c");
    }
}
