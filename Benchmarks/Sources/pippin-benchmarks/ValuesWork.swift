import CSQLiteBaseline
import Foundation
import Pippin

/// Two properties of each model, against a statement with two columns.
let valuesWork = Work(
    title: "fetch a text and a number of each, as tuples", budget: 2, operations: { $0 },
    ours: { workspace, objects in
        let store = try workspace.filledBookStore(objects)
        let manager = try Book.manager(store: store)
        return Trial(store: store, changesStore: false) {
            var checksum = Checksum()
            for (title, price) in try manager.readAndWait({ try $0.values(Book.self, \.title, \.price) }) {
                checksum.add(titleBytes: title.utf8.count, price: price)
            }
            return checksum
        }
    },
    baseline: { workspace, objects in
        let store = try workspace.filledBookStore(objects)
        let database = try Baseline(path: store)
        return Trial(store: store, changesStore: false) { try database.fetchTitlesAndPrices() }
    })

extension Checksum {
    fileprivate mutating func add(titleBytes: Int, price: Double) {
        add(uidBytes: 0, titleBytes: titleBytes, count: 0, price: price, createdAt: 0, isFlagged: false)
    }
}

extension Baseline {
    fileprivate func fetchTitlesAndPrices() throws -> Checksum {
        let statement = try prepare("SELECT ZTITLE, ZPRICE FROM ZITEM")
        defer { sqlite3_finalize(statement) }
        var rows: [(title: UnsafeMutableRawPointer?, bytes: Int, price: Double)] = []
        while try step(statement) {
            let (title, bytes) = copiedText(statement, 0)
            rows.append((title, bytes, sqlite3_column_double(statement, 1)))
        }
        var checksum = Checksum()
        for row in rows {
            checksum.add(titleBytes: row.bytes, price: row.price)
            free(row.title)
        }
        return checksum
    }
}
