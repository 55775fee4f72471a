//! What comes out: workloads and remarks, and what is said when nothing can.

use std::collections::BTreeSet;
use std::fmt;

use hostler_model::{Name, WorkloadSpec};
use serde::Serialize;

use crate::names;
use crate::relate::relate;
use crate::settle::settle;

/// A file, by the name that remarks call it, and its text.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

/// What the files say in Hostler's words, and what they say that Hostler cannot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub workloads: Vec<(Name, WorkloadSpec)>,
    /// In the order of files and lines.
    pub remarks: Vec<Remark>,
}

/// Something to know about the way from one to the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    pub file: String,
    pub line: u32,
    /// What it is about, such as `web.ports`.
    pub subject: String,
    pub kind: RemarkKind,
    /// What happens to it and what to do.
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RemarkKind {
    /// It has no equivalent and is left out.
    Lost,
    /// It is there, but means something slightly different.
    Changed,
    /// It is there and means the same; worth knowing.
    Note,
}

impl fmt::Display for RemarkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RemarkKind::Lost => "lost",
            RemarkKind::Changed => "changed",
            RemarkKind::Note => "note",
        })
    }
}

/// Text that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {detail}")]
pub struct Unreadable {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub detail: String,
    /// What to do about it.
    pub hint: String,
}

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    pub file: &'a str,
    pub line: u32,
}

impl Place<'_> {
    pub fn unreadable(
        self,
        column: u32,
        detail: impl Into<String>,
        hint: impl Into<String>,
    ) -> Unreadable {
        Unreadable {
            file: self.file.to_owned(),
            line: self.line,
            column,
            detail: detail.into(),
            hint: hint.into(),
        }
    }
}

/// The lines of a text, numbered as editors do.
pub fn numbered(text: &str) -> impl Iterator<Item = (u32, &str)> {
    (1..).zip(text.lines())
}

/// A plan in the making.
#[derive(Debug, Default)]
pub struct Draft {
    workloads: Vec<(Name, WorkloadSpec)>,
    /// File and line of each workload.
    places: Vec<(String, u32)>,
    remarks: Vec<(usize, Remark)>,
    files: Vec<String>,
    names: BTreeSet<String>,
}

impl Draft {
    /// Remarks come in the order of these files.
    pub fn new(sources: &[Source<'_>]) -> Draft {
        let files = sources.iter().map(|source| source.file.to_owned()).collect();
        Draft { files, ..Draft::default() }
    }

    /// A name like the wanted one that nothing else has.
    pub fn name(&mut self, wanted: &str) -> Name {
        names::unique(wanted, &mut self.names)
    }

    /// Takes a workload, without whatever is not valid in it.
    pub fn push(&mut self, place: Place<'_>, name: Name, mut spec: WorkloadSpec) {
        let is_usable = settle(&mut spec, |subject, detail| {
            self.lost(place, format!("{name}.{subject}"), detail);
        });
        if is_usable {
            self.workloads.push((name, spec));
            self.places.push((place.file.to_owned(), place.line));
        }
    }

    pub fn lost(
        &mut self,
        place: Place<'_>,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) {
        self.remark(place, RemarkKind::Lost, subject.into(), detail.into());
    }

    pub fn changed(
        &mut self,
        place: Place<'_>,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) {
        self.remark(place, RemarkKind::Changed, subject.into(), detail.into());
    }

    pub fn note(
        &mut self,
        place: Place<'_>,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) {
        self.remark(place, RemarkKind::Note, subject.into(), detail.into());
    }

    fn remark(&mut self, place: Place<'_>, kind: RemarkKind, subject: String, detail: String) {
        let order = self.files.iter().position(|file| file == place.file);
        let file = place.file.to_owned();
        let remark = Remark { file, line: place.line, subject, kind, detail };
        let order = order.unwrap_or(self.files.len());
        if !self.remarks.iter().any(|(_, known)| *known == remark) {
            self.remarks.push((order, remark));
        }
    }

    pub fn finish(mut self) -> Plan {
        let mut workloads = std::mem::take(&mut self.workloads);
        let places = std::mem::take(&mut self.places);
        let names: Vec<Name> = workloads.iter().map(|(name, _)| name.clone()).collect();
        relate(&mut workloads, |index, kind, detail| {
            let (file, line) = &places[index];
            let place = Place { file, line: *line };
            self.remark(place, kind, format!("{}.depends", names[index]), detail);
        });
        self.remarks.sort_by_key(|(order, remark)| (*order, remark.line));
        let remarks = self.remarks.into_iter().map(|(_, remark)| remark).collect();
        Plan { workloads, remarks }
    }
}
