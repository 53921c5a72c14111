@testable import CoreData
import Foundation
import SQLiteEngine
import SQLiteConnection

/// Lets the input say what is done to a store of each type, and does with it whatever a program may do.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStores(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    StoreCase.run(Choices(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

enum StoreCase {
    /// The undamaged stores, made once, in memory. A crash leaves the folder, with the case that it was.
    private static let originals: URL = {
        let folder = URL(fileURLWithPath: "/dev/shm/pippin-fuzz-\(ProcessInfo.processInfo.processIdentifier)")
        do {
            try? FileManager.default.removeItem(at: folder)
            let stores = folder.appendingPathComponent("originals")
            try FileManager.default.createDirectory(at: stores, withIntermediateDirectories: true)
            for type in types {
                try Sample.make(
                    at: stores.appendingPathComponent(type), type: type,
                    options: type == NSSQLiteStoreType ? Sample.options : nil)
            }
        } catch { fatalError("no stores to damage: \(error)") }
        atexit { try? FileManager.default.removeItem(at: StoreCase.originals) }
        return folder
    }()

    private static let types = [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]

    static func run(_ input: Choices) {
        var choices = input
        let kind = choices.number(below: 16)
        let type = kind == 14 ? NSXMLStoreType : kind == 15 ? NSBinaryStoreType : NSSQLiteStoreType
        let folder = originals.appendingPathComponent("case")
        let damaged = folder.appendingPathComponent("damaged")
        do {
            try? FileManager.default.removeItem(at: folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let original = originals.appendingPathComponent("originals")
            try FileManager.default.copyItem(at: original, to: damaged)
            let store = damaged.appendingPathComponent(type)
            var mustKeep = false
            if kind < 12 {
                if kind == 11 { try reencode(store) }
                var damage = try Damage(store.path)
                repeat { damage.next(&choices) } while !choices.isEmpty
                mustKeep = damage.keepsStructure
                if Use.tells { print(damage.statements.joined(separator: ";\n")) }
            } else {
                let file = kind == 12 ? try withLog(store) : store
                try damageBytes(of: file, &choices)
            }
            var copies = 0
            let copy = { () throws -> URL in
                copies += 1
                let copy = folder.appendingPathComponent("copy\(copies)")
                try FileManager.default.copyItem(at: damaged, to: copy)
                return copy.appendingPathComponent(type)
            }
            let use = Use(url: try copy(), type: type, mustKeep: mustKeep)
            use.all()
            use.move(copy)
        } catch { fatalError("cannot damage a store: \(error)") }
    }

    /// Makes the store one that keeps its texts as UTF-16.
    private static func reencode(_ store: URL) throws {
        let old = try Connection(path: store.path, mode: .readOnly)
        let temporary = store.appendingPathExtension("new")
        let new = try Connection(path: temporary.path, mode: .create)
        try new.execute("PRAGMA encoding = 'UTF-16le'")
        let definitions = try old.prepare(
            "SELECT sql, IIF(type = 'table', name, NULL) FROM sqlite_master WHERE sql NOT NULL ORDER BY type DESC")
        var others: [String] = []
        while try definitions.step() {
            guard let table = definitions.optionalString(at: 1) else {
                others.append(definitions.string(at: 0))
                continue
            }
            try new.execute(definitions.string(at: 0))
            let rows = try old.prepare("SELECT * FROM \(table)")
            let places = Array(repeating: "?", count: rows.columnCount).joined(separator: ", ")
            let insert = try new.prepare("INSERT INTO \(table) VALUES (\(places))")
            while try rows.step() {
                for column in 0..<Int32(rows.columnCount) { try insert.bind(rows.value(at: column), at: column + 1) }
                try insert.run()
            }
        }
        for definition in others { try new.execute(definition) }
        _ = rename(temporary.path, store.path)
    }

    /// Leaves changes in the write-ahead log, as a program does that is killed.
    ///
    /// - Returns: the log.
    private static func withLog(_ store: URL) throws -> URL {
        let original = originals.appendingPathComponent("log")
        try? FileManager.default.removeItem(at: original)
        try FileManager.default.copyItem(at: store, to: original)
        let connection = try Connection(path: original.path, mode: .readWrite)
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute("UPDATE ZPART SET ZNAME = 'logged'; DELETE FROM ACHANGE; UPDATE ZTAG SET Z_OPT = 3")
        for suffix in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: store.path + suffix)
            try FileManager.default.copyItem(atPath: original.path + suffix, toPath: store.path + suffix)
        }
        return URL(fileURLWithPath: store.path + "-wal")
    }

    /// Changes, cuts and repeats bytes.
    private static func damageBytes(of store: URL, _ choices: inout Choices) throws {
        var data = try Data(contentsOf: store)
        repeat {
            guard !data.isEmpty else { break }
            // Most of a database's first page says what the rest is.
            let limit = choices.number(below: 3) == 0 ? min(data.count, 512) : data.count
            let place = data.startIndex + choices.number(below: limit)
            switch choices.number(below: 8) {
            case 0: data = data.prefix(upTo: place)
            case 1: data.insert(contentsOf: data[place...].prefix(choices.number(below: 64)), at: place)
            case 2: data.removeSubrange(place..<min(place + choices.number(below: 64), data.endIndex))
            case 3: data[place] = data[place] &+ 1
            case 4: data[place] = 0xFF
            case 5: data[place] ^= 1 << (choices.byte() & 7)
            default: data[place] = choices.byte()
            }
        } while !choices.isEmpty
        try data.write(to: store)
    }
}
