//! What clients are told, word for word, and what people are shown.

use hostler_template::diagnostic::Diagnostics;
use hostler_template::environment::Environment;
use hostler_template::parameter::Identity;
use hostler_template::template::Template;
use hostler_template::validate::Validator;
use serde_json::json;

use crate::catalogue::{Catalogue, check, files};

const V: &str = "heat_template_version: 2021-04-16\n";

fn wrong(template: &str, environment: &str) -> Diagnostics {
    match check(template, environment, &files([])) {
        Ok(_) => panic!("nothing is wrong with {template}"),
        Err(wrong) => wrong,
    }
}

#[test]
fn clients_are_told_what_they_have_always_been_told() {
    let property = "resources: {r: {type: OS::Heat::RandomString, properties: {";
    let test = "resources: {a: {type: OS::Heat::TestResource, properties: {";
    let value = "resources: {r: {type: OS::Heat::Value, properties: {value: ";
    let none = |rest: &str| format!("resources: {{{rest}}}");
    let parameter = |rest: &str| format!("parameters: {{p: {{{rest}}}}}");
    for (template, environment, kind, message) in [
        (
            format!("{property}length: 600}}}}}}"),
            "",
            "StackValidationFailed",
            "Property error: : resources.r.properties.length: : 600 is out of range (min: 1, max: 512)",
        ),
        (
            format!("{property}lenth: 6}}}}}}"),
            "",
            "StackValidationFailed",
            "Property error: : resources.r.properties: : Unknown Property lenth",
        ),
        (
            format!("{property}length: abc}}}}}}"),
            "",
            "StackValidationFailed",
            "Property error: : resources.r.properties.length: : Value 'abc' is not an integer",
        ),
        (
            "resources: {r: {type: OS::Heat::Value}}".into(),
            "",
            "StackValidationFailed",
            "Property error: : resources.r.properties: : Property value not assigned",
        ),
        (
            format!("{test}fail: '0'}}}}}}"),
            "",
            "StackValidationFailed",
            "Property error: : resources.a.properties.fail: : \"0\" is not a valid boolean",
        ),
        (
            format!("{test}value: {{a: 1}}}}}}}}"),
            "",
            "StackValidationFailed",
            "Property error: : resources.a.properties.value: : Value must be a string; got {'a': 1}",
        ),
        (
            format!("{property}character_classes: [{{class: x}}]}}}}}}"),
            "",
            "StackValidationFailed",
            "Property error: : resources.r.properties.character_classes[0].class: : \"x\" is not an allowed value [\"lettersdigits\", \"digits\"]",
        ),
        (
            format!("{value}{{get_resource: nope}}}}}}}}"),
            "",
            "InvalidTemplateReference",
            "The specified reference \"nope\" (in r.Properties.value) is incorrect.",
        ),
        (
            none("r: {type: OS::Heat::None, depends_on: nope}"),
            "",
            "InvalidTemplateReference",
            "The specified reference \"nope\" (in r) is incorrect.",
        ),
        (
            none(
                "a: {type: OS::Heat::None, depends_on: b}, b: {type: OS::Heat::None, depends_on: a}",
            ),
            "",
            "CircularDependencyException",
            "Circular Dependency Found: {NoneResource \"a\": {NoneResource \"b\"}, NoneResource \"b\": {NoneResource \"a\"}}",
        ),
        (
            format!("{value}1}}}}}}\noutputs: {{o: {{value: {{get_attr: [r, bogus]}}}}}}"),
            "",
            "StackValidationFailed",
            "outputs.o.value.get_attr: : The Referenced Attribute (r bogus) is incorrect.",
        ),
        ("foo: 1".into(), "", "StackValidationFailed", "The template section is invalid: foo"),
        (
            none("r: {type: OS::Heat::None, props: {}}"),
            "",
            "StackValidationFailed",
            "\"props\" is not a valid keyword inside a resource definition",
        ),
        (
            none("r: {properties: {}}"),
            "",
            "StackValidationFailed",
            "Each resource must contain a type key.",
        ),
        (
            none("r: {type: OS::Heat::Nope}"),
            "",
            "StackValidationFailed",
            "The Resource Type (OS::Heat::Nope) could not be found.",
        ),
        (
            parameter("type: string"),
            "",
            "UserParameterMissing",
            "The Parameter (p) was not provided.",
        ),
        (
            parameter("type: string"),
            "parameters: {zz: 1, p: a}",
            "UnknownUserParameter",
            "The Parameter (zz) was not defined in template.",
        ),
        (
            parameter("type: string, default: abcdef, constraints: [{length: {max: 3}}]"),
            "",
            "InvalidSchemaError",
            "Parameter 'p' is invalid: Invalid default abcdef (length (6) is out of range (min: None, max: 3))",
        ),
        (parameter("type: strng"), "", "InvalidSchemaError", "Invalid type (strng)"),
        (
            parameter("type: string, x: 1"),
            "",
            "InvalidSchemaError",
            "Invalid key 'x' for parameter (p)",
        ),
        (
            parameter("default: 1"),
            "",
            "InvalidSchemaError",
            "Missing parameter type for parameter: p",
        ),
        (
            parameter("type: string, constraints: [{range: {min: 1}}]"),
            "",
            "InvalidSchemaError",
            "Parameter 'p' is invalid: Range constraint invalid for string",
        ),
        (
            parameter("type: number"),
            "parameters: {p: abc}",
            "StackValidationFailed",
            "Parameter 'p' is invalid: could not convert string to float: 'abc'",
        ),
        (
            "conditions: {c: {equals: [1]}}".into(),
            "",
            "StackValidationFailed",
            "conditions.c.equals: : Arguments to \"equals\" must be of the form: [value_1, value_2]",
        ),
        (
            none("r: {type: OS::Heat::None, condition: nope}"),
            "",
            "StackValidationFailed",
            "resources.r.condition: : Invalid condition \"nope\"",
        ),
        (
            format!("{value}{{'Fn::Join': ['', []]}}}}}}}}"),
            "",
            "StackValidationFailed",
            "resources.r.properties.value.Fn::Join: : The template version is invalid: The function Fn::Join is not supported in this version of HOT.",
        ),
        (
            none("r: {type: OS::Heat::None, deletion_policy: keep}"),
            "",
            "StackValidationFailed",
            "Invalid deletion policy \"keep\"",
        ),
        (
            none("r: {type: OS::Heat::None, deletion_policy: Snapshot}"),
            "",
            "StackValidationFailed",
            "resources.r.deletion_policy: : \"Snapshot\" deletion policy not supported",
        ),
        (
            "parameters: {r: {type: string, default: a}}\nresources: {r: {type: OS::Heat::None}}"
                .into(),
            "",
            "StackValidationFailed",
            "Duplicate names {'r'}",
        ),
        (
            none("r: {type: OS::Heat::None, properties: []}"),
            "",
            "StackValidationFailed",
            "Resource r properties type must be object",
        ),
        (
            none("r/s: {type: OS::Heat::None}"),
            "",
            "StackValidationFailed",
            "Resource name may not contain \"/\"",
        ),
        (
            none(
                "r: {type: OS::Heat::None, external_id: x, depends_on: [s]}, s: {type: OS::Heat::None}",
            ),
            "",
            "InvalidExternalResourceDependency",
            "Invalid dependency with external OS::Heat::None resource: x",
        ),
        (
            none("r: {type: gone.yaml}"),
            "",
            "StackValidationFailed",
            "resources.r.type: : Could not fetch remote template \"gone.yaml\"",
        ),
        (
            none(
                "r: {type: OS::Heat::ResourceGroup, properties: {resource_def: {}}, update_policy: {roling: {}}}",
            ),
            "",
            "StackValidationFailed",
            "Property error: : resources.r.update_policy: : Unknown Property roling",
        ),
        (
            "outputs: {o: {description: x}}".into(),
            "",
            "StackValidationFailed",
            "Output validation error: : outputs.o: : Each output definition must contain a value key.",
        ),
        (
            "parameter_groups: [{label: g, parameters: [nope]}]".into(),
            "",
            "StackValidationFailed",
            "Parameter Groups error: : parameter_groups.g: : The grouped parameter nope does not reference a valid parameter.",
        ),
        (
            "resources: [a]".into(),
            "",
            "StackValidationFailed",
            "\"resources\" must contain a map of resource maps. Found a [<class 'list'>] instead",
        ),
        (
            String::new(),
            "bogus: 1",
            "HTTPBadRequest",
            "Environment not in valid format: environment has wrong section \"bogus\"",
        ),
        (
            String::new(),
            "parameters:",
            "HTTPBadRequest",
            "Environment not in valid format: environment has empty section \"parameters\"",
        ),
        (
            String::new(),
            "resource_registry: {resources: {r: {hooks: pre-crate}}}",
            "InvalidBreakPointHook",
            "Invalid hook type \"pre-crate\" for resource breakpoint, acceptable hook types are: ('pre-create', 'pre-update', 'pre-delete', 'post-create', 'post-update', 'post-delete')",
        ),
    ] {
        let wrong = wrong(&format!("{V}{template}\n"), environment);
        let first = wrong.first().unwrap();
        assert_eq!(first.api_message(), message, "{template}");
        assert_eq!(first.fault.heat_type(), kind, "{template}");
        assert_eq!(wrong.len(), 1, "{wrong}");
    }
}

#[test]
fn a_parameter_that_is_declared_wrongly_hides_nothing() {
    let template = "\
parameters:
  size: { type: number, default: many }
  name: { type: strng }
  other: { type: string, default: abcdef, constraints: [{ length: { max: 3 } }] }
resources:
  r: { type: OS::Heat::RandomString, properties: { length: 600 } }
  s: { type: OS::Heat::Nope, properties: { value: { get_param: size } } }
  t: { type: OS::Heat::Value, properties: { value: { get_param: nothing } } }
  u: { type: OS::Heat::RandomString, properties: { length: { get_param: size } } }
outputs:
  o: { value: { get_attr: [r, bogus] } }
";
    let wrong = wrong(&format!("{V}{template}"), "parameters: { zz: 1 }");
    let messages: Vec<String> = wrong.iter().map(|one| one.api_message()).collect();
    for part in [
        "Invalid default many",
        "Invalid type (strng)",
        "Invalid default abcdef",
        "(zz) was not defined",
        "600 is out of range",
        "(OS::Heat::Nope) could not be found",
        "The Parameter (nothing) was not provided.",
        "(r bogus) is incorrect",
    ] {
        let found = messages.iter().filter(|message| message.contains(part)).count();
        assert_eq!(found, 1, "{part}: {messages:#?}");
    }
    assert_eq!(wrong.len(), 8, "and nothing follows from what is wrong: {messages:#?}");
    assert_eq!(wrong.first().unwrap().fault.heat_type(), "InvalidSchemaError");
    assert!(wrong.iter().filter(|one| !one.message.contains("zz")).all(|one| one.place.is_some()));
    let strict = Template::from_text("t", &format!("{V}{template}")).unwrap_err();
    assert_eq!(strict.len(), 3, "who cannot go on with it is told what is wrong with it");
}

#[test]
fn what_values_say_is_merely_warned_of_where_nobody_asks_for_them() {
    let template = format!(
        "{V}parameters:\n  size: {{ type: number, default: '' }}\n  word: {{ type: string, constraints: [{{ length: {{ max: 2 }} }}] }}\n\
         resources:\n  r: {{ type: OS::Heat::RandomString, properties: {{ length: 600, salt: {{ get_param: nobody }} }} }}\n\
         \x20 f: {{ type: OS::Heat::Value, properties: {{ value: {{ get_file: gone }} }} }}\n  n: {{ type: inner.yaml }}\n"
    );
    let inner = format!(
        "{V}parameters: {{ p: {{ type: string }}, n: {{ type: number, default: '' }} }}\nresources: {{ x: {{ type: No::Such }} }}\n"
    );
    let (files, types) = (files([("inner.yaml", &inner)]), Catalogue::new());
    let environment = Environment::from_text("e", "parameters: { word: long }").unwrap();
    let identity = Identity::nobody();
    let eased = Validator {
        needs_values: false,
        checks_values: false,
        ..Validator::new(&types, &files, &identity)
    };
    let read = |text: &str| Template::of_value("t", &json!(text)).unwrap();
    let found = eased.check(&read(&template), &environment).unwrap();
    let warnings: Vec<String> = found.warnings.iter().map(|one| one.message.clone()).collect();
    for part in [
        "Invalid default",
        "length (4) is out of range",
        "(nobody) was not provided",
        "600 is out of range",
        "Property p not assigned",
        "(No::Such) could not be found",
    ] {
        assert!(warnings.iter().any(|one| one.contains(part)), "{part}: {warnings:#?}");
    }
    for (odd, part) in [
        (
            "  u: { type: OS::Heat::RandomString, properties: { lengths: 1 } }\n",
            "Unknown Property lengths",
        ),
        ("  u: { type: No::Such }\n", "(No::Such) could not be found"),
        ("  u: { type: OS::Heat::None, depends_on: nobody }\n", "(in u) is incorrect"),
        ("outputs: { o: { value: { get_attr: [r, bogus] } } }\n", "(r bogus) is incorrect"),
    ] {
        let wrong = eased.check(&read(&format!("{template}{odd}")), &environment).unwrap_err();
        assert!(wrong.first().unwrap().message.contains(part), "{wrong}");
    }
    let strict = Validator { needs_values: false, ..eased };
    let strict = Validator { checks_values: true, ..strict };
    assert_eq!(
        strict
            .check(&read(&template), &environment)
            .unwrap_err()
            .first()
            .unwrap()
            .fault
            .heat_type(),
        "InvalidSchemaError"
    );
}

#[test]
fn groups_are_looked_into_before_they_have_members() {
    let group = |rest: &str| {
        format!(
            "{V}parameters: {{ p: {{ type: string }} }}\nresources: {{ r: {{ type: OS::Heat::RandomString }}, g: {{ type: OS::Heat::ResourceGroup, properties: {{ {rest} }} }} }}\n"
        )
    };
    let inner = format!(
        "{V}parameters: {{ np: {{ type: string, constraints: [{{ length: {{ max: 2 }} }}] }} }}\n"
    );
    for (rest, part) in [
        (
            "resource_def: { type: No::Such }",
            "resources.g<nested_stack>: : The Resource Type (No::Such) could not be found.",
        ),
        (
            "resource_def: { type: OS::Heat::RandomString, properties: { lengths: 6 } }",
            "Property error: : resources.g<nested_stack>.resources[0].properties: : Unknown Property lengths",
        ),
        (
            "resource_def: { type: OS::Heat::RandomString, properties: { length: 'x%index%' } }",
            "Property error: : resources.g<nested_stack>.resources[0].properties.length: : Value 'x0' is not an integer",
        ),
        (
            "resource_def: { type: inner.yaml, properties: { np: n%index%-%index% } }",
            "Property error: : resources.g<nested_stack>.resources[0].properties.np: : length (4) is out of range (min: None, max: 2)",
        ),
        (
            "resource_def: { type: OS::Heat::Value, propertys: {} }",
            "\"propertys\" is not a valid keyword",
        ),
        ("resource_def: { type: OS::Heat::Value }", "Property value not assigned"),
    ] {
        let wrong = check(&group(rest), "parameters: { p: a }", &files([("inner.yaml", &inner)]))
            .unwrap_err();
        let first = wrong.first().unwrap();
        assert!(first.api_message().contains(part), "{rest}: {wrong}");
        assert!(first.place.is_some() && first.file.contains("yaml"), "{rest}: {first:?}");
    }
    for fine in [
        "count: 0, resource_def: { type: No::Such }",
        "resource_def: { type: OS::Heat::RandomString, properties: { length: '1%index%', salt: { get_attr: [r, value] } } }",
        "resource_def: { type: OS::Heat::Value, properties: { value: { get_resource: r } } }",
        "index_var: $n, resource_def: { type: OS::Heat::RandomString, properties: { length: 1$n } }",
        "resource_def: { type: { get_resource: r } }",
    ] {
        let found = check(&group(fine), "parameters: { p: a }", &files([]));
        assert!(found.is_ok(), "{fine}: {}", found.unwrap_err());
    }
    let many = "count: 3, resource_def: { type: inner.yaml, properties: { np: n } }";
    let (template, found) =
        check(&group(many), "parameters: { p: a }", &files([("inner.yaml", &inner)])).unwrap();
    let told = found.summary(&template, true)["NestedParameters"]["g"].clone();
    assert_eq!(told["Parameters"], json!({}));
    assert_eq!(told["NestedParameters"]["0"]["Parameters"]["np"]["MaxLength"], 2, "{told}");
}

#[test]
fn an_output_may_lead_nowhere_and_is_warned_of() {
    let inner = format!("{V}resources: {{}}\n");
    for (value, part) in [
        ("{ get_param: nobody }", "(nobody) was not provided"),
        ("{ get_param: OS::region }", "The Parameter (OS::region) was not provided."),
        ("{ get_resource: nobody }", "\"nobody\" (in unknown) is incorrect"),
        ("{ get_file: gone }", "get_file path: gone"),
        ("{ get_attr: [n, bogus] }", "(n bogus) is incorrect"),
    ] {
        let template = format!(
            "{V}resources: {{ n: {{ type: inner.yaml }} }}\noutputs: {{ o: {{ value: {value} }} }}\n"
        );
        let (_, found) = check(&template, "", &files([("inner.yaml", &inner)])).unwrap();
        assert!(found.warnings.iter().any(|one| one.message.contains(part)), "{value}");
    }
}

#[test]
fn a_condition_that_nobody_can_decide_yet_is_no_mistake() {
    let template = format!(
        "{V}parameters: {{ p: {{ type: string }}, q: {{ type: string, default: a }} }}\n\
         conditions: {{ c: {{ equals: [{{ get_param: p }}, a] }} }}\n\
         resources: {{ r: {{ type: OS::Heat::Value, properties: {{ value: {{ list_join: [',', [{{ if: [c, a, b] }}]] }} }} }} }}\n"
    );
    let (files, types, identity) = (files([]), Catalogue::new(), Identity::nobody());
    let validator = Validator { needs_values: false, ..Validator::new(&types, &files, &identity) };
    let template = Template::from_text("t", &template).unwrap();
    let found = validator.check(&template, &Environment::default()).unwrap();
    assert!(found.warnings.is_empty(), "{}", found.warnings);
}

#[test]
fn what_is_no_template_is_refused() {
    for (text, kind, message) in [
        (
            "resources: {}",
            "HTTPBadRequest",
            "Template not in valid format: Template format version not found.",
        ),
        (
            "[1]",
            "HTTPBadRequest",
            "Template not in valid format: The template is not a JSON object or YAML mapping.",
        ),
        (
            "just text",
            "HTTPBadRequest",
            "Template not in valid format: The template is not a JSON object or YAML mapping.",
        ),
        ("", "HTTPBadRequest", "Template not in valid format: Template format version not found."),
        (
            "heat_template_version: 2021-04-16\nHeatTemplateFormatVersion: '2012-12-12'",
            "InvalidTemplateVersion",
            "The template version is invalid: Ambiguous versions (heat_template_version, HeatTemplateFormatVersion)",
        ),
        (
            "HeatTemplateFormatVersion: '2099'",
            "InvalidTemplateVersion",
            "The template version is invalid: \"HeatTemplateFormatVersion: 2099\". \"HeatTemplateFormatVersion\" should be: 2012-12-12",
        ),
        (
            "heat_template_version: 2099-01-01",
            "InvalidTemplateVersion",
            "The template version is invalid: \"heat_template_version: 2099-01-01\". \"heat_template_version\" should be one of: 2013-05-23, 2014-10-16, 2015-04-30, 2015-10-15, 2016-04-08, 2016-10-14, 2017-02-24, 2017-09-01, 2018-03-02, 2018-08-31, 2021-04-16, newton, ocata, pike, queens, rocky, wallaby",
        ),
    ] {
        let wrong = Template::from_text("t", text).unwrap_err();
        let first = wrong.first().unwrap();
        assert_eq!((first.fault.heat_type(), first.api_message().as_str()), (kind, message));
    }
    let broken = Template::from_text("", "a: [1").unwrap_err();
    let message = broken.first().unwrap().api_message();
    assert!(
        message.starts_with("Template not in valid format: Error parsing template [root stack] ")
    );
    let large = json!({"heat_template_version": "2021-04-16", "description": "x".repeat(600_000)});
    let large = Template::from_value("t", &large).unwrap_err();
    assert_eq!(large.first().unwrap().fault.heat_type(), "RequestLimitExceeded");
}

#[test]
fn people_are_shown_everything_with_its_place() {
    let template = "\
heat_template_version: 2021-04-16
paramters: {}
parameters:
  size: {type: nmber}
resources:
  server:
    type: OS::Heat::RandomString
    propertys: {length: 6}
  other:
    type: OS::Heat::Value
    depends_on: [server, 5]
";
    insta::assert_snapshot!(wrong(template, ""), @r#"
    t.yaml:4:16: parameters.size.type: Invalid type (nmber)
       |
     4 |   size: {type: nmber}
       |                ^
      hint: did you mean `number`?

    t.yaml:2:1: paramters: The template section is invalid: paramters
       |
     2 | paramters: {}
       | ^
      hint: did you mean `parameters`?

    t.yaml:8:5: resources.server.propertys: "propertys" is not a valid keyword inside a resource definition
       |
     8 |     propertys: {length: 6}
       |     ^
      hint: did you mean `properties`?

    t.yaml:11:26: resources.other.depends_on[1]: Resource other depends_on must be a list of strings
        |
     11 |     depends_on: [server, 5]
        |                          ^
    "#);
}

#[test]
fn mistakes_in_values_are_shown_where_the_value_is() {
    let template = "\
heat_template_version: 2021-04-16
parameters:
  size: {type: number, constraints: [{range: {max: 9}}]}
  secret: {type: string, hidden: true, constraints: [{allowed_pattern: '[a-z]+'}]}
resources:
  one:
    type: OS::Heat::RandomStrin
  two:
    type: OS::Heat::RandomString
    properties:
      lenght: 6
      length: {get_param: siz}
      salt: {get_attr: [thre, value]}
  three:
    type: OS::Heat::Value
    properties:
      value: {get_attr: [two, valu]}
";
    let environment = "parameters:\n  size: 12\n  secret: HUSH\n  sise: 3\n";
    let wrong = wrong(template, environment);
    assert!(!wrong.to_string().contains("does not match pattern \"HUSH"), "{wrong}");
    insta::assert_snapshot!(wrong, @r#"
    env.yaml:4:9: parameters.sise: The Parameter (sise) was not defined in template.
       |
     4 |   sise: 3
       |         ^
      hint: did you mean `size`?

    env.yaml:2:9: parameters.size: Parameter 'size' is invalid: 12 is out of range (min: None, max: 9)
       |
     2 |   size: 12
       |         ^

    env.yaml:3:11: parameters.secret: Parameter 'secret' is invalid: ****** does not match pattern "[a-z]+"
       |
     3 |   secret: HUSH
       |           ^

    t.yaml:13:14: resources.two.properties.salt.get_attr: The specified reference "thre" (in two.Properties.salt) is incorrect.
        |
     13 |       salt: {get_attr: [thre, value]}
        |              ^
      hint: did you mean `three`?

    t.yaml:12:16: resources.two.properties.length.get_param: The Parameter (siz) was not provided.
        |
     12 |       length: {get_param: siz}
        |                ^
      hint: did you mean `size`?

    t.yaml:7:11: resources.one.type: The Resource Type (OS::Heat::RandomStrin) could not be found.
       |
     7 |     type: OS::Heat::RandomStrin
       |           ^
      hint: did you mean `OS::Heat::RandomString`?

    t.yaml:11:7: resources.two.properties: Unknown Property lenght
        |
     11 |       lenght: 6
        |       ^
      hint: did you mean `length`?

    t.yaml:17:15: resources.three.properties.value.get_attr: The Referenced Attribute (two valu) is incorrect.
        |
     17 |       value: {get_attr: [two, valu]}
        |               ^
      hint: did you mean `value`?
    "#);
}
