//! A file that others ask for with `require`: it is run once by itself, so that whatever is wrong with it is told to
//! whoever keeps it, and not to everybody who uses it.

use std::collections::BTreeSet;
use std::rc::Rc;

use hostler_model::workflow::Place;

use super::ground::Ground;
use super::imports::is_taken;
use super::{Given, Remark};
use crate::diagnose::{Mistake, Mistakes};
use crate::source::{Bundle, Files, Library};

/// The text of a module that is to be called `name`, with that of everything it needs, and what is odd about it.
pub fn module(
    name: &str,
    file: &str,
    text: &str,
    files: Box<dyn Files>,
    given: &Given,
) -> Result<(Bundle, Vec<Remark>), Mistakes> {
    let top = |line| Place { file: file.to_owned(), line };
    if is_taken(name) {
        let detail = format!(
            "`{name}` is a module of Hostler, which would be found first; give it another name with --name"
        );
        return Err(Mistakes(vec![Mistake::at(top(0), detail)], Vec::new()));
    }
    let library = Rc::new(Library::new(files));
    let ground = Ground::new(file, text, library, given, &BTreeSet::new(), None)?;
    let returned = ground.run()?.map_err(|error| ground.failed(&error))?;
    let mut remarks = ground.missing.clone();
    if returned.is_nil() {
        let detail = "it returns nothing; end it with `return` and a table of its functions";
        remarks.push(Remark { place: top(0), detail: detail.to_owned() });
    }
    for (what, place) in ground.scene.deferred.borrow().iter() {
        let detail =
            format!("`{what}` does nothing while a module is loaded; call it in a function");
        remarks.push(Remark { place: place.clone(), detail });
    }
    if given.strict && !remarks.is_empty() {
        let told = |remark: &Remark| Mistake::at(remark.place.clone(), remark.detail.clone());
        return Err(Mistakes(remarks.iter().map(told).collect(), Vec::new()));
    }
    Ok((ground.bundle(), remarks))
}
