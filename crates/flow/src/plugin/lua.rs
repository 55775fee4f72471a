//! A file of Lua that returns a table of types.
//!
//! A call is a workflow with one step, whose body is ours (`driver.lua`) and calls the function of the plugin: so it is
//! bounded, interrupted and given the modules as every step is.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use hostler_lua::body::Performer;
use hostler_lua::modules::Stream;
use hostler_lua::{Bundle, Given};
use hostler_model::stack::{PluginManifest, PluginReply, PluginRequest};
use hostler_model::workflow::{Step, StepEnd, StepResult};
use serde_json::{Map, Value, json};

use super::{Hear, Plugin, Trouble};
use crate::run::{Observer, Setup, Told, run};

const DRIVER: &str = include_str!("driver.lua");
/// What the file is called where it is asked for.
const FILE: &str = "hostler_plugin.lua";
/// How much longer than the call itself everything around it may take.
const AROUND: Duration = Duration::from_secs(5);

pub(super) async fn manifest(plugin: &Plugin, bundle: &Bundle) -> Result<PluginManifest, Trouble> {
    let told = carried(plugin, bundle, None).await?;
    serde_json::from_value(told)
        .map_err(|error| Trouble(format!("what it says of its types is wrong: {error}")))
}

pub(super) async fn call(
    plugin: &Plugin,
    bundle: &Bundle,
    request: &PluginRequest,
) -> Result<PluginReply, Trouble> {
    let mut told = carried(plugin, bundle, Some(request)).await?;
    if let Value::Object(fields) = &mut told {
        fields.retain(|_, value| !value.is_null());
    }
    serde_json::from_value(told).map_err(|error| Trouble(format!("its answer is wrong: {error}")))
}

async fn carried(
    plugin: &Plugin,
    bundle: &Bundle,
    request: Option<&PluginRequest>,
) -> Result<Value, Trouble> {
    let mut files = bundle.files.clone();
    files.insert(FILE.to_owned(), bundle.text.clone());
    let whole = Bundle { name: "driver.lua".to_owned(), text: DRIVER.to_owned(), files };
    let mut values = Map::new();
    values.insert("timeout".to_owned(), json!(format!("{}ms", plugin.timeout.as_millis())));
    if let Some(request) = request {
        let request = serde_json::to_value(request)
            .map_err(|error| Trouble(format!("it cannot be asked: {error}")))?;
        values.insert("request".to_owned(), request);
    }
    let given = Given { values: Value::Object(values), ..Given::default() };
    let performer = Performer::new(whole, &given)
        .map_err(|mistakes| Trouble(mistakes.to_string().replace(FILE, &bundle.name)))?;
    let setup = Setup {
        workdir: plugin.workdir.clone(),
        environment: plugin.environment.clone(),
        secrets: plugin.secrets.clone(),
        at_once: 1,
        is_here: true,
        values: given.values.clone(),
        ..Setup::default()
    };
    let watch = Rc::new(Watch { hear: plugin.hear.clone(), result: RefCell::default() });
    let observer: Rc<dyn Observer> = Rc::clone(&watch) as Rc<dyn Observer>;
    let never = std::future::pending();
    let work = Box::pin(run(Rc::new(performer), "plugin", setup, None, observer, never));
    let late = || {
        let time = plugin.timeout.as_secs_f64();
        Trouble(format!("it did not answer within {time} s, and was ended"))
    };
    let done = tokio::time::timeout(plugin.timeout + AROUND, work).await.map_err(|_| late())?;
    done.map_err(|error| Trouble(error.to_string()))?;
    match watch.result.take() {
        Some(StepResult { end: StepEnd::Succeeded, output, .. }) => {
            Ok(output.get("reply").cloned().unwrap_or_default())
        }
        Some(StepResult { end: StepEnd::TimedOut, .. }) => Err(late()),
        Some(result) => Err(Trouble(result.message.replace(FILE, &bundle.name))),
        None => Err(Trouble("it did not answer".to_owned())),
    }
}

struct Watch {
    hear: Hear,
    result: RefCell<Option<StepResult>>,
}

impl Observer for Watch {
    fn told(&self, told: &Told<'_>) {
        match told {
            Told::Said { stream, text, .. } => (self.hear)(*stream == Stream::Error, text),
            Told::Warned { text } => (self.hear)(true, text),
            Told::Ended { result, .. } => *self.result.borrow_mut() = Some((*result).clone()),
            _ => {}
        }
    }

    fn agrees(&self, _: &Step) -> Option<bool> {
        Some(true)
    }
}
