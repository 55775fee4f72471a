//! Rules on each firewall.

use hostler_host::firewall::{
    Action, Direction, Firewall, Rule, detect, disable, enable, flush, list, reload, save, status,
};
use hostler_host::{HostError, Plan, Primitive};

use crate::world::*;

const NFT_EMPTY: &str = "table inet hostler { # handle 1\n}\n";

async fn performed(world: &World, plan: Result<Plan, HostError>) -> Vec<String> {
    world.calls();
    plan.unwrap().perform(&world.host).await.unwrap();
    world.told()
}

/// What applying tells the firewall, behind its questions.
async fn applied(world: &World, rule: &Rule) -> Vec<String> {
    let plan = rule.present(&world.host).await;
    assert!(plan.as_ref().unwrap().outcome().changed);
    assert!(!rule.exists(&world.host).await.unwrap());
    performed(world, plan).await
}

async fn removed(world: &World, rule: &Rule) -> Vec<String> {
    assert!(!rule.apply(&world.host).await.unwrap().changed, "it is there");
    assert!(rule.exists(&world.host).await.unwrap());
    performed(world, rule.absent(&world.host).await).await
}

#[tokio::test]
async fn the_firewall_at_work_is_found() {
    for (programs, expected) in [
        ("nft", Firewall::Nftables),
        ("nft iptables", Firewall::Iptables),
        ("ufw", Firewall::Ufw),
        ("firewall-cmd", Firewall::Firewalld),
    ] {
        assert_eq!(detect(&World::with(programs).host).await.unwrap(), expected);
    }
    let world = World::with("nft iptables ufw firewall-cmd");
    assert_eq!(detect(&world.host).await.unwrap(), Firewall::Firewalld);
    world.answer("firewall-cmd --state", 252, "", "not running\n");
    assert_eq!(detect(&world.host).await.unwrap(), Firewall::Firewalld, "none is at work");
    world.write("/etc/ufw/ufw.conf", "# x\nENABLED=yes\n");
    assert_eq!(detect(&world.host).await.unwrap(), Firewall::Ufw);
    let error = detect(&World::new().host).await.unwrap_err();
    assert!(matches!(error, HostError::NoFirewall), "{error}");
}

#[tokio::test]
async fn rules_on_ufw() {
    let world = World::with("ufw");
    world.answer("ufw --dry-run", 0, "*filter\n### tuple ###\nRules updated\n", "");
    let rule = Rule { comment: Some("web".into()), ..Rule::allow_port(80, None) };
    let base = "allow in proto tcp from any to any port 80";
    assert_eq!(applied(&world, &rule).await, [format!("ufw {base} comment web")]);
    assert!(!rule.remove(&world.host).await.unwrap().changed);
    let there = "Skipping adding existing rule\nSkipping adding existing rule (v6)\n";
    world.answer(&format!("ufw --dry-run {base}"), 0, there, "");
    assert_eq!(removed(&world, &rule).await, [format!("ufw --force delete {base}")]);
    let half = "Skipping adding existing rule\nRule added (v6)\n";
    world.answer(&format!("ufw --dry-run {base}"), 0, half, "");
    assert!(!rule.exists(&world.host).await.unwrap());
}

#[tokio::test]
async fn rules_on_firewalld_are_now_and_for_good() {
    let world = World::with("firewall-cmd");
    world.answer("firewall-cmd --query", 1, "no\n", "");
    world.answer("firewall-cmd --permanent --query", 0, "yes\n", "");
    let rule = Rule::allow_port(80, None);
    assert_eq!(applied(&world, &rule).await, ["firewall-cmd --add-port=80/tcp"]);
    world.answer("firewall-cmd --query", 0, "yes\n", "");
    assert_eq!(
        removed(&world, &rule).await,
        ["firewall-cmd --remove-port=80/tcp", "firewall-cmd --permanent --remove-port=80/tcp"]
    );
    world.answer("firewall-cmd --zone=dmz", 1, "", "");
    world.answer("firewall-cmd --permanent --zone=dmz", 1, "", "");
    let rule = Rule { zone: Some("dmz".into()), ..Rule::deny_from("10.0.0.0/8") };
    let rich = "rich-rule=rule family=\"ipv4\" source address=\"10.0.0.0/8\" drop";
    assert_eq!(
        rule.present(&world.host).await.unwrap().outcome().render(),
        "+ firewall rule: deny from 10.0.0.0/8 in zone dmz\n"
    );
    world.calls();
    rule.check(&world.host).await.unwrap();
    assert_eq!(
        world.told(),
        [
            format!("firewall-cmd --zone=dmz --query-{rich}"),
            format!("firewall-cmd --permanent --zone=dmz --query-{rich}"),
        ]
    );
    world.answer("firewall-cmd --zone=none", 112, "", "Error: INVALID_ZONE\n");
    let rule = Rule { zone: Some("none".into()), ..Rule::allow_port(1, None) };
    assert!(matches!(world.refuses(&rule).await, HostError::Failed { code: Some(112), .. }));
    world.refuses(&Rule { direction: Direction::Out, ..Rule::allow_port(1, None) }).await;
    world.refuses(&Rule { chain: Some("INPUT".into()), ..Rule::allow_port(1, None) }).await;
}

#[tokio::test]
async fn rules_on_iptables_are_in_a_chain_of_ours() {
    let world = World::with("iptables ip6tables");
    for program in ["iptables", "ip6tables"] {
        world.answer(&format!("{program} -w 10 -C"), 1, "", "does not exist\n");
        world.answer(&format!("{program} -w 10 -n -L"), 1, "", "No chain\n");
    }
    let rule = Rule::allow_port(80, None);
    let told = applied(&world, &rule).await;
    assert_eq!(
        told[..3],
        [
            "iptables -w 10 -N HOSTLER-IN",
            "iptables -w 10 -I INPUT 1 -j HOSTLER-IN",
            "iptables -w 10 -A HOSTLER-IN -p tcp --dport 80 -j ACCEPT",
        ]
    );
    assert_eq!(told[5], "ip6tables -w 10 -A HOSTLER-IN -p tcp --dport 80 -j ACCEPT");
    world.answer("iptables -w 10 -C", 0, "", "").answer("ip6tables -w 10 -C", 0, "", "");
    assert_eq!(
        removed(&world, &rule).await,
        [
            "iptables -w 10 -D HOSTLER-IN -p tcp --dport 80 -j ACCEPT",
            "ip6tables -w 10 -D HOSTLER-IN -p tcp --dport 80 -j ACCEPT",
        ]
    );
    world.answer("iptables -w 10 -C", 1, "", "").answer("ip6tables -w 10 -C", 1, "", "");
    let four = Rule { chain: Some("FORWARD".into()), ..Rule::deny_from("10.0.0.0/8") };
    assert_eq!(applied(&world, &four).await, ["iptables -w 10 -A FORWARD -s 10.0.0.0/8 -j DROP"]);
    let six = Rule { direction: Direction::Out, to: Some("fd00::1".into()), ..Rule::default() };
    let told = applied(&world, &six).await;
    assert_eq!(told.last().unwrap(), "ip6tables -w 10 -A HOSTLER-OUT -d fd00::1 -j ACCEPT");
    world.answer("iptables -w 10 -C", 4, "", "Permission denied\n");
    assert!(matches!(world.refuses(&rule).await, HostError::Failed { .. }));
    world.refuses(&Rule { zone: Some("x".into()), ..rule }).await;
}

#[tokio::test]
async fn rules_on_nftables_are_in_a_table_of_ours() {
    let world = World::with("nft");
    world.answer("nft -a list table", 1, "", "Error: No such file or directory\n");
    let rule =
        Rule { action: Action::Deny, comment: Some("no".into()), ..Rule::allow_port(23, None) };
    let told = applied(&world, &rule).await;
    assert_eq!(told[0], "nft add table inet hostler");
    assert_eq!(
        told[1],
        "nft add chain inet hostler input { type filter hook input priority -5 ; policy accept ; }"
    );
    assert!(
        told[4].starts_with("nft add rule inet hostler input tcp dport 23 drop comment \"hostler:")
    );
    assert!(told[4].ends_with(" no\""), "{}", told[4]);
    let comment = told[4].split_once("comment ").unwrap().1;
    let table = format!(
        "table inet hostler {{ # handle 1\n tcp dport 23 drop comment {comment} # handle 9\n}}\n"
    );
    world.answer("nft -a list table", 0, &table, "");
    assert_eq!(removed(&world, &rule).await, ["nft delete rule inet hostler input handle 9"]);
    world.answer("nft -a list table", 0, NFT_EMPTY, "");
    assert_eq!(applied(&world, &rule).await.len(), 1, "the table is there already");
    world.answer("nft -a list table", 1, "", "Error: Operation not permitted\n");
    assert!(matches!(world.refuses(&rule).await, HostError::Failed { .. }));
    world.refuses(&Rule { zone: Some("x".into()), ..rule }).await;
}

#[tokio::test]
async fn a_rule_can_name_its_firewall_and_must_say_something() {
    let world = World::with("ufw nft");
    world.answer("nft -a list table", 0, NFT_EMPTY, "");
    let rule = Rule { firewall: Some(Firewall::Nftables), ..Rule::allow_from("10.0.0.1") };
    assert!(applied(&world, &rule).await[0].starts_with("nft add rule"));
    world.refuses(&Rule::default()).await;
    world.refuses(&Rule::allow_from("somewhere")).await;
    assert!(Rule::default().exists(&world.host).await.is_err());
}

#[tokio::test]
async fn ufw_is_switched_and_asked() {
    let world = World::with("ufw");
    let host = &world.host;
    assert_eq!(performed(&world, enable(host).await).await, ["ufw --force enable"]);
    assert!(disable(host).await.unwrap().is_empty());
    world.write("/etc/ufw/ufw.conf", "ENABLED=yes\n");
    assert!(enable(host).await.unwrap().is_empty());
    assert_eq!(performed(&world, disable(host).await).await, ["ufw disable"]);
    assert_eq!(performed(&world, flush(host).await).await, ["ufw --force reset"]);
    assert_eq!(performed(&world, reload(host).await).await, ["ufw reload"]);
    assert!(save(host).await.unwrap().is_empty());
    world.answer("ufw status", 0, "Status: active\n", "");
    assert!(status(host).await.unwrap().contains("active"));
    assert!(list(host).await.unwrap().contains("active"));
}

#[tokio::test]
async fn firewalld_is_switched_and_asked() {
    let world = World::with("firewall-cmd");
    let host = &world.host;
    assert!(enable(host).await.unwrap().is_empty());
    let told = performed(&world, disable(host).await).await;
    assert_eq!(told, ["systemctl disable --now -- firewalld.service"]);
    world.answer("firewall-cmd --state", 252, "", "not running\n");
    let told = performed(&world, enable(host).await).await;
    assert_eq!(told, ["systemctl enable --now -- firewalld.service"]);
    assert!(disable(host).await.unwrap().is_empty());
    assert!(status(host).await.unwrap().contains("not running"));
    assert_eq!(performed(&world, flush(host).await).await, ["firewall-cmd --reset-to-defaults"]);
    assert_eq!(performed(&world, save(host).await).await, ["firewall-cmd --runtime-to-permanent"]);
    assert_eq!(performed(&world, reload(host).await).await, ["firewall-cmd --reload"]);
    world.answer("firewall-cmd --list-all", 0, "public\n", "");
    assert!(list(host).await.unwrap().contains("public"));
}

#[tokio::test]
async fn iptables_is_switched_saved_and_loaded() {
    let world = World::with("iptables");
    let host = &world.host;
    assert!(enable(host).await.unwrap().is_empty(), "both chains are asked");
    assert_eq!(
        performed(&world, disable(host).await).await,
        ["iptables -w 10 -D INPUT -j HOSTLER-IN", "iptables -w 10 -D OUTPUT -j HOSTLER-OUT",]
    );
    world.answer("iptables -w 10 -C", 1, "", "");
    assert!(disable(host).await.unwrap().is_empty());
    assert_eq!(performed(&world, enable(host).await).await.len(), 2);
    assert!(status(host).await.unwrap().starts_with("rules of hostler: disabled"));
    assert!(flush(host).await.unwrap().is_empty());
    world.answer("iptables -w 10 -S HOSTLER-IN", 0, "-N HOSTLER-IN\n-A HOSTLER-IN -j DROP\n", "");
    assert_eq!(performed(&world, flush(host).await).await, ["iptables -w 10 -F HOSTLER-IN"]);
    assert!(list(host).await.is_ok());

    assert!(matches!(reload(host).await, Err(HostError::Absent { .. })));
    world.answer("iptables-save", 0, "# at noon\n*filter\n:INPUT DROP [1:2]\nCOMMIT\n", "");
    performed(&world, save(host).await).await;
    assert_eq!(world.read("/etc/iptables/rules.v4"), "*filter\n:INPUT DROP [0:0]\nCOMMIT\n");
    world.answer("iptables-save", 0, "# later\n*filter\n:INPUT DROP [9:9]\nCOMMIT\n", "");
    assert!(save(host).await.unwrap().is_empty(), "only counters moved");
    reload(host).await.unwrap().perform(host).await.unwrap();
    let calls = world.calls();
    let restore = calls.last().unwrap();
    assert_eq!(restore.program, "iptables-restore");
    assert!(restore.input().unwrap().starts_with(b"*filter"));
    world.mkdir("/etc/sysconfig");
    performed(&world, save(host).await).await;
    assert!(world.at("/etc/sysconfig/iptables").exists());
}

#[tokio::test]
async fn nftables_is_switched_saved_and_loaded() {
    let world = World::with("nft");
    let host = &world.host;
    world.answer("nft -a list table", 1, "", "Error: No such file or directory\n");
    assert_eq!(performed(&world, enable(host).await).await.len(), 4);
    assert!(disable(host).await.unwrap().is_empty() && flush(host).await.unwrap().is_empty());
    assert!(status(host).await.unwrap().contains("none"));
    world.answer("nft -a list table", 0, NFT_EMPTY, "");
    assert!(enable(host).await.unwrap().is_empty());
    assert!(status(host).await.unwrap().contains("enabled"));
    assert_eq!(
        performed(&world, disable(host).await).await,
        ["nft add table inet hostler { flags dormant ; }"]
    );
    world.answer("nft -a list table", 0, "table inet hostler {\n\tflags dormant\n}\n", "");
    assert!(disable(host).await.unwrap().is_empty());
    assert!(status(host).await.unwrap().contains("disabled"));
    assert_eq!(performed(&world, enable(host).await).await, ["nft add table inet hostler"]);
    world.answer("nft -a list table", 0, "accept comment \"hostler:1\" # handle 2\n", "");
    assert_eq!(performed(&world, flush(host).await).await, ["nft flush table inet hostler"]);

    assert!(matches!(reload(host).await, Err(HostError::Absent { .. })));
    world.answer("nft list table", 0, "table inet hostler {\n}\n", "");
    performed(&world, save(host).await).await;
    assert_eq!(
        world.read("/etc/nftables.d/hostler.nft"),
        "table inet hostler\ndelete table inet hostler\ntable inet hostler {\n}\n"
    );
    assert!(save(host).await.unwrap().is_empty());
    let told = performed(&world, reload(host).await).await;
    assert_eq!(told, ["nft -f /etc/nftables.d/hostler.nft"]);
    assert!(list(host).await.is_ok());
}
