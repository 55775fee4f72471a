//! Permissions: `object.verb`, one closed list, and sets of them.
//!
//! Every endpoint names the one it needs. A built-in role is the set of those that name it or a role
//! before it; a custom role is any set. A permission is about the whole installation or about one
//! project, and some belong to everybody who is logged in: they are here so that a token can be kept
//! from them.
//!
//! A permission that this version does not know grants nothing: reading a stored set leaves it out.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Role;

/// What a permission is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The whole installation; held there or not at all.
    Global,
    /// One project; held on the whole installation it holds in every one.
    Project,
}

macro_rules! permissions {
    ($(#[doc = $doc:literal] $variant:ident = $label:literal, $reach:ident, $least:ident;)+) => {
        crate::labels! {
            /// What somebody may do to a kind of object; `docs/reference/access.md` lists them.
            pub enum Permission ("permission") {
                $(#[doc = $doc] $variant = $label,)+
            }
        }

        impl Permission {
            /// What it allows, in words.
            pub const fn meaning(self) -> &'static str {
                match self { $(Permission::$variant => $doc.trim_ascii(),)+ }
            }
            pub const fn reach(self) -> Reach {
                match self { $(Permission::$variant => Reach::$reach,)+ }
            }
            /// The first built-in role that has it; `None` where everybody does.
            pub const fn least(self) -> Option<Role> {
                match self { $(Permission::$variant => permissions!(@least $least),)+ }
            }
        }
    };
    (@least Everybody) => { None };
    (@least $role:ident) => { Some(Role::$role) };
}

permissions! {
    /// Ask what somebody else may do, and why.
    AccessInspect = "access.inspect", Global, Admin;
    /// See what was used, by project and user.
    AccountRead = "account.read", Project, Viewer;
    /// See what waits for an approval, and what became of it.
    ApprovalRead = "approval.read", Project, Viewer;
    /// Agree, or not, to what others want to do; only to what one may do oneself.
    ApprovalDecide = "approval.decide", Project, Operator;
    /// Take back requests of one's own.
    ApprovalWithdraw = "approval.withdraw", Global, Everybody;
    /// Do without an approval what needs one, with a reason and for everybody to see.
    ApprovalBreakGlass = "approval.break-glass", Project, Admin;
    /// See what needs an approval in a project.
    ApprovalPolicyRead = "approval-policy.read", Project, Viewer;
    /// Say what needs an approval in a project.
    ApprovalPolicySet = "approval-policy.set", Project, Admin;
    /// See and say what needs an approval on the whole installation.
    ApprovalPolicyGlobal = "approval-policy.global", Global, Admin;
    /// Read and verify the audit trail.
    AuditRead = "audit.read", Global, Admin;
    /// Sign the audit chain as it is.
    AuditAnchor = "audit.anchor", Global, Admin;
    /// Replace the certificate authority.
    AuthorityRotate = "authority.rotate", Global, Admin;
    /// Take a copy of everything the control plane knows.
    BackupCreate = "backup.create", Global, Admin;
    /// See which backups servers have made, and when the next is due.
    BackupRead = "backup.read", Global, Operator;
    /// See which content a project has.
    BlobRead = "blob.read", Project, Viewer;
    /// Read content, which the files that tasks left are too.
    BlobContent = "blob.content", Project, Viewer;
    /// Put content into a project.
    BlobCreate = "blob.create", Project, User;
    /// Remove content of one's own.
    BlobRemove = "blob.remove", Project, User;
    /// Change content of others as if it were one's own.
    BlobManage = "blob.manage", Project, Operator;
    /// See the containers of a node.
    ContainerRead = "container.read", Global, Operator;
    /// Read the files of a container.
    ContainerExport = "container.export", Global, Operator;
    /// Remove a container from a node.
    ContainerRemove = "container.remove", Global, Operator;
    /// Have the servers call addresses outside, as what a schedule or a hook does.
    EgressCall = "egress.call", Project, Operator;
    /// See events.
    EventRead = "event.read", Project, Viewer;
    /// Tell of events of one's own: `custom.NAME`.
    EventEmit = "event.emit", Project, User;
    /// See groups and who is in them.
    GroupRead = "group.read", Global, Admin;
    /// Make a group.
    GroupCreate = "group.create", Global, Admin;
    /// Change a group: its members, its role on the whole installation, its description.
    GroupUpdate = "group.update", Global, Admin;
    /// Remove a group.
    GroupRemove = "group.remove", Global, Admin;
    /// See the event hooks of a project, and what they delivered.
    HookRead = "hook.read", Project, Viewer;
    /// Make event hooks that do what one may do oneself; change, test, replay and remove those of one's own.
    HookWrite = "hook.write", Project, User;
    /// Do to everybody's event hooks in a project what one may do to one's own.
    HookManage = "hook.manage", Project, Operator;
    /// See and do all that to event hooks of the whole installation.
    HookGlobal = "hook.global", Global, Admin;
    /// See which images are kept.
    ImageRead = "image.read", Global, Everybody;
    /// Make a version of an image from content.
    ImagePush = "image.push", Global, Operator;
    /// Make a version of an image from what a node has.
    ImageTake = "image.take", Global, Operator;
    /// Read the content of an image.
    ImageExport = "image.export", Global, Operator;
    /// Bring an image to nodes.
    ImageSync = "image.sync", Global, Operator;
    /// Keep an image no longer.
    ImageRemove = "image.remove", Global, Operator;
    /// See the invitations to a project.
    InvitationRead = "invitation.read", Project, Admin;
    /// Invite somebody to a project, up to what one holds oneself.
    InvitationCreate = "invitation.create", Project, Admin;
    /// Revoke an invitation to a project.
    InvitationRevoke = "invitation.revoke", Project, Admin;
    /// See join tokens.
    JoinTokenRead = "join-token.read", Global, Operator;
    /// Make a join token, which lets a machine become a node.
    JoinTokenCreate = "join-token.create", Global, Operator;
    /// Revoke a join token.
    JoinTokenRevoke = "join-token.revoke", Global, Operator;
    /// See locks: who holds them and who waits.
    LockRead = "lock.read", Project, Viewer;
    /// Acquire locks, and renew and release what one holds oneself.
    LockUse = "lock.use", Project, User;
    /// Take locks away from others.
    LockForce = "lock.force", Project, Operator;
    /// See who holds a role in a project.
    MemberRead = "member.read", Project, Viewer;
    /// Give somebody a role in a project, up to what one holds oneself.
    MemberSet = "member.set", Project, Admin;
    /// Take somebody's role in a project away, up to what one holds oneself.
    MemberRemove = "member.remove", Project, Admin;
    /// Read metrics.
    MetricsRead = "metrics.read", Global, Viewer;
    /// See nodes, what is on them and what they use.
    NodeRead = "node.read", Global, Viewer;
    /// Change the labels of a node.
    NodeUpdate = "node.update", Global, Operator;
    /// Keep new work from a node, and let it come again.
    NodeCordon = "node.cordon", Global, Operator;
    /// Move everything away from a node.
    NodeDrain = "node.drain", Global, Operator;
    /// Have a node looked at anew.
    NodeReload = "node.reload", Global, Operator;
    /// Take a node out and revoke its certificates.
    NodeRemove = "node.remove", Global, Admin;
    /// Look at the machines of nodes: their health, packages, services, logs, processes, disks and users.
    NodeInspect = "node.inspect", Global, Operator;
    /// Change the machines of nodes: their packages, services, processes and users, which is to be root there.
    NodeAdminister = "node.administer", Global, Admin;
    /// Make backups of nodes' machines, which is to read everything there; verify and remove them.
    NodeBackup = "node.backup", Global, Admin;
    /// See which images nodes have.
    NodeImageRead = "node-image.read", Global, Operator;
    /// Remove an image from a node.
    NodeImageRemove = "node-image.remove", Global, Operator;
    /// See operations.
    OperationRead = "operation.read", Global, Viewer;
    /// Cancel an operation.
    OperationCancel = "operation.cancel", Global, Operator;
    /// Change one's own password and second factor.
    PasswordChange = "password.change", Global, Everybody;
    /// See a project.
    ProjectRead = "project.read", Project, Viewer;
    /// Change a project's description.
    ProjectUpdate = "project.update", Project, Admin;
    /// Make a project.
    ProjectCreate = "project.create", Global, Admin;
    /// Set the weight and the quota of a project.
    ProjectShare = "project.share", Global, Admin;
    /// Remove a project.
    ProjectRemove = "project.remove", Global, Admin;
    /// See roles and what they allow.
    RoleRead = "role.read", Global, Everybody;
    /// Make a custom role, up to what one holds oneself.
    RoleCreate = "role.create", Global, Admin;
    /// Change a custom role, up to what one holds oneself.
    RoleUpdate = "role.update", Global, Admin;
    /// Remove a custom role that nobody holds.
    RoleRemove = "role.remove", Global, Admin;
    /// See schedules, when they come next and what became of them; without what only their owners see.
    ScheduleRead = "schedule.read", Project, Viewer;
    /// Make schedules that do what one may do oneself; change, pause and remove those of one's own.
    ScheduleWrite = "schedule.write", Project, User;
    /// Have schedules of one's own do now what they do.
    ScheduleRun = "schedule.run", Project, User;
    /// Do to everybody's schedules what one may do to one's own.
    ScheduleManage = "schedule.manage", Project, Operator;
    /// See which secrets there are, without their values.
    SecretRead = "secret.read", Project, Viewer;
    /// Set secrets, which tasks and workloads of the project are given by name; once set, those of one's own.
    SecretSet = "secret.set", Project, User;
    /// Read the values of secrets.
    SecretValue = "secret.value", Project, Operator;
    /// Remove secrets of one's own and destroy versions of them.
    SecretRemove = "secret.remove", Project, User;
    /// Change secrets of others as if they were one's own.
    SecretManage = "secret.manage", Project, Operator;
    /// Seal everything anew with the present master key.
    SecretRewrap = "secret.rewrap", Global, Admin;
    /// See the servers.
    ServerRead = "server.read", Global, Viewer;
    /// See what the reconcilers of a server do.
    ServerDebug = "server.debug", Global, Operator;
    /// Have the control plane examined: what is wrong with it, and what to do.
    SystemDiagnose = "system.diagnose", Global, Operator;
    /// See one's own browser sessions.
    SessionRead = "session.read", Global, Everybody;
    /// End one's own browser sessions.
    SessionEnd = "session.end", Global, Everybody;
    /// See stacks, what they are made of, their resources, outputs and events; without the values of hidden parameters.
    StackRead = "stack.read", Project, Viewer;
    /// Make and change stacks; suspend, resume, check, snapshot and cancel them.
    StackApply = "stack.apply", Project, User;
    /// Take stacks down, with everything that they have made.
    StackRemove = "stack.remove", Project, User;
    /// Signal resources of stacks, let those go on that wait at a hook, and say that one is broken.
    StackSignal = "stack.signal", Project, User;
    /// Bring types of resources of one's own: keep and remove plugins of stacks, which run on nodes as tasks.
    StackPlugin = "stack.plugin", Project, Operator;
    /// Take the lock of a stack away from whoever holds it.
    StackUnlock = "stack.unlock", Project, Operator;
    /// Read the entries of a project's state, their history, and watch them.
    StateRead = "state.read", Project, Viewer;
    /// Change the entries of a project's state.
    StateWrite = "state.write", Project, User;
    /// Empty whole namespaces of a project's state.
    StateClear = "state.clear", Project, Operator;
    /// See tasks and task arrays, the queue and why things wait; without the values of environments.
    TaskRead = "task.read", Project, Viewer;
    /// Read what tasks print, and see which files they left.
    TaskOutput = "task.output", Project, Viewer;
    /// See the values of the environments of everybody's tasks.
    TaskEnv = "task.env", Project, Operator;
    /// Submit tasks and task arrays.
    TaskSubmit = "task.submit", Project, User;
    /// Stop tasks and task arrays of one's own.
    TaskKill = "task.kill", Project, User;
    /// Freeze tasks of one's own, and let them go on.
    TaskPause = "task.pause", Project, User;
    /// Put tasks of one's own back into the queue.
    TaskRetry = "task.retry", Project, User;
    /// Remove tasks of one's own from the records.
    TaskRemove = "task.remove", Project, User;
    /// Do to everybody's tasks what one may do to one's own.
    TaskManage = "task.manage", Project, Operator;
    /// See one's own tokens.
    TokenRead = "token.read", Global, Everybody;
    /// Make tokens for oneself.
    TokenCreate = "token.create", Global, Everybody;
    /// Revoke one's own tokens.
    TokenRevoke = "token.revoke", Global, Everybody;
    /// See and revoke everybody's tokens, and make them for service accounts.
    TokenManage = "token.manage", Global, Admin;
    /// See users and service accounts.
    UserRead = "user.read", Global, Admin;
    /// Make users and service accounts.
    UserCreate = "user.create", Global, Admin;
    /// Invite to the whole installation, up to what one holds oneself; see and revoke all invitations.
    UserInvite = "user.invite", Global, Admin;
    /// Change users: disable them, set passwords and roles; only of those who hold no more than oneself.
    UserUpdate = "user.update", Global, Admin;
    /// Remove users who hold no more than oneself.
    UserRemove = "user.remove", Global, Admin;
    /// See the watchers of a project, and how they stand on nodes.
    WatcherRead = "watcher.read", Project, Viewer;
    /// Make, change, enable, disable and remove watchers of a project; looking at machines takes node.inspect too, and commands node.administer.
    WatcherWrite = "watcher.write", Project, Operator;
    /// See workflows, their source and their executions, and the modules that are kept for them.
    WorkflowRead = "workflow.read", Project, Viewer;
    /// Keep versions of workflows and of modules.
    WorkflowPush = "workflow.push", Project, User;
    /// Carry out workflows, which submits tasks.
    WorkflowRun = "workflow.run", Project, User;
    /// End executions of one's own, and have them go on.
    WorkflowCancel = "workflow.cancel", Project, User;
    /// Remove workflows and modules with all their versions.
    WorkflowRemove = "workflow.remove", Project, Operator;
    /// Do to everybody's executions what one may do to one's own.
    WorkflowManage = "workflow.manage", Project, Operator;
    /// See workloads, their runs and how they stand; without the values of environments.
    WorkloadRead = "workload.read", Project, Viewer;
    /// Read what workloads print.
    WorkloadOutput = "workload.output", Project, Viewer;
    /// See the values of the environments of everybody's workloads.
    WorkloadEnv = "workload.env", Project, Operator;
    /// Make workloads, and change those of one's own.
    WorkloadApply = "workload.apply", Project, User;
    /// Start workloads of one's own.
    WorkloadStart = "workload.start", Project, User;
    /// Stop workloads of one's own.
    WorkloadStop = "workload.stop", Project, User;
    /// Restart workloads of one's own.
    WorkloadRestart = "workload.restart", Project, User;
    /// Remove workloads of one's own.
    WorkloadRemove = "workload.remove", Project, User;
    /// Run commands beside workloads of one's own.
    WorkloadExec = "workload.exec", Project, User;
    /// Do to everybody's workloads what one may do to one's own.
    WorkloadManage = "workload.manage", Project, Operator;
}

impl Permission {
    /// What it is about: the part before the dot.
    pub fn object(self) -> &'static str {
        self.label().split_once('.').map_or(self.label(), |(object, _)| object)
    }

    pub const fn is_everybodys(self) -> bool {
        self.least().is_none()
    }
}

/// Words of 64 places in a set.
const WORDS: usize = 4;

const _: () = assert!(Permission::ALL.len() <= WORDS * 64, "a set has 256 places");

/// A set of permissions. Written as the list of their labels.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PermissionSet([u64; WORDS]);

impl PermissionSet {
    pub const EMPTY: PermissionSet = PermissionSet([0; WORDS]);

    /// What steps of workflows may at most, whoever runs them: to use what they share with others.
    pub const OF_STEPS: PermissionSet = PermissionSet::EMPTY
        .with(Permission::EventEmit)
        .with(Permission::EventRead)
        .with(Permission::LockRead)
        .with(Permission::LockUse)
        .with(Permission::StackApply)
        .with(Permission::StackRead)
        .with(Permission::StateRead)
        .with(Permission::StateWrite);

    /// What a built-in role allows.
    pub const fn of_role(role: Role) -> PermissionSet {
        let mut set = PermissionSet::EMPTY;
        let mut at = 0;
        while at < Permission::ALL.len() {
            let permission = Permission::ALL[at];
            let has = match permission.least() {
                Some(least) => least as u8 <= role as u8,
                None => true,
            };
            if has {
                set = set.with(permission);
            }
            at += 1;
        }
        set
    }

    /// Those that need no role.
    pub const fn of_everybody() -> PermissionSet {
        let mut set = PermissionSet::EMPTY;
        let mut at = 0;
        while at < Permission::ALL.len() {
            let permission = Permission::ALL[at];
            if permission.is_everybodys() {
                set = set.with(permission);
            }
            at += 1;
        }
        set
    }

    /// Those that are about projects.
    pub const fn of_projects() -> PermissionSet {
        let mut set = PermissionSet::EMPTY;
        let mut at = 0;
        while at < Permission::ALL.len() {
            let permission = Permission::ALL[at];
            if matches!(permission.reach(), Reach::Project) {
                set = set.with(permission);
            }
            at += 1;
        }
        set
    }

    pub const fn has(self, permission: Permission) -> bool {
        let place = permission as usize;
        self.0[place / 64] & (1 << (place % 64)) != 0
    }

    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    pub const fn len(self) -> usize {
        let (mut count, mut at) = (0, 0);
        while at < WORDS {
            count += self.0[at].count_ones() as usize;
            at += 1;
        }
        count
    }

    #[must_use]
    pub const fn with(mut self, permission: Permission) -> PermissionSet {
        let place = permission as usize;
        self.0[place / 64] |= 1 << (place % 64);
        self
    }

    #[must_use]
    pub const fn union(mut self, other: PermissionSet) -> PermissionSet {
        let mut at = 0;
        while at < WORDS {
            self.0[at] |= other.0[at];
            at += 1;
        }
        self
    }

    #[must_use]
    pub const fn intersection(mut self, other: PermissionSet) -> PermissionSet {
        let mut at = 0;
        while at < WORDS {
            self.0[at] &= other.0[at];
            at += 1;
        }
        self
    }

    #[must_use]
    pub const fn without(mut self, other: PermissionSet) -> PermissionSet {
        let mut at = 0;
        while at < WORDS {
            self.0[at] &= !other.0[at];
            at += 1;
        }
        self
    }

    /// Whether everything in this set is in the other too.
    pub const fn is_within(self, other: PermissionSet) -> bool {
        self.without(other).is_empty()
    }

    /// In the order of the list of permissions.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.iter().copied().filter(move |permission| self.has(*permission))
    }

    /// The labels, with commas between them.
    pub fn words(self) -> String {
        self.iter().map(Permission::label).collect::<Vec<_>>().join(", ")
    }

    /// Reads what people write: `task.read`, or `task.*` for all that is about tasks.
    pub fn read<S: AsRef<str>>(given: impl IntoIterator<Item = S>) -> Result<Self, Unreadable> {
        let mut set = PermissionSet::EMPTY;
        for (index, text) in given.into_iter().enumerate() {
            let text = text.as_ref().trim();
            let read = pattern(text).ok_or_else(|| Unreadable {
                index,
                given: text.chars().take(64).collect(),
                known: known(text),
            })?;
            set = set.union(read);
        }
        Ok(set)
    }
}

fn pattern(text: &str) -> Option<PermissionSet> {
    let found: PermissionSet = match text.strip_suffix(".*") {
        Some(object) => Permission::ALL.iter().copied().filter(|p| p.object() == object).collect(),
        None => text.parse::<Permission>().ok().into_iter().collect(),
    };
    (!found.is_empty()).then_some(found)
}

/// What could have been meant.
fn known(text: &str) -> String {
    let object = text.split_once('.').map_or(text, |(object, _)| object);
    let of_it: PermissionSet =
        Permission::ALL.iter().copied().filter(|p| p.object() == object).collect();
    if !of_it.is_empty() {
        return format!("of {object} there are {}, and {object}.* for all", of_it.words());
    }
    let objects: BTreeSet<&str> = Permission::ALL.iter().map(|p| p.object()).collect();
    let objects: Vec<&str> = objects.into_iter().collect();
    format!("it is written object.verb, where the object is one of {}", objects.join(", "))
}

/// Error of reading a permission that somebody wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no permission `{given}`: {known}")]
pub struct Unreadable {
    /// Which of the list.
    pub index: usize,
    pub given: String,
    known: String,
}

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> PermissionSet {
        permissions.into_iter().fold(PermissionSet::EMPTY, PermissionSet::with)
    }
}

impl fmt::Debug for PermissionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Permission::label)).finish()
    }
}

impl Serialize for PermissionSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for PermissionSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let labels = Vec::<String>::deserialize(deserializer)?;
        Ok(labels.iter().filter_map(|label| label.parse::<Permission>().ok()).collect())
    }
}

impl schemars::JsonSchema for PermissionSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PermissionSet".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<Vec<Permission>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_is_an_object_and_a_verb() {
        for permission in Permission::ALL {
            let (object, verb) = permission.label().split_once('.').unwrap();
            let is_word = |w: &str| w.parse::<crate::Name>().is_ok();
            assert!(is_word(object) && is_word(verb), "{permission}");
            assert!(permission.meaning().ends_with('.'), "{permission}");
        }
    }

    #[test]
    fn roles_include_those_before_them() {
        let sets: Vec<_> = Role::ALL.iter().map(|role| PermissionSet::of_role(*role)).collect();
        for pair in sets.windows(2) {
            assert!(pair[0].is_within(pair[1]) && pair[0] != pair[1]);
        }
        assert_eq!(sets.last().unwrap().len(), Permission::ALL.len());
    }

    #[test]
    fn what_people_write_is_read_or_refused_with_what_there_is() {
        let set = PermissionSet::read(["task.kill", " member.* "]).unwrap();
        assert_eq!(set.words(), "member.read, member.set, member.remove, task.kill");
        for (text, hint) in [
            ("task.frob", "of task there are task.read"),
            ("tusk.read", "the object is one of access, account"),
            ("*", "written object.verb"),
            ("task", "of task there are"),
            ("tas.*", "written object.verb"),
            ("", "written object.verb"),
        ] {
            let error = PermissionSet::read(["task.read", text]).unwrap_err();
            assert_eq!(error.index, 1);
            assert!(error.to_string().contains(hint), "{error}");
        }
    }

    #[test]
    fn a_stored_permission_that_is_not_known_grants_nothing() {
        let set: PermissionSet =
            serde_json::from_str(r#"["task.read", "moon.land", "task.read"]"#).unwrap();
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["task.read"]"#);
        let none: PermissionSet = serde_json::from_str(r#"["moon.land"]"#).unwrap();
        assert!(none.is_empty());
        for role in Role::ALL {
            let set = PermissionSet::of_role(*role);
            let text = serde_json::to_string(&set).unwrap();
            assert_eq!(serde_json::from_str::<PermissionSet>(&text).unwrap(), set);
        }
    }
}
