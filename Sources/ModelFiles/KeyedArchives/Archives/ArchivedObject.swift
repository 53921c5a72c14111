import Foundation

/// An object of a keyed archive: its class by name, and its fields. The typed accessors throw an error that names the
/// object's number, the key, what was expected and what was found.
package struct ArchivedObject: Sendable {
    package let archive: KeyedArchive
    /// The object's number in `$objects`, which identifies it.
    package let index: Int
    /// The class, then its superclasses.
    package let classNames: [String]
    package let fields: [String: PropertyList]

    package var className: String { classNames.first ?? "" }

    /// Whether the object is of a class or one of its subclasses.
    package func isKind(of name: String) -> Bool { classNames.contains(name) }

    /// The names of the fields, sorted.
    package var keys: [String] { fields.keys.filter { $0 != "$class" }.sorted() }

    /// The value of a field; `.null` if there is no such field.
    package func value(forKey key: String) throws(KeyedArchiveError) -> ArchivedValue {
        guard let field = fields[key] else { return .null }
        return try archive.value(of: field, owner: index, key: key)
    }

    package func error(_ key: String?, expected: String, found: String) -> KeyedArchiveError {
        KeyedArchiveError(objectIndex: index, className: className, key: key, expected: expected, found: found)
    }

    /// The error of a reader that does not know the object's class.
    package func unknownClass(expected: String) -> KeyedArchiveError {
        KeyedArchiveError(objectIndex: index, unknownClass: className, expected: expected)
    }

    // MARK: Optional fields: nil when absent or null

    package func optionalString(forKey key: String) throws(KeyedArchiveError) -> String? {
        let value = try value(forKey: key)
        if case .null = value { return nil }
        guard let string = try value.string() else { throw error(key, expected: "a string", found: value.kind) }
        return string
    }

    package func optionalObject(forKey key: String) throws(KeyedArchiveError) -> ArchivedObject? {
        let value = try value(forKey: key)
        switch value {
        case .null: return nil
        case .object(let object): return object
        case .plain: throw error(key, expected: "an object", found: value.kind)
        }
    }

    /// The elements of an archived array, set or ordered set.
    package func optionalElements(forKey key: String) throws(KeyedArchiveError) -> [ArchivedValue]? {
        guard let object = try optionalObject(forKey: key) else { return nil }
        guard let elements = try object.elements() else {
            throw error(key, expected: "an array or a set", found: "an object of the class \(object.className)")
        }
        return elements
    }

    /// The objects of an archived array or set.
    package func optionalObjects(forKey key: String) throws(KeyedArchiveError) -> [ArchivedObject]? {
        guard let elements = try optionalElements(forKey: key) else { return nil }
        var objects: [ArchivedObject] = []
        for element in elements {
            guard case .object(let object) = element else {
                throw error(key, expected: "objects", found: element.kind)
            }
            objects.append(object)
        }
        return objects
    }

    /// The pairs of an archived dictionary, in the archive's order.
    package func optionalPairs(
        forKey key: String
    ) throws(KeyedArchiveError) -> [(key: ArchivedValue, value: ArchivedValue)]? {
        guard let object = try optionalObject(forKey: key) else { return nil }
        guard let pairs = try object.pairs() else {
            throw error(key, expected: "a dictionary", found: "an object of the class \(object.className)")
        }
        return pairs
    }

    // MARK: Numbers: a default when absent

    package func boolean(forKey key: String, default defaultValue: Bool = false) throws(KeyedArchiveError) -> Bool {
        switch try value(forKey: key) {
        case .null: return defaultValue
        case .plain(.boolean(let value)): return value
        case .plain(.integer(let value)) where value == 0 || value == 1: return value == 1
        case let value: throw error(key, expected: "a boolean", found: value.kind)
        }
    }

    package func integer(forKey key: String, default defaultValue: Int64? = nil) throws(KeyedArchiveError) -> Int64 {
        switch try value(forKey: key) {
        case .plain(.integer(let value)): return value
        case .plain(.boolean(let value)): return value ? 1 : 0
        case .null:
            guard let defaultValue else { throw error(key, expected: "an integer", found: "nothing") }
            return defaultValue
        case let value: throw error(key, expected: "an integer", found: value.kind)
        }
    }

    // MARK: Required fields

    package func string(forKey key: String) throws(KeyedArchiveError) -> String {
        guard let string = try optionalString(forKey: key) else {
            throw error(key, expected: "a string", found: "nothing")
        }
        return string
    }

    package func object(forKey key: String) throws(KeyedArchiveError) -> ArchivedObject {
        guard let object = try optionalObject(forKey: key) else {
            throw error(key, expected: "an object", found: "nothing")
        }
        return object
    }
}

extension ArchivedObject {
    /// The elements of an archived array, set or ordered set; nil for any other object.
    ///
    /// They are the references in `NS.objects`; archives of ordered sets have `NS.object.0`, `NS.object.1` … instead.
    package func elements() throws(KeyedArchiveError) -> [ArchivedValue]? {
        guard isKind(of: "NSArray") || isKind(of: "NSSet") || isKind(of: "NSOrderedSet") else { return nil }
        return try references(key: "NS.objects", numberedKey: "NS.object.")
    }

    /// The pairs of an archived dictionary, in the archive's order; nil when the object is not a dictionary.
    package func pairs() throws(KeyedArchiveError) -> [(key: ArchivedValue, value: ArchivedValue)]? {
        guard isKind(of: "NSDictionary") else { return nil }
        let keys = try references(key: "NS.keys", numberedKey: "NS.key.")
        let values = try references(key: "NS.objects", numberedKey: "NS.object.")
        guard keys.count == values.count else {
            throw error("NS.keys", expected: "\(values.count) keys", found: "\(keys.count)")
        }
        return zip(keys, values).map { (key: $0, value: $1) }
    }

    private func references(key: String, numberedKey: String) throws(KeyedArchiveError) -> [ArchivedValue] {
        var elements: [PropertyList] = []
        if let field = fields[key] {
            guard let array = field.arrayValue else { throw error(key, expected: "an array", found: field.kind) }
            elements = array
        } else {
            while let field = fields[numberedKey + "\(elements.count)"] { elements.append(field) }
        }
        var values: [ArchivedValue] = []
        values.reserveCapacity(elements.count)
        for element in elements { values.append(try archive.value(of: element, owner: index, key: key)) }
        return values
    }
}
