//! Templates and environments, from text to what they mean.

mod catalogue;
mod environments;
mod function;
mod function_condition;
mod function_data;
mod function_limit;
mod function_lookup;
mod function_text;
mod mistakes;
mod stacks;
mod yaql;
