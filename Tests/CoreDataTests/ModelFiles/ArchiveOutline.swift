import CoreData
import ModelFiles

/// A model's archive as text, object by object, without numbers and hash-table order: what two archives must have in
/// common, key for key and class for class, to be the same model to an unarchiver.
enum ArchiveOutline {
    /// The fields of every model, entity, property and index, under a name that tells it.
    static func outline(of archive: KeyedArchive) throws -> [String: String] {
        var objects: [String: String] = [:]
        for index in archive.objects.indices.dropFirst() {
            guard case .object(let object) = try archive.value(of: .uid(UInt32(index)), owner: 0, key: ""),
                let name = try identity(of: object)
            else { continue }
            objects[name] = try fields(of: object)
        }
        return objects
    }

    private static func identity(of object: ArchivedObject) throws -> String? {
        if object.isKind(of: "NSManagedObjectModel") { return "the model" }
        if object.isKind(of: "NSEntityDescription") { return try "entity \(object.string(forKey: "NSEntityName"))" }
        if object.isKind(of: "NSPropertyDescription") {
            let entity = try object.optionalObject(forKey: "NSEntity")?.string(forKey: "NSEntityName") ?? ""
            return try "property \(entity).\(object.string(forKey: "NSPropertyName"))"
        }
        if object.isKind(of: "NSFetchIndexDescription") { return try "index \(object.string(forKey: "NSIndexName"))" }
        return nil
    }

    private static func fields(of object: ArchivedObject) throws -> String {
        // Later compilers of Apple's write their own version into the model.
        let keys = object.keys.filter { !$0.hasPrefix("CDMCompiler") }
        let fields = try keys.map { try "\($0)=\(text(of: object.value(forKey: $0)))" }
        return "\(object.classNames.joined(separator: ":")) \(fields.joined(separator: " "))"
    }

    private static func text(of value: ArchivedValue) throws -> String {
        switch value {
        case .null: return "null"
        case .plain(.array(let elements)): return "\(elements)"
        case .plain(let value): return "\(value)"
        case .object(let object):
            if let name = try identity(of: object) { return "<\(name)>" }
            let names = object.classNames.joined(separator: ":")
            if let elements = try object.elements() {
                let texts = try elements.map(text)
                let sorted = object.isKind(of: "NSSet") ? texts.sorted() : texts
                return "\(names)[\(sorted.joined(separator: ", "))]"
            }
            if object.fields["NS.keys"] != nil, let pairs = try object.pairs() {
                let texts = try pairs.map { try "\(text(of: $0.key)): \(text(of: $0.value))" }
                return "\(names){\(texts.sorted().joined(separator: ", "))}"
            }
            return "(\(try fields(of: object)))"
        }
    }
}
