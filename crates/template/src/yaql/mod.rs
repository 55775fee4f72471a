//! The query language of the function `yaql`: the part of it that templates use.
//!
//! ```text
//! $.data.servers.where($.role = web).select($.address).join(',')
//! let(c => $.data.cred) -> $c.get($.data.name, {}).keys().last(default => '')
//! dict($.data.groups.items().select([$[0], $[1].len()]))
//! ```
//!
//! An expression is read once (`lex`, `parse`: to a tree, by how tightly operators bind), while the template
//! is; what is wrong with it is said then. So is every function that there is not, and every one that the
//! whole language has and this part has not: an expression never fails half way because of it. Then it is
//! evaluated as often as wanted (`machine`), with the functions of `library`.
//!
//! `$` is the data at first, and in the lambda of a query the value that it is asked of: `where($ > 1)`. What
//! a query gives (a stream) is not a list: it has no index and has to be made a list to be compared.
//! Everything is computed at once and not when it is needed; that shows only where something fails that
//! nobody would have looked at.
//!
//! Limits are those that clients know: no collection of more than [`ITEMS_MAX`] values is gone through or
//! given back, no single list or text of more than [`QUOTA`] bytes is the result of any call. Beyond them
//! there are a number of steps and a size that no expression gets past, however it is written, so that a
//! template cannot keep a server busy.

mod lex;
mod library;
mod machine;
mod parse;
mod tree;
mod trouble;
mod value;

use serde_json::Value;

use crate::function::{Context, Expr, ResolveError};

/// Bytes of an expression.
const TEXT_MAX: usize = 64 << 10;
/// Levels of an expression.
const DEPTH_MAX: usize = 80;
/// Values that one collection may have.
const ITEMS_MAX: usize = 200;
/// Bytes that a list or a text may have that is the result of a call.
const QUOTA: usize = 10_000;

/// The function: an expression and its data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Yaql {
    expression: Expression,
    data: Expr,
}

#[derive(Clone, Debug, PartialEq)]
enum Expression {
    Read(tree::Tree),
    /// Made by another function.
    Open(Expr),
}

impl Yaql {
    pub fn read(name: &str, arguments: Expr) -> Result<Yaql, String> {
        let Ok(entries) = arguments.into_entries() else {
            return Err(format!("Arguments to \"{name}\" must be a map."));
        };
        let (mut expression, mut data, mut is_known) = (None, None, true);
        for (key, value) in entries {
            match key.as_str() {
                "expression" => expression = Some(value),
                "data" => data = Some(value),
                _ => is_known = false,
            }
        }
        let (Some(expression), true) = (expression, is_known) else {
            return Err(format!(
                "\"{name}\" syntax should be {name}:\n  expression: $.data.var1.sum()\n  \
                 data:\n    var1: [3, 2, 1]"
            ));
        };
        let expression = match expression {
            Expr::Call(_) => Expression::Open(expression),
            Expr::Plain(value) => Expression::Read(read(name, &value)?),
            _ => return Err(no_text(name)),
        };
        let data = data.unwrap_or_else(|| Expr::Plain(Value::Object(serde_json::Map::new())));
        Ok(Yaql { expression, data })
    }

    pub fn parts(&self) -> Vec<&Expr> {
        match &self.expression {
            Expression::Read(_) => vec![&self.data],
            Expression::Open(expression) => vec![expression, &self.data],
        }
    }

    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let opened;
        let tree = match &self.expression {
            Expression::Read(tree) => tree,
            Expression::Open(expression) => {
                let value = expression.value(context)?;
                opened = read(name, &value).map_err(ResolveError::wrong)?;
                &opened
            }
        };
        let data = self.data.value(context)?;
        let result = machine::evaluate(tree, &data);
        let result = result.map_err(|trouble| ResolveError::wrong(trouble.message()))?;
        context.meter.take(&result)?;
        Ok(result)
    }
}

fn no_text(name: &str) -> String {
    format!("The \"expression\" argument to {name} must contain a string.")
}

fn read(name: &str, expression: &Value) -> Result<tree::Tree, String> {
    let text = expression.as_str().ok_or_else(|| no_text(name))?;
    parse::parse(text).map_err(|message| format!("Bad expression {message}."))
}
