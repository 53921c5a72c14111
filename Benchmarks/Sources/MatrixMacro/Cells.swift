import CoreData
import Foundation
import Pippin
import PippinRecords

/// One cell of the matrix: a work on a shape, by Pippin and by others.
package struct Cell: Sendable {
    package let work: String
    package let shape: String
    /// How many things are done.
    package let items: Int
    package let sides: [Side]
}

/// One of those who do a cell's work.
package struct Side: Sendable {
    package let name: String
    /// Sets up in a folder, unmeasured.
    package let make: @Sendable (_ folder: URL) async throws -> Run
}

/// What is measured, and what it has read or left behind, which must be the same on all sides.
package struct Run: Sendable {
    package let work: @Sendable () async throws -> Outcome
    package let finish: @Sendable () async throws -> Outcome
}

package typealias Outcome = [UInt64]

/// The stores of a shape: an empty one and a filled one, made once in a folder.
enum Stores<Model: Shape> {
    static func manager(_ file: URL) async throws -> PersistenceManager {
        let manager = PersistenceManager(models: Model.self, store: .file(file))
        try manager.readAndWait { _ in }
        return manager
    }

    static func empty(in folder: URL) async throws -> URL {
        let file = folder.appendingPathComponent("\(Model.table)-empty.sqlite")
        if !FileManager.default.fileExists(atPath: file.path) { try await manager(file).close() }
        return file
    }

    static func filled(in folder: URL) async throws -> URL {
        let file = folder.appendingPathComponent("\(Model.table)-filled.sqlite")
        if !FileManager.default.fileExists(atPath: file.path) {
            let manager = try await manager(file)
            try await manager.save(Model.make())
            await manager.close()
            try HandDatabase(file, .usual).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        return file
    }

    static func copy(_ file: URL) throws -> URL {
        let copy = file.deletingLastPathComponent().appendingPathComponent("copy-\(UUID().uuidString).sqlite")
        try FileManager.default.copyItem(at: file, to: copy)
        return copy
    }

    static func remove(_ file: URL) {
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + end) }
    }

    /// What a work left in a copy, which is removed.
    static func outcome(_ file: URL) throws -> Outcome {
        defer { remove(file) }
        let database = try HandDatabase(file, .usual)
        var sum = Sum()
        var rows = 0
        for model in try database.fetch(Model.self, order: " ORDER BY ZID") {
            model.add(to: &sum)
            rows += 1
        }
        let versions = try database.statement("SELECT sum(Z_OPT) FROM \(Model.table)")
        _ = try versions.step()
        return [sum.total, UInt64(rows), UInt64(versions.integer(0))]
    }
}

extension Shape {
    static func read(_ work: @escaping @Sendable (_ manager: PersistenceManager) async throws -> Outcome) -> Side {
        Side(name: "Pippin") { folder in
            let manager = try await Stores<Self>.manager(Stores<Self>.filled(in: folder))
            return Run(
                work: { try await work(manager) },
                finish: {
                    await manager.close(); return []
                })
        }
    }

    static func write(
        into store: @escaping @Sendable (URL) async throws -> URL = { try await Stores<Self>.filled(in: $0) },
        _ work: @escaping @Sendable (_ manager: PersistenceManager) async throws -> Void
    ) -> Side {
        Side(name: "Pippin") { folder in
            let file = try Stores<Self>.copy(try await store(folder))
            let manager = try await Stores<Self>.manager(file)
            return Run(
                work: {
                    try await work(manager)
                    return []
                },
                finish: {
                    await manager.close()
                    return try outcome(file)
                })
        }
    }

    static func byHand(_ work: @escaping @Sendable (_ database: HandDatabase) throws -> Outcome) -> [Side] {
        [HandKind.usual, .best].map { kind in
            Side(name: kind == .usual ? "C" : "C at its best") { folder in
                let file = try await Stores<Self>.filled(in: folder)
                let opened = Opened(database: try HandDatabase(file, kind))
                return Run(
                    work: { try work(try opened.get()) },
                    finish: {
                        opened.close()
                        return []
                    })
            }
        }
    }

    static func byHand(
        into store: @escaping @Sendable (URL) async throws -> URL = { try await Stores<Self>.filled(in: $0) },
        changing work: @escaping @Sendable (_ database: HandDatabase) throws -> Void
    ) -> [Side] {
        [HandKind.usual, .best].map { kind in
            Side(name: kind == .usual ? "C" : "C at its best") { folder in
                let file = try Stores<Self>.copy(try await store(folder))
                let opened = Opened(database: try HandDatabase(file, kind))
                return Run(
                    work: {
                        try work(try opened.get())
                        return []
                    },
                    finish: {
                        opened.close()
                        return try outcome(file)
                    })
            }
        }
    }

    static func outcome(_ file: URL) throws -> Outcome { try Stores<Self>.outcome(file) }

    /// Every fifth identifier and round again, so that neighbours in time are none in the file.
    static func someIDs(_ wanted: Int) -> [ID] {
        (0..<wanted).map { Self(number: ($0 &* 7919) % count).id }
    }
}

extension OwnerShape {
    static func outcome(_ file: URL) throws -> Outcome {
        defer { Stores<Self>.remove(file) }
        let database = try HandDatabase(file, .usual)
        var sum = Sum()
        for model in try database.fetchOwners(Self.self) { model.add(to: &sum) }
        let versions = try database.statement(
            "SELECT (SELECT sum(Z_OPT) FROM \(Self.table)) + (SELECT sum(Z_OPT) FROM \(Member.table))")
        _ = try versions.step()
        return [sum.total, UInt64(versions.integer(0))]
    }
}

/// A database by hand that one task at a time uses: the one that measures.
final class Opened: @unchecked Sendable {
    private var database: HandDatabase?
    init(database: HandDatabase?) { self.database = database }
    func get() throws -> HandDatabase {
        guard let database else { throw HandError(message: "closed") }
        return database
    }
    func close() { database = nil }
}
