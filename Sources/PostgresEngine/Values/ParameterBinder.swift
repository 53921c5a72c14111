import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration

/// A value cannot be compared in the database as it is in memory. The engine then evaluates the predicate itself.
struct Inexact: Error {}

/// Binds the values of a statement's parameters, each with the type that makes the server compare as memory does.
package struct ParameterBinder {
    private let context: BindingContext
    private let given: [(inout PostgresParameters) -> Void]
    private(set) var parameters = PostgresParameters()

    /// - Parameters:
    ///   - context: the predicate's arguments, the limit and the offset.
    ///   - given: closures that bind the engine's own values, by their numbers.
    init(_ context: BindingContext, given: [(inout PostgresParameters) -> Void] = []) {
        (self.context, self.given) = (context, given)
    }

    /// - Throws: `Inexact` for a value that the database would compare differently, an `NSError` for one that cannot be
    ///   compared at all.
    package static func parameters(
        _ bindings: [SQLBinding], _ context: BindingContext, given: [(inout PostgresParameters) -> Void] = []
    ) throws -> PostgresParameters {
        var binder = ParameterBinder(context, given: given)
        for binding in bindings { try binder.bind(binding) }
        return binder.parameters
    }

    private mutating func bind(_ binding: SQLBinding) throws {
        switch binding {
        case .value(let value): bind(value)
        case .constant(let value, let conversion): try bind(value, conversion)
        case .given(let index): given[index](&parameters)
        case .argument(let index, let conversion):
            // The conversion reports what is wrong with a missing argument.
            _ = try binding.value(context)
            try bind(context.arguments[index], conversion)
        case .element(let index, let position, let conversion):
            _ = try binding.value(context)
            guard case .collection(let elements) = context.arguments[index] else { throw Inexact() }
            try bind(elements[position], conversion)
        case .list(let bindings): try bind(bindings)
        case .limit:
            if context.limit > 0 { parameters.append(Int64(context.limit)) } else { parameters.appendNull(.bigint) }
        case .offset: parameters.append(Int64(context.offset))
        }
    }

    /// Several texts, several UUIDs, or the keys of several objects, as an array.
    private mutating func bind(_ bindings: [SQLBinding]) throws {
        if bindings.allSatisfy(\.isKey) {
            guard case .blob(let bytes) = try SQLBinding.list(bindings).value(context) else { throw Inexact() }
            return parameters.append(array: SQLBinding.keys(in: bytes))
        }
        var elements: ([Value], [Value]) = ([], [])
        for binding in bindings {
            switch binding {
            case .constant(let value, .column(.uuid)): elements.1.append(value)
            case .constant(let value, _): elements.0.append(value)
            case .element(let index, let position, let conversion):
                _ = try binding.value(context)
                guard case .collection(let values) = context.arguments[index] else { throw Inexact() }
                if conversion == .column(.uuid) {
                    elements.1.append(values[position])
                } else {
                    elements.0.append(values[position])
                }
            default: throw Inexact()
            }
        }
        guard elements.0.isEmpty || elements.1.isEmpty else { throw Inexact() }
        var array = PostgresArray(elements.1.isEmpty ? .text : .uuid)
        for value in elements.0 {
            switch value {
            case .string(let text) where !text.utf8.contains(0): array.append(text)
            case .url(let url): array.append(url.absoluteString)
            default: throw Inexact()
            }
        }
        for value in elements.1 {
            guard case .uuid(let uuid) = value else { throw Inexact() }
            array.append(uuid)
        }
        parameters.append(array)
    }

    private mutating func bind(_ value: SQLValue) {
        switch value {
        case .null: parameters.appendNull()
        case .integer(let number): parameters.append(number)
        case .double(let number): parameters.append(number)
        case .text(let text): parameters.append(text)
        case .blob(let data): parameters.append(data)
        }
    }

    private mutating func bind(_ value: Value, _ conversion: BindingConversion) throws {
        switch conversion {
        case .column(let storage): try bind(value, storage)
        case .key, .entity:
            guard case .integer(let number) = try SQLBinding.constant(value, conversion).value(context) else {
                return parameters.appendNull(.bigint)
            }
            parameters.append(number)
        case .folded, .prefixStart, .prefixEnd:
            // The bound after all texts has no text.
            guard case .text(let text) = try SQLBinding.constant(value, conversion).value(context) else {
                throw Inexact()
            }
            try append(text)
        }
    }

    /// Appends a text. A text with a zero character cannot exist in the database, so memory must decide what it equals.
    private mutating func append(_ text: String) throws {
        guard !text.utf8.contains(0) else { throw Inexact() }
        parameters.append(text)
    }

    private mutating func bind(_ value: Value, _ storage: ColumnStorage?) throws {
        switch (value, storage) {
        case (.null, _): parameters.appendNull(storage.map { ColumnKind($0, nil).type } ?? .unknown)
        case (.collection, _): throw SQLError.unsupported("a collection where one value is expected")
        case (.object, _):
            guard case .integer(let key) = try SQLBinding.constant(value, .column(storage)).value(context) else {
                throw Inexact()
            }
            parameters.append(key)
        case (_, .boolean): try bindBoolean(value)
        case (_, .integer): try bindNumber(value, isWhole: true)
        case (_, .decimal): try bindNumber(value, isWhole: false)
        case (_, .double), (_, .float): try bindDouble(value)
        case (_, .date): try bindDate(value)
        case (.string(let text), .string), (.string(let text), .url), (.string(let text), nil): try append(text)
        case (.url(let url), .string), (.url(let url), .url), (.url(let url), nil): try append(url.absoluteString)
        case (.uuid(let uuid), .uuid), (.uuid(let uuid), nil): parameters.append(uuid)
        case (.data(let data), .data), (.data(let data), .transformable), (.data(let data), nil):
            parameters.append(data)
        case (.integer(let number), nil): parameters.append(number)
        case (.double(let number), nil): parameters.append(number)
        case (.decimal(let number), nil): try append(number)
        case (.date, nil): try bindDate(value)
        default: throw Inexact()
        }
    }

    private mutating func bindBoolean(_ value: Value) throws {
        switch value {
        case .integer(let number) where number == 0 || number == 1: parameters.append(number == 1)
        case .double(let number) where number == 0 || number == 1: parameters.append(number == 1)
        default: throw Inexact()
        }
    }

    private mutating func append(_ decimal: NSDecimalNumber) throws {
        guard let numeric = Numeric(decimal.description(withLocale: nil)) else { throw Inexact() }
        parameters.append(numeric)
    }

    private mutating func bindNumber(_ value: Value, isWhole: Bool) throws {
        switch value {
        case .integer(let number):
            if isWhole { parameters.append(number) } else { parameters.append(Numeric(String(number))) }
        case .double(let number):
            if isWhole, let whole = Int64(exactly: number) { return parameters.append(whole) }
            // In PostgreSQL, NaN equals itself and is greater than all other numbers.
            guard !number.isNaN else { throw Inexact() }
            guard isWhole else { return parameters.append(number) }
            // A whole number is compared exactly with a fraction only as a decimal number.
            guard let numeric = Numeric("\(number)") else { throw Inexact() }
            parameters.append(numeric)
        case .decimal(let number): try append(number)
        default: throw Inexact()
        }
    }

    private mutating func bindDouble(_ value: Value) throws {
        switch value {
        case .integer(let number):
            guard let double = Double(exactly: number) else { throw Inexact() }
            parameters.append(double)
        case .double(let number):
            // In PostgreSQL, NaN equals itself and is greater than all other numbers.
            guard !number.isNaN else { throw Inexact() }
            parameters.append(number)
        case .decimal(let number): parameters.append(number.nearestDouble)
        default: throw Inexact()
        }
    }

    private mutating func bindDate(_ value: Value) throws {
        let seconds: Double
        switch value {
        case .date(let date): seconds = date.timeIntervalSinceReferenceDate
        case .integer(let number): seconds = Double(number)
        case .double(let number): seconds = number
        default: throw Inexact()
        }
        guard let timestamp = Timestamp(secondsSince2001: seconds) else { throw Inexact() }
        parameters.append(timestamp)
    }
}

extension Timestamp {
    /// Seconds from the server's epoch, 2000-01-01, to that of Foundation's dates, 2001-01-01.
    private static var epoch: Int64 { 366 * 86_400 }
    /// The years that the server knows: 4713 BC to 294276 AD.
    private static var range: Range<Double> { -211_845_067_200.0..<9_224_318_016_000.0 }

    /// A date as the server stores it, rounded to microseconds; nil for one outside the server's range.
    ///
    /// - Parameter seconds: seconds since 2001-01-01 00:00 UTC.
    package init?(secondsSince2001 seconds: Double) {
        if seconds.isInfinite {
            self = seconds > 0 ? .infinity : .negativeInfinity
            return
        }
        guard Self.range.contains(seconds + Double(Self.epoch)) else { return nil }
        let whole = seconds.rounded(.down)
        let part = ((seconds - whole) * 1_000_000).rounded()
        self.init(microseconds: (Int64(whole) + Self.epoch) * 1_000_000 + Int64(part))
    }

    /// Seconds since 2001-01-01 00:00 UTC.
    package var secondsSince2001: Double {
        switch microseconds {
        case .max: return .infinity
        case .min: return -.infinity
        default: break
        }
        let shifted = microseconds - Self.epoch * 1_000_000
        // One division as long as the number is exact, so that 0.1 stays 0.1.
        if abs(shifted) < 1 << 53 { return Double(shifted) / 1_000_000 }
        let (whole, part) = shifted.quotientAndRemainder(dividingBy: 1_000_000)
        return Double(whole) + Double(part) / 1_000_000
    }

    /// The date as it is read back after storing it.
    package static func rounded(_ seconds: Double) -> Double {
        Timestamp(secondsSince2001: seconds)?.secondsSince2001 ?? seconds
    }
}
