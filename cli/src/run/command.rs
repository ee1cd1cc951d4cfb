//! One run of a tool's command: arguments in, output out, and nothing of it left when it has to stop.

use std::{
    io,
    pin::pin,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use futures_util::future::{Either, join, select, try_join};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
    time::timeout,
};

use super::remote::TOKEN;

/// What a command printed.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) out: Vec<u8>,
    /// At most [`ERROR_BYTES`]; what follows is dropped.
    pub(crate) err: Vec<u8>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It printed more than may be kept, and was stopped.
    TooMuch,
    /// Its answer is not wanted any more, and it was stopped.
    Cancelled,
}

/// Runs `command` by `sh -c` with `input` on its standard input, and keeps at most `bound` bytes of its output, until `cancelled` resolves.
///
/// # Errors
/// The shell cannot be started or waited for.
pub(crate) async fn run(
    command: &str,
    input: &str,
    bound: u64,
    cancelled: impl Future<Output = ()>,
) -> io::Result<(End, Printed)> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        // It is for us and the daemon.
        .env_remove(TOKEN)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let group = Group::of(&child);
    let (mut stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let mut printed = Printed { out: Vec::new(), err: Vec::new() };
    let end = {
        let feed = async {
            if let Some(mut stdin) = stdin.take() {
                // A command that does not read its arguments is fine.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
        };
        let (out, err) = (&mut printed.out, &mut printed.err);
        let read_out = async {
            if let Some(mut stdout) = stdout {
                read(&mut stdout, out, bound.saturating_add(1)).await;
            }
            if out.len() as u64 > bound { Err(TooMuch) } else { Ok(()) }
        };
        let read_err = async {
            let keep_some = async {
                if let Some(mut stderr) = stderr {
                    read(&mut stderr, err, ERROR_BYTES).await;
                    let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
                }
            };
            join(keep_some, feed).await;
            Ok(())
        };
        let talk = Box::pin(try_join(read_out, read_err));
        let exit = Box::pin(child.wait());
        let finish = Box::pin(async {
            match select(talk, exit).await {
                Either::Left((Err(TooMuch), _)) => Ok(End::TooMuch),
                Either::Left((Ok(_), exit)) => exit.await.map(End::Exited),
                // What the command left running in the background may hold the pipes open for ever.
                Either::Right((status, talk)) => match timeout(LINGER, talk).await {
                    Ok(Err(TooMuch)) => Ok(End::TooMuch),
                    _ => status.map(End::Exited),
                },
            }
        });
        match select(pin!(cancelled), finish).await {
            Either::Left(_) => End::Cancelled,
            Either::Right((end, _)) => end?,
        }
    };
    match end {
        End::Exited(_) => group.forget(),
        End::TooMuch | End::Cancelled => group.stop(&mut child).await,
    }
    Ok((end, printed))
}

struct TooMuch;

/// Reads to the end, or `bound` bytes.
async fn read(from: &mut (impl AsyncRead + Unpin), into: &mut Vec<u8>, bound: u64) {
    // A pipe that breaks has ended.
    let _ = from.take(bound).read_to_end(into).await;
}

/// The process group of a command: the shell and all that it started.
struct Group {
    id: Option<i32>,
}

impl Group {
    fn of(child: &Child) -> Self {
        Self { id: child.id().and_then(|id| i32::try_from(id).ok()) }
    }

    /// Asks the processes to end, and ends those that do not.
    async fn stop(mut self, child: &mut Child) {
        self.signal(libc::SIGTERM);
        // Whether it ended or not: others of its group may still run.
        let _ = timeout(STOP_WAIT, child.wait()).await;
        self.signal(libc::SIGKILL);
        self.id = None;
        // Killed, so this is the reaping.
        let _ = child.wait().await;
    }

    /// The command ended by itself; what it left running is the user's.
    fn forget(mut self) {
        self.id = None;
    }

    fn signal(&self, signal: i32) {
        if let Some(id) = self.id {
            // SAFETY: `killpg` takes two integers. The number is our group's: a group keeps its number as long as one
            // process of it lives, and this is called at most moments after the last one was reaped.
            unsafe { libc::killpg(id, signal) };
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(libc::SIGKILL);
    }
}

/// How much of a command's standard error is kept, in bytes.
pub(crate) const ERROR_BYTES: u64 = 64 * 1024;
const LINGER: Duration = Duration::from_millis(300);
const STOP_WAIT: Duration = Duration::from_millis(300);

#[cfg(test)]
mod tests {
    use codemode_protocol::CancelSource;

    use super::*;

    async fn shell(command: &str, input: &str, bound: u64) -> (End, String, String) {
        let (end, printed) = run(command, input, bound, std::future::pending()).await.unwrap();
        (end, String::from_utf8(printed.out).unwrap(), String::from_utf8(printed.err).unwrap())
    }

    #[tokio::test]
    async fn input_goes_in_and_output_comes_out() {
        let (end, out, err) = shell("cat; echo oops >&2; exit 3", "[1]", 100).await;
        assert!(matches!(end, End::Exited(status) if status.code() == Some(3)));
        assert_eq!((out.as_str(), err.as_str()), ("[1]", "oops\n"));
    }

    #[tokio::test]
    async fn input_larger_than_a_pipe_is_fine_whether_it_is_read_or_not() {
        let large = "x".repeat(1 << 20);
        assert_eq!(shell("cat", &large, 2 << 20).await.1.len(), 1 << 20);
        assert!(matches!(shell("exit 0", &large, 1).await.0, End::Exited(status) if status.success()));
    }

    #[tokio::test]
    async fn a_command_that_prints_too_much_is_stopped() {
        let (end, out, _) = shell("yes", "", 1000).await;
        assert!(matches!(end, End::TooMuch));
        assert_eq!(out.len(), 1001);
        let (end, out, _) = shell("printf 12345", "", 5).await;
        assert!(matches!(end, End::Exited(_)));
        assert_eq!(out, "12345");
    }

    #[tokio::test]
    async fn errors_beyond_their_bound_do_not_block_the_command() {
        let (end, _, err) = shell("head -c 1000000 /dev/zero | tr '\\0' x >&2", "", 1).await;
        assert!(matches!(end, End::Exited(status) if status.success()));
        assert_eq!(err.len() as u64, ERROR_BYTES);
    }

    #[tokio::test]
    async fn a_background_process_does_not_hold_the_answer_back() {
        let (end, out, _) = shell("sleep 60 & echo $!", "", 100).await;
        assert!(matches!(end, End::Exited(_)));
        let id = out.trim().parse().unwrap();
        // SAFETY: `kill` takes two integers.
        assert_eq!(unsafe { libc::kill(id, libc::SIGKILL) }, 0);
    }

    #[tokio::test]
    async fn cancelling_ends_the_whole_group_also_when_it_ignores_the_request() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        // The grandchild writes its id when it already ignores SIGTERM.
        let command = format!("trap '' TERM; sh -c 'echo $$ > {0}.new; mv {0}.new {0}; sleep 60; :'; :", pid.display());
        let source = CancelSource::new();
        let (end, ()) =
            tokio::join!(async { run(&command, "", 1, source.token().cancelled()).await.unwrap().0 }, async {
                while !pid.exists() {
                    tokio::task::yield_now().await;
                }
                source.cancel();
            });
        assert!(matches!(end, End::Cancelled));
        let id: i32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        // Orphans are reaped by the init process some time after their end: a dead one is gone or a zombie.
        loop {
            match std::fs::read_to_string(format!("/proc/{id}/stat")) {
                Ok(stat) if !stat.contains(") Z") => tokio::task::yield_now().await,
                _ => break,
            }
        }
    }
}
