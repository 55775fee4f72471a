//! What servers are told of images that left this node by themselves.
//!
//! It is said beside the conversation, in a task of its own, because what was taken is crossed off on disk.
//! Everything that no server has taken is said when a session begins, and later what is new. A server of a
//! release that does not know such news answers nothing; they wait for one that does.

use std::collections::HashSet;

use hostler_base::{OnError, Tasks};
use hostler_model::{EventId, ImageNews};
use hostler_proto::v1::{self, agent_message};
use tokio::sync::mpsc;

use super::Session;
use super::talk::message;
use crate::images::Images;

/// How many are said at once.
const NEWS_MAX: usize = 100;
const ANSWERS_QUEUED: usize = 16;

/// Where the answers of the server go.
pub(super) struct Answers(mpsc::Sender<HashSet<EventId>>);

impl Answers {
    /// What finds no room is said again in the next session.
    pub(super) fn hear(&self, acks: &v1::ImageNewsAcks) {
        let ids = acks.ids.iter().filter_map(|id| id.parse().ok()).collect();
        let _ = self.0.try_send(ids);
    }
}

impl Session {
    pub(super) fn tell_of_images(
        &self,
        scope: &Tasks,
        outbound: mpsc::Sender<v1::AgentMessage>,
    ) -> Answers {
        let (answers, answered) = mpsc::channel(ANSWERS_QUEUED);
        let telling = tell(self.runner.images().clone(), outbound, answered);
        scope.spawn_until_cancelled("image news", OnError::Log, telling);
        Answers(answers)
    }
}

async fn tell(
    images: Images,
    outbound: mpsc::Sender<v1::AgentMessage>,
    mut answered: mpsc::Receiver<HashSet<EventId>>,
) {
    let news = images.news();
    let mut added = news.added();
    added.mark_changed();
    let mut said: HashSet<EventId> = HashSet::new();
    loop {
        tokio::select! {
            Ok(()) = added.changed() => {
                let mut fresh = news.untold().await;
                fresh.retain(|one| said.insert(one.id));
                for some in fresh.chunks(NEWS_MAX) {
                    let body = agent_message::Body::ImageNews(to_message(some));
                    if outbound.send(message(body)).await.is_err() {
                        return;
                    }
                }
            }
            Some(ids) = answered.recv() => {
                news.told(&ids).await;
                said.retain(|id| !ids.contains(id));
            }
            else => return,
        }
    }
}

fn to_message(news: &[ImageNews]) -> v1::ImageNews {
    let text =
        |one: &ImageNews| serde_json::to_string(one).expect("names, words and times are JSON");
    v1::ImageNews { news_json: news.iter().map(text).collect() }
}
