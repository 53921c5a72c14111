import TestSupport
import Testing

@testable import PippinRecords

@Suite("A save that the conversion of another save's model makes")
struct SaveWithinSaveTests {
    private let folders: Folders
    private var manager: PersistenceManager { folders.manager }

    init() throws { folders = try Folders() }

    private func overwrite(_ models: [Folder], in context: NSManagedObjectContext) throws {
        try manager.save(entity: FolderRecord.self, models: models, shouldOverwrite: true, context: context)
    }

    @Test("leaves what its models lead to")
    func ledTo() throws {
        try folders.save(Folder(uid: "a"), Folder(uid: "b"), Folder(uid: "c"))
        try folders.save(Cabinet(uid: "1") { try overwrite([Folder(uid: "b", parent: "a")], in: $1) })
        #expect(try folders.uids() == ["a", "b"])
    }

    @Test("is refused where it would lose a record in silence")
    func lost() throws {
        try folders.save(Folder(uid: "a"), Folder(uid: "b", parent: "a"))
        let error = #expect(throws: PersistenceError.self) {
            try folders.save(Cabinet(uid: "1") { try overwrite([Folder(uid: "b")], in: $1) })
        }
        #expect(error?.code == .unwritable)
        #expect(try folders.uids() == ["a", "b"])
    }

    @Test("is a save of its own in another manager")
    func otherManager() throws {
        let others = try Folders()
        try others.save(Folder(uid: "a"), Folder(uid: "b"))
        try folders.save(Cabinet(uid: "1") { _, _ in try others.save(Folder(uid: "b", parent: "a")) })
        #expect(try others.uids() == ["a", "b"])
    }

    @Test("counts for the outer one, which deletes nothing that it has led to")
    func outer() throws {
        try folders.save(Cabinet(uid: "1"), Cabinet(uid: "2"))
        try folders.save(
            Cabinet(uid: "3") {
                try manager.save(entity: CabinetRecord.self, model: Cabinet(uid: "1"), context: $1)
            })
        #expect(try folders.strings("SELECT ZUID FROM ZCABINETRECORD ORDER BY ZUID") == ["1", "3"])
    }

    @Test("leaves a record that the outer one is filling and its models lead to")
    func open() throws {
        try folders.save(
            Cabinet(uid: "1") {
                let inner = Cabinet(uid: "2") { _ = try CabinetRecord.record(from: Cabinet(uid: "1"), in: $1) }
                try manager.save(entity: CabinetRecord.self, models: [inner], shouldOverwrite: true, context: $1)
            })
        // The outer one has no model of the second.
        #expect(try folders.strings("SELECT ZUID FROM ZCABINETRECORD ORDER BY ZUID") == ["1", "2"])
    }

    @Test("is refused where it would delete a record that the outer one is filling")
    func opened() throws {
        let error = #expect(throws: PersistenceError.self) {
            try folders.save(
                Cabinet(uid: "1") {
                    try manager.save(
                        entity: CabinetRecord.self, models: [Cabinet(uid: "2")], shouldOverwrite: true, context: $1)
                })
        }
        #expect(error?.code == .unwritable)
        #expect(error?.identifier == "1")
        #expect(try folders.strings("SELECT ZUID FROM ZCABINETRECORD") == [])
    }

    @Test("counts for the limit of models that occur again and again")
    func counted() throws {
        // Each layer saves both cabinets of the layer below.
        func cabinet(_ layer: Int, _ side: String) -> Cabinet {
            Cabinet(uid: "\(layer) \(side)") { _, context in
                guard layer > 0 else { return }
                for side in ["a", "b"] {
                    try manager.save(entity: CabinetRecord.self, model: cabinet(layer - 1, side), context: context)
                }
            }
        }
        let error = #expect(throws: PersistenceError.self) {
            try RecordLimits.$refills.withValue(100) { try folders.save(cabinet(9, "a")) }
        }
        #expect(error?.code == .unwritable)
    }

    @Test("finds the records that the outer one is filling, and fills again what it has given other values")
    func filled() throws {
        var fillings = 0
        func cabinet(_ uid: String, _ note: @escaping () throws -> Void = {}) -> Cabinet {
            Cabinet(uid: uid) { _, _ in
                fillings += 1
                try note()
            }
        }
        let first = cabinet("1")
        try folders.save(
            Cabinet(uid: "2") { _, context in
                fillings += 1
                _ = try CabinetRecord.record(from: first, in: context)
                try manager.save(
                    entity: CabinetRecord.self,
                    model: Cabinet(uid: "3") { _, context in
                        _ = try CabinetRecord.record(from: cabinet("2"), in: context)
                    },
                    context: context)
                try manager.save(entity: CabinetRecord.self, model: cabinet("1"), context: context)
                _ = try CabinetRecord.record(from: first, in: context)
            })
        // 2, 1, 1 with other values, and 1 as before; 2 is being filled where 3 leads to it.
        #expect(fillings == 4)
    }
}

@Suite("A record that a cache inserts during a save")
struct InsertedByCacheTests {
    @Test("is not lost in silence with a record without a model")
    func lost() throws {
        let folders = try Folders()
        try folders.save(Cabinet(uid: "1"))
        let error = #expect(throws: PersistenceError.self) {
            try folders.save(
                Cabinet(uid: "2") { _, context in
                    let folder = try RecordCache<FolderRecord>(context: context).findOrInsert("new")
                    let request = NSFetchRequest<CabinetRecord>(entityName: "CabinetRecord")
                    request.predicate = NSPredicate(format: "uid == '1'")
                    folder.setValue(try context.fetch(request).first, forKey: "cabinet")
                })
        }
        #expect(error?.code == .unwritable)
        #expect(error?.identifier == "new")
        #expect(try folders.strings("SELECT ZUID FROM ZCABINETRECORD") == ["1"])
    }
}
