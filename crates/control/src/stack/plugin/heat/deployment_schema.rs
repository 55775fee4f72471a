//! What deployments to one server and to several are given.

use hostler_template::schema::{PropertySchema, ResourceSchema};
use serde_json::json;

const ACTIONS: [&str; 5] = ["CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME"];
const TRANSPORTS: [&str; 5] =
    ["CFN_SIGNAL", "TEMP_URL_SIGNAL", "HEAT_SIGNAL", "NO_SIGNAL", "ZAQAR_SIGNAL"];

/// What deployments to one server and to several have in common.
pub(super) fn common(schema: ResourceSchema, is_structured: bool) -> ResourceSchema {
    let signals = "How the server signals what came of it. Every way is a signed address here; `NO_SIGNAL` waits for nothing.";
    let schema = schema
        .property("config", PropertySchema::string("The id of the configuration.").updatable())
        .property("input_values", PropertySchema::map("Values for its inputs.").updatable())
        .property(
            "actions",
            PropertySchema::list("When it is deployed.")
                .default(json!(["CREATE", "UPDATE"]))
                .updatable()
                .allowed(ACTIONS),
        )
        .property(
            "name",
            PropertySchema::string("What the derived configuration is called; servers go by it.")
                .updatable(),
        )
        .property(
            "signal_transport",
            PropertySchema::string(signals).default("CFN_SIGNAL").allowed(TRANSPORTS),
        );
    if !is_structured {
        return schema;
    }
    let strict = "Whether an input that has no value is a mistake (`STRICT`) or nothing (`LAX`).";
    schema
        .property(
            "input_key",
            PropertySchema::string("What asks for an input in the document.").default("get_input"),
        )
        .property(
            "input_values_validate",
            PropertySchema::string(strict).default("LAX").allowed(["LAX", "STRICT"]),
        )
}
