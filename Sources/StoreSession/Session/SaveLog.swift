import CoreDataModel
import StoreEngine

/// The rows that saves wrote; some may occur more than once.
package struct SavedRowIDs: Sendable {
    /// The inserted rows.
    package var inserted: [NSManagedObjectID] = []
    /// The rows that were changed, deleted or recomputed.
    package var others: [NSManagedObjectID] = []
}

/// The rows that recent saves wrote, by the number of the save. They show how values read earlier differ from what is
/// stored now.
///
/// Nothing is recorded before it is first read. Pure.
struct SaveLog {
    private var saves: [(generation: UInt32, rows: SavedRowIDs)] = []
    private var rowCount = 0
    /// Whether it has been read.
    private(set) var isAsked = false

    /// Saves with more rows than this are not recorded row by row.
    static let mostRowsOfASave = 5_000
    /// Limits the memory.
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
    ///   - first: the number of the last save in the earlier state.
    ///   - last: the number of the last save in the later state.
    /// - Returns: the rows; nil if the log does not have all saves in between.
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
