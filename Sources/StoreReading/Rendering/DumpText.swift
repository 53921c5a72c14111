import CoreData

/// The output of `pippin dump` for people: each object with its properties, long values shortened.
package enum DumpText {
    /// How much of a string or list is shown.
    private static let longestText = 100
    private static let longestList = 12
    private static let longestURL = 2000
    private static let longestJSON = 1 << 18

    package static func write(
        _ store: StoreObjects, _ entities: [EntityLayout], _ style: ValueStyle,
        _ output: (String) throws -> Void
    ) throws {
        try output("\(TextTools.inOneLine(store.title))   \(TextTools.inOneLine(store.uuid))\n")
        for entity in entities {
            do {
                let number = try store.count(of: entity)
                if entity.isAbstract, number == 0 { continue }
                let count = TextTools.count(number, "object")
                // Only the first row shows whether the rows can be read.
                var heading = "\n\(TextTools.inOneLine(entity.name))   \(count)\n"
                try store.forEachObject(of: entity) { object in
                    try output(heading + "\n" + text(of: object, style))
                    heading = ""
                }
                try output(heading)
            } catch let error as NSError where isUnknown(error) {
                try output("\n\(TextTools.inOneLine("\(entity.name)   ? \(error.localizedDescription)"))\n")
            }
        }
    }

    /// Whether an error says that an entity's table is unknown, which does not affect the other entities.
    private static func isUnknown(_ error: NSError) -> Bool {
        error.domain == NSCocoaErrorDomain && error.code == CoreDataErrorCode.persistentStoreIncompatibleSchema
    }

    package static func text(of object: ObjectRecord, _ style: ValueStyle = ValueStyle()) -> String {
        let names = object.fields.map { TextTools.inOneLine($0.name) }
        let width = names.map(\.count).max() ?? 0
        var text = "  \(TextTools.inOneLine(object.entityName))/p\(object.key)\n"
        for (name, field) in zip(names, object.fields) {
            let raw = style.rawText(of: field.value, field.name, of: object.entityName)
            let shown = style.inZone(style.shown(field.value, field.name, of: object.entityName))
            text += "    \(TextTools.padded(name, width))   \(self.text(of: shown))\(raw)\n"
        }
        return text
    }

    package static func text(of value: FieldValue) -> String {
        switch value {
        case .null, .noObject: return "–"
        case .boolean(let value): return value ? "yes" : "no"
        case .integer(let value): return "\(value)"
        case .double(let value): return "\(value)"
        case .decimal(let digits): return digits
        case .string(let value): return quoted(value)
        case .dateText(let text): return text
        case .date(let seconds):
            let text = TextTools.iso8601(seconds)
            guard text.hasSuffix("Z"), let sign = text.firstIndex(of: "T") else { return text }
            return "\(text[..<sign]) \(text[text.index(after: sign)...].dropLast()) UTC"
        case .data(let data): return bytes(data)
        case .archive(let data): return ArchivedContent(data)?.text.map(quoted) ?? bytes(data)
        case .json(let json): return shortened(json)
        case .uuid(let value): return value.uuidString
        case .url(let value): return isPlainURL(value) ? value : quoted(value)
        case .missing(let file, let reason):
            return "missing: \(TextTools.inOneLine(file)) (\(TextTools.inOneLine(reason)))"
        case .composite(let elements):
            if let value = value.enumerationValue { return text(of: value) }
            return "{ "
                + elements.map { "\(TextTools.inOneLine($0.name)): \(text(of: $0.value))" }.joined(separator: ", ")
                + " }"
        case .object(let reference): return "→ \(name(of: reference))"
        case .objects(let references): return list(references)
        case .list(let values): return "[ " + values.map(text(of:)).joined(separator: ", ") + " ]"
        case .unknown(let reason): return "? \(TextTools.inOneLine(reason))"
        }
    }

    /// `.daily`, `.custom("mine")`, or a raw value.
    private static func text(of value: FieldValue.EnumerationValue) -> String {
        switch value {
        case .raw(let value): return text(of: value)
        case .named(let name, let associated):
            let values = associated.map { element in
                let label = FieldValue.label(element.name).map { "\(TextTools.inOneLine($0)): " } ?? ""
                return label + text(of: element.value)
            }
            return ".\(TextTools.inOneLine(name))" + (values.isEmpty ? "" : "(\(values.joined(separator: ", ")))")
        }
    }

    /// Whether an address has no sign of what is not a value: the arrow of an object, the question mark of what cannot
    /// be read, a blank.
    private static func isPlainURL(_ text: String) -> Bool {
        text.utf8.count <= longestURL && text.utf8.first != UInt8(ascii: "?")
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    }

    /// A text in a table, in quotation marks where it begins like something that is not text: an object, a value that
    /// is not there or cannot be read.
    static func cell(_ text: String) -> String {
        // A table shows no more, and a piece of a large text takes no memory.
        let part = String(text.unicodeScalars.prefix(longestText))
        let signs: Set<Unicode.Scalar> = ["→", "–", "?", "\""]
        let isMark = part.unicodeScalars.first.map(signs.contains) ?? false || part.hasPrefix("missing:")
        return isMark ? quoted(part) : TextTools.plain(part)
    }

    private static func name(of reference: ObjectLink) -> String {
        "\(TextTools.inOneLine(reference.entityName))/p\(reference.key)" + (reference.isMissing ? " (missing)" : "")
    }

    private static func list(_ references: [ObjectLink]) -> String {
        if references.isEmpty { return "→ none" }
        let shown = references.prefix(longestList).map(name).joined(separator: ", ")
        let rest = references.count - longestList
        return "→ \(shown)" + (rest > 0 ? ", and \(TextTools.grouped(Int64(rest))) more" : "")
    }

    /// As much of JSON as is shown on a line.
    private static func shortened(_ json: String) -> String {
        guard json.utf8.count > longestJSON else { return TextTools.plain(json) }
        let part = TextTools.plain(String(json.unicodeScalars.prefix(longestJSON / 4)))
        return "\(part)… (\(TextTools.count(json.utf8.count, "byte")))"
    }

    private static func quoted(_ string: String) -> String {
        var text = ""
        for scalar in string.unicodeScalars.prefix(longestText) {
            switch scalar {
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case "\"", "\\": text += "\\\(scalar)"
            // Control characters would reach the terminal.
            case _ where scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        let length = string.unicodeScalars.count
        return "\"\(text)\"" + (length > longestText ? "… (\(TextTools.count(length, "character")))" : "")
    }

    private static func bytes(_ data: Data) -> String {
        if let content = BlobText.content(of: data) { return "\(TextTools.count(data.count, "byte")): \(content)" }
        let start = data.prefix(12).map { String(format: "%02x", $0) }.joined()
        return "\(TextTools.count(data.count, "byte"))"
            + (data.isEmpty ? "" : ": \(start)\(data.count > 12 ? "…" : "")")
    }
}
