import Foundation
import StoreReading
import TestSupport
import Testing

@Suite("What is gone from a database")
struct RecoveryTests {
    private typealias Version = WrittenStore.Version

    @Test("a row that was inserted, changed twice and deleted is found in the log with its three versions, in order")
    func history() throws {
        let store = try WrittenStore()
        let other = try inserted(store, "Persuasion")
        let key = try inserted(store, "Emma")
        try store.commit { try store.write("ZBOOK", key, WrittenStore.book("Emma, revised", opt: 2)) }
        try store.commit { try store.write("ZBOOK", key, WrittenStore.book("Emma, third edition", opt: 3)) }
        try store.commit { try store.delete("ZBOOK", key) }

        let found = try store.recover()
        #expect(
            found.map(\.version)
                == [("Emma", 1), ("Emma, revised", 2), ("Emma, third edition", 3)].map { title, opt in
                    Version(table: "ZBOOK", key: key, values: [.null] + WrittenStore.book(title, opt: opt))
                })
        // The first three commits made the tables, and the fourth is of the other row.
        #expect(found.compactMap(\.row.commit) == [5, 6, 7])
        #expect(found.allSatisfy { $0.row.confidence == 1 })
        #expect(store.live["ZBOOK"]?.keys.sorted() == [other])
    }

    @Test("the file's version of a row that the log has changed is reported as the file's")
    func withoutLog() throws {
        let store = try WrittenStore()
        let key = try inserted(store, "Emma")
        try store.checkpoint("TRUNCATE")
        try store.commit { try store.write("ZBOOK", key, WrittenStore.book("Emma, revised", opt: 2)) }

        let found = try store.recover()
        #expect(found.map(\.row.origin) == [.file])
        #expect(
            found.map(\.version) == [Version(table: "ZBOOK", key: key, values: [.null] + WrittenStore.book("Emma"))])
    }

    @Test("frames of an earlier round of the log are read, and are said to be of one")
    func rounds() throws {
        let store = try WrittenStore()
        var keys: [Int64] = []
        for number in 0..<6 { keys.append(try inserted(store, "Title \(number)")) }
        try store.commit { try store.write("ZBOOK", keys[5], WrittenStore.book("Changed", opt: 2)) }
        // Everything is in the file, and the next commit begins a round at the beginning of the log.
        try store.checkpoint("RESTART")
        try store.commit { try store.delete("ZBOOK", keys[5]) }

        let found = try store.recover()
        let earlier = found.filter { if case .frame(_, .earlier) = $0.row.origin { true } else { false } }
        #expect(
            Set(earlier.compactMap(\.version)) == [
                Version(table: "ZBOOK", key: keys[5], values: [.null] + WrittenStore.book("Title 5"))
            ])
        #expect(Set(found.compactMap(\.version)) == store.gone)
    }

    @Test("a row that was deleted before the log was emptied is carved from its page, without its number")
    func unusedSpace() throws {
        let store = try WrittenStore()
        var keys: [Int64] = []
        for number in 0..<20 { keys.append(try inserted(store, "A title with the number \(number)")) }
        // A row in the midst of the page becomes a free block, the last one a part of the unallocated space.
        try store.commit {
            try store.delete("ZBOOK", keys[7])
            try store.delete("ZBOOK", keys[19])
        }
        try store.checkpoint("TRUNCATE")

        let found = try store.recover()
        func titles(_ origin: RecoveredRow.Origin) -> [String?] {
            found.filter { $0.row.origin == origin }.map { $0.row.values[6]?.string(.utf8) }
        }
        #expect(titles(.unallocated) == ["A title with the number 19"])
        #expect(titles(.freeBlock) == ["A title with the number 7"])
        #expect(found.allSatisfy { $0.row.key == nil && $0.row.confidence > 0.8 })
    }

    @Test("rows on pages that became free are found, and what is lost of a long one is not made up")
    func freePages() throws {
        let store = try WrittenStore()
        var keys: [Int64] = []
        let cover = (0..<9000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for number in 0..<60 {
            keys.append(
                try inserted(store, String(repeating: "Title \(number) ", count: 20), cover: number == 30 ? cover : []))
        }
        try store.checkpoint("TRUNCATE")
        try store.commit { for key in keys[10..<50] { try store.delete("ZBOOK", key) } }
        try store.checkpoint("TRUNCATE")

        let found = try store.recover()
        let gone = Set(store.gone.map(\.values))
        for row in found {
            #expect(gone.contains { zip($0, row.row.values).allSatisfy { $1 == nil || $0 == $1 } })
        }
        #expect(found.count >= 25)
        #expect(found.filter { $0.row.origin == .freePage }.count >= 10)
    }

    @Test("nothing is found that SQLite has written over with zeros")
    func secureDeletion() throws {
        var settings = WrittenStore.Settings()
        settings.isSecure = true
        let store = try WrittenStore(settings)
        var keys: [Int64] = []
        for number in 0..<200 { keys.append(try inserted(store, "A title with the number \(number)")) }
        try store.commit { for key in keys[20..<180] { try store.delete("ZBOOK", key) } }
        // The log still has them, until it is emptied.
        #expect(try Set(store.recover().compactMap(\.version)) == store.gone)
        try store.checkpoint("TRUNCATE")
        #expect(try store.recover().isEmpty)
    }

    @Test("a copy of a row that is there is not reported")
    func copiesOfLiveRows() throws {
        let store = try WrittenStore()
        for number in 0..<300 { try inserted(store, String(repeating: "Title \(number) ", count: 10)) }
        // Pages were split while the table grew, and have copies of rows that are elsewhere now.
        try store.checkpoint("TRUNCATE")
        #expect(try store.recover().isEmpty)
    }

    @discardableResult
    private func inserted(_ store: WrittenStore, _ title: String, cover: [UInt8] = []) throws -> Int64 {
        var key: Int64 = 0
        try store.commit { key = try store.insert("ZBOOK", WrittenStore.book(title, cover: cover)) }
        return key
    }
}
