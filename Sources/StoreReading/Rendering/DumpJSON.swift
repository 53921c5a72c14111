import CoreData

/// The output of `pippin dump --json`: one JSON object, written entity by entity.
package enum DumpJSON {
    /// - Parameters:
    ///   - store: the store.
    ///   - entities: the entities to write.
    ///   - decodes: whether objects have the contents of their bytes, too; see `ByteContent`.
    ///   - output: takes the text.
    /// - Throws: errors of the store, and those of `output`.
    package static func write(
        _ store: StoreObjects, _ entities: [EntityLayout], decodes: Bool = false, _ output: (String) throws -> Void
    ) throws {
        try output("{\n  \"store\": \(JSONText.string(store.uuid)),\n  \"objects\": {")
        var marks: [(String, String)] = []
        for (position, entity) in entities.enumerated() {
            try output("\(position == 0 ? "" : ",")\n    \(JSONText.string(entity.name)): [")
            var isFirst = true
            do {
                try store.forEachObject(of: entity) { object in
                    try write(object, from: isFirst ? "\n      " : ",\n      ", decodes: decodes, output)
                    isFirst = false
                }
            } catch let error as NSError
                where isFirst && error.code == CoreDataErrorCode.persistentStoreIncompatibleSchema
            {
                marks.append((entity.name, JSONText.object([("unknown", JSONText.string(error.localizedDescription))])))
            }
            try output(isFirst ? "]" : "\n    ]")
        }
        let end = marks.isEmpty ? "" : ",\n  \(JSONText.string(ObjectHead.marks)): \(JSONText.object(marks))"
        try output("\n  }\(end)\n}\n")
    }

    /// Writes an object behind a text, with a mark for what is not there of its values.
    static func write(
        _ object: ObjectRecord, from start: String, decodes: Bool = false, _ output: (String) throws -> Void
    ) throws {
        let fields = object.fields.map { (name: $0.name, value: $0.value) }
        let contents = decodes ? ByteContent.json(of: fields) : nil
        try write(object.uri, fields, marks: ValueMarks.text(of: fields), contents: contents, from: start, output)
    }

    /// Writes an object: as one text, if no value is long.
    ///
    /// - Parameters:
    ///   - uri: the object's URI.
    ///   - fields: its values.
    ///   - marks: what is not there of them; nil for nothing.
    ///   - contents: what their bytes hold; nil for nothing.
    ///   - start: the text before the object.
    ///   - end: the text behind it.
    ///   - isLine: whether the object may have no line breaks.
    ///   - output: takes the text.
    /// - Throws: the errors of `output`.
    static func write(
        _ uri: String, _ fields: [(name: String, value: FieldValue)], marks: String?,
        contents: String? = nil, from start: String, to end: String = "", isLine: Bool = false,
        _ output: (String) throws -> Void
    ) throws {
        var text = "\(start){\(JSONText.string(ObjectHead.name)): \(JSONText.string(uri))"
        for (name, value) in fields {
            text += ", \(JSONText.string(ObjectHead.property(name))): "
            if LongText.isLong(value) {
                try output(text)
                text = ""
                try LongText.writeJSON(value, isLine: isLine, output)
            } else {
                text += self.text(of: value)
            }
        }
        if let marks { text += ", \(JSONText.string(ObjectHead.marks)): \(marks)" }
        if let contents { text += ", \(JSONText.string(ObjectHead.contents)): \(contents)" }
        try output("\(text)}\(end)")
    }

    /// A value; null for one that is not there.
    package static func text(of value: FieldValue) -> String {
        switch value {
        case .null, .noObject, .missing, .unknown: "null"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .double(let value): JSONText.number(value)
        case .decimal(let digits): digits == "NaN" ? JSONText.string(digits) : digits
        case .string(let value): JSONText.string(value)
        case .date(let seconds): JSONText.string(TextTools.iso8601(seconds))
        case .dateText(let text): JSONText.string(text)
        case .data(let data): JSONText.string(data.base64EncodedString())
        case .json(let text): text
        case .uuid(let value): JSONText.string(value.uuidString)
        case .url(let value): JSONText.string(value)
        case .composite(let elements):
            JSONText.object(elements.filter { !$0.value.isGap }.map { ($0.name, text(of: $0.value)) })
        case .object(let link): link.isMissing ? "null" : JSONText.string(link.uri)
        case .objects(let links):
            "[" + links.filter { !$0.isMissing }.map { JSONText.string($0.uri) }.joined(separator: ", ") + "]"
        case .list(let values): "[" + values.map(text(of:)).joined(separator: ", ") + "]"
        }
    }
}

/// What is not there of an object's values, in JSON: `{"author": {"missing": "x-coredata://…"}}`.
///
/// A mark never stands in the place of a value, where bytes that are JSON could look like one. All marks of an object
/// are in its member `$marks`, by the names of the properties; an element of a composite attribute has a key path. No
/// property is written under that name. Pure.
enum ValueMarks {
    /// - Parameter fields: the values of an object.
    /// - Returns: the marks as a JSON object; nil if nothing is missing.
    static func text(of fields: [(name: String, value: FieldValue)]) -> String? {
        let marks = fields.flatMap { Self.marks(of: $0.value, ObjectHead.property($0.name)) }
        return marks.isEmpty ? nil : JSONText.object(marks)
    }

    private static func marks(of value: FieldValue, _ path: String) -> [(String, String)] {
        switch value {
        case .missing(let file, let reason):
            [(path, JSONText.object([("missing", JSONText.string(file)), ("reason", JSONText.string(reason))]))]
        case .unknown(let reason): [(path, JSONText.object([("unknown", JSONText.string(reason))]))]
        case .composite(let elements): elements.flatMap { marks(of: $0.value, "\(path).\($0.name)") }
        case .object(let link) where link.isMissing:
            [(path, JSONText.object([("missing", JSONText.string(link.uri))]))]
        case .objects(let links):
            missing(among: links).map { [(path, JSONText.object([("missing", $0)]))] } ?? []
        default: []
        }
    }

    private static func missing(among links: [ObjectLink]) -> String? {
        let uris = links.filter(\.isMissing).map { JSONText.string($0.uri) }
        return uris.isEmpty ? nil : "[\(uris.joined(separator: ", "))]"
    }
}
