//! Why something went wrong, as Heat words it.

/// What went wrong with a resource: what kind of mistake, where below it, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// One word, such as `Conflict`.
    pub kind: String,
    /// Where in the stack that the resource itself is: `resources[1].resources.web`. Nothing where it is the resource itself.
    pub within: Option<String>,
    pub message: String,
}

impl Failure {
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Failure {
        Failure { kind: kind.into(), within: None, message: message.into() }
    }

    /// What is told of a stack inside a resource when that stack gives this as its reason.
    pub fn of_nested(reason: &str) -> Failure {
        let inner = reason
            .strip_prefix("Resource ")
            .and_then(|rest| rest.split_once(" failed: "))
            .filter(|(action, _)| action.bytes().all(|c| c.is_ascii_uppercase()))
            .map_or(reason, |(_, inner)| inner);
        let mut parts = inner.splitn(3, ": ");
        if let (Some(kind), Some(path), Some(message)) = (parts.next(), parts.next(), parts.next())
            && path.starts_with("resources")
            && !path.contains(' ')
        {
            return Failure {
                kind: kind.to_owned(),
                within: Some(path.to_owned()),
                message: message.to_owned(),
            };
        }
        Failure::new("StackFailed", inner)
    }

    /// The reason that the resource stands with.
    pub fn text(&self, name: &str) -> String {
        let Failure { kind, within, message } = self;
        match within {
            Some(path) => format!("{kind}: resources.{name}.{path}: {message}"),
            None => format!("{kind}: resources.{name}: {message}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_grows_from_stack_to_stack() {
        let inner = Failure::new("Conflict", "port 80: taken").text("web");
        assert_eq!(inner, "Conflict: resources.web: port 80: taken");
        let nested = Failure::of_nested(&format!("Resource CREATE failed: {inner}"));
        assert_eq!(nested.text("pool"), "Conflict: resources.pool.resources.web: port 80: taken");
        let twice = Failure::of_nested(&nested.text("pool"));
        assert_eq!(
            twice.text("top"),
            "Conflict: resources.top.resources.pool.resources.web: port 80: taken"
        );
    }

    #[test]
    fn a_reason_of_another_shape_is_passed_on_whole() {
        for reason in ["Timed out", "a: b", "x: y: z"] {
            assert_eq!(
                Failure::of_nested(reason).text("n"),
                format!("StackFailed: resources.n: {reason}")
            );
        }
    }
}
