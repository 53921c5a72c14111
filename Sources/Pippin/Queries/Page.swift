import Foundation
import StoreSession

/// A total order, and the models that come after a given one in it.
struct Page {
    fileprivate struct Key {
        let field: Int
        /// The names that lead on from the field, into nested values.
        let nested: [String]
        let name: String
        let kind: AttributeKind
        let ascending: Bool
    }

    /// At least one: the last one is the identifier, which no two models share.
    private let keys: [Key]

    /// - Throws: ``PersistenceError/Code/unknownProperty`` for an order by anything but single values of the model,
    ///   ``PersistenceError/Code/notComparable`` for an order of texts that is not the default one.
    init<Model>(_ order: Order<Model>, _ plan: EntityPlan, _ registry: ModelRegistry) throws {
        var keys: [Key] = []
        if let term = order.terms.first(where: { $0.texts != .lexical }) {
            throw PersistenceError.notPaged(term.property.spelling, entity: plan.name, order: "\(term.texts)")
        }
        let reason =
            "What comes after a model is found by single values of the model itself, also of its nested structs: "
            + "order by these, or take pages by offset."
        for term in order.terms where keys.last?.name != plan.uidKey {
            let (path, kind) = try registry.singleValue(term.property, of: plan, reason)
            guard try registry.relationships(of: path, in: plan) == nil,
                let key = Key(path, kind, ascending: term.ascending, plan)
            else {
                throw PersistenceError.noSingleValue(
                    term.property.spelling, entity: plan.name, known: plan.propertyNames, reason)
            }
            keys.append(key)
        }
        if keys.last?.name != plan.uidKey, let kind = plan.record.attributeKinds[plan.uidField],
            let key = Key(plan.uidKey, kind, ascending: true, plan)
        {
            keys.append(key)
        }
        self.keys = keys
    }

    var sortDescriptors: [NSSortDescriptor] { keys.map { NSSortDescriptor(key: $0.name, ascending: $0.ascending) } }

    /// The place of a model in the order: its value for each key.
    func place(of values: ContiguousArray<StoredValue>) -> [Any?] { keys.map { value(of: $0, values) } }

    /// The predicate for the models after a place.
    func predicate(after place: [Any?]) -> NSPredicate {
        let rest = alternatives(place) { Self.beyond(keys[0], $0) }
        guard keys.count > 1, keys[0].ascending, let value = place[0] else { return rest }
        // A database searches an index by this, but not by alternatives.
        return Self.and([Self.predicate(keys[0].name, ">=", value), rest])
    }

    /// The predicate for the first ones after a place, which a database finds by searching an index;
    /// the others are those from where values of the first key begin, or end.
    ///
    /// - Returns: `nil` if the predicate for all of them can be answered by searching an index.
    func nearestPredicate(after place: [Any?]) -> NSPredicate? {
        let name = keys[0].name
        switch (place[0], keys[0].ascending) {
        case (_?, true), (nil, false): return nil
        case (nil, true): return alternatives(place) { _ in nil }
        case (let value?, false):
            let rest = alternatives(place) { _ in Self.predicate(name, "<", value) }
            return Self.and([Self.predicate(name, "<=", value), rest])
        }
    }

    /// Beyond the first key, or equal by it and beyond the second one, and so on.
    private func alternatives(_ place: [Any?], beyondFirst: (Any?) -> NSPredicate?) -> NSPredicate {
        var alternatives: [NSPredicate] = []
        var equal: [NSPredicate] = []
        for (number, (key, value)) in zip(keys, place).enumerated() {
            if let beyond = number == 0 ? beyondFirst(value) : Self.beyond(key, value) {
                alternatives.append(Self.and(equal + [beyond]))
            }
            equal.append(Self.predicate(key.name, "==", value))
        }
        return NSCompoundPredicate(orPredicateWithSubpredicates: alternatives)
    }

    private func value(of key: Key, _ values: ContiguousArray<StoredValue>) -> Any? {
        let value = values[key.field]
        guard !key.nested.isEmpty else { return value.attributeValue(key.kind) }
        return key.nested.reduce(value.composite?.elements as Any?) { ($0 as? [String: Any])?[$1] }
    }

    private static func and(_ predicates: [NSPredicate]) -> NSPredicate {
        NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
    }

    /// No value counts as less than any value: it comes first in an ascending order, last in a descending one.
    private static func beyond(_ key: Key, _ value: Any?) -> NSPredicate? {
        guard let value else { return key.ascending ? predicate(key.name, "!=", nil) : nil }
        guard !key.ascending else { return predicate(key.name, ">", value) }
        return NSCompoundPredicate(orPredicateWithSubpredicates: [
            predicate(key.name, "<", value), predicate(key.name, "==", nil),
        ])
    }

    private static func predicate(_ name: String, _ comparison: String, _ value: Any?) -> NSPredicate {
        guard let value else { return NSPredicate(format: "%K \(comparison) nil", argumentArray: [name]) }
        return NSPredicate(format: "%K \(comparison) %@", argumentArray: [name, value])
    }
}

extension Page.Key {
    /// The key for a path of the model, maybe through nested values; nil if it leads elsewhere.
    fileprivate init?(_ path: String, _ kind: AttributeKind, ascending: Bool, _ plan: EntityPlan) {
        let names = path.split(separator: ".").map(String.init)
        guard let field = plan.fields.firstIndex(where: { $0.name == names.first }) else { return nil }
        self.init(
            field: field, nested: Array(names.dropFirst()), name: path, kind: kind, ascending: ascending)
    }
}

// A place as a text, for a client that asks for the next page.
extension Page {
    /// - Throws: ``PersistenceError/Code/unknownCursor`` for a value that no text says.
    func cursor(at place: [Any?]) throws -> String {
        let parts = try zip(keys, place).map { key, value -> [String?] in
            [key.spelling, try value.map { try key.text(of: $0) }]
        }
        return try JSONEncoder().encode(parts).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// - Throws: ``PersistenceError/Code/unknownCursor`` for a text that is not a place in this order.
    func place(at cursor: String) throws -> [Any?] {
        let text = cursor.replacing("-", with: "+").replacing("_", with: "/")
        let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: padded),
            let parts = try? JSONDecoder().decode([[String?]].self, from: data),
            parts.count == keys.count
        else { throw PersistenceError.unknownCursor(cursor) }
        return try zip(keys, parts).map { key, part -> Any? in
            guard part.count == 2, part[0] == key.spelling else { throw PersistenceError.unknownCursor(cursor) }
            guard let text = part[1] else { return nil }
            guard let value = key.value(of: text) else { throw PersistenceError.unknownCursor(cursor) }
            return value
        }
    }
}

extension Page.Key {
    /// The key and its direction, by which a cursor shows the order that it belongs to.
    fileprivate var spelling: String { (ascending ? "+" : "-") + name }

    fileprivate func text(of value: Any) throws -> String {
        switch (kind, value) {
        case (.string, let text as String): return text
        case (.date, let date as Date): return String(date.timeIntervalSinceReferenceDate.bitPattern, radix: 16)
        case (.uuid, let uuid as UUID): return uuid.uuidString
        case (.url, let url as URL): return url.absoluteString
        case (.data, let data as Data): return data.base64EncodedString()
        case (.decimal, let number as NSDecimalNumber): return number.decimalValue.description
        case (.float, let number as NSNumber), (.double, let number as NSNumber):
            return String(number.doubleValue.bitPattern, radix: 16)
        case (_, let number as NSNumber): return String(number.int64Value)
        default: throw PersistenceError.unknownCursor(name)
        }
    }

    fileprivate func value(of text: String) -> Any? {
        switch kind {
        case .string: text
        case .date:
            UInt64(text, radix: 16).map { Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)) }
        case .uuid: UUID(uuidString: text)
        case .url: URL(string: text)
        case .data: Data(base64Encoded: text)
        case .decimal: Decimal(string: text).map { NSDecimalNumber(decimal: $0) }
        case .float, .double: UInt64(text, radix: 16).map { NSNumber(value: Double(bitPattern: $0)) }
        case .boolean: Int64(text).map { NSNumber(value: $0 != 0) }
        case .integer16, .integer32, .integer64: Int64(text).map { NSNumber(value: $0) }
        }
    }
}
