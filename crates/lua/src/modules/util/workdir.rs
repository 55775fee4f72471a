//! `workdir`: the directory in which the step works.

use std::path::PathBuf;

use mlua::Result;

use super::fs::told;
use super::given::{Text, done, place, would};
use crate::modules::{Described, Installer, Module, acting, empty_own, remove_tree};

pub(crate) const MODULE: Module = Module {
    name: "workdir",
    about: "The directory in which the step works, and directories below it.",
    functions: &[
        Described {
            name: "get",
            signature: "() -> path",
            about: "The directory in which the step works.",
            example: "assert(workdir.get():sub(1, 1) == '/')",
        },
        Described {
            name: "exists",
            signature: "([path]) -> boolean",
            about: "Whether it is there, or a directory of that path.",
            example: "assert(workdir.exists() and not workdir.exists('a'))",
        },
        Described {
            name: "create",
            signature: "([path]) -> true | false, error",
            about: "Makes it, or a directory of that path, with those above it.",
            example: "assert(workdir.create('a/b') and workdir.exists('a/b'))",
        },
        Described {
            name: "cleanup",
            signature: "([path]) -> true | false, error",
            about: "Removes what is in it, or a directory of that path with everything in it. What the machine needs (`/`, `/etc`, homes) and the directory in which the execution was started are refused.",
            example: "workdir.create('a/b')\nassert(workdir.cleanup('a') and not workdir.exists('a'))\nfs.write('x', '')\nassert(workdir.cleanup() and workdir.exists() and #fs.ls('.') == 0)",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act("get", |_, ()| Ok(acting().workdir.to_string_lossy().into_owned()))?;
    module
        .act("exists", |_, path: Option<Text>| Ok(named(path).is_ok_and(|path| path.is_dir())))?;
    module.act("create", |_, path: Option<Text>| {
        let made = named(path).and_then(|path| {
            if would(|| format!("make the directory {}", path.display())) {
                return Ok(());
            }
            std::fs::create_dir_all(&path).map_err(told("make the directory", &path))
        });
        Ok(done(made))
    })?;
    module.act_async("cleanup", |_, path: Option<Text>| async move {
        Ok(done(match path.map(|path| place(&path)) {
            Some(Ok(path)) if would(|| format!("remove {}", path.display())) => Ok(()),
            None if would(|| "empty the directory of the step".to_owned()) => Ok(()),
            Some(Ok(path)) => remove_tree(&path).await.map(drop),
            Some(Err(why)) => Err(why),
            None => empty_own().await,
        }))
    })
}

fn named(path: Option<Text>) -> std::result::Result<PathBuf, String> {
    path.map_or_else(|| Ok(acting().workdir.clone()), |path| place(&path))
}
