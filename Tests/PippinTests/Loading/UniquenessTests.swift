import PippinRecords
import Testing

private struct Tag: CoreModel, Equatable {
    let id: String
    var name: String?
}

private struct Unique: CoreModel, Equatable {
    let id: String
    var name: String?
    static var schema: Schema<Unique> { Schema(.unique(\.name), name: "Tag") }
}

private struct KeepingStored: CoreModel, Equatable {
    let id: String
    var name: String?
    static var schema: Schema<KeepingStored> { Schema(.unique(\.name, keeping: .stored), name: "Tag") }
}

private struct KeepingNew: CoreModel, Equatable {
    let id: String
    var name: String?
    static var schema: Schema<KeepingNew> { Schema(.unique(\.name, keeping: .new), name: "Tag") }
}

private struct Released: CoreModel, Equatable {
    let id: String
    var name: String?
    static var schema: Schema<Released> { Schema(.notUnique(\.name), name: "Tag") }
}

private struct Rhyme<Label: CoreModel & Equatable>: CoreModel, Equatable {
    let id: String
    var labels: [Label]
    static var schema: Schema<Rhyme> { Schema(name: "Rhyme") }
}

@Suite("What a schema calls unique is unique")
struct UniquenessTests {
    private let place: StorePlace
    private let index = "SELECT COUNT(*) FROM sqlite_master WHERE sql LIKE 'CREATE UNIQUE INDEX%ZTAG%ZNAME%'"

    init() throws { place = try StorePlace() }

    private func stored() throws -> String? {
        try place.text("SELECT group_concat(ZID || '=' || ifnull(ZNAME, 'none')) FROM ZTAG ORDER BY Z_PK")
    }

    @Test("is unique in a store that was made without the rule, too: the index is made")
    func existingStore() async throws {
        try await place.loaded([Tag.self]).save([Tag(id: "1", name: "red"), Tag(id: "2"), Tag(id: "3")])
        #expect(try place.number(index) == 0)
        let manager = try place.loaded([Unique.self])
        #expect(try place.number(index) == 1)
        await #expect(throws: PersistenceError.self) { try await manager.save(Unique(id: "4", name: "red")) }
        #expect(try place.number("SELECT COUNT(*) FROM ZTAG") == 3)
    }

    @Test("a store with rows that break the rule is refused, and the values are listed")
    func existingDuplicates() async throws {
        let tags = (0..<12).map { Tag(id: "\($0)", name: ["red", "green", "blue"][$0 % 3]) }
        try await place.loaded([Tag.self]).save(tags + [Tag(id: "x", name: "one")])
        #expect(
            throws: PersistenceError.notUnique(
                store: "store.sqlite", entity: "Tag", properties: ["name"],
                examples: ["'red' (4 rows)", "'green' (4 rows)", "'blue' (4 rows)"])
        ) { try place.loaded([Unique.self]) }
        #expect(try place.number(index) == 0)
        #expect(try await place.loaded([Tag.self]).fetch(Tag.self).count == 13)
    }

    @Test("A store that would be migrated besides is refused, too")
    func duplicatesAndMigration() async throws {
        struct Later: CoreModel {
            let id: String
            var name: String?
            var colour: String?
            static var schema: Schema<Later> { Schema(.unique(\.name), name: "Tag") }
        }
        try await place.loaded([Tag.self]).save([Tag(id: "1", name: "red"), Tag(id: "2", name: "red")])
        #expect {
            try place.loaded([Later.self])
        } throws: { error in
            (error as? PersistenceError)?.code == .notUnique
        }
        #expect(try await place.loaded([Tag.self]).fetch(Tag.self).count == 2)
    }

    @Test("a plan whose step leaves rows that break the rule is refused", arguments: [false, true])
    func duplicatesOfAPlan(isByClosure: Bool) async throws {
        struct Later: CoreModel {
            let id: String
            var name: String?
            var colour: String?
            static var schema: Schema<Later> { Schema(.unique(\.name), name: "Tag") }
        }
        let former = try place.loaded([Tag.self])
        try await former.save([Tag(id: "1", name: "red"), Tag(id: "2", name: "red")])
        await former.close()
        let last = ModelVersion("2", models: Later.self)
        let start = MigrationPlan(from: ModelVersion("1", models: Tag.self))
        let change = RecordChange.model(Tag.self, to: Later.self) { Later(id: $0.id, name: $0.name) }
        let plan = isByClosure ? start.changing(to: last, change) : start.inferred(to: last)
        await #expect {
            try await PersistenceManager(models: Later.self, store: .file(place.file)).load(migratingBy: plan)
        } throws: { error in
            guard let error = error as? PersistenceError, error.code == .notUnique else { return false }
            // What closures have made is gone with a server's transaction.
            let isNamed = isByClosure || error.entity == "Tag" && error.property == "name"
            return isNamed && error.description.contains("red") && !error.description.contains("ZTAG")
        }
        #expect(try await place.loaded([Tag.self]).fetch(Tag.self).count == 2)
    }

    @Test("a plan whose step adds the rule alone says which values how many rows have")
    func countsOfAPlan() async throws {
        let former = try place.loaded([Tag.self])
        try await former.save((0..<7).map { Tag(id: "\($0)", name: $0 < 3 ? "red" : $0 < 5 ? "green" : "\($0)") })
        await former.close()
        let plan = MigrationPlan(from: ModelVersion("1", models: Tag.self)).inferred(
            to: ModelVersion("2", models: Unique.self))
        let error = await #expect(throws: PersistenceError.self) {
            try await PersistenceManager(models: Unique.self, store: .file(place.file)).load(migratingBy: plan)
        }
        #expect(error?.known == ["'red' (3 rows)", "'green' (2 rows)"])
        #expect(error?.description.contains("several 'Tag' with the same name, which is to be unique") == true)
    }

    @Test("another identifier with the same value is an error, which names both")
    func conflict() async throws {
        let manager = try place.loaded([Unique.self])
        try await manager.save(Unique(id: "1", name: "red"))
        await #expect {
            try await manager.save(Unique(id: "2", name: "red"))
        } throws: { error in
            guard let failure = (error as? PersistenceError)?.failures.first else { return false }
            return failure.entity == "Tag" && failure.identifier == "2" && failure.property == "name"
                && failure.reason == "The Tag '1' has the same value already."
        }
        #expect(try stored() == "1=red")
        // Under its own identifier it may be saved again, and others without a value are no others.
        try await manager.save([Unique(id: "1", name: "red"), Unique(id: "2"), Unique(id: "3")])
        // A change that would meet another is an error as well.
        await #expect(throws: PersistenceError.self) { try await manager.save(Unique(id: "2", name: "red")) }
        #expect(try stored() == "1=red,2=none,3=none")
    }

    @Test("two of one save with the same value are an error")
    func twoOfOneSave() async throws {
        let manager = try place.loaded([Unique.self])
        await #expect(throws: PersistenceError.self) {
            try await manager.save([Unique(id: "1", name: "red"), Unique(id: "2", name: "red")])
        }
        #expect(try place.number("SELECT COUNT(*) FROM ZTAG") == 0)
    }

    @Test("values that two models exchange meet nobody")
    func exchange() async throws {
        let manager = try place.loaded([Unique.self])
        try await manager.save([Unique(id: "1", name: "red"), Unique(id: "2", name: "blue")])
        try await manager.save([Unique(id: "1", name: "blue"), Unique(id: "2", name: "red")])
        #expect(try stored() == "1=blue,2=red")
    }

    @Test("the stored one stays where the schema says so")
    func keepingStored() async throws {
        let manager = try place.loaded([KeepingStored.self])
        try await manager.save(KeepingStored(id: "1", name: "red"))
        try await manager.save([KeepingStored(id: "2", name: "red"), KeepingStored(id: "3", name: "blue")])
        #expect(try stored() == "1=red,3=blue")
    }

    @Test("an import counts only those as inserted that stay")
    func importing() async throws {
        let manager = try place.loaded([KeepingStored.self])
        try await manager.save(KeepingStored(id: "1", name: "red"))
        let tags = [("2", "red"), ("3", "blue"), ("4", "blue"), ("1", "red"), ("5", nil)]
        let report = try await manager.importModels(tags.map { KeepingStored(id: $0, name: $1) })
        #expect(report.inserted == 2 && report.unchanged == 1 && report.superseded == 2)
        #expect(report.total == 5 && report.refused.isEmpty)
        #expect(try stored() == "1=red,3=blue,5=none")
    }

    @Test("the new one stays where the schema says so")
    func keepingNew() async throws {
        let manager = try place.loaded([KeepingNew.self])
        try await manager.save(KeepingNew(id: "1", name: "red"))
        try await manager.save([KeepingNew(id: "2", name: "red"), KeepingNew(id: "3", name: "blue")])
        #expect(try stored() == "2=red,3=blue")
    }

    @Test("the one that stays stands in lists where the other one stood")
    func placeInLists() async throws {
        let manager = try place.loaded([Rhyme<KeepingStored>.self, KeepingStored.self])
        try await manager.save(KeepingStored(id: "1", name: "red"))
        let labels = [("a", "pink"), ("2", "red"), ("b", "blue")].map { KeepingStored(id: $0, name: $1) }
        try await manager.save(Rhyme(id: "r", labels: labels))
        #expect(try await manager.find(Rhyme<KeepingStored>.self, id: "r")?.labels.map(\.id) == ["a", "1", "b"])
    }

    @Test("two contexts that insert the same identifier still make one model")
    func sameIdentifier() async throws {
        let manager = try place.loaded([Unique.self])
        let other = try place.loaded([Unique.self])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<20 {
                group.addTask { try await manager.save(Unique(id: "\(round)", name: "n\(round)")) }
                group.addTask { try await other.save(Unique(id: "\(round)", name: "n\(round)")) }
            }
            try await group.waitForAll()
        }
        #expect(try place.number("SELECT COUNT(*) FROM ZTAG") == 20)
    }

    @Test("what another manager made unique stays so, until a schema gives it up by name")
    func anothersConstraint() async throws {
        try await place.loaded([Unique.self]).save(Unique(id: "1", name: "red"))
        let manager = try place.loaded([Tag.self])
        await #expect(throws: PersistenceError.self) { try await manager.save(Tag(id: "2", name: "red")) }
        #expect(try place.number(index) == 1)
        let released = try place.loaded([Released.self])
        #expect(try place.number(index) == 0)
        try await released.save(Released(id: "2", name: "red"))
        #expect(try await place.loaded([Tag.self]).fetch(Tag.self).count == 2)
    }

    @Test("an index that a schema asks for is made in a store that there is")
    func plainIndex() async throws {
        struct Indexed: CoreModel {
            let id: String
            var name: String?
            static var schema: Schema<Indexed> { Schema(.index(\.name), name: "Tag") }
        }
        try await place.loaded([Tag.self]).save(Tag(id: "1", name: "red"))
        _ = try place.loaded([Indexed.self])
        #expect(try place.number("SELECT COUNT(*) FROM sqlite_master WHERE name = 'Z_Tag_byName'") == 1)
    }
}
