import PostgresConnection

extension OpenDatabase {
    /// The channel on which programs notify each other of saves. The payload is the schema.
    static let channel = "pippin"

    /// Notifies others of the change once the transaction is committed, if there are listeners. One of the last
    /// statements of a transaction.
    func notification() -> PostgresConnection.Request {
        notifications.mustNotifyOwnProcess = notifications.channel != nil
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        guard let identity = notifications.channel?.identity(place.schema) else {
            let text = notifications.statement ?? Presence.notifying(place.schema)
            notifications.statement = text
            return .init(text, parameters)
        }
        parameters.append(identity)
        return .init(Presence.notifyingOthers, parameters)
    }

    /// Takes the answer to ``notification()``.
    func noteNotified(_ answer: PostgresResult?) {
        // An earlier save of a long transaction may not have notified others.
        guard longTransaction == nil, let answer, answer.count == 1 else { return }
        if !answer.isNull(0, 0) { notifications.mustNotifyOwnProcess = false }
    }

    /// Notifies the process's own listeners of a save for which the server sends no notification.
    func notifyOwnProcess() {
        guard notifications.mustNotifyOwnProcess else { return }
        notifications.mustNotifyOwnProcess = false
        notifications.channel?.noteOwnSave(place.schema, from: connection.processID)
    }
}
