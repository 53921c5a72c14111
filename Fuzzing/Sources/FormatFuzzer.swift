import Foundation
import PredicateFormat

/// Parses the input as a format string. What parses must print, and parse again to the same tree; one with NaN in it, which
/// does not equal itself, to one that prints alike.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFormat(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    if let tree = try? predicateTree(parsing: text, arguments: FormatInput.arguments(for: text)) {
        _ = tree.obstacle
        guard let again = try? predicateTree(parsing: tree.format), again == tree || again.format == tree.format else {
            fatalError("“\(text)” prints as “\(tree.format)”, which means something else")
        }
    }
    if let tree = try? expressionTree(parsing: text, arguments: FormatInput.arguments(for: text)) {
        guard let again = try? expressionTree(parsing: tree.format), again == tree || again.format == tree.format else {
            fatalError("“\(text)” prints as “\(tree.format)”, which means something else")
        }
    }
    return 0
}

enum FormatInput {
    /// As many arguments as there may be placeholders, of the kinds that fit them.
    static func arguments(for format: String) -> [Value] {
        var arguments: [Value] = []
        var rest = format.utf8[...]
        while let sign = rest.firstIndex(of: UInt8(ascii: "%")) {
            rest = rest[sign...].dropFirst()
            switch rest.first {
            case UInt8(ascii: "K"): arguments.append(.string("author.name"))
            case UInt8(ascii: "@"): arguments.append(values[arguments.count % values.count])
            case UInt8(ascii: "s"): arguments.append(.string("s"))
            case UInt8(ascii: "f"): arguments.append(.double(0.5))
            case UInt8(ascii: "%"), nil: break
            default: arguments.append(.integer(7))
            }
            rest = rest.dropFirst()
        }
        return arguments
    }

    private static let values: [Value] = [
        .null, .string("it's \"q\""), .integer(.min), .double(-0.0), .collection([.integer(1), .null]),
        .date(Date(timeIntervalSinceReferenceDate: 0.1)), .data(Data([0, 255])),
    ]
}
