//! Approvals and their policies.

use hostler_api::ProjectPath;
use hostler_api::approval::{
    ApprovalApprove, ApprovalApproveBody, ApprovalDeny, ApprovalDenyBody, ApprovalGet,
    ApprovalList, ApprovalListQuery, ApprovalPath, ApprovalPolicyGet, ApprovalPolicyList,
    ApprovalPolicyPath, ApprovalPolicyRemove, ApprovalPolicySet, ApprovalPolicyView, ApprovalView,
    ApprovalWithdraw, ProjectApprovalPolicyGet, ProjectApprovalPolicyList,
    ProjectApprovalPolicyPath, ProjectApprovalPolicyRemove, ProjectApprovalPolicySet,
};
use hostler_model::{
    ApprovalId, ApprovalRule, ApprovalState, ApprovalWhen, Code, Cores, Generation, Permission,
};

use super::{Cx, DONE, Link, NONE, PAGE, again_if_stale, bare};
use crate::args::{
    ApprovalCommand, ApprovalListArgs, ApprovalPolicyCommand, ApprovalPolicySetArgs, PolicyPlace,
};
use crate::failure::{Failure, Outcome};
use crate::output::{Description, moment};

pub async fn perform(cx: &Cx, command: ApprovalCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        ApprovalCommand::Ls(args) => ls(cx, &link, args).await,
        ApprovalCommand::Show { request } => show(cx, &link, request).await,
        ApprovalCommand::Approve(args) => {
            let body = ApprovalApproveBody { reason: args.reason, digest: args.digest };
            let path = path(args.request);
            let decided = link.client.call::<ApprovalApprove>(&path, &NONE, &body).await?;
            cx.changed(&decided, approved(&decided))
        }
        ApprovalCommand::Deny(args) => {
            let body = ApprovalDenyBody { reason: args.reason };
            let path = path(args.request);
            cx.changed(&link.client.call::<ApprovalDeny>(&path, &NONE, &body).await?, "denied")
        }
        ApprovalCommand::Withdraw { request } => {
            let path = path(request);
            let withdrawn = link.client.call::<ApprovalWithdraw>(&path, &NONE, &NONE).await?;
            cx.changed(&withdrawn, "withdrawn")
        }
        ApprovalCommand::Policy(command) => Box::pin(policies(cx, &link, command)).await,
    }
}

fn path(request: ApprovalId) -> ApprovalPath {
    ApprovalPath { approval: request.to_string() }
}

fn approved(request: &ApprovalView) -> &'static str {
    match request.state {
        ApprovalState::Waiting => "agreed to; somebody else has to agree too",
        ApprovalState::Used => "approved; it goes on",
        ApprovalState::Void => "not approved: it is worth nothing any more",
        _ => "approved",
    }
}

async fn ls(cx: &Cx, link: &Link, args: ApprovalListArgs) -> Outcome {
    let query = ApprovalListQuery {
        mine: args.mine.then_some(true),
        to_decide: args.to_decide.then_some(true),
        state: args.state,
        filter: args.list.filter,
        limit: PAGE,
        cursor: None,
    };
    cx.list::<ApprovalList, _>(link, &NONE, &query, args.list.limit).await
}

async fn show(cx: &Cx, link: &Link, id: ApprovalId) -> Outcome {
    let request = link.client.call::<ApprovalGet>(&path(id), &NONE, &NONE).await?;
    if !cx.is_for_people() || cx.ui.is_quiet() {
        return cx.one(&request);
    }
    let time = |time| moment(time, cx.now(), true);
    let mut text = Description::default();
    text.pair("Id", id.to_string())
        .pair("State", request.state.to_string())
        .pair("Why", request.why.clone())
        .pair("Verb", format!("{} ({})", request.verb, request.verb.meaning()))
        .pair("Name", request.name.clone())
        .pair("Project", request.project.as_ref().map(ToString::to_string))
        .pair("Asked by", request.requested_by.clone())
        .pair("Asked at", time(request.time_created))
        .pair("Expires at", time(request.time_expires))
        .pair("Digest", request.digest.to_string());
    text.section("Needs");
    for need in &request.needs {
        let by: Vec<String> = need.by.iter().map(ToString::to_string).collect();
        let by = match by.as_slice() {
            [] => "whoever has approval.decide".to_owned(),
            by => by.join(", "),
        };
        let words = format!("{} of {} agreed; {by}", need.agreed, need.approvals);
        text.pair(need.policy.as_str(), words);
    }
    text.section("Decisions");
    for decision in &request.decisions {
        let word = if decision.is_approval { "agreed" } else { "did not agree" };
        let reason = match decision.reason.as_str() {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        text.pair(decision.by.as_str(), format!("{word}, {}{reason}", time(decision.time)));
    }
    text.section("What will be done");
    let what = serde_json::to_string_pretty(&request.what).unwrap_or_default();
    for line in what.lines() {
        text.text(line);
    }
    cx.ui.data(text.render().as_bytes())?;
    if let Some(next) = next_step(&request) {
        cx.ui.say(&next);
    }
    Ok(DONE)
}

fn next_step(request: &ApprovalView) -> Option<String> {
    let id = request.id;
    match request.state {
        ApprovalState::Waiting if request.is_decidable => Some(format!(
            "decide with `hostler approval approve {id}` or `hostler approval deny {id}`"
        )),
        ApprovalState::Approved if request.verb != Permission::TaskSubmit => {
            Some(format!("{} repeats it with `--approval {id}`", request.requested_by))
        }
        _ => None,
    }
}

async fn policies(cx: &Cx, link: &Link, command: ApprovalPolicyCommand) -> Outcome {
    match command {
        ApprovalPolicyCommand::Ls { place, list } => {
            let query = list.page();
            if place.global {
                return cx.list::<ApprovalPolicyList, _>(link, &NONE, &query, list.limit).await;
            }
            let path = ProjectPath { project: link.project.clone() };
            cx.list::<ProjectApprovalPolicyList, _>(link, &path, &query, list.limit).await
        }
        ApprovalPolicyCommand::Get { policy, place } => {
            cx.one(&get(link, place, bare("approval-policy", &policy)).await?)
        }
        ApprovalPolicyCommand::Set(args) => set(cx, link, *args).await,
        ApprovalPolicyCommand::Rm { policies, place } => {
            cx.ui.confirm(&format!("Remove {}?", policies.join(", ")))?;
            for policy in &policies {
                let name = bare("approval-policy", policy);
                let remove = again_if_stale(async || remove(link, place, name).await);
                remove.await?;
                cx.ui.say(&format!("approval policy {name} removed"));
            }
            Ok(DONE)
        }
    }
}

fn in_project(link: &Link, policy: &str) -> ProjectApprovalPolicyPath {
    ProjectApprovalPolicyPath { project: link.project.clone(), policy: policy.to_owned() }
}

fn anywhere(policy: &str) -> ApprovalPolicyPath {
    ApprovalPolicyPath { policy: policy.to_owned() }
}

async fn get(
    link: &Link,
    place: PolicyPlace,
    policy: &str,
) -> Result<ApprovalPolicyView, hostler_client::Error> {
    match place.global {
        true => link.client.call::<ApprovalPolicyGet>(&anywhere(policy), &NONE, &NONE).await,
        false => {
            let path = in_project(link, policy);
            link.client.call::<ProjectApprovalPolicyGet>(&path, &NONE, &NONE).await
        }
    }
}

async fn remove(
    link: &Link,
    place: PolicyPlace,
    policy: &str,
) -> Result<(), hostler_client::Error> {
    let seen = Generation::from_u64(get(link, place, policy).await?.generation);
    let client = &link.client;
    match place.global {
        true => {
            let path = anywhere(policy);
            client.call_if_match::<ApprovalPolicyRemove>(&path, &NONE, &NONE, seen).await?;
        }
        false => {
            let path = in_project(link, policy);
            client.call_if_match::<ProjectApprovalPolicyRemove>(&path, &NONE, &NONE, seen).await?;
        }
    }
    Ok(())
}

async fn set(cx: &Cx, link: &Link, args: ApprovalPolicySetArgs) -> Outcome {
    let (place, name) = (args.place, args.name.clone());
    let rule = rule(args)?;
    let (client, rule, name) = (&link.client, &rule, name.as_str());
    let change = again_if_stale(async || {
        let seen = match get(link, place, name).await {
            Ok(policy) => Some(Generation::from_u64(policy.generation)),
            Err(error) if error.is(Code::NotFound) => None,
            Err(error) => return Err(error),
        };
        match (place.global, seen) {
            (true, Some(seen)) => {
                let path = anywhere(name);
                client.call_if_match::<ApprovalPolicySet>(&path, &NONE, rule, seen).await
            }
            (true, None) => client.call::<ApprovalPolicySet>(&anywhere(name), &NONE, rule).await,
            (false, Some(seen)) => {
                let path = in_project(link, name);
                client.call_if_match::<ProjectApprovalPolicySet>(&path, &NONE, rule, seen).await
            }
            (false, None) => {
                let path = in_project(link, name);
                client.call::<ProjectApprovalPolicySet>(&path, &NONE, rule).await
            }
        }
    });
    cx.changed(&change.await?, "set")
}

fn rule(args: ApprovalPolicySetArgs) -> Result<ApprovalRule, Failure> {
    let cores_above = match args.cores_above {
        None => None,
        Some(cores) => Some(Cores::from_f64(cores).ok_or_else(|| {
            Failure::usage("a number of cores has at most three decimals", "write it as 2 or 0.5")
        })?),
    };
    Ok(ApprovalRule {
        verbs: args.verbs,
        when: ApprovalWhen {
            node_labels: args.node_labels.into_iter().collect(),
            tags: args.tags,
            images: args.images,
            privileged: args.privileged,
            cores_above,
            memory_above: args.memory_above,
            gpus_above: args.gpus_above,
        },
        exempt: args.exempt,
        approvals: args.approvals,
        by: args.by,
        request_ttl: args.request_ttl,
        approval_ttl: args.approval_ttl,
    })
}
