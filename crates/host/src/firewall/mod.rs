//! Rules of a firewall, through whichever the machine has.
//!
//! | | where rules are | lasting | order |
//! |---|---|---|---|
//! | firewalld | a zone, as ports and rich rules | at once | denials before allowances |
//! | ufw | its own list | at once | as they were added |
//! | iptables | chains `HOSTLER-IN` and `HOSTLER-OUT`, in front of the machine's own | by [`save`] | as they were added |
//! | nftables | table `inet hostler` | by [`save`] | as they were added |
//!
//! So on iptables and nftables no rule of anybody else is altered or flushed, except that saving and
//! loading iptables is about all of it, as its own programs are. An allowance in `inet hostler` does not
//! overrule a denial in another table: nftables asks every table. A port without a protocol is a TCP
//! port.

mod address;
mod firewalld;
mod iptables;
mod nftables;
mod rule;
mod ufw;

use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::outcome::Change;
use crate::plan::{Plan, Primitive};
use crate::{Host, HostError};

pub use rule::{Action, Direction, Rule};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Firewall {
    Firewalld,
    Ufw,
    Iptables,
    Nftables,
}

impl Firewall {
    const ALL: [Firewall; 4] =
        [Firewall::Firewalld, Firewall::Ufw, Firewall::Iptables, Firewall::Nftables];

    fn program(self) -> &'static str {
        match self {
            Firewall::Firewalld => "firewall-cmd",
            Firewall::Ufw => "ufw",
            Firewall::Iptables => "iptables",
            Firewall::Nftables => "nft",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Firewall::Firewalld => "firewalld",
            Firewall::Ufw => "ufw",
            Firewall::Iptables => "iptables",
            Firewall::Nftables => "nftables",
        }
    }
}

/// The firewall of the machine: firewalld or ufw where one of them is at work, otherwise the first that
/// is installed.
pub async fn detect(host: &Host) -> Result<Firewall, HostError> {
    let installed: Vec<Firewall> =
        Firewall::ALL.into_iter().filter(|firewall| host.has(firewall.program())).collect();
    if let [only] = installed.as_slice() {
        return Ok(*only);
    }
    for firewall in &installed {
        let is_at_work = match firewall {
            Firewall::Firewalld => firewalld::is_at_work(host).await?,
            Firewall::Ufw => ufw::is_at_work(host).await?,
            Firewall::Iptables | Firewall::Nftables => false,
        };
        if is_at_work {
            return Ok(*firewall);
        }
    }
    installed.first().copied().ok_or(HostError::NoFirewall)
}

async fn chosen(host: &Host, firewall: Option<Firewall>) -> Result<Firewall, HostError> {
    match firewall {
        Some(firewall) => Ok(firewall),
        None => detect(host).await,
    }
}

impl Rule {
    /// Whether the rule is there.
    pub async fn exists(&self, host: &Host) -> Result<bool, HostError> {
        let standing = self.standing(host).await?;
        Ok(standing.missing.is_empty())
    }

    async fn standing(&self, host: &Host) -> Result<Standing, HostError> {
        self.validate()?;
        match chosen(host, self.firewall).await? {
            Firewall::Firewalld => firewalld::standing(host, self).await,
            Firewall::Ufw => ufw::standing(host, self).await,
            Firewall::Iptables => iptables::standing(host, self).await,
            Firewall::Nftables => nftables::standing(host, self).await,
        }
    }
}

/// How a rule stands: what is missing for it to be there, and what has to go for it not to be. A rule
/// can be in several places (for both versions of IP, now and after a boot).
struct Standing {
    missing: Vec<Call>,
    extra: Vec<Call>,
}

impl Primitive for Rule {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let words = self.words();
        let missing = self.standing(host).await?.missing;
        if missing.is_empty() {
            return Ok(Plan::new(format!("the rule is there already: {words}")));
        }
        let plan = Plan::new(format!("the rule is added: {words}"));
        Ok(plan.change(Change::added("firewall rule", words)).runs(missing))
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let words = self.words();
        let extra = self.standing(host).await?.extra;
        if extra.is_empty() {
            return Ok(Plan::new(format!("the rule is not there: {words}")));
        }
        let plan = Plan::new(format!("the rule is removed: {words}"));
        Ok(plan.change(Change::removed("firewall rule", words)).runs(extra))
    }
}

/// Puts the firewall to work, now and at boot; on iptables and nftables, our rules.
pub async fn enable(host: &Host) -> Result<Plan, HostError> {
    let firewall = detect(host).await?;
    let calls = match firewall {
        Firewall::Firewalld => firewalld::enable(host).await?,
        Firewall::Ufw => ufw::enable(host).await?,
        Firewall::Iptables => iptables::enable(host).await?,
        Firewall::Nftables => nftables::enable(host).await?,
    };
    Ok(switch(firewall, "enabled", calls))
}

/// Lets everything through that only the firewall held up; on iptables and nftables, our rules.
pub async fn disable(host: &Host) -> Result<Plan, HostError> {
    let firewall = detect(host).await?;
    let calls = match firewall {
        Firewall::Firewalld => firewalld::disable(host).await?,
        Firewall::Ufw => ufw::disable(host).await?,
        Firewall::Iptables => iptables::disable(host).await?,
        Firewall::Nftables => nftables::disable(host).await?,
    };
    Ok(switch(firewall, "disabled", calls))
}

fn switch(firewall: Firewall, state: &str, calls: Vec<Call>) -> Plan {
    let name = firewall.name();
    match calls.is_empty() {
        true => Plan::new(format!("{name} is {state} already")),
        false => Plan::new(format!("{name} is {state}"))
            .change(Change::altered(name, "otherwise", state))
            .runs(calls),
    }
}

/// In words for people.
pub async fn status(host: &Host) -> Result<String, HostError> {
    match detect(host).await? {
        Firewall::Firewalld => firewalld::status(host).await,
        Firewall::Ufw => host.ask(ufw::call(["status", "verbose"])).await,
        Firewall::Iptables => iptables::status(host).await,
        Firewall::Nftables => nftables::status(host).await,
    }
}

/// All rules, as the firewall prints them.
pub async fn list(host: &Host) -> Result<String, HostError> {
    let call = match detect(host).await? {
        Firewall::Firewalld => firewalld::call(["--list-all"]),
        Firewall::Ufw => ufw::call(["status", "numbered"]),
        Firewall::Iptables => iptables::call("iptables", ["-S"]),
        Firewall::Nftables => nftables::call(["list", "ruleset"]),
    };
    host.ask(call).await
}

/// Takes rules away: all that were added to firewalld and ufw, ours from iptables and nftables. ufw is
/// disabled by it.
pub async fn flush(host: &Host) -> Result<Plan, HostError> {
    let firewall = detect(host).await?;
    let calls = match firewall {
        Firewall::Firewalld => vec![firewalld::call(["--reset-to-defaults"])],
        Firewall::Ufw => vec![ufw::call(["--force", "reset"])],
        Firewall::Iptables => iptables::flush(host).await?,
        Firewall::Nftables => nftables::flush(host).await?,
    };
    Ok(match calls.is_empty() {
        true => Plan::new("there are no rules of ours"),
        false => Plan::new(format!("rules of {} are removed", firewall.name()))
            .change(Change::removed("firewall rules", firewall.name()))
            .runs(calls),
    })
}

/// Makes rules last over a boot.
pub async fn save(host: &Host) -> Result<Plan, HostError> {
    match detect(host).await? {
        Firewall::Firewalld => Ok(Plan::new("rules of firewalld are made to last")
            .run(firewalld::call(["--runtime-to-permanent"]))),
        Firewall::Ufw => Ok(Plan::new("rules of ufw last already")),
        Firewall::Iptables => iptables::save(host).await,
        Firewall::Nftables => nftables::save(host).await,
    }
}

/// Loads the rules that last.
pub async fn reload(host: &Host) -> Result<Plan, HostError> {
    let firewall = detect(host).await?;
    let calls = match firewall {
        Firewall::Firewalld => vec![firewalld::call(["--reload"])],
        Firewall::Ufw => vec![ufw::call(["reload"])],
        Firewall::Iptables => iptables::reload(host).await?,
        Firewall::Nftables => nftables::reload(host).await?,
    };
    Ok(Plan::new(format!("rules of {} are loaded", firewall.name())).runs(calls))
}
