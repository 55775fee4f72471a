//! Whole templates with environments, files and nested templates.

use hostler_template::environment::Environment;
use hostler_template::template::{DeletionPolicy, Template};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::catalogue::{check, files};

const DEMO: &str = "\
heat_template_version: 2021-04-16
description: demo stack
parameters:
  p: {type: string, default: x, description: a param, constraints: [{length: {min: 1, max: 5}}]}
  secret: {type: string, hidden: true, default: s3}
resources:
  r1: {type: OS::Heat::TestResource, properties: {value: {get_param: p}}, metadata: {k: v}}
  r2: {type: OS::Heat::RandomString, properties: {length: 6}, depends_on: r1}
  n1: {type: 'file:///w/nested.yaml', properties: {np: {get_attr: [r1, output]}}}
outputs:
  o1: {description: first, value: {get_attr: [r1, output]}}
  o2: {value: {get_attr: [n1, nout]}}
";
const INNER: &str = r#"{"heat_template_version": "2018-08-31", "parameters": {"np": {"type": "string"}},
 "resources": {"v": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "np"}}}},
 "outputs": {"nout": {"value": {"get_attr": ["v", "value"]}}}}"#;

#[test]
fn a_template_that_is_right_is_told_of() {
    let files = files([("file:///w/nested.yaml", INNER)]);
    let environment = "parameters: {p: yy}\nparameter_defaults: {q: 1}\n";
    let (template, validated) = check(DEMO, environment, &files).unwrap();
    assert_eq!(
        validated.summary(&template, true).to_string(),
        json!({
            "Description": "demo stack",
            "Parameters": {
                "p": {"Type": "String", "Description": "a param", "NoEcho": "false", "Label": "p",
                      "Default": "x", "Value": "yy", "MinLength": 1, "MaxLength": 5},
                "secret": {"Type": "String", "Description": "", "NoEcho": "true",
                           "Label": "secret", "Default": "s3"},
            },
            "NestedParameters": {"n1": {
                "Type": "file:///w/nested.yaml",
                "Description": "No description",
                "Parameters": {"np": {"Type": "String", "Description": "", "NoEcho": "false",
                                      "Label": "np"}},
            }},
            "Environment": {
                "resource_registry": {"resources": {},
                                      "file:///w/nested.yaml": "file:///w/nested.yaml"},
                "parameters": {"p": "yy"},
                "parameter_defaults": {"q": 1},
                "event_sinks": [],
            },
        })
        .to_string()
    );
    assert_eq!(validated.graph.order(), ["r1", "r2", "n1"]);
    assert_eq!(validated.graph.dependents("r1"), ["r2", "n1"]);
    assert_eq!(
        Value::from(validated.parameters.shown()),
        json!({"OS::stack_id": "None", "OS::project_id": "None", "OS::stack_name": "dummy",
               "p": "yy", "secret": "******"})
    );
}

#[test]
fn what_is_disabled_is_gone() {
    let template = "\
heat_template_version: 2021-04-16
parameters: {flag: {type: boolean}}
conditions: {c: {get_param: flag}}
resources:
  a: {type: OS::Heat::Value, condition: c, deletion_policy: retain, properties: {value: 1}}
  b: {type: OS::Heat::Value, depends_on: a, properties: {value: {if: [c, {get_resource: a}, none]}}}
outputs:
  o: {condition: c, value: {get_attr: [a, value]}}
";
    let (_, with) = check(template, "parameters: {flag: 'yes'}", &files([])).unwrap();
    assert_eq!(with.loaded.resource("a").unwrap().deletion_policy, DeletionPolicy::Retain);
    assert_eq!(with.graph.dependencies("b").len(), 1);
    assert!(with.loaded.outputs[0].value.is_some());
    let (_, without) = check(template, "parameters: {flag: 'no'}", &files([])).unwrap();
    assert_eq!(without.loaded.disabled, ["a"]);
    assert!(without.graph.dependencies("b").is_empty());
    assert!(without.loaded.outputs[0].value.is_none());
    let wrong = check(
        &template.replace("{if: [c, {get_resource: a}, none]}", "{get_resource: a}"),
        "parameters: {flag: 'no'}",
        &files([]),
    );
    let wrong = wrong.unwrap_err();
    assert_eq!(
        wrong.first().unwrap().api_message(),
        "The specified reference \"a\" (in b.Properties.value) is incorrect."
    );
}

#[test]
fn nested_templates_are_looked_into_and_their_depth_is_bounded() {
    let inner = INNER.replace("get_param\": \"np", "get_param\": \"nq");
    let wrong = check(DEMO, "", &files([("file:///w/nested.yaml", &inner)])).unwrap_err();
    let first = wrong.first().unwrap();
    assert_eq!(first.file, "file:///w/nested.yaml");
    assert_eq!(
        first.api_message(),
        "resources.n1<file:///w/nested.yaml>: : The Parameter (nq) was not provided."
    );
    let own =
        "heat_template_version: 2021-04-16\nresources: {a: {type: t.yaml}, b: {type: t.yaml}}\n";
    let wrong = check(own, "", &files([("t.yaml", own)])).unwrap_err();
    assert!(wrong.iter().any(|one| one.message.ends_with("Recursion depth exceeds 5.")), "{wrong}");
    let wide = |kind: &str| {
        let all: String = (0..40).map(|i| format!("  r{i}: {{type: {kind}}}\n")).collect();
        format!("heat_template_version: 2021-04-16\nresources:\n{all}")
    };
    let files = files([("b.yaml", &wide("OS::Heat::None")), ("c.yaml", &wide("b.yaml"))]);
    let wrong = check(&wide("c.yaml"), "", &files).unwrap_err();
    let too_many = "Request limit exceeded: Maximum resources per stack exceeded.";
    assert_eq!(wrong.iter().map(|one| one.api_message()).collect::<Vec<_>>(), [too_many]);
}

#[test]
fn a_template_can_wrap_the_type_it_stands_for() {
    let outer = "heat_template_version: 2021-04-16\nresources: {r: {type: OS::Heat::Value, properties: {value: 1}}}\n";
    let wrap = "\
heat_template_version: 2021-04-16
parameters: {value: {type: string}, type: {type: string, default: string}}
resources: {inner: {type: OS::Heat::Value, properties: {value: {get_param: value}}}}
outputs: {value: {value: {get_attr: [inner, value]}}}
";
    let environment = "resource_registry: {'OS::Heat::Value': wrap.yaml}";
    let wrong = check(outer, environment, &files([("wrap.yaml", wrap)])).unwrap_err();
    assert_eq!(
        wrong.first().unwrap().message,
        "Property value type mismatch between facade OS::Heat::Value (Any) and provider (String)"
    );
    let wrap = wrap.replace("{value: {type: string}", "{value: {type: json}");
    let outer = outer.replace("value: 1", "value: {a: 1}");
    let (_, validated) = check(&outer, environment, &files([("wrap.yaml", &wrap)])).unwrap();
    let nested = &validated.nested[0];
    assert!(nested.validated.nested.is_empty());
    assert_eq!(nested.validated.parameters.value("value"), Some(&json!({"a": 1})));
    let without_output = wrap.replace("outputs: {value:", "outputs: {other:");
    let wrong = check(&outer, environment, &files([("wrap.yaml", &without_output)])).unwrap_err();
    assert_eq!(
        wrong.first().unwrap().message,
        "Attribute value for facade OS::Heat::Value missing in provider"
    );
}

#[test]
fn templates_of_the_other_language_are_read() {
    let template = "\
AWSTemplateFormatVersion: 2010-09-09
Description: old
Parameters:
  Size: {Type: Number, Default: 8, MinValue: 1, MaxValue: 9, ConstraintDescription: one digit}
  Secret: {Type: String, NoEcho: true, Default: s}
Mappings: {Sizes: {small: {n: 4}}}
Conditions: {Big: {'Fn::Equals': [{Ref: Size}, 9]}}
Resources:
  A: {Type: OS::Heat::RandomString, Properties: {length: {Ref: Size}}}
  B: {Type: OS::Heat::Value, DependsOn: A, Properties: {value: {'Fn::GetAtt': [A, value]}}}
  C: {Type: OS::Heat::Value, Condition: Big, Properties: {value: {'Fn::FindInMap': [Sizes, small, n]}}}
Outputs: {O: {Value: {Ref: A}}}
";
    let (template, validated) = check(template, "", &files([])).unwrap();
    assert_eq!(template.description(), "old");
    assert_eq!(validated.loaded.disabled, ["C"]);
    assert_eq!(validated.graph.order(), ["A", "B"]);
    let told = validated.summary(&template, false);
    assert_eq!(told["Parameters"]["Size"]["ConstraintDescription"], "one digit");
    assert_eq!(told["Parameters"]["Secret"]["NoEcho"], "true");
    let wrong = check(&template.to_json().to_string(), "parameters: {Size: 10}", &files([]));
    let wrong = wrong.unwrap_err();
    assert_eq!(wrong.first().unwrap().api_message(), "Parameter 'Size' is invalid: one digit");
}

#[test]
fn immutable_parameters_stay() {
    let text = "\
heat_template_version: 2021-04-16
parameters: {a: {type: number, immutable: true}, b: {type: string, immutable: true}, c: {type: string}}
";
    let with = |given: &str| {
        check(text, &format!("parameters: {given}"), &files([])).unwrap().1.parameters
    };
    let old = with("{a: 1, b: x, c: y}");
    assert_eq!(old.immutable_problem(&with("{a: '1', b: x, c: z}")), None);
    let problem = old.immutable_problem(&with("{a: 2, b: z, c: y}")).unwrap();
    assert_eq!(
        problem.api_message(),
        "The following parameters are immutable and may not be updated: a, b"
    );
}

#[test]
fn values_that_are_not_there_yet_are_not_wrong() {
    let template = "\
heat_template_version: 2021-04-16
parameters: {n: {type: number}}
resources:
  r: {type: OS::Heat::RandomString, properties: {length: {get_param: n}, salt: {get_attr: [v, value]}}}
  v: {type: OS::Heat::Value, properties: {value: {get_resource: w}}}
  w: {type: OS::Heat::RandomString, properties: {length: {get_attr: [r, value]}}}
";
    let wrong = check(template, "parameters: {n: 1000}", &files([])).unwrap_err();
    let said: Vec<String> = wrong.iter().map(|one| one.api_message()).collect();
    assert_eq!(said.len(), 2, "{said:#?}");
    assert!(said[0].starts_with("Circular Dependency Found: "));
    assert_eq!(
        wrong.0[0].hint.as_deref(),
        Some(
            "`r` needs `v` (resources.r.properties.salt.get_attr), \
         `v` needs `w` (resources.v.properties.value.get_resource), \
         `w` needs `r` (resources.w.properties.length.get_attr)"
        )
    );
    assert!(said[1].ends_with("1000 is out of range (min: 1, max: 512)"));
}

#[test]
fn a_type_is_described_and_made_a_template() {
    let types = crate::catalogue::Catalogue::new();
    let schema =
        hostler_template::environment::Types::schema(&types, "OS::Heat::RandomString").unwrap();
    insta::assert_json_snapshot!(schema.describe(), @r#"
    {
      "resource_type": "OS::Heat::RandomString",
      "properties": {
        "length": {
          "type": "integer",
          "description": "How long.",
          "default": 32,
          "required": false,
          "constraints": [
            {
              "range": {
                "min": 1,
                "max": 512
              }
            }
          ],
          "update_allowed": false,
          "immutable": false
        },
        "character_classes": {
          "type": "list",
          "description": "Classes.",
          "default": [
            {
              "class": "lettersdigits",
              "min": 1
            }
          ],
          "schema": {
            "*": {
              "type": "map",
              "description": "A class of characters.",
              "schema": {
                "class": {
                  "type": "string",
                  "default": "lettersdigits",
                  "required": false,
                  "constraints": [
                    {
                      "allowed_values": [
                        "lettersdigits",
                        "digits"
                      ]
                    }
                  ],
                  "update_allowed": false,
                  "immutable": false
                },
                "min": {
                  "type": "integer",
                  "default": 1,
                  "required": false,
                  "constraints": [
                    {
                      "range": {
                        "min": 1,
                        "max": 512
                      }
                    }
                  ],
                  "update_allowed": false,
                  "immutable": false
                }
              },
              "required": false,
              "update_allowed": false,
              "immutable": false
            }
          },
          "required": false,
          "update_allowed": false,
          "immutable": false
        },
        "salt": {
          "type": "string",
          "description": "Salt.",
          "required": false,
          "update_allowed": false,
          "immutable": false
        }
      },
      "attributes": {
        "value": {
          "description": "The text.",
          "type": "string"
        },
        "show": {
          "description": "Detailed information about resource.",
          "type": "map"
        }
      },
      "support_status": {
        "status": "SUPPORTED",
        "message": null,
        "version": null,
        "previous_status": null
      }
    }
    "#);
    for is_hot in [true, false] {
        let made = Template::from_value("t", &schema.to_template(is_hot));
        let made = made.unwrap_or_else(|wrong| panic!("{wrong}"));
        let loaded = made.load(None, None).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!((loaded.resources.len(), made.parameters.len()), (1, 3));
        let outputs: Vec<&str> = made.outputs.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(outputs, ["value", "show", "OS::stack_id"]);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_what_is_read(names in prop::collection::btree_set("[a-z]{1,6}", 1..8), order: prop::sample::Index) {
        let names: Vec<String> = names.into_iter().collect();
        let mut resources = Map::new();
        for (at, name) in names.iter().enumerate() {
            let first = &names[order.index(names.len())];
            let needs = if at > 0 && first != name { json!([first]) } else { json!([]) };
            resources.insert(name.clone(), json!({"type": "OS::Heat::None", "depends_on": needs}));
        }
        let template = json!({"heat_template_version": "2021-04-16", "resources": resources});
        let read = Template::from_value("t", &template).unwrap();
        prop_assert_eq!(read.to_json(), template.clone());
        let again = Template::from_text("t", &format!("{template:#}")).unwrap();
        prop_assert_eq!(again.to_json(), template.clone());
        if let Ok((_, validated)) = check(&template.to_string(), "", &files([])) {
            let order = validated.graph.order();
            for name in &names {
                let at = |name: &str| order.iter().position(|one| *one == name);
                for dependency in validated.graph.dependencies(name) {
                    prop_assert!(at(&dependency.on) < at(name));
                }
            }
        }
    }

    #[test]
    fn nothing_breaks(text in "(heat_template_version: 2021-04-16\n|resources: |parameters: |\\{|\\}|r: |type: |OS::Heat::None|, |get_attr|\\[|\\]|p|\n|  |: ){0,40}") {
        hostler_template::try_everything(text.as_bytes());
    }

    #[test]
    fn environments_are_read_back(parameters in prop::collection::btree_map("[a-z]{1,5}", "[a-z,]{0,5}", 0..4), hook in 0..6_usize) {
        let hooks = ["pre-create", "pre-update", "pre-delete", "post-create", "post-update", "post-delete"];
        let value = json!({
            "resource_registry": {"resources": {"a*": {"hooks": [hooks[hook]]}}, "A::*": "B::*"},
            "parameters": parameters, "parameter_defaults": {}, "event_sinks": [],
        });
        let read = Environment::from_value("e", &value).unwrap();
        prop_assert_eq!(read.to_json(), value);
    }
}
