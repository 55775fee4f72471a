//! What clients are told, word for word, and what people are shown.

use hostler_template::diagnostic::Diagnostics;
use hostler_template::template::Template;
use serde_json::json;

use crate::catalogue::{check, files};

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
            "outputs: {o: {value: {get_param: OS::region}}}".into(),
            "",
            "UserParameterMissing",
            "The Parameter (OS::region) was not provided.",
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
