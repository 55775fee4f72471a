//! What the authoriser says.

use hostler_api::access::{AccessCheck, AccessExplain, AccessExplanation, AccessQuery};
use hostler_model::{Permission, PermissionSet, Reach};

use super::{Cx, DONE, Link, NONE, second_factor};
use crate::args::{AuthAskArgs, AuthCommand};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Description, Format};
use crate::target::given;

pub async fn perform(cx: &Cx, command: AuthCommand) -> Outcome {
    match command {
        AuthCommand::CanI(args) => can_i(cx, args).await,
        AuthCommand::Explain(args) => explain(cx, args).await,
        AuthCommand::Totp(command) => second_factor::perform(cx, command).await,
    }
}

/// `task.submit`, or `submit task`.
fn permission(what: &[String]) -> Result<Permission, Failure> {
    let text = match what {
        [verb, object] => format!("{object}.{verb}"),
        [one] => one.clone(),
        _ => String::new(),
    };
    let wrong =
        |detail: String| Failure::usage(detail, "`hostler role show admin` lists all permissions");
    let read = PermissionSet::read([&text]).map_err(|error| wrong(error.to_string()))?;
    let mut all = read.iter();
    match (all.next(), all.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(wrong(format!("`{text}` is more than one permission; ask about each"))),
    }
}

/// A project is asked about where the permission is about one: that of `-p`, or the one to work in. The
/// server of somebody who has no say there answers for it as for one that does not exist.
fn query(cx: &Cx, link: &Link, args: AuthAskArgs) -> Result<AccessQuery, Failure> {
    let permission = permission(&args.what)?;
    if args.global && given(&cx.globals.project).is_some() {
        return Err(Failure::usage(
            "--global and --project contradict each other",
            "leave one of them out",
        ));
    }
    let is_about_one = permission.reach() == Reach::Project && !args.global;
    let project = is_about_one.then(|| link.project.clone());
    Ok(AccessQuery { permission, project, who: args.who })
}

async fn can_i(cx: &Cx, args: AuthAskArgs) -> Outcome {
    let link = cx.link()?;
    let query = query(cx, &link, args)?;
    let answer = link.client.call::<AccessCheck>(&NONE, &query, &NONE).await?;
    match cx.ui.format() {
        _ if cx.ui.is_quiet() => {}
        None | Some(Format::Table | Format::Wide | Format::Name) => {
            cx.ui.line(if answer.is_allowed { "yes" } else { "no" })?;
            cx.ui.say(&answer.reason);
        }
        Some(format) => output::document(&cx.ui, format, &answer)?,
    }
    Ok(match answer.is_allowed {
        true => DONE,
        false => exit::Code::Failure.number(),
    })
}

async fn explain(cx: &Cx, args: AuthAskArgs) -> Outcome {
    let link = cx.link()?;
    let query = query(cx, &link, args)?;
    let answer = link.client.call::<AccessExplain>(&NONE, &query, &NONE).await?;
    match cx.ui.format() {
        None | Some(Format::Table | Format::Wide | Format::Name) => {
            cx.ui.data(describe(&answer).as_bytes())?;
        }
        Some(format) => output::document(&cx.ui, format, &answer)?,
    }
    Ok(DONE)
}

fn describe(answer: &AccessExplanation) -> String {
    let place = |project: Option<&hostler_model::Name>| match project {
        Some(project) => format!("in project {project}"),
        None => "on the whole installation".to_owned(),
    };
    let mut text = Description::default();
    text.pair("Allowed", if answer.is_allowed { "yes" } else { "no" }.to_owned())
        .pair("Because", answer.reason.clone())
        .pair("Who", answer.who.to_string())
        .pair("Permission", format!("{}: {}", answer.permission, answer.meaning))
        .pair("Where", place(answer.project.as_ref()))
        .pair("Limit", answer.limit.clone())
        .pair("Needed", answer.needed.clone());
    text.section("Given by");
    for grant in &answer.grants {
        let through = match &grant.group {
            Some(group) => format!("{}, through the group {group}", place(grant.project.as_ref())),
            None => place(grant.project.as_ref()),
        };
        text.pair(&format!("role {}", grant.role), through);
    }
    text.render()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_read_in_both_orders() {
        let read = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            permission(&words).map_err(|failure| failure.render(false))
        };
        assert_eq!(read(&["task.submit"]).unwrap(), Permission::TaskSubmit);
        assert_eq!(read(&["cordon", "node"]).unwrap(), Permission::NodeCordon);
        assert!(read(&["task.*"]).unwrap_err().contains("more than one"));
        assert!(read(&["fly", "task"]).unwrap_err().contains("of task there are"));
    }
}
