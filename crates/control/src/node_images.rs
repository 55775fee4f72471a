//! Images that agents remove from their nodes by themselves, as they tell of it.
//!
//! An agent tells each piece of news until it is answered, and is answered only once the event is in the
//! database. A piece of news has an id, which is claimed in the transaction that writes its event, as the
//! key of a request is: told again, it is known and answered, and no second event is written. The claim is
//! forgotten with the keys of requests, after a day; only an agent whose answer was lost and who then was
//! away for longer than that can be the cause of a second event.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hostler_model::{
    Error, EventId, EventKind, IMAGE_SCHEME, ImageNews, NodeId, NodeImagePayload, NodeState,
    ObjectKind, ObjectRef, PrincipalId, Timestamp,
};
use hostler_store::Claim;

use crate::Control;
use crate::node_session::node_actor;

/// News that are older are told with the time that they are of.
const LATE_AFTER: Duration = Duration::from_mins(1);
/// What is kept of the words of a node, in characters.
const WORDS_MAX: usize = 500;

/// What was told to this server since it started.
#[derive(Default)]
pub(crate) struct Tidied {
    removed: AtomicU64,
    failed: AtomicU64,
}

impl Control {
    /// Takes what an agent did with images by itself. What comes back is in the database, or not worth
    /// telling again.
    pub async fn node_image_news(
        &self,
        node_id: NodeId,
        news: &[ImageNews],
    ) -> Result<Vec<EventId>, Error> {
        if news.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.now();
        let fresh = self
            .store
            .tx("node_image_news", |tx| {
                Box::pin(async move {
                    let node = tx.node_get(node_id).await?;
                    let Some(node) = node.filter(|node| node.state != NodeState::Removed) else {
                        return Ok(Vec::new());
                    };
                    let object = ObjectRef::new(ObjectKind::Node, node.id, &node.name);
                    let whose = PrincipalId::from_uuid(node.id.uuid());
                    let (mut fresh, mut events) = (Vec::new(), Vec::new());
                    for one in news {
                        let (key, hash) = (format!("image-news {}", one.id), one.id.uuid());
                        let claim = tx
                            .idempotency_claim(whose, &key, hash.as_bytes(), &object, now)
                            .await?;
                        if claim == Claim::Fresh {
                            let (kind, words) = told(one, now);
                            let event =
                                self.event(kind, None, &object, node_actor(&node.name), words);
                            events.push(event.with_payload(NodeImagePayload {
                                image: Some(one.name.clone()),
                                version: Some(one.version),
                                reason: Some(short(&one.why)),
                                problem: one.problem.as_deref().map(short),
                            }));
                            fresh.push(kind);
                        }
                    }
                    tx.journal_append(&events, &[]).await?;
                    Ok::<_, Error>(fresh)
                })
            })
            .await?;
        for kind in fresh {
            let count = match kind {
                EventKind::NodeImageRemoved => &self.images_tidied.removed,
                _ => &self.images_tidied.failed,
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(news.iter().map(|one| one.id).collect())
    }

    /// How many versions agents have removed by themselves and how many they could not, as told to this
    /// process.
    pub fn images_tidied(&self) -> (u64, u64) {
        let tidied = &self.images_tidied;
        (tidied.removed.load(Ordering::Relaxed), tidied.failed.load(Ordering::Relaxed))
    }
}

fn told(news: &ImageNews, now: Timestamp) -> (EventKind, String) {
    let (image, why) = (format!("{IMAGE_SCHEME}{}:{}", news.name, news.version), short(&news.why));
    let (kind, words) = match &news.problem {
        None => (EventKind::NodeImageRemoved, format!("image {image} removed: {why}")),
        Some(problem) => {
            let words = format!("image {image} cannot be removed: {}", short(problem));
            (EventKind::NodeImageTrouble, words)
        }
    };
    let is_late = now.since(news.time) >= LATE_AFTER;
    (kind, if is_late { format!("{words} (at {})", news.time) } else { words })
}

fn short(words: &str) -> String {
    match words.char_indices().nth(WORDS_MAX) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_in_words() {
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        let news = |problem: Option<&str>| ImageNews {
            id: EventId::from_uuid(uuid::Uuid::from_u128(1)),
            name: "train".parse().unwrap(),
            version: 3,
            why: "there is a newer one".to_owned(),
            problem: problem.map(str::to_owned),
            time: at(0),
        };
        let words = |news: &ImageNews, now| {
            let (kind, words) = told(news, now);
            format!("{kind}: {words}")
        };
        let removed = "node.image-removed: image hostler://train:3 removed: there is a newer one";
        assert_eq!(words(&news(None), at(59)), removed);
        assert_eq!(words(&news(None), at(60)), format!("{removed} (at {})", at(0)));
        assert_eq!(
            words(&news(Some("read-only file system")), at(1)),
            "node.image-trouble: image hostler://train:3 cannot be removed: read-only file system"
        );
        let long = words(&news(Some(&"ä".repeat(600))), at(1));
        assert!(long.ends_with("ä…") && long.matches('ä').count() == WORDS_MAX, "{long}");
    }
}
