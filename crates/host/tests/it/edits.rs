//! Lines, blocks and replacements in files that are there.

use hostler_host::files::{Block, Line, Replace};
use hostler_host::{HostError, Primitive};

use crate::world::*;

fn line(path: &str, line: &str, regexp: Option<&str>) -> Line {
    Line {
        path: path.into(),
        line: Some(line.into()),
        regexp: regexp.map(str::to_owned),
        ..Line::default()
    }
}

#[tokio::test]
async fn a_line_is_put_and_taken() {
    let world = World::new();
    world.write("/etc/ssh", "Port 22\nUsePAM yes\n").chmod("/etc/ssh", 0o600);
    let port = line("/etc/ssh", "Port 2222", Some("^#?Port "));
    let outcome = world.applies(&port).await;
    assert!(outcome.render().contains("-Port 22\n+Port 2222\n UsePAM yes\n"));
    assert_eq!(world.mode("/etc/ssh"), 0o600);
    world.applies(&line("/etc/ssh", "X11Forwarding no", None)).await;
    assert_eq!(world.read("/etc/ssh"), "Port 2222\nUsePAM yes\nX11Forwarding no\n");
    world.removes(&line("/etc/ssh", "UsePAM yes", None)).await;
    let by_pattern = Line { line: None, ..line("/etc/ssh", "", Some("^Port")) };
    world.removes(&by_pattern).await;
    assert_eq!(world.read("/etc/ssh"), "X11Forwarding no\n");
}

#[tokio::test]
async fn a_line_needs_a_file_unless_it_may_make_one() {
    let world = World::new();
    let wanted = line("/etc/new", "x", None);
    assert!(world.refuses(&wanted).await.to_string().contains("make what is missing first"));
    assert!(!wanted.remove(&world.host).await.unwrap().changed);
    world.applies(&Line { create: true, ..wanted }).await;
    assert_eq!(world.read("/etc/new"), "x\n");
}

#[tokio::test]
async fn what_cannot_be_a_line_is_refused() {
    let world = World::new();
    world.write("/f", "a\n").write("/binary", [0xff, 0xfe]).symlink("/l", "f");
    assert!(matches!(world.refuses(&line("/f", "a\nb", None)).await, HostError::Invalid { .. }));
    assert!(matches!(world.refuses(&line("/f", "a", Some("("))).await, HostError::Pattern { .. }));
    let nothing = Line { line: None, ..line("/f", "", None) };
    world.refuses(&nothing).await;
    assert!(nothing.remove(&world.host).await.is_err());
    let both = Line {
        insert_after: Some("a".into()),
        insert_before: Some("b".into()),
        ..line("/f", "x", None)
    };
    world.refuses(&both).await;
    assert!(matches!(world.refuses(&line("/binary", "x", None)).await, HostError::NotText { .. }));
    assert!(matches!(world.refuses(&line("/l", "x", None)).await, HostError::Link { .. }));
    world.applies(&Line { follow: true, ..line("/l", "x", None) }).await;
    assert_eq!(world.read("/f"), "a\nx\n");
}

#[tokio::test]
async fn a_block_is_put_and_taken() {
    let world = World::new();
    world.write("/etc/hosts", "127.0.0.1 localhost\n");
    let block = Block::new("/etc/hosts", "10.0.0.1 a\n10.0.0.2 b");
    world.applies(&block).await;
    assert_eq!(
        world.read("/etc/hosts"),
        "127.0.0.1 localhost\n# BEGIN MANAGED BLOCK\n10.0.0.1 a\n10.0.0.2 b\n# END MANAGED BLOCK\n"
    );
    world.applies(&Block { block: "10.0.0.9 z".into(), ..block.clone() }).await;
    assert!(world.read("/etc/hosts").contains("BLOCK\n10.0.0.9 z\n# END"));
    world.removes(&block).await;
    assert_eq!(world.read("/etc/hosts"), "127.0.0.1 localhost\n");
    world.refuses(&Block::new("/gone", "x")).await;
    world.applies(&Block { create: true, ..Block::new("/new", "x") }).await;
    world.write("/torn", "# BEGIN MANAGED BLOCK\nx\n");
    let error = world.refuses(&Block::new("/torn", "x")).await;
    assert!(matches!(error, HostError::Edit { .. }), "{error}");
}

#[tokio::test]
async fn what_fits_is_replaced_everywhere() {
    let world = World::new();
    world.write("/f", "a=1\nb=1\na=2\n");
    let replace = Replace::new("/f", r"(?m)^a=(\d)$", "x=$1");
    world.applies(&replace).await;
    assert_eq!(world.read("/f"), "x=1\nb=1\nx=2\n");
    world.removes(&Replace::new("/f", r"x=\d\n", "")).await;
    assert_eq!(world.read("/f"), "b=1\n");
    assert!(matches!(world.refuses(&Replace::new("/f", "[", "")).await, HostError::Pattern { .. }));
    world.refuses(&Replace::new("/gone", "a", "b")).await;
}
