//! `time`: moments as seconds since 1970.
//!
//! A moment is a number, so that it can be compared, added to and kept in JSON. Where a function shows one it is in the
//! zone of the step: `TZ` of its environment, else that of the machine. While a file is defined the clock stands
//! still (as `os.time`) and the zone is UTC, so that the file is defined the same everywhere.

mod layout;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use mlua::{Function, Lua, Result, Table, Value};

use super::given::{Span, Text, answer, seconds};
use crate::modules::{Described, Installer, Module, acting};
use crate::stage::{Scene, Stage};

pub(crate) const MODULE: Module = Module {
    name: "time",
    about: "Moments as seconds since 1970. Where a moment is left out, now is meant; spans are seconds or texts as `1h30m`. Layouts are those of Go (`2006-01-02 15:04:05`), by their names (`RFC3339`, `DateTime`, ..), or, with a `%` in them, those of `os.date`. `time.local` and `time.until` are words of the language: write `time['local'](..)`.",
    functions: &[
        Described {
            name: "now",
            signature: "() -> seconds",
            about: "Now, in whole seconds.",
            example: "local now = time.now()\nassert(now == math.floor(now) and time.since(now) < 60)",
        },
        Described {
            name: "unix",
            signature: "([seconds[, nanoseconds]]) -> seconds",
            about: "A moment of its seconds and nanoseconds.",
            example: "assert(time.unix(10, 5e8) == 10.5)",
        },
        Described {
            name: "unix_nano",
            signature: "([moment]) -> nanoseconds",
            about: "Nanoseconds since 1970, as near as a number can be.",
            example: "assert(time.unix_nano(2) == 2e9 and time.unix_nano() >= time.now() * 1e9)",
        },
        Described {
            name: "format",
            signature: "(moment, layout[, zone]) -> text | nil, error",
            about: "A moment as a layout says.",
            example: "assert(time.format(0, '2006-01-02 15:04:05 MST', 'UTC') == '1970-01-01 00:00:00 UTC')\nassert(time.format(0, 'Mon Jan _2 3:04PM', 'Asia/Tokyo') == 'Thu Jan  1 9:00AM')\nassert(time.format(0, '%Y/%m', 'UTC') == '1970/01')",
        },
        Described {
            name: "parse",
            signature: "(text, layout[, zone]) -> moment | nil, error",
            about: "The moment of a text that is written as a layout says.",
            example: "assert(time.parse('1970-01-02', '2006-01-02', 'UTC') == 86400)\nassert(time.parse('1970-01-01T01:00:00+01:00', 'RFC3339') == 0)\nlocal none, why = time.parse('x', '2006')\nassert(none == nil and why)",
        },
        Described {
            name: "rfc3339",
            signature: "([moment]) -> text",
            about: "A moment as RFC 3339 has it, in UTC.",
            example: "assert(time.rfc3339(0) == '1970-01-01T00:00:00Z')",
        },
        Described {
            name: "add",
            signature: "(moment, span) -> moment",
            about: "A moment and a span later.",
            example: "assert(time.add(0, '1h') == 3600 and time.add(0, -5) == -5)",
        },
        Described {
            name: "sub",
            signature: "(moment, other) -> seconds",
            about: "The seconds from another moment to this one; a text is a span that is taken off.",
            example: "assert(time.sub(100, 40) == 60 and time.sub(3600, '1h') == 0)",
        },
        Described {
            name: "duration",
            signature: "(text) -> seconds | nil, error",
            about: "The seconds of a span.",
            example: "assert(time.duration('1h30m') == 5400 and time.duration('250ms') == 0.25)\nassert(time.duration('soon') == nil)",
        },
        Described {
            name: "since",
            signature: "(moment) -> seconds",
            about: "The seconds since a moment.",
            example: "local s = time.since(time.now() - 60)\nassert(s >= 60 and s < 120)",
        },
        Described {
            name: "until",
            signature: "(moment) -> seconds",
            about: "The seconds until a moment.",
            example: "local s = time['until'](time.now() + 60)\nassert(s > 0 and s <= 60)",
        },
        Described {
            name: "sleep",
            signature: "(span)",
            about: "Waits; other steps go on.",
            example: "time.sleep(0.01)\ntime.sleep('10ms')",
        },
        Described {
            name: "year",
            signature: "([moment]) -> number",
            about: "The year.",
            example: "assert(time.year(86400 * 400) == 1971)",
        },
        Described {
            name: "month",
            signature: "([moment]) -> number",
            about: "The month, from 1.",
            example: "assert(time.month(86400 * 40) == 2)",
        },
        Described {
            name: "day",
            signature: "([moment]) -> number",
            about: "The day of the month.",
            example: "assert(time.day() >= 1 and time.day() <= 31)",
        },
        Described {
            name: "hour",
            signature: "([moment]) -> number",
            about: "The hour, from 0.",
            example: "assert(time.hour() < 24)",
        },
        Described {
            name: "minute",
            signature: "([moment]) -> number",
            about: "The minute, from 0.",
            example: "assert(time.minute(90) == 1)",
        },
        Described {
            name: "second",
            signature: "([moment]) -> number",
            about: "The second, from 0.",
            example: "assert(time.second(90) == 30)",
        },
        Described {
            name: "weekday",
            signature: "([moment]) -> number, name",
            about: "The day of the week: 0 is Sunday.",
            example: "local n, name = time.weekday(86400 * 3.5)\nassert(n == 0 and name == 'Sunday')",
        },
        Described {
            name: "utc",
            signature: "([moment]) -> text",
            about: "A moment in UTC, as RFC 3339 has it.",
            example: "assert(time.utc(60) == '1970-01-01T00:01:00Z')",
        },
        Described {
            name: "local",
            signature: "([moment]) -> text",
            about: "A moment in the zone of the step, as RFC 3339 has it.",
            example: "assert(time.parse(time['local'](60), 'RFC3339') == 60)",
        },
        Described {
            name: "in_location",
            signature: "(moment, zone) -> text | nil, error",
            about: "A moment in another zone, as RFC 3339 has it.",
            example: "assert(time.in_location(0, 'Asia/Tokyo') == '1970-01-01T09:00:00+09:00')\nassert(time.in_location(0, 'Nowhere/Else') == nil)",
        },
        Described {
            name: "before",
            signature: "(a, b) -> boolean",
            about: "Whether a moment is before another.",
            example: "assert(time.before(1, 2) and not time.before(2, 2))",
        },
        Described {
            name: "after",
            signature: "(a, b) -> boolean",
            about: "Whether a moment is after another.",
            example: "assert(time.after(2, 1))",
        },
        Described {
            name: "equal",
            signature: "(a, b) -> boolean",
            about: "Whether two moments are the same.",
            example: "assert(time.equal(2, 2))",
        },
        Described {
            name: "truncate",
            signature: "(moment, span) -> moment",
            about: "The last moment before that is a multiple of the span.",
            example: "assert(time.truncate(3700, '1h') == 3600)",
        },
        Described {
            name: "round",
            signature: "(moment, span) -> moment",
            about: "The nearest moment that is a multiple of the span.",
            example: "assert(time.round(3700, '1m') == 3720)",
        },
    ],
    install,
};

type Part = fn(&Zoned) -> f64;
type Compare = fn(f64, f64) -> bool;

fn install(module: &mut Installer<'_>) -> Result<()> {
    clock(module)?;
    texts(module)?;
    let parts: [(&str, Part); 6] = [
        ("year", |when| f64::from(when.year())),
        ("month", |when| f64::from(when.month())),
        ("day", |when| f64::from(when.day())),
        ("hour", |when| f64::from(when.hour())),
        ("minute", |when| f64::from(when.minute())),
        ("second", |when| f64::from(when.second())),
    ];
    for (name, part) in parts {
        module.pure(name, move |lua, moment: Option<f64>| {
            Ok(part(&stamp(or_now(lua, moment)?)?.to_zoned(zone(lua))))
        })?;
    }
    module.pure("weekday", |lua, moment: Option<f64>| {
        let when = stamp(or_now(lua, moment)?)?.to_zoned(zone(lua));
        Ok((when.weekday().to_sunday_zero_offset(), when.strftime("%A").to_string()))
    })?;
    let comparisons: [(&str, Compare); 3] = [
        ("before", |a, b| a < b),
        ("after", |a, b| a > b),
        ("equal", |a, b| a.total_cmp(&b).is_eq()),
    ];
    for (name, compare) in comparisons {
        module.pure(name, move |_, (a, b): (f64, f64)| Ok(compare(a, b)))?;
    }
    module.pure("add", |_, (moment, span): (f64, Span)| Ok(moment + span.0))?;
    module.pure("sub", |_, (moment, other): (f64, Span)| Ok(moment - other.0))?;
    module.pure("duration", |_, text: Text| {
        let text = text.lossy();
        let why = || format!("`{text}` is no span of time; write it as \"1h30m\" or \"250ms\"");
        Ok(answer(seconds(&text).ok_or_else(why)))
    })?;
    for (name, to) in [("truncate", f64::floor as fn(f64) -> f64), ("round", f64::round)] {
        module.pure(name, move |_, (moment, span): (f64, Span)| {
            Ok(if span.0 > 0.0 { to(moment / span.0) * span.0 } else { moment })
        })?;
    }
    Ok(())
}

fn clock(module: &mut Installer<'_>) -> Result<()> {
    module.pure("now", |lua, ()| Ok(now(lua)?.floor()))?;
    module.pure(
        "unix",
        |lua, (seconds, nanoseconds): (Option<f64>, Option<f64>)| match seconds {
            Some(seconds) => Ok(seconds + nanoseconds.unwrap_or(0.0) / 1e9),
            None => Ok(now(lua)?.floor()),
        },
    )?;
    module.pure("unix_nano", |lua, moment: Option<f64>| Ok(or_now(lua, moment)? * 1e9))?;
    module.pure("since", |lua, moment: f64| Ok(now(lua)? - moment))?;
    module.pure("until", |lua, moment: f64| Ok(moment - now(lua)?))?;
    module.act_async("sleep", |_, span: Span| async move {
        tokio::time::sleep(span.duration()).await;
        Ok(())
    })
}

fn texts(module: &mut Installer<'_>) -> Result<()> {
    module.pure("format", |lua, (moment, layout, zone): (f64, Text, Option<Text>)| {
        let text = zone_named(lua, zone).and_then(|zone| {
            let when = stamp(moment).map_err(|error| error.to_string())?;
            layout::shown(&when.to_zoned(zone), &layout.lossy())
        });
        Ok(answer(text))
    })?;
    module.pure("parse", |lua, (text, layout, zone): (Text, Text, Option<Text>)| {
        let moment = zone_named(lua, zone)
            .and_then(|zone| layout::read(&text.lossy(), &layout.lossy(), &zone));
        Ok(answer(moment.map(seconds_of)))
    })?;
    for name in ["rfc3339", "utc"] {
        module
            .pure(name, |lua, moment: Option<f64>| Ok(stamp(or_now(lua, moment)?)?.to_string()))?;
    }
    module.pure("local", |lua, moment: Option<f64>| {
        Ok(with_offset(stamp(or_now(lua, moment)?)?, &zone(lua)))
    })?;
    module.pure("in_location", |lua, (moment, zone): (f64, Text)| {
        let moment = stamp(moment)?;
        Ok(answer(zone_named(lua, Some(zone)).map(|zone| with_offset(moment, &zone))))
    })
}

fn with_offset(moment: Timestamp, zone: &TimeZone) -> String {
    moment.display_with_offset(zone.to_offset(moment)).to_string()
}

fn or_now(lua: &Lua, moment: Option<f64>) -> Result<f64> {
    match moment {
        Some(moment) => Ok(moment),
        None => now(lua),
    }
}

fn is_acting(lua: &Lua) -> bool {
    Scene::of(lua).stage.get() == Stage::Acting
}

/// Now; while a file is defined, when that was.
fn now(lua: &Lua) -> Result<f64> {
    if is_acting(lua) {
        #[expect(
            clippy::disallowed_methods,
            reason = "what a body of a step asks for is the clock"
        )]
        return Ok(seconds_of(Timestamp::now()));
    }
    let os: Table = lua.globals().get("os")?;
    match os.get::<Value>("time")? {
        Value::Function(time) => Function::call::<f64>(&time, ()),
        _ => Ok(0.0),
    }
}

fn seconds_of(moment: Timestamp) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "seconds of a timestamp are far below 2^53")]
    let whole = moment.as_second() as f64;
    whole + f64::from(moment.subsec_nanosecond()) / 1e9
}

#[expect(clippy::cast_possible_truncation, reason = "what is out of range is refused by jiff")]
fn stamp(moment: f64) -> Result<Timestamp> {
    let whole = moment.floor();
    Timestamp::new(whole as i64, ((moment - whole) * 1e9) as i32).map_err(|_| {
        mlua::Error::runtime(format!("{moment} is no moment; give it seconds since 1970"))
    })
}

fn zone(lua: &Lua) -> TimeZone {
    if !is_acting(lua) {
        return TimeZone::UTC;
    }
    let named =
        acting().env("TZ").and_then(|name| TimeZone::get(name.trim_start_matches(':')).ok());
    named.unwrap_or_else(TimeZone::system)
}

fn zone_named(lua: &Lua, name: Option<Text>) -> std::result::Result<TimeZone, String> {
    match name.map(|name| name.lossy()) {
        None => Ok(zone(lua)),
        Some(name) if name.eq_ignore_ascii_case("local") => Ok(zone(lua)),
        Some(name) => TimeZone::get(&name).map_err(|_| {
            format!("there is no time zone `{name}`; write it as \"UTC\" or \"Europe/Berlin\"")
        }),
    }
}
