//! The client against a real HTTPS server that misbehaves in every way it must survive.

#![cfg(test)]

mod fake;

mod calls;
mod streams;

use hostler_api::Problem;
use hostler_client::{Client, ClientConfig};
use hostler_model::Code;
use hostler_trust::SecretString;

fn client(fake: &fake::Fake) -> Client {
    Client::new(config(fake)).unwrap()
}

fn config(fake: &fake::Fake) -> ClientConfig {
    let mut config = ClientConfig::new(&fake.address, &fake.ca_pem);
    config.token = Some(SecretString::new("hst_pat_x"));
    config.retry.delay_min = std::time::Duration::from_millis(1);
    config.resume.delay_min = std::time::Duration::from_millis(1);
    config
}

fn problem(code: Code) -> Problem {
    Problem {
        kind: "about:blank".to_owned(),
        title: code.label().to_owned(),
        status: hostler_api::openapi::status_of(code),
        detail: format!("it is {code}"),
        code,
        hint: "do something".to_owned(),
        request_id: "r-1".to_owned(),
        errors: vec![hostler_model::Diagnostic::new("/name", "is bad")],
    }
}

fn refusal(code: Code) -> axum::response::Response {
    let problem = problem(code);
    axum::response::Response::builder()
        .status(problem.status)
        .header("content-type", hostler_api::PROBLEM_CONTENT_TYPE)
        .body(serde_json::to_vec(&problem).unwrap().into())
        .unwrap()
}
