//! `math`: what is missing in that of the language, which stays as it is.
//!
//! `round` and `clamp` are those of Luau: its compiler knows them and would not look at others.

use mlua::{Function, Result};

use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "math",
    about: "The `math` of Lua, with everything it has, and some more. `math.e` and `math.phi` are numbers beside `math.pi`. Lists that are empty have no mean and the like: the answer is nil.",
    functions: &[
        Described {
            name: "abs",
            signature: "(number) -> number",
            about: "Without its sign.",
            example: "assert(math.abs(-3) == 3)",
        },
        Described {
            name: "ceil",
            signature: "(number) -> number",
            about: "The next whole number above.",
            example: "assert(math.ceil(2.1) == 3)",
        },
        Described {
            name: "floor",
            signature: "(number) -> number",
            about: "The next whole number below.",
            example: "assert(math.floor(-2.1) == -3)",
        },
        Described {
            name: "max",
            signature: "(number, ...) -> number",
            about: "The largest.",
            example: "assert(math.max(1, 5, 3) == 5)",
        },
        Described {
            name: "min",
            signature: "(number, ...) -> number",
            about: "The smallest.",
            example: "assert(math.min(4, 2, 3) == 2)",
        },
        Described {
            name: "pow",
            signature: "(number, exponent) -> number",
            about: "A power.",
            example: "assert(math.pow(2, 10) == 1024)",
        },
        Described {
            name: "sqrt",
            signature: "(number) -> number",
            about: "The square root.",
            example: "assert(math.sqrt(9) == 3)",
        },
        Described {
            name: "exp",
            signature: "(number) -> number",
            about: "A power of e.",
            example: "assert(math.abs(math.exp(1) - math.e) < 1e-12)",
        },
        Described {
            name: "log",
            signature: "(number[, base]) -> number",
            about: "The natural logarithm, or that to a base.",
            example: "assert(math.log(math.e) == 1 and math.log(8, 2) == 3)",
        },
        Described {
            name: "log10",
            signature: "(number) -> number",
            about: "The logarithm to base 10.",
            example: "assert(math.log10(1000) == 3)",
        },
        Described {
            name: "sin",
            signature: "(radians) -> number",
            about: "The sine.",
            example: "assert(math.abs(math.sin(math.pi / 2) - 1) < 1e-12)",
        },
        Described {
            name: "cos",
            signature: "(radians) -> number",
            about: "The cosine.",
            example: "assert(math.cos(0) == 1)",
        },
        Described {
            name: "tan",
            signature: "(radians) -> number",
            about: "The tangent.",
            example: "assert(math.abs(math.tan(math.pi / 4) - 1) < 1e-12)",
        },
        Described {
            name: "asin",
            signature: "(number) -> number",
            about: "The angle of a sine.",
            example: "assert(math.asin(1) == math.pi / 2)",
        },
        Described {
            name: "acos",
            signature: "(number) -> number",
            about: "The angle of a cosine.",
            example: "assert(math.acos(1) == 0)",
        },
        Described {
            name: "atan",
            signature: "(number) -> number",
            about: "The angle of a tangent.",
            example: "assert(math.abs(math.atan(1) - math.pi / 4) < 1e-12)",
        },
        Described {
            name: "atan2",
            signature: "(y, x) -> number",
            about: "The angle of a point.",
            example: "assert(math.atan2(0, -1) == math.pi)",
        },
        Described {
            name: "sinh",
            signature: "(number) -> number",
            about: "The hyperbolic sine.",
            example: "assert(math.sinh(0) == 0)",
        },
        Described {
            name: "cosh",
            signature: "(number) -> number",
            about: "The hyperbolic cosine.",
            example: "assert(math.cosh(0) == 1)",
        },
        Described {
            name: "tanh",
            signature: "(number) -> number",
            about: "The hyperbolic tangent.",
            example: "assert(math.tanh(0) == 0)",
        },
        Described {
            name: "random",
            signature: "([[low, ]high]) -> number",
            about: "A number from 0 up to 1, or a whole one up to the bound or between two.",
            example: "local a, b = math.random(), math.random(3)\nassert(a >= 0 and a < 1 and b >= 1 and b <= 3)\nassert(math.phi > 1.618 and math.phi < 1.619 and math.huge > 1e300)",
        },
        Described {
            name: "round",
            signature: "(number) -> number",
            about: "The nearest whole number; halves go away from zero.",
            example: "assert(math.round(2.5) == 3 and math.round(-2.5) == -3)",
        },
        Described {
            name: "clamp",
            signature: "(number, low, high) -> number",
            about: "The number, or the bound it is beyond.",
            example: "assert(math.clamp(5, 1, 3) == 3 and math.clamp(-5, 1, 3) == 1 and math.clamp(2, 1, 3) == 2)",
        },
        Described {
            name: "cbrt",
            signature: "(number) -> number",
            about: "The cube root.",
            example: "assert(math.cbrt(27) == 3)",
        },
        Described {
            name: "log2",
            signature: "(number) -> number",
            about: "The logarithm to base 2.",
            example: "assert(math.log2(8) == 3)",
        },
        Described {
            name: "random_int",
            signature: "(low, high) -> number",
            about: "A whole number between the two, both included.",
            example: "for _ = 1, 50 do\n  local n = math.random_int(1, 3)\n  assert(n >= 1 and n <= 3 and n == math.floor(n))\nend",
        },
        Described {
            name: "random_float",
            signature: "(low, high) -> number",
            about: "A number from the first up to the second.",
            example: "local n = math.random_float(1, 2)\nassert(n >= 1 and n < 2)",
        },
        Described {
            name: "seed",
            signature: "([number])",
            about: "From here on the same numbers come for the same seed; without one, others each time.",
            example: "math.seed(7)\nlocal a = math.random()\nmath.seed(7)\nassert(a == math.random())",
        },
        Described {
            name: "sum",
            signature: "(list) -> number",
            about: "All of a list together.",
            example: "assert(math.sum({ 1, 2, 3 }) == 6 and math.sum({}) == 0)",
        },
        Described {
            name: "mean",
            signature: "(list) -> number",
            about: "The mean of a list.",
            example: "assert(math.mean({ 1, 2, 6 }) == 3 and math.mean({}) == nil)",
        },
        Described {
            name: "median",
            signature: "(list) -> number",
            about: "What lies in the middle of a list.",
            example: "assert(math.median({ 9, 1, 5 }) == 5 and math.median({ 1, 2, 3, 4 }) == 2.5)",
        },
        Described {
            name: "mode",
            signature: "(list) -> number",
            about: "What is most often in a list; the smallest, where several are.",
            example: "assert(math.mode({ 3, 1, 3, 2 }) == 3 and math.mode({ 2, 1 }) == 1)",
        },
        Described {
            name: "variance",
            signature: "(list) -> number",
            about: "The variance of a list, as of all there is (not of a sample).",
            example: "assert(math.variance({ 2, 4, 4, 4, 5, 5, 7, 9 }) == 4)",
        },
        Described {
            name: "std_dev",
            signature: "(list) -> number",
            about: "The standard deviation of a list, as of all there is (not of a sample).",
            example: "assert(math.std_dev({ 2, 4, 4, 4, 5, 5, 7, 9 }) == 2)",
        },
    ],
    install,
};

type Of = fn(&[f64]) -> Option<f64>;

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.table.raw_set("e", std::f64::consts::E)?;
    module.table.raw_set("phi", 1.618_033_988_749_895)?;
    module.pure("cbrt", |_, number: f64| Ok(number.cbrt()))?;
    module.pure("log2", |_, number: f64| Ok(number.log2()))?;
    let random: Function = module.table.raw_get("random")?;
    module.pure("random_int", {
        let random = random.clone();
        move |_, (low, high): (f64, f64)| {
            if low > high {
                return Err(mlua::Error::runtime(
                    "math.random_int: the first number is above the second; swap them",
                ));
            }
            random.call::<f64>((low.ceil(), high.floor()))
        }
    })?;
    module.pure("random_float", move |_, (low, high): (f64, f64)| {
        Ok(low + random.call::<f64>(())? * (high - low))
    })?;
    let seed: Function = module.table.raw_get("randomseed")?;
    module.pure("seed", move |_, number: Option<f64>| {
        let any =
            || f64::from(u32::from_le_bytes(uuid::Uuid::new_v4().as_fields().0.to_le_bytes()));
        seed.call::<()>(number.unwrap_or_else(any))
    })?;
    let lists: [(&str, Of); 6] = [
        ("sum", |list| Some(list.iter().sum())),
        ("mean", mean),
        ("median", median),
        ("mode", mode),
        ("variance", variance),
        ("std_dev", |list| variance(list).map(f64::sqrt)),
    ];
    for (name, of) in lists {
        module.pure(name, move |_, list: Vec<f64>| Ok(of(&list)))?;
    }
    Ok(())
}

fn length(list: &[f64]) -> f64 {
    super::given::amount(list.len() as u64)
}

fn mean(list: &[f64]) -> Option<f64> {
    (!list.is_empty()).then(|| list.iter().sum::<f64>() / length(list))
}

fn sorted(list: &[f64]) -> Vec<f64> {
    let mut sorted = list.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median(list: &[f64]) -> Option<f64> {
    let sorted = sorted(list);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some(f64::midpoint(sorted[middle - 1], upper)) }
}

#[expect(clippy::float_cmp, reason = "the same number, not a near one")]
fn mode(list: &[f64]) -> Option<f64> {
    let sorted = sorted(list);
    let mut best: Option<(usize, f64)> = None;
    for run in sorted.chunk_by(|a, b| a == b) {
        if best.is_none_or(|(most, _)| run.len() > most) {
            best = Some((run.len(), run[0]));
        }
    }
    best.map(|(_, value)| value)
}

fn variance(list: &[f64]) -> Option<f64> {
    let mean = mean(list)?;
    Some(list.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / length(list))
}
