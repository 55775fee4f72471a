//! What is called and has no more than its time: what waits is dropped then, what computes is interrupted.

use std::time::{Duration, Instant};

use hostler_model::Span;

use super::Performer;

impl Performer {
    /// What comes of it, or that it took too long.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = Result<T, String>>,
    ) -> Result<T, String> {
        let end = Instant::now() + limit;
        self.until(Some(end));
        let mut work = Box::pin(work);
        let done = tokio::time::timeout(limit, &mut work).await;
        // What waits is woken once more to let go of what it holds, and must not be interrupted in that.
        self.until(None);
        drop(work);
        match done {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(message)) if Instant::now() < end => Err(message),
            Ok(Err(_)) | Err(_) => {
                let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
                let limit = Span::from_millis(millis);
                Err(format!("it took longer than {limit}, and was ended"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Bundle, Given};

    #[test]
    fn what_waits_and_what_computes_has_its_time() {
        let text = "workflow.define('w'):tasks({ task('t'):command('true') })\nfunction busy() while true do end end";
        let bundle = Bundle { name: "w.sloth".into(), text: text.into(), files: BTreeMap::new() };
        let performer = Performer::new(bundle, &Given::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let limit = Duration::from_millis(50);
        runtime.block_on(async {
            let busy: mlua::Function = performer.live.lua.globals().get("busy").unwrap();
            let computes = async { busy.call::<()>(()).map_err(|error| error.to_string()) };
            for told in [
                performer.within(limit, computes).await.unwrap_err(),
                performer.within(limit, std::future::pending::<Result<(), _>>()).await.unwrap_err(),
            ] {
                assert_eq!(told, "it took longer than 50ms, and was ended");
            }
            let fails = async { Err::<(), _>("no".to_owned()) };
            assert_eq!(performer.within(limit, fails).await.unwrap_err(), "no");
            assert_eq!(performer.within(limit, async { Ok(7) }).await, Ok(7));
        });
    }
}
