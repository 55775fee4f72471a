//! When questions are asked, how long they may take, and what is told.

use super::*;

#[tokio::test]
async fn three_bad_answers_in_a_row_are_told_once_and_so_is_recovery() {
    let commands = codes(&[1, 1, 1, 1, 0, 0, 3, 3, 3]);
    let mut ward = Ward::by_hand(commands.clone(), Arc::new(Silence));
    let handle = ward.watch(subject(1), vec![exec()]);
    for _ in 0..2 {
        ward.interval(1).await;
        assert!(ward.is_quiet());
        assert_eq!(handle.health(), None);
    }
    ward.interval(1).await;
    let told = ward.event().await;
    assert_eq!(told, unhealthy(1, "exec check", "exit code 1", Some(Action::Restart)));
    ward.interval(1).await;
    assert!(ward.is_quiet());
    ward.interval(1).await;
    assert_eq!(ward.event().await, healthy(1));
    assert_eq!(handle.health(), Some(Known::Healthy));
    for _ in 0..3 {
        ward.interval(1).await;
        assert!(ward.is_quiet());
    }
    ward.interval(1).await;
    assert_eq!(ward.event().await.health.known(), Known::Unhealthy);
    assert_eq!(commands.asked(), 9);
    let complaint = Some("exit code 3".to_owned());
    let report =
        CheckReport { check: "exec check".into(), health: Some(Known::Unhealthy), complaint };
    assert_eq!(handle.report(), [report]);
}

#[tokio::test]
async fn what_follows_is_what_the_check_asks_for() {
    let mut ward = Ward::by_hand(codes(&[1]), Arc::new(Silence));
    let hook = vec!["page".to_owned(), "somebody".to_owned()];
    let with = |on_unhealthy| HealthCheck { unhealthy_after: 1, on_unhealthy, ..exec() };
    let checks = vec![with(OnUnhealthy::Mark), with(OnUnhealthy::Hook(hook.clone()))];
    let _handle = ward.watch(subject(1), checks);
    ward.rest(2).await;
    ward.manual.advance(INTERVAL);
    let mut actions = [ward.event().await.action, ward.event().await.action];
    actions.sort_by_key(Option::is_some);
    assert_eq!(actions, [None, Some(Action::Hook(hook))]);
}

#[tokio::test]
async fn the_start_period_is_counted_from_the_beginning_of_the_run() {
    let check = HealthCheck { start_period: Span::from_secs(35), unhealthy_after: 1, ..exec() };
    let mut ward = Ward::by_hand(codes(&[1]), Arc::new(Silence));
    let young = ward.watch(subject(1), vec![check.clone()]);
    for _ in 0..3 {
        ward.interval(1).await;
        assert!(ward.is_quiet());
    }
    assert_eq!(young.report()[0].complaint.as_deref(), Some("exit code 1"));
    ward.interval(1).await;
    assert_eq!(ward.event().await.run, run(1));
    drop(young);
    in_time(ward.watches.join_next()).await.unwrap().unwrap();

    let _old = ward.watch(subject(2), vec![check]);
    ward.interval(1).await;
    assert_eq!(ward.event().await.run, run(2));
}

#[tokio::test]
async fn a_slow_command_is_cut_and_never_asked_twice_at_a_time() {
    struct Busy(Arc<AtomicUsize>);
    impl Drop for Busy {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let busy = Arc::new(AtomicUsize::new(0));
    let counted = busy.clone();
    let commands = Commands::new(move |_| {
        let before = counted.fetch_add(1, Ordering::SeqCst);
        assert_eq!(before, 0, "two questions at a time");
        let busy = Busy(counted.clone());
        async move {
            let _busy = busy;
            std::future::pending().await
        }
        .boxed()
    });
    let check = HealthCheck { timeout: Span::from_secs(25), unhealthy_after: 2, ..exec() };
    let mut ward = Ward::by_hand(commands.clone(), Arc::new(Silence));
    let handle = ward.watch(subject(1), vec![check]);
    for (asked, is_busy) in [(1, 1), (1, 1), (1, 1), (1, 0), (2, 1), (2, 1), (2, 1), (2, 0)] {
        ward.interval(1).await;
        let found = (commands.asked(), busy.load(Ordering::SeqCst));
        assert_eq!(found, (asked, is_busy));
    }
    let told = ward.event().await;
    let why = "no answer within 25s";
    assert_eq!(told, unhealthy(1, "exec check", why, Some(Action::Restart)));

    ward.interval(1).await;
    assert_eq!(busy.load(Ordering::SeqCst), 1);
    drop(handle);
    ward.end().await;
    assert_eq!(busy.load(Ordering::SeqCst), 0, "the question under way ends with the handle");
}

#[tokio::test]
async fn a_command_that_cannot_be_run_is_a_bad_answer() {
    let commands = Commands::new(|_| async { Err("no such file".to_owned()) }.boxed());
    let mut ward = Ward::by_hand(commands, Arc::new(Silence));
    let check = HealthCheck { unhealthy_after: 1, ..exec() };
    let _handle = ward.watch(subject(1), vec![check]);
    ward.interval(1).await;
    let told = ward.event().await;
    assert_eq!(told, unhealthy(1, "exec check", "no such file", Some(Action::Restart)));
}

#[tokio::test]
async fn a_watch_ends_with_its_handle_and_with_its_channel() {
    let mut ward = Ward::by_hand(codes(&[0]), Arc::new(Silence));
    let sleeping = ward.watch(subject(1), vec![exec()]);
    ward.rest(1).await;
    drop(sleeping);
    let nothing_to_ask = ward.watch(subject(2), vec![]);
    let telling = ward.watch(subject(3), vec![exec()]);
    let stuck = ward.watch(subject(4), vec![exec()]);
    in_time(ward.watches.join_next()).await.unwrap().unwrap();
    in_time(ward.watches.join_next()).await.unwrap().unwrap();
    ward.rest(2).await;
    ward.manual.advance(INTERVAL);
    ward.rest(1).await;
    drop((telling, stuck));
    ward.end().await;
    assert_eq!(nothing_to_ask.health(), None);

    let mut ward = Ward::by_hand(codes(&[0]), Arc::new(Silence));
    let _kept = ward.watch(subject(1), vec![exec()]);
    ward.rest(1).await;
    ward.events.close();
    ward.manual.advance(INTERVAL);
    ward.end().await;
}

#[tokio::test]
async fn hundreds_of_runs_cost_a_timer_each_and_lose_no_news() {
    const RUNS: usize = 300;
    let commands = codes(&[0]);
    let mut ward = Ward::by_hand(commands.clone(), Arc::new(Silence));
    let ids = 1..=u128::try_from(RUNS).unwrap();
    let handles: Vec<_> = ids.map(|id| ward.watch(subject(id), vec![exec()])).collect();
    ward.rest(RUNS).await;
    assert_eq!(ward.manual.sleepers(), RUNS);
    assert_eq!(commands.asked(), 0);

    let mut most_at_once = 0;
    let mut told = std::collections::HashSet::new();
    for _ in 0..100 {
        let before = commands.asked();
        ward.manual.advance(Duration::from_millis(10));
        while ward.manual.sleepers() < RUNS {
            tokio::task::yield_now().await;
            while let Ok(event) = ward.events.try_recv() {
                assert_eq!(event.health, Health::Healthy);
                assert!(told.insert(event.run), "told once");
            }
        }
        most_at_once = most_at_once.max(commands.asked() - before);
    }
    while let Ok(event) = ward.events.try_recv() {
        told.insert(event.run);
    }
    assert_eq!((commands.asked(), told.len()), (RUNS, RUNS));
    assert!(most_at_once < 20, "{most_at_once} asked within 10 ms");

    ward.interval(RUNS).await;
    assert_eq!(commands.asked(), 2 * RUNS);
    assert!(ward.is_quiet());
    drop(handles);
    ward.end().await;
}

#[tokio::test]
async fn a_run_known_to_be_healthy_is_not_news() {
    let mut ward = Ward::by_hand(codes(&[0, 1]), Arc::new(Silence));
    let before = Subject { before: Some(Known::Healthy), ..subject(1) };
    let handle = ward.watch(before, vec![exec()]);
    assert_eq!(handle.health(), Some(Known::Healthy));
    for _ in 0..3 {
        ward.interval(1).await;
        assert!(ward.is_quiet());
    }
    ward.interval(1).await;
    assert_eq!(ward.event().await.health.known(), Known::Unhealthy);
}
