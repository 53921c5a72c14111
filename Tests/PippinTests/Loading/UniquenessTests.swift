import Pippin
import Testing

private struct Tag: CoreModel, Codable, Sendable, Equatable {
    let uid: String
    var name: String?
}

private struct Unique: CoreModel, Codable, Sendable, Equatable {
    let uid: String
    var name: String?
    static var schema: Schema<Unique> { Schema(.unique(\.name), name: "Tag") }
}

private struct KeepingStored: CoreModel, Codable, Sendable, Equatable {
    let uid: String
    var name: String?
    static var schema: Schema<KeepingStored> { Schema(.unique(\.name, keeping: .stored), name: "Tag") }
}

private struct KeepingNew: CoreModel, Codable, Sendable, Equatable {
    let uid: String
    var name: String?
    static var schema: Schema<KeepingNew> { Schema(.unique(\.name, keeping: .new), name: "Tag") }
}

private struct Released: CoreModel, Codable, Sendable, Equatable {
    let uid: String
    var name: String?
    static var schema: Schema<Released> { Schema(.notUnique(\.name), name: "Tag") }
}

@Suite("What a schema calls unique is unique")
struct UniquenessTests {
    private let place: StorePlace
    private let index = "SELECT COUNT(*) FROM sqlite_master WHERE sql LIKE 'CREATE UNIQUE INDEX%ZTAG%ZNAME%'"

    init() throws { place = try StorePlace() }

    private func stored() throws -> String? {
        try place.text("SELECT group_concat(ZUID || '=' || ifnull(ZNAME, 'none')) FROM ZTAG ORDER BY Z_PK")
    }

    @Test("in a store that was made without the rule, too: the index is made")
    func existingStore() throws {
        try place.loaded([Tag.self]).save([Tag(uid: "1", name: "red"), Tag(uid: "2"), Tag(uid: "3")])
        #expect(try place.number(index) == 0)
        let manager = try place.loaded([Unique.self])
        #expect(try place.number(index) == 1)
        #expect(throws: SaveError.self) { try manager.save(Unique(uid: "4", name: "red")) }
        #expect(try place.number("SELECT COUNT(*) FROM ZTAG") == 3)
    }

    @Test("a store with rows that break the rule is refused, and the values are listed")
    func existingDuplicates() throws {
        let tags = (0..<12).map { Tag(uid: "\($0)", name: ["red", "green", "blue"][$0 % 3]) }
        try place.loaded([Tag.self]).save(tags + [Tag(uid: "x", name: "one")])
        #expect(
            throws: PersistenceError.notUnique(
                store: "store.sqlite", entity: "Tag", properties: ["name"],
                examples: ["'red' (4 rows)", "'green' (4 rows)", "'blue' (4 rows)"])
        ) { try place.loaded([Unique.self]) }
        #expect(try place.number(index) == 0)
        #expect(try place.loaded([Tag.self]).fetch(Tag.self).count == 13)
    }

    @Test("so is one that would be migrated besides")
    func duplicatesAndMigration() throws {
        struct Later: CoreModel, Codable {
            let uid: String
            var name: String?
            var colour: String?
            static var schema: Schema<Later> { Schema(.unique(\.name), name: "Tag") }
        }
        try place.loaded([Tag.self]).save([Tag(uid: "1", name: "red"), Tag(uid: "2", name: "red")])
        #expect {
            try place.loaded([Later.self])
        } throws: { error in
            guard case .notUnique? = error as? PersistenceError else { return false }
            return true
        }
        #expect(try place.loaded([Tag.self]).fetch(Tag.self).count == 2)
    }

    @Test("another identifier with the same value is an error, which names both")
    func conflict() throws {
        let manager = try place.loaded([Unique.self])
        try manager.save(Unique(uid: "1", name: "red"))
        #expect {
            try manager.save(Unique(uid: "2", name: "red"))
        } throws: { error in
            guard let failure = (error as? SaveError)?.failures.first else { return false }
            return failure.entity == "Tag" && failure.uid == "2" && failure.key == "name"
                && failure.reason.contains("'1'")
        }
        #expect(try stored() == "1=red")
        // Under its own identifier it may be saved again, and others without a value are no others.
        try manager.save([Unique(uid: "1", name: "red"), Unique(uid: "2"), Unique(uid: "3")])
        // A change that would meet another is an error as well.
        #expect(throws: SaveError.self) { try manager.save(Unique(uid: "2", name: "red")) }
        #expect(try stored() == "1=red,2=none,3=none")
    }

    @Test("two of one save with the same value are an error")
    func twoOfOneSave() throws {
        let manager = try place.loaded([Unique.self])
        #expect(throws: SaveError.self) {
            try manager.save([Unique(uid: "1", name: "red"), Unique(uid: "2", name: "red")])
        }
        #expect(try place.number("SELECT COUNT(*) FROM ZTAG") == 0)
    }

    @Test("values that two models exchange meet nobody")
    func exchange() throws {
        let manager = try place.loaded([Unique.self])
        try manager.save([Unique(uid: "1", name: "red"), Unique(uid: "2", name: "blue")])
        try manager.save([Unique(uid: "1", name: "blue"), Unique(uid: "2", name: "red")])
        #expect(try stored() == "1=blue,2=red")
    }

    @Test("the stored one stays where the schema says so")
    func keepingStored() throws {
        let manager = try place.loaded([KeepingStored.self])
        try manager.save(KeepingStored(uid: "1", name: "red"))
        try manager.save([KeepingStored(uid: "2", name: "red"), KeepingStored(uid: "3", name: "blue")])
        #expect(try stored() == "1=red,3=blue")
    }

    @Test("the new one stays where the schema says so")
    func keepingNew() throws {
        let manager = try place.loaded([KeepingNew.self])
        try manager.save(KeepingNew(uid: "1", name: "red"))
        try manager.save([KeepingNew(uid: "2", name: "red"), KeepingNew(uid: "3", name: "blue")])
        #expect(try stored() == "2=red,3=blue")
    }

    @Test("two contexts that insert the same identifier still make one model")
    func sameIdentifier() async throws {
        let manager = try place.loaded([Unique.self])
        let other = try place.loaded([Unique.self])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<20 {
                group.addTask { try await manager.save(Unique(uid: "\(round)", name: "n\(round)")) }
                group.addTask { try await other.save(Unique(uid: "\(round)", name: "n\(round)")) }
            }
            try await group.waitForAll()
        }
        #expect(try place.number("SELECT COUNT(*) FROM ZTAG") == 20)
    }

    @Test("what another manager made unique stays so, until a schema gives it up by name")
    func anothersConstraint() throws {
        try place.loaded([Unique.self]).save(Unique(uid: "1", name: "red"))
        let manager = try place.loaded([Tag.self])
        #expect(throws: SaveError.self) { try manager.save(Tag(uid: "2", name: "red")) }
        #expect(try place.number(index) == 1)
        let released = try place.loaded([Released.self])
        #expect(try place.number(index) == 0)
        try released.save(Released(uid: "2", name: "red"))
        #expect(try place.loaded([Tag.self]).fetch(Tag.self).count == 2)
    }

    @Test("an index that a schema asks for is made in a store that there is")
    func plainIndex() throws {
        struct Indexed: CoreModel, Codable {
            let uid: String
            var name: String?
            static var schema: Schema<Indexed> { Schema(.index(\.name), name: "Tag") }
        }
        try place.loaded([Tag.self]).save(Tag(uid: "1", name: "red"))
        _ = try place.loaded([Indexed.self])
        #expect(try place.number("SELECT COUNT(*) FROM sqlite_master WHERE name = 'Z_Tag_byName'") == 1)
    }
}
