//! Channels: values handed from one goroutine to another.
//!
//! Whoever cannot go on waits with a [`Ticket`] in the queues of all the channels that it waits for. Who comes by and can
//! meet one of its cases takes the ticket with that; a ticket is taken once, and what lies in other queues is skipped.
//! A value that was handed to somebody who went away in that moment goes back to the front of its channel.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use mlua::{IntoLuaMulti, Lua, MultiValue, Result, UserData, UserDataMethods, UserDataRef, Value};
use tokio::sync::oneshot;

use super::idle;

/// Which way a channel may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Both,
    Send,
    Receive,
}

impl Direction {
    pub fn named(word: &str) -> Option<Direction> {
        match word {
            "" | "both" | "bidirectional" => Some(Direction::Both),
            "send" | "send_only" => Some(Direction::Send),
            "receive" | "receive_only" | "recv" => Some(Direction::Receive),
            _ => None,
        }
    }
}

/// What came of a case.
#[derive(Debug)]
pub(super) enum What {
    Sent,
    /// The channel is closed and takes nothing.
    Refused,
    Received(Value),
    /// The channel is closed, and there is nothing left in it.
    Ended,
}

/// One way in which a goroutine can go on.
pub(super) struct Case {
    pub channel: Channel,
    /// What it wants to send; otherwise it wants to receive.
    pub send: Option<Value>,
}

pub(super) type Met = (usize, What);

#[derive(Clone)]
struct Ticket(Rc<RefCell<Option<oneshot::Sender<Met>>>>);

impl Ticket {
    fn is_open(&self) -> bool {
        self.0.borrow().as_ref().is_some_and(|sender| !sender.is_closed())
    }
    fn take(&self, met: Met) -> std::result::Result<(), Met> {
        match self.0.borrow_mut().take() {
            Some(sender) => sender.send(met),
            None => Err(met),
        }
    }
}

struct Waiting {
    ticket: Ticket,
    case: usize,
    value: Value,
}

#[derive(Default)]
struct Inner {
    buffer: VecDeque<Value>,
    is_closed: bool,
    senders: VecDeque<Waiting>,
    receivers: VecDeque<Waiting>,
}

#[derive(Clone)]
pub(super) struct Channel {
    inner: Rc<RefCell<Inner>>,
    capacity: usize,
    direction: Direction,
}

impl Channel {
    pub fn new(capacity: usize, direction: Direction) -> Channel {
        Channel { inner: Rc::default(), capacity, direction }
    }

    /// Sends at once, or gives the value back when that would have to wait.
    fn send_now(&self, mut value: Value) -> std::result::Result<What, Value> {
        let mut inner = self.inner.borrow_mut();
        if inner.is_closed {
            return Ok(What::Refused);
        }
        while let Some(waiting) = inner.receivers.pop_front() {
            match waiting.ticket.take((waiting.case, What::Received(value))) {
                Ok(()) => return Ok(What::Sent),
                Err((_, What::Received(back))) => value = back,
                Err(_) => return Ok(What::Sent),
            }
        }
        if inner.buffer.len() < self.capacity {
            inner.buffer.push_back(value);
            return Ok(What::Sent);
        }
        Err(value)
    }

    /// Receives at once, if something is there or nothing can come.
    fn receive_now(&self) -> Option<What> {
        let mut inner = self.inner.borrow_mut();
        let first = inner.buffer.pop_front();
        while let Some(waiting) = inner.senders.pop_front() {
            if waiting.ticket.take((waiting.case, What::Sent)).is_err() {
                continue;
            }
            let Some(first) = first else { return Some(What::Received(waiting.value)) };
            inner.buffer.push_back(waiting.value);
            return Some(What::Received(first));
        }
        match first {
            Some(value) => Some(What::Received(value)),
            None => inner.is_closed.then_some(What::Ended),
        }
    }

    fn put_back(&self, value: Value) {
        let mut inner = self.inner.borrow_mut();
        let mut value = value;
        while let Some(waiting) = inner.receivers.pop_front() {
            match waiting.ticket.take((waiting.case, What::Received(value))) {
                Err((_, What::Received(back))) => value = back,
                _ => return,
            }
        }
        inner.buffer.push_front(value);
    }

    /// False when it was closed already.
    pub fn close(&self) -> bool {
        let mut inner = self.inner.borrow_mut();
        if std::mem::replace(&mut inner.is_closed, true) {
            return false;
        }
        for waiting in inner.senders.drain(..).collect::<Vec<_>>() {
            let _somebody_gone = waiting.ticket.take((waiting.case, What::Refused));
        }
        for waiting in inner.receivers.drain(..) {
            let _somebody_gone = waiting.ticket.take((waiting.case, What::Ended));
        }
        true
    }

    pub async fn send(&self, value: Value) -> bool {
        let case = Case { channel: self.clone(), send: Some(value) };
        matches!(first_of(&[case]).await.1, What::Sent)
    }

    /// The next value; nothing when it is closed and empty.
    pub async fn receive(&self) -> Option<Value> {
        match first_of(&[Case { channel: self.clone(), send: None }]).await.1 {
            What::Received(value) => Some(value),
            _ => None,
        }
    }

    pub fn len(&self) -> usize {
        self.inner.borrow().buffer.len()
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    pub fn check(&self, is_send: bool) -> Result<()> {
        match (self.direction, is_send) {
            (Direction::Send, false) => Err(mlua::Error::runtime(
                "this channel is for sending; nothing is received from it",
            )),
            (Direction::Receive, true) => {
                Err(mlua::Error::runtime("this channel is for receiving; nothing is sent to it"))
            }
            _ => Ok(()),
        }
    }
}

/// The first case in the list that can be met at once.
pub(super) fn ready(cases: &[Case]) -> Option<Met> {
    cases.iter().enumerate().find_map(|(at, case)| {
        let what = match &case.send {
            Some(value) => case.channel.send_now(value.clone()).ok(),
            None => case.channel.receive_now(),
        };
        what.map(|what| (at, what))
    })
}

/// Waits until one of the cases is met.
pub(super) async fn first_of(cases: &[Case]) -> Met {
    if let Some(met) = ready(cases) {
        return met;
    }
    let (sender, receiver) = oneshot::channel();
    let ticket = Ticket(Rc::new(RefCell::new(Some(sender))));
    for (at, case) in cases.iter().enumerate() {
        let mut inner = case.channel.inner.borrow_mut();
        let queue = if case.send.is_some() { &mut inner.senders } else { &mut inner.receivers };
        queue.retain(|waiting| waiting.ticket.is_open());
        let value = case.send.clone().unwrap_or(Value::Nil);
        queue.push_back(Waiting { ticket: ticket.clone(), case: at, value });
    }
    let mut wait = Wait { receiver, cases };
    match (&mut wait.receiver).await {
        Ok(met) => met,
        // Every queue that held the ticket is gone, and with them everybody who could come.
        Err(_) => std::future::pending().await,
    }
}

/// Somebody who waits, and may go away with a value in the hand.
struct Wait<'a> {
    receiver: oneshot::Receiver<Met>,
    cases: &'a [Case],
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Ok((at, What::Received(value))) = self.receiver.try_recv() {
            self.cases[at].channel.put_back(value);
        }
    }
}

pub(super) const CLOSED: &str = "the channel is closed";

/// What sending says: `true`, or `false` and why.
pub(super) fn sent(is_sent: bool) -> (bool, Option<&'static str>) {
    (is_sent, (!is_sent).then_some(CLOSED))
}

/// What receiving says: the value and `true`, or `nil` and `false`.
pub(super) fn received(value: Option<Value>) -> (Value, bool) {
    let is_there = value.is_some();
    (value.unwrap_or(Value::Nil), is_there)
}

/// Calls a function with each value until the channel is closed and empty, or the function says false.
async fn range(channel: Channel, function: mlua::Function) -> Result<()> {
    while let Some(value) = channel.receive().await {
        let answer: Value = function.call_async(value).await?;
        if answer == Value::Boolean(false) {
            break;
        }
    }
    Ok(())
}

pub(super) async fn send_to(lua: Lua, channel: Channel, value: Value) -> Result<MultiValue> {
    channel.check(true)?;
    if let Some(unknown) = idle(&lua, "channel:send") {
        return unknown.into_lua_multi(&lua);
    }
    sent(channel.send(value).await).into_lua_multi(&lua)
}

pub(super) async fn receive_from(lua: Lua, channel: Channel) -> Result<MultiValue> {
    channel.check(false)?;
    if let Some(unknown) = idle(&lua, "channel:receive") {
        return unknown.into_lua_multi(&lua);
    }
    received(channel.receive().await).into_lua_multi(&lua)
}

impl UserData for Channel {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_async_method("send", |lua, this: UserDataRef<Channel>, value: Value| {
            send_to(lua, this.clone(), value)
        });
        methods.add_async_method("receive", |lua, this: UserDataRef<Channel>, ()| {
            receive_from(lua, this.clone())
        });
        methods.add_method("try_send", |_, this, value: Value| {
            this.check(true)?;
            Ok(match this.send_now(value) {
                Ok(What::Sent) => (true, None),
                Ok(_) => (false, Some(CLOSED)),
                Err(_) => (false, Some("the channel is full")),
            })
        });
        methods.add_method("try_receive", |_, this, ()| {
            this.check(false)?;
            Ok(match this.receive_now() {
                Some(What::Received(value)) => (value, true, None),
                Some(_) => (Value::Nil, false, Some(CLOSED)),
                None => (Value::Nil, false, Some("the channel is empty")),
            })
        });
        methods.add_method("close", |_, this, ()| {
            let is_closed_now = this.close();
            Ok((is_closed_now, (!is_closed_now).then_some("the channel was closed before")))
        });
        methods.add_method("len", |_, this, ()| Ok(this.len()));
        methods.add_method("cap", |_, this, ()| Ok(this.capacity));
        methods.add_method("is_closed", |_, this, ()| Ok(this.inner.borrow().is_closed));
        methods.add_async_method(
            "range",
            |lua, this: UserDataRef<Channel>, function: mlua::Function| {
                let channel = this.clone();
                async move {
                    channel.check(false)?;
                    if idle(&lua, "channel:range").is_some() {
                        return Ok(());
                    }
                    range(channel, function).await
                }
            },
        );
    }
}
