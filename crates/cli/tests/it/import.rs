use std::path::Path;

use serde_json::Value;

use crate::world::World;

const PROCFILE: &str = "web: serve -p $PORT\nworker: work\n";

async fn world() -> World {
    World::unknown(axum::Router::new()).await
}

fn put(world: &World, name: &str, text: &str) -> String {
    let path = world.home.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[tokio::test]
async fn a_plan_shows_workloads_and_remarks_and_writes_nothing() {
    let world = world().await;
    let shown = world.hostler_with(&["import", "procfile", "-"], PROCFILE).await;
    let asked = world.hostler_with(&["import", "procfile", "-", "--plan"], PROCFILE).await;
    assert_eq!((shown.code, shown.out, &shown.err), (asked.code, asked.out.clone(), &asked.err));
    insta::assert_snapshot!(format!("{}===== stderr =====\n{}", asked.text(), asked.err));
    let quiet = world.hostler_with(&["import", "procfile", "-", "-q"], PROCFILE).await;
    assert_eq!((quiet.text().as_str(), quiet.err.as_str()), ("web\nworker\n", ""));
    assert_eq!(world.fake.connections(), 0);
}

#[tokio::test]
async fn documents_hold_workloads_and_remarks() {
    let world = world().await;
    let file = put(&world, "etc/cron.d/backup", "0 3 * * * root /usr/bin/backup\n");
    let ran = world.hostler(&["import", "crontab", &file, "-o", "json"]).await;
    let document: Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(document["workloads"][0]["name"], "backup");
    assert_eq!(document["workloads"][0]["spec"]["user"], "root");
    let remark = &document["remarks"][0];
    assert_eq!((remark["file"].as_str(), remark["line"].as_u64()), (Some(file.as_str()), Some(1)));
    assert_eq!(remark["kind"], "note");
    let user = world.hostler_with(&["import", "crontab", "--system", "-"], "@daily ada x\n").await;
    assert!(user.text().contains("user: ada"), "{}", user.text());
}

#[tokio::test]
async fn files_are_written_once_and_replaced_only_when_told() {
    let world = world().await;
    let out = world.home.path().join("new/workloads");
    let words = ["import", "procfile", "-", "--out", out.to_str().unwrap()];
    let ran = world.hostler_with(&words, PROCFILE).await;
    assert_eq!((ran.code, ran.text().as_str()), (0, ""), "{}", ran.err);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert!(read("web.yaml").starts_with("name: web\n"));
    std::fs::remove_file(out.join("web.yaml")).unwrap();
    std::fs::write(out.join("worker.yaml"), "mine").unwrap();
    let again = world.hostler_with(&words, PROCFILE).await;
    assert_eq!(again.code, 5);
    assert!(again.err.contains("worker.yaml") && again.err.contains("--force"), "{}", again.err);
    assert!(!Path::new(&out.join("web.yaml")).exists() && read("worker.yaml") == "mine");
    let forced = [words.as_slice(), &["--force"]].concat();
    assert_eq!(world.hostler_with(&forced, PROCFILE).await.code, 0);
    assert!(read("worker.yaml").starts_with("name: worker\n"));
}

#[tokio::test]
async fn variables_come_from_a_file() {
    let world = world().await;
    let env = put(&world, ".env", "NOBODY_HAS_THIS=blue\n");
    let yaml = "services:\n  a:\n    command: run ${NOBODY_HAS_THIS} ${NOR_THIS:-green}\n";
    let file = put(&world, "compose.yaml", yaml);
    let ran = world.hostler(&["import", "compose", &file, "--env-file", &env]).await;
    assert!(ran.text().contains("command: [run, blue, green]"), "{}", ran.text());
}

#[tokio::test]
async fn what_cannot_be_read_is_wrong_usage_and_says_where() {
    let world = world().await;
    let service = put(&world, "a.service", "[Service]\nnonsense\n");
    let bytes = world.home.path().join("bytes");
    std::fs::write(&bytes, b"web: x\nab\xff\n").unwrap();
    for (words, place) in [
        (["import", "systemd", &service], format!("{service}:2:1: ")),
        (["import", "procfile", bytes.to_str().unwrap()], format!("{}:2:3: ", bytes.display())),
        (["import", "supervisord", "/no/such/file"], "/no/such/file: ".to_owned()),
    ] {
        let ran = world.hostler(&words).await;
        assert_eq!((ran.code, ran.text().as_str()), (2, ""));
        assert!(ran.err.contains(&place) && ran.err.contains("hint: "), "{}", ran.err);
    }
    let twice =
        hostler_cli::parse_from(["hostler", "import", "procfile", "x", "--plan", "--out", "y"]);
    assert!(twice.is_err());
}
