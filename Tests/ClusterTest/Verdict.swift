import Foundation
import Linearizability
import PostgresConnection

/// What the journals of the clients and the tables say of each other.
struct Verdict {
    var entries: [Entry] = []
    var complaints: [String] = []
    /// Whether there were clients that work with structs.
    private let hasNames: Bool

    init(clients: Int, folder: String) {
        hasNames = (0..<clients).contains(where: NameClient.isOne)
        for client in 0..<clients {
            let (found, told) = Journal.read("\(folder)/journal-\(client)")
            entries += found
            complaints += told
        }
    }

    private struct SaveKey: Hashable {
        let client, sequence: Int
    }

    /// Compares the journals with the tables, by plain SQL.
    mutating func checkTables(_ connection: PostgresConnection) throws {
        for rule in Shop.rules + (hasNames ? Names.rules : []) {
            let found = try connection.queryOnce("SELECT row_to_json(r)::text FROM (\(rule.sql)) r")
            for row in 0..<found.count { complaints.append("not so: \(rule.name): \(found.string(row, 0))") }
        }
        let notes = try connection.queryOnce("SELECT client, sequence FROM note")
        var present: [SaveKey: Int] = [:]
        for row in 0..<notes.count {
            present[
                SaveKey(client: Int(notes.integer(row, 0)), sequence: Int(notes.integer(row, 1))), default: 0] += 1
        }
        for entry in entries where entry.kind == .change || entry.kind == .merge {
            check(entry, isThere: present[SaveKey(client: entry.client, sequence: entry.sequence)] ?? 0)
        }
        let known = Set(entries.filter(\.kind.isSave).map { SaveKey(client: $0.client, sequence: $0.sequence) })
        for key in present.keys where !known.contains(key) { complaints.append("nobody did the save \(key)") }
    }

    /// Complains of a save that is not there as often as its program was told.
    mutating func check(_ entry: Entry, isThere count: Int) {
        let isRight =
            switch entry.outcome {
            case .done, .foundDone: count == 1
            case .refused, .foundUndone: count == 0
            case .unknown: count <= 1
            }
        if !isRight { complaints.append("save is there \(count) times: \(entry.line)") }
    }

    /// Looks for an order of events that explains what each client saw of each order, and how it is at the end.
    mutating func checkOrders(_ connection: PostgresConnection) throws {
        let rows = try connection.queryOnce("SELECT number, stamp FROM \"order\"")
        var last: [Int: String] = [:]
        for row in 0..<rows.count { last[Int(rows.integer(row, 0))] = rows.string(row, 1) }
        let orders = entries.filter { $0.kind == .change || $0.kind == .read }
        for (order, entries) in Dictionary(grouping: orders, by: \.order) {
            explain("order \(order)", entries.compactMap(Self.operation), atTheEnd: last[order])
        }
    }

    /// Complains of a history that cannot have gone so, one operation after the other.
    mutating func explain(_ name: String, _ operations: [RegisterOperation], atTheEnd last: String?) {
        let history = operations + [RegisterOperation(.read(last), .max - 1, .max, name: "the table at the end")]
        do {
            guard try Linearizability.order(of: history) == nil else { return }
            let culprit = try Self.firstImpossible(history)
            complaints.append("\(name) cannot have gone so; impossible from: \(culprit)")
        } catch { complaints.append("\(name): whether it can have gone so was not found out in so many steps") }
    }

    static func operation(_ entry: Entry) -> RegisterOperation? {
        func state(_ stamp: String) -> String? { stamp.isEmpty ? nil : stamp }
        let name = entry.line.trimmingCharacters(in: .newlines)
        let kind: RegisterOperation.Kind
        switch entry.kind {
        case .look, .merge, .count, .shown: return nil
        case .read: kind = .read(state(entry.to))
        case .value: kind = entry.from == "write" ? .write(state(entry.to)) : .read(state(entry.to))
        case .change, .claim: kind = .change(from: state(entry.from), to: state(entry.to))
        }
        switch (entry.outcome, kind) {
        case (.refused, _), (.foundUndone, _), (.unknown, .read): return nil
        case (.done, _), (.foundDone, _): return RegisterOperation(kind, entry.start, entry.end, name: name)
        case (.unknown, _): return RegisterOperation(kind, entry.start, nil, name: name)
        }
    }

    /// The operation with the earliest end that makes a history impossible.
    private static func firstImpossible(_ history: [RegisterOperation]) throws -> String {
        let sorted = history.sorted { ($0.end ?? .max) < ($1.end ?? .max) }
        var (possible, impossible) = (0, sorted.count)
        while impossible - possible > 1 {
            let middle = (possible + impossible) / 2
            // What has not ended by then may have happened.
            let limit = sorted[middle - 1].end ?? .max
            let part = history.filter { $0.start <= limit }.compactMap { operation -> RegisterOperation? in
                if let end = operation.end, end <= limit { return operation }
                if case .read = operation.kind { return nil }
                return RegisterOperation(operation.kind, operation.start, nil)
            }
            if try Linearizability.order(of: part) != nil { possible = middle } else { impossible = middle }
        }
        return sorted[impossible - 1].name
    }
}
