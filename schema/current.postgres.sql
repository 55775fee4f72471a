-- The whole schema as the database reports it after every migration. Written by a test; see README.md.

CREATE TABLE account (
    project_id text COLLATE "C" NOT NULL,
    principal_id text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    tasks bigint NOT NULL,
    core_milliseconds bigint NOT NULL,
    gpu_milliseconds bigint NOT NULL,
    memory_mib_seconds bigint NOT NULL,
    wait_milliseconds bigint NOT NULL,
    run_milliseconds bigint NOT NULL,
    CONSTRAINT account_pkey PRIMARY KEY (project_id, principal_id, day)
);

CREATE INDEX account_day ON account USING btree (day);

CREATE TABLE approval (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C",
    verb text NOT NULL,
    name text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    what text NOT NULL,
    requested_by text COLLATE "C" NOT NULL,
    tasks text NOT NULL,
    array_id text COLLATE "C",
    needs text NOT NULL,
    decisions text NOT NULL,
    state text COLLATE "C" NOT NULL,
    why text NOT NULL,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_expires bigint NOT NULL,
    time_ended bigint,
    CONSTRAINT approval_pkey PRIMARY KEY (id)
);

CREATE INDEX approval_array ON approval USING btree (array_id);

CREATE INDEX approval_ended ON approval USING btree (time_ended);

CREATE INDEX approval_project ON approval USING btree (project_id, id);

CREATE INDEX approval_requested ON approval USING btree (requested_by, id);

CREATE INDEX approval_state ON approval USING btree (state, time_expires);

CREATE TABLE approval_policy (
    id text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    rule text NOT NULL,
    created_by text NOT NULL,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    CONSTRAINT approval_policy_pkey PRIMARY KEY (id),
    CONSTRAINT approval_policy_scope_name_key UNIQUE (scope, name)
);

CREATE TABLE approval_task (
    workload_id text COLLATE "C" NOT NULL,
    approval_id text COLLATE "C" NOT NULL,
    CONSTRAINT approval_task_approval_id_fkey FOREIGN KEY (approval_id) REFERENCES approval(id),
    CONSTRAINT approval_task_pkey PRIMARY KEY (workload_id)
);

CREATE INDEX approval_task_approval ON approval_task USING btree (approval_id);

CREATE TABLE audit_anchor (
    sequence bigint NOT NULL,
    hash bytea NOT NULL,
    time_created bigint NOT NULL,
    authority text NOT NULL,
    signature bytea NOT NULL,
    CONSTRAINT audit_anchor_pkey PRIMARY KEY (sequence)
);

CREATE TABLE audit_entry (
    sequence bigint NOT NULL,
    time_created bigint NOT NULL,
    actor_kind text NOT NULL,
    actor_name text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    object_kind text NOT NULL,
    object_id text COLLATE "C" NOT NULL,
    object_name text NOT NULL,
    project_id text COLLATE "C",
    request_id text NOT NULL,
    source text NOT NULL,
    detail text NOT NULL,
    hash_previous bytea NOT NULL,
    hash bytea NOT NULL,
    digest_before bytea,
    digest_after bytea,
    CONSTRAINT audit_entry_pkey PRIMARY KEY (sequence)
);

CREATE INDEX audit_entry_action ON audit_entry USING btree (action, sequence);

CREATE INDEX audit_entry_actor ON audit_entry USING btree (actor_name, sequence);

CREATE INDEX audit_entry_object ON audit_entry USING btree (object_id, sequence);

CREATE INDEX audit_entry_object_name ON audit_entry USING btree (object_name, sequence);

CREATE INDEX audit_entry_project ON audit_entry USING btree (project_id, sequence);

CREATE INDEX audit_entry_source ON audit_entry USING btree (source, sequence);

CREATE INDEX audit_entry_time ON audit_entry USING btree (time_created, sequence);

CREATE TABLE audit_sink (
    name text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    anchor_sequence bigint NOT NULL,
    problem text,
    time_modified bigint NOT NULL,
    CONSTRAINT audit_sink_pkey PRIMARY KEY (name)
);

CREATE TABLE backup_attempt (
    id text COLLATE "C" NOT NULL,
    server_name text NOT NULL,
    file text NOT NULL,
    size bigint NOT NULL,
    digest bytea,
    problem text,
    time_created bigint NOT NULL,
    time_ended bigint,
    CONSTRAINT backup_attempt_pkey PRIMARY KEY (id)
);

CREATE INDEX backup_attempt_time ON backup_attempt USING btree (time_created, id);

CREATE TABLE backup_object (
    store text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    time_used bigint NOT NULL,
    CONSTRAINT backup_object_pkey PRIMARY KEY (store, name)
);

CREATE INDEX backup_object_time ON backup_object USING btree (time_used);

CREATE TABLE blob (
    scope text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    size bigint NOT NULL,
    kind text NOT NULL,
    label text NOT NULL,
    chunk_count bigint NOT NULL,
    created_by text COLLATE "C",
    time_created bigint NOT NULL,
    time_used bigint NOT NULL,
    CONSTRAINT blob_pkey PRIMARY KEY (scope, digest)
);

CREATE INDEX blob_newest ON blob USING btree (scope, time_created, digest);

CREATE INDEX blob_used ON blob USING btree (time_used);

CREATE TABLE blob_chunk (
    scope text COLLATE "C" NOT NULL,
    blob bytea NOT NULL,
    number bigint NOT NULL,
    digest bytea NOT NULL,
    size bigint NOT NULL,
    CONSTRAINT blob_chunk_pkey PRIMARY KEY (scope, blob, number)
);

CREATE INDEX blob_chunk_digest ON blob_chunk USING btree (scope, digest);

CREATE TABLE blob_grant (
    id text COLLATE "C" NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    time_expires bigint NOT NULL,
    CONSTRAINT blob_grant_pkey PRIMARY KEY (id)
);

CREATE INDEX blob_grant_expires ON blob_grant USING btree (time_expires);

CREATE TABLE blob_use (
    scope text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    holder text COLLATE "C" NOT NULL,
    CONSTRAINT blob_use_pkey PRIMARY KEY (scope, digest, holder)
);

CREATE INDEX blob_use_holder ON blob_use USING btree (holder);

CREATE TABLE chunk (
    scope text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    size bigint NOT NULL,
    packed bytea NOT NULL,
    packed_size bigint NOT NULL,
    time_used bigint NOT NULL,
    CONSTRAINT chunk_pkey PRIMARY KEY (scope, digest)
);

CREATE INDEX chunk_size ON chunk USING btree (packed_size);

CREATE INDEX chunk_used ON chunk USING btree (time_used);

CREATE TABLE custom_role (
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    description text NOT NULL,
    permissions text NOT NULL,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    CONSTRAINT custom_role_name_key UNIQUE (name),
    CONSTRAINT custom_role_pkey PRIMARY KEY (id)
);

CREATE TABLE event (
    sequence bigint NOT NULL,
    kind text NOT NULL,
    project_id text COLLATE "C",
    object_kind text NOT NULL,
    object_id text COLLATE "C" NOT NULL,
    object_name text NOT NULL,
    actor_kind text NOT NULL,
    actor_name text NOT NULL,
    message text NOT NULL,
    time_created bigint NOT NULL,
    payload text,
    correlation text COLLATE "C",
    CONSTRAINT event_pkey PRIMARY KEY (sequence)
);

CREATE INDEX event_cause ON event USING btree (correlation, sequence) WHERE (correlation IS NOT NULL);

CREATE INDEX event_kind ON event USING btree (kind, sequence);

CREATE INDEX event_object ON event USING btree (object_id, sequence);

CREATE INDEX event_project ON event USING btree (project_id, sequence);

CREATE INDEX event_time ON event USING btree (time_created, sequence);

CREATE TABLE event_hook (
    id text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    spec text NOT NULL,
    principal_id text COLLATE "C" NOT NULL,
    can text,
    is_enabled boolean NOT NULL,
    after_sequence bigint NOT NULL,
    is_loop_told boolean NOT NULL,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    CONSTRAINT event_hook_pkey PRIMARY KEY (id),
    CONSTRAINT event_hook_scope_name_key UNIQUE (scope, name)
);

CREATE TABLE execution (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    bundle bytea NOT NULL,
    state text COLLATE "C" NOT NULL,
    outcome text,
    is_cancel_requested boolean NOT NULL,
    generation bigint NOT NULL,
    created_by text NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    time_begun bigint NOT NULL,
    time_due bigint,
    time_ended bigint,
    options text NOT NULL,
    given text NOT NULL,
    graph text NOT NULL,
    trace text,
    CONSTRAINT execution_pkey PRIMARY KEY (id),
    CONSTRAINT execution_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id)
);

CREATE INDEX execution_due ON execution USING btree (time_due, id) WHERE ((state <> 'ended'::text) AND (time_due IS NOT NULL));

CREATE INDEX execution_ended ON execution USING btree (time_ended, id);

CREATE INDEX execution_open ON execution USING btree (project_id, id) WHERE (state <> 'ended'::text);

CREATE INDEX execution_project ON execution USING btree (project_id, id);

CREATE INDEX execution_state ON execution USING btree (state);

CREATE INDEX execution_workflow ON execution USING btree (project_id, workflow, id);

CREATE TABLE execution_job (
    workload_id text COLLATE "C" NOT NULL,
    execution_id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    position bigint,
    tries bigint NOT NULL,
    node text,
    wanted text,
    outcome text,
    message text NOT NULL,
    result bytea,
    CONSTRAINT execution_job_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES execution(id),
    CONSTRAINT execution_job_pkey PRIMARY KEY (workload_id)
);

CREATE INDEX execution_job_execution ON execution_job USING btree (execution_id, workload_id);

CREATE INDEX execution_job_open ON execution_job USING btree (execution_id, workload_id) WHERE (outcome IS NULL);

CREATE TABLE execution_step (
    execution_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    standing text NOT NULL,
    tries bigint NOT NULL,
    message text NOT NULL,
    changed boolean,
    exported text NOT NULL,
    results text NOT NULL,
    artifacts text NOT NULL,
    is_undone boolean NOT NULL,
    approval_id text COLLATE "C",
    time_started bigint,
    time_ended bigint,
    CONSTRAINT execution_step_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES execution(id),
    CONSTRAINT execution_step_pkey PRIMARY KEY (execution_id, "position")
);

CREATE TABLE group_binding (
    group_id text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    CONSTRAINT group_binding_group_id_fkey FOREIGN KEY (group_id) REFERENCES principal_group(id),
    CONSTRAINT group_binding_pkey PRIMARY KEY (group_id, scope)
);

CREATE INDEX group_binding_role ON group_binding USING btree (role);

CREATE INDEX group_binding_scope ON group_binding USING btree (scope, group_id);

CREATE TABLE group_member (
    group_id text COLLATE "C" NOT NULL,
    principal_id text COLLATE "C" NOT NULL,
    CONSTRAINT group_member_group_id_fkey FOREIGN KEY (group_id) REFERENCES principal_group(id),
    CONSTRAINT group_member_pkey PRIMARY KEY (group_id, principal_id),
    CONSTRAINT group_member_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES principal(id)
);

CREATE INDEX group_member_principal ON group_member USING btree (principal_id, group_id);

CREATE TABLE hook_cause (
    id text COLLATE "C" NOT NULL,
    chain text NOT NULL,
    time_created bigint NOT NULL,
    CONSTRAINT hook_cause_pkey PRIMARY KEY (id)
);

CREATE INDEX hook_cause_old ON hook_cause USING btree (time_created);

CREATE TABLE hook_cursor (
    id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    CONSTRAINT hook_cursor_pkey PRIMARY KEY (id)
);

CREATE TABLE hook_delivery (
    hook_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    object text COLLATE "C" NOT NULL,
    event text NOT NULL,
    chain text NOT NULL,
    state text COLLATE "C" NOT NULL,
    attempts bigint NOT NULL,
    claims bigint NOT NULL,
    time_due bigint NOT NULL,
    made text,
    time_begun bigint,
    note text NOT NULL,
    status bigint,
    time_created bigint NOT NULL,
    time_ended bigint,
    CONSTRAINT hook_delivery_pkey PRIMARY KEY (hook_id, sequence)
);

CREATE INDEX hook_delivery_claim ON hook_delivery USING btree (hook_id, state, time_due, sequence);

CREATE INDEX hook_delivery_due ON hook_delivery USING btree (state, time_due);

CREATE INDEX hook_delivery_ended ON hook_delivery USING btree (state, time_ended);

CREATE INDEX hook_delivery_line ON hook_delivery USING btree (hook_id, object, state, sequence);

CREATE INDEX hook_delivery_object ON hook_delivery USING btree (object, sequence, hook_id);

CREATE TABLE idempotency_key (
    principal_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    request_hash bytea NOT NULL,
    object_kind text NOT NULL,
    object_id text COLLATE "C" NOT NULL,
    object_name text NOT NULL,
    time_created bigint NOT NULL,
    CONSTRAINT idempotency_key_pkey PRIMARY KEY (principal_id, name)
);

CREATE INDEX idempotency_key_time ON idempotency_key USING btree (time_created);

CREATE TABLE image (
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    digest bytea NOT NULL,
    size bigint NOT NULL,
    origin text NOT NULL,
    created_by text NOT NULL,
    time_created bigint NOT NULL,
    CONSTRAINT image_name_version_key UNIQUE (name, version),
    CONSTRAINT image_pkey PRIMARY KEY (id)
);

CREATE INDEX image_digest ON image USING btree (digest);

CREATE TABLE image_name (
    name text COLLATE "C" NOT NULL,
    version_last bigint NOT NULL,
    CONSTRAINT image_name_pkey PRIMARY KEY (name)
);

CREATE TABLE invitation (
    id text COLLATE "C" NOT NULL,
    secret_hash bytea NOT NULL,
    scope text COLLATE "C" NOT NULL,
    role text NOT NULL,
    user_name text,
    email text NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    time_created bigint NOT NULL,
    time_expires bigint NOT NULL,
    time_used bigint,
    used_by text,
    time_revoked bigint,
    CONSTRAINT invitation_created_by_fkey FOREIGN KEY (created_by) REFERENCES principal(id),
    CONSTRAINT invitation_pkey PRIMARY KEY (id),
    CONSTRAINT invitation_secret_hash_key UNIQUE (secret_hash)
);

CREATE INDEX invitation_creator ON invitation USING btree (created_by);

CREATE INDEX invitation_expires ON invitation USING btree (time_expires);

CREATE INDEX invitation_scope ON invitation USING btree (scope, id);

CREATE TABLE join_token (
    id text COLLATE "C" NOT NULL,
    secret_hash bytea NOT NULL,
    node_name text COLLATE "C",
    labels text NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    time_created bigint NOT NULL,
    time_expires bigint NOT NULL,
    time_used bigint,
    used_by text COLLATE "C",
    time_revoked bigint,
    CONSTRAINT join_token_pkey PRIMARY KEY (id),
    CONSTRAINT join_token_secret_hash_key UNIQUE (secret_hash)
);

CREATE TABLE journal_head (
    id text COLLATE "C" NOT NULL,
    event_floor bigint NOT NULL,
    event_sequence bigint NOT NULL,
    audit_sequence bigint NOT NULL,
    audit_hash bytea NOT NULL,
    CONSTRAINT journal_head_pkey PRIMARY KEY (id)
);

CREATE TABLE lease (
    name text COLLATE "C" NOT NULL,
    holder_id text COLLATE "C" NOT NULL,
    generation bigint NOT NULL,
    time_until bigint NOT NULL,
    CONSTRAINT lease_pkey PRIMARY KEY (name)
);

CREATE TABLE lock (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    slots bigint NOT NULL,
    held bigint NOT NULL,
    waiting bigint NOT NULL,
    place_last bigint NOT NULL,
    token_last bigint NOT NULL,
    past text NOT NULL,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    CONSTRAINT lock_pkey PRIMARY KEY (id),
    CONSTRAINT lock_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id),
    CONSTRAINT lock_project_id_name_key UNIQUE (project_id, name)
);

CREATE INDEX lock_idle ON lock USING btree (time_modified) WHERE ((held = 0) AND (waiting = 0));

CREATE TABLE lock_floor (
    id text COLLATE "C" NOT NULL,
    token bigint NOT NULL,
    CONSTRAINT lock_floor_pkey PRIMARY KEY (id)
);

CREATE TABLE lock_hold (
    id text COLLATE "C" NOT NULL,
    lock_id text COLLATE "C" NOT NULL,
    principal_id text COLLATE "C" NOT NULL,
    held_by text NOT NULL,
    holder text NOT NULL,
    place bigint NOT NULL,
    token bigint,
    is_taken boolean NOT NULL,
    ttl bigint NOT NULL,
    generation bigint NOT NULL,
    time_asked bigint NOT NULL,
    time_granted bigint,
    time_renewed bigint NOT NULL,
    CONSTRAINT lock_hold_lock_id_fkey FOREIGN KEY (lock_id) REFERENCES lock(id),
    CONSTRAINT lock_hold_pkey PRIMARY KEY (id)
);

CREATE INDEX lock_hold_place ON lock_hold USING btree (lock_id, place);

CREATE TABLE log_share (
    project_id text COLLATE "C" NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    granted bigint NOT NULL,
    ceiling bigint NOT NULL,
    generation bigint NOT NULL,
    CONSTRAINT log_share_pkey PRIMARY KEY (project_id, node_id)
);

CREATE INDEX log_share_node ON log_share USING btree (node_id);

CREATE TABLE login_tally (
    kind text COLLATE "C" NOT NULL,
    subject bytea NOT NULL,
    failures bigint NOT NULL,
    time_last bigint NOT NULL,
    is_told boolean NOT NULL,
    CONSTRAINT login_tally_pkey PRIMARY KEY (kind, subject)
);

CREATE INDEX login_tally_last ON login_tally USING btree (kind, time_last);

CREATE TABLE module_name (
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version_last bigint NOT NULL,
    CONSTRAINT module_name_pkey PRIMARY KEY (project_id, name)
);

CREATE TABLE module_version (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    bundle bytea NOT NULL,
    file text NOT NULL,
    modules text NOT NULL,
    created_by text NOT NULL,
    time_created bigint NOT NULL,
    CONSTRAINT module_version_pkey PRIMARY KEY (id),
    CONSTRAINT module_version_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id),
    CONSTRAINT module_version_project_id_name_version_key UNIQUE (project_id, name, version)
);

CREATE TABLE node (
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C",
    labels text NOT NULL,
    state text NOT NULL,
    cordon_reason text,
    time_cordoned bigint,
    is_draining boolean NOT NULL,
    facts text,
    agent_version text NOT NULL,
    generation bigint NOT NULL,
    desired_generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    time_state bigint NOT NULL,
    CONSTRAINT node_name_key_key UNIQUE (name_key),
    CONSTRAINT node_pkey PRIMARY KEY (id)
);

CREATE INDEX node_name ON node USING btree (name, id);

CREATE INDEX node_state ON node USING btree (state, name, id);

CREATE TABLE node_backup (
    id text COLLATE "C" NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    node_name text NOT NULL,
    label text COLLATE "C" NOT NULL,
    store text COLLATE "C" NOT NULL,
    spec text NOT NULL,
    state text COLLATE "C" NOT NULL,
    operation_id text COLLATE "C" NOT NULL,
    outcome text,
    error text,
    verdict text,
    created_by text NOT NULL,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_ended bigint,
    CONSTRAINT node_backup_pkey PRIMARY KEY (id)
);

CREATE INDEX node_backup_label ON node_backup USING btree (label, time_created, id);

CREATE INDEX node_backup_node ON node_backup USING btree (node_id, time_created, id);

CREATE INDEX node_backup_state ON node_backup USING btree (state, time_created, id);

CREATE INDEX node_backup_time ON node_backup USING btree (time_created, id);

CREATE TABLE node_certificate (
    serial text COLLATE "C" NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    time_created bigint NOT NULL,
    time_expires bigint NOT NULL,
    time_revoked bigint,
    authority text,
    time_presented bigint,
    CONSTRAINT node_certificate_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id),
    CONSTRAINT node_certificate_pkey PRIMARY KEY (serial)
);

CREATE INDEX node_certificate_node ON node_certificate USING btree (node_id);

CREATE TABLE node_lease (
    node_id text COLLATE "C" NOT NULL,
    server_id text COLLATE "C" NOT NULL,
    is_held boolean NOT NULL,
    session_epoch bigint NOT NULL,
    applied_generation bigint NOT NULL,
    time_seen bigint NOT NULL,
    metrics text,
    CONSTRAINT node_lease_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id),
    CONSTRAINT node_lease_pkey PRIMARY KEY (node_id)
);

CREATE TABLE node_resync (
    node_id text COLLATE "C" NOT NULL,
    cause text NOT NULL,
    time_created bigint NOT NULL,
    CONSTRAINT node_resync_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id),
    CONSTRAINT node_resync_pkey PRIMARY KEY (node_id)
);

CREATE TABLE node_usage (
    node_id text COLLATE "C" NOT NULL,
    usage text NOT NULL,
    time_modified bigint NOT NULL,
    CONSTRAINT node_usage_pkey PRIMARY KEY (node_id)
);

CREATE TABLE node_watch (
    node_id text COLLATE "C" NOT NULL,
    generation bigint NOT NULL,
    applied bigint NOT NULL,
    orders text NOT NULL,
    CONSTRAINT node_watch_pkey PRIMARY KEY (node_id)
);

CREATE TABLE operation (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C",
    plan text NOT NULL,
    state text NOT NULL,
    steps text NOT NULL,
    error text,
    is_cancel_requested boolean NOT NULL,
    created_by text NOT NULL,
    owner_id text COLLATE "C",
    adoption bigint NOT NULL,
    time_lease bigint,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    time_ended bigint,
    CONSTRAINT operation_pkey PRIMARY KEY (id)
);

CREATE INDEX operation_project ON operation USING btree (project_id, id);

CREATE INDEX operation_state ON operation USING btree (state, id);

CREATE TABLE password_reset (
    principal_id text COLLATE "C" NOT NULL,
    secret_hash bytea NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    time_created bigint NOT NULL,
    time_expires bigint NOT NULL,
    CONSTRAINT password_reset_pkey PRIMARY KEY (principal_id),
    CONSTRAINT password_reset_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES principal(id),
    CONSTRAINT password_reset_secret_hash_key UNIQUE (secret_hash)
);

CREATE TABLE placement (
    id text COLLATE "C" NOT NULL,
    workload_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    run_id text COLLATE "C",
    desired text NOT NULL,
    desired_generation bigint NOT NULL,
    stop_grace text,
    is_released boolean NOT NULL,
    cores_millis bigint NOT NULL,
    memory bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    revision bigint NOT NULL,
    status text,
    status_generation bigint NOT NULL,
    disk bigint NOT NULL,
    reservation text,
    CONSTRAINT placement_node_id_fkey FOREIGN KEY (node_id) REFERENCES node(id),
    CONSTRAINT placement_pkey PRIMARY KEY (id),
    CONSTRAINT placement_workload_id_fkey FOREIGN KEY (workload_id) REFERENCES workload(id)
);

CREATE INDEX placement_feed ON placement USING btree (node_id, desired_generation, id) WHERE (is_released = false);

CREATE INDEX placement_left ON placement USING btree (time_modified, id) WHERE ((run_id IS NULL) AND (is_released = true));

CREATE INDEX placement_particular ON placement USING btree (node_id, id) WHERE ((is_released = false) AND (reservation IS NOT NULL));

CREATE INDEX placement_project ON placement USING btree (project_id, cores_millis, memory) WHERE (is_released = false);

CREATE INDEX placement_service ON placement USING btree (node_id, id) WHERE ((run_id IS NULL) AND (is_released = false));

CREATE INDEX placement_usage ON placement USING btree (node_id, cores_millis, memory) WHERE (is_released = false);

CREATE INDEX placement_workload ON placement USING btree (workload_id, id);

CREATE TABLE principal (
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    password_hash text,
    is_disabled boolean NOT NULL,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    CONSTRAINT principal_name_key UNIQUE (name),
    CONSTRAINT principal_pkey PRIMARY KEY (id)
);

CREATE TABLE principal_group (
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    description text NOT NULL,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    CONSTRAINT principal_group_name_key UNIQUE (name),
    CONSTRAINT principal_group_pkey PRIMARY KEY (id)
);

CREATE TABLE project (
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    description text NOT NULL,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    quota text NOT NULL,
    weight bigint NOT NULL,
    CONSTRAINT project_name_key UNIQUE (name),
    CONSTRAINT project_pkey PRIMARY KEY (id)
);

CREATE TABLE recovery_code (
    principal_id text COLLATE "C" NOT NULL,
    code_hash bytea NOT NULL,
    CONSTRAINT recovery_code_pkey PRIMARY KEY (principal_id, code_hash),
    CONSTRAINT recovery_code_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES principal(id)
);

CREATE TABLE role_binding (
    principal_id text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    role text NOT NULL,
    CONSTRAINT role_binding_pkey PRIMARY KEY (principal_id, scope),
    CONSTRAINT role_binding_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES principal(id)
);

CREATE INDEX role_binding_role ON role_binding USING btree (role);

CREATE INDEX role_binding_scope ON role_binding USING btree (scope, principal_id);

CREATE TABLE run (
    id text COLLATE "C" NOT NULL,
    placement_id text COLLATE "C" NOT NULL,
    workload_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    attempt bigint NOT NULL,
    state text NOT NULL,
    state_detail text NOT NULL,
    report_generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_started bigint,
    time_ended bigint,
    cause text,
    fire bigint,
    CONSTRAINT run_pkey PRIMARY KEY (id),
    CONSTRAINT run_placement_id_fkey FOREIGN KEY (placement_id) REFERENCES placement(id)
);

CREATE INDEX run_assigned ON run USING btree (time_created, id) WHERE (state = 'assigned'::text);

CREATE INDEX run_history ON run USING btree (placement_id, attempt) WHERE (cause IS NOT NULL);

CREATE INDEX run_node ON run USING btree (node_id, state, id);

CREATE INDEX run_placement ON run USING btree (placement_id);

CREATE INDEX run_workload ON run USING btree (workload_id, id);

CREATE TABLE run_output (
    run_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    workload_id text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    digest bytea,
    size bigint NOT NULL,
    words text NOT NULL,
    time_created bigint NOT NULL,
    CONSTRAINT run_output_pkey PRIMARY KEY (run_id, name)
);

CREATE INDEX run_output_digest ON run_output USING btree (scope, digest);

CREATE INDEX run_output_workload ON run_output USING btree (workload_id, run_id, name);

CREATE TABLE schedule (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    spec text NOT NULL,
    created_by text NOT NULL,
    mandate_principal text NOT NULL,
    mandate_can text,
    pause text,
    log text NOT NULL,
    turn bigint NOT NULL,
    made text,
    time_made bigint,
    time_due bigint,
    time_next bigint,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    CONSTRAINT schedule_pkey PRIMARY KEY (id),
    CONSTRAINT schedule_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id),
    CONSTRAINT schedule_project_id_name_key UNIQUE (project_id, name)
);

CREATE INDEX schedule_due ON schedule USING btree (time_due, id) WHERE (time_due IS NOT NULL);

CREATE TABLE schedule_fire (
    schedule_id text COLLATE "C" NOT NULL,
    time bigint NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    cause text NOT NULL,
    time_planned bigint NOT NULL,
    time_begun bigint NOT NULL,
    time_ended bigint,
    time_last bigint NOT NULL,
    count bigint NOT NULL,
    object text,
    status bigint,
    message text NOT NULL,
    replaces text,
    asked_by text,
    is_call boolean NOT NULL,
    tries bigint NOT NULL,
    server_id text COLLATE "C" NOT NULL,
    time_lease bigint NOT NULL,
    CONSTRAINT schedule_fire_pkey PRIMARY KEY (schedule_id, "time"),
    CONSTRAINT schedule_fire_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES schedule(id)
);

CREATE INDEX schedule_fire_begun ON schedule_fire USING btree (is_call, time_lease, schedule_id, "time") WHERE (state = 'begun'::text);

CREATE INDEX schedule_fire_time ON schedule_fire USING btree ("time", schedule_id);

CREATE TABLE schema_version (
    id text NOT NULL,
    version bigint NOT NULL,
    step bigint NOT NULL,
    CONSTRAINT schema_version_pkey PRIMARY KEY (id)
);

CREATE TABLE second_factor (
    principal_id text COLLATE "C" NOT NULL,
    secret_sealed bytea NOT NULL,
    step_last bigint NOT NULL,
    time_created bigint NOT NULL,
    time_confirmed bigint,
    CONSTRAINT second_factor_pkey PRIMARY KEY (principal_id),
    CONSTRAINT second_factor_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES principal(id)
);

CREATE TABLE secret (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    source text NOT NULL,
    version_current bigint NOT NULL,
    version_last bigint NOT NULL,
    generation bigint NOT NULL,
    created_by text NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    link text,
    CONSTRAINT secret_pkey PRIMARY KEY (id),
    CONSTRAINT secret_project_id_environment_name_key UNIQUE (project_id, environment, name),
    CONSTRAINT secret_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id)
);

CREATE TABLE secret_version (
    secret_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    size bigint NOT NULL,
    sealed bytea,
    wrapped_key bytea,
    key_id text COLLATE "C",
    created_by text NOT NULL,
    time_created bigint NOT NULL,
    time_destroyed bigint,
    CONSTRAINT secret_version_pkey PRIMARY KEY (secret_id, version),
    CONSTRAINT secret_version_secret_id_fkey FOREIGN KEY (secret_id) REFERENCES secret(id)
);

CREATE INDEX secret_version_key ON secret_version USING btree (key_id, secret_id, version);

CREATE TABLE server (
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    api_address text NOT NULL,
    agent_address text NOT NULL,
    time_started bigint NOT NULL,
    time_seen bigint NOT NULL,
    CONSTRAINT server_pkey PRIMARY KEY (id)
);

CREATE INDEX server_seen ON server USING btree (time_seen);

CREATE TABLE setting (
    name text COLLATE "C" NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT setting_pkey PRIMARY KEY (name)
);

CREATE TABLE software_config (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    tool text NOT NULL,
    time_created bigint NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    wrapped_key bytea NOT NULL,
    sealed bytea NOT NULL,
    CONSTRAINT software_config_pkey PRIMARY KEY (id),
    CONSTRAINT software_config_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id)
);

CREATE INDEX software_config_project ON software_config USING btree (project_id, id);

CREATE TABLE software_deployment (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    config_id text COLLATE "C" NOT NULL,
    server text COLLATE "C" NOT NULL,
    action text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_updated bigint,
    key_id text COLLATE "C" NOT NULL,
    wrapped_key bytea NOT NULL,
    sealed bytea NOT NULL,
    CONSTRAINT software_deployment_config_id_fkey FOREIGN KEY (config_id) REFERENCES software_config(id),
    CONSTRAINT software_deployment_pkey PRIMARY KEY (id),
    CONSTRAINT software_deployment_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id)
);

CREATE INDEX software_deployment_config ON software_deployment USING btree (config_id, id);

CREATE INDEX software_deployment_project ON software_deployment USING btree (project_id, id);

CREATE INDEX software_deployment_server ON software_deployment USING btree (project_id, server, id);

CREATE TABLE stack (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    description text NOT NULL,
    parent_stack_id text COLLATE "C",
    parent_resource_id text COLLATE "C",
    root_id text COLLATE "C" NOT NULL,
    depth bigint NOT NULL,
    action text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    traversal bigint NOT NULL,
    wanted text COLLATE "C",
    settled text COLLATE "C",
    options text NOT NULL,
    tags text NOT NULL,
    revision bigint NOT NULL,
    mandate_principal text COLLATE "C" NOT NULL,
    mandate_can text,
    generation bigint NOT NULL,
    event_last bigint NOT NULL,
    event_gone bigint NOT NULL,
    time_created bigint NOT NULL,
    time_updated bigint,
    time_deleted bigint,
    time_begun bigint NOT NULL,
    failure text,
    time_deadline bigint,
    time_due bigint,
    key_id text COLLATE "C" NOT NULL,
    wrapped_key bytea NOT NULL,
    key_sealed bytea NOT NULL,
    CONSTRAINT stack_pkey PRIMARY KEY (id),
    CONSTRAINT stack_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id)
);

CREATE INDEX stack_called ON stack USING btree (project_id, name, id);

CREATE INDEX stack_created ON stack USING btree (project_id, time_created, id);

CREATE INDEX stack_deleted ON stack USING btree (time_deleted, id) WHERE (time_deleted IS NOT NULL);

CREATE INDEX stack_due ON stack USING btree (time_due, id) WHERE (time_due IS NOT NULL);

CREATE INDEX stack_everywhere ON stack USING btree (time_created, id);

CREATE UNIQUE INDEX stack_name ON stack USING btree (project_id, name) WHERE ((time_deleted IS NULL) AND (parent_stack_id IS NULL));

CREATE INDEX stack_parent ON stack USING btree (parent_stack_id, id) WHERE (parent_stack_id IS NOT NULL);

CREATE INDEX stack_root ON stack USING btree (root_id, id);

CREATE INDEX stack_status ON stack USING btree (project_id, status, id);

CREATE INDEX stack_updated ON stack USING btree (project_id, COALESCE(time_updated, (0)::bigint), id);

CREATE TABLE stack_definition (
    id text COLLATE "C" NOT NULL,
    stack_id text COLLATE "C" NOT NULL,
    created_by text NOT NULL,
    time_created bigint NOT NULL,
    sealed bytea NOT NULL,
    CONSTRAINT stack_definition_pkey PRIMARY KEY (id),
    CONSTRAINT stack_definition_stack_id_fkey FOREIGN KEY (stack_id) REFERENCES stack(id)
);

CREATE INDEX stack_definition_stack ON stack_definition USING btree (stack_id, id);

CREATE TABLE stack_dependency (
    stack_id text COLLATE "C" NOT NULL,
    on_name text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    outputs text NOT NULL,
    CONSTRAINT stack_dependency_pkey PRIMARY KEY (stack_id, on_name),
    CONSTRAINT stack_dependency_stack_id_fkey FOREIGN KEY (stack_id) REFERENCES stack(id)
);

CREATE INDEX stack_dependency_on ON stack_dependency USING btree (project_id, on_name, stack_id);

CREATE TABLE stack_drift (
    stack_id text COLLATE "C" NOT NULL,
    traversal bigint NOT NULL,
    looked bigint NOT NULL,
    changed bigint NOT NULL,
    missing bigint NOT NULL,
    unknown bigint NOT NULL,
    report text NOT NULL,
    time_created bigint NOT NULL,
    CONSTRAINT stack_drift_pkey PRIMARY KEY (stack_id),
    CONSTRAINT stack_drift_stack_id_fkey FOREIGN KEY (stack_id) REFERENCES stack(id)
);

CREATE TABLE stack_event (
    stack_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    root_id text COLLATE "C" NOT NULL,
    resource_id text COLLATE "C",
    name text NOT NULL,
    kind text NOT NULL,
    physical text,
    subject text NOT NULL,
    action text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    properties text,
    time_created bigint NOT NULL,
    CONSTRAINT stack_event_pkey PRIMARY KEY (stack_id, "position"),
    CONSTRAINT stack_event_stack_id_fkey FOREIGN KEY (stack_id) REFERENCES stack(id)
);

CREATE INDEX stack_event_root ON stack_event USING btree (root_id, id);

CREATE TABLE stack_plan (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    stack_id text COLLATE "C" NOT NULL,
    base bigint NOT NULL,
    digest bytea NOT NULL,
    changes text NOT NULL,
    created_by text NOT NULL,
    time_created bigint NOT NULL,
    time_expires bigint NOT NULL,
    time_used bigint,
    sealed bytea NOT NULL,
    CONSTRAINT stack_plan_pkey PRIMARY KEY (id),
    CONSTRAINT stack_plan_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id)
);

CREATE INDEX stack_plan_expires ON stack_plan USING btree (time_expires, id);

CREATE INDEX stack_plan_project ON stack_plan USING btree (project_id, id);

CREATE INDEX stack_plan_stack ON stack_plan USING btree (stack_id, id);

CREATE TABLE stack_plugin (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    kind text NOT NULL,
    file text NOT NULL,
    artefact bytea NOT NULL,
    manifest text NOT NULL,
    place text NOT NULL,
    created_by text NOT NULL,
    time_created bigint NOT NULL,
    CONSTRAINT stack_plugin_pkey PRIMARY KEY (id),
    CONSTRAINT stack_plugin_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id),
    CONSTRAINT stack_plugin_project_id_name_version_key UNIQUE (project_id, name, version)
);

CREATE TABLE stack_plugin_name (
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version_last bigint NOT NULL,
    CONSTRAINT stack_plugin_name_pkey PRIMARY KEY (project_id, name)
);

CREATE TABLE stack_plugin_use (
    plugin_id text COLLATE "C" NOT NULL,
    definition_id text COLLATE "C" NOT NULL,
    stack_id text COLLATE "C" NOT NULL,
    CONSTRAINT stack_plugin_use_pkey PRIMARY KEY (plugin_id, definition_id),
    CONSTRAINT stack_plugin_use_plugin_id_fkey FOREIGN KEY (plugin_id) REFERENCES stack_plugin(id)
);

CREATE INDEX stack_plugin_use_stack ON stack_plugin_use USING btree (stack_id, definition_id);

CREATE TABLE stack_resource (
    id text COLLATE "C" NOT NULL,
    stack_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    action text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    physical text COLLATE "C",
    definition_id text COLLATE "C",
    traversal bigint NOT NULL,
    requires text NOT NULL,
    replaces text COLLATE "C",
    replaced_by text COLLATE "C",
    deletion_policy text NOT NULL,
    deed text,
    deed_definition text COLLATE "C",
    deed_owner text COLLATE "C",
    deed_time_lease bigint,
    deed_time_due bigint,
    deeds bigint NOT NULL,
    hooks text NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    time_due bigint,
    sealed bytea NOT NULL,
    CONSTRAINT stack_resource_pkey PRIMARY KEY (id),
    CONSTRAINT stack_resource_stack_id_fkey FOREIGN KEY (stack_id) REFERENCES stack(id)
);

CREATE INDEX stack_resource_due ON stack_resource USING btree (time_due, stack_id) WHERE (time_due IS NOT NULL);

CREATE INDEX stack_resource_name ON stack_resource USING btree (stack_id, name, id);

CREATE INDEX stack_resource_physical ON stack_resource USING btree (substr(physical, 1, 200)) WHERE (physical IS NOT NULL);

CREATE TABLE stack_revision (
    stack_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    definition_id text COLLATE "C" NOT NULL,
    action text NOT NULL,
    reason text NOT NULL,
    resources bigint NOT NULL,
    created_by text NOT NULL,
    time_created bigint NOT NULL,
    sealed bytea NOT NULL,
    CONSTRAINT stack_revision_pkey PRIMARY KEY (stack_id, number),
    CONSTRAINT stack_revision_stack_id_fkey FOREIGN KEY (stack_id) REFERENCES stack(id)
);

CREATE TABLE stack_snapshot (
    id text COLLATE "C" NOT NULL,
    stack_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    definition_id text COLLATE "C" NOT NULL,
    created_by text NOT NULL,
    time_created bigint NOT NULL,
    sealed bytea NOT NULL,
    CONSTRAINT stack_snapshot_pkey PRIMARY KEY (id),
    CONSTRAINT stack_snapshot_stack_id_fkey FOREIGN KEY (stack_id) REFERENCES stack(id)
);

CREATE INDEX stack_snapshot_stack ON stack_snapshot USING btree (stack_id, id);

CREATE TABLE state_entry (
    id text COLLATE "C" NOT NULL,
    is_gone boolean NOT NULL,
    revision bigint NOT NULL,
    create_revision bigint NOT NULL,
    version bigint NOT NULL,
    size bigint NOT NULL,
    owner text NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    time_expires bigint,
    value bytea,
    CONSTRAINT state_entry_pkey PRIMARY KEY (id)
);

CREATE INDEX state_entry_expires ON state_entry USING btree (time_expires, id) WHERE (time_expires IS NOT NULL);

CREATE INDEX state_entry_gone ON state_entry USING btree (revision, id) WHERE (is_gone = true);

CREATE TABLE state_head (
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    time_modified bigint NOT NULL,
    logged bigint NOT NULL,
    CONSTRAINT state_head_pkey PRIMARY KEY (id)
);

CREATE TABLE state_log (
    last_revision bigint NOT NULL,
    first_revision bigint NOT NULL,
    time_created bigint NOT NULL,
    logged bigint NOT NULL,
    changes bytea NOT NULL,
    CONSTRAINT state_log_pkey PRIMARY KEY (last_revision)
);

CREATE TABLE state_sum (
    id text COLLATE "C" NOT NULL,
    entries bigint NOT NULL,
    bytes bigint NOT NULL,
    CONSTRAINT state_sum_pkey PRIMARY KEY (id)
);

CREATE TABLE task_after (
    task_id text COLLATE "C" NOT NULL,
    on_id text COLLATE "C" NOT NULL,
    condition text NOT NULL,
    CONSTRAINT task_after_pkey PRIMARY KEY (task_id, on_id),
    CONSTRAINT task_after_task_id_fkey FOREIGN KEY (task_id) REFERENCES workload(id)
);

CREATE INDEX task_after_on ON task_after USING btree (on_id, task_id);

CREATE TABLE task_array (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    spec text NOT NULL,
    indexes text NOT NULL,
    size bigint NOT NULL,
    is_gang boolean NOT NULL,
    is_stopped boolean NOT NULL,
    made bigint NOT NULL,
    unsettled bigint NOT NULL,
    unsuccessful bigint NOT NULL,
    generation bigint NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    trace text,
    CONSTRAINT task_array_pkey PRIMARY KEY (id),
    CONSTRAINT task_array_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id),
    CONSTRAINT task_array_project_id_name_key UNIQUE (project_id, name)
);

CREATE INDEX task_array_made ON task_array USING btree (id) WHERE ((is_stopped = false) AND (made < size));

CREATE INDEX task_array_project ON task_array USING btree (project_id, id);

CREATE TABLE token (
    id text COLLATE "C" NOT NULL,
    principal_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    secret_hash bytea NOT NULL,
    role_max text NOT NULL,
    project_id text COLLATE "C",
    time_created bigint NOT NULL,
    time_expires bigint,
    time_last_used bigint,
    time_revoked bigint,
    projects text,
    permissions text,
    sources text,
    CONSTRAINT token_pkey PRIMARY KEY (id),
    CONSTRAINT token_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES principal(id),
    CONSTRAINT token_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id),
    CONSTRAINT token_secret_hash_key UNIQUE (secret_hash)
);

CREATE INDEX token_principal ON token USING btree (principal_id, id);

CREATE INDEX token_project ON token USING btree (project_id);

CREATE TABLE token_maker (
    principal_id text COLLATE "C" NOT NULL,
    maker_id text COLLATE "C" NOT NULL,
    CONSTRAINT token_maker_pkey PRIMARY KEY (principal_id, maker_id)
);

CREATE TABLE user_identity (
    issuer text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    principal_id text COLLATE "C" NOT NULL,
    email text NOT NULL,
    time_created bigint NOT NULL,
    time_last_used bigint,
    CONSTRAINT user_identity_pkey PRIMARY KEY (issuer, subject),
    CONSTRAINT user_identity_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES principal(id)
);

CREATE INDEX user_identity_principal ON user_identity USING btree (principal_id, issuer, subject);

CREATE TABLE watcher (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    spec text NOT NULL,
    mandate_principal text COLLATE "C" NOT NULL,
    mandate_can text,
    is_enabled boolean NOT NULL,
    generation bigint NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    CONSTRAINT watcher_pkey PRIMARY KEY (id),
    CONSTRAINT watcher_project_id_name_key UNIQUE (project_id, name)
);

CREATE TABLE watcher_node (
    watcher_id text COLLATE "C" NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    standing text,
    time_told bigint,
    CONSTRAINT watcher_node_pkey PRIMARY KEY (watcher_id, node_id)
);

CREATE INDEX watcher_node_node ON watcher_node USING btree (node_id);

CREATE TABLE web_session (
    id text COLLATE "C" NOT NULL,
    principal_id text COLLATE "C" NOT NULL,
    secret_hash bytea NOT NULL,
    user_agent text NOT NULL,
    time_created bigint NOT NULL,
    time_expires bigint NOT NULL,
    time_last_used bigint NOT NULL,
    CONSTRAINT web_session_pkey PRIMARY KEY (id),
    CONSTRAINT web_session_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES principal(id),
    CONSTRAINT web_session_secret_hash_key UNIQUE (secret_hash)
);

CREATE INDEX web_session_expires ON web_session USING btree (time_expires);

CREATE INDEX web_session_principal ON web_session USING btree (principal_id, id);

CREATE TABLE workflow_name (
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version_last bigint NOT NULL,
    CONSTRAINT workflow_name_pkey PRIMARY KEY (project_id, name)
);

CREATE TABLE workflow_version (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    bundle bytea NOT NULL,
    file text NOT NULL,
    graph text NOT NULL,
    modules text NOT NULL,
    created_by text NOT NULL,
    time_created bigint NOT NULL,
    CONSTRAINT workflow_version_pkey PRIMARY KEY (id),
    CONSTRAINT workflow_version_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id),
    CONSTRAINT workflow_version_project_id_name_version_key UNIQUE (project_id, name, version)
);

CREATE TABLE workload (
    id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    spec text NOT NULL,
    desired text NOT NULL,
    state text NOT NULL,
    state_detail text NOT NULL,
    generation bigint NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    time_created bigint NOT NULL,
    time_modified bigint NOT NULL,
    time_ended bigint,
    kind text NOT NULL,
    revision bigint NOT NULL,
    priority bigint NOT NULL,
    class bigint NOT NULL,
    array_id text COLLATE "C",
    array_index bigint,
    attempts bigint NOT NULL,
    time_ready bigint,
    time_give_up bigint,
    trace text,
    CONSTRAINT workload_pkey PRIMARY KEY (id),
    CONSTRAINT workload_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id),
    CONSTRAINT workload_project_id_name_key UNIQUE (project_id, name)
);

CREATE INDEX workload_array ON workload USING btree (array_id, array_index) WHERE (array_id IS NOT NULL);

CREATE INDEX workload_delayed ON workload USING btree (time_ready) WHERE ((state = 'pending'::text) AND (time_ready > time_created));

CREATE INDEX workload_ended ON workload USING btree (time_ended, id);

CREATE INDEX workload_give_up ON workload USING btree (time_give_up, id) WHERE ((state = 'pending'::text) AND (time_give_up IS NOT NULL));

CREATE INDEX workload_placed ON workload USING btree (priority) WHERE (state = ANY (ARRAY['assigning'::text, 'running'::text, 'paused'::text]));

CREATE INDEX workload_project ON workload USING btree (project_id, id);

CREATE INDEX workload_queue ON workload USING btree (project_id, priority DESC, id, time_ready, class, array_id) WHERE (state = 'pending'::text);

CREATE INDEX workload_service ON workload USING btree (project_id, name) WHERE (kind = 'service'::text);

CREATE INDEX workload_state ON workload USING btree (state, id);
