//! A workflow as a picture: layers from left to right, dashed where a failure leads.

use std::fmt::Write;

use hostler_model::workflow::Workflow;

use super::graph::layers;

const HIGH: usize = 32;
const GAP: usize = 16;
const BETWEEN: usize = 56;
const LETTER: usize = 8;
const EDGE: usize = 16;

pub fn svg(workflow: &Workflow) -> String {
    let layers = layers(workflow);
    let wide = |i: usize| workflow.steps[i].name.chars().count() * LETTER + 24;
    let mut places = vec![(0, 0, 0); workflow.steps.len()];
    let mut left = EDGE;
    let mut bottom = EDGE;
    for layer in &layers {
        let widest = layer.iter().map(|&i| wide(i)).max().unwrap_or(0);
        for (n, &i) in layer.iter().enumerate() {
            let top = EDGE + n * (HIGH + GAP);
            places[i] = (left, top, widest);
            bottom = bottom.max(top + HIGH);
        }
        left += widest + BETWEEN;
    }
    let (width, height) = (left.saturating_sub(BETWEEN) + EDGE, bottom + EDGE);
    let mut drawn = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"monospace\" font-size=\"13\">\n<title>{}</title>\n",
        escaped(&workflow.name)
    );
    for (i, step) in workflow.steps.iter().enumerate() {
        for (before, dash) in step
            .depends_on
            .iter()
            .map(|name| (name, ""))
            .chain(step.after_failure_of.iter().map(|name| (name, " stroke-dasharray=\"5 4\"")))
        {
            let Some(j) = workflow.position(before) else { continue };
            let (x1, y1) = (places[j].0 + places[j].2, places[j].1 + HIGH / 2);
            let (x2, y2) = (places[i].0, places[i].1 + HIGH / 2);
            let middle = usize::midpoint(x1, x2);
            let _ = writeln!(
                drawn,
                "<path d=\"M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}\" fill=\"none\" stroke=\"#888\"{dash}/>"
            );
        }
    }
    for (step, (x, y, w)) in workflow.steps.iter().zip(&places) {
        let _ = writeln!(
            drawn,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{HIGH}\" rx=\"6\" fill=\"#f6f6f4\" stroke=\"#444\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x + w / 2,
            y + HIGH / 2 + 5,
            escaped(&step.name)
        );
    }
    drawn.push_str("</svg>\n");
    drawn
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
