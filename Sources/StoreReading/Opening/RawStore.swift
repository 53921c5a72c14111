import CoreData
import SQLiteConnection

/// A store without a model: its objects as in its tables or its file, under the names found there.
package struct RawStore {
    package struct Entity {
        package let name: String
        /// Its superentity; nil if the file does not name it.
        package let parent: String?
        package let count: Int
        /// The names of the columns, or of the properties that occur.
        package let columns: [String]
    }

    package let original: URL
    package let facts: FileFacts
    /// Why there is no model, as a sentence without its final period.
    package let reason: String
    package let entities: [Entity]
    private let contents: any RawContents
    private let copy: PrivateCopy

    /// Opens a store.
    ///
    /// - Throws: an error that names the file and its defect.
    package init(at path: String, reason: String) throws {
        original = URL(store: path)
        copy = try PrivateCopy(of: original)
        facts = try FileFacts(copy: copy.url, original: original)
        self.reason = reason
        if facts.kind == .sqlite, let missing = SQLiteHeader(of: original)?.missingBytes {
            throw CommandError(
                "“\(original.path)” is cut off: \(missing) bytes are missing at its end, and \(reason)")
        }
        contents =
            facts.kind == .sqlite
            ? try RawTables(copy.url, original: original, uuid: facts.uuid)
            : RawDocument(try DocumentStore.contents(of: copy.url, type: facts.kind.type), uuid: facts.uuid)
        entities = try contents.entities()
    }

    /// The entities to show: all, or the named one.
    ///
    /// - Throws: `CommandError` naming the existing entities.
    package func entities(named name: String?) throws -> [Entity] {
        guard let name else { return entities }
        let found = entities.filter { $0.name == name }
        guard !found.isEmpty else {
            throw CommandError(
                "“\(original.path)” has no entity “\(name)”; it has \(entities.map(\.name).joined(separator: ", "))")
        }
        return found
    }

    /// Calls a function with each object of an entity, by primary key.
    package func forEachObject(of entity: Entity, _ body: (ObjectRecord) throws -> Void) throws {
        try contents.forEachObject(of: entity, body)
    }
}

/// A source of objects without a model.
package protocol RawContents {
    func entities() throws -> [RawStore.Entity]
    func forEachObject(of entity: RawStore.Entity, _ body: (ObjectRecord) throws -> Void) throws
}

/// The objects of an XML or binary store.
package struct RawDocument: RawContents {
    private let objects: [String: [StoreDocument.Object]]
    /// The objects' entities, by key.
    private let entityNames: [Int64: String]
    private let uuid: String

    package init(_ document: StoreDocument, uuid: String) {
        objects = Dictionary(grouping: document.objects, by: \.entityName)
        entityNames = Dictionary(
            document.objects.map { ($0.key, $0.entityName) }, uniquingKeysWith: { first, _ in first })
        self.uuid = uuid
    }

    package func entities() -> [RawStore.Entity] {
        objects.sorted { $0.key < $1.key }.map { name, objects in
            let names = objects.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
            return RawStore.Entity(name: name, parent: nil, count: objects.count, columns: Set(names).sorted())
        }
    }

    package func forEachObject(of entity: RawStore.Entity, _ body: (ObjectRecord) throws -> Void) throws {
        for object in (objects[entity.name] ?? []).sorted(by: { $0.key < $1.key }) {
            let values = object.attributes.map { ObjectRecord.Field(name: $0.name, value: FieldValue($0.value)) }
            let references = object.relationships.map { name, keys in
                // The file says which object it leads to, but not of what entity.
                ObjectRecord.Field(
                    name: name, value: .list(keys.map { .string(self.name(of: $0)) }))
            }
            try body(
                ObjectRecord(
                    entityName: entity.name, key: object.key, uri: "x-coredata://\(uuid)/\(entity.name)/p\(object.key)",
                    fields: values + references))
        }
    }

    private func name(of key: Int64) -> String {
        entityNames[key].map { "\($0)/p\(key)" } ?? "p\(key) (missing)"
    }
}

extension FieldValue {
    /// A value from a file.
    package init(_ value: StoreDocument.FileValue) {
        switch value {
        case .text(let text): self = .string(text)
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .data(let data): self = .data(data)
        }
    }
}
