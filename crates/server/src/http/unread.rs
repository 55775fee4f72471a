//! Bodies that nobody read.
//!
//! Most refusals are made before a request's body is read, and what is left of it can cost the caller
//! the answer.
//!
//! On an HTTP/1 connection the rest stands before the next request, and a connection that is closed
//! with unread bytes is reset. So a little of what is left is read and thrown away; where that is not
//! enough, the answer says that the connection closes, and the caller does not send the next request
//! into it.
//!
//! On an HTTP/2 connection the end of the answer resets the stream while the caller still writes, and
//! some (curl 7.88) then drop what they had received. So the answer goes out whole, and only its
//! end waits until the caller wrote everything, gave up, or took too long.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use hostler_base::Clock;
use http::header::CONNECTION;
use http::{HeaderValue, Version};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};

/// How much is thrown away for the sake of a connection, and for how long.
const BYTES_MAX: usize = 4 << 20;
const TIME_MAX: Duration = Duration::from_millis(500);
/// The same for a stream, whose answer is not kept waiting.
const STREAM_BYTES_MAX: usize = 64 << 20;
const STREAM_TIME_MAX: Duration = Duration::from_secs(10);

pub(crate) async fn discard(State(clock): State<Clock>, request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let is_stream = request.version() >= Version::HTTP_2;
    let left = Left::default();
    let (parts, body) = request.into_parts();
    let body = Body::new(Tracked { body: Some(body), left: left.clone() });
    let mut response = next.run(Request::from_parts(parts, body)).await;
    let Some(body) = left.take() else {
        return response;
    };
    if is_stream {
        let read = async move {
            let _ = clock.timeout(STREAM_TIME_MAX, read_out(body, STREAM_BYTES_MAX)).await;
        };
        return response
            .map(|body| Body::new(EndsAfter { body: Some(body), read: Box::pin(read) }));
    }
    let is_read = clock.timeout(TIME_MAX, read_out(body, BYTES_MAX)).await.unwrap_or(false);
    if !is_read {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Whether the end was reached.
async fn read_out(mut body: Body, bytes_max: usize) -> bool {
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > bytes_max {
            return false;
        }
    }
    true
}

/// The body of an answer whose end waits until something else was read.
struct EndsAfter {
    /// Until its end was reached.
    body: Option<Body>,
    read: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HttpBody for EndsAfter {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some(body) = &mut self.body {
            if let Some(frame) = ready!(Pin::new(body).poll_frame(cx)) {
                return Poll::Ready(Some(frame));
            }
            self.body = None;
        }
        self.read.as_mut().poll(cx).map(|()| None)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

/// What a handler dropped before its end.
#[derive(Clone, Default)]
struct Left(Arc<Mutex<Option<Body>>>);

impl Left {
    fn put(&self, body: Body) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
    }

    fn take(&self) -> Option<Body> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A body that gives itself back when it is dropped too early.
struct Tracked {
    /// Until its end was reached.
    body: Option<Body>,
    left: Left,
}

impl HttpBody for Tracked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(cx);
        if let Poll::Ready(None | Some(Err(_))) = &polled {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            self.left.put(body);
        }
    }
}
