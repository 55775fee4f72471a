//! A door for the fuzz targets (`crates/fuzz`) to what a text means. Nothing else uses it.

use mlua::chunk::Compiler;

/// The same for texts that do the same on the same lines; nothing for what is no program.
pub fn meaning(text: &str) -> Option<Vec<u8>> {
    let compiler = Compiler::new().set_optimization_level(0).set_debug_level(0);
    compiler.compile(text).ok()
}
