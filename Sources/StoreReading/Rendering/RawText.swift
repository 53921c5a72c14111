import CoreData
import Foundation
import ModelFiles

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

    package static func dump(
        _ store: RawStore, _ entities: [RawStore.Entity], _ style: ValueStyle, _ output: (String) throws -> Void
    ) throws {
        try output(TextTools.inOneLine("\(store.original.lastPathComponent)   \(store.facts.uuid)") + "\n")
        for entity in entities {
            try output("\n\(TextTools.inOneLine(entity.name))   \(TextTools.count(entity.count, "object"))\n")
            try store.forEachObject(of: entity) { try output("\n" + DumpText.text(of: $0, style)) }
        }
    }

    package static func dumpJSON(
        _ store: RawStore, _ entities: [RawStore.Entity], _ style: ValueStyle, _ output: (String) throws -> Void
    ) throws {
        try output("{\n  \"store\": \(JSONText.string(store.facts.uuid)),\n  \"objects\": {")
        for (position, entity) in entities.enumerated() {
            try output("\(position == 0 ? "" : ",")\n    \(JSONText.string(entity.name)): [")
            var isFirst = true
            try store.forEachObject(of: entity) { object in
                try DumpJSON.write(object, style, from: isFirst ? "\n      " : ",\n      ", output)
                isFirst = false
            }
            try output(isFirst ? "]" : "\n    ]")
        }
        try output("\n  }\n}\n")
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
