//! Reading how often, how long, and what holds for a whole workflow.

use hostler_model::workflow::{Backoff, OnFailure, Place, Retry, Workflow, WorkflowConfig};
use mlua::{Result, Table, Value};

use super::amounts::{self, span};
use super::lists::strings;
use super::read::Reader;
use super::words;
use crate::value::{kind, text};

impl Reader<'_> {
    pub(super) fn time(
        &mut self,
        fields: &Table,
        field: &str,
        place: &Place,
    ) -> Result<Option<hostler_model::Span>> {
        match span(&fields.get::<Value>(field)?) {
            Ok(time) => Ok(time),
            Err(detail) => {
                self.mistake(place, format!("`{field}`: {detail}"));
                Ok(None)
            }
        }
    }

    /// How long something may take; nothing when it may take as long as it likes, which is also said with 0.
    pub(super) fn limit(
        &mut self,
        fields: &Table,
        place: &Place,
    ) -> Result<Option<hostler_model::Span>> {
        let time = self.time(fields, "timeout", place)?;
        Ok(time.filter(|time| time.millis() > 0))
    }

    /// Where the steps of a workflow work, and what becomes of that at the end.
    pub(super) fn directory(
        &mut self,
        fields: &Table,
        workflow: &mut Workflow,
        place: &Place,
    ) -> Result<()> {
        if let Value::String(path) = fields.get("workdir")? {
            workflow.config.workdir = Some(self.budget.text(&path)?);
        }
        let config = &mut workflow.config;
        let made = fields.get("create_workdir_before_run")?;
        config.own_workdir = matches!(made, Value::Boolean(true));
        let cleaned: Value = fields.get("clean_workdir_after_run")?;
        config.clean_workdir = matches!(cleaned, Value::Boolean(true));
        let is_cleaned = config.clean_workdir || cleaned.is_function();
        if is_cleaned && !config.own_workdir && config.workdir.is_none() {
            let detail = "`clean_workdir_after_run` has no effect: the workflow has no directory of its own; give it a `workdir`, or say create_workdir_before_run = true";
            self.remark(place, detail.to_owned());
        }
        Ok(())
    }

    pub(super) fn retry(&mut self, fields: &Table, retry: &mut Retry, place: &Place) -> Result<()> {
        let source = match fields.get::<Value>("retries")? {
            Value::Nil => fields.clone(),
            Value::Table(options) => {
                let names = ["max", "count", "attempts", "max_attempts", "retries"];
                for name in names {
                    if let Some(count) = amounts::count(&options.get(name)?) {
                        let is_tries = name.ends_with("attempts");
                        retry.retries = if is_tries { count.saturating_sub(1) } else { count };
                    }
                }
                for (from, to) in [
                    ("strategy", "retry_strategy"),
                    ("backoff", "retry_strategy"),
                    ("delay", "retry_delay"),
                    ("initial_delay", "retry_delay"),
                    ("max_delay", "max_retry_delay"),
                    ("jitter", "retry_jitter"),
                ] {
                    if fields.get::<Value>(to)?.is_nil() {
                        fields.set(to, options.get::<Value>(from)?)?;
                    }
                }
                fields.clone()
            }
            other => {
                match amounts::count(&other) {
                    Some(count) => retry.retries = count,
                    None => self.mistake(
                        place,
                        format!(
                            "`retries` is a {}; say how often, as in :retries(3, \"exponential\")",
                            kind(&other)
                        ),
                    ),
                }
                fields.clone()
            }
        };
        if let Value::String(strategy) = source.get::<Value>("retry_strategy")? {
            match amounts::backoff(&text(&strategy)) {
                Some(backoff) => retry.backoff = backoff,
                None => self.mistake(
                    place,
                    format!(
                        "`{}` is no way to wait between tries; there are fixed, linear and exponential",
                        text(&strategy)
                    ),
                ),
            }
        }
        if let Some(delay) = self.time(&source, "retry_delay", place)? {
            retry.delay = Some(delay);
        }
        if let Some(delay) = self.time(&source, "max_retry_delay", place)? {
            retry.max_delay = Some(delay);
        }
        retry.jitter = match source.get::<Value>("retry_jitter")? {
            Value::Boolean(true) => Some(50),
            other => amounts::count(&other).or(retry.jitter),
        };
        Ok(())
    }

    pub(super) fn config(
        &mut self,
        raw: &Table,
        retry: &mut Retry,
        place: &Place,
    ) -> Result<WorkflowConfig> {
        let known: Vec<(&'static str, &'static str)> =
            words::CONFIG.iter().map(|word| (*word, *word)).collect();
        let (fields, _) = self.normal(raw, &known, "config", place)?;
        let is = |field: &str| {
            Ok::<bool, mlua::Error>(matches!(fields.get(field)?, Value::Boolean(true)))
        };
        let mut config = WorkflowConfig {
            timeout: self.limit(&fields, place)?,
            fail_fast: is("fail_fast")?,
            require_lock: is("require_lock")?,
            lock_timeout: self.time(&fields, "lock_timeout", place)?,
            create_snapshot: is("create_snapshot")?,
            validate_before: is("validate_before")?,
            detect_drift: is("detect_drift")?,
            ..WorkflowConfig::default()
        };
        for field in ["max_parallel_tasks", "max_parallel", "max_concurrent_tasks", "concurrency"] {
            if let Some(count) = amounts::count(&fields.get(field)?) {
                config.max_parallel = Some(count.max(1));
            }
        }
        if matches!(fields.get("parallel")?, Value::Boolean(false)) {
            config.max_parallel = Some(1);
        }
        config.env = strings(&self.budget, &fields.get::<Value>("env")?)?;
        config.env.extend(strings(&self.budget, &fields.get::<Value>("environment")?)?);
        config.workdir = self.optional(&fields, "workdir")?;
        if let Some(count) = amounts::count(&fields.get("retries")?) {
            retry.retries = count;
        }
        match fields.get::<Value>("retry_policy")? {
            Value::String(policy) => {
                retry.backoff = amounts::backoff(&text(&policy)).unwrap_or(Backoff::Exponential);
            }
            Value::Table(policy) => {
                let wrapped = self.lua.create_table()?;
                wrapped.set("retries", policy)?;
                self.retry(&wrapped, retry, place)?;
            }
            _ => {}
        }
        match fields.get::<Value>("on_failure")? {
            Value::String(reaction) => match text(&reaction).as_str() {
                "rollback" => config.on_failure = OnFailure::Rollback,
                "compensate" | "undo" => config.on_failure = OnFailure::Compensate,
                "stop" | "fail" | "abort" => config.on_failure = OnFailure::Stop,
                "continue" => config.fail_fast = false,
                other => self.mistake(
                    place,
                    format!(
                        "`on_failure` cannot be `{other}`; there are stop, compensate and rollback"
                    ),
                ),
            },
            Value::Nil => {}
            other => self.mistake(
                place,
                format!("`on_failure` of a config is a {}; say \"rollback\"", kind(&other)),
            ),
        }
        if is("rollback_on_failure")? {
            config.on_failure = OnFailure::Compensate;
        }
        Ok(config)
    }
}
