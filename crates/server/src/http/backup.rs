//! Backups.

use std::collections::HashSet;

use axum::body::Body;
use futures::StreamExt as _;
use hostler_api::backup::{
    BackupCreate, BackupList, BackupScheduleRun, BackupScheduleShow, BackupScheduleView,
    BackupStanding, BackupView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::BackupSchedule;
use hostler_control::backup::{Kept, Sealing};
use hostler_model::backup::BackupAttempt;
use hostler_model::{Code, Error, Span};
use hostler_trust::StreamKey;

use super::{Answer, App, Call, page};

pub(crate) async fn create(app: App, call: Call<BackupCreate>) -> Result<Answer<Nothing>, Error> {
    let permit = app.stream_permit()?;
    let wrong = |_| {
        Error::new(
            Code::Malformed,
            "the seal of the backup cannot be read",
            "send the lock and the key as `hostler backup create` does",
        )
    };
    let sealing = match &call.body.seal {
        None => None,
        Some(seal) => Some(Sealing {
            lock: serde_json::from_value(seal.lock.clone()).map_err(|e| wrong(e.to_string()))?,
            key: StreamKey::from_base64(&seal.key).map_err(|e| wrong(e.to_string()))?,
        }),
    };
    let has_content = !call.body.without_content;
    let (_, stream) = app.control().backup_create(&call.cx, sealing, has_content).await?;
    let held = stream.map(move |portion| {
        let _open = &permit;
        portion
    });
    Ok(Answer::stream("application/octet-stream", Body::from_stream(held)))
}

pub(crate) async fn list(
    app: App,
    call: Call<BackupList>,
) -> Result<Answer<Listing<BackupView>>, Error> {
    let (attempts, kept) = app.control().backup_list(&call.cx).await?;
    Ok(Answer::new(page::whole(together(attempts, kept), |view| view)))
}

pub(crate) async fn schedule(
    app: App,
    _: Call<BackupScheduleShow>,
) -> Result<Answer<BackupScheduleView>, Error> {
    Ok(Answer::new(schedule_view(app.control().backup_schedule().await?)))
}

pub(crate) async fn run(
    app: App,
    call: Call<BackupScheduleRun>,
) -> Result<Answer<BackupScheduleView>, Error> {
    Ok(Answer::new(schedule_view(app.control().backup_now(&call.cx).await?)))
}

/// What the rows say and what is in the directory, by name; newest first.
fn together(attempts: Vec<BackupAttempt>, kept: Vec<Kept>) -> Vec<BackupView> {
    let here: HashSet<String> = kept.iter().map(|kept| kept.name.clone()).collect();
    let known: HashSet<String> = attempts.iter().map(|one| one.file.clone()).collect();
    let mut views: Vec<BackupView> = attempts
        .into_iter()
        .map(|attempt| {
            let found = kept.iter().find(|kept| kept.name == attempt.file);
            of_attempt(attempt, found, &here)
        })
        .collect();
    views.extend(kept.iter().filter(|kept| !known.contains(&kept.name)).filter_map(of_file));
    views.sort_by_key(|view| std::cmp::Reverse(view.time_created));
    views
}

fn of_attempt(attempt: BackupAttempt, found: Option<&Kept>, here: &HashSet<String>) -> BackupView {
    let head = found.and_then(|kept| kept.head.as_ref().ok());
    let unreadable = found.and_then(|kept| kept.head.as_ref().err());
    let standing = match (&attempt.digest, &attempt.problem) {
        (_, Some(_)) => BackupStanding::Failed,
        (None, None) => BackupStanding::UnderWay,
        (Some(_), None) if !here.contains(&attempt.file) => BackupStanding::Elsewhere,
        (Some(_), None) if unreadable.is_some() => BackupStanding::Failed,
        (Some(_), None) => BackupStanding::Verified,
    };
    BackupView {
        name: attempt.file,
        server: Some(attempt.server_name),
        standing,
        size: attempt.size,
        digest: attempt.digest,
        problem: attempt.problem.or_else(|| unreadable.cloned()),
        is_sealed: head.map(|head| head.lock.is_some()),
        has_master_key: head.map(|head| head.has_keys),
        time_created: attempt.time_created,
    }
}

/// A file that no row knows: somebody put it there, or the rows were restored.
fn of_file(kept: &Kept) -> Option<BackupView> {
    let head = kept.head.as_ref().ok()?;
    Some(BackupView {
        name: kept.name.clone(),
        server: None,
        standing: BackupStanding::Unverified,
        size: kept.size,
        digest: None,
        problem: None,
        is_sealed: Some(head.lock.is_some()),
        has_master_key: Some(head.has_keys),
        time_created: head.time,
    })
}

fn schedule_view(schedule: BackupSchedule) -> BackupScheduleView {
    let millis = u64::try_from(schedule.every.as_millis()).unwrap_or(u64::MAX);
    BackupScheduleView {
        directory: schedule.directory.map(|directory| directory.display().to_string()),
        every: Span::from_millis(millis),
        keep: u32::try_from(schedule.keep).unwrap_or(u32::MAX),
        is_sealed: schedule.is_sealed,
        has_master_key: schedule.has_master_key,
        has_content: schedule.has_content,
        time_last_good: schedule.last_good.map(|good| good.time_created),
        problem: schedule.last.and_then(|last| last.problem),
        time_next: schedule.next,
        is_overdue: schedule.is_overdue,
    }
}
