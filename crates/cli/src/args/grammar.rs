//! Small languages of single flags: text in, a value or the right spelling out.

use hostler_model::{
    After, AfterCondition, Cores, GpuRequest, GpuShareSize, Mount, NumaRequest, Timestamp,
};

/// `COUNT[:SHARE]` and `share=`, `model=`, `memory=`, `ids=0,1`, with commas between; a number after
/// `ids=` is one more of them.
pub fn gpus(text: &str) -> Result<GpuRequest, String> {
    let wrong = |what: &str| {
        format!(
            "`{text}` does not say which GPUs: {what}; write for example 2, 1:0.5, 2,model=A100,memory=40GiB or ids=0,1"
        )
    };
    let number = |word: &str| word.parse::<u32>().map_err(|_| wrong("GPUs are counted in numbers"));
    let mut request = GpuRequest::default();
    let mut count = None;
    let mut is_in_ids = false;
    for (i, word) in text.split(',').map(str::trim).enumerate() {
        let pair = word.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        let is_share_given = request.share != GpuShareSize::WHOLE;
        match pair {
            None if is_in_ids => request.ids.push(number(word)?),
            None if i == 0 => {
                let (many, part) = word.split_once(':').map_or((word, None), |(n, s)| (n, Some(s)));
                count = Some(number(many)?);
                request.share =
                    part.map_or(Ok(GpuShareSize::WHOLE), share).map_err(|e| wrong(&e))?;
            }
            None => return Err(wrong("how many comes first")),
            Some(("ids", first)) => {
                request.ids.push(number(first)?);
                is_in_ids = true;
                continue;
            }
            Some(("count", many)) if count.is_none() => count = Some(number(many)?),
            Some(("share", part)) if !is_share_given => {
                request.share = share(part).map_err(|e| wrong(&e))?;
            }
            Some(("model", model)) if !model.is_empty() => request.model = Some(model.to_owned()),
            Some(("memory", size)) => {
                request.memory = size.parse().map_err(|_| wrong("memory is a size"))?;
            }
            Some(("count" | "share", _)) => return Err(wrong("something is said twice")),
            Some(_) => return Err(wrong("there are count, share, ids, model and memory")),
        }
        is_in_ids = is_in_ids && pair.is_none();
    }
    let named = u32::try_from(request.ids.len()).unwrap_or(u32::MAX);
    request.count = count.unwrap_or(if request.ids.is_empty() { 1 } else { named });
    let mut once = request.ids.clone();
    once.sort_unstable();
    once.dedup();
    if once.len() != request.ids.len() {
        return Err(wrong("a GPU is named twice"));
    }
    if named > 0 && request.count != named {
        return Err(wrong("`ids` names another number of GPUs"));
    }
    Ok(request)
}

fn share(text: &str) -> Result<GpuShareSize, String> {
    let millis = text.parse::<Cores>().ok().and_then(|part| u16::try_from(part.millis()).ok());
    millis.filter(|millis| (1..=1000).contains(millis)).map(GpuShareSize::from_millis).ok_or_else(
        || "a share is more than 0 and at most 1, with at most three decimals".to_owned(),
    )
}

pub fn numa(text: &str) -> Result<NumaRequest, String> {
    match (text, text.parse()) {
        ("any", _) => Ok(NumaRequest::Any),
        (_, Ok(index)) => Ok(NumaRequest::Index(index)),
        _ => Err(format!("`{text}` is no NUMA node; write its number, or any")),
    }
}

/// `TASK`, or `TASK:CONDITION`.
pub fn after(text: &str) -> Result<After, String> {
    let (task, condition) = match text.rsplit_once(':') {
        Some((task, condition)) => (task, condition.parse::<AfterCondition>().ok()),
        None => (text, Some(AfterCondition::Ok)),
    };
    match condition {
        Some(on) if !task.is_empty() => Ok(After { task: bare(task).to_owned(), on }),
        _ => Err(format!(
            "`{text}` does not say what to wait for; write TASK, TASK:ok, TASK:any or TASK:fail"
        )),
    }
}

/// What `-o name` prints can be given here.
fn bare(task: &str) -> &str {
    let kinds = ["task/", "task-array/", "array/"];
    kinds.iter().find_map(|kind| task.strip_prefix(kind)).unwrap_or(task)
}

pub fn moment(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| {
        format!("`{text}` is no time; write it with its offset, such as 2026-01-31T22:00:00Z or 2026-01-31T22:00:00+01:00")
    })
}

/// A day of the calendar, as the API takes it.
pub fn day(text: &str) -> Result<String, String> {
    text.parse::<jiff::civil::Date>()
        .map(|day| day.to_string())
        .map_err(|_| format!("`{text}` is no day; write it as 2026-01-31"))
}

/// `SOURCE:TARGET`, with `:ro` or `:rw` behind it.
pub fn mount(text: &str) -> Result<Mount, String> {
    let wrong = |what: &str| {
        format!("`{text}` is not a mount: {what}; write SOURCE:TARGET or SOURCE:TARGET:ro")
    };
    let parts: Vec<&str> = text.split(':').collect();
    let (source, target, read_only) = match parts[..] {
        [source, target] | [source, target, "rw"] => (source, target, false),
        [source, target, "ro"] => (source, target, true),
        [_, _, _] => return Err(wrong("behind the target stands ro or rw")),
        _ => return Err(wrong("two paths are needed, with `:` between")),
    };
    if !source.starts_with('/') || !target.starts_with('/') {
        return Err(wrong("both paths are absolute"));
    }
    Ok(Mount { source: source.to_owned(), target: target.to_owned(), read_only })
}

/// A limit, or `none` for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit<T> {
    None,
    Of(T),
}

impl<T> Limit<T> {
    pub fn value(self) -> Option<T> {
        match self {
            Limit::None => None,
            Limit::Of(value) => Some(value),
        }
    }
}

impl<T: std::str::FromStr<Err: std::fmt::Display>> std::str::FromStr for Limit<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Limit<T>, String> {
        match text {
            "none" => Ok(Limit::None),
            _ => text.parse().map(Limit::Of).map_err(|e| format!("{e}; or none for no limit")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::Bytes;

    #[test]
    fn gpus_are_counted_shared_named_and_described() {
        let plain = GpuRequest::count;
        let half = GpuShareSize::from_millis(500);
        let cases = [
            ("2", plain(2)),
            ("0", plain(0)),
            ("1:0.5", GpuRequest { share: half, ..plain(1) }),
            ("share=0.5", GpuRequest { share: half, ..plain(1) }),
            ("ids=0,3", GpuRequest::ids(vec![0, 3])),
            ("2,ids=0,3", GpuRequest::ids(vec![0, 3])),
            (
                "ids=1,model=A100",
                GpuRequest { model: Some("A100".into()), ..GpuRequest::ids(vec![1]) },
            ),
            ("model=h100", GpuRequest { model: Some("h100".into()), ..plain(1) }),
            (
                "count=2, model=RTX 4090, memory=20GiB",
                GpuRequest {
                    model: Some("RTX 4090".into()),
                    memory: Bytes::mib(20 << 10),
                    ..plain(2)
                },
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(gpus(text).unwrap(), expected, "{text}");
        }
        for text in [
            "",
            "two",
            "-1",
            "1:2",
            "1:0",
            "1:x",
            "ids=",
            "ids=0,0",
            "3,ids=0,1",
            "model=",
            "colour=red",
            "1,2",
            "model=a,1",
            "1:0.5,share=0.5",
            "1,count=2",
            "memory=much",
            "1:0.0001",
        ] {
            let mistake = gpus(text).unwrap_err();
            assert!(mistake.contains("write for example 2, 1:0.5"), "{text}: {mistake}");
        }
    }

    #[test]
    fn waiting_for_others_names_them_and_how_they_end() {
        let on = |text| after(text).map(|after| (after.task, after.on));
        assert_eq!(on("build").unwrap(), ("build".to_owned(), AfterCondition::Ok));
        assert_eq!(on("build:any").unwrap(), ("build".to_owned(), AfterCondition::Any));
        assert_eq!(
            on("task-array/sweep:fail").unwrap(),
            ("sweep".to_owned(), AfterCondition::Fail)
        );
        for text in ["", ":ok", "build:", "build:good"] {
            assert!(after(text).unwrap_err().contains("TASK:any"), "{text}");
        }
    }

    #[test]
    fn mounts_numa_days_and_limits() {
        assert!(!mount("/a:/b").unwrap().read_only && mount("/a:/b:ro").unwrap().read_only);
        for text in ["", "/a", "/a:b", "a:/b", "/a:/b:rx", "/a:/b:ro:x"] {
            assert!(mount(text).unwrap_err().contains("write SOURCE:TARGET"), "{text}");
        }
        assert_eq!(
            (numa("any").unwrap(), numa("1").unwrap()),
            (NumaRequest::Any, NumaRequest::Index(1))
        );
        assert!(numa("some").is_err() && numa("-1").is_err());
        assert_eq!(day("2026-01-31").unwrap(), "2026-01-31");
        assert!(day("2026-02-30").is_err() && day("yesterday").is_err());
        assert!(moment("2026-01-31").is_err() && moment("2026-01-31T22:00:00+01:00").is_ok());
        assert_eq!("none".parse::<Limit<Cores>>().unwrap(), Limit::None);
        assert_eq!("2".parse::<Limit<u64>>().unwrap(), Limit::Of(2));
        assert!("much".parse::<Limit<Bytes>>().unwrap_err().contains("or none"));
    }
}
