import CoreData

/// The output of `pippin dump --json`: one JSON object, written entity by entity.
package enum DumpJSON {
    package static func write(_ store: StoreObjects, _ entities: [EntityLayout], _ output: (String) throws -> Void)
        throws
    {
        try output("{\n  \"store\": \(JSONText.string(store.uuid)),\n  \"objects\": {")
        for (position, entity) in entities.enumerated() {
            try output("\(position == 0 ? "" : ",")\n    \(JSONText.string(entity.name)): [")
            var isFirst = true
            do {
                try store.forEachObject(of: entity) { object in
                    try output("\(isFirst ? "" : ",")\n      \(text(of: object))")
                    isFirst = false
                }
            } catch let error as NSError
                where isFirst && error.code == CoreDataErrorCode.persistentStoreIncompatibleSchema
            {
                try output(JSONText.object([("unknown", JSONText.string(error.localizedDescription))]) + "]")
                continue
            }
            try output(isFirst ? "]" : "\n    ]")
        }
        try output("\n  }\n}\n")
    }

    package static func text(of object: ObjectRecord) -> String {
        let members =
            [(ObjectHead.name, JSONText.string(object.uri))]
            + object.fields.map { (ObjectHead.property($0.name), text(of: $0.value)) }
        return JSONText.object(members)
    }

    package static func text(of value: FieldValue) -> String {
        switch value {
        case .null, .noObject: "null"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .double(let value): JSONText.number(value)
        case .decimal(let digits): digits == "NaN" ? JSONText.string(digits) : digits
        case .string(let value): JSONText.string(value)
        case .date(let seconds): JSONText.string(TextTools.iso8601(seconds))
        case .data(let data): JSONText.string(data.base64EncodedString())
        case .json(let text): text
        case .uuid(let value): JSONText.string(value.uuidString)
        case .url(let value): JSONText.string(value)
        case .missing(let file, let reason):
            JSONText.object([("missing", JSONText.string(file)), ("reason", JSONText.string(reason))])
        case .composite(let elements): JSONText.object(elements.map { ($0.name, text(of: $0.value)) })
        case .object(let reference): text(of: reference)
        case .objects(let references): "[" + references.map(text(of:)).joined(separator: ", ") + "]"
        case .list(let values): "[" + values.map(text(of:)).joined(separator: ", ") + "]"
        case .unknown(let reason): JSONText.object([("unknown", JSONText.string(reason))])
        }
    }

    /// The URI; one that leads to no object is marked: `{ "missing": "x-coredata://…" }`.
    private static func text(of reference: ObjectLink) -> String {
        let uri = JSONText.string(reference.uri)
        return reference.isMissing ? JSONText.object([("missing", uri)]) : uri
    }
}
