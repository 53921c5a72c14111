import CLibPQ

extension PostgresConnection {
    /// Asks the server whether it is still there, whenever it has not answered for the given time.
    package func watchAnswers(seconds: Double) {
        guard let host = PQhost(handle).map({ String(cString: $0) }), !host.isEmpty,
            let port = PQport(handle).map({ String(cString: $0) })
        else { return }
        var own = target
        own.settings["host"] = host
        own.settings["port"] = port
        // The address that was found, if the target gives one in addition to the name.
        if (try? target.parsed()["hostaddr"]) != nil, let address = PQhostaddr(handle).map({ String(cString: $0) }) {
            own.settings["hostaddr"] = address
        }
        own.settings["connect_timeout"] = String(max(2, Int(seconds)))
        watch = AnswerWatch(own, socket: PQsocket(handle), seconds: seconds)
    }

    /// Runs a closure that waits for the server.
    @inline(__always)
    func awaiting<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let watch else { return try body() }
        watch.begin()
        defer { watch.end() }
        return try body()
    }
}
