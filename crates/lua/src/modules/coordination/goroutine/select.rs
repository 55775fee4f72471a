//! `goroutine.select`: going on with whichever channel can first.

use std::time::Duration;

use mlua::{Function, MultiValue, Result, Table, Value};

use super::channel::{CLOSED, Case, Channel, Met, What, first_of, ready};

/// What `goroutine.select` can be asked for.
pub(super) struct Choice {
    cases: Vec<Case>,
    handlers: Vec<Option<Function>>,
    places: Vec<usize>,
    /// Its place in the list, and what to call.
    default: Option<(usize, Option<Function>)>,
}

impl Choice {
    pub fn read(function: &str, list: &Table) -> Result<Choice> {
        let mut choice =
            Choice { cases: Vec::new(), handlers: Vec::new(), places: Vec::new(), default: None };
        for (at, case) in list.sequence_values::<Table>().enumerate() {
            let case = case?;
            let handler: Option<Function> = case.get("handler")?;
            if case.get::<Option<bool>>("default")? == Some(true) {
                choice.default = Some((at + 1, handler));
                continue;
            }
            let bad =
                |what: &str| mlua::Error::runtime(format!("{function}: case {} {what}", at + 1));
            let channel = match case.get::<Value>("channel")? {
                Value::UserData(data) => data.borrow::<Channel>().map(|channel| channel.clone()),
                _ => Err(mlua::Error::UserDataTypeMismatch),
            };
            let channel = channel.map_err(|_| bad("needs a channel, or default = true"))?;
            let send = if case.get::<Option<bool>>("receive")? == Some(true) {
                None
            } else {
                match case.get::<Value>("send")? {
                    Value::Nil => return Err(bad("needs receive = true or send = value")),
                    value => Some(value),
                }
            };
            channel.check(send.is_some())?;
            choice.cases.push(Case { channel, send });
            choice.handlers.push(handler);
            choice.places.push(at + 1);
        }
        if choice.cases.is_empty() && choice.default.is_none() {
            return Err(mlua::Error::runtime(format!("{function} needs at least one case")));
        }
        Ok(choice)
    }

    /// Waits for one, and calls its handler: its place in the list, and what the handler returned.
    pub async fn make(self) -> Result<(usize, MultiValue)> {
        let met = match &self.default {
            Some((place, handler)) => match ready(&self.cases) {
                Some(met) => met,
                None => {
                    let values = match handler {
                        Some(handler) => handler.call_async(()).await?,
                        None => MultiValue::new(),
                    };
                    return Ok((*place, values));
                }
            },
            None => first_of(&self.cases).await,
        };
        self.handle(met).await
    }

    /// The same, for at most so long.
    pub async fn make_within(self, time: Duration) -> Result<Option<(usize, MultiValue)>> {
        if self.default.is_some() {
            return self.make().await.map(Some);
        }
        match tokio::time::timeout(time, first_of(&self.cases)).await {
            Ok(met) => self.handle(met).await.map(Some),
            Err(_) => Ok(None),
        }
    }

    async fn handle(&self, (at, what): Met) -> Result<(usize, MultiValue)> {
        let place = self.places[at];
        let Some(handler) = &self.handlers[at] else { return Ok((place, MultiValue::new())) };
        let values = match what {
            What::Received(value) => handler.call_async((value, true)).await?,
            What::Ended => handler.call_async((Value::Nil, false)).await?,
            What::Sent => handler.call_async(true).await?,
            What::Refused => handler.call_async((false, CLOSED)).await?,
        };
        Ok((place, values))
    }
}
