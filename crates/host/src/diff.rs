//! Unified diffs of texts, bounded in work and in size.
//!
//! What both texts begin and end with is set aside; the shortest edit of the middle is found by its
//! longest common subsequence where the middle is small enough, and said as "all of this, then all of
//! that" where it is not. The rendering stops after a number of lines and says how many are missing.

use std::fmt::Write;

const CONTEXT: usize = 3;
/// Lines of the middle, one side times the other.
const CELLS_MAX: usize = 4_000_000;
const RENDERED_MAX: usize = 400;
const LINE_MAX: usize = 400;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    Keep,
    Take,
    Put,
}

/// The difference in unified form; empty where there is none.
pub fn unified(name: &str, old: Option<&str>, new: Option<&str>) -> String {
    let (before, after) = (lines(old), lines(new));
    let edits = edits(&before, &after);
    if edits.iter().all(|edit| *edit == Edit::Keep) && old.is_some() == new.is_some() {
        return String::new();
    }
    let mut out = String::new();
    let side = |is_there: bool| if is_there { name } else { "/dev/null" };
    let _ = writeln!(out, "--- {}\n+++ {}", side(old.is_some()), side(new.is_some()));
    let mut room = RENDERED_MAX;
    for hunk in hunks(&edits) {
        hunk.render(&mut out, &before, &after, &edits, &mut room);
    }
    if room == 0 {
        out.push_str("(more differences are not shown)\n");
    }
    out
}

fn lines(text: Option<&str>) -> Vec<&str> {
    text.map(|text| text.split_inclusive('\n').collect()).unwrap_or_default()
}

fn edits(before: &[&str], after: &[&str]) -> Vec<Edit> {
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let rest = before.len().min(after.len()) - head;
    let both_ends = before.iter().rev().zip(after.iter().rev());
    let tail = both_ends.take(rest).take_while(|(a, b)| a == b).count();
    let old = &before[head..before.len() - tail];
    let new = &after[head..after.len() - tail];
    let mut edits = vec![Edit::Keep; head];
    if old.len().saturating_mul(new.len()) > CELLS_MAX {
        edits.extend(std::iter::repeat_n(Edit::Take, old.len()));
        edits.extend(std::iter::repeat_n(Edit::Put, new.len()));
    } else {
        middle(old, new, &mut edits);
    }
    edits.extend(std::iter::repeat_n(Edit::Keep, tail));
    edits
}

fn middle(old: &[&str], new: &[&str], edits: &mut Vec<Edit>) {
    let width = new.len() + 1;
    let mut common = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            edits.push(Edit::Keep);
            (i, j) = (i + 1, j + 1);
        } else if j == new.len()
            || i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]
        {
            edits.push(Edit::Take);
            i += 1;
        } else {
            edits.push(Edit::Put);
            j += 1;
        }
    }
}

/// A run of edits with the lines around it.
struct Hunk {
    /// Where it begins and ends among the edits.
    start: usize,
    end: usize,
    old_at: usize,
    new_at: usize,
}

fn hunks(edits: &[Edit]) -> Vec<Hunk> {
    let mut found: Vec<Hunk> = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    let mut seen: Vec<(usize, usize)> = Vec::with_capacity(edits.len());
    for (at, edit) in edits.iter().enumerate() {
        seen.push((old_at, new_at));
        if *edit != Edit::Keep {
            let start = at.saturating_sub(CONTEXT);
            match found.last_mut() {
                Some(last) if start <= last.end => last.end = at + 1 + CONTEXT,
                _ => {
                    let (old_at, new_at) = seen[start];
                    found.push(Hunk { start, end: at + 1 + CONTEXT, old_at, new_at });
                }
            }
        }
        old_at += usize::from(*edit != Edit::Put);
        new_at += usize::from(*edit != Edit::Take);
    }
    for hunk in &mut found {
        hunk.end = hunk.end.min(edits.len());
    }
    found
}

impl Hunk {
    fn render(
        &self,
        out: &mut String,
        before: &[&str],
        after: &[&str],
        edits: &[Edit],
        room: &mut usize,
    ) {
        if *room == 0 {
            return;
        }
        let edits = &edits[self.start..self.end];
        let old_count = edits.iter().filter(|edit| **edit != Edit::Put).count();
        let new_count = edits.iter().filter(|edit| **edit != Edit::Take).count();
        let first = |at: usize, count: usize| if count == 0 { at } else { at + 1 };
        let (old_first, new_first) = (first(self.old_at, old_count), first(self.new_at, new_count));
        let _ = writeln!(out, "@@ -{old_first},{old_count} +{new_first},{new_count} @@");
        let (mut i, mut j) = (self.old_at, self.new_at);
        for edit in edits {
            if *room == 0 {
                return;
            }
            *room -= 1;
            let (sign, line) = match edit {
                Edit::Keep => (' ', before[i]),
                Edit::Take => ('-', before[i]),
                Edit::Put => ('+', after[j]),
            };
            i += usize::from(*edit != Edit::Put);
            j += usize::from(*edit != Edit::Take);
            push_line(out, sign, line);
        }
    }
}

fn push_line(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    let body = line.strip_suffix('\n').unwrap_or(line);
    match body.char_indices().nth(LINE_MAX) {
        Some((cut, _)) => {
            out.push_str(&body[..cut]);
            out.push('…');
        }
        None => out.push_str(body),
    }
    out.push('\n');
    if !line.ends_with('\n') {
        out.push_str("\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_shown_with_what_is_around_them() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nb\nc\nd\nE\nf\ng\nh\n";
        assert_eq!(
            unified("/x", Some(old), Some(new)),
            "--- /x\n+++ /x\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n"
        );
    }

    #[test]
    fn new_and_gone_files_have_one_side() {
        assert_eq!(
            unified("/x", None, Some("a\nb")),
            "--- /dev/null\n+++ /x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
        );
        assert_eq!(
            unified("/x", Some("a\n"), None),
            "--- /x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"
        );
        assert_eq!(unified("/x", Some("a\n"), Some("a\n")), "");
    }

    #[test]
    fn far_apart_differences_are_hunks_of_their_own() {
        let old: String = (0..40).map(|n| format!("{n}\n")).collect();
        let new = old.replace("5\n", "five\n");
        let text = unified("/x", Some(&old), Some(&new));
        assert_eq!(text.matches("@@ -").count(), 4, "{text}");
        assert!(text.contains("@@ -3,7 +3,7 @@"), "{text}");
    }

    #[test]
    fn what_is_huge_is_cut() {
        let old: String = (0..3000).map(|n| format!("old {n}\n")).collect();
        let new: String = (0..3000).map(|n| format!("new {n}\n")).collect();
        let text = unified("/x", Some(&old), Some(&new));
        assert!(text.lines().count() < 410);
        assert!(text.ends_with("(more differences are not shown)\n"));
        let text = unified("/x", Some("a\n"), Some(&format!("{}\n", "b".repeat(9000))));
        assert!(text.len() < 600, "{}", text.len());
    }

    #[test]
    fn a_patch_of_any_two_texts_gives_the_second() {
        let words = ["a\n", "b\n", "c\n", "a\n"];
        let texts: Vec<Vec<&str>> =
            (0..64).map(|n: usize| (0..3).map(|k| words[n >> (2 * k) & 3]).collect()).collect();
        for old in &texts {
            for new in &texts {
                let edits = edits(old, new);
                let (mut i, mut made) = (0, Vec::new());
                let mut put = new.iter();
                for edit in edits {
                    match edit {
                        Edit::Keep => {
                            made.push(old[i]);
                            i += 1;
                            put.next();
                        }
                        Edit::Take => i += 1,
                        Edit::Put => made.extend(put.next()),
                    }
                }
                assert_eq!((&made, i), (new, old.len()));
            }
        }
    }
}
