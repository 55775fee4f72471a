//! How people come in: invitations, resets, sessions, and what becomes of who guesses.

use std::time::Duration;

use futures::future::join_all;
use hostler_control::{
    Control, Cx, EventQuery, LoginGrant, LoginKind, NewInvitation, NewUser, RequestMeta, UserPatch,
};
use hostler_model::{
    Caller, Code, Credential, Error, EventKind, Generation, InvitationState, Limit, LoginOutcome,
    Name, PrincipalKind, Role, Scope, Span,
};
use hostler_testkit::World;
use hostler_trust::SecretString;

const PASSWORD: &str = "correct horse battery staple";

pub fn from(source: &str) -> RequestMeta {
    RequestMeta {
        request_id: "test".into(),
        trace: None,
        source: source.into(),
        user_agent: "test".into(),
        idempotency: None,
        consent: None,
    }
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn secret(text: &str) -> SecretString {
    SecretString::new(text)
}

fn new(role: Role) -> NewInvitation {
    NewInvitation { role, name: None, email: String::new(), ttl: None }
}

pub async fn user(world: &World, text: &str, role: Option<Role>) {
    let password = Some(secret(PASSWORD));
    let new = NewUser {
        name: name(text),
        kind: PrincipalKind::User,
        password,
        role: role.map(Into::into),
    };
    world.control.user_create(&world.cx, new).await.unwrap();
}

pub async fn login(
    control: &Control,
    source: &str,
    name: &str,
    password: &str,
    code: Option<&str>,
) -> Result<LoginGrant, Error> {
    let code = code.map(secret);
    let kind = LoginKind::Cookie;
    control.login(&from(source), name, &secret(password), code.as_ref(), kind).await
}

/// The caller of a fresh browser session, with the session's secret.
pub async fn browser(world: &World, name: &str, code: Option<&str>) -> (Cx, String) {
    let grant = login(&world.control, "10.0.0.9", name, PASSWORD, code).await.unwrap();
    let caller = world.control.caller_by_session(grant.secret.expose()).await.unwrap();
    (Cx { caller, request: from("10.0.0.9") }, grant.secret.expose().to_owned())
}

async fn accept(
    control: &Control,
    invitation: &str,
    as_name: Option<&str>,
) -> Result<LoginGrant, Error> {
    let password = secret(PASSWORD);
    control
        .invitation_accept(
            &from("10.0.0.7"),
            invitation,
            as_name.map(name),
            &password,
            LoginKind::Token,
        )
        .await
}

pub async fn events(world: &World, kind: EventKind) -> Vec<String> {
    let query = EventQuery { kind: Some(kind.into()), ..EventQuery::default() };
    let page = world.control.event_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap();
    page.items.into_iter().map(|event| event.event.message).collect()
}

async fn caller_of(world: &World, grant: &LoginGrant) -> Caller {
    world.control.caller_by_token(grant.secret.expose()).await.unwrap()
}

#[tokio::test]
async fn an_invitation_makes_one_account_with_its_role() {
    let world = World::new(1).await;
    let (control, cx) = (&world.control, &world.cx);
    let (made, link) =
        control.invitation_create(cx, Some(&world.project), new(Role::Operator)).await.unwrap();
    assert_eq!(made.invitation.state(world.now()), InvitationState::Unused);
    assert!(!format!("{made:?}").contains(link.expose()));
    let offer = control.invitation_look(link.expose()).await.unwrap();
    assert_eq!((offer.created_by.as_str(), offer.project), ("admin", Some(name("default"))));

    let nameless = accept(control, link.expose(), None).await.unwrap_err();
    assert_eq!((nameless.code, nameless.errors[0].pointer.as_str()), (Code::Invalid, "/name"));
    let taken = accept(control, link.expose(), Some("admin")).await.unwrap_err();
    assert_eq!(taken.code, Code::AlreadyExists);
    let grant = accept(control, link.expose(), Some("ada")).await.unwrap();
    let caller = caller_of(&world, &grant).await;
    assert_eq!(caller.role_in(Scope::Project(world.project.id)), Some(Role::Operator));
    assert_eq!(caller.role_in(Scope::Global), None);

    let again = accept(control, link.expose(), Some("eve")).await.unwrap_err();
    assert_eq!(again.code, Code::Unauthenticated);
    assert!(again.detail.contains("used already"), "{again}");
    let listed = control.invitation_list(cx, None, None, Limit::DEFAULT).await.unwrap();
    assert_eq!(listed.items[0].used_by.as_deref(), Some("ada"));
    assert_eq!(events(&world, EventKind::InvitationAccepted).await.len(), 1);
    assert_eq!(events(&world, EventKind::InvitationRefused).await.len(), 1);
    login(control, "10.0.0.7", "ada", PASSWORD, None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_that_accept_at_once_one_gets_in() {
    let world = World::new(2).await;
    let (_, link) =
        world.control.invitation_create(&world.cx, None, new(Role::User)).await.unwrap();
    let names: Vec<String> = (0..50).map(|n| format!("racer-{n}")).collect();
    let racing = names.iter().enumerate().map(|(n, racer)| {
        let (control, link) = (world.control.clone(), link.expose());
        async move {
            // From as many addresses: one alone finds eight places for its passwords.
            let request = from(&format!("10.1.0.{n}"));
            let kind = LoginKind::Token;
            let password = secret(PASSWORD);
            control.invitation_accept(&request, link, Some(name(racer)), &password, kind).await
        }
    });
    let outcomes = join_all(racing).await;
    let won = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(won, 1);
    for refused in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        assert_eq!(refused.code, Code::Unauthenticated, "{refused}");
    }
    let users = world.control.user_list(&world.cx, None, Limit::DEFAULT).await.unwrap();
    let racers = users.items.iter().filter(|u| u.principal.name.as_str().starts_with("racer"));
    assert_eq!(racers.count(), 1);
}

#[tokio::test]
async fn an_invitation_ends_with_its_time_its_maker_and_its_revocation() {
    let world = World::new(3).await;
    let (control, cx) = (&world.control, &world.cx);
    let refused = async |link: &str, words: &str| {
        let error = accept(control, link, Some("ada")).await.unwrap_err();
        assert_eq!(error.code, Code::Unauthenticated);
        assert!(error.detail.contains(words), "{error}");
    };
    let brief = NewInvitation { ttl: Some(Span::from_secs(60)), ..new(Role::User) };
    let (_, late) = control.invitation_create(cx, None, brief).await.unwrap();
    world.advance(Duration::from_secs(60));
    refused(late.expose(), "expired").await;

    let (made, link) = control.invitation_create(cx, None, new(Role::User)).await.unwrap();
    let id = made.invitation.id;
    let foreign = control.invitation_revoke(cx, Some(&world.project), id).await.unwrap_err();
    assert_eq!(foreign.code, Code::NotFound, "it is of no project");
    control.invitation_revoke(cx, None, id).await.unwrap();
    control.invitation_revoke(cx, None, id).await.unwrap();
    refused(link.expose(), "revoked").await;
    assert_eq!(events(&world, EventKind::InvitationRevoked).await.len(), 1);

    user(&world, "boss", Some(Role::Admin)).await;
    let (boss, _) = browser(&world, "boss", None).await;
    let (_, link) = control.invitation_create(&boss, None, new(Role::Admin)).await.unwrap();
    control.invitation_look(link.expose()).await.unwrap();
    let demoted = UserPatch { role: Some(Some(Role::Operator.into())), ..UserPatch::default() };
    control.user_update(cx, "boss", demoted, Generation::FIRST).await.unwrap();
    refused(link.expose(), "may not give that role any more").await;
    let unknown = hostler_trust::SecretToken::generate(hostler_trust::TokenKind::Invitation);
    refused(unknown.expose(), "not an invitation").await;
    refused("hst_inv_x", "not an invitation").await;
}

#[tokio::test]
async fn nobody_invites_to_more_than_they_hold() {
    let world = World::new(4).await;
    let control = &world.control;
    user(&world, "ada", None).await;
    control.member_set(&world.cx, &world.project, "ada", Role::Operator.into()).await.unwrap();
    let (ada, _) = browser(&world, "ada", None).await;
    for (project, role) in [(None, Role::Viewer), (Some(&world.project), Role::Admin)] {
        let refused = control.invitation_create(&ada, project, new(role)).await.unwrap_err();
        assert_eq!(refused.code, Code::Forbidden);
    }
    // Her role is less than an admin's: what she made would not be accepted either.
    let (_, link) =
        control.invitation_create(&ada, Some(&world.project), new(Role::User)).await.unwrap();
    let refused = accept(control, link.expose(), Some("eve")).await.unwrap_err();
    assert_eq!(refused.code, Code::Unauthenticated);
}

#[tokio::test]
async fn an_invitation_can_be_bound_to_a_name() {
    let world = World::new(5).await;
    let (control, cx) = (&world.control, &world.cx);
    let bound = NewInvitation { name: Some(name("ada")), ..new(Role::User) };
    let (_, link) = control.invitation_create(cx, None, bound.clone()).await.unwrap();
    let other = accept(control, link.expose(), Some("eve")).await.unwrap_err();
    assert_eq!(other.code, Code::Invalid);
    let grant = accept(control, link.expose(), None).await.unwrap();
    assert_eq!(grant.principal.name, name("ada"));
    let taken = control.invitation_create(cx, None, bound).await.unwrap_err();
    assert_eq!(taken.code, Code::AlreadyExists);
    for wrong in [
        NewInvitation { ttl: Some(Span::from_secs(31 * 86_400)), ..new(Role::User) },
        NewInvitation { email: "a\nb".into(), ..new(Role::User) },
    ] {
        let error = control.invitation_create(cx, None, wrong).await.unwrap_err();
        assert_eq!(error.code, Code::Invalid);
    }
}

#[tokio::test]
async fn a_reset_sets_a_password_once_and_ends_every_session() {
    let world = World::new(6).await;
    let (control, cx) = (&world.control, &world.cx);
    user(&world, "ada", Some(Role::User)).await;
    let (_, session) = browser(&world, "ada", None).await;
    let code = None;
    let request = from("10.0.0.9");
    let kind = LoginKind::Token;
    let command_line = control.login(&request, "ada", &secret(PASSWORD), code, kind).await.unwrap();
    let (first, _, replaced) = control.password_reset_issue(cx, "ada", None).await.unwrap();
    assert_eq!(first.time_expires, world.now().plus(Duration::from_secs(3600)));
    let (_, of, link) = control.password_reset_issue(cx, "ada", None).await.unwrap();
    assert_eq!(of, name("ada"));
    control.caller_by_session(&session).await.unwrap();

    let new = secret("another horse, another battery");
    let weak = control.password_reset_use(&request, link.expose(), &secret("ada")).await;
    assert_eq!(weak.unwrap_err().code, Code::Invalid, "and the link goes on");
    let stale = control.password_reset_use(&request, replaced.expose(), &new).await;
    assert_eq!(stale.unwrap_err().code, Code::Unauthenticated);
    control.password_reset_use(&request, link.expose(), &new).await.unwrap();
    let again = control.password_reset_use(&request, link.expose(), &new).await;
    assert_eq!(again.unwrap_err().code, Code::Unauthenticated);

    let ended = control.caller_by_session(&session).await.unwrap_err();
    assert_eq!(ended.code, Code::Unauthenticated);
    let revoked = control.caller_by_token(command_line.secret.expose()).await.unwrap_err();
    assert_eq!(revoked.code, Code::Unauthenticated);
    let old = login(control, "10.0.0.9", "ada", PASSWORD, None).await.unwrap_err();
    assert_eq!(old.code, Code::Unauthenticated);
    login(control, "10.0.0.9", "ada", new.expose(), None).await.unwrap();
    assert_eq!(events(&world, EventKind::UserResetUsed).await.len(), 1);

    let (_, _, late) =
        control.password_reset_issue(cx, "ada", Some(Span::from_secs(60))).await.unwrap();
    world.advance(Duration::from_secs(60));
    let late = control.password_reset_use(&request, late.expose(), &new).await;
    assert_eq!(late.unwrap_err().code, Code::Unauthenticated);
}

#[tokio::test]
async fn sessions_end_when_nobody_uses_them_and_when_they_are_old() {
    let world = World::new(7).await;
    let control = &world.control;
    user(&world, "ada", Some(Role::User)).await;
    let (cx, session) = browser(&world, "ada", None).await;
    let minutes = |n: u64| Duration::from_secs(n * 60);
    for _ in 0..3 {
        world.advance(minutes(100));
        control.caller_by_session(&session).await.unwrap();
    }
    world.advance(minutes(121));
    let idle = control.caller_by_session(&session).await.unwrap_err();
    assert_eq!(idle.code, Code::Unauthenticated);
    assert!(control.web_session_list(&cx).await.unwrap().is_empty());

    let (_, watched) = browser(&world, "ada", None).await;
    for _ in 0..13 {
        world.advance(minutes(10));
        let _ = control.caller_by_session_unused(&watched).await;
    }
    let watched = control.caller_by_session_unused(&watched).await.unwrap_err();
    assert_eq!(watched.code, Code::Unauthenticated, "an open stream is no use");

    let (_, busy) = browser(&world, "ada", None).await;
    for _ in 0..12 {
        world.advance(minutes(59));
        control.caller_by_session(&busy).await.unwrap();
    }
    world.advance(minutes(13));
    let busy = control.caller_by_session(&busy).await.unwrap_err();
    assert_eq!(busy.code, Code::Unauthenticated, "twelve hours are enough");
}

#[tokio::test]
async fn a_new_password_gives_the_session_a_new_secret_and_ends_the_others() {
    let world = World::new(8).await;
    let control = &world.control;
    user(&world, "ada", Some(Role::User)).await;
    let (_, other) = browser(&world, "ada", None).await;
    let (cx, session) = browser(&world, "ada", None).await;
    assert_ne!(other, session, "every login has a secret of its own");
    let wrong = control.password_change(&cx, &secret("no"), &secret("x")).await.unwrap_err();
    assert_eq!(wrong.errors[0].pointer, "/current");
    let new = secret("another horse, another battery");
    let rekeyed = control.password_change(&cx, &secret(PASSWORD), &new).await.unwrap().unwrap();
    for ended in [&other, &session] {
        assert!(control.caller_by_session(ended).await.is_err());
    }
    let caller = control.caller_by_session(rekeyed.secret.expose()).await.unwrap();
    assert_eq!(caller.credential, cx.caller.credential, "the session is the same");
}

#[tokio::test]
async fn an_admin_sees_and_ends_sessions_of_others() {
    let world = World::new(9).await;
    let control = &world.control;
    user(&world, "ada", Some(Role::User)).await;
    user(&world, "eve", Some(Role::User)).await;
    let (first, session) = browser(&world, "ada", None).await;
    browser(&world, "ada", None).await;
    let (_, eves) = browser(&world, "eve", None).await;
    let listed = control.user_session_list(&world.cx, "ada").await.unwrap();
    assert_eq!(listed.len(), 2);
    let Credential::WebSession(id) = first.caller.credential else { panic!("a browser") };
    let foreign = control.user_session_end(&world.cx, "eve", id).await.unwrap_err();
    assert_eq!(foreign.code, Code::NotFound);
    control.user_session_end(&world.cx, "ada", id).await.unwrap();
    assert!(control.caller_by_session(&session).await.is_err());
    let ended = control.user_sessions_end(&world.cx, "ada").await.unwrap();
    assert_eq!((ended.browsers, ended.command_lines), (1, 0));
    control.caller_by_session(&eves).await.unwrap();
    assert_eq!(events(&world, EventKind::UserSessionsEnded).await.len(), 2);

    let (mine, here) = browser(&world, "eve", None).await;
    let ended = control.own_sessions_end(&mine).await.unwrap();
    assert_eq!(ended.browsers, 1);
    assert!(control.caller_by_session(&eves).await.is_err());
    control.caller_by_session(&here).await.unwrap();
}

fn wait(result: Result<LoginGrant, Error>) -> u64 {
    let error = result.unwrap_err();
    assert_eq!(error.code, Code::RateLimited, "{error}");
    let seconds = error.retry_after.unwrap();
    assert!(error.hint.contains(&format!("wait {seconds} s")), "{}", error.hint);
    seconds
}

async fn fail(control: &Control, source: &str, name: &str, times: usize) {
    for _ in 0..times {
        let wrong = login(control, source, name, "wrong", None).await.unwrap_err();
        assert_eq!(wrong.code, Code::Unauthenticated, "{wrong}");
    }
}

#[tokio::test]
async fn guessing_gets_slower_on_every_server_and_for_the_right_password_too() {
    let world = World::new(10).await;
    user(&world, "ada", Some(Role::User)).await;
    let control = &world.control;
    fail(control, "10.0.0.1", "ada", 10).await;
    assert_eq!(wait(login(control, "10.0.0.1", "ada", PASSWORD, None).await), 1);
    assert_eq!(wait(login(control, "10.0.0.2", "ADA", PASSWORD, None).await), 1);
    let other = world.another_server().await;
    assert_eq!(wait(login(&other, "10.0.0.1", "ada", PASSWORD, None).await), 1);
    let mut waits = Vec::new();
    for _ in 0..10 {
        let seconds = wait(login(&other, "10.0.0.1", "ada", PASSWORD, None).await);
        waits.push(seconds);
        world.advance(Duration::from_secs(seconds));
        fail(control, "10.0.0.1", "ada", 1).await;
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    let told = events(&world, EventKind::LoginThrottled).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("10 logins with this name failed"), "{told:?}");
    let count = |control: &Control, of: LoginOutcome| {
        control.login_counts().into_iter().find(|(outcome, _)| *outcome == of).unwrap().1
    };
    assert_eq!(count(control, LoginOutcome::Wrong), 20);
    assert_eq!(count(control, LoginOutcome::Waiting), 2);
    assert_eq!(count(&other, LoginOutcome::Waiting), 11);

    world.advance(Duration::from_secs(300));
    login(control, "10.0.0.1", "ada", PASSWORD, None).await.unwrap();
    fail(control, "10.0.0.1", "ada", 9).await;
    login(control, "10.0.0.1", "ada", PASSWORD, None).await.unwrap();
}

#[tokio::test]
async fn names_that_do_not_exist_are_like_those_that_do() {
    let world = World::new(11).await;
    fail(&world.control, "10.0.0.1", "nobody-here", 10).await;
    assert_eq!(wait(login(&world.control, "10.0.0.1", "nobody-here", "x", None).await), 1);
    let told = events(&world, EventKind::LoginThrottled).await;
    assert!(told[0].contains("a name that does not exist"), "{told:?}");
    assert!(!told[0].contains("nobody-here"), "it may be a password: {told:?}");
}

#[tokio::test]
async fn who_attacks_a_name_does_not_keep_its_owner_out() {
    let world = World::new(12).await;
    user(&world, "ada", Some(Role::Admin)).await;
    let control = &world.control;
    login(control, "10.0.0.1", "ada", PASSWORD, None).await.unwrap();
    for n in 0..4 {
        let attacker = format!("192.0.2.{n}");
        for _ in 0..20 {
            let _ = login(control, &attacker, "ada", "wrong", None).await;
        }
    }
    wait(login(control, "192.0.2.9", "ada", PASSWORD, None).await);
    login(control, "10.0.0.1", "ada", PASSWORD, None).await.unwrap();
    fail(control, "10.0.0.1", "ada", 10).await;
    assert_eq!(wait(login(control, "10.0.0.1", "ada", PASSWORD, None).await), 1, "but it counts");
}

#[tokio::test]
async fn an_address_that_tries_many_names_waits() {
    let world = World::new(13).await;
    user(&world, "ada", Some(Role::User)).await;
    let control = &world.control;
    for n in 0..30 {
        fail(control, "2001:db8::1", &format!("guess-{n}"), 1).await;
    }
    assert_eq!(wait(login(control, "2001:db8::2", "ada", PASSWORD, None).await), 1);
    login(control, "2001:db8:0:1::1", "ada", PASSWORD, None).await.unwrap();
    let told = events(&world, EventKind::LoginThrottled).await;
    assert!(told[0].contains("of this address"), "{told:?}");
}
