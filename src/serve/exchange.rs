//! A request with its answer, up to the last byte, and its line in the log.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::memory::BodyMemory;

/// Maximum characters of a path in the log.
const MAX_PATH: usize = 200;

/// Request that is being answered, until it is dropped.
pub struct Exchange {
    /// True while its connection answers a request.
    is_answering: Arc<AtomicBool>,
    /// Line of the request in the log, if requests are logged.
    line: Option<RequestLine>,
    status: Option<StatusCode>,
    /// Bytes of the answer's body so far.
    bytes: usize,
    /// Memory reserved for the request's body.
    _body: BodyMemory,
}

/// Line of a request in the log. Queries and bodies have texts of users, which are not logged.
struct RequestLine {
    log: Sender<String>,
    time: SystemTime,
    began: Instant,
    client: IpAddr,
    method: Method,
    path: String,
}

impl Exchange {
    /// Begins to answer a request.
    pub fn begin(
        request: &mut Request,
        client: IpAddr,
        is_answering: &Arc<AtomicBool>,
        log: Option<Sender<String>>,
    ) -> Self {
        is_answering.store(true, Ordering::Relaxed);
        let body = BodyMemory::default();
        request.extensions_mut().insert(body.clone());
        let line = log.map(|log| RequestLine {
            log,
            time: SystemTime::now(),
            began: Instant::now(),
            client,
            method: request.method().clone(),
            path: request.uri().path().chars().take(MAX_PATH).collect(),
        });
        Self { is_answering: Arc::clone(is_answering), line, status: None, bytes: 0, _body: body }
    }

    /// Returns an answer whose body ends the exchange.
    pub fn answer(mut self, response: Response) -> Response {
        self.status = Some(response.status());
        response.map(|body| Body::new(AnswerBody { body, exchange: self }))
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.is_answering.store(false, Ordering::Relaxed);
        if let Some(line) = &self.line {
            // The log ends before the last connections do.
            let _ = line.log.send(line.with_answer(self.status, self.bytes));
        }
    }
}

impl RequestLine {
    /// Returns the line of a request whose answer has so many bytes. Without an answer, its client went away.
    fn with_answer(&self, status: Option<StatusCode>, bytes: usize) -> String {
        let Self { time, began, client, method, path, .. } = self;
        let time = utc(time.duration_since(UNIX_EPOCH).unwrap_or_default());
        let status = status.map_or_else(|| "-".to_owned(), |status| status.as_u16().to_string());
        let milliseconds = 1e3 * began.elapsed().as_secs_f64();
        format!("{time} {client} {method} {path} {status} {bytes} {milliseconds:.1}")
    }
}

/// Returns the time as in ISO 8601. Dates come from days as Howard Hinnant's `civil_from_days` computes them.
fn utc(since_1970: Duration) -> String {
    let seconds = since_1970.as_secs();
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    let [hour, minute, second] = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60];
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Body of an answer, whose bytes are counted as they are sent.
struct AnswerBody {
    body: Body,
    exchange: Exchange,
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame {
            self.exchange.bytes += frame.data_ref().map_or(0, Bytes::len);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(Duration::from_secs(seconds)), date);
        }
    }
}
