import SQLiteConnection
import StoreEngine

/// How many of the file's pages SQLite keeps in memory: 2 MB of them at first, its default, and more where that saves
/// reading and writing pages again and again (`PRAGMA cache_size`). A size among the store's pragmas is kept as it is.
struct PageCache {
    /// Whether the developer's pragmas say the size, or there is no file.
    private let isFixed: Bool
    private var readings = 0

    /// How often a store is read until it keeps more pages.
    static let manyReadings = 1_000
    /// The size for a store that is read often, in kilobytes.
    static let sizeForReadings: Int64 = 8_000
    /// The size while many rows are written, in kilobytes. Rows arrive at all places of an index: with few pages in
    /// memory, SQLite writes the same page to the log and reads it back for many of them.
    static let sizeForWriting: Int64 = 16_000

    init(settings: StoreSettings, isInMemory: Bool) {
        isFixed = isInMemory || settings.pragmas.keys.contains { $0.lowercased() == "cache_size" }
    }

    /// Counts the readings of another connection, which has SQLite's size.
    mutating func beginAnew() { readings = 0 }

    /// Keeps more pages from the reading on that makes them many. A program that reads everything once was faster with
    /// few.
    mutating func willRead(_ connection: Connection) {
        guard readings < Self.manyReadings, !isFixed else { return }
        readings += 1
        // The size makes no difference to what is read.
        if readings == Self.manyReadings { try? connection.setCacheSize(-Self.sizeForReadings) }
    }

    /// Keeps more pages while many rows are written, and frees them afterwards.
    func writing<Result>(_ connection: Connection, _ work: () throws -> Result) throws -> Result {
        guard !isFixed, let former = try? connection.integer("PRAGMA cache_size") else { return try work() }
        try? connection.setCacheSize(-Self.sizeForWriting)
        defer { try? connection.setCacheSize(former) }
        return try work()
    }
}

extension Connection {
    // A number of pages, or, if negative, of kilobytes.
    fileprivate func setCacheSize(_ size: Int64) throws { try execute("PRAGMA cache_size = \(size)") }
}
