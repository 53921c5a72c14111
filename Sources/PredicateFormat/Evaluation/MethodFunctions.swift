import Foundation
import Synchronization

/// The functions that `FUNCTION(operand, "name", …)` calls by name: the methods of Foundation's classes that are useful
/// in a predicate, and those that the program registers.
///
/// On Apple's platforms the Objective-C runtime finds any method by its name; here, only listed ones can be called.
enum MethodFunctions {
    typealias Function = @Sendable (Value, [Value]) -> Value

    private static let registered = Mutex<[String: Function]>([:])

    /// Registers a function under a name, or removes it.
    static func register(_ name: String, _ function: Function?) {
        registered.withLock { $0[name] = function }
    }

    /// The function with a name.
    static func function(named name: String) -> Function? {
        registered.withLock { $0[name] } ?? standard(name)
    }

    private static func standard(_ name: String) -> Function? {
        guard let method = StandardMethod(rawValue: name) else { return nil }
        return { operand, arguments in
            guard arguments.count == method.argumentCount else { return .null }
            return method.apply(to: operand, arguments.first ?? .null)
        }
    }
}

/// A method of Foundation's strings, numbers, dates, URLs, UUIDs and collections. It is nil for a value without such a
/// method.
enum StandardMethod: String, CaseIterable {
    case length, uppercaseString, lowercaseString, capitalizedString
    case append = "stringByAppendingString:"
    case hasPrefix = "hasPrefix:"
    case hasSuffix = "hasSuffix:"
    case containsString = "containsString:"
    case components = "componentsSeparatedByString:"
    case intValue, integerValue, longLongValue, doubleValue, floatValue, boolValue, stringValue
    case timeIntervalSinceReferenceDate, timeIntervalSince1970
    case timeIntervalSinceDate = "timeIntervalSinceDate:"
    case addingTimeInterval = "dateByAddingTimeInterval:"
    case absoluteString, scheme, host, path, query, fragment, lastPathComponent, pathExtension
    case uuidString = "UUIDString"
    case count, firstObject, lastObject, allObjects
    case objectAtIndex = "objectAtIndex:"
    case containsObject = "containsObject:"
    case valueForKey = "valueForKey:"
    case valueForKeyPath = "valueForKeyPath:"
    case objectForKey = "objectForKey:"

    var argumentCount: Int { rawValue.hasSuffix(":") ? 1 : 0 }

    func apply(to operand: Value, _ argument: Value) -> Value {
        switch operand {
        case .null: return .null
        case .string(let text): return apply(to: text, argument)
        case .integer, .double, .decimal: return apply(toNumber: operand)
        case .date(let date): return apply(to: date, argument)
        case .url(let url) where argumentCount == 0: return apply(to: url).map { .string($0) } ?? .null
        case .uuid(let uuid) where self == .uuidString: return .string(uuid.uuidString)
        case .collection(let elements): return apply(to: elements, argument)
        default:
            guard case .string(let path) = argument else { return .null }
            switch self {
            case .valueForKey, .objectForKey: return operand.value(forKey: path)
            case .valueForKeyPath: return operand.value(forKeyPath: keys(ofPath: path))
            default: return .null
            }
        }
    }

    private func apply(to text: String, _ argument: Value) -> Value {
        switch self {
        case .length: return BuiltInFunction.length.apply([.string(text)])
        case .uppercaseString: return .string(text.uppercased())
        case .lowercaseString: return .string(text.lowercased())
        case .capitalizedString: return .string(text.capitalized)
        case .intValue, .integerValue, .longLongValue, .boolValue, .doubleValue, .floatValue:
            return apply(toNumber: Value.string(text).cast(to: "NSNumber") ?? .integer(0))
        default: break
        }
        guard case .string(let other) = argument else { return .null }
        switch self {
        case .append: return .string(text + other)
        case .hasPrefix: return .boolean(text.literallyBegins(with: other))
        case .hasSuffix: return .boolean(text.literallyEnds(with: other))
        case .containsString: return .boolean(text.literallyContains(other))
        case .components: return .collection(text.components(separatedBy: other).map { .string($0) })
        default: return .null
        }
    }

    private func apply(toNumber value: Value) -> Value {
        guard let number = value.doubleValue else { return .null }
        switch self {
        case .intValue, .integerValue, .longLongValue:
            if case .integer = value { return value }
            return Int64(exactly: number.rounded(.towardZero)).map { .integer($0) } ?? .null
        case .doubleValue, .floatValue: return .double(number)
        case .boolValue: return .boolean(number != 0)
        case .stringValue: return value.text.map { .string($0) } ?? .null
        default: return .null
        }
    }

    private func apply(to date: Date, _ argument: Value) -> Value {
        switch (self, argument) {
        case (.timeIntervalSinceReferenceDate, _): return .double(date.timeIntervalSinceReferenceDate)
        case (.timeIntervalSince1970, _): return .double(date.timeIntervalSince1970)
        case (.timeIntervalSinceDate, .date(let other)): return .double(date.timeIntervalSince(other))
        case (.addingTimeInterval, _): return argument.doubleValue.map { .date(date.addingTimeInterval($0)) } ?? .null
        default: return .null
        }
    }

    private func apply(to url: URL) -> String? {
        switch self {
        case .absoluteString: url.absoluteString
        case .scheme: url.scheme
        case .host: url.host
        case .path: url.path
        case .query: url.query
        case .fragment: url.fragment
        case .lastPathComponent: url.lastPathComponent
        case .pathExtension: url.pathExtension
        default: nil
        }
    }

    private func apply(to elements: [Value], _ argument: Value) -> Value {
        switch self {
        case .count: return .integer(Int64(elements.count))
        case .firstObject: return elements.first ?? .null
        case .lastObject: return elements.last ?? .null
        case .allObjects: return .collection(elements)
        case .containsObject: return .boolean(elements.contains(argument))
        case .objectAtIndex:
            guard let index = argument.integerValue, index >= 0, index < elements.count else { return .null }
            return elements[Int(index)]
        case .valueForKey, .valueForKeyPath:
            guard case .string(let path) = argument else { return .null }
            return Value.collection(elements).value(forKeyPath: keys(ofPath: path))
        default: return .null
        }
    }
}
