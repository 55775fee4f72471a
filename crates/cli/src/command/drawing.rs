//! Graphs of what needs what: in words, for Graphviz, as a picture with layers from left to right.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::args::GraphFormat;

const HIGH: usize = 32;
const GAP: usize = 16;
const BETWEEN: usize = 56;
const LETTER: usize = 8;
const EDGE: usize = 16;

/// How something stands, where a drawing shows that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Good,
    Busy,
    Bad,
}

impl Tone {
    const fn fill(self) -> &'static str {
        match self {
            Tone::Plain => "#f6f6f4",
            Tone::Good => "#e3f4e3",
            Tone::Busy => "#fdf3d6",
            Tone::Bad => "#fbe0de",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Node {
    pub name: String,
    /// What the drawing in words says of it besides.
    pub note: String,
    pub tone: Tone,
}

/// One needs the other first.
#[derive(Clone, Debug)]
pub struct Edge {
    pub before: usize,
    pub after: usize,
    /// What it is called; it is drawn dashed then.
    pub label: &'static str,
}

#[derive(Clone, Debug, Default)]
pub struct Drawing {
    pub title: String,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

impl Drawing {
    /// Of nodes, each with the names of those that it needs. Names that nobody has are left out.
    pub fn of<'a>(
        title: &str,
        nodes: Vec<Node>,
        needs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Drawing {
        let place: BTreeMap<&str, usize> =
            nodes.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect();
        let edge = |(after, before): (&str, &str)| {
            let (after, before) = (*place.get(after)?, *place.get(before)?);
            Some(Edge { before, after, label: "" })
        };
        let edges = needs.into_iter().filter_map(edge).collect();
        Drawing { title: title.to_owned(), nodes, edges }
    }

    pub fn draw(&self, format: GraphFormat) -> String {
        match format {
            GraphFormat::Text => self.text(),
            GraphFormat::Dot => self.dot(),
            GraphFormat::Svg => self.svg(),
        }
    }

    /// How far each node is from the beginning. Those in a circle stand where they were reached.
    pub fn layers(&self) -> Vec<Vec<usize>> {
        let mut missing = vec![0_usize; self.nodes.len()];
        let mut next = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            missing[edge.after] += 1;
            next[edge.before].push(edge.after);
        }
        let mut layer = vec![0_usize; self.nodes.len()];
        let mut free: Vec<usize> = (0..self.nodes.len()).filter(|&at| missing[at] == 0).collect();
        while let Some(at) = free.pop() {
            for &after in &next[at] {
                layer[after] = layer[after].max(layer[at] + 1);
                missing[after] -= 1;
                if missing[after] == 0 {
                    free.push(after);
                }
            }
        }
        let mut layers = vec![Vec::new(); layer.iter().max().map_or(0, |deepest| deepest + 1)];
        for (node, at) in layer.into_iter().enumerate() {
            layers[at].push(node);
        }
        layers
    }

    fn text(&self) -> String {
        let mut drawn = format!("{}\n", self.title);
        let layers = self.layers();
        let mut before: Vec<Vec<&str>> = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            before[edge.after].push(&self.nodes[edge.before].name);
        }
        for (at, layer) in layers.iter().enumerate() {
            for (n, &node) in layer.iter().enumerate() {
                let is_last = at + 1 == layers.len() && n + 1 == layer.len();
                let mark = if is_last { "└─" } else { "├─" };
                let Node { name, note, .. } = &self.nodes[node];
                let _ = write!(drawn, "{mark} {}{name}", "   ".repeat(at));
                if !before[node].is_empty() {
                    let _ = write!(drawn, "  ← {}", before[node].join(", "));
                }
                if !note.is_empty() {
                    let _ = write!(drawn, "  {note}");
                }
                drawn.push('\n');
            }
        }
        drawn
    }

    fn dot(&self) -> String {
        let quoted =
            |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let mut drawn = format!(
            "digraph {} {{\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\"];\n",
            quoted(&self.title)
        );
        for node in &self.nodes {
            let _ =
                writeln!(drawn, "  {} [fillcolor=\"{}\"];", quoted(&node.name), node.tone.fill());
        }
        for edge in &self.edges {
            let (before, after) = (&self.nodes[edge.before], &self.nodes[edge.after]);
            let style = match edge.label {
                "" => String::new(),
                label => format!(" [style=dashed, label={}]", quoted(label)),
            };
            let _ =
                writeln!(drawn, "  {} -> {}{style};", quoted(&before.name), quoted(&after.name));
        }
        drawn.push_str("}\n");
        drawn
    }

    pub fn svg(&self) -> String {
        let wide = |at: usize| self.nodes[at].name.chars().count() * LETTER + 24;
        let mut places = vec![(0, 0, 0); self.nodes.len()];
        let (mut left, mut bottom) = (EDGE, EDGE);
        for layer in self.layers() {
            let widest = layer.iter().map(|&at| wide(at)).max().unwrap_or(0);
            for (n, &at) in layer.iter().enumerate() {
                let top = EDGE + n * (HIGH + GAP);
                places[at] = (left, top, widest);
                bottom = bottom.max(top + HIGH);
            }
            left += widest + BETWEEN;
        }
        let (width, height) = (left.saturating_sub(BETWEEN) + EDGE, bottom + EDGE);
        let mut drawn = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"monospace\" font-size=\"13\">\n<title>{}</title>\n",
            escaped(&self.title)
        );
        for edge in &self.edges {
            let dash = if edge.label.is_empty() { "" } else { " stroke-dasharray=\"5 4\"" };
            let (from, to) = (places[edge.before], places[edge.after]);
            let (x1, y1) = (from.0 + from.2, from.1 + HIGH / 2);
            let (x2, y2) = (to.0, to.1 + HIGH / 2);
            let middle = usize::midpoint(x1, x2);
            let _ = writeln!(
                drawn,
                "<path d=\"M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}\" fill=\"none\" stroke=\"#888\"{dash}/>"
            );
        }
        for (node, (x, y, w)) in self.nodes.iter().zip(&places) {
            let _ = writeln!(
                drawn,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{HIGH}\" rx=\"6\" fill=\"{}\" stroke=\"#444\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                node.tone.fill(),
                x + w / 2,
                y + HIGH / 2 + 5,
                escaped(&node.name)
            );
        }
        drawn.push_str("</svg>\n");
        drawn
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diamond() -> Drawing {
        let node = |name: &str| Node { name: name.to_owned(), ..Node::default() };
        let nodes = ["net", "web", "db", "dns"].map(node).to_vec();
        let needs = [("web", "net"), ("db", "net"), ("dns", "web"), ("dns", "db"), ("dns", "gone")];
        Drawing::of("shop", nodes, needs)
    }

    #[test]
    fn what_needs_something_stands_after_it() {
        assert_eq!(diamond().layers(), [vec![0], vec![1, 2], vec![3]]);
        assert_eq!(
            diamond().draw(GraphFormat::Text),
            "shop\n├─ net\n├─    web  ← net\n├─    db  ← net\n└─       dns  ← web, db\n"
        );
        let dot = diamond().draw(GraphFormat::Dot);
        assert!(
            dot.starts_with("digraph \"shop\" {") && dot.contains("\"net\" -> \"web\";"),
            "{dot}"
        );
        let picture = diamond().draw(GraphFormat::Svg);
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        assert_eq!((picture.matches("<rect").count(), picture.matches("<path").count()), (4, 4));
    }

    #[test]
    fn circles_are_drawn_too() {
        let node = |name: &str| Node { name: name.to_owned(), ..Node::default() };
        let drawing = Drawing::of("c", ["a", "b"].map(node).to_vec(), [("a", "b"), ("b", "a")]);
        assert_eq!(drawing.layers(), [vec![0, 1]]);
        assert!(drawing.draw(GraphFormat::Text).contains("a  ← b"));
        assert_eq!(Drawing::default().layers(), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn names_cannot_leave_the_picture() {
        let node = Node { name: "a\"<b>".to_owned(), ..Node::default() };
        let drawing = Drawing { title: "x\"".to_owned(), nodes: vec![node], edges: Vec::new() };
        assert!(drawing.draw(GraphFormat::Svg).contains("a&quot;&lt;b&gt;"));
        assert!(drawing.draw(GraphFormat::Dot).contains("\"a\\\"<b>\""));
    }
}
