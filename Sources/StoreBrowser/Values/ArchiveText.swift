import CoreData
import Foundation
import KeyedArchives
import StoreReading

/// The content of property lists and keyed archives, as text: no object of an archive is created for it. Pure.
enum ArchiveText {
    private static let longest = 20_000
    private static let largest = 1 << 20

    /// The text of bytes that are a property list or an archive; nil for others.
    static func text(of data: Data) -> (kind: String, content: String)? {
        guard data.count <= largest, PropertyList.isBinary(data), let list = try? PropertyList(binary: data) else {
            return nil
        }
        var writer = Writer()
        if let archive = try? KeyedArchive(propertyList: list) {
            writer.objects = archive.objects
            for (name, value) in archive.top.sorted(by: { $0.key < $1.key }) {
                writer.line(archive.top.count > 1 ? "\(name): " : "", value, depth: 0)
            }
            return ("archive", writer.text)
        }
        writer.line("", list, depth: 0)
        return ("property list", writer.text)
    }

    private struct Writer {
        var objects: [PropertyList] = []
        var text = ""
        /// The objects that enclose the one being written.
        private var path: [UInt64] = []

        mutating func line(_ label: String, _ value: PropertyList, depth: Int) {
            guard text.utf8.count < longest, depth < 24 else {
                if !text.hasSuffix("…\n") { text += "…\n" }
                return
            }
            let indent = String(repeating: "  ", count: depth) + label
            switch value {
            case .uid(let index) where !objects.isEmpty:
                let number = UInt64(index)
                guard !path.contains(number), objects.indices.contains(Int(number)) else {
                    text += indent + "(the same as above)\n"
                    return
                }
                // An archive has no reference to a reference; a chain of them would be followed without end.
                if case .uid(let next) = objects[Int(number)] {
                    text += indent + "UID \(next)\n"
                    return
                }
                path.append(number)
                line(label, objects[Int(number)], depth: depth)
                path.removeLast()
            case .string("$null"): text += indent + "nil\n"
            case .array(let values):
                text += indent + (values.isEmpty ? "[]" : "[\(values.count)]") + "\n"
                for value in values { line("– ", value, depth: depth + 1) }
            case .dictionary(let members):
                text += indent + (className(members) ?? "{\(members.count)}") + "\n"
                for (name, value) in members.sorted(by: { $0.key < $1.key }) where name != "$class" {
                    line("\(name): ", value, depth: depth + 1)
                }
            case .boolean(let value): text += indent + (value ? "true" : "false") + "\n"
            case .integer(let value): text += indent + "\(value)\n"
            case .unsignedInteger(let value): text += indent + "\(value)\n"
            case .real(let value): text += indent + "\(value)\n"
            case .date(let value): text += indent + TextTools.iso8601(value.timeIntervalSinceReferenceDate) + "\n"
            case .data(let data):
                let digits = data.prefix(32).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                text += indent + "\(TextTools.count(data.count, "byte")) \(digits)\(data.count > 32 ? "…" : "")\n"
            case .string(let value): text += indent + JSONText.string(String(value.prefix(2000))) + "\n"
            case .uid(let index): text += indent + "UID \(index)\n"
            }
        }

        /// The class of an archived object.
        private func className(_ members: [String: PropertyList]) -> String? {
            guard case .uid(let index)? = members["$class"], objects.indices.contains(Int(index)),
                case .dictionary(let description) = objects[Int(index)],
                case .string(let name)? = description["$classname"]
            else { return nil }
            return name
        }
    }
}
