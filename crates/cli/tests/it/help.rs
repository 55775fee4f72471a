use hostler_model::Code;

use crate::world::World;

/// Every command with its path.
fn walk(command: &clap::Command, path: &str, see: &mut impl FnMut(&str, &clap::Command)) {
    see(path, command);
    for sub in
        command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
    {
        walk(sub, &format!("{path} {}", sub.get_name()), see);
    }
}

#[test]
fn help_of_every_command() {
    let mut tree = hostler_cli::command_tree().term_width(100);
    tree.build();
    let mut text = String::new();
    walk(&tree, "hostler", &mut |path, command| {
        let help = command.clone().term_width(100).render_help().to_string();
        // The global options are the same everywhere; the root shows them.
        let own = match path {
            "hostler" => help,
            _ => {
                let (before, global) = help.split_once("Global options:").unwrap_or((&help, ""));
                let after =
                    global.split_once("Examples:").map(|(_, after)| format!("Examples:{after}"));
                format!("{before}{}", after.unwrap_or_default())
            }
        };
        text.push_str(&format!("===== {path} =====\n{}\n\n", own.trim_end()));
    });
    insta::assert_snapshot!(text);
}

/// Whether the words of a command are in an example, with names and flags between them.
fn has_in_order(example: &str, path: &str) -> bool {
    let mut words = example.split_whitespace();
    path.split(' ').all(|wanted| words.any(|word| word == wanted))
}

#[test]
fn every_verb_has_examples_and_every_argument_has_help() {
    let tree = hostler_cli::command_tree();
    walk(&tree, "hostler", &mut |path, command| {
        if command.get_subcommands().next().is_none() {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(examples.starts_with("Examples:\n"), "{path} has no examples");
            for example in examples.lines().filter(|line| line.starts_with("  hostler ")) {
                assert!(
                    has_in_order(example, path)
                        || path.contains("task logs")
                        || path.contains("task wait"),
                    "{path}: {example}"
                );
            }
        }
        assert!(command.get_about().is_some(), "{path} says nothing about itself");
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some(), "{path} {} has no help", arg.get_id());
        }
    });
    tree.debug_assert();
}

#[test]
fn the_reference_names_every_command() {
    let reference = hostler_cli::reference_markdown();
    let tree = hostler_cli::command_tree();
    walk(&tree, "hostler", &mut |path, _| {
        assert!(path == "hostler" || reference.contains(&format!("# {path}\n")), "{path}");
    });
    assert_eq!(reference, hostler_cli::reference_markdown());
    let (_, server) = reference.split_once("\n## hostler project\n").unwrap();
    let (server, _) = server.split_once("\n## hostler user\n").unwrap();
    insta::assert_snapshot!(server);
}

#[test]
fn errors_and_exit_codes() {
    insta::assert_snapshot!(hostler_cli::errors_markdown());
}

#[tokio::test]
async fn codes_are_explained_without_a_server() {
    let world = World::unknown(axum::Router::new()).await;
    for code in Code::ALL {
        let ran = world.hostler(&["explain", code.label()]).await;
        assert_eq!(ran.code, 0, "{code}");
        assert!(ran.text().starts_with(code.label()), "{code}");
        assert!(ran.text().contains("What to do: "), "{code}");
    }
    assert_eq!(world.fake.connections(), 0);
}

#[tokio::test]
async fn completion_scripts_ask_this_program() {
    let world = World::unknown(axum::Router::new()).await;
    for shell in ["bash", "zsh", "fish"] {
        let ran = world.hostler(&["completion", shell]).await;
        assert_eq!(ran.code, 0);
        assert!(ran.text().contains("HOSTLER_COMPLETE"), "{shell}: {}", ran.text());
    }
}

#[tokio::test]
async fn help_knows_commands_and_topics() {
    let world = World::unknown(axum::Router::new()).await;
    let all = world.hostler(&["help"]).await;
    assert!(all.text().contains("exit-codes") && all.text().contains("Usage: hostler"));
    let verb = world.hostler(&["help", "task", "submit"]).await;
    assert!(verb.text().contains("Usage: hostler task submit"), "{}", verb.text());
    let topics = world.hostler(&["help", "topics"]).await;
    for line in topics.text().lines() {
        let topic = line.split_whitespace().next().unwrap();
        let ran = world.hostler(&["help", topic]).await;
        assert_eq!(ran.code, 0, "{topic}");
        assert!(ran.text().len() > 100, "{topic}");
    }
    assert_eq!(world.hostler(&["help", "nonsense"]).await.code, 3);
    assert_eq!(world.fake.connections(), 0);
}

#[test]
fn what_becomes_a_server_or_an_agent_is_handed_on() {
    use hostler_cli::{AgentInvocation, Invocation, ServerInvocation};
    let parse = |words: &str| hostler_cli::parse_from(words.split(' ')).unwrap();
    assert!(
        matches!(parse("hostler up --data-dir x"), Invocation::Up(args) if args.options.data_dir.is_some())
    );
    assert!(matches!(parse("hostler server"), Invocation::Server(ServerInvocation::Run(_))));
    assert!(matches!(
        parse("hostler server --listen 127.0.0.1:0"),
        Invocation::Server(ServerInvocation::Run(_))
    ));
    assert!(matches!(
        parse("hostler server migrate"),
        Invocation::Server(ServerInvocation::Migrate(_))
    ));
    assert!(matches!(parse("hostler server ls"), Invocation::Client(_)));
    assert!(matches!(parse("hostler agent"), Invocation::Agent(AgentInvocation::Run(_))));
    assert!(matches!(
        parse("hostler agent join t --server s"),
        Invocation::Agent(AgentInvocation::Join(_))
    ));
    assert!(matches!(
        parse("hostler agent status"),
        Invocation::Agent(AgentInvocation::Local { .. })
    ));
    assert!(matches!(
        parse("hostler agent up --standalone dir --http"),
        Invocation::Agent(AgentInvocation::Up(_))
    ));
    assert!(matches!(parse("hostler run sleep -n 5"), Invocation::Client(_)));
    for wrong in [
        "hostler",
        "hostler nod",
        "hostler task rm",
        "hostler run",
        "hostler -o xml version",
        "hostler run --cores x -- a",
    ] {
        assert!(hostler_cli::parse_from(wrong.split(' ')).is_err(), "{wrong}");
    }
}
