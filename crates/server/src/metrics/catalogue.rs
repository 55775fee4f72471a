//! Everything that is measured, in words.

/// One metric as documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricDoc {
    /// As scraped, with prefix and suffix.
    pub name: &'static str,
    pub kind: &'static str,
    pub help: &'static str,
    pub labels: &'static [&'static str],
    pub page: MetricPage,
}

/// Where a metric is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricPage {
    /// `/metrics`
    Server,
    /// `/metrics/nodes`
    Nodes,
    /// `/metrics/workloads`
    Workloads,
}

impl MetricPage {
    pub const ALL: [MetricPage; 3] = [MetricPage::Server, MetricPage::Nodes, MetricPage::Workloads];

    pub const fn path(self) -> &'static str {
        match self {
            MetricPage::Server => "/metrics",
            MetricPage::Nodes => "/metrics/nodes",
            MetricPage::Workloads => "/metrics/workloads",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            MetricPage::Server => {
                "One server: what it did since it started, and how the installation stands in numbers. Scrape every server."
            }
            MetricPage::Nodes => {
                "Every node, as it last said. Every server says the same: scrape one."
            }
            MetricPage::Workloads => {
                "Every service on every node, as last heard. Every server says the same: scrape one."
            }
        }
    }
}

macro_rules! catalogue {
    ($($page:ident { $($constant:ident = $name:literal $kind:ident [$($label:literal),*] $help:literal;)+ })+) => {
        $($(pub(super) const $constant: MetricDoc = MetricDoc {
            name: $name,
            kind: stringify!($kind),
            help: $help,
            labels: &[$($label),*],
            page: MetricPage::$page,
        };)+)+
        /// Everything that is measured, by page and name.
        pub const CATALOGUE: &[MetricDoc] = &[$($($constant),+),+];
    };
}

catalogue! {
Server {
    APPROVALS = "hostler_approvals_total" counter ["outcome"] "Requests for approvals that were approved, denied, used or expired on this server, and glass that was broken.";
    APPROVALS_WAITING = "hostler_approvals_waiting" gauge [] "Requests for approvals that wait for a decision.";
    AUDIT_CHAIN_OK = "hostler_audit_chain_ok" gauge [] "1 while the audit chain holds as far as this server followed it, 0 once it is broken; absent before it was followed to its end.";
    AUDIT_SINK_LAG = "hostler_audit_sink_lag" gauge ["sink"] "Audit entries that wait to be delivered to a configured sink.";
    AUTHORITY_EXPIRES = "hostler_authority_expires_seconds" gauge [] "Time until the certificate authority expires.";
    AUTHORITY_WAITING = "hostler_authority_waiting_nodes" gauge [] "Nodes without a certificate of the authority that takes the place of another.";
    BACKUP_LAST = "hostler_backup_last_timestamp_seconds" gauge [] "When the newest whole backup of the control plane was begun that servers made; 0 before there is one.";
    BACKUP_OVERDUE = "hostler_backup_overdue" gauge [] "1 while a backup of the control plane should have been made and is not there.";
    BUILD = "hostler_build_info" info ["version"] "The version that is running.";
    CERT_EXPIRY = "hostler_cert_expiry_timestamp_seconds" gauge ["kind"] "When the certificate of the authority, or of this server, expires.";
    CONNECTIONS_REFUSED = "hostler_connections_refused_total" counter ["listener", "reason"] "Connections and peers that this process refused below the API, by why.";
    EGRESS = "hostler_egress_calls_total" counter ["outcome"] "Calls this server made to the outside, by how they ended.";
    EVENTS_HEAD = "hostler_events_head" gauge [] "Sequence number of the newest event.";
    EXECUTIONS = "hostler_executions" gauge ["state"] "Executions of workflows, by state.";
    HOOK_DELIVERIES = "hostler_hook_deliveries_total" counter ["outcome"] "Tries of event hooks on this server that were done, failed, or were the last one (dead).";
    HOOK_LAG = "hostler_hook_lag_seconds" gauge [] "How long the oldest event has waited that a hook has not delivered.";
    HOOK_QUEUE = "hostler_hook_queue" gauge ["state"] "Deliveries of event hooks, by state.";
    HTTP_REFUSED = "hostler_http_refused_total" counter ["code"] "Requests that were refused or failed, by the code of the problem.";
    HTTP_DURATION = "hostler_http_request_duration_seconds" histogram ["endpoint"] "Time until a request's answer began.";
    HTTP_REQUESTS = "hostler_http_requests_total" counter ["endpoint", "method", "status"] "Requests, by endpoint and class of status.";
    IDENTITY_TOKENS = "hostler_identity_tokens_total" counter ["outcome"] "Tokens of what runs: given to nodes, taken by the API, or refused by it.";
    LOCK_HOLDS = "hostler_lock_holds" gauge ["state"] "Those who hold locks, and those who wait.";
    LOCKS = "hostler_locks_total" counter ["outcome"] "Locks that were granted, released, expired because their holder was silent, or taken away (forced); and places in queues that were lost.";
    LOGINS = "hostler_logins_total" counter ["outcome"] "Passwords and codes that somebody gave, by what came of it.";
    NODE_BACKUPS = "hostler_node_backups" gauge ["state"] "Backups of paths of nodes, by state.";
    NODE_IMAGES = "hostler_node_images_tidied_total" counter ["outcome"] "Versions of images that agents removed from their nodes by themselves, or could not, as told to this server.";
    NODES = "hostler_nodes" gauge ["state"] "Nodes, by state.";
    PLACEMENT_FAILURES = "hostler_placement_failures_total" counter ["reason"] "Kinds of waiting tasks that were looked at in vain, by what stood in the way: of a few kinds, every few seconds.";
    PLACEMENTS = "hostler_placements" gauge ["phase"] "Placements of workloads, by how they stand as last heard.";
    PROCESS_CPU = "hostler_process_cpu_seconds_total" counter [] "Processor time this process has used.";
    PROCESS_FILES = "hostler_process_open_files" gauge [] "File descriptors this process holds.";
    PROCESS_MEMORY = "hostler_process_resident_memory_bytes" gauge [] "Memory this process occupies.";
    QUEUE_WAIT = "hostler_queue_wait_seconds" histogram [] "How long tasks waited for a node that this server placed.";
    RECONCILER_DURATION = "hostler_reconciler_duration_seconds" histogram ["reconciler"] "Length of reconciler passes.";
    RECONCILER_PASSES = "hostler_reconciler_passes_total" counter ["reconciler", "outcome"] "Reconciler passes, by how they ended.";
    SCHEDULE_FIRES = "hostler_schedule_fires_total" counter ["outcome"] "Times of schedules that this server did, failed at, is uncertain of, or found missed.";
    SCHEDULE_LATENESS = "hostler_schedule_lateness_seconds" histogram [] "How much later than planned what schedules are for was begun by this server.";
    SCHEDULES = "hostler_schedules" gauge [] "Schedules of all projects.";
    SCHEDULES_PAUSED = "hostler_schedules_paused" gauge [] "Schedules that are paused.";
    SECRETS = "hostler_secrets_total" counter ["outcome"] "Values of secrets that were read, given to nodes for a run, could not be opened, were had from a vault (followed), or could not be (lost).";
    SESSIONS = "hostler_sessions" gauge [] "Agents connected to this server.";
    STACK_LENGTHS = "hostler_stack_change_duration_seconds" histogram ["action"] "How long changes of stacks took that came to an end on this server, also those that failed; of stacks that are not resources of others.";
    STACK_CHANGES = "hostler_stack_changes_total" counter ["action", "status"] "Changes of stacks that came to an end on this server, by what was done and whether it is complete or failed; of stacks that are not resources of others.";
    STACK_UNDER_WAY = "hostler_stack_deeds_under_way" gauge [] "What is being done to resources of stacks by this server, outside the database.";
    STACK_DRIFTED = "hostler_stack_drifted" gauge [] "Stacks of which it was found, when somebody looked last, that objects are not as they say.";
    STACK_LOCK_OLDEST = "hostler_stack_lock_oldest_seconds" gauge [] "How long the lock of a stack has been held, of those that are held the longest; 0 while none is.";
    STACK_OLDEST = "hostler_stack_oldest_seconds" gauge [] "How long the change that has been under way the longest has been so, of stacks that are not resources of others; 0 while none is.";
    STACK_RESOURCES = "hostler_stack_resources" gauge ["type", "status"] "Resources of stacks, by type and status; types that are templates, or that users brought along, are `other`.";
    STACK = "hostler_stack_total" counter ["outcome"] "Stacks: transactions of this server that carried one on (pass), what was done to resources outside the database (deed), passes that failed (error).";
    STACKS = "hostler_stacks" gauge ["action", "status"] "Stacks of all projects, also those that are resources of others, by what is done to them or was done last, and how that stands.";
    STATE_REVISION = "hostler_state_revision" gauge [] "Newest revision of state that this server knows of.";
    STATE = "hostler_state_total" counter ["outcome"] "State: transactions carried out, failures of them, changes of entries, batches that were committed, entries read.";
    STORE_ATTEMPTS = "hostler_store_attempts_total" counter ["transaction"] "Times a transaction was run.";
    STORE_COMMITS = "hostler_store_commits_total" counter [] "Commits that reached the database.";
    STORE_CONFLICTS = "hostler_store_conflicts_total" counter ["transaction"] "Transactions given up after too many retries.";
    STORE_RETRIES = "hostler_store_retries_total" counter ["transaction"] "Times a transaction was run again after a conflict.";
    TASKS = "hostler_tasks" gauge ["state"] "Tasks, by state.";
    TASKS_ENDED = "hostler_tasks_ended_total" counter ["state"] "Tasks whose end this server heard of, by how they ended.";
    WATCHER_LOST = "hostler_watcher_news_lost_total" counter [] "News of watchers that nodes gave up because nobody took them, as told to this server.";
    WATCHER_NEWS = "hostler_watcher_news_total" counter ["outcome"] "News of watchers that this server took from nodes: that one fired, is over, or cannot look.";
    WATCHERS = "hostler_watchers" gauge [] "Watchers of all projects.";
    WATCHERS_ENABLED = "hostler_watchers_enabled" gauge [] "Watchers that are enabled.";
    WATCHES = "hostler_watches" gauge [] "Open watch and log streams.";
    WORKLOADS = "hostler_workloads" gauge ["desired"] "Workloads, by what is wanted of them.";
}
Nodes {
    AGENT_WRITTEN = "hostler_agent_disk_written_bytes_total" counter ["node"] "Bytes that the agent and its shims wrote to disk since the agent started.";
    AGENT_MEMORY = "hostler_agent_memory_bytes" gauge ["node"] "Memory of the agent itself.";
    AGENT_BUDGET = "hostler_agent_write_budget_ratio" gauge ["node"] "Share of the day's write budget that is written, where one was declared.";
    NODE_CERT_EXPIRY = "hostler_cert_expiry_timestamp_seconds" gauge ["kind", "node"] "When the newest certificate of the node expires.";
    GPU_ERRORS = "hostler_gpu_errors_total" counter ["node", "gpu"] "Errors that the GPU's driver told of since the agent started.";
    GPU_MEMORY = "hostler_gpu_memory_bytes" gauge ["node", "gpu"] "Memory of the GPU.";
    GPU_MEMORY_USED = "hostler_gpu_memory_used_bytes" gauge ["node", "gpu"] "Memory of the GPU that is in use.";
    GPU_POWER = "hostler_gpu_power_watts" gauge ["node", "gpu"] "Power that the GPU draws, where it tells.";
    GPU_TEMPERATURE = "hostler_gpu_temperature_celsius" gauge ["node", "gpu"] "Temperature of the GPU, where it tells.";
    GPU_USED = "hostler_gpu_utilisation_ratio" gauge ["node", "gpu"] "Share of the time in which something ran on the GPU, where it tells.";
    LOG_GAPS = "hostler_log_gap_lines_total" counter ["node"] "Lines that programs printed and that could not be kept, since the agent started.";
    NODE_CORES = "hostler_node_cpu_cores" gauge ["node"] "Cores of the machine.";
    NODE_CPU = "hostler_node_cpu_ratio" gauge ["node"] "Share of all cores that is busy.";
    NODE_DISK = "hostler_node_disk_size_bytes" gauge ["node"] "Size of the disk that the agent's data is on.";
    NODE_DISK_USED = "hostler_node_disk_used_bytes" gauge ["node"] "Used of the disk that the agent's data is on.";
    NODE_INFO = "hostler_node_info" gauge ["node", "version", "os", "arch"] "What the node is, and the version of its agent.";
    NODE_SEEN = "hostler_node_last_seen_timestamp_seconds" gauge ["node"] "When the node was last heard of.";
    NODE_LOAD = "hostler_node_load1" gauge ["node"] "Load of the last minute.";
    NODE_MEMORY = "hostler_node_memory_bytes" gauge ["node"] "Memory of the machine.";
    NODE_MEMORY_USED = "hostler_node_memory_used_bytes" gauge ["node"] "Memory in use.";
    NODE_RUNS = "hostler_node_runs" gauge ["node"] "Runs that live on the node.";
    NODE_SCHEDULABLE = "hostler_node_schedulable" gauge ["node"] "1 while new work may be placed on the node: it is online and not cordoned.";
    NODE_TEMPERATURE = "hostler_node_temperature_celsius" gauge ["node"] "The hottest sensor of the machine, where there is one.";
    NODE_UP = "hostler_node_up" gauge ["node"] "1 while the node is online, 0 while it is not.";
    NODE_UPTIME = "hostler_node_uptime_seconds" gauge ["node"] "Time since the machine was booted.";
}
Workloads {
    WORKLOAD_CPU = "hostler_workload_cpu_cores" gauge ["project", "workload", "node"] "Cores in use, as last told; nothing of nodes with a metered link.";
    WORKLOAD_FAILURES = "hostler_workload_failures" gauge ["project", "workload", "node"] "Failures in a row.";
    WORKLOAD_HEALTHY = "hostler_workload_healthy" gauge ["project", "workload", "node"] "1 while its health checks say so, absent before they say anything.";
    WORKLOAD_MEMORY = "hostler_workload_memory_bytes" gauge ["project", "workload", "node"] "Memory in use, as last told; nothing of nodes with a metered link.";
    WORKLOAD_MISSED = "hostler_workload_missed_total" counter ["project", "workload", "node"] "Scheduled times that were left out.";
    WORKLOAD_PLACEMENTS = "hostler_workload_placements" gauge ["project", "workload", "phase"] "Nodes on which it stands in a phase, as last heard.";
    WORKLOAD_RESTARTS = "hostler_workload_restarts_total" counter ["project", "workload", "node", "reason"] "How often it was started again by itself, by how the run before had ended.";
    WORKLOAD_UP = "hostler_workload_up" gauge ["project", "workload", "node"] "1 while it runs.";
    WORKLOAD_WANTED = "hostler_workload_wanted" gauge ["project", "workload"] "1 while it is to run, 0 while it was stopped.";
}
}

/// Everything that is measured, for the reference page.
pub fn catalogue() -> &'static [MetricDoc] {
    CATALOGUE
}

/// `docs/reference/metrics.md`.
pub fn reference_markdown() -> String {
    let mut text = String::from(
        "# Metrics\n\nServed to callers with the role viewer on the whole installation, and on `metrics_listen` without a credential. [Metrics and alerts](../running/metrics.md) says how to scrape them.\n",
    );
    for page in MetricPage::ALL {
        let (path, about) = (page.path(), page.about());
        text.push_str(&format!("\n## `{path}`\n\n{about}\n\n"));
        text.push_str("| name | type | labels | meaning |\n|---|---|---|---|\n");
        for metric in CATALOGUE.iter().filter(|metric| metric.page == page) {
            let labels: Vec<String> = metric.labels.iter().map(|l| format!("`{l}`")).collect();
            let (name, kind, help) = (metric.name, metric.kind, metric.help);
            text.push_str(&format!("| `{name}` | {kind} | {} | {help} |\n", labels.join(", ")));
        }
    }
    text
}

/// The encoder adds the suffix that belongs to the type.
pub(super) fn registered(doc: MetricDoc) -> &'static str {
    doc.name.trim_end_matches("_total").trim_end_matches("_info")
}

/// The encoder ends every help text with a full stop of its own.
pub(super) fn help(doc: MetricDoc) -> &'static str {
    doc.help.trim_end_matches('.')
}
