//! `hostler workflow fmt`: lines are indented as blocks nest. Nothing else of a file changes: not its words, not its
//! strings, not where its lines end.

use hostler_lua::indented;

use super::super::{Cx, DONE};
use super::given;
use crate::args::WorkflowFmtArgs;
use crate::exit;
use crate::failure::{Failure, Outcome};

pub fn fmt(cx: &Cx, args: &WorkflowFmtArgs) -> Outcome {
    let mut changed = 0;
    for file in &args.files {
        let (name, text) = given::read(&cx.ui, file)?;
        let formatted = indented(&name, &text).map_err(|mistakes| given::wrong(&mistakes))?;
        if formatted == text {
            continue;
        }
        changed += 1;
        if args.check {
            cx.ui.line(&name)?;
            continue;
        }
        std::fs::write(file, &formatted).map_err(|error| {
            Failure::usage(format!("{name}: {error}"), "give a file that can be written")
        })?;
        cx.ui.say(&format!("{name}: formatted"));
    }
    Ok(if args.check && changed > 0 { exit::Code::Failure.number() } else { DONE })
}
