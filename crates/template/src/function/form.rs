//! The shapes of all functions. A [`Form`] is a function whose arguments have the shape that it needs; it is
//! made once, while reading, and carried out as often as wanted.

use serde_json::Value;

use super::dialect::{Dialect, Function};
use super::list::{Concat, Contains, Filter, Select};
use super::logic::{Condition, If};
use super::lookup::Lookup;
use super::map::{MapMerge, MapReplace, MemberList};
use super::repeat::Repeat;
use super::text::{Identity, Join, Replace, Split};
use super::url::MakeUrl;
use super::{Call, Context, Expr, ResolveError};
use crate::yaql::Yaql;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Lookup(Lookup),
    Join(Join),
    Split(Split),
    Replace(Replace),
    Digest(Expr),
    Identity(Identity),
    Repeat(Repeat),
    MapMerge(MapMerge),
    MapReplace(MapReplace),
    MemberList(MemberList),
    Concat(Concat),
    Filter(Filter),
    Contains(Contains),
    Select(Select),
    MakeUrl(MakeUrl),
    Yaql(Yaql),
    Condition(Condition),
    If(If),
}

impl Form {
    /// What a function is with these arguments, or why it is nothing. `if` is not read here.
    pub fn read(
        name: &'static str,
        function: Function,
        dialect: Dialect,
        is_condition: bool,
        arguments: Expr,
    ) -> Result<Form, String> {
        use Function as F;
        Ok(match function {
            F::GetParam
            | F::GetResource
            | F::GetAttr
            | F::GetAtt
            | F::GetFile
            | F::FindInMap
            | F::GetAzs
            | F::ResourceFacade
            | F::CfnResourceFacade => {
                Form::Lookup(Lookup::read(name, function, dialect, arguments)?)
            }
            F::Ref if is_condition => Form::Lookup(Lookup::ParamRef(arguments)),
            F::Ref => Form::Lookup(Lookup::Ref(arguments)),
            F::ListJoin if dialect.has_json_texts() => {
                Form::Join(Join::read_many(name, arguments)?)
            }
            F::ListJoin | F::Join => Form::Join(Join::read_one(name, arguments)?),
            F::StrSplit => Form::Split(Split::read(name, arguments)?),
            F::Split => Form::Split(Split::read_cfn(name, arguments)?),
            F::StrReplace | F::StrReplaceStrict | F::StrReplaceVstrict => {
                Form::Replace(Replace::read(name, function, dialect, arguments)?)
            }
            F::Replace => Form::Replace(Replace::read_cfn(name, arguments)?),
            F::Digest => Form::Digest(arguments),
            F::Base64 => Form::Identity(Identity(arguments)),
            F::Repeat => Form::Repeat(Repeat::read(name, dialect, arguments)?),
            F::MapMerge => Form::MapMerge(MapMerge(arguments)),
            F::MapReplace => Form::MapReplace(MapReplace(arguments)),
            F::MemberListToMap => Form::MemberList(MemberList::read(name, arguments)?),
            F::ListConcat => Form::Concat(Concat { lists: arguments, is_unique: false }),
            F::ListConcatUnique => Form::Concat(Concat { lists: arguments, is_unique: true }),
            F::Filter => Form::Filter(Filter::read(name, arguments)?),
            F::Contains => Form::Contains(Contains::read(name, arguments)?),
            F::Select => Form::Select(Select::read(name, arguments)?),
            F::MakeUrl => Form::MakeUrl(MakeUrl::read(name, arguments)?),
            F::Yaql => Form::Yaql(Yaql::read(name, arguments)?),
            F::Equals | F::Not | F::CfnNot | F::And | F::Or => {
                Form::Condition(Condition::read(name, function, arguments)?)
            }
            F::If => return Err(format!("\"{name}\" has no arguments that could be read")),
        })
    }

    /// Carries it out. Only an `if` that was not decided can give nothing at all.
    pub fn resolve(
        &self,
        call: &Call,
        context: &Context<'_>,
    ) -> Result<Option<Value>, ResolveError> {
        let name = call.name;
        match self {
            Form::Lookup(lookup) => lookup.resolve(call, context),
            Form::Join(join) => join.resolve(name, context),
            Form::Split(split) => split.resolve(name, context),
            Form::Replace(replace) => replace.resolve(name, context),
            Form::Digest(arguments) => super::digest::resolve(name, arguments, context),
            Form::Identity(identity) => identity.resolve(name, context),
            Form::Repeat(repeat) => repeat.resolve(name, context),
            Form::MapMerge(merge) => merge.resolve(name, context),
            Form::MapReplace(replace) => replace.resolve(name, context),
            Form::MemberList(list) => list.resolve(context),
            Form::Concat(concat) => concat.resolve(name, context),
            Form::Filter(filter) => filter.resolve(name, context),
            Form::Contains(contains) => contains.resolve(name, context),
            Form::Select(select) => select.resolve(name, context),
            Form::MakeUrl(url) => url.resolve(name, context),
            Form::Yaql(yaql) => yaql.resolve(name, context),
            Form::Condition(condition) => condition.resolve(context),
            Form::If(choice) => return choice.resolve(context),
        }
        .map(Some)
    }

    /// The values in it that functions may stand in, each with the way from the call to it.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Form::Lookup(lookup) => lookup.parts(),
            Form::Join(join) => join.parts(),
            Form::Split(split) => split.parts(),
            Form::Replace(replace) => vec![&replace.params, &replace.template],
            Form::Digest(arguments) => vec![arguments],
            Form::Identity(identity) => vec![&identity.0],
            Form::Repeat(repeat) => vec![&repeat.for_each, &repeat.template],
            Form::MapMerge(merge) => vec![&merge.0],
            Form::MapReplace(replace) => vec![&replace.0],
            Form::MemberList(list) => vec![&list.list],
            Form::Concat(concat) => vec![&concat.lists],
            Form::Filter(filter) => vec![&filter.values, &filter.list],
            Form::Contains(contains) => vec![&contains.value, &contains.sequence],
            Form::Select(select) => vec![&select.index, &select.from],
            Form::MakeUrl(url) => url.0.iter().map(|(_, value)| value).collect(),
            Form::Yaql(yaql) => yaql.parts(),
            Form::Condition(condition) => condition.parts(),
            Form::If(choice) => choice.parts(),
        }
    }
}
