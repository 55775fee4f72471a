//! The second factor.

use hostler_api::Nothing;
use hostler_api::second_factor::{
    RecoveryCodesView, TotpConfirm, TotpDisable, TotpEnrol, TotpEnrolledView, TotpReset, TotpShow,
    TotpView,
};
use hostler_model::Error;
use hostler_trust::SecretString;

use super::session::with_rekeyed;
use super::{Answer, App, Call};

pub(crate) async fn show(app: App, call: Call<TotpShow>) -> Result<Answer<TotpView>, Error> {
    let detail = app.control().second_factor_show(&call.cx).await?;
    Ok(Answer::new(TotpView {
        state: detail.state,
        recovery_codes_left: detail.recovery_codes_left,
        time_confirmed: detail.time_confirmed,
    }))
}

pub(crate) async fn enrol(
    app: App,
    call: Call<TotpEnrol>,
) -> Result<Answer<TotpEnrolledView>, Error> {
    let password = SecretString::new(call.body.password);
    let enrolment = app.control().second_factor_enrol(&call.cx, &password).await?;
    Ok(Answer::new(TotpEnrolledView {
        secret: enrolment.secret.expose().to_owned(),
        uri: enrolment.uri.expose().to_owned(),
    }))
}

pub(crate) async fn confirm(
    app: App,
    call: Call<TotpConfirm>,
) -> Result<Answer<RecoveryCodesView>, Error> {
    let code = SecretString::new(call.body.code);
    let (codes, rekeyed) = app.control().second_factor_confirm(&call.cx, &code).await?;
    let recovery_codes = codes.iter().map(|code| code.expose().to_owned()).collect();
    Ok(with_rekeyed(&app, Answer::new(RecoveryCodesView { recovery_codes }), rekeyed))
}

pub(crate) async fn disable(app: App, call: Call<TotpDisable>) -> Result<Answer<Nothing>, Error> {
    let password = SecretString::new(call.body.password);
    let code = SecretString::new(call.body.code);
    let rekeyed = app.control().second_factor_disable(&call.cx, &password, &code).await?;
    Ok(with_rekeyed(&app, Answer::new(Nothing {}), rekeyed))
}

pub(crate) async fn reset(app: App, call: Call<TotpReset>) -> Result<Answer<Nothing>, Error> {
    app.control().second_factor_reset(&call.cx, &call.path.user).await?;
    Ok(Answer::new(Nothing {}))
}
