import PippinRecords
import Testing

// The examples of Y—Persistence's description, word for word but for the name of the struct.

struct Member: Equatable {
    let personId: String
    let name: String
}

extension Member: CoreModel {
    typealias UidType = String
    var uid: String { personId }
}

final class MemberRecord: NSManagedObject {
    var id: String? {
        get { value(forKey: "id") as? String }
        set { setValue(newValue, forKey: "id") }
    }

    var name: String? {
        get { value(forKey: "name") as? String }
        set { setValue(newValue, forKey: "name") }
    }
}

extension MemberRecord: DataRecord {
    static var entityName: String { "MemberRecord" }
    static var uidKey: String { "id" }
}

extension MemberRecord: ModelRepresentable {
    typealias ModelType = Member
}

extension MemberRecord: RecordFromModel {
    func fromModel(_ model: Member) {
        id = model.personId
        name = model.name
    }
}

extension MemberRecord: RecordToModel {
    func toModel() -> Member {
        Member(personId: id ?? "", name: name ?? "")
    }
}

@Suite("The examples of Y—Persistence")
struct YPersistenceExamplesTests {
    private let persistenceManager: PersistenceManager
    private let people = ["a", "b", "c"].map { Member(personId: $0, name: "Person \($0)") }

    init() async throws {
        let entity = NSEntityDescription()
        entity.name = "MemberRecord"
        entity.managedObjectClassName = NSStringFromClass(MemberRecord.self)
        entity.properties = ["id", "name"].map { name in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        persistenceManager = PersistenceManager(model: model, name: "MyModel", store: .memory)
        try await persistenceManager.load()
        try await persistenceManager.save(entity: MemberRecord.self, models: people, shouldOverwrite: true)
    }

    @Test("fetch a person by uid and people by uids")
    func fetch() throws {
        #expect(try persistenceManager.fetchModel(entity: MemberRecord.self, uid: "a") == people[0])
        #expect(
            try persistenceManager.fetchModels(entity: MemberRecord.self, uids: ["c", "b"]) == [people[2], people[1]])
        #expect(try persistenceManager.fetchRecord(entity: MemberRecord.self, uid: "b")?.id == "b")
    }

    @Test("delete by uids, a person, and people")
    func delete() throws {
        try persistenceManager.deleteRecords(entity: MemberRecord.self, uids: ["a"])
        try persistenceManager.deleteModel(entity: MemberRecord.self, model: people[1])
        #expect(try persistenceManager.fetchModels(entity: MemberRecord.self) == [people[2]])
        try persistenceManager.deleteModels(entity: MemberRecord.self, models: people)
        #expect(try persistenceManager.fetchModels(entity: MemberRecord.self).isEmpty)
    }

    @Test("save people, overwriting the others")
    func save() throws {
        try persistenceManager.save(entity: MemberRecord.self, models: [people[1]], shouldOverwrite: true)
        #expect(try persistenceManager.fetchModels(entity: MemberRecord.self) == [people[1]])
    }
}
