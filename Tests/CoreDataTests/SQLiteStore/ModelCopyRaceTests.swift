import Foundation
import SQLiteConnection
import StoreEngine
import Synchronization
import TestSupport
import Testing
@testable import SQLiteEngine

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans

@Suite("The version of a store that another program migrates meanwhile", .ownThread)
struct ModelCopyRaceTests {
    private final class Flag: Sendable { let isSet = Atomic<Bool>(false) }

    private let folder: TestFolder
    private let other: URL

    init() throws {
        folder = try TestFolder()
        other = folder.file("other.sqlite")
        let model = NSManagedObjectModel()
        model.entities = [Library.entity("Note", [Library.attribute("text", .stringAttributeType)])]
        _ = try Library.stored(at: folder.store)
        _ = try Library.stored(at: other, model)
    }

    /// Gives the store the version of another one, and its own again, each in one transaction, while a block runs.
    private func whileOthersMigrate(_ body: () throws -> Void) throws {
        let own = folder.file("own.sqlite")
        try execute("VACUUM INTO '\(own.path)'", in: folder.store)
        let (stop, hasEnded) = (Flag(), DispatchSemaphore(value: 0))
        Thread.detachNewThread { [store = folder.store, other] in
            defer { hasEnded.signal() }
            do {
                let connection = try Connection(path: store.path, mode: .readWrite)
                try connection.execute("ATTACH '\(other.path)' AS other; ATTACH '\(own.path)' AS own")
                while !stop.isSet.load(ordering: .relaxed) {
                    for version in ["other", "own"] {
                        try connection.execute(
                            """
                            BEGIN IMMEDIATE;
                            UPDATE main.Z_METADATA SET Z_PLIST = (SELECT Z_PLIST FROM \(version).Z_METADATA);
                            UPDATE main.Z_MODELCACHE SET Z_CONTENT = (SELECT Z_CONTENT FROM \(version).Z_MODELCACHE);
                            COMMIT
                            """)
                    }
                }
            } catch { Issue.record(error) }
        }
        defer {
            stop.isSet.store(true, ordering: .relaxed)
            hasEnded.wait()
        }
        try body()
    }

    @Test("always has its copy of its model")
    func copy() throws {
        try whileOthersMigrate {
            let file = try StoreFile.openForReading(folder.store, timeout: 60)
            for _ in 0..<300 { #expect(try file.cachedModel() != nil) }
        }
    }

    @Test("is read as a whole: metadata and copy belong together")
    func version() throws {
        var found: Set<Set<String>> = []
        try whileOthersMigrate {
            for _ in 0..<200 {
                let version = try SQLiteFormat.version(of: folder.store, options: nil)
                let hashed = Set(StoreMetadata.hashes(in: version.metadata).keys)
                #expect(version.model.map { Set($0.entitiesByName.keys) } == hashed)
                found.insert(hashed)
            }
        }
        #expect(found.contains(["Note"]))
    }

    @Test("has a model to migrate from")
    func source() throws {
        try whileOthersMigrate {
            for _ in 0..<200 {
                _ = try SQLiteFormat.sourceModel(of: folder.store, near: Library.model(), options: nil)
            }
        }
    }
}
