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

private struct PlainTag: CoreModel, Equatable {
    let id: String
    var name: String?
    static var schema: Schema<PlainTag> { Schema(.unique(\.name), name: "Tag") }
}

@Suite("An update by a filter, of a property that is to be unique")
struct UniqueUpdateTests {
    private let place: StorePlace

    init() throws { place = try StorePlace() }

    @Test("follows the rule that says which model stays, as one in a block does", arguments: [false, true])
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

    @Test("is an error with the model and the property where it does not say which", arguments: [false, true])
    func neither(isInBlock: Bool) async throws {
        let manager = try place.loaded([PlainTag.self])
        let tags = [PlainTag(id: "1", name: "red"), PlainTag(id: "2", name: "blue")]
        try await manager.save(tags)
        let error = await #expect(throws: PersistenceError.self) {
            if isInBlock {
                try await manager.write { store in
                    try store.update(PlainTag.self, where: .all) { $0.set(\.name, to: "green") }
                }
            } else {
                try await manager.update(PlainTag.self, where: .all) { $0.set(\.name, to: "green") }
            }
        }
        #expect(error?.code == .conflict)
        #expect(error?.entity == "Tag")
        #expect(error?.property == "name")
        #expect(
            isInBlock
                || error?.description == "Nothing was saved. Two 'Tag' would have the same name, which is to be unique."
        )
        #expect(try await manager.fetch(PlainTag.self).sorted { $0.id < $1.id } == tags)
    }
}
