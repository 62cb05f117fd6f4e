//! Server-sent events from chunks of bytes that may be cut anywhere.
//!
//! Follows the WHATWG rules for `text/event-stream`: lines end in LF, CRLF or CR, several `data`
//! lines are one datum, comments and unknown fields are skipped, an event ends at an empty line.

/// One event as sent: its name and its data.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RawEvent {
    /// The `event` field; empty when there was none.
    pub(super) name: String,
    /// The `data` lines, joined by line feeds.
    pub(super) data: String,
}

/// An event grew past what any honest server sends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Largest event in bytes. Real ones are a few kilobytes; the bound keeps memory safe.
const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

/// Cuts a byte stream into events.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    line: Vec<u8>,
    /// The last byte was a CR: a LF right after it belongs to the same line end.
    after_carriage_return: bool,
    began: bool,
    event: RawEvent,
    has_data: bool,
}

impl Decoder {
    /// Takes a chunk and appends the events that it completes to `events`.
    pub(super) fn feed(&mut self, chunk: &[u8], events: &mut Vec<RawEvent>) -> Result<(), TooLong> {
        for &byte in chunk {
            match byte {
                b'\n' if self.after_carriage_return => self.after_carriage_return = false,
                b'\n' | b'\r' => {
                    self.after_carriage_return = byte == b'\r';
                    self.end_line(events);
                }
                _ => {
                    self.after_carriage_return = false;
                    self.line.push(byte);
                }
            }
            if self.line.len() + self.event.data.len() > MAX_EVENT_BYTES {
                return Err(TooLong);
            }
        }
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<RawEvent>) {
        // Whole lines are decoded, so a character cut by a chunk's border is whole again here.
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let mut line = text.as_ref();
        if !self.began {
            self.began = true;
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                events.push(event);
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(value);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(chunks: &[&[u8]]) -> Vec<RawEvent> {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk, &mut events).unwrap();
        }
        events
    }

    fn event(name: &str, data: &str) -> RawEvent {
        RawEvent {
            name: name.to_owned(),
            data: data.to_owned(),
        }
    }

    #[test]
    fn every_cut_gives_the_same_events() {
        let text = "\u{feff}: hello\r\nevent: a\r\nid: 7\r\ndata: {\"é\r\ndata:  界🎈\"}\r\n\r\nevent: b\n\
                    data:x\n\nevent: no data\n\nretry: 3\rdata\r\rdata: unfinished";
        let bytes = text.as_bytes();
        let expected = vec![event("a", "{\"é\n 界🎈\"}"), event("b", "x"), event("", "")];
        assert_eq!(decode(&[bytes]), expected);
        for first in 0..bytes.len() {
            let (head, tail) = bytes.split_at(first);
            assert_eq!(decode(&[head, tail]), expected, "cut at {first}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single), expected);
    }

    #[test]
    fn an_endless_event_is_given_up() {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        let line = [b"data: ".as_slice(), &[b'x'; 1_000_000], b"\n"].concat();
        let ends = (0..10).any(|_| decoder.feed(&line, &mut events) == Err(TooLong));
        assert!(ends);
        assert!(events.is_empty());
    }
}
