import PostgresConnection

extension OpenDatabase {
    /// The channel on which programs notify each other of saves. The payload is the schema.
    static let channel = "pippin"

    /// Notifies others of the change once the transaction is committed, if anybody listens. One of the last statements
    /// of a transaction.
    func notification() -> PostgresConnection.Request {
        isUntold = news != nil
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        guard let identity = news?.identity(place.schema) else {
            let text = telling ?? Presence.telling(place.schema)
            telling = text
            return .init(text, parameters)
        }
        parameters.append(identity)
        return .init(Presence.tellingOthers, parameters)
    }

    /// Takes the answer to ``notification()``.
    func noteTold(_ answer: PostgresResult?) {
        // An earlier save of a long transaction may not have notified anybody.
        guard !isInLongTransaction, let answer, answer.count == 1 else { return }
        if !answer.isNull(0, 0) { isUntold = false }
    }

    /// Tells the process's own listeners of a save for which the server sends no notification.
    func tellOwnProcess() {
        guard isUntold else { return }
        isUntold = false
        news?.hear(place.schema, from: connection.processID)
    }
}
