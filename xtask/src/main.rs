//! `cargo xtask gen [--check]` and `cargo xtask tidy`. See the library for what they do.

use std::process::ExitCode;

use xtask::{Tree, generate, root, tidy};

const USAGE: &str = "usage: cargo xtask <chore>

  gen          write every generated file
  gen --check  say which generated files are out of date, and fail if any is
  tidy         check the rules of the house, and fail if one is broken
";

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a command that people run")]
fn main() -> anyhow::Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["gen"] => {
            for path in generate::write(&root())? {
                println!("wrote {path}");
            }
            Ok(ExitCode::SUCCESS)
        }
        ["gen", "--check"] => {
            let stale = generate::stale(&root())?;
            for path in &stale {
                eprintln!("out of date: {path}");
            }
            if stale.is_empty() {
                return Ok(ExitCode::SUCCESS);
            }
            eprintln!("run `cargo xtask gen` and commit the result");
            Ok(ExitCode::FAILURE)
        }
        ["tidy"] => {
            let report = tidy::run(&Tree::open(&root())?)?;
            for note in &report.notes {
                println!("note: {note}");
            }
            for finding in &report.findings {
                eprintln!("{finding}");
            }
            if report.findings.is_empty() {
                println!("tidy: everything in its place");
                return Ok(ExitCode::SUCCESS);
            }
            eprintln!("tidy: {} findings", report.findings.len());
            Ok(ExitCode::FAILURE)
        }
        _ => {
            eprint!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}
