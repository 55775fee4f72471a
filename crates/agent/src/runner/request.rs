//! What a run's directory is told: everything its child needs to become the program, or the keeper of a
//! container.

use std::collections::BTreeMap;

use hostler_model::workflow::JobOrder;
use hostler_model::{Hooks, Limits, Reservation, Runtime, TOKEN_FILE};

use super::{Shared, StartRun, steps};
use crate::container::{Plan, SECRETS_TARGET};
use crate::files::Files;
use crate::gpu::{about_gang, about_gpus};
use crate::proc::MARKER;
use crate::rundir::{Login, Request};
use crate::secrets::{ADDRESS_FILE, AUTHORITY_FILE, FILES, Given};

/// What this program is called with to carry out a step of a workflow.
pub const STEP: &str = "step";

pub fn request(shared: &Shared, start: StartRun) -> Request {
    let mut about = start.env;
    let gpus = shared.devices.get().map(|devices| devices.facts()).unwrap_or_default();
    about.extend(about_gpus(&start.reservation.gpus, &gpus, &start.spec.env));
    about.extend(about_gang(start.reservation.gang.as_ref(), &start.spec.env));
    about.extend([
        ("HOSTLER_TASK".to_owned(), start.task.to_string()),
        ("HOSTLER_WORKLOAD".to_owned(), start.task.to_string()),
        ("HOSTLER_PROJECT".to_owned(), start.project.to_string()),
        ("HOSTLER_NODE".to_owned(), start.node.to_string()),
        (MARKER.to_owned(), start.run_id.to_string()),
    ]);
    let has_identity = start.spec.identity.is_some();
    let secrets = (!start.spec.secrets.is_empty() || has_identity).then(|| Given {
        uses: start.spec.secrets.clone(),
        has_identity,
        dir: shared.secrets.vault.dir(start.run_id),
    });
    if let Some(dir) =
        secrets.as_ref().filter(|given| given.has_files()).and_then(|g| g.dir.as_ref())
    {
        let place = match start.spec.runtime {
            Runtime::Container => SECRETS_TARGET.to_owned(),
            Runtime::Process | Runtime::Lua => dir.join(FILES).to_string_lossy().into_owned(),
        };
        if has_identity {
            let at = |file: &str| format!("{place}/{file}");
            about.extend([
                ("HOSTLER_TOKEN_FILE".to_owned(), at(TOKEN_FILE)),
                ("HOSTLER_ADDR_FILE".to_owned(), at(ADDRESS_FILE)),
                ("HOSTLER_CACERT".to_owned(), at(AUTHORITY_FILE)),
            ]);
        }
        about.insert("HOSTLER_SECRETS".to_owned(), place);
    }
    let base = Request {
        run_id: start.run_id,
        placement_id: Some(start.placement_id),
        project: Some(start.project),
        boot_id: shared.boot_id.clone(),
        argv: Vec::new(),
        env: BTreeMap::new(),
        umask: start.spec.umask_bits(),
        workdir: None,
        user: None,
        group: None,
        limits: Limits::default(),
        hooks: Hooks::default(),
        reservation: Reservation::default(),
        login: shared.login.clone(),
        files: Files { inputs: start.spec.inputs.clone(), outputs: start.spec.outputs.clone() },
        secrets,
        container: None,
    };
    if start.spec.runtime == Runtime::Container {
        let env = BTreeMap::from([(MARKER.to_owned(), start.run_id.to_string())]);
        let (config, data_dir) = (&shared.config.containers, &shared.config.data_dir);
        let container =
            Plan::of(start.run_id, &start.spec, &start.reservation, about, config, data_dir)
                .map(|plan| Plan { secrets: base.secrets.as_ref().and_then(Given::files), ..plan });
        return Request { env, hooks: start.spec.hooks, container, ..base };
    }
    if start.spec.runtime == Runtime::Lua {
        let socket = crate::steps::socket(&shared.config.data_dir);
        about.insert(JobOrder::SOCKET.to_owned(), socket.to_string_lossy().into_owned());
    }
    let mut env = start.spec.env.clone();
    env.extend(about);
    Request {
        argv: match start.spec.runtime {
            Runtime::Lua => steps::argv(),
            Runtime::Process | Runtime::Container => start.spec.argv().into_owned(),
        },
        env,
        workdir: start.spec.workdir,
        user: start.spec.user.filter(|name| *name != shared.login.name),
        group: start.spec.group,
        limits: start.spec.limits,
        hooks: start.spec.hooks,
        reservation: start.reservation,
        ..base
    }
}

pub fn own_login() -> Login {
    let uid = nix::unistd::Uid::effective();
    match nix::unistd::User::from_uid(uid) {
        Ok(Some(user)) => Login::of(&user),
        Ok(None) | Err(_) => {
            Login { name: uid.to_string(), home: "/".to_owned(), shell: "/bin/sh".to_owned() }
        }
    }
}
