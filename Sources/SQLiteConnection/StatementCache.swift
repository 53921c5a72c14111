/// Prepared statements by their SQL text, up to a limit; the oldest ones are dropped first.
struct StatementCache {
    private let limit = 256
    private var statements: [String: Statement] = [:]
    private var order: [String] = []

    subscript(sql: String) -> Statement? { statements[sql] }

    mutating func insert(_ statement: Statement, for sql: String) {
        if order.count >= limit {
            // A quarter at once, so that the array is rarely shifted.
            for old in order.prefix(limit / 4) { statements[old] = nil }
            order.removeFirst(limit / 4)
        }
        if statements.updateValue(statement, forKey: sql) == nil { order.append(sql) }
    }

    mutating func removeAll() {
        statements.removeAll()
        order.removeAll()
    }
}
