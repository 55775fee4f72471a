//! Every `hostler` command in the documents is one that the command line understands.

use xtask::{Tree, root};

#[test]
fn commands_in_examples_parse() {
    let tree = Tree::open(&root()).unwrap();
    let mut seen = 0;
    for (path, text) in tree.texts().filter(|(path, _)| is_document(path)) {
        for command in typed(text) {
            let words = words(&command);
            if let Err(error) = hostler_cli::parse_from(&words) {
                panic!("{path}: `{command}`: {error}");
            }
            seen += 1;
        }
    }
    assert!(seen > 40, "only {seen} commands were found");
}

#[test]
fn commands_in_prose_exist() {
    let tree = Tree::open(&root()).unwrap();
    for (path, text) in tree.texts().filter(|(path, _)| is_document(path)) {
        for span in text.split('`').skip(1).step_by(2) {
            let Some(rest) = span.strip_prefix("hostler ") else {
                continue;
            };
            let mut at = hostler_cli::command_tree();
            for word in rest.split_whitespace().filter(|word| !word.starts_with('-')) {
                if !at.has_subcommands() {
                    break;
                }
                let next = at.find_subcommand(word).cloned();
                at = next.unwrap_or_else(|| panic!("{path}: `{span}`: there is no `{word}`"));
            }
        }
    }
}

fn is_document(path: &str) -> bool {
    let is_generated = path.starts_with("docs/reference/") && path != "docs/reference/README.md";
    path.ends_with(".md") && !path.starts_with("web/") && !is_generated
}

/// Lines that begin with `$ hostler`, with their continuation lines.
fn typed(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    joined
        .lines()
        .filter_map(|line| line.trim().strip_prefix("$ "))
        .filter(|line| line.starts_with("hostler "))
        .map(str::to_owned)
        .collect()
}

/// Words as a shell would split them, up to where the command ends.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut is_open = false;
    for c in command.chars() {
        match (quote, c) {
            (None, '|' | '>' | '<' | ';' | '#' | '&') => break,
            (None, '\'' | '"') => (quote, is_open) = (Some(c), true),
            (None, ' ') => {
                if is_open {
                    words.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            (Some(open), _) if open == c => quote = None,
            (_, c) => {
                word.push(c);
                is_open = true;
            }
        }
    }
    if is_open {
        words.push(word);
    }
    words
}

#[test]
fn shell_words_are_split() {
    let line = r#"hostler run  -- sh -c 'echo "hi"; exit 3' "" > file"#;
    let expected = ["hostler", "run", "--", "sh", "-c", "echo \"hi\"; exit 3", ""];
    assert_eq!(words(line), expected);
}
