//! Numbers with their targets, as a table for people.

use std::fmt::Write as _;

/// Numbers that are kept together.
pub struct Document {
    pub title: &'static str,
    /// What writes it.
    pub command: &'static str,
    /// From the root of the project.
    pub path: &'static str,
    /// What is measured for it.
    pub names: &'static [&'static str],
}

/// One number.
pub struct Figure {
    what: String,
    value: String,
    target: Option<(String, bool)>,
}

/// The numbers of one measurement.
pub struct Section {
    title: &'static str,
    /// How it was measured, in a sentence or two.
    how: String,
    figures: Vec<Figure>,
}

#[derive(Default)]
pub struct Figures {
    pub sections: Vec<Section>,
}

impl Section {
    pub fn new(title: &'static str, how: impl Into<String>) -> Section {
        Section { title, how: how.into(), figures: Vec::new() }
    }

    pub fn note(&mut self, what: impl Into<String>, value: impl Into<String>) {
        self.figures.push(Figure { what: what.into(), value: value.into(), target: None });
    }

    /// A number that something is asked of.
    pub fn judge(
        &mut self,
        what: impl Into<String>,
        value: impl Into<String>,
        target: impl Into<String>,
        is_met: bool,
    ) {
        let target = Some((target.into(), is_met));
        self.figures.push(Figure { what: what.into(), value: value.into(), target });
    }

    pub fn plain(&self) -> String {
        let mut text = format!("{}\n", self.title);
        for figure in &self.figures {
            let verdict = figure.verdict();
            let _ = writeln!(text, "  {:<62} {:>14}  {verdict}", figure.what, figure.value);
        }
        text
    }

    fn markdown(&self) -> String {
        let mut text = format!(
            "## {}\n\n{}\n\n| what | measured | target |\n|---|---:|---|\n",
            self.title, self.how
        );
        for figure in &self.figures {
            let _ = writeln!(text, "| {} | {} | {} |", figure.what, figure.value, figure.verdict());
        }
        text
    }
}

impl Figure {
    fn verdict(&self) -> String {
        match &self.target {
            None => String::new(),
            Some((target, true)) => format!("{target}: met"),
            Some((target, false)) => format!("{target}: **missed**"),
        }
    }
}

impl Figures {
    pub fn misses(&self) -> Vec<String> {
        let all = self.sections.iter().flat_map(|section| &section.figures);
        let missed = all.filter(|figure| figure.target.as_ref().is_some_and(|(_, met)| !met));
        missed.map(|f| format!("{}: {} ({})", f.what, f.value, f.verdict())).collect()
    }

    /// The file of results.
    pub fn document(&self, of: &Document, machine: &str) -> String {
        let Document { title, command, .. } = of;
        let parts: Vec<String> = self.sections.iter().map(Section::markdown).collect();
        let missed = self.misses().len();
        let verdict = match missed {
            0 => "Every target was met.".to_owned(),
            _ => format!("**{missed} of the targets were missed.**"),
        };
        format!(
            "# {title}: measured\n\nWritten by `{command}`; see `bench/src/main.rs` for what the numbers mean. {verdict}\n\n{machine}\n{}",
            parts.join("\n")
        )
    }
}

/// The kernel's KiB as MB of a million bytes, the unit of the targets.
pub fn mb(kib: u64) -> String {
    format!("{:.1} MB", kib as f64 * 1024.0 / 1e6)
}

/// The same in kB of a thousand bytes.
pub fn kb(kib: u64) -> String {
    format!("{:.0} kB", kib as f64 * 1024.0 / 1e3)
}

/// The value below which a share of all values lies; of an empty list, 0.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index of the list"
    )]
    let at = (last as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_the_list() {
        let values = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(quantile(&values, 0.5).to_bits(), 3.0f64.to_bits());
        assert_eq!(quantile(&values, 0.95).to_bits(), 5.0f64.to_bits());
        assert_eq!(quantile(&[], 0.5).to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn a_miss_is_written_as_a_miss() {
        let mut section = Section::new("A", "so");
        section.judge("speed", "3", "at least 4", false);
        section.judge("weight", "3", "at most 4", true);
        let figures = Figures { sections: vec![section] };
        assert_eq!(figures.misses().len(), 1);
        let of = Document { title: "All", command: "this", path: "", names: &[] };
        let text = figures.document(&of, "a machine\n");
        assert!(text.starts_with("# All: measured\n\nWritten by `this`"), "{text}");
        assert!(text.contains("| speed | 3 | at least 4: **missed** |"), "{text}");
        assert!(text.contains("1 of the targets"), "{text}");
    }
}
