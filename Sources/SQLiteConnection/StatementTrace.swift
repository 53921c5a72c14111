import CSQLite

/// Hears of each statement that a connection has run.
final class StatementTrace {
    private let showsValues: Bool
    private let report: (String, Double) -> Void

    init(showsValues: Bool, report: @escaping (String, Double) -> Void) {
        (self.showsValues, self.report) = (showsValues, report)
    }

    fileprivate func took(_ statement: OpaquePointer, seconds: Double) {
        if showsValues, let text = sqlite3_expanded_sql(statement) {
            report(String(cString: text), seconds)
            sqlite3_free(text)
        } else if let text = sqlite3_sql(statement) {
            report(String(cString: text), seconds)
        }
    }
}

extension Connection {
    /// Has each statement reported once it has run.
    ///
    /// - Parameters:
    ///   - showsValues: whether the statements' values are in the text, in the place of their parameters.
    ///   - report: takes the text, and the seconds that the statement took, as far as SQLite measures them: in
    ///     milliseconds. It must not use the connection.
    package func traceStatements(showsValues: Bool, _ report: @escaping (String, Double) -> Void) {
        let trace = StatementTrace(showsValues: showsValues, report: report)
        database.trace = trace
        sqlite3_trace_v2(
            handle, UInt32(SQLITE_TRACE_PROFILE),
            { _, context, statement, nanoseconds in
                guard let context, let statement, let nanoseconds else { return 0 }
                Unmanaged<StatementTrace>.fromOpaque(context).takeUnretainedValue().took(
                    OpaquePointer(statement),
                    seconds: Double(nanoseconds.assumingMemoryBound(to: Int64.self).pointee) / 1_000_000_000)
                return 0
            }, Unmanaged.passUnretained(trace).toOpaque())
    }
}
