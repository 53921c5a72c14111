import CoreData
import HTTPMessages
import StoreEngine
import StoreReading

/// A relationship that can be edited: the objects that it leads to, those to add, and those to remove.
///
/// A form uses `r.author` for the object of a to-one relationship, `a.books` for objects added to a to-many one, and
/// `x.books` for objects removed from it.
struct RelationshipField {
    /// How many destinations have a checkbox of their own.
    static let most = 50

    /// Begins the names of the fields with the object that the form showed at first.
    static let originalPrefix = "o.r."

    let relationship: RelationshipLayout
    /// The first destinations, in order if the relationship is ordered.
    let rows: [Row]
    /// A destination that no longer exists.
    let missing: NSManagedObjectID?
    let hasMore: Bool

    var name: String { relationship.name }

    /// The relationships of an object.
    ///
    /// - Throws: an error for a store that cannot be read.
    static func fields(of row: Row, _ store: DirectStore) throws -> [RelationshipField] {
        let entity = row.objectID.layout
        let toOnes = try entity.toOnes.filter { !$0.isTransient }.map { relationship -> RelationshipField in
            guard case .identifier(let target) = row.values[relationship.slot] else {
                return RelationshipField(relationship: relationship, rows: [], missing: nil, hasMore: false)
            }
            let found = try store.asking { try $0.row(for: target) }
            return RelationshipField(
                relationship: relationship, rows: found.map { [$0] } ?? [], missing: found == nil ? target : nil,
                hasMore: false)
        }
        let toManys = try RelatedObjects.own(entity).map { related in
            let found = try related.first(most + 1, from: row.objectID, store)
            return RelationshipField(
                relationship: related.relationship, rows: Array(found.prefix(most)), missing: nil,
                hasMore: found.count > most)
        }
        return toOnes + toManys
    }

    /// The changes in a submitted form.
    ///
    /// - Throws: `EditChange.Refusal` that names the relationship.
    static func changes(of row: Row, _ form: HTTPFields, _ store: DirectStore) throws -> [EditChange] {
        try fields(of: row, store).compactMap { field in
            try field.relationship.isToMany
                ? field.manyChange(of: row, form, store) : field.oneChange(form, store)
        }
    }

    private func oneChange(_ form: HTTPFields, _ store: DirectStore) throws -> EditChange? {
        guard let typed = form["r." + name], typed != form[Self.originalPrefix + name] else { return nil }
        let words = ObjectReference.words(typed)
        guard words.count < 2 else {
            throw EditChange.Refusal(message: "“\(name)” leads to one object; “\(typed)” names several.")
        }
        let new = try words.first.map { try ObjectReference.row($0, for: relationship, store) }
        let old = rows.first?.objectID ?? missing
        guard new?.objectID != old else { return nil }
        // A reference to a missing object that was left unchanged.
        if let missing, words.first == ObjectLabel.number(of: missing) { return nil }
        return EditChange(
            name: name, before: rows.first.map(Self.text) ?? missing.map(ObjectLabel.number) ?? "none",
            after: new.map(Self.text) ?? "none", action: .destination(new?.objectID))
    }

    private func manyChange(of row: Row, _ form: HTTPFields, _ store: DirectStore) throws -> EditChange? {
        func objects(_ prefix: String) throws -> [Row] {
            let words = form.values(prefix + name).flatMap(ObjectReference.words)
            var seen: Set<NSManagedObjectID> = []
            return try words.map { try ObjectReference.row($0, for: relationship, store) }
                .filter { seen.insert($0.objectID).inserted }
        }
        let (adding, removing) = (try objects("a."), try objects("x."))
        if adding.isEmpty, removing.isEmpty { return nil }
        let known = Set(
            try store.asking { try $0.destinations(of: relationship, for: [row.objectID]) }.first ?? [])
        if let stranger = removing.first(where: { !known.contains($0.objectID) }) {
            throw EditChange.Refusal(
                message:
                    "“\(name)” does not lead to \(ObjectLabel.number(of: stranger.objectID)), which is to be removed.")
        }
        let gone = Set(removing.map(\.objectID))
        let new = adding.filter { !known.contains($0.objectID) && !gone.contains($0.objectID) }
        let old = removing.filter { removed in !adding.contains { $0.objectID == removed.objectID } }
        if new.isEmpty, old.isEmpty { return nil }
        return EditChange(
            name: name, before: old.isEmpty ? "nothing is removed" : old.map(Self.text).joined(separator: ", "),
            after: new.isEmpty ? "nothing is added" : new.map(Self.text).joined(separator: ", "),
            action: .destinations(added: new.map(\.objectID), removed: old.map(\.objectID)))
    }

    /// An object in words: its number, and its name if it has one.
    static func text(_ row: Row) -> String {
        let number = ObjectLabel.number(of: row.objectID)
        return ObjectLabel.name(of: row).map { "\($0) (\(number))" } ?? number
    }
}

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
            throw refusal("is not of entity \(relationship.destination.name)")
        }
        guard let row = try store.namedRow(store.identifier(entity, reference.key)),
            row.objectID.layout.isKind(of: relationship.destination)
        else { throw refusal("is not there") }
        return row
    }
}
