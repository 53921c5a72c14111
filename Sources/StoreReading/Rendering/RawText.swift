import CoreData
import Foundation
import KeyedArchives

/// The output of `pippin info` and `pippin dump` for a store without a model.
package enum RawText {
    package static func info(of store: RawStore) -> String {
        var facts = [["UUID", store.facts.uuid.isEmpty ? "none" : store.facts.uuid]]
        if let missing = store.facts.missingMetadata { facts.append(["metadata", "none: \(missing)"]) }
        facts.append(["model", "none: \(store.reason)"])
        for gap in [store.damage, UnreadLog.text(of: store.original)].compactMap({ $0 }) + store.strangeRows {
            facts.append(["not read", gap])
        }
        if store.facts.metadata["PippinVersionHashes"] != nil {
            facts.append(["written by", "Pippin"])
        } else if let version = store.facts.metadata["NSPersistenceFrameworkVersion"]?.integerValue {
            facts.append(["written by", "Core Data, framework version \(version)"])
        }
        let total = store.entities.reduce(0) { $0 + $1.count }
        facts.append(["entities", "\(store.entities.count), with \(TextTools.count(total, "object"))"])
        var lines = [store.original.lastPathComponent, ""] + EntityText.table(facts, indent: 2)
        lines += ["", "Shown as the file has it; --model names a model to read it with."]
        for entity in store.entities {
            let parent = entity.parent.map { " : \($0)" } ?? ""
            lines += ["", "\(entity.name)\(parent)   \(TextTools.count(entity.count, "object"))"]
            if !entity.columns.isEmpty { lines.append("    " + entity.columns.joined(separator: ", ")) }
        }
        return TextTools.plainLines(lines.joined(separator: "\n")) + "\n"
    }

    package static func dump(_ store: RawStore, _ entities: [RawStore.Entity], _ output: (String) throws -> Void) throws
    {
        try output(TextTools.inOneLine("\(store.original.lastPathComponent)   \(store.facts.uuid)") + "\n")
        for entity in entities {
            try output("\n\(TextTools.inOneLine(entity.name))   \(TextTools.count(entity.count, "object"))\n")
            try store.forEachObject(of: entity) { try output("\n" + DumpText.text(of: $0)) }
        }
    }

    package static func dumpJSON(_ store: RawStore, _ entities: [RawStore.Entity], _ output: (String) throws -> Void)
        throws
    {
        try output("{\n  \"store\": \(JSONText.string(store.facts.uuid)),\n  \"objects\": {")
        for (position, entity) in entities.enumerated() {
            try output("\(position == 0 ? "" : ",")\n    \(JSONText.string(entity.name)): [")
            var isFirst = true
            try store.forEachObject(of: entity) { object in
                try DumpJSON.write(object, from: isFirst ? "\n      " : ",\n      ", output)
                isFirst = false
            }
            try output(isFirst ? "]" : "\n    ]")
        }
        try output("\n  }\n}\n")
    }
}

/// JSON (RFC 8259) as text, with members in the given order.
package enum JSONText {
    /// The member of an object that says which of its values are not there; see `ValueMarks`.
    package static let marksName = ObjectHead.marks

    package static func string(_ value: String) -> String {
        var text = value
        return text.withUTF8 { bytes in
            // Most texts need no replacements.
            var end = 0
            while end < bytes.count, !isEscaped(bytes[end]) { end += 1 }
            if end == bytes.count { return "\"\(value)\"" }
            var escaped: [UInt8] = [UInt8(ascii: "\"")]
            escaped.reserveCapacity(bytes.count + bytes.count / 8 + 2)
            var place = 0
            while place < bytes.count {
                let byte = bytes[place]
                place += 1
                if !isEscaped(byte) {
                    escaped.append(byte)
                    continue
                }
                switch byte {
                case 0x22, 0x5C: escaped += [UInt8(ascii: "\\"), byte]
                case 0x0A: escaped += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
                case 0x0D: escaped += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
                case 0x09: escaped += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
                case 0..<0x20, 0x7F: append(control: byte, to: &escaped)
                case 0xC2 where place < bytes.count && bytes[place] < 0xA0:
                    append(control: bytes[place], to: &escaped)
                    place += 1
                default: escaped.append(byte)
                }
            }
            escaped.append(UInt8(ascii: "\""))
            return String(decoding: escaped, as: UTF8.self)
        }
    }

    /// Whether another text may take the place of a byte, or of the character that begins with it: the control
    /// characters from U+0080 to U+009F begin with C2.
    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F || byte == 0xC2
    }

    /// `\u001f`
    private static func append(control code: UInt8, to bytes: inout [UInt8]) {
        bytes.append(0x5C)
        bytes.append(0x75)
        bytes.append(0x30)
        bytes.append(0x30)
        // The first digit is at most 9.
        let last = code & 0xF
        bytes.append(0x30 + (code >> 4))
        bytes.append(last < 10 ? 0x30 + last : 0x57 + last)
    }

    /// A number in JSON. Infinities and NaN, for which JSON has no number, are written as strings.
    package static func number(_ value: Double) -> String {
        value.isFinite ? "\(value)" : string("\(value)")
    }

    package static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(string($0.0)): \($0.1)" }.joined(separator: ", ") + "}"
    }
}

/// The names under which something else than a property is written among the values of an object.
enum ObjectHead {
    /// The object's URI.
    static let name = "objectID"
    /// What is not there of the values; see `ValueMarks`.
    static let marks = "$marks"
    /// What the bytes of values hold; see `ByteContent`.
    static let contents = "$contents"

    /// The name under which a property is written: another one if it has one of these names, as a file may say.
    static func property(_ property: String) -> String {
        [name, marks, contents].contains(property) ? "\(property) 2" : property
    }
}

/// The content of bytes on a line.
package enum BlobText {
    private static let longest = 400
    /// Larger values are not shown on a line.
    private static let largest = 1 << 20

    /// `JSON [1,2]`, `property list ["a", "b"]`, `PNG image {"width": 640, "height": 480}`; nil for bytes of another
    /// form.
    package static func content(of data: Data) -> String? {
        guard data.count <= largest, let content = ByteContent.of(data, most: 4 * longest) else { return nil }
        return "\(content.form) \(shortened(content.json, isCut: content.isCut))"
    }

    /// The text shortened and without control characters, which would reach the terminal.
    private static func shortened(_ text: String, isCut: Bool) -> String {
        TextTools.plain(String(text.unicodeScalars.prefix(longest)))
            + (isCut || text.unicodeScalars.count > longest ? "…" : "")
    }
}
