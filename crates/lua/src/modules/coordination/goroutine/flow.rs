//! Values that flow from channel to channel.

use std::cell::Cell;
use std::rc::Rc;

use mlua::{Function, MultiValue, Value};

use super::super::{acting, call, tasks};
use super::channel::Channel;

/// Takes from a channel, does something with each value and puts what comes out into another.
pub(super) async fn work(from: Channel, to: Channel, function: Function) {
    while let Some(value) = from.receive().await {
        match call(function.clone(), MultiValue::from_vec(vec![value])).await {
            Ok(values) => match values.into_iter().next() {
                None | Some(Value::Nil) => {}
                Some(value) => {
                    if !to.send(value).await {
                        return;
                    }
                }
            },
            Err(error) => acting().complain(&format!("error: a stage of a pipeline: {error}")),
        }
    }
}

/// Carries what comes out of a channel into another.
pub(super) async fn carry(from: Channel, to: Channel) {
    while let Some(value) = from.receive().await {
        if !to.send(value).await {
            return;
        }
    }
}

/// Starts what fills a channel, and closes it when all of that is done.
pub(super) fn closing<F: Future<Output = ()> + 'static>(
    to: Channel,
    each: impl IntoIterator<Item = F>,
) {
    let each: Vec<F> = each.into_iter().collect();
    let left = Rc::new(Cell::new(each.len()));
    if each.is_empty() {
        to.close();
    }
    for one in each {
        let (to, left) = (to.clone(), Rc::clone(&left));
        tasks().spawn(async move {
            one.await;
            left.set(left.get() - 1);
            if left.get() == 0 {
                to.close();
            }
        });
    }
}
