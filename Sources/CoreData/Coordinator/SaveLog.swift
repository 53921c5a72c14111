/// The rows that saves wrote, some of them more than once.
package struct SavedRowIDs: Sendable {
    /// Those that are new.
    package var inserted: [NSManagedObjectID] = []
    /// Those that were changed, deleted or computed anew.
    package var others: [NSManagedObjectID] = []
}

/// Which rows the latest saves wrote, each save under its number: how what was read before them differs from what is stored now.
///
/// Nothing is noted before somebody asks. Pure.
struct SaveLog {
    private var saves: [(generation: UInt32, rows: SavedRowIDs)] = []
    private var rowCount = 0
    /// Whether somebody has asked.
    private(set) var isAsked = false

    /// A save of more rows than this is one that nobody follows row by row.
    static let mostRowsOfASave = 500
    /// Bounds the memory.
    private static let mostRows = 10_000
    private static let mostSaves = 1_000

    mutating func note(_ sets: [ChangeSet], _ results: [SaveResult], _ generation: UInt32) {
        guard isAsked else { return }
        let count =
            sets.reduce(0) { $0 + $1.inserted.count + $1.updated.count + $1.deleted.count }
            + results.reduce(0) { $0 + $1.computed.count }
        guard count <= Self.mostRowsOfASave else { return forget() }
        var rows = SavedRowIDs()
        for changes in sets {
            for index in changes.inserted.indices { rows.inserted.append(changes.inserted[index].objectID) }
            for index in changes.updated.indices { rows.others.append(changes.updated[index].objectID) }
            for index in changes.deleted.indices { rows.others.append(changes.deleted[index].objectID) }
        }
        for result in results { rows.others += result.computed.map(\.objectID) }
        if rowCount + count > Self.mostRows || saves.count == Self.mostSaves { forget() }
        rowCount += count
        saves.append((generation, rows))
    }

    private mutating func forget() { (saves, rowCount) = ([], 0) }

    /// The rows that were written between two states of the stores.
    ///
    /// - Parameters:
    ///   - first: the number of the last save that the earlier state has.
    ///   - last: the same of the later state.
    /// - Returns: the rows; nil where the log does not have all saves in between.
    mutating func rows(after first: UInt32, through last: UInt32) -> SavedRowIDs? {
        isAsked = true
        guard first != last else { return SavedRowIDs() }
        guard first < last, let start = saves.firstIndex(where: { $0.generation > first }) else { return nil }
        var rows = SavedRowIDs()
        var expected = first
        for save in saves[start...] where expected < last {
            expected += 1
            guard save.generation == expected else { return nil }
            rows.inserted += save.rows.inserted
            rows.others += save.rows.others
        }
        return expected == last ? rows : nil
    }
}
