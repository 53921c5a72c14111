import PostgresConnection

extension OpenDatabase {
    /// The channel on which programs tell each other that they have saved. What they tell is the schema.
    static let channel = "pippin"

    /// Tells others that the store changes, once the transaction is committed, if anybody listens. One of the last statements of a transaction.
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
        // An earlier save of a long transaction may not have told.
        guard !isInLongTransaction, let answer, answer.count == 1 else { return }
        if !answer.isNull(0, 0) { isUntold = false }
    }

    /// Tells the process's own listeners of a save of which the server tells nobody.
    func tellOwnProcess() {
        guard isUntold else { return }
        isUntold = false
        news?.hear(place.schema, from: connection.processID)
    }
}
