//! Watchers: orders and what comes of them.

use hostler_model::{
    Generation, WatcherId, WatcherNews, WatcherOrder, WatcherReport, WatcherStanding,
};

use crate::v1;

/// An order that this release cannot read, of which it can be told that.
#[derive(Clone, Debug, PartialEq)]
pub struct UnreadableOrder {
    pub id: WatcherId,
    pub revision: Generation,
    pub problem: String,
}

/// What can be read of any order, whatever else is in it.
fn head(text: &str) -> Option<(WatcherId, Generation)> {
    let order: serde_json::Value = serde_json::from_str(text).ok()?;
    let id = order.get("id")?.as_str()?.parse().ok()?;
    Some((id, Generation::from_u64(order.get("revision")?.as_u64()?)))
}

pub fn watcher_orders_to_message(
    generation: Generation,
    orders: &[WatcherOrder],
) -> v1::WatcherOrders {
    let text = |order| serde_json::to_string(order).expect("an order always serialises");
    v1::WatcherOrders {
        generation: generation.get(),
        orders_json: orders.iter().map(text).collect(),
    }
}

/// Those that cannot be read keep no others from being carried out.
pub fn parse_watcher_orders(
    message: &v1::WatcherOrders,
) -> (Generation, Vec<WatcherOrder>, Vec<UnreadableOrder>) {
    let (mut orders, mut unreadable) = (Vec::new(), Vec::new());
    for text in &message.orders_json {
        match serde_json::from_str::<WatcherOrder>(text) {
            Ok(order) => orders.push(order),
            Err(error) => {
                if let Some((id, revision)) = head(text) {
                    unreadable.push(UnreadableOrder { id, revision, problem: error.to_string() });
                }
            }
        }
    }
    (Generation::from_u64(message.generation), orders, unreadable)
}

pub fn watcher_report_to_message(number: u64, report: &WatcherReport) -> v1::WatcherReport {
    let news = |one| serde_json::to_string(one).expect("news always serialise");
    let standing = |one| serde_json::to_string(one).expect("a standing always serialises");
    v1::WatcherReport {
        number,
        generation: report.generation.get(),
        news_json: report.news.iter().map(news).collect(),
        standings_json: report.standings.iter().map(standing).collect(),
    }
}

/// With what could not be read, in words.
pub fn parse_watcher_report(message: &v1::WatcherReport) -> (WatcherReport, Vec<String>) {
    let mut problems = Vec::new();
    let mut report = WatcherReport {
        generation: Generation::from_u64(message.generation),
        ..WatcherReport::default()
    };
    for text in &message.news_json {
        match serde_json::from_str::<WatcherNews>(text) {
            Ok(news) => report.news.push(news),
            Err(error) => problems.push(error.to_string()),
        }
    }
    for text in &message.standings_json {
        match serde_json::from_str::<WatcherStanding>(text) {
            Ok(standing) => report.standings.push(standing),
            Err(error) => problems.push(error.to_string()),
        }
    }
    (report, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_order_that_cannot_be_read_does_not_spoil_the_rest() {
        let id = "0192f3c4-0000-7000-8000-000000000001";
        let order = |watch: &str| {
            format!(
                r#"{{"id":"{id}","revision":7,"watch":{watch},"interval":"5s","cooldown":"0s"}}"#
            )
        };
        let message = v1::WatcherOrders {
            generation: 3,
            orders_json: vec![
                order(r#"{"port":{"port":1}}"#),
                order(r#"{"moon":{}}"#),
                "{}".to_owned(),
            ],
        };
        let (generation, orders, unreadable) = parse_watcher_orders(&message);
        assert_eq!((generation.get(), orders.len(), unreadable.len()), (3, 1, 1));
        assert!(unreadable[0].problem.contains("moon"), "{unreadable:?}");
        assert_eq!(unreadable[0].revision.get(), 7);
        let again = watcher_orders_to_message(generation, &orders);
        assert_eq!(parse_watcher_orders(&again), (generation, orders, Vec::new()));
    }

    #[test]
    fn what_of_a_report_cannot_be_read_is_left_out() {
        let message = v1::WatcherReport {
            number: 1,
            generation: 2,
            news_json: vec!["{}".to_owned()],
            standings_json: vec!["[".to_owned()],
        };
        let (report, problems) = parse_watcher_report(&message);
        assert_eq!((report.generation.get(), problems.len()), (2, 2));
        assert!(report.news.is_empty() && report.standings.is_empty());
    }
}
