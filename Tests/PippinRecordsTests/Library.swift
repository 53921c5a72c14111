import PippinRecords

// What the tests work with: a small library, as structs and as records. The model is built in code.

struct Person: CoreModel, Equatable {
    let uid: String
    var name: String
    var age: Int = 0
}

/// Owns its chapters (an array of structs).
struct Novel: CoreModel, Equatable {
    let uid: UUID
    var title: String
    var author: Person?
    var chapters: [Chapter] = []
}

struct Chapter: CoreModel, Equatable {
    let uid: Int
    var title: String
}

/// Refers back to its novel.
struct Note: Identifiable, Equatable {
    /// An identifier that is a type of its own.
    struct ID: UniqueIdentifier {
        let text: String

        init(_ text: String) { self.text = text }

        init?(attributeValue: Any) {
            guard let text = attributeValue as? String else { return nil }
            self.init(text)
        }

        var attributeValue: Any { text }
    }

    let uid: ID
    var id: ID { uid }
    var novelId: UUID
    var content: String
}

final class PersonRecord: NSManagedObject, RecordFromModel, RecordToModel {
    typealias ModelType = Person
    typealias UidType = String

    static var uidKey: String { "id" }

    func fromModel(_ person: Person) {
        setValue(person.name, forKey: "name")
        setValue(person.age, forKey: "age")
    }

    func toModel() -> Person {
        Person(uid: string("id"), name: string("name"), age: value(forKey: "age") as? Int ?? 0)
    }
}

final class NovelRecord: NSManagedObject, RecordFromModel, RecordToModel {
    func fromModel(_ novel: Novel) throws {
        setValue(novel.title, forKey: "title")
        setValue(
            try novel.author.map { try PersonRecord.record(from: $0, in: managedObjectContext) }, forKey: "author")
        let chapters = try ChapterRecord.records(from: novel.chapters, in: managedObjectContext)
        setValue(NSSet(array: chapters), forKey: "chapters")
    }

    func toModel() -> Novel {
        let chapters = (value(forKey: "chapters") as? Set<ChapterRecord> ?? []).map { $0.toModel() }
        return Novel(
            uid: value(forKey: "uid") as? UUID ?? UUID(), title: string("title"),
            author: (value(forKey: "author") as? PersonRecord)?.toModel(), chapters: chapters.sorted { $0.uid < $1.uid }
        )
    }
}

final class ChapterRecord: NSManagedObject, RecordFromModel, RecordToModel {
    typealias ModelType = Chapter
    typealias UidType = Int

    func fromModel(_ chapter: Chapter) { setValue(chapter.title, forKey: "title") }

    func toModel() -> Chapter { Chapter(uid: value(forKey: "uid") as? Int ?? 0, title: string("title")) }
}

final class NoteRecord: NSManagedObject, RecordFromModel, RecordToModel {
    typealias ModelType = Note
    typealias UidType = Note.ID

    struct Refused: Error {}

    func fromModel(_ note: Note) throws {
        guard note.content != "refuse me" else { throw Refused() }
        setValue(note.novelId, forKey: "novelId")
        setValue(note.content, forKey: "content")
    }

    func toModel() -> Note {
        Note(
            uid: Note.ID(string("uid")), novelId: value(forKey: "novelId") as? UUID ?? UUID(),
            content: string("content"))
    }
}

extension NSManagedObject {
    fileprivate func string(_ key: String) -> String { value(forKey: key) as? String ?? "" }
}

enum Library {
    /// A new model, the same each time.
    static func model() -> NSManagedObjectModel {
        let person = entity("PersonRecord", PersonRecord.self)
        let novel = entity("NovelRecord", NovelRecord.self)
        let chapter = entity("ChapterRecord", ChapterRecord.self)
        let note = entity("NoteRecord", NoteRecord.self)

        let novels = relationship("novels", to: novel, isToMany: true)
        let author = relationship("author", to: person)
        pair(novels, author)
        let chapters = relationship("chapters", to: chapter, isToMany: true, deleteRule: .cascadeDeleteRule)
        let chapterNovel = relationship("novel", to: novel)
        pair(chapters, chapterNovel)

        person.properties = [
            attribute("id", .stringAttributeType), attribute("name", .stringAttributeType),
            attribute("age", .integer32AttributeType), novels,
        ]
        novel.properties = [
            attribute("uid", .UUIDAttributeType), attribute("title", .stringAttributeType), author, chapters,
        ]
        chapter.properties = [
            attribute("uid", .integer64AttributeType), attribute("title", .stringAttributeType), chapterNovel,
        ]
        note.properties = [
            attribute("uid", .stringAttributeType), attribute("novelId", .UUIDAttributeType),
            attribute("content", .stringAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [person, novel, chapter, note]
        return model
    }

    private static func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = NSStringFromClass(type)
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func relationship(
        _ name: String, to destination: NSEntityDescription, isToMany: Bool = false,
        deleteRule: NSDeleteRule = .nullifyDeleteRule
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = isToMany ? 0 : 1
        relationship.deleteRule = deleteRule
        relationship.isOptional = true
        return relationship
    }

    private static func pair(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
        one.inverseRelationship = other
        other.inverseRelationship = one
    }
}
