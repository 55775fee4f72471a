//! First contact: whose server is it? Nothing secret is sent; the answer is only a certificate to
//! show to a person or to compare with a fingerprint that came another way.

use std::time::Duration;

use hostler_api::Endpoint;
use hostler_api::system::Livez;
use hostler_model::Timestamp;
use hostler_trust::Fingerprint;

use crate::Error;
use crate::client::{http_client, normal_address};

/// What a server presented.
#[derive(Clone, Debug)]
pub struct Presented {
    /// The address in its usual form.
    pub address: String,
    /// The authority that issued the server's certificate.
    pub ca_pem: String,
    pub fingerprint: Fingerprint,
}

/// Asks a server for its certificate. Its authority is unproven until a person or a fingerprint says
/// so.
pub async fn probe(address: &str, now: Timestamp, timeout: Duration) -> Result<Presented, Error> {
    probe_for(address, None, now, timeout).await
}

/// The same, asking for one authority should the server have several.
pub async fn probe_for(
    address: &str,
    wanted: Option<Fingerprint>,
    now: Timestamp,
    timeout: Duration,
) -> Result<Presented, Error> {
    let address = normal_address(address)?;
    let (tls, captured) = hostler_trust::tls::first_contact_wanting(wanted)
        .map_err(|error| Error::Setup(error.into()))?;
    let http = http_client(tls, concat!("hostler/", env!("CARGO_PKG_VERSION")))?;
    let send = http.get(format!("{address}{}", Livez::PATH)).timeout(timeout).send();
    send.await.map_err(|error| Error::from_transport(&address, error))?;
    let authority = captured.authority(now).map_err(|error| Error::Unexpected {
        address: address.clone(),
        detail: error.to_string(),
        source: Some(error.into()),
    })?;
    Ok(Presented { ca_pem: authority.pem(), fingerprint: authority.fingerprint(), address })
}
