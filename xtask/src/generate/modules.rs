//! The modules of workflows: a page for people, and definitions for editors (LuaLS, EmmyLua).

use std::fmt::Write;

use hostler_lua::modules::{Described, Module, all};

fn sorted() -> Vec<&'static Module> {
    let mut modules: Vec<_> = all().collect();
    modules.sort_by_key(|module| module.name);
    modules
}

/// What there is, with examples.
pub fn page() -> String {
    let mut text = super::heading("Modules of workflows", "`crates/lua/src/modules`");
    text.push_str(
        "What bodies of tasks can use, without `require`. The examples are run as tests. `hostler workflow modules NAME` \
         prints the same; [hostler.lua](hostler.lua) teaches it to editors.\n\n",
    );
    let names: Vec<String> =
        sorted().iter().map(|module| format!("[{0}](#{0})", module.name)).collect();
    let _ = writeln!(text, "{}\n", names.join(" · "));
    for module in sorted() {
        let _ = writeln!(text, "## {}\n\n{}\n", module.name, module.about);
        for function in module.functions {
            let _ = writeln!(
                text,
                "### {}\n\n`{}`\n\n{}\n",
                full(module, function),
                call(module, function),
                function.about
            );
            if !function.example.is_empty() {
                let _ = writeln!(text, "```lua\n{}\n```\n", function.example.trim());
            }
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// `exec.run`; methods of objects are described as `repo:checkout` and stand as they are.
fn full(module: &Module, function: &Described) -> String {
    if function.name.contains(':') {
        function.name.to_owned()
    } else {
        format!("{}.{}", module.name, function.name)
    }
}

fn call(module: &Module, function: &Described) -> String {
    format!("{}{}", full(module, function), function.signature).replace('`', "'")
}

/// Definitions that editors read; nothing of it is ever run.
pub fn definitions() -> String {
    let mut text = String::from(
        "---@meta\n-- What workflows of Hostler can use, for LuaLS and EmmyLua. Generated from crates/lua by `cargo xtask gen`.\n",
    );
    text.push_str(WORDS);
    for module in sorted() {
        let _ = write!(
            text,
            "\n---{}\n---@class hostler.{}\n{1} = {{}}\n",
            one_line(module.about),
            module.name
        );
        for function in
            module.functions.iter().filter(|function| !function.name.contains([':', '.']))
        {
            let (arguments, results) = parts(function.signature);
            let _ = write!(
                text,
                "\n---{}\n---`{}`\n",
                one_line(function.about),
                one_line(&call(module, function))
            );
            for argument in &arguments {
                let optional = if argument.1 { "?" } else { "" };
                let _ = writeln!(text, "---@param {}{optional} any", argument.0);
            }
            if !results.is_empty() {
                let _ = writeln!(text, "---@return any # {results}");
            }
            let names: Vec<&str> = arguments.iter().map(|(name, _)| name.as_str()).collect();
            let _ = writeln!(
                text,
                "function {}.{}({}) end",
                module.name,
                function.name,
                names.join(", ")
            );
        }
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Names of arguments, whether each may be left out, and the words about results.
fn parts(signature: &str) -> (Vec<(String, bool)>, String) {
    let (inside, results) =
        signature.split_once("->").map_or((signature, ""), |(a, b)| (a, b.trim()));
    let inside = inside.trim().trim_start_matches('(').trim_end_matches(')');
    let mut found: Vec<(String, bool)> = Vec::new();
    let (mut depth, mut optional, mut word, mut is_table) =
        (0_usize, 0_usize, String::new(), false);
    let mut finish = |word: &mut String, is_table: &mut bool, optional: usize| {
        let name: String =
            word.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let name = match name.as_str() {
            _ if *is_table => "options".to_owned(),
            "" if word.contains("...") => "...".to_owned(),
            "end" | "function" | "repeat" | "in" | "for" | "if" => format!("{name}_"),
            _ => name,
        };
        let is_new = !name.is_empty() && !found.iter().any(|(known, _)| *known == name);
        if is_new {
            found.push((name, optional > 0));
        }
        word.clear();
        *is_table = false;
    };
    for c in inside.chars() {
        match c {
            '{' => {
                depth += 1;
                is_table = true;
            }
            '}' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '[' => {
                finish(&mut word, &mut is_table, optional);
                optional += 1;
            }
            ']' => {
                finish(&mut word, &mut is_table, optional);
                optional = optional.saturating_sub(1);
            }
            ',' => finish(&mut word, &mut is_table, optional),
            c => word.push(c),
        }
    }
    finish(&mut word, &mut is_table, optional);
    (found, results.to_owned())
}

/// The words of the language itself.
const WORDS: &str = r#"
---@class hostler.Task
---@field description fun(self, text: string): hostler.Task
---@field command fun(self, command: string|string[]|fun(this, params: table, deps: table): any): hostler.Task
---@field run fun(self, command: any): hostler.Task
---@field workdir fun(self, path: string): hostler.Task
---@field user fun(self, name: string): hostler.Task
---@field shell fun(self, shell: string): hostler.Task
---@field timeout fun(self, time: string|number): hostler.Task
---@field delegate_to fun(self, where: string|table|function, options?: table): hostler.Task
---@field depends_on fun(self, ...: string|hostler.Task|table): hostler.Task
---@field next_if_fail fun(self, ...: string|table): hostler.Task
---@field retries fun(self, count: integer, strategy?: "fixed"|"linear"|"exponential", delay?: string|number): hostler.Task
---@field max_retry_delay fun(self, time: string|number): hostler.Task
---@field retry_jitter fun(self, percent: integer): hostler.Task
---@field async fun(self, value?: boolean): hostler.Task
---@field artifacts fun(self, patterns: string|string[]): hostler.Task
---@field consumes fun(self, names: string|string[]): hostler.Task
---@field run_if fun(self, condition: string|function|boolean): hostler.Task
---@field condition fun(self, condition: string|function|boolean): hostler.Task
---@field abort_if fun(self, condition: string|function|boolean): hostler.Task
---@field pre_hook fun(self, hook: function): hostler.Task
---@field post_hook fun(self, hook: function): hostler.Task
---@field on_success fun(self, handler: fun(this, params: table, output: table)): hostler.Task
---@field on_failure fun(self, handler: fun(this, params: table, err: table)): hostler.Task
---@field on_fail fun(self, handler: fun(this, params: table, err: table)): hostler.Task
---@field on_timeout fun(self, handler: function): hostler.Task
---@field on_retry fun(self, handler: function): hostler.Task
---@field on_skip fun(self, handler: function): hostler.Task
---@field env fun(self, variables: table|string, value?: string): hostler.Task
---@field params fun(self, params: table): hostler.Task
---@field tags fun(self, tags: string[]): hostler.Task
---@field health_check fun(self, check: string|function): hostler.Task
---@field compensate fun(self, undo: string|function): hostler.Task
---@field continue_on_error fun(self, value: boolean): hostler.Task
---@field uses fun(self, task: hostler.Task|table): hostler.Task
---@field build fun(self): hostler.Task

---@class hostler.Workflow
---@field description fun(self, text: string): hostler.Workflow
---@field version fun(self, text: string): hostler.Workflow
---@field tasks fun(self, tasks: table): hostler.Workflow
---@field config fun(self, config: table): hostler.Workflow
---@field on_start fun(self, handler: function): hostler.Workflow
---@field on_complete fun(self, handler: fun(success: boolean, results: table)): hostler.Workflow
---@field on_task_start fun(self, handler: fun(name: string)): hostler.Workflow
---@field on_task_complete fun(self, handler: fun(name: string, success: boolean)): hostler.Workflow
---@field on_success fun(self, handler: fun(results: table)): hostler.Workflow
---@field on_failure fun(self, handler: fun(results: table)): hostler.Workflow
---@field delegate_to fun(self, where: any): hostler.Workflow
---@field metadata fun(self, metadata: table): hostler.Workflow
---@field build fun(self): hostler.Workflow

---@param name string
---@return hostler.Task
function task(name) end

---@class hostler.workflow
---@field define fun(name: string, body?: table): hostler.Workflow
---@field parallel fun(...): table
---@field sequence fun(...): table
---@field conditional fun(condition: any, ...): table
---@field saga fun(name: string, steps: table): table
---@field approval fun(name: string, options?: table): hostler.Task
workflow = {}

---@param tasks table
---@return table
function parallel(tasks) end

---@param tasks table
---@return table
function chain(tasks) end

---@param condition any
---@return any
function when(condition, ...) end

---@param path string
---@return any
function import(path) end

---@type table<string, any>
values = {}

---Secrets that were given with `--secret`, by their names; known in bodies only.
---@type table<string, string>
secrets = {}

---A secret, or nil and why there is none.
---@param name string
---@return string|nil, string|nil
function secrets.get(name) end
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_from_signatures() {
        let names = |signature: &str| {
            let (arguments, _) = parts(signature);
            let shown = arguments
                .iter()
                .map(|(name, optional)| format!("{name}{}", if *optional { "?" } else { "" }));
            shown.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("(command[, { workdir, env }]) -> result, error"), "command options?");
        assert_eq!(names("(...)"), "...");
        assert_eq!(names("(a, b[, c[, d]])"), "a b c? d?");
        assert_eq!(names("{ path, line }"), "options");
        assert_eq!(names("()"), "");
    }
}
