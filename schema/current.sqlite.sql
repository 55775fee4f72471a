-- The whole schema as the database reports it after every migration. Written by a test; see README.md.

CREATE TABLE account (
    project_id TEXT NOT NULL,
    principal_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    tasks INTEGER NOT NULL,
    core_milliseconds INTEGER NOT NULL,
    gpu_milliseconds INTEGER NOT NULL,
    memory_mib_seconds INTEGER NOT NULL,
    wait_milliseconds INTEGER NOT NULL,
    run_milliseconds INTEGER NOT NULL,
    PRIMARY KEY (project_id, principal_id, day)
) STRICT;

CREATE INDEX account_day ON account (day);

CREATE TABLE approval (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT,
    verb TEXT NOT NULL,
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    what TEXT NOT NULL,
    requested_by TEXT NOT NULL,
    tasks TEXT NOT NULL,
    array_id TEXT,
    needs TEXT NOT NULL,
    decisions TEXT NOT NULL,
    state TEXT NOT NULL,
    why TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_ended INTEGER
) STRICT;

CREATE INDEX approval_array ON approval (array_id);

CREATE INDEX approval_ended ON approval (time_ended);

CREATE INDEX approval_project ON approval (project_id, id);

CREATE INDEX approval_requested ON approval (requested_by, id);

CREATE INDEX approval_state ON approval (state, time_expires);

CREATE TABLE approval_policy (
    id TEXT NOT NULL PRIMARY KEY,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    rule TEXT NOT NULL,
    created_by TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (scope, name)
) STRICT;

CREATE TABLE approval_task (
    workload_id TEXT NOT NULL PRIMARY KEY,
    approval_id TEXT NOT NULL REFERENCES approval (id)
) STRICT;

CREATE INDEX approval_task_approval ON approval_task (approval_id);

CREATE TABLE audit_anchor (
    sequence INTEGER NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL,
    time_created INTEGER NOT NULL,
    authority TEXT NOT NULL,
    signature BLOB NOT NULL
) STRICT;

CREATE TABLE audit_entry (
    sequence INTEGER NOT NULL PRIMARY KEY,
    time_created INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    action TEXT NOT NULL,
    object_kind TEXT NOT NULL,
    object_id TEXT NOT NULL,
    object_name TEXT NOT NULL,
    project_id TEXT,
    request_id TEXT NOT NULL,
    source TEXT NOT NULL,
    detail TEXT NOT NULL,
    hash_previous BLOB NOT NULL,
    hash BLOB NOT NULL
, digest_before BLOB, digest_after BLOB) STRICT;

CREATE INDEX audit_entry_action ON audit_entry (action, sequence);

CREATE INDEX audit_entry_actor ON audit_entry (actor_name, sequence);

CREATE INDEX audit_entry_object ON audit_entry (object_id, sequence);

CREATE INDEX audit_entry_object_name ON audit_entry (object_name, sequence);

CREATE INDEX audit_entry_project ON audit_entry (project_id, sequence);

CREATE INDEX audit_entry_source ON audit_entry (source, sequence);

CREATE INDEX audit_entry_time ON audit_entry (time_created, sequence);

CREATE TABLE audit_sink (
    name TEXT NOT NULL PRIMARY KEY,
    sequence INTEGER NOT NULL,
    anchor_sequence INTEGER NOT NULL,
    problem TEXT,
    time_modified INTEGER NOT NULL
) STRICT;

CREATE TABLE backup_attempt (
    id TEXT NOT NULL PRIMARY KEY,
    server_name TEXT NOT NULL,
    file TEXT NOT NULL,
    size INTEGER NOT NULL,
    digest BLOB,
    problem TEXT,
    time_created INTEGER NOT NULL,
    time_ended INTEGER
) STRICT;

CREATE INDEX backup_attempt_time ON backup_attempt (time_created, id);

CREATE TABLE backup_object (
    store TEXT NOT NULL,
    name TEXT NOT NULL,
    time_used INTEGER NOT NULL,
    PRIMARY KEY (store, name)
) STRICT;

CREATE INDEX backup_object_time ON backup_object (time_used);

CREATE TABLE blob (
    scope TEXT NOT NULL,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    chunk_count INTEGER NOT NULL,
    created_by TEXT,
    time_created INTEGER NOT NULL,
    time_used INTEGER NOT NULL,
    PRIMARY KEY (scope, digest)
) STRICT;

CREATE INDEX blob_newest ON blob (scope, time_created, digest);

CREATE INDEX blob_used ON blob (time_used);

CREATE TABLE blob_chunk (
    scope TEXT NOT NULL,
    blob BLOB NOT NULL,
    number INTEGER NOT NULL,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (scope, blob, number)
) STRICT;

CREATE INDEX blob_chunk_digest ON blob_chunk (scope, digest);

CREATE TABLE blob_grant (
    id TEXT NOT NULL PRIMARY KEY,
    node_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    time_expires INTEGER NOT NULL
) STRICT;

CREATE INDEX blob_grant_expires ON blob_grant (time_expires);

CREATE TABLE blob_use (
    scope TEXT NOT NULL,
    digest BLOB NOT NULL,
    holder TEXT NOT NULL,
    PRIMARY KEY (scope, digest, holder)
) STRICT;

CREATE INDEX blob_use_holder ON blob_use (holder);

CREATE TABLE chunk (
    scope TEXT NOT NULL,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    packed BLOB NOT NULL,
    packed_size INTEGER NOT NULL,
    time_used INTEGER NOT NULL,
    PRIMARY KEY (scope, digest)
) STRICT;

CREATE INDEX chunk_size ON chunk (packed_size);

CREATE INDEX chunk_used ON chunk (time_used);

CREATE TABLE custom_role (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    permissions TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL
) STRICT;

CREATE TABLE event (
    sequence INTEGER NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    project_id TEXT,
    object_kind TEXT NOT NULL,
    object_id TEXT NOT NULL,
    object_name TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    message TEXT NOT NULL,
    time_created INTEGER NOT NULL
, payload TEXT, correlation TEXT) STRICT;

CREATE INDEX event_cause ON event (correlation, sequence) WHERE correlation IS NOT NULL;

CREATE INDEX event_kind ON event (kind, sequence);

CREATE INDEX event_object ON event (object_id, sequence);

CREATE INDEX event_project ON event (project_id, sequence);

CREATE INDEX event_time ON event (time_created, sequence);

CREATE TABLE event_hook (
    id TEXT NOT NULL PRIMARY KEY,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    principal_id TEXT NOT NULL,
    can TEXT,
    is_enabled INTEGER NOT NULL,
    after_sequence INTEGER NOT NULL,
    is_loop_told INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (scope, name)
) STRICT;

CREATE TABLE execution (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    workflow TEXT NOT NULL,
    version INTEGER NOT NULL,
    bundle BLOB NOT NULL,
    state TEXT NOT NULL,
    outcome TEXT,
    is_cancel_requested INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_begun INTEGER NOT NULL,
    time_due INTEGER,
    time_ended INTEGER,
    options TEXT NOT NULL,
    given TEXT NOT NULL,
    graph TEXT NOT NULL
, trace TEXT) STRICT;

CREATE INDEX execution_due ON execution (time_due, id) WHERE state <> 'ended' AND time_due IS NOT NULL;

CREATE INDEX execution_ended ON execution (time_ended, id);

CREATE INDEX execution_open ON execution (project_id, id) WHERE state <> 'ended';

CREATE INDEX execution_project ON execution (project_id, id);

CREATE INDEX execution_state ON execution (state);

CREATE INDEX execution_workflow ON execution (project_id, workflow, id);

CREATE TABLE execution_job (
    workload_id TEXT NOT NULL PRIMARY KEY,
    execution_id TEXT NOT NULL REFERENCES execution (id),
    kind TEXT NOT NULL,
    position INTEGER,
    tries INTEGER NOT NULL,
    node TEXT,
    wanted TEXT,
    outcome TEXT,
    message TEXT NOT NULL,
    result BLOB
) STRICT;

CREATE INDEX execution_job_execution ON execution_job (execution_id, workload_id);

CREATE INDEX execution_job_open ON execution_job (execution_id, workload_id) WHERE outcome IS NULL;

CREATE TABLE execution_step (
    execution_id TEXT NOT NULL REFERENCES execution (id),
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    standing TEXT NOT NULL,
    tries INTEGER NOT NULL,
    message TEXT NOT NULL,
    changed INTEGER,
    exported TEXT NOT NULL,
    results TEXT NOT NULL,
    artifacts TEXT NOT NULL,
    is_undone INTEGER NOT NULL,
    approval_id TEXT,
    time_started INTEGER,
    time_ended INTEGER,
    PRIMARY KEY (execution_id, position)
) STRICT;

CREATE TABLE group_binding (
    group_id TEXT NOT NULL REFERENCES principal_group (id),
    scope TEXT NOT NULL,
    role TEXT NOT NULL,
    PRIMARY KEY (group_id, scope)
) STRICT;

CREATE INDEX group_binding_role ON group_binding (role);

CREATE INDEX group_binding_scope ON group_binding (scope, group_id);

CREATE TABLE group_member (
    group_id TEXT NOT NULL REFERENCES principal_group (id),
    principal_id TEXT NOT NULL REFERENCES principal (id),
    PRIMARY KEY (group_id, principal_id)
) STRICT;

CREATE INDEX group_member_principal ON group_member (principal_id, group_id);

CREATE TABLE hook_cause (
    id TEXT NOT NULL PRIMARY KEY,
    chain TEXT NOT NULL,
    time_created INTEGER NOT NULL
) STRICT;

CREATE INDEX hook_cause_old ON hook_cause (time_created);

CREATE TABLE hook_cursor (
    id TEXT NOT NULL PRIMARY KEY,
    sequence INTEGER NOT NULL
) STRICT;

CREATE TABLE hook_delivery (
    hook_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    object TEXT NOT NULL,
    event TEXT NOT NULL,
    chain TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    claims INTEGER NOT NULL,
    time_due INTEGER NOT NULL,
    made TEXT,
    time_begun INTEGER,
    note TEXT NOT NULL,
    status INTEGER,
    time_created INTEGER NOT NULL,
    time_ended INTEGER,
    PRIMARY KEY (hook_id, sequence)
) STRICT;

CREATE INDEX hook_delivery_claim ON hook_delivery (hook_id, state, time_due, sequence);

CREATE INDEX hook_delivery_due ON hook_delivery (state, time_due);

CREATE INDEX hook_delivery_ended ON hook_delivery (state, time_ended);

CREATE INDEX hook_delivery_line ON hook_delivery (hook_id, object, state, sequence);

CREATE INDEX hook_delivery_object ON hook_delivery (object, sequence, hook_id);

CREATE TABLE idempotency_key (
    principal_id TEXT NOT NULL,
    name TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    object_kind TEXT NOT NULL,
    object_id TEXT NOT NULL,
    object_name TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    PRIMARY KEY (principal_id, name)
) STRICT;

CREATE INDEX idempotency_key_time ON idempotency_key (time_created);

CREATE TABLE image (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    origin TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    UNIQUE (name, version)
) STRICT;

CREATE INDEX image_digest ON image (digest);

CREATE TABLE image_name (
    name TEXT NOT NULL PRIMARY KEY,
    version_last INTEGER NOT NULL
) STRICT;

CREATE TABLE invitation (
    id TEXT NOT NULL PRIMARY KEY,
    secret_hash BLOB NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    role TEXT NOT NULL,
    user_name TEXT,
    email TEXT NOT NULL,
    created_by TEXT NOT NULL REFERENCES principal (id),
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_used INTEGER,
    used_by TEXT,
    time_revoked INTEGER
) STRICT;

CREATE INDEX invitation_creator ON invitation (created_by);

CREATE INDEX invitation_expires ON invitation (time_expires);

CREATE INDEX invitation_scope ON invitation (scope, id);

CREATE TABLE join_token (
    id TEXT NOT NULL PRIMARY KEY,
    secret_hash BLOB NOT NULL UNIQUE,
    node_name TEXT,
    labels TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_used INTEGER,
    used_by TEXT,
    time_revoked INTEGER
) STRICT;

CREATE TABLE journal_head (
    id TEXT NOT NULL PRIMARY KEY,
    event_floor INTEGER NOT NULL,
    event_sequence INTEGER NOT NULL,
    audit_sequence INTEGER NOT NULL,
    audit_hash BLOB NOT NULL
) STRICT;

CREATE TABLE lease (
    name TEXT NOT NULL PRIMARY KEY,
    holder_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_until INTEGER NOT NULL
) STRICT;

CREATE TABLE lock (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    slots INTEGER NOT NULL,
    held INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    place_last INTEGER NOT NULL,
    token_last INTEGER NOT NULL,
    past TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (project_id, name)
) STRICT;

CREATE INDEX lock_idle ON lock (time_modified) WHERE held = 0 AND waiting = 0;

CREATE TABLE lock_floor (
    id TEXT NOT NULL PRIMARY KEY,
    token INTEGER NOT NULL
) STRICT;

CREATE TABLE lock_hold (
    id TEXT NOT NULL PRIMARY KEY,
    lock_id TEXT NOT NULL REFERENCES lock (id),
    principal_id TEXT NOT NULL,
    held_by TEXT NOT NULL,
    holder TEXT NOT NULL,
    place INTEGER NOT NULL,
    token INTEGER,
    is_taken INTEGER NOT NULL,
    ttl INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    time_asked INTEGER NOT NULL,
    time_granted INTEGER,
    time_renewed INTEGER NOT NULL
) STRICT;

CREATE INDEX lock_hold_place ON lock_hold (lock_id, place);

CREATE TABLE log_share (
    project_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    granted INTEGER NOT NULL,
    ceiling INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (project_id, node_id)
) STRICT;

CREATE INDEX log_share_node ON log_share (node_id);

CREATE TABLE login_tally (
    kind TEXT NOT NULL,
    subject BLOB NOT NULL,
    failures INTEGER NOT NULL,
    time_last INTEGER NOT NULL,
    is_told INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)
) STRICT;

CREATE INDEX login_tally_last ON login_tally (kind, time_last);

CREATE TABLE module_name (
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version_last INTEGER NOT NULL,
    PRIMARY KEY (project_id, name)
) STRICT;

CREATE TABLE module_version (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    bundle BLOB NOT NULL,
    file TEXT NOT NULL,
    modules TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    UNIQUE (project_id, name, version)
) STRICT;

CREATE TABLE node (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT UNIQUE,
    labels TEXT NOT NULL,
    state TEXT NOT NULL,
    cordon_reason TEXT,
    time_cordoned INTEGER,
    is_draining INTEGER NOT NULL,
    facts TEXT,
    agent_version TEXT NOT NULL,
    generation INTEGER NOT NULL,
    desired_generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_state INTEGER NOT NULL
) STRICT;

CREATE INDEX node_name ON node (name, id);

CREATE INDEX node_state ON node (state, name, id);

CREATE TABLE node_backup (
    id TEXT NOT NULL PRIMARY KEY,
    node_id TEXT NOT NULL,
    node_name TEXT NOT NULL,
    label TEXT NOT NULL,
    store TEXT NOT NULL,
    spec TEXT NOT NULL,
    state TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    outcome TEXT,
    error TEXT,
    verdict TEXT,
    created_by TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_ended INTEGER
) STRICT;

CREATE INDEX node_backup_label ON node_backup (label, time_created, id);

CREATE INDEX node_backup_node ON node_backup (node_id, time_created, id);

CREATE INDEX node_backup_state ON node_backup (state, time_created, id);

CREATE INDEX node_backup_time ON node_backup (time_created, id);

CREATE TABLE node_certificate (
    serial TEXT NOT NULL PRIMARY KEY,
    node_id TEXT NOT NULL REFERENCES node (id),
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_revoked INTEGER
, authority TEXT, time_presented INTEGER) STRICT;

CREATE INDEX node_certificate_node ON node_certificate (node_id);

CREATE TABLE node_lease (
    node_id TEXT NOT NULL PRIMARY KEY REFERENCES node (id),
    server_id TEXT NOT NULL,
    is_held INTEGER NOT NULL,
    session_epoch INTEGER NOT NULL,
    applied_generation INTEGER NOT NULL,
    time_seen INTEGER NOT NULL,
    metrics TEXT
) STRICT;

CREATE TABLE node_resync (
    node_id TEXT NOT NULL PRIMARY KEY REFERENCES node (id),
    cause TEXT NOT NULL,
    time_created INTEGER NOT NULL
) STRICT;

CREATE TABLE node_usage (
    node_id TEXT NOT NULL PRIMARY KEY,
    usage TEXT NOT NULL,
    time_modified INTEGER NOT NULL
) STRICT;

CREATE TABLE node_watch (
    node_id TEXT NOT NULL PRIMARY KEY,
    generation INTEGER NOT NULL,
    applied INTEGER NOT NULL,
    orders TEXT NOT NULL
) STRICT;

CREATE TABLE operation (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT,
    plan TEXT NOT NULL,
    state TEXT NOT NULL,
    steps TEXT NOT NULL,
    error TEXT,
    is_cancel_requested INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    owner_id TEXT,
    adoption INTEGER NOT NULL,
    time_lease INTEGER,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_ended INTEGER
) STRICT;

CREATE INDEX operation_project ON operation (project_id, id);

CREATE INDEX operation_state ON operation (state, id);

CREATE TABLE password_reset (
    principal_id TEXT NOT NULL PRIMARY KEY REFERENCES principal (id),
    secret_hash BLOB NOT NULL UNIQUE,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL
) STRICT;

CREATE TABLE placement (
    id TEXT NOT NULL PRIMARY KEY,
    workload_id TEXT NOT NULL REFERENCES workload (id),
    project_id TEXT NOT NULL,
    node_id TEXT NOT NULL REFERENCES node (id),
    run_id TEXT,
    desired TEXT NOT NULL,
    desired_generation INTEGER NOT NULL,
    stop_grace TEXT,
    is_released INTEGER NOT NULL,
    cores_millis INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    status TEXT,
    status_generation INTEGER NOT NULL DEFAULT 0
, disk INTEGER NOT NULL DEFAULT 0, reservation TEXT) STRICT;

CREATE INDEX placement_feed ON placement (node_id, desired_generation, id) WHERE is_released = FALSE;

CREATE INDEX placement_left ON placement (time_modified, id) WHERE run_id IS NULL AND is_released = TRUE;

CREATE INDEX placement_particular ON placement (node_id, id) WHERE is_released = FALSE AND reservation IS NOT NULL;

CREATE INDEX placement_project ON placement (project_id, cores_millis, memory) WHERE is_released = FALSE;

CREATE INDEX placement_service ON placement (node_id, id) WHERE run_id IS NULL AND is_released = FALSE;

CREATE INDEX placement_usage ON placement (node_id, cores_millis, memory) WHERE is_released = FALSE;

CREATE INDEX placement_workload ON placement (workload_id, id);

CREATE TABLE principal (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    password_hash TEXT,
    is_disabled INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL
) STRICT;

CREATE TABLE principal_group (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL
) STRICT;

CREATE TABLE project (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL
, quota TEXT NOT NULL DEFAULT '{}', weight INTEGER NOT NULL DEFAULT 1) STRICT;

CREATE TABLE recovery_code (
    principal_id TEXT NOT NULL REFERENCES principal (id),
    code_hash BLOB NOT NULL,
    PRIMARY KEY (principal_id, code_hash)
) STRICT;

CREATE TABLE role_binding (
    principal_id TEXT NOT NULL REFERENCES principal (id),
    scope TEXT NOT NULL,
    role TEXT NOT NULL,
    PRIMARY KEY (principal_id, scope)
) STRICT;

CREATE INDEX role_binding_role ON role_binding (role);

CREATE INDEX role_binding_scope ON role_binding (scope, principal_id);

CREATE TABLE run (
    id TEXT NOT NULL PRIMARY KEY,
    placement_id TEXT NOT NULL REFERENCES placement (id),
    workload_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    state TEXT NOT NULL,
    state_detail TEXT NOT NULL,
    report_generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_started INTEGER,
    time_ended INTEGER,
    cause TEXT,
    fire INTEGER
) STRICT;

CREATE INDEX run_assigned ON run (time_created, id) WHERE state = 'assigned';

CREATE INDEX run_history ON run (placement_id, attempt) WHERE cause IS NOT NULL;

CREATE INDEX run_node ON run (node_id, state, id);

CREATE INDEX run_placement ON run (placement_id);

CREATE INDEX run_workload ON run (workload_id, id);

CREATE TABLE run_output (
    run_id TEXT NOT NULL,
    name TEXT NOT NULL,
    workload_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    digest BLOB,
    size INTEGER NOT NULL,
    words TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT;

CREATE INDEX run_output_digest ON run_output (scope, digest);

CREATE INDEX run_output_workload ON run_output (workload_id, run_id, name);

CREATE TABLE schedule (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    created_by TEXT NOT NULL,
    mandate_principal TEXT NOT NULL,
    mandate_can TEXT,
    pause TEXT,
    log TEXT NOT NULL,
    turn INTEGER NOT NULL,
    made TEXT,
    time_made INTEGER,
    time_due INTEGER,
    time_next INTEGER,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (project_id, name)
) STRICT;

CREATE INDEX schedule_due ON schedule (time_due, id) WHERE time_due IS NOT NULL;

CREATE TABLE schedule_fire (
    schedule_id TEXT NOT NULL REFERENCES schedule (id),
    time INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    state TEXT NOT NULL,
    cause TEXT NOT NULL,
    time_planned INTEGER NOT NULL,
    time_begun INTEGER NOT NULL,
    time_ended INTEGER,
    time_last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    object TEXT,
    status INTEGER,
    message TEXT NOT NULL,
    replaces TEXT,
    asked_by TEXT,
    is_call INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    server_id TEXT NOT NULL,
    time_lease INTEGER NOT NULL,
    PRIMARY KEY (schedule_id, time)
) STRICT;

CREATE INDEX schedule_fire_begun ON schedule_fire (is_call, time_lease, schedule_id, time) WHERE state = 'begun';

CREATE INDEX schedule_fire_time ON schedule_fire (time, schedule_id);

CREATE TABLE schema_version (
    id TEXT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL,
    step BIGINT NOT NULL
);

CREATE TABLE second_factor (
    principal_id TEXT NOT NULL PRIMARY KEY REFERENCES principal (id),
    secret_sealed BLOB NOT NULL,
    step_last INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_confirmed INTEGER
) STRICT;

CREATE TABLE secret (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    environment TEXT NOT NULL,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    version_current INTEGER NOT NULL,
    version_last INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL, link TEXT,
    UNIQUE (project_id, environment, name)
) STRICT;

CREATE TABLE secret_version (
    secret_id TEXT NOT NULL REFERENCES secret (id),
    version INTEGER NOT NULL,
    size INTEGER NOT NULL,
    sealed BLOB,
    wrapped_key BLOB,
    key_id TEXT,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_destroyed INTEGER,
    PRIMARY KEY (secret_id, version)
) STRICT;

CREATE INDEX secret_version_key ON secret_version (key_id, secret_id, version);

CREATE TABLE server (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    api_address TEXT NOT NULL,
    agent_address TEXT NOT NULL,
    time_started INTEGER NOT NULL,
    time_seen INTEGER NOT NULL
) STRICT;

CREATE INDEX server_seen ON server (time_seen);

CREATE TABLE setting (
    name TEXT NOT NULL PRIMARY KEY,
    content BLOB NOT NULL
) STRICT;

CREATE TABLE software_config (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    tool TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    wrapped_key BLOB NOT NULL,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX software_config_project ON software_config (project_id, id);

CREATE TABLE software_deployment (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    config_id TEXT NOT NULL REFERENCES software_config (id),
    server TEXT NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_updated INTEGER,
    key_id TEXT NOT NULL,
    wrapped_key BLOB NOT NULL,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX software_deployment_config ON software_deployment (config_id, id);

CREATE INDEX software_deployment_project ON software_deployment (project_id, id);

CREATE INDEX software_deployment_server ON software_deployment (project_id, server, id);

CREATE TABLE stack (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    parent_stack_id TEXT,
    parent_resource_id TEXT,
    root_id TEXT NOT NULL,
    depth INTEGER NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    traversal INTEGER NOT NULL,
    wanted TEXT,
    settled TEXT,
    options TEXT NOT NULL,
    tags TEXT NOT NULL,
    revision INTEGER NOT NULL,
    mandate_principal TEXT NOT NULL,
    mandate_can TEXT,
    generation INTEGER NOT NULL,
    event_last INTEGER NOT NULL,
    event_gone INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_updated INTEGER,
    time_deleted INTEGER,
    time_begun INTEGER NOT NULL,
    failure TEXT,
    time_deadline INTEGER,
    time_due INTEGER,
    key_id TEXT NOT NULL,
    wrapped_key BLOB NOT NULL,
    key_sealed BLOB NOT NULL
) STRICT;

CREATE INDEX stack_called ON stack (project_id, name, id);

CREATE INDEX stack_created ON stack (project_id, time_created, id);

CREATE INDEX stack_deleted ON stack (time_deleted, id) WHERE time_deleted IS NOT NULL;

CREATE INDEX stack_due ON stack (time_due, id) WHERE time_due IS NOT NULL;

CREATE INDEX stack_everywhere ON stack (time_created, id);

CREATE UNIQUE INDEX stack_name ON stack (project_id, name) WHERE time_deleted IS NULL AND parent_stack_id IS NULL;

CREATE INDEX stack_parent ON stack (parent_stack_id, id) WHERE parent_stack_id IS NOT NULL;

CREATE INDEX stack_root ON stack (root_id, id);

CREATE INDEX stack_status ON stack (project_id, status, id);

CREATE INDEX stack_updated ON stack (project_id, COALESCE(time_updated, 0), id);

CREATE TABLE stack_definition (
    id TEXT NOT NULL PRIMARY KEY,
    stack_id TEXT NOT NULL REFERENCES stack (id),
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX stack_definition_stack ON stack_definition (stack_id, id);

CREATE TABLE stack_dependency (
    stack_id TEXT NOT NULL REFERENCES stack (id),
    on_name TEXT NOT NULL,
    project_id TEXT NOT NULL,
    outputs TEXT NOT NULL,
    PRIMARY KEY (stack_id, on_name)
) STRICT;

CREATE INDEX stack_dependency_on ON stack_dependency (project_id, on_name, stack_id);

CREATE TABLE stack_drift (
    stack_id TEXT NOT NULL PRIMARY KEY REFERENCES stack (id),
    traversal INTEGER NOT NULL,
    looked INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    missing INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    report TEXT NOT NULL,
    time_created INTEGER NOT NULL
) STRICT;

CREATE TABLE stack_event (
    stack_id TEXT NOT NULL REFERENCES stack (id),
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    root_id TEXT NOT NULL,
    resource_id TEXT,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    physical TEXT,
    subject TEXT NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    properties TEXT,
    time_created INTEGER NOT NULL,
    PRIMARY KEY (stack_id, position)
) STRICT;

CREATE INDEX stack_event_root ON stack_event (root_id, id);

CREATE TABLE stack_plan (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    stack_id TEXT NOT NULL,
    base INTEGER NOT NULL,
    digest BLOB NOT NULL,
    changes TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_used INTEGER,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX stack_plan_expires ON stack_plan (time_expires, id);

CREATE INDEX stack_plan_project ON stack_plan (project_id, id);

CREATE INDEX stack_plan_stack ON stack_plan (stack_id, id);

CREATE TABLE stack_plugin (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    file TEXT NOT NULL,
    artefact BLOB NOT NULL,
    manifest TEXT NOT NULL,
    place TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    UNIQUE (project_id, name, version)
) STRICT;

CREATE TABLE stack_plugin_name (
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version_last INTEGER NOT NULL,
    PRIMARY KEY (project_id, name)
) STRICT;

CREATE TABLE stack_plugin_use (
    plugin_id TEXT NOT NULL REFERENCES stack_plugin (id),
    definition_id TEXT NOT NULL,
    stack_id TEXT NOT NULL,
    PRIMARY KEY (plugin_id, definition_id)
) STRICT;

CREATE INDEX stack_plugin_use_stack ON stack_plugin_use (stack_id, definition_id);

CREATE TABLE stack_resource (
    id TEXT NOT NULL PRIMARY KEY,
    stack_id TEXT NOT NULL REFERENCES stack (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    physical TEXT,
    definition_id TEXT,
    traversal INTEGER NOT NULL,
    requires TEXT NOT NULL,
    replaces TEXT,
    replaced_by TEXT,
    deletion_policy TEXT NOT NULL,
    deed TEXT,
    deed_definition TEXT,
    deed_owner TEXT,
    deed_time_lease INTEGER,
    deed_time_due INTEGER,
    deeds INTEGER NOT NULL,
    hooks TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_due INTEGER,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX stack_resource_due ON stack_resource (time_due, stack_id) WHERE time_due IS NOT NULL;

CREATE INDEX stack_resource_name ON stack_resource (stack_id, name, id);

CREATE INDEX stack_resource_physical ON stack_resource (SUBSTR(physical, 1, 200)) WHERE physical IS NOT NULL;

CREATE TABLE stack_revision (
    stack_id TEXT NOT NULL REFERENCES stack (id),
    number INTEGER NOT NULL,
    definition_id TEXT NOT NULL,
    action TEXT NOT NULL,
    reason TEXT NOT NULL,
    resources INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (stack_id, number)
) STRICT;

CREATE TABLE stack_snapshot (
    id TEXT NOT NULL PRIMARY KEY,
    stack_id TEXT NOT NULL REFERENCES stack (id),
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    definition_id TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX stack_snapshot_stack ON stack_snapshot (stack_id, id);

CREATE TABLE state_entry (
    id TEXT NOT NULL PRIMARY KEY,
    is_gone INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    create_revision INTEGER NOT NULL,
    version INTEGER NOT NULL,
    size INTEGER NOT NULL,
    owner TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_expires INTEGER,
    value BLOB
) STRICT;

CREATE INDEX state_entry_expires ON state_entry (time_expires, id) WHERE time_expires IS NOT NULL;

CREATE INDEX state_entry_gone ON state_entry (revision, id) WHERE is_gone = TRUE;

CREATE TABLE state_head (
    id TEXT NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    logged INTEGER NOT NULL
) STRICT;

CREATE TABLE state_log (
    last_revision INTEGER NOT NULL PRIMARY KEY,
    first_revision INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    logged INTEGER NOT NULL,
    changes BLOB NOT NULL
) STRICT;

CREATE TABLE state_sum (
    id TEXT NOT NULL PRIMARY KEY,
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE task_after (
    task_id TEXT NOT NULL REFERENCES workload (id),
    on_id TEXT NOT NULL,
    condition TEXT NOT NULL,
    PRIMARY KEY (task_id, on_id)
) STRICT;

CREATE INDEX task_after_on ON task_after (on_id, task_id);

CREATE TABLE task_array (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    indexes TEXT NOT NULL,
    size INTEGER NOT NULL,
    is_gang INTEGER NOT NULL,
    is_stopped INTEGER NOT NULL,
    made INTEGER NOT NULL,
    unsettled INTEGER NOT NULL,
    unsuccessful INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL, trace TEXT,
    UNIQUE (project_id, name)
) STRICT;

CREATE INDEX task_array_made ON task_array (id) WHERE is_stopped = FALSE AND made < size;

CREATE INDEX task_array_project ON task_array (project_id, id);

CREATE TABLE token (
    id TEXT NOT NULL PRIMARY KEY,
    principal_id TEXT NOT NULL REFERENCES principal (id),
    name TEXT NOT NULL,
    secret_hash BLOB NOT NULL UNIQUE,
    role_max TEXT NOT NULL,
    project_id TEXT REFERENCES project (id),
    time_created INTEGER NOT NULL,
    time_expires INTEGER,
    time_last_used INTEGER,
    time_revoked INTEGER
, projects TEXT, permissions TEXT, sources TEXT) STRICT;

CREATE INDEX token_principal ON token (principal_id, id);

CREATE INDEX token_project ON token (project_id);

CREATE TABLE token_maker (
    principal_id TEXT NOT NULL,
    maker_id TEXT NOT NULL,
    PRIMARY KEY (principal_id, maker_id)
) STRICT;

CREATE TABLE user_identity (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    principal_id TEXT NOT NULL REFERENCES principal (id),
    email TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_last_used INTEGER,
    PRIMARY KEY (issuer, subject)
) STRICT;

CREATE INDEX user_identity_principal ON user_identity (principal_id, issuer, subject);

CREATE TABLE watcher (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    mandate_principal TEXT NOT NULL,
    mandate_can TEXT,
    is_enabled INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (project_id, name)
) STRICT;

CREATE TABLE watcher_node (
    watcher_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    standing TEXT,
    time_told INTEGER,
    PRIMARY KEY (watcher_id, node_id)
) STRICT;

CREATE INDEX watcher_node_node ON watcher_node (node_id);

CREATE TABLE web_session (
    id TEXT NOT NULL PRIMARY KEY,
    principal_id TEXT NOT NULL REFERENCES principal (id),
    secret_hash BLOB NOT NULL UNIQUE,
    user_agent TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_last_used INTEGER NOT NULL
) STRICT;

CREATE INDEX web_session_expires ON web_session (time_expires);

CREATE INDEX web_session_principal ON web_session (principal_id, id);

CREATE TABLE workflow_name (
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version_last INTEGER NOT NULL,
    PRIMARY KEY (project_id, name)
) STRICT;

CREATE TABLE workflow_version (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    bundle BLOB NOT NULL,
    file TEXT NOT NULL,
    graph TEXT NOT NULL,
    modules TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    UNIQUE (project_id, name, version)
) STRICT;

CREATE TABLE workload (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    desired TEXT NOT NULL,
    state TEXT NOT NULL,
    state_detail TEXT NOT NULL,
    generation INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_ended INTEGER, kind TEXT NOT NULL DEFAULT 'task', revision INTEGER NOT NULL DEFAULT 0, priority INTEGER NOT NULL DEFAULT 0, class INTEGER NOT NULL DEFAULT 0, array_id TEXT, array_index INTEGER, attempts INTEGER NOT NULL DEFAULT 0, time_ready INTEGER, time_give_up INTEGER, trace TEXT,
    UNIQUE (project_id, name)
) STRICT;

CREATE INDEX workload_array ON workload (array_id, array_index) WHERE array_id IS NOT NULL;

CREATE INDEX workload_delayed ON workload (time_ready) WHERE state = 'pending' AND time_ready > time_created;

CREATE INDEX workload_ended ON workload (time_ended, id);

CREATE INDEX workload_give_up ON workload (time_give_up, id) WHERE state = 'pending' AND time_give_up IS NOT NULL;

CREATE INDEX workload_placed ON workload (priority) WHERE state IN ('assigning', 'running', 'paused');

CREATE INDEX workload_project ON workload (project_id, id);

CREATE INDEX workload_queue ON workload (project_id, priority DESC, id, time_ready, class, array_id) WHERE state = 'pending';

CREATE INDEX workload_service ON workload (project_id, name) WHERE kind = 'service';

CREATE INDEX workload_state ON workload (state, id);
