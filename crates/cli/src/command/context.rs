//! The servers this machine knows. Nothing here talks to one.

use hostler_model::Timestamp;
use serde::Serialize;

use super::{Cx, DONE};
use crate::args::ContextCommand;
use crate::config;
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Cell, Column, Description, Show, column, wide};
use crate::target::{Target, given};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContextView {
    name: String,
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    fingerprint: String,
    is_current: bool,
    has_token: bool,
}

impl Show for ContextView {
    const KIND: &'static str = "context";
    const COLUMNS: &'static [Column] = &[
        column("CURRENT"),
        column("NAME"),
        column("ADDRESS"),
        column("PROJECT"),
        column("TOKEN"),
        wide("FINGERPRINT"),
    ];
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        vec![
            Cell::new(if self.is_current { "*" } else { " " }),
            Cell::new(&self.name),
            Cell::new(&self.address),
            self.project.as_ref().into(),
            Cell::new(if self.has_token { "yes" } else { "no" }),
            Cell::new(&self.fingerprint),
        ]
    }
}

#[derive(Serialize)]
struct TargetView {
    context: Option<String>,
    address: ValueView,
    project: ValueView,
    fingerprint: ValueView,
    token: Option<ValueView>,
}

#[derive(Serialize)]
struct ValueView {
    value: String,
    source: String,
}

pub fn perform(cx: &Cx, command: ContextCommand) -> Outcome {
    match command {
        ContextCommand::Ls => ls(cx),
        ContextCommand::Use { name } => switch(cx, &name),
        ContextCommand::Show => show(cx),
        ContextCommand::Rm { names } => {
            for name in &names {
                if !config::remove_context(&cx.environment, name)? {
                    return Err(unknown(name));
                }
                cx.ui.say(&format!("context {name} forgotten"));
            }
            Ok(DONE)
        }
    }
}

fn unknown(name: &str) -> Failure {
    Failure::told(
        exit::Code::NotFound,
        format!("there is no context `{name}`"),
        "list them with `hostler context ls`",
    )
}

fn ls(cx: &Cx) -> Outcome {
    let config = config::load(&cx.environment)?;
    let mut views = Vec::new();
    for (name, context) in config.contexts {
        let secrets = config::load_secrets(&cx.environment, &name)?;
        views.push(ContextView {
            is_current: config.current.as_deref() == Some(&name),
            has_token: secrets.is_some_and(|secrets| secrets.token.is_some()),
            address: context.address,
            project: context.project,
            fingerprint: context.fingerprint,
            name,
        });
    }
    output::list(&cx.ui, cx.now(), &views)?;
    Ok(DONE)
}

fn switch(cx: &Cx, name: &str) -> Outcome {
    let mut config = config::load(&cx.environment)?;
    let context = config.contexts.get_mut(name).ok_or_else(|| unknown(name))?;
    if let Some(project) = given(&cx.globals.project) {
        context.project = Some(project.to_owned());
    }
    config.current = Some(name.to_owned());
    config::save(&cx.environment, &config)?;
    cx.ui.say(&format!("the current context is {name}"));
    Ok(DONE)
}

fn show(cx: &Cx) -> Outcome {
    let target = Target::resolve(&cx.globals, &cx.environment)?;
    let fingerprint = hostler_trust::AuthorityCertificate::from_pem(&target.ca_pem.value)
        .map(|authority| authority.fingerprint().to_string())
        .map_err(anyhow::Error::from)?;
    let view = TargetView {
        context: target.context,
        address: ValueView { value: target.address.value, source: target.address.source },
        project: ValueView { value: target.project.value, source: target.project.source },
        fingerprint: ValueView { value: fingerprint, source: target.ca_pem.source },
        token: target
            .token
            .map(|token| ValueView { value: "(kept secret)".to_owned(), source: token.source }),
    };
    if let Some(format) = cx.ui.format() {
        output::document(&cx.ui, format, &view)?;
        return Ok(DONE);
    }
    let mut text = Description::default();
    let mut pair = |name: &str, value: &ValueView| {
        text.pair(name, format!("{} (from {})", value.value, value.source));
    };
    pair("Address", &view.address);
    pair("Project", &view.project);
    pair("Authority", &view.fingerprint);
    if let Some(token) = &view.token {
        pair("Token", token);
    }
    text.pair("Context", view.context);
    cx.ui.data(text.render().as_bytes())?;
    Ok(DONE)
}
