//! What is made: the same for everybody, each in their own words.

use std::fmt::Write as _;

/// Resources of one kind, and how they hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// So many, none of which needs another.
    Flat(usize),
    /// So many, each of which has the value of the one before.
    Chain(usize),
}

impl Shape {
    pub const fn count(self) -> usize {
        match self {
            Shape::Flat(count) | Shape::Chain(count) => count,
        }
    }

    pub fn words(self) -> String {
        match self {
            Shape::Flat(count) => format!("{count} independent"),
            Shape::Chain(count) => format!("a chain of {count}"),
        }
    }

    /// Fit to be the name of a stack, or of a folder.
    pub fn label(self) -> String {
        match self {
            Shape::Flat(count) => format!("flat-{count}"),
            Shape::Chain(count) => format!("chain-{count}"),
        }
    }

    /// `OS::Heat::Value` keeps what it is given and gives it out.
    pub fn template(self) -> String {
        self.heat(|number, text| {
            let value = match self {
                Shape::Chain(_) if number > 0 => {
                    format!("{{get_attr: [r{}, value]}}", number - 1)
                }
                Shape::Flat(_) | Shape::Chain(_) => format!("text {number}"),
            };
            let _ = writeln!(
                text,
                "  r{number}: {{type: OS::Heat::Value, properties: {{value: {value}}}}}"
            );
        })
    }

    /// What real Heat was measured with.
    pub fn random(self) -> String {
        self.heat(|number, text| {
            let _ = match self {
                Shape::Chain(_) if number > 0 => writeln!(
                    text,
                    "  r{number}: {{type: OS::Heat::RandomString, depends_on: r{}}}",
                    number - 1
                ),
                Shape::Flat(_) | Shape::Chain(_) => {
                    writeln!(text, "  r{number}: {{type: OS::Heat::RandomString}}")
                }
            };
        })
    }

    fn heat(self, mut each: impl FnMut(usize, &mut String)) -> String {
        let mut text = "heat_template_version: 2018-08-31\nresources:\n".to_owned();
        for number in 0..self.count() {
            each(number, &mut text);
        }
        text
    }

    /// `terraform_data` keeps what it is given and gives it out, without a provider.
    pub fn terraform(self) -> String {
        let mut text = String::new();
        for number in 0..self.count() {
            let input = match self {
                Shape::Chain(_) if number > 0 => {
                    format!("terraform_data.r{}.output", number - 1)
                }
                Shape::Flat(_) | Shape::Chain(_) => format!("\"text {number}\""),
            };
            let _ = writeln!(
                text,
                "resource \"terraform_data\" \"r{number}\" {{\n  input = {input}\n}}"
            );
        }
        text
    }

    /// The same as one block, where that can be said: Terraform reads that faster.
    pub fn terraform_count(self) -> Option<String> {
        match self {
            Shape::Flat(count) => Some(format!(
                "resource \"terraform_data\" \"r\" {{\n  count = {count}\n  input = \"text ${{count.index}}\"\n}}\n"
            )),
            Shape::Chain(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_told_the_same() {
        let chain = Shape::Chain(2);
        assert_eq!(
            chain.template(),
            "heat_template_version: 2018-08-31\nresources:\n  r0: {type: OS::Heat::Value, properties: {value: text 0}}\n  r1: {type: OS::Heat::Value, properties: {value: {get_attr: [r0, value]}}}\n"
        );
        assert_eq!(
            chain.terraform(),
            "resource \"terraform_data\" \"r0\" {\n  input = \"text 0\"\n}\nresource \"terraform_data\" \"r1\" {\n  input = terraform_data.r0.output\n}\n"
        );
        assert!(chain.random().ends_with("r1: {type: OS::Heat::RandomString, depends_on: r0}\n"));
        assert_eq!(Shape::Flat(7).template().lines().count(), 9);
        assert_eq!(chain.terraform_count(), None);
        assert!(Shape::Flat(7).terraform_count().unwrap().contains("\"text ${count.index}\""));
    }
}
