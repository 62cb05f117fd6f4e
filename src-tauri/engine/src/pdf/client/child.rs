//! One child: started, asked, heard out, and gone before this returns.

use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, Command};

use super::{PdfError, PdfWorkerConfig};
use crate::pdf::protocol::Request;

/// Most bytes kept of what the child complains about.
const MAX_COMPLAINT_BYTES: usize = 8 << 10;

/// How a child ended and what it said until then.
#[derive(Debug)]
pub(super) struct End {
    /// How.
    pub(super) how: How,
    /// Its standard output.
    pub(super) answer: Vec<u8>,
    /// Its standard error.
    pub(super) complaint: String,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// By itself, or by a signal.
    Exited(ExitStatus),
    /// It was killed at the wall limit.
    TimedOut,
    /// It was killed because it said more than it may.
    TooMuch,
}

/// Runs one child to its end.
pub(super) async fn run(
    config: &PdfWorkerConfig,
    request: &Request,
    max_answer_bytes: usize,
) -> Result<End, PdfError> {
    let failed = |source| PdfError::Start {
        program: config.program.clone(),
        source,
    };
    let mut command = Command::new(&config.program);
    command
        .args(&config.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // Ctrl-C in a terminal goes to the whole group of processes; what happens to children is for us to say.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(failed)?;
    let (Some(input), Some(mut output), Some(mut errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(failed(std::io::Error::other("it has no pipes")));
    };

    let mut answer = Vec::new();
    let mut complaint = Vec::new();
    let conversation = async {
        let asked = ask(input, request);
        let heard = hear(&mut output, &mut answer, max_answer_bytes);
        let complained = overhear(&mut errors, &mut complaint);
        // The input stays open until the child is done: its end tells the child that we are gone.
        let (_input, complete, ()) = tokio::join!(asked, heard, complained);
        if complete {
            child.wait().await.map(Some)
        } else {
            Ok(None)
        }
    };
    let how = match tokio::time::timeout(config.wall_limit, conversation).await {
        Ok(Ok(Some(status))) => How::Exited(status),
        Ok(Ok(None)) => How::TooMuch,
        Ok(Err(error)) => return Err(failed(error)),
        Err(_) => How::TimedOut,
    };
    if !matches!(how, How::Exited(_)) {
        // Already dead is as good; waiting keeps the number of children true.
        let _ = child.kill().await;
    }
    Ok(End {
        how,
        answer,
        complaint: String::from_utf8_lossy(&complaint).trim().to_owned(),
    })
}

async fn ask(mut input: ChildStdin, request: &Request) -> ChildStdin {
    let mut line = serde_json::to_vec(request).unwrap_or_default();
    line.push(b'\n');
    // A child that died before it listened is noticed by its silence.
    let _ = input.write_all(&line).await;
    let _ = input.flush().await;
    input
}

/// Reads the answer and says whether all of it was read.
async fn hear(output: &mut (impl AsyncRead + Unpin), answer: &mut Vec<u8>, limit: usize) -> bool {
    let mut chunk = vec![0; 64 << 10];
    loop {
        match output.read(&mut chunk).await {
            Ok(0) | Err(_) => return true,
            Ok(count) if answer.len() + count > limit => return false,
            Ok(count) => answer.extend_from_slice(&chunk[..count]),
        }
    }
}

/// Reads complaints, keeping the first of them.
async fn overhear(errors: &mut (impl AsyncRead + Unpin), complaint: &mut Vec<u8>) {
    let mut chunk = vec![0; MAX_COMPLAINT_BYTES];
    while let Ok(count @ 1..) = errors.read(&mut chunk).await {
        let room = MAX_COMPLAINT_BYTES - complaint.len();
        complaint.extend_from_slice(&chunk[..count.min(room)]);
    }
}
