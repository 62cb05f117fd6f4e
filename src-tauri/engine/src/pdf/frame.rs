//! How parent and child tell one message from the next: a length of four bytes, the highest first, then
//! so many bytes of JSON.

use std::io::{Error, ErrorKind, Read, Write};

use serde::Serialize;

/// Bytes of the length.
pub(super) const HEAD_BYTES: usize = 4;

/// Makes the frame of a message.
pub(super) fn encode(message: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut frame = vec![0; HEAD_BYTES];
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - HEAD_BYTES)
        .map_err(|_| Error::new(ErrorKind::InvalidInput, "the message is too long"))?;
    frame[..HEAD_BYTES].copy_from_slice(&length.to_be_bytes());
    Ok(frame)
}

/// Writes a message.
pub(super) fn write(output: &mut impl Write, message: &impl Serialize) -> std::io::Result<()> {
    output.write_all(&encode(message)?)?;
    output.flush()
}

/// Reads the JSON of the next message, of at most `limit` bytes; `None` at the end.
pub(super) fn read(input: &mut impl Read, limit: usize) -> std::io::Result<Option<Vec<u8>>> {
    let mut head = [0; HEAD_BYTES];
    match input.read_exact(&mut head) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = length(head);
    if length > limit {
        return Err(Error::new(
            ErrorKind::InvalidData,
            "the message is too long",
        ));
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(body))
}

/// Returns the length that a frame begins with.
pub(super) fn length(head: [u8; HEAD_BYTES]) -> usize {
    usize::try_from(u32::from_be_bytes(head)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let mut bytes = Vec::new();
        write(&mut bytes, &"one\ntwo").unwrap();
        write(&mut bytes, &7).unwrap();
        let mut input = bytes.as_slice();
        assert_eq!(read(&mut input, 64).unwrap().unwrap(), b"\"one\\ntwo\"");
        assert_eq!(read(&mut input, 64).unwrap().unwrap(), b"7");
        assert_eq!(read(&mut input, 64).unwrap(), None);
    }

    #[test]
    fn no_more_is_read_than_is_allowed() {
        let mut bytes = Vec::new();
        write(&mut bytes, &"a longer one").unwrap();
        assert!(read(&mut bytes.as_slice(), 5).is_err());
        let cut = &bytes[..bytes.len() - 1];
        assert!(read(&mut { cut }, 64).is_err());
    }
}
