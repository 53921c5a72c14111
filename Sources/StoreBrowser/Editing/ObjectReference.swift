import CoreData
import StoreEngine
import StoreReading

/// An object as people name it: by its URI, as `Author/p3`, or by its number alone. Pure.
struct ObjectReference: Equatable {
    /// The store that a URI names; nil if none was given.
    var store: String?
    /// Nil for the entity that is expected.
    var entity: String?
    let key: Int64

    init?(_ text: String) {
        var rest = text[...]
        if rest.hasPrefix("x-coredata://") {
            rest = rest.dropFirst("x-coredata://".count)
            guard let slash = rest.firstIndex(of: "/") else { return nil }
            store = String(rest[..<slash])
            rest = rest[slash...].dropFirst()
        }
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, parts.count == 2 || (parts.count == 1 && store == nil) else { return nil }
        let digits = last.hasPrefix("p") ? last.dropFirst() : last
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int64(digits) else { return nil }
        if parts.count == 2 { entity = parts[0].removingPercentEncoding ?? String(parts[0]) }
        key = number
    }

    /// The objects that a text names, separated by commas or white space.
    static func words(_ text: String) -> [String] {
        text.split { $0 == "," || $0.isWhitespace }.map(String.init)
    }
}

extension ObjectReference {
    /// The object that a relationship is to lead to.
    ///
    /// - Throws: `EditChange.Refusal` for a text that names no object of the store, or one of another entity.
    static func row(_ text: String, for relationship: RelationshipLayout, _ store: DirectStore) throws -> Row {
        func refusal(_ reason: String) -> EditChange.Refusal {
            EditChange.Refusal(message: "“\(relationship.name)” needs an object of the store: “\(text)” \(reason).")
        }
        guard let reference = ObjectReference(text) else {
            throw refusal("is neither a URI nor such as \(relationship.destination.name)/p1")
        }
        if let other = reference.store, other.uppercased() != store.store.identifier?.uppercased() {
            throw refusal("is of another store")
        }
        guard let entity = reference.entity.map({ store.layout.entityByName[$0] }) ?? relationship.destination else {
            throw refusal("is of an entity that there is not")
        }
        guard entity.isKind(of: relationship.destination) || relationship.destination.isKind(of: entity) else {
            throw refusal("is no \(relationship.destination.name)")
        }
        guard let row = try store.namedRow(store.identifier(entity, reference.key)),
            row.objectID.layout.isKind(of: relationship.destination)
        else { throw refusal("is not there") }
        return row
    }
}
