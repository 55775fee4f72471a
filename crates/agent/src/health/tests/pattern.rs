//! Lines of output that say that a program is ready.

use super::*;

/// Output that a test writes: everything so far for who comes later, then what comes.
#[derive(Default)]
struct Output {
    written: Mutex<Vec<&'static str>>,
    readers: Mutex<Vec<mpsc::Sender<Vec<u8>>>>,
    followed: AtomicUsize,
}

impl Output {
    fn of(lines: &[&'static str]) -> Arc<Output> {
        Arc::new(Output { written: Mutex::new(lines.to_vec()), ..Output::default() })
    }

    fn write(&self, line: &'static str) {
        self.written.lock().unwrap().push(line);
        self.readers
            .lock()
            .unwrap()
            .retain(|reader| reader.try_send(line.as_bytes().to_vec()).is_ok());
    }

    fn hang_up(&self) {
        self.readers.lock().unwrap().clear();
    }

    fn readers(&self) -> usize {
        let mut readers = self.readers.lock().unwrap();
        readers.retain(|reader| !reader.is_closed());
        readers.len()
    }
}

impl Lines for Output {
    fn follow(&self, _: RunId) -> BoxStream<'static, Vec<u8>> {
        self.followed.fetch_add(1, Ordering::SeqCst);
        let (lines, mut received) = mpsc::channel(100);
        for line in self.written.lock().unwrap().iter() {
            lines.try_send(line.as_bytes().to_vec()).unwrap();
        }
        self.readers.lock().unwrap().push(lines);
        futures::stream::poll_fn(move |context| received.poll_recv(context)).boxed()
    }
}

fn log(pattern: &str) -> HealthCheck {
    HealthCheck::new(Check::Log(pattern.to_owned()))
}

#[tokio::test]
async fn a_match_is_told_at_once_and_ends_the_questions() {
    let output = Output::of(&["starting"]);
    let mut ward = Ward::by_hand(codes(&[0]), output.clone());
    let handle = ward.watch(subject(1), vec![log("^ready to serve \\d+$")]);
    ward.rest(1).await;
    output.write("not ready to serve 8080");
    output.write("ready to serve 8080");
    assert_eq!(ward.event().await, healthy(1));
    ward.end().await;
    assert_eq!(output.readers(), 0);
    assert_eq!(handle.health(), Some(Known::Healthy));
}

#[tokio::test]
async fn it_is_found_again_by_who_comes_later() {
    let output = Output::of(&["starting", "\u{fffd} ready", "working"]);
    let mut ward = Ward::by_hand(codes(&[0]), output);
    let _handle = ward.watch(subject(1), vec![log("ready")]);
    assert_eq!(ward.event().await, healthy(1));
}

#[tokio::test]
async fn silence_is_bad_but_not_for_ever() {
    let output = Output::of(&[]);
    let mut ward = Ward::by_hand(codes(&[0]), output.clone());
    let _handle = ward.watch(subject(1), vec![log("ready")]);
    for _ in 0..2 {
        ward.interval(1).await;
        assert!(ward.is_quiet());
    }
    ward.interval(1).await;
    let why = "no line of its output has matched `ready` yet";
    assert_eq!(ward.event().await, unhealthy(1, "log ready", why, Some(Action::Restart)));
    output.write("ready");
    assert_eq!(ward.event().await, healthy(1));
    ward.end().await;
    assert_eq!(output.followed.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn output_that_could_not_be_read_on_is_opened_again() {
    let output = Output::of(&["starting"]);
    let mut ward = Ward::by_hand(codes(&[0]), output.clone());
    let _handle = ward.watch(subject(1), vec![log("ready")]);
    ward.rest(1).await;
    output.hang_up();
    output.write("ready");
    ward.manual.advance(INTERVAL);
    assert_eq!(ward.event().await, healthy(1));
    assert_eq!(output.followed.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn what_was_healthy_need_not_be_found_again() {
    let output = Output::of(&["the line is no longer kept"]);
    let mut ward = Ward::by_hand(codes(&[0]), output.clone());
    let before = Subject { before: Some(Known::Healthy), ..subject(1) };
    let handle = ward.watch(before, vec![log("ready")]);
    ward.rest(1).await;
    ward.manual.advance(INTERVAL);
    let mut events = std::mem::replace(&mut ward.events, mpsc::channel(1).1);
    ward.end().await;
    assert!(events.try_recv().is_err());
    assert_eq!(output.followed.load(Ordering::SeqCst), 0);
    assert_eq!(handle.health(), Some(Known::Healthy));
}

#[tokio::test]
async fn several_good_answers_are_waited_for() {
    let output = Output::of(&["ready"]);
    let mut ward = Ward::by_hand(codes(&[0]), output);
    let check = HealthCheck { healthy_after: 2, ..log("ready") };
    let _handle = ward.watch(subject(1), vec![check]);
    ward.rest(1).await;
    assert!(ward.is_quiet());
    ward.manual.advance(2 * INTERVAL);
    assert_eq!(ward.event().await, healthy(1));
    ward.end().await;
}
