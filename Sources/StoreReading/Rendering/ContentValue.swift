import Foundation
import ModelFiles

/// What bytes hold, as a tree of values that JSON has. Pure.
package indirect enum ContentValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case string(String)
    /// Seconds since 2001.
    case date(Double)
    case data(Data)
    /// Text that is JSON.
    case json(String)
    case array([ContentValue])
    case object([(String, ContentValue)])

    package static func == (left: ContentValue, right: ContentValue) -> Bool { left.json == right.json }

    /// The value as JSON.
    var json: String {
        switch self {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .double(let value): JSONText.number(value)
        case .string(let text): JSONText.string(text)
        case .date(let seconds): JSONText.string(TextTools.iso8601(seconds))
        case .data(let data): JSONText.string(data.base64EncodedString())
        case .json(let text): text
        case .array(let values): "[" + values.map(\.json).joined(separator: ", ") + "]"
        case .object(let members): JSONText.object(members.map { ($0.0, $0.1.json) })
        }
    }
}

/// The content of a keyed archive in a transformable attribute. Pure.
package struct ArchivedContent: Equatable, Sendable {
    private let value: ContentValue

    /// Nil for bytes that are not an archive, and for one of which not all can be shown.
    init?(_ data: Data) {
        guard PropertyList.isBinary(data), let content = ByteContent.of(data), content.form == ByteContent.archive,
            !content.isCut
        else { return nil }
        value = content.value
    }

    /// The text that it is; nil for something else.
    package var text: String? { if case .string(let text) = value { text } else { nil } }
}

/// Makes values of property lists and archives, as much of them as is shown: a list may use its parts so often that the
/// whole has no end.
struct ContentBuilder {
    private var rest: Int

    /// How deep collections may nest.
    private static let deepest = 24

    /// - Parameter most: how many bytes of text the values may have, about.
    init(most: Int) { rest = most }

    /// Whether something was left out.
    private(set) var isCut = false

    private mutating func spend(_ bytes: Int) -> Bool {
        rest -= bytes + 4
        if rest < 0 { isCut = true }
        return rest >= 0
    }

    private mutating func cut() -> ContentValue {
        isCut = true
        return .string("…")
    }

    // MARK: Property lists

    mutating func value(_ list: PropertyList, depth: Int = 0) -> ContentValue {
        guard depth < Self.deepest, spend(8) else { return cut() }
        switch list {
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .unsignedInteger(let value): return .unsigned(value)
        case .real(let value): return .double(value)
        case .date(let value): return .date(value.timeIntervalSinceReferenceDate)
        case .data(let value): return spend(value.count * 4 / 3) ? .data(value) : cut()
        case .string(let value): return spend(value.utf8.count) ? .string(value) : cut()
        case .uid(let value): return .object([("$uid", .integer(Int64(value)))])
        case .array(let values):
            var found: [ContentValue] = []
            for value in values {
                found.append(self.value(value, depth: depth + 1))
                if rest < 0 { break }
            }
            return .array(found)
        case .dictionary(let members):
            var found: [(String, ContentValue)] = []
            for member in members.sorted(by: { $0.key < $1.key }) {
                guard spend(member.key.utf8.count) else { break }
                found.append((Self.key(member.key), value(member.value, depth: depth + 1)))
            }
            return .object(found)
        }
    }

    /// A key of a dictionary. Those that begin with a dollar sign get another one, so that none looks like what is said
    /// of an object here.
    private static func key(_ name: String) -> String { name.hasPrefix("$") ? "$" + name : name }

    // MARK: Archives

    /// The root of an archive, or all that it has on top.
    mutating func value(_ archive: KeyedArchive) -> ContentValue {
        if archive.top.count == 1, let root = try? archive.rootValue() { return value(root, []) }
        return .object(
            archive.top.keys.sorted().map { key in
                (Self.key(key), (try? archive.rootValue(forKey: key)).map { value($0, []) } ?? .null)
            })
    }

    private mutating func value(_ archived: ArchivedValue, _ path: [Int]) -> ContentValue {
        switch archived {
        case .null: return .null
        case .plain(let list): return value(list, depth: path.count)
        case .object(let object): return value(object, path)
        }
    }

    private mutating func value(_ object: ArchivedObject, _ path: [Int]) -> ContentValue {
        guard !path.contains(object.index) else { return .object([("$same", .integer(Int64(object.index)))]) }
        guard path.count < Self.deepest, spend(8) else { return cut() }
        let inner = path + [object.index]
        if let text = try? ArchivedValue.object(object).string() {
            return spend(text.utf8.count) ? .string(text) : cut()
        }
        if let elements = (try? object.elements()) ?? nil {
            var found: [ContentValue] = []
            for element in elements {
                found.append(value(element, inner))
                if rest < 0 { break }
            }
            return .array(found)
        }
        if let pairs = (try? object.pairs()) ?? nil {
            var found: [(String, ContentValue)] = []
            for (key, content) in pairs {
                let name = (try? key.string()) ?? nil
                found.append((Self.key(name ?? value(key, inner).json), value(content, inner)))
                if rest < 0 { break }
            }
            return .object(found)
        }
        // The text of an attributed text, without its attributes.
        if object.isKind(of: "NSAttributedString"), let text = (try? object.optionalString(forKey: "NSString")) ?? nil {
            return spend(text.utf8.count) ? .string(text) : cut()
        }
        switch (try? object.foundationValue(depth: 4)) ?? nil {
        case let date as Date: return .date(date.timeIntervalSinceReferenceDate)
        case let uuid as UUID: return .string(uuid.uuidString)
        case let url as URL: return .string(url.absoluteString)
        case let data as Data: return spend(data.count * 4 / 3) ? .data(data) : cut()
        case let number as NSDecimalNumber: return number.doubleValue.isNaN ? .null : .json(number.stringValue)
        case is NSNull: return .null
        default: break
        }
        var members: [(String, ContentValue)] = [("$class", .string(object.className))]
        for key in object.keys {
            guard spend(key.utf8.count) else { break }
            members.append((Self.key(key), ((try? object.value(forKey: key)) ?? nil).map { value($0, inner) } ?? .null))
        }
        return .object(members)
    }
}
