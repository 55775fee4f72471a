//! What this process itself costs.

#[derive(Default)]
pub(super) struct Process {
    pub cpu_seconds: f64,
    pub memory: u64,
    pub files: u64,
}

impl Process {
    /// Zero for what the system does not tell.
    pub fn read() -> Process {
        let memory = std::fs::read_to_string("/proc/self/statm")
            .ok()
            .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok())
            .map_or(0, |pages| pages * rustix::param::page_size() as u64);
        let ticks = std::fs::read_to_string("/proc/self/stat").ok().and_then(|text| {
            let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
            let user: u64 = fields.next()?.parse().ok()?;
            let system: u64 = fields.next()?.parse().ok()?;
            Some(user + system)
        });
        #[expect(clippy::cast_precision_loss, reason = "seconds of processor time fit a float")]
        let cpu_seconds =
            ticks.unwrap_or(0) as f64 / rustix::param::clock_ticks_per_second() as f64;
        let files = std::fs::read_dir("/proc/self/fd").map_or(0, |dir| dir.count() as u64);
        Process { cpu_seconds, memory, files }
    }
}
