//! Files that a step needs of others, before it begins.
//!
//! What is not there now will not be there at the next try either. So a step that needs it fails at once, and is told who
//! would have left it.

use hostler_model::workflow::{Step, StepEnd, Workflow};

use super::Standing;

/// What a step consumes that is not there, in words; nothing when all of it is.
pub fn missing(
    workflow: &Workflow,
    step: &Step,
    is_left: impl Fn(&str) -> bool,
    standing: impl Fn(usize) -> Standing,
) -> Option<String> {
    let name = step.consumes.iter().find(|name| !is_left(name))?;
    let leaves =
        |other: &Step| other.artifacts.iter().find(|pattern| may_be(pattern, name)).cloned();
    let makers = workflow.steps.iter().enumerate();
    let makers = makers.filter_map(|(i, other)| Some((i, other, leaves(other)?)));
    let told: Vec<String> = makers
        .map(|(i, other, pattern)| {
            let became = match standing(i) {
                Standing::Ended(StepEnd::Succeeded) => "left no such file".to_owned(),
                Standing::Ended(end) => format!("ended as {end}"),
                Standing::Skipped(reason) => format!("was skipped: {}", reason.words()),
                Standing::Waiting | Standing::Running { .. } | Standing::Resting { .. } => {
                    format!(
                        "has not ended; let `{}` depend on it: depends_on = \"{}\"",
                        step.name, other.name
                    )
                }
            };
            format!("`{}` is to leave `{pattern}`, and {became}", other.name)
        })
        .collect();
    let told = match told.is_empty() {
        true => format!("no task says that it leaves it: artifacts = {{ \"{name}\" }}"),
        false => told.join("; "),
    };
    Some(format!("it consumes `{name}`, which is not there: {told}"))
}

/// Whether a pattern of what is left may mean a name, or the last part of a longer one.
fn may_be(pattern: &str, name: &str) -> bool {
    let pattern = pattern.trim_start_matches("./");
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    is_match(pattern.as_bytes(), name.as_bytes())
        || !name.contains('/') && is_match(last.as_bytes(), name.as_bytes())
}

/// `*` and `?` within a part of the path, `**` over several. It takes no longer than both are long, multiplied.
fn is_match(mut pattern: &[u8], name: &[u8]) -> bool {
    // Whether what was read of the pattern fits the beginning of the name of that length.
    let mut fits = vec![false; name.len() + 1];
    fits[0] = true;
    while let Some(first) = pattern.first() {
        let is_deep = pattern.starts_with(b"**");
        let is_whole = pattern.starts_with(b"**/");
        let before = fits.clone();
        let length = match (first, is_deep, is_whole) {
            (_, _, true) => 3,
            (_, true, _) => 2,
            _ => 1,
        };
        pattern = &pattern[length..];
        for at in 0..=name.len() {
            let last = at.checked_sub(1).map(|i| name[i]);
            let had = |fits: &[bool]| at.checked_sub(1).is_some_and(|i| fits[i]);
            fits[at] = match (first, is_deep, is_whole) {
                (_, _, true) => {
                    before[at] || last == Some(b'/') && before[..at].iter().any(|fit| *fit)
                }
                (_, true, _) => before[at] || had(&fits),
                (b'*', ..) => before[at] || last != Some(b'/') && had(&fits),
                (b'?', ..) => last != Some(b'/') && had(&before),
                (letter, ..) => last == Some(*letter) && had(&before),
            };
        }
    }
    fits[name.len()]
}

#[cfg(test)]
mod tests {
    use hostler_model::workflow::SkipReason;

    use super::*;

    #[test]
    fn patterns_mean_names_and_their_last_parts() {
        for (pattern, name, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "b/a.txt", false),
            ("**/*.txt", "b/c/a.txt", true),
            ("**/*.txt", "a.txt", true),
            ("dist/**", "dist/a/b", true),
            ("dist/*", "a", true),
            ("dist/a", "a", true),
            ("dist/a", "x/a", false),
            ("app.bin", "appXbin", false),
            ("./a?c", "abc", true),
            ("a?c", "a/c", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(may_be(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn who_would_have_left_it_is_told() {
        let step = |name: &str, artifacts: &[&str], consumes: &[&str]| Step {
            name: name.to_owned(),
            artifacts: artifacts.iter().map(|word| (*word).to_owned()).collect(),
            consumes: consumes.iter().map(|word| (*word).to_owned()).collect(),
            ..Step::default()
        };
        let steps = vec![step("build", &["out/*"], &[]), step("ship", &[], &["app", "x/notes"])];
        let workflow = Workflow { steps, ..Workflow::default() };
        let told = |left: &[&str], standing: Standing| {
            missing(&workflow, &workflow.steps[1], |name| left.contains(&name), |_| standing)
        };
        let done = Standing::Ended(StepEnd::Succeeded);
        assert_eq!(told(&["app", "x/notes"], done), None);
        for (standing, expected) in [
            (done, "left no such file"),
            (Standing::Ended(StepEnd::Failed), "ended as failed"),
            (Standing::Skipped(SkipReason::Ended), "was skipped: the execution ended"),
            (Standing::Waiting, "let `ship` depend on it"),
        ] {
            let told = told(&["x/notes"], standing).unwrap();
            assert!(told.contains("`app`") && told.contains("`build`"), "{told}");
            assert!(told.contains(expected), "{told}");
        }
        assert!(told(&["app"], done).unwrap().contains("no task says"));
    }
}
