//! `docs/reference/filters.md`: the fields that filters of each list know, from the schemas of what is answered.

use std::fmt::Write as _;

use hostler_api::filter::{Filtered, lists};
use hostler_model::filter::{Field, Kind};

/// Words of which a table names each.
const WORDS_MAX: usize = 12;
/// The list of which the fields of specs are taken.
const OF_SPECS: &str = "task_list";
/// What the spec of a workload has below it, and nothing else does.
const SPEC_MARK: &str = "container.image";

fn kind(kind: &Kind) -> String {
    match kind {
        Kind::Any => "any".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Number => "number".to_owned(),
        Kind::Bool => "true or false".to_owned(),
        Kind::Time => "time".to_owned(),
        Kind::Span => "length of time".to_owned(),
        Kind::List => "list".to_owned(),
        Kind::OneOf(words) if words.len() > WORDS_MAX => "a word".to_owned(),
        Kind::OneOf(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
    }
}

/// Paths below which there is the spec of a workload, each with a dot at its end.
fn specs(list: &Filtered) -> Vec<String> {
    let found = list.fields.0.iter().filter_map(|field| field.path.strip_suffix(SPEC_MARK));
    found.map(str::to_owned).collect()
}

fn row(page: &mut String, path: &str, values: &str, words: &str) {
    let words = words.lines().next().unwrap_or_default().replace('|', "\\|");
    writeln!(page, "| `{path}` | {values} | {words} |").expect("writing to a string cannot fail");
}

fn table(page: &mut String, list: &Filtered) {
    page.push_str("| field | values | means |\n|---|---|---|\n");
    let specs = specs(list);
    let mut is_said = vec![false; specs.len()];
    for (field, words) in list.fields.0.iter().zip(&list.words) {
        match specs.iter().position(|spec| field.path.starts_with(spec.as_str())) {
            Some(at) if is_said[at] => {}
            Some(at) => {
                is_said[at] = true;
                row(page, &format!("{}…", specs[at]), "", "[the spec of a workload](#specs)");
            }
            None => row(page, &field.example(), &kind(&field.kind), words),
        }
    }
}

fn spec_table(page: &mut String) {
    page.push_str("| field | values | means |\n|---|---|---|\n");
    let Some(list) = lists().iter().find(|list| list.name == OF_SPECS) else { return };
    for (field, words) in list.fields.0.iter().zip(&list.words) {
        if let Some(path) = field.path.strip_prefix("spec.") {
            let shown = Field { path: path.to_owned().into(), kind: field.kind.clone() };
            row(page, &shown.example(), &kind(&shown.kind), words);
        }
    }
}

pub fn page() -> String {
    let mut page = super::heading("Fields of filters", "the schemas of what lists answer");
    page.push_str(
        "What [filters](../filters.md) of lists can name: the fields of the items as they are answered and as\n\
         `-o json` shows them. `NAME` stands for any name, `0` for any place in a list, `…` for anything below.\n\
         Lists that are alike stand together. Filters of events have [fields of their own](events.md).\n",
    );
    let mut seen: Vec<(String, Vec<&Filtered>)> = Vec::new();
    for list in lists() {
        let mut text = String::new();
        table(&mut text, list);
        match seen.iter_mut().find(|(known, _)| *known == text) {
            Some((_, alike)) => alike.push(list),
            None => seen.push((text, vec![list])),
        }
    }
    for (text, alike) in seen {
        let names: Vec<String> = alike
            .iter()
            .map(|list| list.name.trim_end_matches("_list").replace('_', " "))
            .collect();
        write!(page, "\n## {}\n\n", names.join(", ")).expect("writing to a string cannot fail");
        for list in alike {
            writeln!(page, "`GET {}`", list.path).expect("writing to a string cannot fail");
        }
        page.push('\n');
        page.push_str(&text);
    }
    page.push_str("\n## Specs\n\nWhat the spec of a workload has, below each `spec.…`:\n\n");
    spec_table(&mut page);
    page
}
