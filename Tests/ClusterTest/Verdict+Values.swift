import Linearizability
import PostgresConnection

extension Verdict {
    /// Looks for orders of events that explain both values of each offer: what one wrote is not undone by another who
    /// did not mean to.
    mutating func checkOffers(_ connection: PostgresConnection) throws {
        let rows = try connection.queryOnce("SELECT number, \"left\", \"right\" FROM offer")
        var last: [Int: String] = [:]
        for row in 0..<rows.count {
            for side in 0...1 { last[Int(rows.integer(row, 0)) * 2 + side] = rows.string(row, 1 + side) }
        }
        for (place, entries) in Dictionary(grouping: entries.filter { $0.kind == .value }, by: \.order) {
            explain(
                "offer \(place / 2), \(place % 2 == 0 ? "left" : "right")", entries.compactMap(Self.operation),
                atTheEnd: last[place])
        }
    }

    /// Looks whether each step that was acknowledged was counted, once, and whether names were with one client at a
    /// time.
    mutating func checkNames(_ connection: PostgresConnection) throws {
        guard entries.contains(where: { $0.kind == .count || $0.kind == .claim }) else { return }
        let steps = try connection.queryOnce("SELECT id FROM names.step")
        var present: [String: Int] = [:]
        for row in 0..<steps.count { present[steps.string(row, 0), default: 0] += 1 }
        for entry in entries where entry.kind == .count { check(entry, isThere: present[entry.to] ?? 0) }
        let known = Set(entries.filter { $0.kind == .count }.map(\.to))
        for step in present.keys where !known.contains(step) { complaints.append("nobody did the step \(step)") }
        let badges = try connection.queryOnce("SELECT name, id FROM names.badge")
        var holders: [String: String] = [:]
        for row in 0..<badges.count { holders[badges.string(row, 0)] = badges.string(row, 1) }
        let claims = entries.filter { $0.kind == .claim }
        for (name, entries) in Dictionary(grouping: claims, by: \.order) {
            explain("name \(name)", entries.compactMap(Self.operation), atTheEnd: holders["name-\(name)"])
        }
        checkShown(claims)
    }

    /// Live queries show nothing that was never there.
    private mutating func checkShown(_ claims: [Entry]) {
        let possible = Set(claims.filter { $0.outcome != .refused && $0.outcome != .foundUndone }.map(\.to))
        for entry in entries where entry.kind == .shown && !possible.contains(entry.to) {
            complaints.append("a live query has shown what was never there: \(entry.line)")
        }
    }
}
