//! `log`: words of a step.

use mlua::{Result, Value, Variadic};

use super::{Described, Installer, Module, acting};
use crate::value;
use crate::value::to_json;

pub(crate) const MODULE: Module = Module {
    name: "log",
    about: "Words of a step. They are kept with its output, in the order in which they were said.",
    functions: &[
        Described {
            name: "info",
            signature: "(...)",
            about: "Says something.",
            example: "log.info('built', 3, 'files')",
        },
        Described {
            name: "warn",
            signature: "(...)",
            about: "Says that something is odd.",
            example: "log.warn('no cache')",
        },
        Described {
            name: "warning",
            signature: "(...)",
            about: "The same as `log.warn`.",
            example: "log.warning('no cache')",
        },
        Described {
            name: "error",
            signature: "(...)",
            about: "Says that something is wrong. The step fails only when its body says so.",
            example: "log.error('cannot build')",
        },
        Described {
            name: "debug",
            signature: "(...)",
            about: "Says something for people who look closely.",
            example: "log.debug('x = ', 1)",
        },
        Described {
            name: "success",
            signature: "(...)",
            about: "Says that something went well.",
            example: "log.success('done')",
        },
        Described {
            name: "print",
            signature: "(...)",
            about: "Says something, as it stands.",
            example: "log.print('as it stands')",
        },
        Described {
            name: "table",
            signature: "(value[, title])",
            about: "Shows a value with everything in it.",
            example: "log.table({ a = 1, b = { 2, 3 } }, 'settings')",
        },
    ],
    install,
};

fn words(values: &Variadic<Value>) -> Result<String> {
    Ok(values.iter().map(value::words).collect::<Result<Vec<_>>>()?.join(" "))
}

fn install(module: &mut Installer<'_>) -> Result<()> {
    for (name, mark) in [
        ("info", ""),
        ("print", ""),
        ("success", ""),
        ("debug", "debug: "),
        ("warn", "warning: "),
        ("warning", "warning: "),
        ("error", "error: "),
    ] {
        module.act_quietly(name, move |_, values: Variadic<Value>| {
            let text = format!("{mark}{}", words(&values)?);
            if matches!(name, "warn" | "warning" | "error") {
                acting().complain(&text);
            } else {
                acting().say(&text);
            }
            Ok(())
        })?;
    }
    module.act_quietly("table", |_, (value, title): (Value, Option<String>)| {
        let shown = serde_json::to_string_pretty(&to_json(&value)?).unwrap_or_default();
        match title {
            Some(title) => acting().say(&format!("{title}: {shown}")),
            None => acting().say(&shown),
        }
        Ok(())
    })
}
