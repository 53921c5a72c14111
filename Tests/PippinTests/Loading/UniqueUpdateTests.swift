import Pippin
import Testing

private struct NewTag: CoreModel, Equatable {
    let id: String
    var name: String?
    var size: Int = 0
    static var schema: Schema<NewTag> { Schema(.unique(\.name, keeping: .new), name: "Tag") }
}

private struct StoredTag: CoreModel, Equatable {
    let id: String
    var name: String?
    var size: Int = 0
    static var schema: Schema<StoredTag> { Schema(.unique(\.name, keeping: .stored), name: "Tag") }
}

@Suite("An update by a filter, of a property of which the schema says which model stays")
struct UniqueUpdateTests {
    private let place: StorePlace

    init() throws { place = try StorePlace() }

    @Test("follows the rule, as one in a block does", arguments: [false, true])
    func new(isInBlock: Bool) async throws {
        let manager = try place.loaded([NewTag.self])
        try await manager.save([NewTag(id: "1", name: "red"), NewTag(id: "2", name: "blue")])
        if isInBlock {
            try await manager.write { store in
                try store.update(NewTag.self, where: \.id == "2") { $0.set(\.name, to: "red") }
            }
        } else {
            try await manager.update(NewTag.self, where: \.id == "2") { $0.set(\.name, to: "red") }
        }
        #expect(try await manager.fetch(NewTag.self) == [NewTag(id: "2", name: "red")])
        try await manager.update(NewTag.self, where: .all) { $0.set(\.size, to: 3) }
        #expect(try await manager.fetch(NewTag.self) == [NewTag(id: "2", name: "red", size: 3)])
    }

    @Test("leaves the stored one where that stays")
    func stored() async throws {
        let manager = try place.loaded([StoredTag.self])
        try await manager.save([StoredTag(id: "1", name: "red"), StoredTag(id: "2", name: "blue")])
        try await manager.update(StoredTag.self, where: \.id == "2") { $0.set(\.name, to: "red") }
        #expect(try await manager.fetch(StoredTag.self, where: \.name == "red").map(\.id) == ["1"])
    }
}
