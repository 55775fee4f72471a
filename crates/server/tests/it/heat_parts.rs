//! Heat's API, below and beside stacks: resources, events, signals, types, software.

use axum::body::Body;
use http::{Method, Request};
use serde_json::{Value, json};

use crate::heat::{Heat, SIGNALS, fault};
use crate::world::{Reply, World};

fn two() -> Value {
    json!({
        "heat_template_version": "2021-04-16",
        "resources": {
            "a": { "type": "OS::Heat::TestResource", "properties": { "value": "x" }, "metadata": { "k": "v" } },
            "b": { "type": "OS::Heat::None", "depends_on": "a" },
        },
    })
}

#[tokio::test]
async fn resources_are_listed_chosen_and_shown() {
    let mut heat = Heat::new().await;
    let id = heat.made("s", &two()).await;
    let all = heat.get("/stacks/s/resources").await["resources"].clone();
    assert_eq!(all.as_array().unwrap().len(), 2);
    let a = &all[0];
    assert_eq!((&a["resource_name"], &a["logical_resource_id"]), (&json!("a"), &json!("a")));
    assert_eq!(
        (&a["resource_status"], &a["required_by"]),
        (&json!("CREATE_COMPLETE"), &json!(["b"]))
    );
    assert_eq!(a.get("attributes"), None);
    let stack = format!("http://heat.test:8004/v1/one/stacks/s/{id}");
    assert_eq!(
        a["links"],
        json!([{ "href": format!("{stack}/resources/a"), "rel": "self" }, { "href": stack, "rel": "stack" }])
    );
    for (query, expected) in [
        ("?type=OS%3A%3AHeat%3A%3ANone", 1),
        ("?status=COMPLETE", 2),
        ("?status=FAILED", 0),
        ("?action=CREATE&name=a", 1),
        ("?name=a&name=b", 2),
        ("?nested_depth=2&with_detail=True", 2),
    ] {
        let found = heat.get(&format!("/stacks/s/resources{query}")).await;
        assert_eq!(found["resources"].as_array().unwrap().len(), expected, "{query}");
    }
    let told = heat.refused(Method::GET, "/stacks/s/resources?bogus=1", None).await;
    assert_eq!(told, (400, "HTTPBadRequest".into(), "Invalid filter parameters ['bogus']".into()));
    let base = format!("/stacks/s/{id}/resources");
    let one = heat.get(&format!("{base}/a")).await["resource"].clone();
    assert_eq!((&one["attributes"], &one["description"]), (&json!({ "output": "x" }), &json!("")));
    assert_eq!(heat.get(&format!("{base}/a/metadata")).await, json!({ "metadata": { "k": "v" } }));
    assert_eq!(heat.get(&format!("{base}/b/metadata")).await, json!({ "metadata": {} }));
    let told = heat.refused(Method::GET, &format!("{base}/c"), None).await;
    assert_eq!((told.0, told.2.as_str()), (404, "The Resource (c) could not be found in Stack s."));
    let mark = json!({ "mark_unhealthy": true, "resource_status_reason": "because" });
    let reply = heat.call(Method::PATCH, &format!("{base}/a"), Some(mark)).await;
    assert_eq!((reply.status.as_u16(), reply.bytes.as_slice()), (200, &b"null"[..]));
    let one = heat.get(&format!("{base}/a")).await["resource"].clone();
    assert_eq!(
        (&one["resource_status"], &one["resource_status_reason"]),
        (&json!("CHECK_FAILED"), &json!("because"))
    );
    for wrong in [
        json!({}),
        json!({ "mark_unhealthy": true, "other": 1 }),
        json!({ "mark_unhealthy": "so" }),
    ] {
        assert_eq!(heat.refused(Method::PATCH, &format!("{base}/a"), Some(wrong)).await.0, 400);
    }
    let told =
        heat.refused(Method::POST, &format!("{base}/a/signal"), Some(json!({ "a": 1 }))).await;
    assert_eq!(
        told,
        (400, "ResourceActionNotSupported".into(), "signal is not supported for resource.".into())
    );
}

#[tokio::test]
async fn events_are_what_programs_wait_by() {
    let mut heat = Heat::new().await;
    let id = heat.made("s", &two()).await;
    let events =
        heat.get("/stacks/s/events?sort_dir=asc").await["events"].as_array().unwrap().clone();
    let told: Vec<String> = events
        .iter()
        .map(|one| {
            format!(
                "{} {} {}",
                one["resource_name"].as_str().unwrap(),
                one["resource_status"].as_str().unwrap(),
                one["resource_status_reason"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "s CREATE_IN_PROGRESS Stack CREATE started",
            "a CREATE_IN_PROGRESS state changed",
            "a CREATE_COMPLETE state changed",
            "b CREATE_IN_PROGRESS state changed",
            "b CREATE_COMPLETE state changed",
            "s CREATE_COMPLETE Stack CREATE completed successfully",
        ]
    );
    let last = events.last().unwrap();
    assert_eq!(
        (&last["physical_resource_id"], &last["logical_resource_id"]),
        (&json!(id), &json!("s"))
    );
    let stack =
        last["links"].as_array().unwrap().iter().find(|link| link["rel"] == "stack").unwrap();
    assert!(stack["href"].as_str().unwrap().ends_with(&format!("/stacks/s/{id}")));
    let marker = events[3]["id"].as_str().unwrap();
    let rest = heat.get(&format!("/stacks/s/events?marker={marker}&sort_dir=asc")).await;
    assert_eq!(rest["events"].as_array().unwrap().len(), 2);
    let newest = heat.get("/stacks/s/events?limit=1&sort_dir=desc").await;
    assert_eq!(newest["events"][0]["id"], last["id"]);
    for (query, expected) in [
        ("resource_name=a", 2),
        ("resource_type=OS%3A%3AHeat%3A%3ANone", 2),
        ("resource_status=COMPLETE", 3),
        ("resource_status=CREATE_IN_PROGRESS", 3),
        ("resource_status=NONSENSE", 0),
        ("resource_action=DELETE", 0),
    ] {
        let found = heat.get(&format!("/stacks/s/events?{query}")).await;
        assert_eq!(found["events"].as_array().unwrap().len(), expected, "{query}");
    }
    let base = format!("/stacks/s/{id}/resources");
    assert_eq!(heat.get(&format!("{base}/a/events")).await["events"].as_array().unwrap().len(), 2);
    let told = heat.refused(Method::GET, &format!("{base}/none/events"), None).await;
    assert_eq!((told.0, told.2.as_str()), (404, "No events found for resource none"));
    let told = heat.refused(Method::GET, "/stacks/s/events?sort_dir=sideways", None).await;
    assert_eq!(told.0, 400, "{}", told.2);
    assert_eq!(heat.get("/stacks/s/events?limit=0").await["events"], json!([]));
    let told = heat.refused(Method::GET, "/stacks/s/events?limit=-1", None).await;
    assert!(told.2.contains("only accepts non-negative integer"), "{}", told.2);
    let event = events[1]["id"].as_str().unwrap();
    let one = heat.get(&format!("{base}/a/events/{event}")).await["event"].clone();
    assert_eq!(
        (&one["resource_type"], &one["id"]),
        (&json!("OS::Heat::TestResource"), &json!(event))
    );
    assert_eq!(heat.call(Method::GET, &format!("{base}/b/events/{event}"), None).await.status, 404);
}

#[tokio::test]
async fn a_hook_holds_a_resource_until_it_is_cleared() {
    let mut heat = Heat::new().await;
    let template = json!({ "heat_template_version": "2021-04-16", "resources": { "h1": { "type": "OS::Heat::TestResource" } } });
    let body = json!({ "stack_name": "hk", "template": template, "environment": { "resource_registry": { "resources": { "h1": { "hooks": "pre-create" } } } } });
    let reply = heat.call(Method::POST, "/stacks", Some(body)).await;
    let id = reply.json()["stack"]["id"].as_str().unwrap().to_owned();
    heat.settle().await;
    assert_eq!(heat.status("hk").await, "CREATE_IN_PROGRESS");
    let held = heat.get("/stacks/hk/resources").await["resources"][0].clone();
    assert_eq!(
        (&held["resource_status"], &held["physical_resource_id"]),
        (&json!("INIT_COMPLETE"), &json!(""))
    );
    let events = heat.get("/stacks/hk/events").await["events"].as_array().unwrap().clone();
    assert_eq!(
        events.last().unwrap()["resource_status_reason"],
        "CREATE paused until Hook pre-create is cleared"
    );
    let path = format!("/stacks/hk/{id}/resources/h1/signal");
    let told =
        heat.refused(Method::POST, &path, Some(json!({ "unset_hook": "pre-nothing" }))).await;
    assert_eq!((told.0, told.1.as_str()), (400, "InvalidBreakPointHook"));
    let reply = heat.call(Method::POST, &path, Some(json!({ "unset_hook": "pre-create" }))).await;
    assert_eq!((reply.status.as_u16(), reply.bytes.as_slice()), (200, &b"null"[..]));
    heat.settle().await;
    assert_eq!(heat.status("hk").await, "CREATE_COMPLETE");
}

async fn signalled(heat: &Heat, method: Method, url: &str, body: &str) -> Reply {
    let path = url.strip_prefix(SIGNALS).unwrap_or_else(|| panic!("{url}"));
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(body.to_owned()))
        .unwrap();
    World::send_to(&heat.signals, request).await
}

#[tokio::test]
async fn whoever_has_an_address_signals_that_resource_and_nothing_else() {
    let mut heat = Heat::new().await;
    let template = json!({
        "heat_template_version": "2021-04-16",
        "resources": {
            "h": { "type": "AWS::CloudFormation::WaitConditionHandle" },
            "other": { "type": "OS::Heat::WaitConditionHandle" },
            "w": { "type": "AWS::CloudFormation::WaitCondition", "properties": { "Handle": { "get_resource": "h" }, "Timeout": 600, "Count": 1 } },
        },
        "outputs": { "url": { "value": { "get_resource": "h" } } },
    });
    let id = heat.made("s", &template).await;
    assert_eq!(heat.status("s").await, "CREATE_IN_PROGRESS");
    let output = heat.get(&format!("/stacks/s/{id}/outputs/url")).await;
    let url = output["output"]["output_value"].as_str().unwrap().to_owned();
    assert!(url.contains("/v1/waitcondition/arn%3Aopenstack%3Aheat%3A%3A"), "{url}");
    let good = r#"{"Status": "SUCCESS", "Reason": "done", "Data": "d", "UniqueId": "x"}"#;
    for wrong in [
        url.replace("Signature=", "Signature=A"),
        url.replace("/resources/h?", "/resources/other?"),
        url.replace("Expires=", "Expires=9"),
        url.split('?').next().unwrap().to_owned(),
        url.replace(&id, "0192aaaa-0000-7000-8000-000000000000"),
    ] {
        let reply = signalled(&heat, Method::PUT, &wrong, good).await;
        let (code, _, message) = fault(&reply);
        assert_eq!(
            (code, message.as_str()),
            (403, "this address is not one at which a resource can be signalled"),
            "{wrong}"
        );
    }
    assert_eq!(signalled(&heat, Method::PUT, &url, "{").await.status, 400);
    let told = fault(&signalled(&heat, Method::PUT, &url, r#"{"Status": "PERHAPS"}"#).await);
    assert_eq!((told.0, told.2.as_str()), (400, "Metadata format invalid"));
    let post = signalled(&heat, Method::POST, &url, good).await;
    assert_eq!((post.status.as_u16(), post.header("allow")), (405, "PUT"));
    let reply = signalled(&heat, Method::PUT, &url, good).await;
    assert_eq!(reply.status, 200, "{}", reply.json());
    assert_eq!(reply.json()["resource"], "h");
    assert_eq!(reply.json()["metadata"]["x"]["Data"], "d");
    heat.settle().await;
    assert_eq!(heat.status("s").await, "CREATE_COMPLETE");
    heat.call(Method::DELETE, "/stacks/s", None).await;
    heat.settle().await;
    assert_eq!(
        signalled(&heat, Method::PUT, &url, good).await.status,
        403,
        "it ends with the stack"
    );
}

#[tokio::test]
async fn a_policy_is_called_by_an_alarm() {
    let mut heat = Heat::new().await;
    let template = json!({
        "heat_template_version": "2021-04-16",
        "resources": {
            "group": { "type": "OS::Heat::AutoScalingGroup", "properties": { "min_size": 1, "max_size": 3, "cooldown": 0, "resource": { "type": "OS::Heat::None" } } },
            "up": { "type": "OS::Heat::ScalingPolicy", "properties": { "auto_scaling_group_id": { "get_resource": "group" }, "adjustment_type": "change_in_capacity", "scaling_adjustment": 1, "cooldown": 0 } },
        },
        "outputs": { "url": { "value": { "get_attr": ["up", "alarm_url"] } }, "size": { "value": { "get_attr": ["group", "current_size"] } } },
    });
    let id = heat.made("s", &template).await;
    let output = heat.get(&format!("/stacks/s/{id}/outputs/url")).await;
    let url = output["output"]["output_value"].as_str().unwrap().to_owned();
    let alert = r#"{"receiver": "scale", "status": "firing", "alerts": [{"labels": {"a": "b"}}], "version": "4"}"#;
    let reply = signalled(&heat, Method::POST, &url, alert).await;
    assert_eq!((reply.status.as_u16(), reply.bytes.as_slice()), (200, &b"null"[..]), "{url}");
    heat.settle().await;
    let size = heat.get(&format!("/stacks/s/{id}/outputs/size")).await;
    assert_eq!(size["output"]["output_value"], 2);
    let path = format!("/stacks/s/{id}/resources/up/signal");
    assert_eq!(heat.call(Method::POST, &path, None).await.status, 200);
    heat.settle().await;
    let size = heat.get(&format!("/stacks/s/{id}/outputs/size")).await;
    assert_eq!(size["output"]["output_value"], 3);
    let large = "x".repeat(300 << 10);
    assert_eq!(signalled(&heat, Method::POST, &url, &large).await.status, 413);
}

#[tokio::test]
async fn calls_of_other_services_are_refused_in_their_words() {
    let heat = Heat::new().await;
    for path in ["/", "/v1", "/v1/"] {
        let url = format!("{SIGNALS}{path}?Action=PutMetricData");
        for reply in [
            signalled(&heat, Method::GET, &url, "").await,
            signalled(&heat, Method::POST, &url, "").await,
            signalled(
                &heat,
                Method::POST,
                &format!("{SIGNALS}{path}"),
                "Action=PutMetricData&x=<y>",
            )
            .await,
        ] {
            let text = String::from_utf8(reply.bytes.clone()).unwrap();
            assert_eq!(
                (reply.status.as_u16(), reply.header("content-type")),
                (400, "application/xml")
            );
            assert!(
                text.contains("<Code>InvalidAction</Code>")
                    && text.contains("PutMetricData is not served"),
                "{text}"
            );
        }
    }
    assert_eq!(signalled(&heat, Method::GET, &format!("{SIGNALS}/"), "").await.status, 300);
    assert_eq!(
        signalled(&heat, Method::GET, &format!("{SIGNALS}/v1/one/stacks"), "").await.status,
        404
    );
}

#[tokio::test]
async fn what_stacks_can_be_made_of_is_told() {
    let heat = Heat::new().await;
    let types = heat.get("/resource_types").await["resource_types"].as_array().unwrap().clone();
    for name in ["OS::Heat::RandomString", "OS::Heat::ResourceGroup", "Xloud::Orchestration::Value"]
    {
        assert!(types.contains(&json!(name)), "{name}");
    }
    let count = async |query: &str| {
        heat.get(&format!("/resource_types{query}")).await["resource_types"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(count("?name=Random").await, 0, "names are matched from their beginning");
    assert_eq!(count("?name=OS::Heat::Random").await, 1);
    assert_eq!(count("?support_status=SUPPORTED&name=OS::Heat::None$").await, 1);
    let described = heat.get("/resource_types?with_description=True&name=OS::Heat::None$").await;
    assert!(!described["resource_types"][0]["description"].as_str().unwrap().is_empty());
    for wrong in ["?name=(", "?support_status=so"] {
        assert_eq!(
            heat.refused(Method::GET, &format!("/resource_types{wrong}"), None).await.0,
            400
        );
    }
    let one = heat.get("/resource_types/OS%3A%3AHeat%3A%3ARandomString").await;
    assert_eq!(one["resource_type"], "OS::Heat::RandomString");
    assert_eq!(
        one["properties"]["length"]["constraints"][0]["range"],
        json!({ "min": 1, "max": 512 })
    );
    assert_eq!(one["support_status"]["status"], "SUPPORTED");
    assert_eq!(one.get("description"), None);
    let alias = heat.get("/resource_types/Xloud%3A%3AHeat%3A%3AValue?with_description=True").await;
    assert_eq!(alias["resource_type"], "Xloud::Heat::Value");
    assert!(alias["description"].is_string());
    let told = heat.refused(Method::GET, "/resource_types/OS%3A%3ANope", None).await;
    assert_eq!(
        (told.0, told.2.as_str()),
        (404, "The Resource Type (OS::Nope) could not be found.")
    );
    let path = "/resource_types/OS%3A%3AHeat%3A%3AValue/template";
    assert!(heat.get(path).await["HeatTemplateFormatVersion"].is_string());
    assert!(
        heat.get(&format!("{path}?template_type=hot")).await["heat_template_version"].is_string()
    );
    assert_eq!(heat.refused(Method::GET, &format!("{path}?template_type=x"), None).await.0, 400);
    let versions = heat.get("/template_versions").await["template_versions"].clone();
    assert_eq!(versions.as_array().unwrap().len(), 13);
    assert_eq!(
        versions[0],
        json!({ "version": "AWSTemplateFormatVersion.2010-09-09", "type": "cfn", "aliases": [] })
    );
    assert_eq!(versions[12]["aliases"], json!(["heat_template_version.wallaby"]));
    let path = "/template_versions/heat_template_version.2021-04-16/functions";
    assert_eq!(heat.get(path).await["template_functions"].as_array().unwrap().len(), 21);
    let all = heat.get(&format!("{path}?with_condition_func=True")).await;
    assert_eq!(all["template_functions"].as_array().unwrap().len(), 25);
    assert_eq!(heat.refused(Method::GET, "/template_versions/x/functions", None).await.0, 404);
    assert_eq!(heat.get("/build_info").await["api"]["revision"], "0.0.0");
}

#[tokio::test]
async fn software_is_configured_and_asked_for() {
    let heat = Heat::new().await;
    let config = json!({ "name": "c", "group": "script", "config": "echo hidden-word", "inputs": [{ "name": "a" }], "outputs": [], "options": {} });
    let made = heat.call(Method::POST, "/software_configs", Some(config)).await;
    assert_eq!(made.status, 200, "{}", made.json());
    let made = made.json()["software_config"].clone();
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!((&made["config"], &made["group"]), (&json!("echo hidden-word"), &json!("script")));
    assert!(made["creation_time"].as_str().unwrap().len() == "2026-11-15T07:29:33Z".len());
    let listed = heat.get("/software_configs?limit=5").await["software_configs"].clone();
    assert_eq!((&listed[0]["id"], listed[0].get("config")), (&json!(id), None));
    let viewer = heat.world.account("viewer", None, Some(("one", "viewer"))).await;
    let path = format!("/v1/one/software_configs/{id}");
    assert_eq!(heat.ask(Some(&viewer), Method::GET, &path, None).await.status, 403);
    let of = json!({ "config_id": id, "server_id": "srv", "action": "UPDATE", "status": "IN_PROGRESS", "input_values": { "a": 1 } });
    let deployment = heat.call(Method::POST, "/software_deployments", Some(of)).await;
    assert_eq!(deployment.status, 200, "{}", deployment.json());
    let deployment = deployment.json()["software_deployment"].clone();
    assert_eq!(
        (&deployment["status"], &deployment["updated_time"]),
        (&json!("IN_PROGRESS"), &Value::Null)
    );
    let path = format!("/software_deployments/{}", deployment["id"].as_str().unwrap());
    let told = json!({ "status": "COMPLETE", "output_values": { "deploy_status_code": 0 } });
    let told =
        heat.call(Method::PUT, &path, Some(told)).await.json()["software_deployment"].clone();
    assert_eq!(
        (&told["status"], &told["output_values"]["deploy_status_code"]),
        (&json!("COMPLETE"), &json!(0))
    );
    assert_eq!(told["input_values"], json!({ "a": 1 }));
    let metadata = heat.get("/software_deployments/metadata/srv").await["metadata"].clone();
    assert_eq!(
        (metadata.as_array().unwrap().len(), &metadata[0]["config"]),
        (1, &json!("echo hidden-word"))
    );
    assert_eq!(heat.get("/software_deployments/metadata/other").await["metadata"], json!([]));
    assert_eq!(
        heat.get("/software_deployments?server_id=srv").await["software_deployments"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        heat.call(Method::DELETE, &format!("/software_configs/{id}"), None).await.status,
        409,
        "it is in use"
    );
    for wrong in
        [json!({ "status": "PERHAPS" }), json!({ "action": "" }), json!({ "output_values": 1 })]
    {
        assert_eq!(heat.refused(Method::PUT, &path, Some(wrong)).await.0, 400);
    }
    assert_eq!(heat.call(Method::DELETE, &path, None).await.status, 204);
    assert_eq!(
        heat.call(Method::DELETE, &format!("/software_configs/{id}"), None).await.status,
        204
    );
    for gone in [path, format!("/software_configs/{id}")] {
        assert_eq!(heat.call(Method::GET, &gone, None).await.status, 404);
    }
}

#[tokio::test]
async fn what_a_stack_deploys_is_asked_for_as_well() {
    let mut heat = Heat::new().await;
    let template = json!({
        "heat_template_version": "2021-04-16",
        "resources": {
            "c": { "type": "OS::Heat::SoftwareConfig", "properties": { "group": "script", "config": "echo", "inputs": [{ "name": "a" }] } },
            "d": { "type": "OS::Heat::SoftwareDeployment", "properties": { "config": { "get_resource": "c" }, "server": "srv", "input_values": { "a": "1" }, "signal_transport": "CFN_SIGNAL" } },
        },
    });
    heat.made("s", &template).await;
    assert_eq!(heat.status("s").await, "CREATE_IN_PROGRESS");
    let metadata = heat.get("/software_deployments/metadata/srv").await["metadata"].clone();
    let inputs = metadata[0]["inputs"].as_array().unwrap().clone();
    let url = inputs.iter().find(|one| one["name"] == "deploy_signal_id").unwrap()["value"]
        .as_str()
        .unwrap()
        .to_owned();
    let reply = signalled(&heat, Method::POST, &url, r#"{"deploy_status_code": 0}"#).await;
    assert_eq!(reply.status, 200, "{url}");
    heat.settle().await;
    assert_eq!(heat.status("s").await, "CREATE_COMPLETE");
    let all = heat.get("/software_deployments").await["software_deployments"].clone();
    assert_eq!((&all[0]["status"], &all[0]["server_id"]), (&json!("COMPLETE"), &json!("srv")));
}
