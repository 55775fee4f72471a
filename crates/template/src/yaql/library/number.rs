//! Numbers and types.

use super::super::tree::Infix;
use super::super::trouble::Trouble;
use super::super::value::Val;
use super::Shape::Function;
use super::{Arguments, Builtin};
use crate::function::python::{self, Numeric};

type Outcome = Result<Val, Trouble>;

pub(super) const TABLE: &[Builtin] = &[
    Builtin { name: "int", shape: Function, parameters: &["value"], run: int },
    Builtin { name: "float", shape: Function, parameters: &["value"], run: float },
    Builtin { name: "bool", shape: Function, parameters: &["value"], run: boolean },
    Builtin { name: "abs", shape: Function, parameters: &["op"], run: abs },
    Builtin { name: "sign", shape: Function, parameters: &["num"], run: sign },
    Builtin { name: "round", shape: Function, parameters: &["number", "ndigits"], run: round },
    Builtin { name: "pow", shape: Function, parameters: &["a", "b"], run: pow },
    Builtin { name: "max", shape: Function, parameters: &["a", "b"], run: max },
    Builtin { name: "min", shape: Function, parameters: &["a", "b"], run: min },
    Builtin { name: "hex", shape: Function, parameters: &["num"], run: hex },
    Builtin { name: "isInteger", shape: Function, parameters: &["value"], run: is_integer },
    Builtin { name: "isNumber", shape: Function, parameters: &["value"], run: is_number },
    Builtin { name: "isBoolean", shape: Function, parameters: &["value"], run: is_boolean },
];

fn not_a_number(value: &Val) -> Trouble {
    Trouble::Other(format!("{} is not a number", value.shown()))
}

fn int(given: &Arguments<'_>) -> Outcome {
    let value = given.needed(0)?;
    let whole = match &value {
        Val::Null => Some(0),
        Val::Bool(value) => Some(i128::from(*value)),
        Val::Text(text) => python::parse_whole(text),
        other => other.numeric().and_then(Numeric::whole),
    };
    whole.map(Val::Whole).ok_or_else(|| not_a_number(&value))
}

fn float(given: &Arguments<'_>) -> Outcome {
    let value = given.needed(0)?;
    let real = match &value {
        Val::Null => Some(0.0),
        Val::Bool(value) => Some(f64::from(u8::from(*value))),
        Val::Text(text) => text.trim().parse().ok(),
        other => other.numeric().map(Numeric::real),
    };
    let real = real.filter(|real| real.is_finite());
    real.map(Val::Real).ok_or_else(|| not_a_number(&value))
}

fn boolean(given: &Arguments<'_>) -> Outcome {
    Ok(Val::Bool(given.needed(0)?.is_true()))
}

fn number(given: &Arguments<'_>, index: usize) -> Result<Numeric, Trouble> {
    given.needed(index)?.numeric().ok_or_else(|| given.no_match())
}

fn abs(given: &Arguments<'_>) -> Outcome {
    match number(given, 0)? {
        Numeric::Whole(whole) => whole.checked_abs().map(Val::Whole).ok_or_else(Trouble::overflow),
        Numeric::Real(real) => Ok(Val::Real(real.abs())),
    }
}

fn sign(given: &Arguments<'_>) -> Outcome {
    let number = number(given, 0)?;
    Ok(Val::Whole(match number.order(Numeric::Whole(0)) {
        Some(std::cmp::Ordering::Greater) => 1,
        Some(std::cmp::Ordering::Less) => -1,
        _ => 0,
    }))
}

/// Halves go to the even neighbour.
fn round(given: &Arguments<'_>) -> Outcome {
    let digits = given.whole(1)?.unwrap_or(0);
    match number(given, 0)? {
        Numeric::Whole(whole) if digits >= 0 => Ok(Val::Whole(whole)),
        Numeric::Whole(_) => Err(given.no_match()),
        Numeric::Real(real) => {
            let digits = i32::try_from(digits.clamp(-300, 300)).map_err(|_| given.no_match())?;
            let scale = 10_f64.powi(digits);
            let scaled = (real * scale).round_ties_even() / scale;
            Ok(Val::Real(if scaled.is_finite() { scaled } else { real }))
        }
    }
}

fn pow(given: &Arguments<'_>) -> Outcome {
    match (number(given, 0)?, number(given, 1)?) {
        (Numeric::Whole(base), Numeric::Whole(power)) if power >= 0 => {
            let power = u32::try_from(power).map_err(|_| Trouble::overflow())?;
            base.checked_pow(power).map(Val::Whole).ok_or_else(Trouble::overflow)
        }
        (base, power) => {
            let real = base.real().powf(power.real());
            match real.is_finite() {
                true => Ok(Val::Real(real)),
                false => Err(Trouble::overflow()),
            }
        }
    }
}

fn max(given: &Arguments<'_>) -> Outcome {
    larger(given, given.needed(0)?, given.needed(1)?)
}

fn min(given: &Arguments<'_>) -> Outcome {
    smaller(given, given.needed(0)?, given.needed(1)?)
}

/// The second when it is larger.
pub(super) fn larger(given: &Arguments<'_>, a: Val, b: Val) -> Outcome {
    let is_larger = given.machine.order(Infix::Greater, &b, &a)?.is_gt();
    Ok(if is_larger { b } else { a })
}

/// The first when the second is larger.
pub(super) fn smaller(given: &Arguments<'_>, a: Val, b: Val) -> Outcome {
    let is_larger = given.machine.order(Infix::Greater, &b, &a)?.is_gt();
    Ok(if is_larger { a } else { b })
}

fn hex(given: &Arguments<'_>) -> Outcome {
    let number = given.needed_whole(0)?;
    let sign = if number < 0 { "-" } else { "" };
    Ok(Val::text(format!("{sign}0x{:x}", number.unsigned_abs())))
}

fn is_integer(given: &Arguments<'_>) -> Outcome {
    Ok(Val::Bool(matches!(given.needed(0)?, Val::Whole(_))))
}

fn is_number(given: &Arguments<'_>) -> Outcome {
    Ok(Val::Bool(given.needed(0)?.numeric().is_some()))
}

fn is_boolean(given: &Arguments<'_>) -> Outcome {
    Ok(Val::Bool(matches!(given.needed(0)?, Val::Bool(_))))
}
