//! For fuzzing: what reads lines that others wrote, with nothing around it.

use crate::{disks, logs, processes};

/// Lines of `/proc` and of the journal: whatever they are, what is read of them is bounded and one line.
pub fn lines(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _stat = processes::parse_stat(&text);
    let _status = processes::parse_status(&text);
    let command = processes::command_line(bytes);
    assert!(!command.contains(char::is_control) && command.len() <= processes::COMMAND_MAX + 4);
    for mount in disks::parse(&text) {
        assert!(mount.point.len() <= text.len());
    }
    for line in bytes.split(|byte| *byte == b'\n').filter_map(logs::entry) {
        assert!(line.text.len() <= 4 * logs::LINE_MAX);
    }
    for is_tail in [false, true] {
        let (lines, _) = logs::last_lines(bytes, is_tail, 3, None);
        assert!(lines.len() <= 3);
    }
}
