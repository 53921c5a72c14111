import CoreDataModel
import StoreEngine
import StoreEngineContract
import Testing

@Suite("Composed change sets")
struct ComposedChangesTests {
    @Test("leave the rows that the sets leave one after the other", arguments: 1...40)
    func random(seed: UInt64) throws {
        for model in ContractModel.fixed + [.random(seed)] {
            let difference = try Composition.difference(seed: seed, model, rounds: 12)
            if let difference { Issue.record("\(model.name): \(difference)") }
        }
    }

    private let model: NSManagedObjectModel = {
        let entity = NSEntityDescription()
        entity.name = "Cup"
        let name = NSAttributeDescription()
        (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, true)
        entity.properties = [name]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }()

    private func cups(_ count: Int64) throws -> [NSManagedObjectID] {
        let layout = try #require(try model.compiledLayout().entityByName["Cup"])
        let store = StoreIdentity(uuid: "A")
        return (1...count).map { NSManagedObjectID(layout: layout, store: store, key: $0) }
    }

    private func named(_ name: String, _ identifier: NSManagedObjectID, version: Int64) -> RowChange {
        RowChange(
            objectID: identifier, version: version, values: [.string(name)], changedSlots: version == 0 ? [] : [0],
            toManyChanges: [])
    }

    @Test("A row that is made and changed is made with the latest values")
    func insertedAndUpdated() throws {
        let cup = try cups(1)[0]
        var (first, second, composed) = (ChangeSet(), ChangeSet(), ComposedChanges())
        first.inserted = [named("first", cup, version: 0)]
        second.updated = [named("second", cup, version: 1)]
        composed.add(first)
        composed.add(second)
        let set = composed.changeSet
        #expect(set.updated.isEmpty)
        #expect(set.inserted.map(\.values) == [[.string("second")]])
        #expect(set.inserted.map(\.version) == [0])
    }

    @Test("A row that is made and deleted is nothing")
    func insertedAndDeleted() throws {
        let cup = try cups(1)[0]
        var (first, second, composed) = (ChangeSet(), ChangeSet(), ComposedChanges())
        first.inserted = [named("first", cup, version: 0)]
        second.deleted = [RowDeletion(objectID: cup, version: 1)]
        composed.add(first)
        composed.add(second)
        let isKnown = composed.contains(cup)
        #expect(composed.isEmpty)
        #expect(isKnown)
        #expect(composed.changeSet.isEmpty)
    }

    @Test("Changes and a deletion are based on the version that was read first")
    func versions() throws {
        let cups = try cups(2)
        var composed = ComposedChanges()
        for version in 7...9 as ClosedRange<Int64> {
            var set = ChangeSet()
            set.updated = cups.map { named("\(version)", $0, version: version) }
            composed.add(set)
        }
        var last = ChangeSet()
        last.deleted = [RowDeletion(objectID: cups[1], version: 10)]
        composed.add(last)
        let set = composed.changeSet
        #expect(set.updated.map(\.version) == [7])
        #expect(set.updated.map(\.values) == [[.string("9")]])
        #expect(set.deleted.map(\.version) == [7])
    }

    @Test("A row that is as it was stored is left out")
    func unchanged() throws {
        let cup = try cups(1)[0]
        var composed = ComposedChanges()
        for (name, version) in [("other", 1), ("stored", 2)] as [(String, Int64)] {
            var set = ChangeSet()
            set.updated = [named(name, cup, version: version)]
            composed.add(set)
        }
        #expect(composed.repeatedUpdates.map(\.objectID) == [cup])
        composed.leaveOutUnchanged(Row(objectID: cup, version: 1, values: [.string("stored")])) { _ in [] }
        #expect(composed.changeSet.isEmpty)
    }

    @Test("Promises for several sets become one, and new rows can get other keys")
    func keys() throws {
        let cups = try cups(4)
        let root = cups[0].layout
        var composed = ComposedChanges()
        for (place, cup) in cups[..<2].enumerated() {
            var set = ChangeSet()
            set.inserted = [named("\(place)", cup, version: 0)]
            set.promises = [KeyPromise(root: root, before: cup.key - 1, last: cup.key)]
            composed.add(set)
        }
        #expect(composed.changeSet.promises.map(\.before) == [0])
        #expect(composed.changeSet.promises.map(\.last) == [2])
        var last = ChangeSet()
        last.deleted = [RowDeletion(objectID: cups[0], version: 1)]
        var shorter = composed
        shorter.add(last)
        shorter.closeGaps()
        #expect(shorter.changeSet.inserted.map(\.objectID.key) == [1])
        #expect(shorter.changeSet.promises.map(\.last) == [1])
        composed.rename(Array(cups[2...]))
        #expect(composed.changeSet.inserted.map(\.objectID) == Array(cups[2...]))
        #expect(composed.changeSet.promises.isEmpty)
    }
}

@Suite("Previews")
struct PreviewTests {
    @Test("show what is saved in them to their engine, and leave nothing", arguments: [true, false])
    func nothing(isLocked: Bool) throws {
        let maker = try SQLiteInFile()
        let model = ContractModel.fixed[0].model
        let engine = try maker.makeEngine(for: model)
        defer { maker.discard(engine) }
        let previews = try #require(engine.previews)
        let entity = try #require(try model.compiledLayout().entities.first { !$0.isAbstract && $0.superentity == nil })
        func insert() throws {
            let made = try engine.promiseIdentifiers(for: [entity])
            var set = ChangeSet()
            set.promises = made.promises
            set.inserted = [
                RowChange(
                    objectID: made.identifiers[0], version: 0, values: entity.defaultValues, changedSlots: [],
                    toManyChanges: [])
            ]
            _ = try engine.save(set)
        }
        let plan = FetchPlan(entity: entity)
        try insert()
        if isLocked { try engine.sharing?.lockOutWriters() }
        for _ in 1...2 {
            try previews.beginPreview()
            try insert()
            try insert()
            #expect(try engine.fetchCount(plan) == 3)
            #expect(previews.endPreview())
            #expect(try engine.fetchCount(plan) == 1)
        }
        #expect(!previews.endPreview())
        try insert()
        #expect(try engine.fetchCount(plan) == 2)
        engine.sharing?.readmitWriters()
        #expect(try engine.fetchCount(plan) == 2)
    }
}
