import CoreData

/// A change that was saved, with the values that it left.
struct DoneChange: @unchecked Sendable {
    // @unchecked Sendable: the values are immutable ones of attributes, or object IDs.
    /// Counts the changes of a session, from 1.
    var number = 0
    private let what: String
    private let left: [(object: NSManagedObjectID, values: [String: AnyHashable?])]

    /// A description.
    var text: String { "Take back: \(what)" }

    /// - Parameters:
    ///   - what: what was changed, in words.
    ///   - objects: the objects that were updated and saved, and the properties that have changed.
    init(_ what: String, _ objects: some Sequence<(NSManagedObject, [String])>) {
        self.what = what
        left = objects.map { object, names in
            (object.objectID, Dictionary(uniqueKeysWithValues: names.map { ($0, Self.value(of: object, $0)) }))
        }
    }

    /// A value that another program has changed since, in words; nil if there is none.
    func changedSince(in context: NSManagedObjectContext) -> String? {
        for (identifier, values) in left {
            let number = ObjectLabel.number(of: identifier)
            guard let object = try? context.existingObject(with: identifier) else { return number }
            context.refresh(object, mergeChanges: true)
            let changed = values.filter { Self.value(of: object, $0.key) != $0.value }.keys.sorted()
            if !changed.isEmpty { return "\(number), \(changed.joined(separator: ", "))" }
        }
        return nil
    }

    /// A value for comparison. To-many relationships are left out: undoing keeps what other programs have added or
    /// removed.
    private static func value(of object: NSManagedObject, _ name: String) -> AnyHashable? {
        guard object.entity.relationshipsByName[name]?.isToMany != true else { return nil }
        let value = object.value(forKey: name)
        return (value as? NSManagedObject)?.objectID ?? comparable(value)
    }

    /// The value of an attribute; that of a composite one is a dictionary of them.
    private static func comparable(_ value: Any?) -> AnyHashable? {
        if let elements = value as? [String: Any] { return elements.compactMapValues(comparable) }
        return value as? AnyHashable
    }
}
