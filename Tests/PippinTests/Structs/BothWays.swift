import CoreData
import Foundation
import PippinRecords
import TestSupport

@testable import Pippin

/// A store that is saved to by rows, and one that is saved to through objects of a context.
struct BothWays {
    private let folder: TestFolder
    let rows: PersistenceManager
    let objects: PersistenceManager

    /// - Parameter makeManager: makes the manager of a store, which has a history then.
    /// - Throws: the errors of the file system.
    init(_ makeManager: (StoreLocation) -> PersistenceManager) throws {
        let folder = try TestFolder()
        self.folder = folder
        func manager(_ name: String) -> PersistenceManager {
            let manager = makeManager(.file(folder.file(name)))
            manager.container.persistentStoreDescriptions.first?.setOption(
                true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
            return manager
        }
        (rows, objects) = (manager("rows.sqlite"), manager("objects.sqlite"))
    }

    /// The file of the store that is saved to by rows.
    var file: URL { folder.file("rows.sqlite") }
    /// The file of the other store.
    var fileOfObjects: URL { folder.file("objects.sqlite") }

    func save<Model: CoreModel>(_ models: [Model]) throws {
        try rows.writeAndWait { try $0.save(models) }
        try objects.writeAndWait { store in
            store.access.savesRows = false
            try store.save(models)
        }
    }

    /// What the file that is saved to by rows holds: rows with their keys and versions, pairs and places, and the
    /// history's changes.
    func contentOfRows() throws -> [String] { try content("rows.sqlite") }

    /// The same of the other file.
    func contentOfObjects() throws -> [String] { try content("objects.sqlite") }

    private func content(_ name: String) throws -> [String] {
        let store = folder.file(name)
        let tables = try plainRows(
            """
            SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%'
            AND name NOT IN ('Z_METADATA', 'Z_MODELCACHE', 'Z_PRIMARYKEY') ORDER BY name
            """, in: store
        ).compactMap { $0[0] }
        var content: [String] = []
        for table in tables + ["Z_PRIMARYKEY WHERE Z_ENT < 16000"] {
            content += try plainRows("SELECT * FROM \(table)", in: store)
                .map { "\(table): \($0.map { $0 ?? "NULL" })" }.sorted()
        }
        let changes = try plainRows(
            """
            SELECT ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, hex(ZCOLUMNS) FROM ACHANGE
            ORDER BY ZTRANSACTIONID, ZENTITY, ZENTITYPK, ZCHANGETYPE
            """, in: store)
        return content + changes.map { "change: \($0.map { $0 ?? "NULL" })" }
    }

    /// Whether the saves of some work went to the store as rows.
    func goesAsRows(_ work: (PersistenceManager) throws -> Void) throws -> [Bool] {
        let heard = Locked<[Bool]>([])
        let listeners = rows.session.saves
        let number = listeners.add { saved in heard.withLock { $0.append(saved.changes != nil) } }
        defer { listeners.remove(number) }
        try work(rows)
        return heard.withLock { $0 }
    }

    /// How many series of saves are made up.
    static let series = ProcessInfo.processInfo.environment["PIPPIN_SAVES"].flatMap(UInt64.init) ?? 12
}

extension ModelAccess {
    /// Has the block change rows, or the objects of a context.
    func change(asRows: Bool) {
        // With it, there are objects.
        _ = manager.container
        savesRows = asRows
    }
}

/// Made-up numbers, the same for each seed.
struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    /// A number from 0 up to below `count`.
    mutating func next(below count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(count))
    }
}
