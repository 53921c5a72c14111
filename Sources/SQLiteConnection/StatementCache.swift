/// Prepared statements by their SQL text, at most so many; the ones that came first go first.
struct StatementCache {
    private let limit = 256
    private var statements: [String: Statement] = [:]
    private var order: [String] = []

    subscript(sql: String) -> Statement? { statements[sql] }

    mutating func insert(_ statement: Statement, for sql: String) {
        if order.count >= limit {
            // A quarter at once: the array is shifted rarely.
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
