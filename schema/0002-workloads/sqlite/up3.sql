-- What belongs to services only, by what it is asked for.

CREATE INDEX IF NOT EXISTS workload_service ON workload (project_id, name) WHERE kind = 'service';
CREATE INDEX IF NOT EXISTS placement_service ON placement (node_id, id) WHERE run_id IS NULL AND is_released = FALSE;
CREATE INDEX IF NOT EXISTS placement_left ON placement (time_modified, id) WHERE run_id IS NULL AND is_released = TRUE;
CREATE INDEX IF NOT EXISTS run_history ON run (placement_id, attempt) WHERE cause IS NOT NULL;
