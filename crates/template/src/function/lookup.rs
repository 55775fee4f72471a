//! Functions that ask for something that is not in the value itself: parameters, resources, attributes, files.

use serde_json::Value;

use super::dialect::{Dialect, Function};
use super::python;
use super::scope::{Facade, select};
use super::{Call, Context, Expr, ResolveError, values};
use crate::diagnostic::Fault;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lookup {
    GetParam(Expr),
    /// `Ref` where only parameters may be meant.
    ParamRef(Expr),
    GetResource(Expr),
    /// A resource when there is one, or else a parameter.
    Ref(Expr),
    Attribute(Attribute),
    File(Expr),
    FindInMap(Box<[Expr; 3]>),
    Zones(Expr),
    Facade(Facade),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attribute {
    pub resource: Expr,
    /// Without it, all are meant.
    pub attribute: Option<Expr>,
    pub path: Vec<Expr>,
    /// Whether the path is walked here instead of by the resource.
    pub selects: bool,
}

impl Lookup {
    pub fn read(
        name: &str,
        function: Function,
        dialect: Dialect,
        arguments: Expr,
    ) -> Result<Lookup, String> {
        Ok(match function {
            Function::GetParam => Lookup::GetParam(arguments),
            Function::GetResource => Lookup::GetResource(arguments),
            Function::GetAttr => Lookup::Attribute(Attribute::read(name, dialect, arguments)?),
            Function::GetAtt => Lookup::Attribute(Attribute::read_cfn(name, arguments)?),
            Function::GetFile => Lookup::File(arguments),
            Function::FindInMap => {
                let parts = arguments.into_items().ok().and_then(|items| items.try_into().ok());
                let form = "[mapping, key, value]";
                let wrong = || format!("Arguments to \"{name}\" must be of the form {form}");
                Lookup::FindInMap(Box::new(parts.ok_or_else(wrong)?))
            }
            Function::ResourceFacade => Lookup::Facade(facade(name, &HOT_FACADES, &arguments)?),
            Function::CfnResourceFacade => Lookup::Facade(facade(name, &CFN_FACADES, &arguments)?),
            _ => Lookup::Zones(arguments),
        })
    }

    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Lookup::GetParam(arguments)
            | Lookup::ParamRef(arguments)
            | Lookup::GetResource(arguments)
            | Lookup::Ref(arguments)
            | Lookup::File(arguments)
            | Lookup::Zones(arguments) => vec![arguments],
            Lookup::Attribute(Attribute { resource, attribute, path, .. }) => {
                std::iter::once(resource).chain(attribute).chain(path).collect()
            }
            Lookup::FindInMap(parts) => parts.iter().collect(),
            Lookup::Facade(_) => Vec::new(),
        }
    }

    pub fn resolve(&self, call: &Call, context: &Context<'_>) -> Result<Value, ResolveError> {
        let name = call.name;
        let scope = context.scope;
        let value = match self {
            Lookup::GetParam(arguments) => get_param(name, &arguments.value(context)?, context)?,
            Lookup::ParamRef(arguments) => param_ref(&arguments.value(context)?, context)?,
            Lookup::GetResource(arguments) => {
                scope.reference(&resource_name(call, &arguments.value(context)?)?)?
            }
            Lookup::Ref(arguments) => {
                let given = arguments.value(context)?;
                match scope.reference(&resource_name(call, &given)?) {
                    Err(error) if error.fault == Fault::InvalidReference => {
                        param_ref(&given, context)?
                    }
                    found => found?,
                }
            }
            Lookup::Attribute(attribute) => attribute.resolve(call, context)?,
            Lookup::File(arguments) => match arguments.value(context)? {
                Value::String(key) => Value::String(scope.file(&key)?),
                _ => {
                    let message = format!("Argument to \"{name}\" must be a string");
                    return Err(ResolveError::wrong(message));
                }
            },
            Lookup::FindInMap(parts) => find_in_map(parts, context)?,
            Lookup::Zones(arguments) => {
                arguments.value(context)?;
                Value::Array(scope.zones()?.into_iter().map(Value::String).collect())
            }
            Lookup::Facade(what) => scope.facade(*what)?,
        };
        context.meter.take(&value)?;
        Ok(value)
    }
}

fn get_param(name: &str, given: &Value, context: &Context<'_>) -> Result<Value, ResolveError> {
    if !python::is_true(given) {
        let message = format!("Function \"{name}\" must have arguments");
        return Err(ResolveError::wrong(message));
    }
    let (parameter, path) = match given {
        Value::String(_) => (given, &[][..]),
        Value::Array(items) => (&items[0], &items[1..]),
        _ => {
            let message = format!("Argument to \"{name}\" must be string or list");
            return Err(ResolveError::wrong(message));
        }
    };
    let Value::String(parameter) = parameter else {
        return Err(ResolveError::wrong(format!("Parameter name in \"{name}\" must be string")));
    };
    let value = context.scope.parameter(parameter)?;
    let found = path.iter().try_fold(value, |value, key| {
        let is_counted = matches!(value, Value::Array(_) | Value::String(_));
        match key {
            Value::String(text) if is_counted => {
                let index = i64::try_from(python::parse_whole(text)?).ok()?;
                python::item(&value, &Value::from(index))
            }
            _ => python::item(&value, key),
        }
    });
    Ok(found.unwrap_or_else(|| Value::String(String::new())))
}

fn param_ref(given: &Value, context: &Context<'_>) -> Result<Value, ResolveError> {
    let name = python::text(given);
    context.scope.parameter(&name).map_err(|error| match error.fault {
        Fault::ParameterMissing => ResolveError::reference(&name, "unknown"),
        _ => error,
    })
}

fn resource_name(call: &Call, given: &Value) -> Result<String, ResolveError> {
    match given {
        Value::String(name) => Ok(name.clone()),
        other => Err(ResolveError::reference(&python::text(other), &call.at.to_string())),
    }
}

fn find_in_map(parts: &[Expr; 3], context: &Context<'_>) -> Result<Value, ResolveError> {
    let [mapping, key, entry] = parts;
    let mapping = python::text(&mapping.value(context)?);
    let keys = [key.value(context)?, entry.value(context)?];
    let map = context.scope.mapping(&mapping)?;
    keys.iter().try_fold(map, |map, key| {
        python::item(&map, key).ok_or_else(|| {
            let key = python::text(key);
            ResolveError::wrong(format!("There is no \"{key}\" in the mapping \"{mapping}\""))
        })
    })
}

impl Attribute {
    fn read(name: &str, dialect: Dialect, arguments: Expr) -> Result<Attribute, String> {
        if dialect.attr_all() && arguments.is_void() {
            return Err(format!(
                "Arguments to \"{name}\" can be of the next forms: [resource_name] or \
                 [resource_name, attribute, (path), ...]"
            ));
        }
        let list = format!("Argument to \"{name}\" must be a list");
        let mut items = arguments.into_items().map_err(|_| list)?.into_iter();
        let selects = dialect.attr_selects();
        match (items.next(), items.next()) {
            (Some(resource), Some(attribute)) => {
                let attribute = Some(attribute);
                Ok(Attribute { resource, attribute, path: items.collect(), selects })
            }
            (Some(resource), None) if dialect.attr_all() => {
                Ok(Attribute { resource, attribute: None, path: Vec::new(), selects })
            }
            _ => Err(format!(
                "Arguments to \"{name}\" must be of the form [resource_name, attribute, (path), ...]"
            )),
        }
    }

    fn read_cfn(name: &str, arguments: Expr) -> Result<Attribute, String> {
        let parts: Option<[Expr; 2]> =
            arguments.into_items().ok().and_then(|items| items.try_into().ok());
        match parts {
            Some([resource, attribute]) => Ok(Attribute {
                resource,
                attribute: Some(attribute),
                path: Vec::new(),
                selects: true,
            }),
            None => Err(format!(
                "Arguments to \"{name}\" must be of the form [resource_name, attribute]"
            )),
        }
    }

    fn resolve(&self, call: &Call, context: &Context<'_>) -> Result<Value, ResolveError> {
        let resource = resource_name(call, &self.resource.value(context)?)?;
        let Some(attribute) = &self.attribute else {
            return context.scope.attribute(&resource, &[]);
        };
        let attribute = attribute.value(context)?;
        let path = values(&self.path, context)?;
        if self.selects {
            let value = context.scope.attribute(&resource, &[attribute])?;
            return Ok(select(&value, &path));
        }
        let whole: Vec<Value> = std::iter::once(attribute).chain(path).collect();
        context.scope.attribute(&resource, &whole)
    }
}

const HOT_FACADES: [&str; 3] = ["metadata", "deletion_policy", "update_policy"];
const CFN_FACADES: [&str; 3] = ["Metadata", "DeletionPolicy", "UpdatePolicy"];

fn facade(name: &str, words: &[&str; 3], arguments: &Expr) -> Result<Facade, String> {
    let given = arguments.as_text();
    match words.iter().position(|word| given == Some(word)) {
        Some(0) => Ok(Facade::Metadata),
        Some(1) => Ok(Facade::DeletionPolicy),
        Some(_) => Ok(Facade::UpdatePolicy),
        None => {
            Err(format!("Incorrect arguments to \"{name}\" should be one of: {}", words.join(", ")))
        }
    }
}
