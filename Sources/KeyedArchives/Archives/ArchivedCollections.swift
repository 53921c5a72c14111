import Foundation

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
