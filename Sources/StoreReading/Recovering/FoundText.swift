import Foundation
import SQLiteFormat
import StoreEngine

/// What was found in a store's files, as JSON Lines.
///
/// What is said of an object, and what the store has of it, are apart: the latter is in the member `properties`.
package enum FoundText {
    /// The kind of place that an object comes from, without a number.
    package static func kind(_ origin: StoreRecovery.Origin) -> String {
        switch origin {
        case .live: "live"
        case .history: "history"
        case .found(let row):
            switch row.origin {
            case .file: "file"
            case .frame: "frame"
            case .freePage: "free page"
            case .freeBlock: "free block"
            case .unallocated: "unallocated space"
            }
        }
    }

    /// `live`, `file`, `frame 12`, `free page 7`, `free block of page 3`, `unallocated space of page 3`, `history`.
    package static func origin(_ origin: StoreRecovery.Origin) -> String {
        guard case .found(let row) = origin else { return kind(origin) }
        switch row.origin {
        case .file: return kind(origin)
        case .frame(let number, _): return "\(kind(origin)) \(number)"
        case .freePage: return "\(kind(origin)) \(row.page)"
        case .freeBlock, .unallocated: return "\(kind(origin)) of page \(row.page)"
        }
    }

    /// What a frame is that SQLite does not read; nil for one that it reads, and for other origins.
    package static func state(_ origin: RecoveredRow.Origin) -> String? {
        switch origin {
        case .frame(_, .uncommitted): "uncommitted"
        case .frame(_, .broken): "written in part"
        case .frame(_, .earlier): "earlier round of the log"
        default: nil
        }
    }

    /// Writes an object as one line.
    ///
    /// - Parameters:
    ///   - object: the object.
    ///   - origin: where it comes from.
    ///   - output: takes the text.
    /// - Throws: the errors of `output`.
    package static func write(
        _ object: FoundObject, _ origin: StoreRecovery.Origin, _ output: (String) throws -> Void
    ) throws {
        var head: [(String, String)] = [("origin", JSONText.string(self.origin(origin)))]
        switch origin {
        case .live: break
        case .found(let row):
            if let state = state(row.origin) { head.append(("state", JSONText.string(state))) }
            if let commit = row.commit { head.append(("commit", "\(commit)")) }
            if let frame = row.frame { head.append(("frame", "\(frame)")) }
            head += [
                ("page", "\(row.page)"), ("offset", "\(row.offset)"),
                ("confidence", JSONText.number((row.confidence * 100).rounded() / 100)),
            ]
        case .history(_, let transaction):
            head += [("change", JSONText.string("delete"))] + HistoryText.members(transaction)
        }
        if let entity = object.entityName {
            head.append(("entity", JSONText.string(entity)))
        } else {
            head.append(("table", JSONText.string(object.table)))
        }
        head.append(("key", object.key.map { "\($0)" } ?? "null"))
        if let version = object.version { head.append(("version", "\(version)")) }
        if let uri = object.uri { head.append((ObjectHead.name, JSONText.string(uri))) }
        try output(
            "{" + head.map { "\(JSONText.string($0.0)): \($0.1)" }.joined(separator: ", ") + ", \"properties\": {")
        for (index, field) in object.fields.enumerated() {
            try output("\(index > 0 ? ", " : "")\(JSONText.string(field.name)): ")
            if LongText.isLong(field.value) {
                try LongText.writeJSON(field.value, isLine: true, output)
            } else {
                try output(RowWriter.withoutLineBreaks(DumpJSON.text(of: field.value)))
            }
        }
        let fields = object.fields.map { (name: $0.name, value: $0.value) }
        let ends = [
            (ObjectHead.marks, ValueMarks.text(of: fields)), (ObjectHead.contents, ByteContent.json(of: fields)),
        ]
        try output(
            "}" + ends.compactMap { name, text in text.map { ", \(JSONText.string(name)): \($0)" } }.joined() + "}\n")
    }
}
