//! The schema for editors.

use hostler_manifest::schema;

#[test]
fn every_field_of_a_workload_is_described() {
    let schema = schema();
    let text = schema.to_string();
    let spec = &schema["$defs"]["WorkloadSpec"];
    assert_eq!(spec["required"][0], "name");
    assert_eq!(spec["additionalProperties"], false);
    for field in ["name", "mode", "command", "python", "health", "depends", "limits", "vars"] {
        assert!(!spec["properties"][field].is_null(), "{field}");
    }
    assert!(spec["properties"]["command"]["description"].as_str().unwrap().contains("no shell"));
    assert_eq!(schema["$defs"]["MasterControlWorkload"]["required"][2], "run_mode");
    for reference in text.split("\"$ref\":\"").skip(1) {
        let target = reference.split('"').next().unwrap().trim_start_matches('#');
        assert!(schema.pointer(target).is_some(), "{target} leads nowhere");
    }
    assert!(!schema["$id"].as_str().unwrap().contains("//"));
}
