//! Notifications of the desktop.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use gistmill_engine::{Notification, NotificationSink};

/// How long the desktop's notification service may take to accept one.
const DEADLINE: Duration = Duration::from_secs(5);

/// Shows the engine's notifications as the desktop does.
///
/// A machine without a notification service is no fault: the caller hears why, and the app goes on.
pub(crate) struct DesktopNotifications;

impl NotificationSink for DesktopNotifications {
    fn notify(&self, notification: Notification) -> Result<(), String> {
        // On a thread of its own: the call blocks, and a service that hangs would block for ever.
        let (sender, receiver) = mpsc::channel();
        thread::Builder::new()
            .name("notification".to_owned())
            .spawn(move || {
                // Nobody listens any more once the deadline has passed.
                let _ = sender.send(show(&notification));
            })
            .map_err(|error| format!("No thread could be started for it: {error}."))?;
        receiver.recv_timeout(DEADLINE).unwrap_or_else(|_| {
            Err("The desktop's notification service does not answer.".to_owned())
        })
    }
}

fn show(notification: &Notification) -> Result<(), String> {
    notify_rust::Notification::new()
        .appname("Gistmill")
        .icon("gistmill-desktop")
        .summary(&notification.title)
        .body(&notification.body)
        .show()
        .map(drop)
        .map_err(|error| format!("The desktop has no notification service: {error}."))
}
