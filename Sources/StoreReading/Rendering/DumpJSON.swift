import CoreData

/// The output of `pippin dump --json`: one JSON object, written entity by entity.
package enum DumpJSON {
    /// - Parameters:
    ///   - store: the store.
    ///   - entities: the entities to write.
    ///   - style: how values are shown, and what is beside them.
    ///   - output: takes the text.
    /// - Throws: errors of the store, and those of `output`.
    package static func write(
        _ store: StoreObjects, _ entities: [EntityLayout], _ style: ValueStyle,
        _ output: (String) throws -> Void
    ) throws {
        try output("{\n  \"store\": \(JSONText.string(store.uuid)),\n  \"objects\": {")
        var marks: [(String, String)] = []
        for (position, entity) in entities.enumerated() {
            try output("\(position == 0 ? "" : ",")\n    \(JSONText.string(entity.name)): [")
            var isFirst = true
            do {
                if style == ValueStyle(), let stream = ObjectJSONStream(store, entity) {
                    isFirst = try !stream.write(from: "\n      ", then: ",\n      ") { text in
                        isFirst = false
                        try output(text)
                    }
                } else {
                    try store.forEachObject(of: entity) { object in
                        try write(object, style, from: isFirst ? "\n      " : ",\n      ", output)
                        isFirst = false
                    }
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
        _ object: ObjectRecord, _ style: ValueStyle, from start: String, _ output: (String) throws -> Void
    ) throws {
        let fields = object.fields.map { (name: $0.name, value: $0.value) }
        try write(
            object.uri, fields.map { ($0.name, style.inZone(style.shown($0.value, $0.name, of: object.entityName))) },
            beside: style.members(beside: fields, of: object.entityName, marks: true), from: start, output)
    }

    /// Writes an object: as one text, if no value is long.
    ///
    /// - Parameters:
    ///   - uri: the object's URI.
    ///   - fields: its values.
    ///   - members: what else is said of it; see `ValueStyle`.
    ///   - start: the text before the object.
    ///   - end: the text behind it.
    ///   - isLine: whether the object may have no line breaks.
    ///   - output: takes the text.
    /// - Throws: the errors of `output`.
    static func write(
        _ uri: String, _ fields: [ValueStyle.Field], beside members: [(String, String)], from start: String,
        to end: String = "", isLine: Bool = false, _ output: (String) throws -> Void
    ) throws {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(48 * fields.count + 128)
        bytes += start.utf8
        bytes += Self.head
        JSONText.append(uri, to: &bytes)
        for (name, value) in fields {
            JSONText.append(member: ObjectHead.property(name), to: &bytes)
            if LongText.isLong(value) {
                try output(String(decoding: bytes, as: UTF8.self))
                bytes.removeAll(keepingCapacity: true)
                try LongText.writeJSON(value, isLine: isLine, output)
            } else {
                append(value, to: &bytes)
            }
        }
        for (name, text) in members {
            JSONText.append(member: name, to: &bytes)
            bytes += text.utf8
        }
        bytes.append(UInt8(ascii: "}"))
        bytes += end.utf8
        try output(String(decoding: bytes, as: UTF8.self))
    }

    private static let head = Array("{\(JSONText.string(ObjectHead.name)): ".utf8)

    /// A value; null for one that is not there.
    package static func text(of value: FieldValue) -> String {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static let null = Array("null".utf8)

    /// Appends a value; null for one that is not there.
    static func append(_ value: FieldValue, to bytes: inout [UInt8]) {
        switch value {
        case .null, .noObject, .missing, .unknown: bytes += null
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): JSONText.append(value, to: &bytes)
        case .double(let value): bytes += JSONText.number(value).utf8
        case .decimal(let digits) where digits != "NaN": bytes += digits.utf8
        case .string(let text), .decimal(let text), .dateText(let text), .url(let text):
            JSONText.append(text, to: &bytes)
        case .date(let seconds):
            bytes.append(UInt8(ascii: "\""))
            TextTools.append(date: seconds, to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        case .data(let data), .archive(let data): JSONText.append(data.base64EncodedString(), to: &bytes)
        case .json(let text): bytes += text.utf8
        case .uuid(let value): JSONText.append(value.uuidString, to: &bytes)
        case .composite(let elements):
            bytes += JSONText.object(elements.filter { !$0.value.isGap }.map { ($0.name, text(of: $0.value)) }).utf8
        case .object(let link):
            if link.isMissing { bytes += "null".utf8 } else { JSONText.append(link.uri, to: &bytes) }
        case .objects(let links):
            appendList(links.lazy.filter { !$0.isMissing }, to: &bytes) { JSONText.append($0.uri, to: &$1) }
        case .list(let values): appendList(values, to: &bytes) { append($0, to: &$1) }
        }
    }

    private static func appendList<Element>(
        _ elements: some Sequence<Element>, to bytes: inout [UInt8], _ body: (Element, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: "["))
        var isFirst = true
        for element in elements {
            if !isFirst { bytes += [UInt8(ascii: ","), UInt8(ascii: " ")] }
            isFirst = false
            body(element, &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
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
