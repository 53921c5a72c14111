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
