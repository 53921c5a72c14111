/// How a store's saves are notified to programs that listen, this one included.
struct SaveNotifications {
    /// The channel by which this process is notified of saves, if it is.
    var channel: (any SaveNotificationChannel)?
    /// Whether the process's own listeners have yet to be notified of the current save.
    var mustNotifyOwnProcess = false
    /// The statement that notifies others of a save, once there was one.
    var statement: String?
}
