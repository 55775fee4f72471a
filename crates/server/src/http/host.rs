//! The machines of nodes.

use hostler_api::host::{
    NodeDeed, NodeDeedCheck, NodeDisks, NodeHealth, NodeLogs, NodePackages, NodeProcesses,
    NodeServices, NodeUsers,
};
use hostler_api::operation::OperationView;
use hostler_model::host::{
    DiskQuery, HOST_ITEMS_MAX, HOST_LINES_MAX, HostAsk, HostDisks, HostHealth, HostLogs,
    HostOutcome, HostPackages, HostProcesses, HostServices, HostUsers, LogQuery, LogSource,
    PackageQuery, PackageWhich, ProcessOrder, ProcessQuery, ServiceQuery, UserQuery,
};
use hostler_model::{Diagnostic, Error};

use super::error::malformed;
use super::{Answer, App, Call, view};

const LINES: u32 = 100;
const LARGEST: u32 = 20;
const LARGEST_MAX: u32 = 1000;

/// How many are wanted, where that many can be had.
fn limit(given: Option<u32>, usual: u32, most: u32) -> Result<u32, Error> {
    match given {
        None => Ok(usual),
        Some(number) if (1..=most).contains(&number) => Ok(number),
        Some(_) => {
            let detail = format!("1 to {most}");
            let mut error = malformed("the limit cannot be used", format!("give {detail}"));
            error.errors = vec![Diagnostic::new("/query/limit", detail)];
            Err(error)
        }
    }
}

pub(crate) async fn health(app: App, call: Call<NodeHealth>) -> Result<Answer<HostHealth>, Error> {
    Ok(Answer::new(app.control().host_health(&call.cx, &call.path.node).await?))
}

pub(crate) async fn packages(
    app: App,
    call: Call<NodePackages>,
) -> Result<Answer<HostPackages>, Error> {
    let query = PackageQuery {
        which: call.query.which.unwrap_or(PackageWhich::Installed),
        limit: limit(call.query.limit, HOST_ITEMS_MAX, HOST_ITEMS_MAX)?,
        filter: call.query.filter,
    };
    let ask = HostAsk::Packages { query };
    Ok(Answer::new(app.control().host_packages(&call.cx, &call.path.node, ask).await?))
}

pub(crate) async fn services(
    app: App,
    call: Call<NodeServices>,
) -> Result<Answer<HostServices>, Error> {
    let query = ServiceQuery {
        limit: limit(call.query.limit, HOST_ITEMS_MAX, HOST_ITEMS_MAX)?,
        name: call.query.name,
        state: call.query.state,
        filter: call.query.filter,
    };
    let ask = HostAsk::Services { query };
    Ok(Answer::new(app.control().host_services(&call.cx, &call.path.node, ask).await?))
}

pub(crate) async fn logs(app: App, call: Call<NodeLogs>) -> Result<Answer<HostLogs>, Error> {
    let given = call.query;
    let source = match (given.service, given.file, given.kernel.unwrap_or(false)) {
        (None, None, false) => LogSource::System,
        (Some(name), None, false) => LogSource::Service { name },
        (None, Some(path), false) => LogSource::File { path },
        (None, None, true) => LogSource::Kernel,
        _ => {
            let detail = "lines come from one source: a service, a file, or the kernel";
            return Err(malformed(detail, "leave out all but one of them"));
        }
    };
    let query = LogQuery {
        source,
        lines: limit(given.lines, LINES, HOST_LINES_MAX)?,
        since: given.since,
        until: given.until,
        priority: given.priority,
        grep: given.grep,
    };
    let ask = HostAsk::Logs { query };
    Ok(Answer::new(app.control().host_logs(&call.cx, &call.path.node, ask).await?))
}

pub(crate) async fn processes(
    app: App,
    call: Call<NodeProcesses>,
) -> Result<Answer<HostProcesses>, Error> {
    let query = ProcessQuery {
        order: call.query.order.unwrap_or(ProcessOrder::Cpu),
        limit: limit(call.query.limit, HOST_ITEMS_MAX, HOST_ITEMS_MAX)?,
        filter: call.query.filter,
        user: call.query.user,
    };
    let ask = HostAsk::Processes { query };
    Ok(Answer::new(app.control().host_processes(&call.cx, &call.path.node, ask).await?))
}

pub(crate) async fn disks(app: App, call: Call<NodeDisks>) -> Result<Answer<HostDisks>, Error> {
    let query = DiskQuery {
        limit: limit(call.query.limit, LARGEST, LARGEST_MAX)?,
        largest: call.query.largest,
    };
    let ask = HostAsk::Disks { query };
    Ok(Answer::new(app.control().host_disks(&call.cx, &call.path.node, ask).await?))
}

pub(crate) async fn users(app: App, call: Call<NodeUsers>) -> Result<Answer<HostUsers>, Error> {
    let query = UserQuery { system: call.query.system.unwrap_or(false), filter: call.query.filter };
    let ask = HostAsk::Users { query };
    Ok(Answer::new(app.control().host_users(&call.cx, &call.path.node, ask).await?))
}

pub(crate) async fn check(
    app: App,
    call: Call<NodeDeedCheck>,
) -> Result<Answer<HostOutcome>, Error> {
    let checked = app.control().host_check(&call.cx, &call.path.node, call.body.deed).await?;
    Ok(Answer::new(checked))
}

pub(crate) async fn deed(app: App, call: Call<NodeDeed>) -> Result<Answer<OperationView>, Error> {
    let operation = app.control().host_do(&call.cx, &call.path.node, call.body.deed).await?;
    let location = format!("/api/v1/operations/{}", operation.id);
    Ok(Answer::new(view::operation(operation)).with_location(location))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kept() {
        assert_eq!(limit(None, 5, 10).unwrap(), 5);
        assert_eq!(limit(Some(10), 5, 10).unwrap(), 10);
        for bad in [0, 11] {
            assert_eq!(limit(Some(bad), 5, 10).unwrap_err().errors[0].pointer, "/query/limit");
        }
    }
}
