//! The audit record: searching, exporting, and finding out whether somebody touched it.
//!
//! A server that was broken into can say of itself what it likes. So a chain can be followed here, from
//! an exported file and anchors that were kept elsewhere, with nothing but the authority's certificate.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::Context as _;
use futures::TryStreamExt;
use hostler_api::record::{
    AuditAnchorCreate, AuditAnchorList, AuditAnchorView, AuditExport, AuditExportQuery, AuditList,
    AuditListQuery, AuditSinkList, AuditVerify, AuditView,
};
use hostler_api::{Nothing, PageQuery};
use hostler_model::{AuditAnchor, AuditChain, AuditEntry, AuditVerdict};
use hostler_trust::AuthorityBundle;

use super::{Cx, DONE, Link, NONE, PAGE};
use crate::args::{AuditCommand, AuditExportArgs, AuditSearchArgs, AuditVerifyArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::target::{Target, given};

/// Lines that are printed in one go.
const LINES: usize = 500;
/// How far back an entry may be that comes again: sinks are told at least once, by batches of 1000.
const AGAIN_MAX: usize = 2000;

pub async fn perform(cx: &Cx, command: AuditCommand) -> Outcome {
    let all_if_zero = |limit: usize| Some(limit).filter(|limit| *limit > 0);
    match command {
        AuditCommand::Ls(args) => {
            let query = AuditListQuery {
                actor: args.actor,
                action: args.action,
                filter: args.filter,
                limit: PAGE,
                ..AuditListQuery::default()
            };
            cx.list::<AuditList, _>(&cx.link()?, &NONE, &query, all_if_zero(args.limit)).await
        }
        AuditCommand::Search(args) => {
            let limit = all_if_zero(args.limit);
            cx.list::<AuditList, _>(&cx.link()?, &NONE, &search(cx, args), limit).await
        }
        AuditCommand::Export(args) => export(cx, args).await,
        AuditCommand::Verify(args) => verify(cx, args).await,
        AuditCommand::Anchors(args) => {
            let query = PageQuery { limit: PAGE, filter: args.filter, cursor: None };
            let limit = all_if_zero(args.limit);
            cx.list::<AuditAnchorList, _>(&cx.link()?, &NONE, &query, limit).await
        }
        AuditCommand::Anchor => {
            let made = cx.link()?.client.call::<AuditAnchorCreate>(&NONE, &NONE, &NONE).await?;
            cx.one(&made)
        }
        AuditCommand::Sinks => cx.list::<AuditSinkList, _>(&cx.link()?, &NONE, &NONE, None).await,
    }
}

fn search(cx: &Cx, args: AuditSearchArgs) -> AuditListQuery {
    AuditListQuery {
        actor: args.actor,
        action: args.action,
        kind: args.kind,
        object: args.object,
        project: given(&cx.globals.project).map(str::to_owned),
        source: args.source,
        since: args.since.map(|when| when.moment(cx.now())),
        until: args.until.map(|when| when.moment(cx.now())),
        text: args.text,
        filter: args.filter,
        limit: PAGE,
        cursor: None,
    }
}

async fn export(cx: &Cx, args: AuditExportArgs) -> Outcome {
    let link = cx.link()?;
    let query = AuditExportQuery {
        since: args.since.map(|when| when.moment(cx.now())),
        after: args.after,
        limit: PAGE,
        cursor: None,
    };
    let entries = link.client.pages::<AuditExport, AuditView>(&NONE, &query, None)?;
    let mut parts = entries.try_chunks(LINES);
    let mut range: Option<(u64, u64)> = None;
    while let Some(part) = parts.try_next().await.map_err(|error| error.1)? {
        let mut text = String::new();
        for entry in &part {
            text.push_str(&output::compact(entry)?);
            text.push('\n');
            let first = range.map_or(entry.sequence, |(first, _)| first);
            range = Some((first, entry.sequence));
        }
        cx.ui.data(text.as_bytes())?;
    }
    let Some((first, last)) = range else { return Ok(DONE) };
    let mut anchors = anchors(&link).await?;
    anchors.retain(|anchor| (first..=last).contains(&anchor.sequence));
    for anchor in anchors.iter().rev() {
        cx.ui.line(&output::compact(&serde_json::json!({ "anchor": anchor }))?)?;
    }
    Ok(DONE)
}

async fn anchors(link: &Link) -> Result<Vec<AuditAnchorView>, Failure> {
    let query = PageQuery { limit: PAGE, ..PageQuery::default() };
    let all = link.client.pages::<AuditAnchorList, _>(&NONE, &query, None)?;
    Ok(all.try_collect().await?)
}

async fn verify(cx: &Cx, args: AuditVerifyArgs) -> Outcome {
    let kept = match &args.anchor {
        Some(path) => kept_anchors(path)?,
        None => BTreeMap::new(),
    };
    let verdict = match &args.file {
        Some(path) => follow(cx, path, kept)?,
        None => ask(cx, kept).await?,
    };
    tell(cx, &verdict)
}

fn tell(cx: &Cx, verdict: &AuditVerdict) -> Outcome {
    match cx.ui.format() {
        Some(format) => output::document(&cx.ui, format, verdict)?,
        None if verdict.is_intact => {
            let anchors = match verdict.anchors {
                0 => String::new(),
                1 => ", 1 anchor fits".to_owned(),
                many => format!(", {many} anchors fit"),
            };
            let AuditVerdict { entries, head, .. } = verdict;
            cx.ui.line(&format!(
                "{}, all intact{anchors}; head {head}",
                output::counted(*entries, "entry")
            ))?;
        }
        None => {
            let number = verdict.first_bad.map(|n| format!("entry {n}: ")).unwrap_or_default();
            let problem = verdict.problem.as_deref().unwrap_or("does not fit");
            cx.ui.line(&format!("NOT INTACT: {number}{problem}"))?;
        }
    }
    Ok(if verdict.is_intact { DONE } else { exit::Code::Unhealthy.number() })
}

/// Asks the server, and holds anchors that were kept elsewhere against what it says.
async fn ask(cx: &Cx, kept: BTreeMap<u64, AuditAnchor>) -> Result<AuditVerdict, Failure> {
    let link = cx.link()?;
    let verdict = link.client.call::<AuditVerify>(&NONE, &NONE, &NONE).await?;
    if !verdict.is_intact || kept.is_empty() {
        return Ok(verdict);
    }
    let authority = authority(cx)?;
    for anchor in kept.values() {
        let query = AuditExportQuery {
            after: Some(anchor.sequence.saturating_sub(1)),
            limit: Some(1),
            ..AuditExportQuery::default()
        };
        let found = link.client.call::<AuditExport>(&NONE, &query, &Nothing {}).await?;
        let entry = found.items.into_iter().find(|entry| entry.sequence == anchor.sequence);
        let hash = entry.and_then(AuditView::entry).map(|entry| entry.hash);
        if let Some(problem) = misfit(anchor, hash.as_deref(), &authority) {
            return Ok(AuditVerdict {
                is_intact: false,
                first_bad: Some(anchor.sequence),
                problem: Some(problem),
                ..verdict
            });
        }
    }
    Ok(AuditVerdict { anchors: verdict.anchors + kept.len() as u64, ..verdict })
}

fn misfit(
    anchor: &AuditAnchor,
    hash: Option<&[u8]>,
    authority: &AuthorityBundle,
) -> Option<String> {
    let signed = format!("the anchor that was signed for it at {}", anchor.time);
    if !authority.has_signed(AuditAnchor::PURPOSE, &anchor.signed(), &anchor.signature) {
        return Some(format!("{signed} has a signature that is not the authority's"));
    }
    match hash {
        None => Some(format!("it is missing, but {signed} is there")),
        Some(hash) if hash != anchor.hash => {
            Some(format!("{signed} says another hash: the chain was written anew after that"))
        }
        Some(_) => None,
    }
}

/// The authority whose signatures count.
fn authority(cx: &Cx) -> Result<AuthorityBundle, Failure> {
    let given = cx.globals.cacert.as_ref().filter(|path| !path.as_os_str().is_empty());
    let pem = match given {
        Some(path) => {
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?
        }
        None => Target::resolve(&cx.globals, &cx.environment)?.ca_pem.value,
    };
    Ok(AuthorityBundle::from_pem(&pem).context("read the authority's certificate")?)
}

/// Follows the chain in a file.
fn follow(
    cx: &Cx,
    path: &Path,
    mut anchors: BTreeMap<u64, AuditAnchor>,
) -> Result<AuditVerdict, Failure> {
    let wanted: BTreeSet<u64> = anchors.keys().copied().collect();
    for_lines(path, |line| {
        if let Line::Anchor(anchor) = line {
            anchors.entry(anchor.sequence).or_insert(anchor);
        }
        Ok(true)
    })?;
    let authority = match anchors.is_empty() {
        true => None,
        false => match authority(cx) {
            Ok(authority) => Some(authority),
            Err(_) if wanted.is_empty() => {
                cx.ui.warn(&format!(
                    "{} anchors are not checked: name the authority's certificate with --cacert",
                    anchors.len()
                ));
                None
            }
            Err(failure) => return Err(failure),
        },
    };
    let mut walk = Walk::default();
    let mut verdict = None;
    for_lines(path, |line| {
        let Line::Entry(record) = line else { return Ok(true) };
        verdict = walk.step(*record, &anchors, authority.as_ref());
        Ok(verdict.is_none())
    })?;
    if let Some(verdict) = verdict {
        return Ok(verdict);
    }
    if let Some(missed) = wanted.iter().find(|number| !walk.seen.contains(number)) {
        let problem = "an anchor was given for it, but it is not in the file".to_owned();
        return Ok(walk.verdict(Some((*missed, problem))));
    }
    Ok(walk.verdict(None))
}

/// A chain on its way through a file.
#[derive(Default)]
struct Walk {
    chain: Option<AuditChain>,
    /// The newest entries and their hashes.
    recent: VecDeque<(u64, Vec<u8>)>,
    entries: u64,
    anchors: u64,
    /// Entries that an anchor was held against.
    seen: BTreeSet<u64>,
}

impl Walk {
    /// Takes one entry; a verdict when it does not fit.
    fn step(
        &mut self,
        record: AuditView,
        anchors: &BTreeMap<u64, AuditAnchor>,
        authority: Option<&AuthorityBundle>,
    ) -> Option<AuditVerdict> {
        let sequence = record.sequence;
        let Some(entry) = record.entry() else {
            return Some(self.verdict(Some((sequence, "its hash is not one".to_owned()))));
        };
        if self.is_again(&entry) {
            return None;
        }
        let chain = self.chain.get_or_insert_with(|| match sequence {
            0 | 1 => AuditChain::default(),
            _ => AuditChain::before(&entry),
        });
        let expected = chain.count + 1;
        if let Err(problem) = chain.follow(&entry) {
            return Some(self.verdict(Some((expected, problem))));
        }
        self.entries += 1;
        self.recent.push_back((sequence, entry.hash.clone()));
        if self.recent.len() > AGAIN_MAX {
            self.recent.pop_front();
        }
        if let (Some(anchor), Some(authority)) = (anchors.get(&sequence), authority) {
            if let Some(problem) = misfit(anchor, Some(&entry.hash), authority) {
                return Some(self.verdict(Some((sequence, problem))));
            }
            self.seen.insert(sequence);
            self.anchors += 1;
        }
        None
    }

    /// Whether an entry was there already, exactly as it is.
    fn is_again(&self, entry: &AuditEntry) -> bool {
        if self.chain.as_ref().is_none_or(|chain| entry.sequence > chain.count) {
            return false;
        }
        let hash = AuditChain::link(&entry.hash_previous, &entry.entry, entry.sequence);
        self.recent.iter().rev().any(|(sequence, known)| {
            *sequence == entry.sequence && *known == entry.hash && *known == hash
        })
    }

    fn verdict(&self, bad: Option<(u64, String)>) -> AuditVerdict {
        let head = self.chain.clone().unwrap_or_default().hash;
        let (first_bad, problem) = bad.unzip();
        AuditVerdict {
            is_intact: first_bad.is_none(),
            entries: self.entries,
            first_bad,
            problem,
            head: head.iter().map(|byte| format!("{byte:02x}")).collect(),
            anchors: self.anchors,
        }
    }
}

enum Line {
    Entry(Box<AuditView>),
    Anchor(AuditAnchor),
}

/// One line of an export, or one anchor as it was printed.
fn read_line(text: &str) -> Option<Line> {
    let mut value: serde_json::Value = serde_json::from_str(text).ok()?;
    if let Some(anchor) = value.get_mut("anchor") {
        let record: AuditAnchorView = serde_json::from_value(anchor.take()).ok()?;
        return record.anchor().map(Line::Anchor);
    }
    if value.get("signature").is_some() {
        let record: AuditAnchorView = serde_json::from_value(value).ok()?;
        return record.anchor().map(Line::Anchor);
    }
    serde_json::from_value(value).ok().map(|record| Line::Entry(Box::new(record)))
}

/// Calls `take` for every line until that says no.
fn for_lines(
    path: &Path,
    mut take: impl FnMut(Line) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
    for (number, text) in (1..).zip(BufReader::new(file).lines()) {
        let text = text.with_context(|| format!("read {}", path.display()))?;
        if text.trim().is_empty() {
            continue;
        }
        let Some(line) = read_line(&text) else {
            return Err(Failure::usage(
                format!("line {number} of {} is no audit entry and no anchor", path.display()),
                "give a file that `hostler audit export` or `hostler audit anchors -o jsonl` made",
            ));
        };
        if !take(line)? {
            return Ok(());
        }
    }
    Ok(())
}

fn kept_anchors(path: &Path) -> Result<BTreeMap<u64, AuditAnchor>, Failure> {
    let mut anchors = BTreeMap::new();
    for_lines(path, |line| {
        if let Line::Anchor(anchor) = line {
            anchors.insert(anchor.sequence, anchor);
        }
        Ok(true)
    })?;
    if anchors.is_empty() {
        return Err(Failure::usage(
            format!("there is no anchor in {}", path.display()),
            "make one with `hostler audit anchor -o jsonl`",
        ));
    }
    Ok(anchors)
}
