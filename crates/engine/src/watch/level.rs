//! Levels: a figure that is too high or too low, a certificate that ends soon.

use hostler_model::{Timestamp, Watch, WatchCondition, WatcherOrder, WatcherTold, WatcherWord};

use super::{Memory, Seen, Spark, fire, may_fire};

const DAY: f64 = 86_400.0;
/// How far on the other side of a threshold a figure in percent has to be to count as over.
const MARGIN: f64 = 5.0;

/// How a level stands at one look.
struct Level {
    is_so: bool,
    /// It is neither so nor over: between the threshold and where it is over.
    is_between: bool,
    lasts: std::time::Duration,
    spark: Spark,
    over: String,
}

pub(super) fn judge(
    order: &WatcherOrder,
    memory: &mut Memory,
    seen: &Seen,
    now: Timestamp,
) -> Vec<WatcherTold> {
    let Some(level) = level(&order.watch, seen, now) else { return Vec::new() };
    if memory.is_firing {
        if level.is_so || level.is_between {
            return Vec::new();
        }
        memory.is_firing = false;
        let spark = Spark { words: level.over, ..level.spark };
        return vec![spark.told(WatcherWord::Cleared, 0)];
    }
    if !level.is_so {
        memory.since = None;
        if !level.is_between && std::mem::take(&mut memory.is_held) {
            memory.skipped = memory.skipped.saturating_add(1);
        }
        return Vec::new();
    }
    let since = *memory.since.get_or_insert(now);
    // A clock that was put back begins anew.
    if since > now {
        memory.since = Some(now);
    }
    if now.since(since) < level.lasts {
        return Vec::new();
    }
    if !may_fire(order, memory, now) {
        memory.is_held = true;
        return Vec::new();
    }
    (memory.is_firing, memory.is_held, memory.since) = (true, false, None);
    vec![fire(memory, level.spark, now)]
}

fn level(watch: &Watch, seen: &Seen, now: Timestamp) -> Option<Level> {
    let subject = watch.subject();
    match (watch, seen) {
        (Watch::Certificate(it), Seen::Certificate(ends)) => {
            let left = days(*ends, now);
            let within = it.within.duration();
            let words = format!("{subject} {}", self::ends(*ends, now));
            Some(Level {
                is_so: *ends <= now.plus(within),
                is_between: false,
                lasts: std::time::Duration::ZERO,
                spark: Spark {
                    condition: WatchCondition::Expires,
                    subject,
                    value: Some(left),
                    threshold: Some(within.as_secs_f64() / DAY),
                    count: 1,
                    words: words.clone(),
                },
                over: words,
            })
        }
        (_, Seen::Figure(value)) => {
            let threshold = watch.threshold()?;
            let (limit, value) = (threshold.value(), *value);
            let condition = threshold.condition();
            let is_above = condition == WatchCondition::Above;
            let margin = match watch {
                Watch::Load(_) => limit / 10.0,
                _ => MARGIN,
            };
            let clear = threshold.clear.unwrap_or(match is_above {
                true => (limit - margin).max(0.0),
                false if matches!(watch, Watch::Load(_)) => limit + margin,
                false => (limit + margin).min(100.0),
            });
            let is_so = if is_above { value > limit } else { value < limit };
            let is_over = if is_above { value <= clear } else { value >= clear };
            let figure = figure(watch, value);
            let unit = if matches!(watch, Watch::Load(_)) { "" } else { "%" };
            Some(Level {
                is_so,
                is_between: !is_so && !is_over,
                lasts: threshold.lasts.duration(),
                spark: Spark {
                    condition,
                    value: Some(value),
                    threshold: Some(limit),
                    count: 1,
                    words: format!("{subject} at {figure}, {condition} {limit}{unit}"),
                    subject: subject.clone(),
                },
                over: format!("{subject} at {figure}, not {condition} {limit}{unit} any more"),
            })
        }
        _ => None,
    }
}

pub(super) fn figure(watch: &Watch, value: f64) -> String {
    match watch {
        Watch::Load(_) => format!("{value:.2}"),
        _ => format!("{value:.1}%"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number of days needs no more than 52 bits")]
fn days(ends: Timestamp, now: Timestamp) -> f64 {
    let micros = ends.micros().saturating_sub(now.micros());
    (micros as f64 / 1e6 / DAY * 100.0).round() / 100.0
}

pub(super) fn ends(ends: Timestamp, now: Timestamp) -> String {
    let left = days(ends, now);
    match left < 0.0 {
        true => format!("ended {:.0} days ago", -left),
        false => format!("ends in {left:.0} days, at {}", ends.brief()),
    }
}
