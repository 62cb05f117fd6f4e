//! One child: started, and asked about one file after another.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

use super::{PdfError, PdfWorkerConfig};
use crate::pdf::frame;
use crate::pdf::protocol::Message;

/// Most bytes kept of what the child complains about.
const MAX_COMPLAINT_BYTES: usize = 8 << 10;

/// How long a child that is dead may take to be gone with all it said.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What a child said about a file, and how it came to an end of it.
#[derive(Debug)]
pub(super) struct End {
    /// How.
    pub(super) how: How,
    /// What it said, without the last word.
    pub(super) messages: Vec<Message>,
    /// Its standard error.
    pub(super) complaint: String,
}

/// How a child came to the end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// It said all, and whether it can be asked about another file.
    Finished {
        /// Whether it can.
        more: bool,
    },
    /// It died, by itself or by a signal.
    Exited(ExitStatus),
    /// It is not done within the wall limit.
    TimedOut,
    /// It said more than it may.
    TooMuch,
    /// It said what makes no sense.
    Nonsense,
}

/// A child that runs. Dropped, it is killed.
#[derive(Debug)]
pub(super) struct Child {
    process: tokio::process::Child,
    /// Open for as long as the child is wanted: its end tells the child that we are gone.
    input: ChildStdin,
    output: ChildStdout,
    errors: ChildStderr,
}

impl Child {
    /// Starts one.
    pub(super) fn start(config: &PdfWorkerConfig) -> Result<Self, PdfError> {
        let failed = |source| PdfError::Start {
            program: config.program.clone(),
            source,
        };
        let mut command = Command::new(&config.program);
        command
            .args(&config.args)
            .env_clear()
            .envs(config.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Ctrl-C in a terminal goes to the whole group of processes; what happens to children is for us to say.
        #[cfg(unix)]
        command.process_group(0);
        let mut process = command.spawn().map_err(failed)?;
        let (Some(input), Some(output), Some(errors)) = (
            process.stdin.take(),
            process.stdout.take(),
            process.stderr.take(),
        ) else {
            return Err(failed(std::io::Error::other("it has no pipes")));
        };
        Ok(Self {
            process,
            input,
            output,
            errors,
        })
    }

    /// Asks it about one file and hears it out, for at most `wall_limit`.
    ///
    /// Unless it finished and can be asked for more, it must not be asked again.
    pub(super) async fn ask(
        &mut self,
        request: &[u8],
        wall_limit: Duration,
        max_answer_bytes: usize,
    ) -> End {
        let mut messages = Vec::new();
        let mut complaint = Vec::new();
        let conversation = async {
            let hearing = async {
                // A child that died before it listened is noticed by its silence.
                let _ = self.input.write_all(request).await;
                let _ = self.input.flush().await;
                hear(&mut self.output, &mut messages, max_answer_bytes).await
            };
            let mut hearing = std::pin::pin!(hearing);
            let heard = tokio::select! {
                biased;
                heard = &mut hearing => heard,
                () = overhear(&mut self.errors, &mut complaint) => hearing.await,
            };
            match heard {
                Some(how) => how,
                None => match self.process.wait().await {
                    Ok(status) => How::Exited(status),
                    Err(_) => How::Nonsense,
                },
            }
        };
        let how = tokio::time::timeout(wall_limit, conversation)
            .await
            .unwrap_or(How::TimedOut);
        if matches!(how, How::Exited(_)) {
            let last_words = overhear(&mut self.errors, &mut complaint);
            let _ = tokio::time::timeout(LAST_WORDS, last_words).await;
        }
        End {
            how,
            messages,
            complaint: String::from_utf8_lossy(&complaint).trim().to_owned(),
        }
    }

    /// Kills it, if it is not dead already, and waits until it is gone: that keeps the number of children
    /// true. One that hangs in a call to the system, as on a lost network drive, is not waited for.
    pub(super) async fn kill(mut self) {
        let _ = tokio::time::timeout(LAST_WORDS, self.process.kill()).await;
    }
}

/// Reads messages up to the last one of a file; `None` when the child closed its output before.
async fn hear(
    output: &mut (impl AsyncRead + Unpin),
    messages: &mut Vec<Message>,
    mut room: usize,
) -> Option<How> {
    loop {
        let mut head = [0; frame::HEAD_BYTES];
        output.read_exact(&mut head).await.ok()?;
        let length = frame::length(head);
        if length > room {
            return Some(How::TooMuch);
        }
        room -= length;
        let mut body = vec![0; length];
        output.read_exact(&mut body).await.ok()?;
        match serde_json::from_slice(&body) {
            Ok(Message::End { more }) => return Some(How::Finished { more }),
            Ok(message) => messages.push(message),
            Err(_) => return Some(How::Nonsense),
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
