//! What somebody gives for a stack: a template, environments, parameters and the files that they name, as one request.

use std::collections::BTreeMap;
use std::path::Path;

use hostler_api::stack::{StackFormBody, StackOptionsBody};
use hostler_client::Error;
use hostler_model::stack::{StackName, StackOptions};
use serde_json::{Map, Value, json};

use super::super::Cx;
use super::files::Files;
use crate::args::{StackGivenArgs, StackOptionArgs};
use crate::exit;
use crate::failure::Failure;

/// How what flags say is called among files.
const FLAGS: &str = "flags";

/// A request, and how what is in it is called here.
pub struct Form {
    pub body: StackFormBody,
    /// How the template is called.
    name: String,
    files: Files,
}

impl Form {
    /// Reads everything, and tells what is wrong with it here.
    pub fn read(cx: &Cx, file: &Path, given: &StackGivenArgs) -> Result<Form, Failure> {
        one_stdin(file, given)?;
        let mut files = Files::default();
        let template = files.template(cx, file)?;
        let mut environment_files = Vec::new();
        for path in &given.environment {
            environment_files.push(files.environment(cx, path)?);
        }
        files.check()?;
        let hooks = hooks(&given.hook)?;
        if let Some(hooks) = &hooks {
            environment_files.push(FLAGS.to_owned());
            files.texts.insert(FLAGS.to_owned(), hooks.to_string());
        }
        let body = StackFormBody {
            template: Some(template),
            environment: None,
            environment_files,
            files: files.texts.clone(),
            parameters: parameters(cx, given)?,
        };
        let name = match file == Path::new("-") {
            true => "stdin".to_owned(),
            false => file.display().to_string(),
        };
        Ok(Form { body, name, files })
    }

    /// What a server has against it, with the names that files have here.
    pub fn refused(&self, error: Error) -> Failure {
        match error {
            Error::Problem(mut problem) => {
                problem.detail = self.named(&problem.detail);
                for found in &mut problem.errors {
                    found.detail = self.named(&found.detail);
                }
                told(Error::Problem(problem))
            }
            other => other.into(),
        }
    }

    pub fn named(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (address, name) in &self.files.names {
            text = text.replace(address.as_str(), name);
        }
        let root = |line: &str| match line.strip_prefix("template:") {
            Some(rest) => format!("{}:{rest}", self.name),
            None => line.to_owned(),
        };
        text.split('\n').map(root).collect::<Vec<_>>().join("\n")
    }
}

/// Mistakes with their lines stand one below the other; everything else is told as ever.
fn told(error: Error) -> Failure {
    let found = error.diagnostics();
    if !found.iter().any(|one| one.detail.contains('\n')) {
        return error.into();
    }
    let texts: Vec<&str> = found.iter().map(|one| one.detail.as_str()).collect();
    let hint = match texts.len() {
        1 => "correct it; nothing was done",
        _ => "correct them; nothing was done",
    };
    Failure::told(exit::Code::of_error(&error), texts.join("\n\n"), hint)
}

/// Stdin can be read once.
fn one_stdin(file: &Path, given: &StackGivenArgs) -> Result<(), Failure> {
    let dash = Path::new("-");
    let files = given.environment.iter().filter(|path| *path == dash).count();
    let values = given.parameter_file.iter().filter(|pair| pair.ends_with("=-")).count();
    match usize::from(file == dash) + files + values {
        0 | 1 => Ok(()),
        _ => Err(Failure::usage("stdin is named more than once", "it can be read once; use files")),
    }
}

fn parameters(cx: &Cx, given: &StackGivenArgs) -> Result<BTreeMap<String, Value>, Failure> {
    let mut parameters = BTreeMap::new();
    for pair in &given.parameter {
        let (name, value) = pair_of(pair, "-P replicas=3")?;
        parameters.insert(name.to_owned(), Value::String(value.to_owned()));
    }
    for pair in &given.parameter_file {
        let (name, path) = pair_of(pair, "--parameter-file key=key.pem")?;
        let value = match path {
            "-" => cx.ui.input_all()?,
            path => std::fs::read_to_string(path)
                .map_err(|error| Failure::usage(format!("{path}: {error}"), "name a text file"))?,
        };
        // As shells do with what a command prints.
        let value = value.strip_suffix('\n').unwrap_or(&value).to_owned();
        parameters.insert(name.to_owned(), Value::String(value));
    }
    Ok(parameters)
}

fn pair_of<'a>(pair: &'a str, example: &str) -> Result<(&'a str, &'a str), Failure> {
    let found = pair.split_once('=').filter(|(name, _)| !name.is_empty());
    found.ok_or_else(|| {
        Failure::usage(format!("`{pair}` names no value"), format!("write for example {example}"))
    })
}

/// `pre-create=server`, and `pre-update=group/server` for one below, as an environment says it.
fn hooks(given: &[String]) -> Result<Option<Value>, Failure> {
    let mut resources = Value::Object(Map::new());
    for pair in given {
        let (hook, name) = pair_of(pair, "--hook pre-create=server")?;
        hook.parse::<hostler_model::stack::StackHook>().map_err(|error| {
            Failure::usage(error.to_string(), "write for example --hook pre-create=server")
        })?;
        let mut at = &mut resources;
        for part in name.split('/') {
            at = &mut at[part];
        }
        match &mut at["hooks"] {
            Value::Array(known) => known.push(json!(hook)),
            none => *none = json!([hook]),
        }
    }
    let registry = json!({ "resource_registry": { "resources": resources } });
    Ok((!given.is_empty()).then_some(registry))
}

/// The name that was given, or that of the file without its ending.
pub fn name(file: &Path, given: Option<&StackName>) -> Result<StackName, Failure> {
    if let Some(name) = given {
        return Ok(name.clone());
    }
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let found = stem.filter(|_| file != Path::new("-")).and_then(|stem| stem.parse().ok());
    found.ok_or_else(|| {
        Failure::usage("what is the stack to be called?", "say it with --name, such as --name web")
    })
}

/// What was chosen; what was not stays as it is.
pub fn edit(args: &StackOptionArgs) -> StackOptionsBody {
    StackOptionsBody {
        is_rollback_enabled: match (args.rollback, args.no_rollback) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        },
        timeout: args.timeout,
        tags: args.tag.clone(),
        converges: args.converge.then_some(true),
        at_once: args.at_once,
        drift_every: args.drift_every,
    }
}

/// The same for a stack that is not there yet.
pub fn options(args: &StackOptionArgs) -> StackOptions {
    StackOptions {
        is_rollback_enabled: args.rollback,
        timeout: args.timeout,
        tags: args.tag.clone().unwrap_or_default(),
        converges: args.converge,
        at_once: args.at_once,
        drift_every: args.drift_every,
    }
}

/// What a document of a stack says was chosen, and what is said here instead.
pub fn options_of(document: &Value, args: &StackOptionArgs) -> Result<StackOptions, Failure> {
    let part = |name: &str| document.get(name).filter(|value| !value.is_null()).cloned();
    let mut options: StackOptions = match part("options") {
        Some(options) => serde_json::from_value(options).map_err(|error| {
            let text = format!("the options of the document are not understood: {error}");
            Failure::usage(text, "it is what `hostler stack export` or `abandon` printed")
        })?,
        None => StackOptions::default(),
    };
    if let Some(tags) = part("tags").filter(|_| options.tags.is_empty()) {
        options.tags = serde_json::from_value(tags).unwrap_or_default();
    }
    let said = edit(args);
    let StackOptions { is_rollback_enabled, timeout, tags, converges, at_once, drift_every } =
        options;
    Ok(StackOptions {
        is_rollback_enabled: said.is_rollback_enabled.unwrap_or(is_rollback_enabled),
        timeout: said.timeout.or(timeout),
        tags: said.tags.unwrap_or(tags),
        converges: said.converges.unwrap_or(converges),
        at_once: said.at_once.or(at_once),
        drift_every: said.drift_every.or(drift_every).filter(|every| !every.is_zero()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_chosen_comes_along() {
        let document = json!({ "tags": ["old"], "options": {
            "isRollbackEnabled": true, "timeout": "20m", "tags": ["prod"],
        }});
        let known = options_of(&document, &StackOptionArgs::default()).unwrap();
        assert!(known.is_rollback_enabled && known.tags == ["prod"], "{known:?}");
        assert_eq!(known.timeout.unwrap().to_string(), "20m");
        let args = StackOptionArgs { no_rollback: true, ..StackOptionArgs::default() };
        assert!(!options_of(&document, &args).unwrap().is_rollback_enabled);
        let heat = options_of(&json!({ "tags": ["a"] }), &StackOptionArgs::default()).unwrap();
        assert_eq!((heat.tags, heat.timeout), (vec!["a".to_owned()], None));
        assert!(options_of(&json!({ "options": 1 }), &StackOptionArgs::default()).is_err());
    }

    #[test]
    fn hooks_are_an_environment() {
        let given = ["pre-create=a", "post-create=a", "pre-update=group/0"].map(str::to_owned);
        assert_eq!(
            hooks(&given).unwrap().unwrap()["resource_registry"]["resources"],
            json!({
                "a": { "hooks": ["pre-create", "post-create"] },
                "group": { "0": { "hooks": ["pre-update"] } },
            })
        );
        assert!(hooks(&[]).unwrap().is_none());
        assert!(hooks(&["before=a".to_owned()]).is_err());
        assert!(hooks(&["pre-create".to_owned()]).is_err());
    }

    #[test]
    fn a_stack_is_called_like_its_file() {
        let named = |path: &str| name(Path::new(path), None).map(|name| name.to_string());
        assert_eq!(named("infra/web.prod.yaml").unwrap(), "web.prod");
        assert!(named("1.yaml").is_err());
        assert!(named("-").is_err());
    }
}
