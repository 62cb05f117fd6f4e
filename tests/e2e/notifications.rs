//! What the desktop is asked to show: heard on the message bus, as the notification service hears it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Listens until it is dropped.
pub(crate) struct Notifications {
    monitor: Child,
    heard: PathBuf,
    _folder: tempfile::TempDir,
}

impl Notifications {
    pub(crate) fn listen() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let heard = folder.path().join("heard");
        let monitor = Command::new("dbus-monitor")
            .args([
                "--session",
                "interface='org.freedesktop.Notifications',member='Notify'",
            ])
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(&heard).unwrap())
            .spawn()
            .expect("dbus-monitor starts (Debian package dbus)");
        Self {
            monitor,
            heard,
            _folder: folder,
        }
    }

    /// Waits until a notification with this title is shown.
    pub(crate) async fn heard_any(&self, titles: &[&str]) {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let text = std::fs::read_to_string(&self.heard).unwrap();
            let says = |title: &&str| text.contains(&format!("string \"{title}\""));
            if titles.iter().any(says) {
                return;
            }
            assert!(
                Instant::now() < end,
                "no notification says one of {titles:?}; heard:\n{text}"
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

impl Drop for Notifications {
    fn drop(&mut self) {
        // It may have ended with the bus.
        let _ = self.monitor.kill();
        let _ = self.monitor.wait();
    }
}
