//! Heat's API: templates that are only looked at, what would change, snapshots, and stacks that are left and taken over.

use http::Method;
use serde_json::{Value, json};

use crate::heat::{Heat, NESTED, demo, demo_made};

#[tokio::test]
async fn templates_are_validated_without_values() {
    let heat = Heat::new().await;
    let body = json!({ "template": demo(), "files": { "file:///w/nested.yaml": NESTED }, "environment": {} });
    let told = heat.call(Method::POST, "/validate?show_nested=True", Some(body)).await;
    assert_eq!(told.status, 200, "{}", told.json());
    let told = told.json();
    assert_eq!(told["Description"], "demo stack");
    assert_eq!(told["Parameters"]["secret"]["NoEcho"], "true");
    assert_eq!(told["Parameters"]["p"]["MaxLength"], 5);
    assert_eq!(told["NestedParameters"]["n1"]["Type"], "file:///w/nested.yaml");
    let told = heat.refused(Method::POST, "/validate", Some(json!({}))).await;
    assert_eq!((told.0, told.2.as_str()), (400, "No template specified"));
    let body = json!({ "template": { "heat_template_version": "2099-01-01" } });
    assert_eq!(
        heat.refused(Method::POST, "/validate", Some(body)).await.1,
        "InvalidTemplateVersion"
    );
}

#[tokio::test]
async fn what_values_say_is_no_obstacle_where_nothing_is_made() {
    let heat = Heat::new().await;
    let base = "heat_template_version: 2021-04-16\n\
         parameters: { size: { type: number, default: '' }, word: { type: string, constraints: [{ length: { max: 2 } }] } }\n";
    let inner = format!("{base}resources: {{ x: {{ type: OS::Heat::Nope }} }}\n");
    for (resources, code, kind) in [
        ("a: { type: OS::Heat::RandomString, properties: { length: 600 } }", 200, ""),
        ("a: { type: OS::Heat::Value, properties: { value: { get_param: nobody } } }", 200, ""),
        ("a: { type: OS::Heat::Value, properties: { value: { get_file: gone.sh } } }", 200, ""),
        ("a: { type: OS::Heat::Value }", 200, ""),
        (
            "a: { type: OS::Heat::ResourceGroup, properties: { resource_def: { type: OS::Heat::Nope } } }",
            200,
            "",
        ),
        ("a: { type: inner.yaml }", 200, ""),
        ("a: { type: OS::Heat::RandomString, properties: { lengths: 6 } }", 400, "HTTPBadRequest"),
        ("a: { type: OS::Heat::Nope }", 400, "HTTPBadRequest"),
        ("a: { type: gone.yaml }", 400, "HTTPBadRequest"),
        ("a: { type: OS::Heat::None, depends_on: b }", 400, "InvalidTemplateReference"),
    ] {
        let template = format!("{base}resources: {{ {resources} }}\n");
        let body = json!({ "template": template, "files": { "inner.yaml": inner }, "parameters": { "word": "long" } });
        let told = heat.call(Method::POST, "/validate", Some(body)).await;
        assert_eq!(told.status.as_u16(), code, "{resources}: {}", told.json());
        let told = told.json();
        match code {
            200 => assert_eq!(told["Parameters"]["word"]["Value"], "long", "{told}"),
            _ => assert_eq!(told["error"]["type"], kind, "{told}"),
        }
        let body = json!({ "stack_name": "never", "template": template, "files": { "inner.yaml": inner }, "parameters": { "word": "long", "size": 1 } });
        assert_eq!(heat.refused(Method::POST, "/stacks", Some(body)).await.0, 400, "{resources}");
    }
    assert_eq!(heat.get("/stacks").await["stacks"], json!([]));
    assert_eq!(heat.get("/stacks?limit=0").await["stacks"], json!([]));
    assert_eq!(heat.refused(Method::GET, "/stacks?sort_dir=sideways", None).await.0, 400);
}

#[tokio::test]
async fn an_output_that_cannot_be_had_hinders_no_stack() {
    let mut heat = Heat::new().await;
    let template = "heat_template_version: 2021-04-16\n\
         resources: { n: { type: inner.yaml } }\n\
         outputs:\n  p: { value: { get_param: nobody } }\n  f: { value: { get_file: gone.sh } }\n\
         \x20 r: { value: { get_resource: nobody } }\n  a: { value: { get_attr: [n, nothing] } }\n  it: { value: here }\n";
    let inner = "heat_template_version: 2021-04-16\n";
    let body = json!({ "stack_name": "s", "template": template, "files": { "inner.yaml": inner } });
    let told = heat.call(Method::POST, "/stacks", Some(body)).await;
    assert_eq!(told.status, 201, "{}", told.json());
    heat.settle().await;
    let asked = heat.get("/stacks/s/resources").await["resources"][0]["links"][0]["href"].clone();
    let path = asked.as_str().unwrap().split("/v1/one").nth(1).unwrap().to_owned();
    let told = heat.get(&format!("{path}?with_attr=nothing")).await;
    assert_eq!(told["resource"]["attributes"]["nothing"], Value::Null);
    assert!(told["resource"]["attributes"].as_object().unwrap().contains_key("nothing"));
    let outputs = heat.get("/stacks/s").await["stack"]["outputs"].clone();
    for output in outputs.as_array().unwrap() {
        match output["output_key"].as_str().unwrap() {
            "it" => assert_eq!(output["output_value"], "here"),
            "p" | "f" | "r" => assert!(output["output_error"].is_string(), "{output}"),
            _ => assert_eq!(output["output_value"], Value::Null, "{output}"),
        }
    }
    assert_eq!(outputs.as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn what_would_change_is_told_in_five_lists() {
    let mut heat = Heat::new().await;
    let id = demo_made(&mut heat).await;
    let body = json!({ "stack_name": "pv", "disable_rollback": true, "template": demo(), "files": { "file:///w/nested.yaml": NESTED }, "environment": {} });
    let told = heat.call(Method::POST, "/stacks/preview", Some(body)).await;
    assert_eq!(told.status, 200, "{}", told.json());
    let stack = told.json()["stack"].clone();
    assert_eq!(
        (&stack["id"], &stack["parameters"]["OS::stack_id"]),
        (&json!("None"), &json!("None"))
    );
    assert_eq!(stack["outputs"].as_array().unwrap().len(), 2);
    assert_eq!(stack["resources"].as_array().unwrap().len(), 3);
    assert_eq!(heat.send(Method::GET, "/stacks/pv", None).await.status, 404, "nothing was made");
    let mut template = demo();
    template["resources"]["r2"]["properties"]["length"] = json!(7);
    template["resources"]["extra"] = json!({ "type": "OS::Heat::None" });
    template["resources"].as_object_mut().unwrap().remove("n1");
    template["outputs"].as_object_mut().unwrap().remove("o2");
    let body = json!({ "template": template, "parameters": { "p": "ab" }, "environment": {} });
    let told = heat.call(Method::PUT, &format!("/stacks/d1/{id}/preview"), Some(body)).await;
    assert_eq!(told.status, 200, "{}", told.json());
    let changes = told.json()["resource_changes"].clone();
    let names = |list: &str| -> Vec<String> {
        let all = changes[list].as_array().unwrap();
        all.iter().map(|one| one["resource_name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("updated"), ["r1"]);
    assert_eq!(names("replaced"), ["r2"]);
    assert_eq!(names("added"), ["extra"]);
    assert_eq!(names("deleted"), ["n1"]);
    assert!(names("unchanged").is_empty());
    assert_eq!(changes["updated"][0]["resource_identity"]["path"], "/resources/r1");
    assert_eq!(heat.get("/stacks/d1").await["stack"]["parameters"]["p"], "yy");
}

#[tokio::test]
async fn stacks_are_kept_restored_left_and_taken_over() {
    let mut heat = Heat::new().await;
    let id = demo_made(&mut heat).await;
    let base = format!("/stacks/d1/{id}");
    let made = heat
        .call(Method::POST, &format!("{base}/snapshots"), Some(json!({ "name": "snap1" })))
        .await;
    assert_eq!(made.status, 200, "{}", made.json());
    let made = made.json();
    assert_eq!((&made["status"], &made["status_reason"]), (&json!("IN_PROGRESS"), &Value::Null));
    heat.settle().await;
    let snapshot = format!("{base}/snapshots/{}", made["id"].as_str().unwrap());
    let shown = heat.get(&snapshot).await["snapshot"].clone();
    assert_eq!((&shown["name"], &shown["status"]), (&json!("snap1"), &json!("COMPLETE")));
    assert_eq!(shown["data"]["resources"]["r1"]["type"], "OS::Heat::TestResource");
    assert_eq!(
        heat.get(&format!("{base}/snapshots")).await["snapshots"].as_array().unwrap().len(),
        1
    );
    let patch = json!({ "parameters": { "p": "cd" } });
    assert_eq!(heat.call(Method::PATCH, "/stacks/d1", Some(patch)).await.status, 202);
    heat.settle().await;
    assert_eq!(heat.call(Method::POST, &format!("{snapshot}/restore"), None).await.status, 202);
    heat.settle().await;
    let stack = heat.get("/stacks/d1").await["stack"].clone();
    assert_eq!(
        (&stack["stack_status"], &stack["parameters"]["p"]),
        (&json!("RESTORE_COMPLETE"), &json!("yy"))
    );
    assert_eq!(heat.call(Method::DELETE, &snapshot, None).await.status, 204);
    assert_eq!(heat.call(Method::GET, &snapshot, None).await.status, 404);
    let exported = heat.get(&format!("{base}/export")).await;
    assert_eq!((&exported["name"], &exported["id"]), (&json!("d1"), &json!(id)));
    let left = heat.call(Method::DELETE, &format!("{base}/abandon"), None).await;
    assert_eq!(left.status, 200, "{}", left.json());
    let left = left.json();
    let random = left["resources"]["r2"]["resource_id"].clone();
    assert_eq!(heat.send(Method::GET, "/stacks/d1", None).await.status, 404);
    let adopt = json!({ "stack_name": "d2", "disable_rollback": true, "adopt_stack_data": left.to_string(), "parameters": {}, "files": { "file:///w/nested.yaml": NESTED }, "environment": {}, "timeout": null });
    let reply = heat.call(Method::POST, "/stacks", Some(adopt)).await;
    assert_eq!(reply.status, 201, "{}", reply.json());
    heat.settle().await;
    let stack = heat.get("/stacks/d2").await["stack"].clone();
    assert_eq!(stack["stack_status"], "ADOPT_COMPLETE", "{}", stack["stack_status_reason"]);
    let id = reply.json()["stack"]["id"].as_str().unwrap().to_owned();
    let resource = heat.get(&format!("/stacks/d2/{id}/resources/r2")).await["resource"].clone();
    assert_eq!(resource["physical_resource_id"], random);
}
