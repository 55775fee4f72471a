//! Texts with holes: the everyday part of Go's `text/template`.
//!
//! `{{ .A.B }}`, `{{ $.A }}`, `if` / `else if` / `else`, `range` (also `range $i, $v := ..`), `with`, pipes, comments,
//! and `{{-` / `-}}` to take spaces away. A name that has no value is a mistake, unless somebody asks whether it has one
//! (`if`, `with`, `and`, `or`, `not`, `default`): a configuration with a hole in it helps nobody.

mod functions;
mod parse;

use serde_json::Value as Json;

use parse::{Expression, Node, Pipe};

/// Deeper than this nobody writes.
const DEEPEST: usize = 100;
/// The most that is made of a template.
const LONGEST: usize = 64 << 20;

/// Fills a text.
pub(super) fn render(text: &str, vars: &Json) -> Result<String, String> {
    let nodes = parse::parse(text)?;
    let mut filling = Filling { root: vars, names: Vec::new(), made: String::new() };
    filling.nodes(&nodes, vars, 0)?;
    Ok(filling.made)
}

struct Filling<'a> {
    root: &'a Json,
    names: Vec<(String, Json)>,
    made: String,
}

impl Filling<'_> {
    fn nodes(&mut self, nodes: &[Node], dot: &Json, depth: usize) -> Result<(), String> {
        if depth > DEEPEST || self.made.len() > LONGEST {
            return Err("what it makes is too large".to_owned());
        }
        for node in nodes {
            match node {
                Node::Text(text) => self.made.push_str(text),
                Node::Print(pipe) => {
                    let value = self.pipe(pipe, dot)?;
                    let value = value.ok_or_else(|| {
                        format!(
                            "`{}` has no value; give it in `vars`, or say `| default`",
                            pipe.text
                        )
                    })?;
                    self.made.push_str(&functions::shown(&value));
                }
                Node::Set(name, pipe) => {
                    let value = self.pipe(pipe, dot)?.unwrap_or(Json::Null);
                    self.names.push((name.clone(), value));
                }
                Node::If(pipe, then, other) => {
                    let value = self.pipe(pipe, dot)?;
                    let holds = value.as_ref().is_some_and(functions::is_true);
                    self.inside(if holds { then } else { other }, dot, depth)?;
                }
                Node::With(pipe, then, other) => match self.pipe(pipe, dot)? {
                    Some(value) if functions::is_true(&value) => {
                        self.inside(then, &value, depth)?
                    }
                    _ => self.inside(other, dot, depth)?,
                },
                Node::Range { names, pipe, each, none } => {
                    let value = self.pipe(pipe, dot)?;
                    let items = functions::items(value.as_ref(), &pipe.text)?;
                    if items.is_empty() {
                        self.inside(none, dot, depth)?;
                    }
                    for (key, item) in items {
                        let before = self.names.len();
                        match names.as_slice() {
                            [] => {}
                            [value] => self.names.push((value.clone(), item.clone())),
                            [index, value, ..] => {
                                self.names.push((index.clone(), key));
                                self.names.push((value.clone(), item.clone()));
                            }
                        }
                        self.nodes(each, &item, depth + 1)?;
                        self.names.truncate(before);
                    }
                }
            }
        }
        Ok(())
    }

    fn inside(&mut self, nodes: &[Node], dot: &Json, depth: usize) -> Result<(), String> {
        let before = self.names.len();
        self.nodes(nodes, dot, depth + 1)?;
        self.names.truncate(before);
        Ok(())
    }

    /// `None` where something is named that has no value.
    fn pipe(&self, pipe: &Pipe, dot: &Json) -> Result<Option<Json>, String> {
        let mut value: Option<Option<Json>> = None;
        for stage in &pipe.stages {
            value = Some(self.stage(stage, value.take(), dot)?);
        }
        Ok(value.flatten())
    }

    fn stage(
        &self,
        words: &[Expression],
        piped: Option<Option<Json>>,
        dot: &Json,
    ) -> Result<Option<Json>, String> {
        let (first, rest) = words.split_first().ok_or("there is nothing between the braces")?;
        if let Expression::Function(name) = first {
            let mut values = Vec::new();
            for word in rest {
                values.push(self.value(word, dot)?);
            }
            values.extend(piped);
            return functions::call(name, values).map(Some);
        }
        match rest.is_empty() && piped.is_none() {
            true => self.value(first, dot),
            false => Err("only functions take values; join texts with `printf`".to_owned()),
        }
    }

    fn value(&self, expression: &Expression, dot: &Json) -> Result<Option<Json>, String> {
        Ok(match expression {
            Expression::Literal(value) => Some(value.clone()),
            Expression::Dot(path) => functions::at(dot, path),
            Expression::Name(name, path) if name.is_empty() => functions::at(self.root, path),
            Expression::Name(name, path) => {
                let found = self.names.iter().rev().find(|(known, _)| known == name);
                let (_, value) = found.ok_or_else(|| format!("there is no `${name}` here"))?;
                functions::at(value, path)
            }
            Expression::Pipe(pipe) => self.pipe(pipe, dot)?,
            Expression::Function(name) => Some(functions::call(name, Vec::new())?),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates_are_filled() {
        let vars = json!({
            "Name": "web", "Port": 8080, "On": true, "Off": false, "Empty": "", "Ratio": 0.5,
            "A": {"B": {"C": "deep"}}, "List": ["a", "b"], "None": [],
            "Map": {"x": 1, "y": 2}, "Servers": [{"Host": "h1"}, {"Host": "h2"}],
        });
        for (text, expected) in [
            ("plain", "plain"),
            ("{{ .Name }}:{{.Port}} {{ .Ratio }} {{ .On }}", "web:8080 0.5 true"),
            ("{{ .A.B.C }}", "deep"),
            ("{{ if .On }}yes{{ else }}no{{ end }}", "yes"),
            ("{{ if .Off }}a{{ else if eq .Port 8080 }}b{{ else }}c{{ end }}", "b"),
            ("{{ if .Missing }}a{{ else }}b{{ end }}{{ if .Empty }}c{{ end }}", "b"),
            ("{{ if and .On (not .Off) }}x{{ end }}{{ if or .Off .Name }}y{{ end }}", "xy"),
            ("{{ range .List }}<{{ . }}>{{ end }}", "<a><b>"),
            ("{{ range .None }}x{{ else }}none{{ end }}", "none"),
            ("{{ range $i, $v := .List }}{{ $i }}={{ $v }};{{ end }}", "0=a;1=b;"),
            ("{{ range $k, $v := .Map }}{{ $k }}{{ $v }}{{ end }}", "x1y2"),
            ("{{ range .Servers }}{{ .Host }}:{{ $.Port }} {{ end }}", "h1:8080 h2:8080 "),
            ("{{ with .A.B }}{{ .C }}{{ end }}{{ with .Gone }}x{{ else }}y{{ end }}", "deepy"),
            ("{{ .Gone | default \"d\" }}{{ .Empty | default 5 }}{{ default 1 .Port }}", "d58080"),
            ("{{ .Name | upper }} {{ \"ABC\" | lower | quote }}", "WEB \"abc\""),
            ("a  {{- .Name -}}\n  b", "awebb"),
            ("{{/* a comment */}}x{{- /* another */ -}} y", "xy"),
            ("{{ $p := .Port }}{{ $p }}", "8080"),
            ("{{ printf \"%s-%d %v %q\" .Name .Port .On .Name }}", "web-8080 true \"web\""),
            ("{{ len .List }}{{ index .List 1 }}{{ index .Map \"y\" }}", "2b2"),
            ("{{ join \",\" .List }} {{ .List | join \"-\" }}", "a,b a-b"),
            ("{{ if and (gt .Port 80) (ne .Name \"db\") }}ok{{ end }}", "ok"),
            ("{{ `raw \"text\"` }} {{ \"{{\" }}", "raw \"text\" {{"),
            ("{{ replace \"e\" \"i\" .Name }}{{ trim \" x \" }}", "wibx"),
        ] {
            assert_eq!(render(text, &vars).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        for (text, words) in [
            ("{{ .Gone }}", "`.Gone` has no value"),
            ("{{ Name }}", "there is no function `Name`; write `.Name` for a value"),
            ("{{ if .A }}", "is not closed with `{{ end }}`"),
            ("{{ end }}", "closes nothing"),
            ("{{ .A ", "has no `}}`"),
            ("{{ range .Text }}{{ end }}", "`.Text` is no list"),
            ("{{ .Text | nothing }}", "there is no function `nothing`"),
            ("{{ .Text .Text }}", "only functions take values"),
            ("line\n\n{{ template \"x\" }}", "line 3"),
            ("{{ }}", "nothing between the braces"),
            ("{{ $x }}", "there is no `$x`"),
        ] {
            let error = render(text, &json!({"Text": "t"})).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
