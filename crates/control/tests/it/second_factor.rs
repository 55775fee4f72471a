//! The second factor: codes, recovery codes, and who must have one.

use std::time::Duration;

use hostler_control::{Control, ControlConfig, Cx};
use hostler_model::{Code, Error, EventKind, Need, Permission, Role, Scope, SecondFactorState};
use hostler_store::{OpenOptions, Store};
use hostler_testkit::{Authenticator, World};
use hostler_trust::SecretString;

use crate::people::{browser, events, from, login, secret, user};

const PASSWORD: &str = "correct horse battery staple";
const STEP: Duration = Duration::from_secs(30);

/// Enrols somebody who is logged in; gives the device and the recovery codes.
async fn enrol(world: &World, cx: &Cx) -> (Authenticator, Vec<SecretString>) {
    let enrolment = world.control.second_factor_enrol(cx, &secret(PASSWORD)).await.unwrap();
    assert!(enrolment.uri.expose().contains(enrolment.secret.expose()));
    let device = Authenticator::new(enrolment.secret.expose());
    let code = secret(&device.code(world.now(), 0));
    let (codes, _) = world.control.second_factor_confirm(cx, &code).await.unwrap();
    (device, codes)
}

async fn try_code(control: &Control, code: Option<&str>) -> Option<Code> {
    login(control, "10.0.0.9", "ada", PASSWORD, code).await.err().map(|error| error.code)
}

#[tokio::test]
async fn a_login_needs_a_code_and_each_code_works_once() {
    let world = World::new(1).await;
    let control = &world.control;
    user(&world, "ada", Some(Role::User)).await;
    let (_, other) = browser(&world, "ada", None).await;
    let (cx, session) = browser(&world, "ada", None).await;
    let shown = control.second_factor_show(&cx).await.unwrap();
    assert_eq!(shown.state, SecondFactorState::Off);
    let wrong = control.second_factor_enrol(&cx, &secret("no")).await.unwrap_err();
    assert_eq!(wrong.errors[0].pointer, "/password");
    let early = control.second_factor_confirm(&cx, &secret("123456")).await.unwrap_err();
    assert_eq!(early.code, Code::Conflict);

    control.second_factor_enrol(&cx, &secret(PASSWORD)).await.unwrap();
    assert_eq!(try_code(control, None).await, None, "it does not count yet");
    let (device, codes) = enrol(&world, &cx).await;
    assert_eq!(codes.len(), 10);
    for ended in [&other, &session] {
        assert!(control.caller_by_session(ended).await.is_err(), "secrets from before are void");
    }
    let twice = control.second_factor_enrol(&cx, &secret(PASSWORD)).await.unwrap_err();
    assert_eq!(twice.code, Code::Conflict);

    assert_eq!(try_code(control, None).await, Some(Code::SecondFactorRequired));
    assert_eq!(try_code(control, Some(" ")).await, Some(Code::SecondFactorRequired));
    let unproven = login(control, "10.0.0.9", "ada", "wrong", None).await.unwrap_err();
    assert_eq!(unproven.code, Code::Unauthenticated, "the password comes first");
    let now = world.now();
    let used = device.code(now, 0);
    assert_eq!(try_code(control, Some(&used)).await, Some(Code::Unauthenticated), "confirmed with");
    assert_eq!(try_code(control, Some(&device.code(now, 1))).await, None, "a clock that is ahead");
    assert_eq!(try_code(control, Some(&device.code(now, 1))).await, Some(Code::Unauthenticated));
    assert_eq!(try_code(control, Some(&device.code(now, -1))).await, Some(Code::Unauthenticated));

    world.advance(STEP * 10);
    let now = world.now();
    for (steps, expected) in [(-2, Some(Code::Unauthenticated)), (2, Some(Code::Unauthenticated))] {
        assert_eq!(try_code(control, Some(&device.code(now, steps))).await, expected);
    }
    assert_eq!(
        try_code(control, Some(&device.code(now, -1))).await,
        None,
        "a clock that is behind"
    );
    let other_server = world.another_server().await;
    let code = device.code(now, 0);
    assert_eq!(try_code(&other_server, Some(&code)).await, None);
    assert_eq!(try_code(control, Some(&code)).await, Some(Code::Unauthenticated));
}

#[tokio::test]
async fn recovery_codes_stand_in_once_each() {
    let world = World::new(2).await;
    let control = &world.control;
    user(&world, "ada", Some(Role::User)).await;
    let (cx, _) = browser(&world, "ada", None).await;
    let (_, codes) = enrol(&world, &cx).await;
    let typed = codes[3].expose().to_lowercase().replace('-', " ");
    assert_eq!(try_code(control, Some(&typed)).await, None);
    assert_eq!(try_code(control, Some(&typed)).await, Some(Code::Unauthenticated));
    let madeup = "AAAA-BBBB-CCCC-DDDD";
    assert_eq!(try_code(control, Some(madeup)).await, Some(Code::Unauthenticated));
    let shown = control.second_factor_show(&cx).await.unwrap();
    assert_eq!((shown.state, shown.recovery_codes_left), (SecondFactorState::On, 9));
    assert_eq!(events(&world, EventKind::UserRecoveryCodeUsed).await, ["9 are left"]);
}

#[tokio::test]
async fn wrong_codes_are_slowed_down_like_wrong_passwords() {
    let world = World::new(3).await;
    let control = &world.control;
    user(&world, "ada", Some(Role::User)).await;
    let (cx, _) = browser(&world, "ada", None).await;
    let (device, _) = enrol(&world, &cx).await;
    for _ in 0..20 {
        assert_eq!(try_code(control, None).await, Some(Code::SecondFactorRequired));
    }
    for _ in 0..10 {
        assert_eq!(try_code(control, Some("000000x")).await, Some(Code::Unauthenticated));
    }
    let code = device.code(world.now(), 1);
    assert_eq!(try_code(control, Some(&code)).await, Some(Code::RateLimited));
    world.advance(Duration::from_secs(1));
    assert_eq!(try_code(control, Some(&code)).await, None, "what had to wait was not used up");
}

#[tokio::test]
async fn it_is_switched_off_with_both_factors_or_by_an_admin() {
    let world = World::new(4).await;
    let control = &world.control;
    user(&world, "ada", Some(Role::User)).await;
    let (cx, _) = browser(&world, "ada", None).await;
    let (device, codes) = enrol(&world, &cx).await;
    world.advance(STEP * 3);
    let code = device.code(world.now(), 0);
    let off = async |password: &str, code: &str| {
        control.second_factor_disable(&cx, &secret(password), &secret(code)).await
    };
    let pointer = |error: Error| error.errors[0].pointer.clone();
    assert_eq!(pointer(off("wrong", &code).await.unwrap_err()), "/password");
    assert_eq!(pointer(off(PASSWORD, "111").await.unwrap_err()), "/code");
    assert_eq!(pointer(off(PASSWORD, "").await.unwrap_err()), "/code");
    off(PASSWORD, &code).await.unwrap();
    assert_eq!(try_code(control, None).await, None);
    let left = world.control.second_factor_show(&cx).await.unwrap();
    assert_eq!((left.state, left.recovery_codes_left), (SecondFactorState::Off, 0));

    let (_, newer) = enrol(&world, &cx).await;
    assert_eq!(try_code(control, Some(codes[0].expose())).await, Some(Code::Unauthenticated));
    off(PASSWORD, newer[0].expose()).await.unwrap();
    enrol(&world, &cx).await;
    control.second_factor_reset(&world.cx, "ada").await.unwrap();
    assert_eq!(try_code(control, None).await, None);
    let nothing = control.second_factor_reset(&world.cx, "ada").await.unwrap_err();
    assert_eq!(nothing.code, Code::Conflict);
    assert_eq!(events(&world, EventKind::UserSecondFactorOff).await.len(), 3);
}

#[tokio::test]
async fn who_must_have_one_has_no_role_before() {
    let config =
        ControlConfig { second_factor_from: Some(Role::Operator), ..ControlConfig::default() };
    let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    let world = World::configured(store, 5, config).await;
    let control = &world.control;
    user(&world, "ada", Some(Role::Operator)).await;
    user(&world, "eve", Some(Role::User)).await;
    let need = Need { permission: Permission::NodeRead, scope: Scope::Global };
    let (eve, _) = browser(&world, "eve", None).await;
    control.require_second_factor(&eve.caller).unwrap();
    assert!(eve.caller.may(need));

    let (ada, _) = browser(&world, "ada", None).await;
    assert!(ada.caller.grants.is_empty());
    assert_eq!(control.authorise(&ada.caller, need).unwrap_err().code, Code::Forbidden);
    let refused = control.require_second_factor(&ada.caller).unwrap_err();
    assert_eq!(refused.code, Code::SecondFactorRequired);
    assert!(refused.hint.contains("hostler auth totp enrol"));
    let shown = control.second_factor_show(&ada).await.unwrap();
    assert_eq!(shown.state, SecondFactorState::Required);

    let (device, _) = enrol(&world, &ada).await;
    world.advance(STEP * 3);
    let (ada, _) = browser(&world, "ada", Some(&device.code(world.now(), 0))).await;
    control.require_second_factor(&ada.caller).unwrap();
    assert!(ada.caller.may(Need { permission: Permission::NodeCordon, scope: Scope::Global }));
}

#[tokio::test]
async fn a_secret_opens_for_its_owner_and_its_installation_only() {
    let world = World::new(6).await;
    let control = &world.control;
    user(&world, "ada", Some(Role::User)).await;
    user(&world, "eve", Some(Role::User)).await;
    let (ada, _) = browser(&world, "ada", None).await;
    let (eve, _) = browser(&world, "eve", None).await;
    let (device, _) = enrol(&world, &ada).await;
    let mut stolen = world
        .store
        .read()
        .await
        .unwrap()
        .second_factor_get(ada.caller.principal_id)
        .await
        .unwrap()
        .unwrap();
    let debug = format!("{stolen:?}");
    assert!(!debug.contains("secret"), "{debug}");
    stolen.principal_id = eve.caller.principal_id;
    let stolen = &stolen;
    let moved: Result<bool, hostler_store::Error> = world
        .store
        .tx("test", |tx| {
            Box::pin(async move {
                tx.second_factor_begin(stolen).await?;
                tx.second_factor_confirm(stolen, 0, stolen.time_created).await
            })
        })
        .await;
    assert!(moved.unwrap());
    let code = secret(&device.code(world.now(), 1));
    let kind = hostler_control::LoginKind::Token;
    let request = from("10.0.0.9");
    let refused = control.login(&request, "eve", &secret(PASSWORD), Some(&code), kind).await;
    assert_eq!(refused.unwrap_err().code, Code::Internal, "a row that was copied does not open");
}
