//! `docs/reference/workload.schema.json`: workload files, for editors.

pub fn document() -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(&hostler_manifest::schema())? + "\n")
}
