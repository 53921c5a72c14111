import Foundation
import TestSupport

@testable import Pippin

/// The properties of a made-up model or nested value. Structs are types, and types cannot be made up while a program
/// runs: a `RandomModel` and a `RandomNested` code themselves as a shape says, property by property, as the compiler's
/// coding would.
struct RandomShape: Sendable {
    struct Field: Sendable {
        let key: String
        let isOptional: Bool
        let kind: any RandomKind
        var isOwned = false
        /// What stored values get when the property is new.
        var defaultValue: (any Encodable & Sendable)?
    }

    var fields: [Field]
}

/// A type of properties.
protocol RandomKind: Sendable {
    /// Whether filters can compare it: relationships can in part only.
    var isComparable: Bool { get }
    func decode(_ container: KeyedDecodingContainer<RandomKey>, _ key: RandomKey, isOptional: Bool) throws
        -> AnyHashable?
    func encode(
        _ value: AnyHashable?, _ container: inout KeyedEncodingContainer<RandomKey>, _ key: RandomKey) throws
    // The same without coding, as @CoreModel does it.
    func read(_ columns: borrowing ColumnReader, _ place: Int, isOptional: Bool) throws -> AnyHashable?
    func write(_ value: AnyHashable?, _ columns: borrowing ColumnWriter, _ place: Int) throws
    func make(_ random: inout RandomNumbers) -> AnyHashable
    /// The value as a filter's operand has it: as an optional.
    func operand(_ value: AnyHashable?) -> any Encodable
}

struct RandomKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// The same numbers for the same seed, on every machine.
struct RandomNumbers: RandomNumberGenerator {
    private var numbers: SplitMix
    init(seed: UInt64) { numbers = SplitMix(state: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1) }

    mutating func next() -> UInt64 { numbers.next() }
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}

/// Properties of a type that there is, with values to choose from.
struct Chosen<Value: Codable & Hashable & Sendable>: RandomKind {
    let values: [Value]
    var isComparable = true

    func decode(
        _ container: KeyedDecodingContainer<RandomKey>, _ key: RandomKey, isOptional: Bool
    ) throws -> AnyHashable? {
        if isOptional { return try container.decodeIfPresent(Value.self, forKey: key).map { AnyHashable($0) } }
        return AnyHashable(try container.decode(Value.self, forKey: key))
    }

    func encode(
        _ value: AnyHashable?, _ container: inout KeyedEncodingContainer<RandomKey>, _ key: RandomKey
    ) throws {
        if let value = value?.base as? Value { try container.encode(value, forKey: key) }
    }

    func read(_ columns: borrowing ColumnReader, _ place: Int, isOptional: Bool) throws -> AnyHashable? {
        if isOptional {
            let value: Value? = try columns.value(at: place)
            return value.map { AnyHashable($0) }
        }
        let value: Value = try columns.value(at: place)
        return AnyHashable(value)
    }

    func write(_ value: AnyHashable?, _ columns: borrowing ColumnWriter, _ place: Int) throws {
        try columns.set(value?.base as? Value, at: place)
    }

    func make(_ random: inout RandomNumbers) -> AnyHashable { AnyHashable(random.pick(values)) }
    func operand(_ value: AnyHashable?) -> any Encodable { value?.base as? Value }
}

/// Properties of a nested value, or of lists of them.
struct NestedKind<Level: NestingLevel>: RandomKind {
    enum Form: CaseIterable, Sendable { case single, array, dictionary }
    let shape: RandomShape
    let form: Form
    var isComparable: Bool { true }

    func decode(
        _ container: KeyedDecodingContainer<RandomKey>, _ key: RandomKey, isOptional: Bool
    ) throws -> AnyHashable? {
        func value<Value: Decodable & Hashable>(_ type: Value.Type) throws -> AnyHashable? {
            if isOptional { return try container.decodeIfPresent(type, forKey: key).map { AnyHashable($0) } }
            return AnyHashable(try container.decode(type, forKey: key))
        }
        return try RandomNested<Level>.with(shape) {
            switch form {
            case .single: try value(RandomNested<Level>.self)
            case .array: try value([RandomNested<Level>].self)
            case .dictionary: try value([String: RandomNested<Level>].self)
            }
        }
    }

    func encode(
        _ value: AnyHashable?, _ container: inout KeyedEncodingContainer<RandomKey>, _ key: RandomKey
    ) throws {
        switch value?.base {
        case let value as RandomNested<Level>: try container.encode(value, forKey: key)
        case let value as [RandomNested<Level>]: try container.encode(value, forKey: key)
        case let value as [String: RandomNested<Level>]: try container.encode(value, forKey: key)
        default: break
        }
    }

    func read(_ columns: borrowing ColumnReader, _ place: Int, isOptional: Bool) throws -> AnyHashable? {
        try RandomNested<Level>.with(shape) {
            switch form {
            case .single:
                let kind = Chosen<RandomNested<Level>>(values: [])
                return try kind.read(columns, place, isOptional: isOptional)
            case .array:
                let kind = Chosen<[RandomNested<Level>]>(values: [])
                return try kind.read(columns, place, isOptional: isOptional)
            case .dictionary:
                let kind = Chosen<[String: RandomNested<Level>]>(values: [])
                return try kind.read(columns, place, isOptional: isOptional)
            }
        }
    }

    func write(_ value: AnyHashable?, _ columns: borrowing ColumnWriter, _ place: Int) throws {
        switch form {
        case .single: try columns.set(value?.base as? RandomNested<Level>, at: place)
        case .array: try columns.set(value?.base as? [RandomNested<Level>], at: place)
        case .dictionary: try columns.set(value?.base as? [String: RandomNested<Level>], at: place)
        }
    }

    func make(_ random: inout RandomNumbers) -> AnyHashable {
        func one() -> RandomNested<Level> { RandomNested(shape: shape, values: shape.values(&random)) }
        switch form {
        case .single: return AnyHashable(one())
        case .array: return AnyHashable((0..<random.below(3)).map { _ in one() })
        case .dictionary:
            return AnyHashable(Dictionary(uniqueKeysWithValues: (0..<random.below(3)).map { ("k\($0)", one()) }))
        }
    }

    func operand(_ value: AnyHashable?) -> any Encodable {
        switch form {
        case .single: value?.base as? RandomNested<Level>
        case .array: value?.base as? [RandomNested<Level>]
        case .dictionary: value?.base as? [String: RandomNested<Level>]
        }
    }
}

/// Tells the types of nested values of different depths apart: one cannot contain itself.
protocol NestingLevel: Sendable, Hashable {}
enum Nesting1: NestingLevel {}
enum Nesting2: NestingLevel {}
enum Nesting3: NestingLevel {}

/// A nested struct of the shape that its property has.
struct RandomNested<Level: NestingLevel>: Codable, Hashable, @unchecked Sendable {
    // @unchecked Sendable: the values are of sendable types.
    /// Makes the values that are decoded meanwhile have a shape.
    static func with<Result>(_ shape: RandomShape, _ work: () throws -> Result) rethrows -> Result {
        var shapes = CurrentShapes.shapes
        shapes["\(Level.self)"] = shape
        return try CurrentShapes.$shapes.withValue(shapes, operation: work)
    }

    let shape: RandomShape
    let values: [String: AnyHashable]

    init(shape: RandomShape, values: [String: AnyHashable]) { (self.shape, self.values) = (shape, values) }

    init(from decoder: any Decoder) throws {
        shape = CurrentShapes.shapes["\(Level.self)"] ?? RandomShape(fields: [])
        values = try shape.decode(decoder.container(keyedBy: RandomKey.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: RandomKey.self)
        try shape.encode(values, &container)
    }

    static func == (one: RandomNested, other: RandomNested) -> Bool { one.values == other.values }
    func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

enum CurrentShapes {
    @TaskLocal static var shapes: [String: RandomShape] = [:]
}

extension RandomShape {
    func decode(_ container: KeyedDecodingContainer<RandomKey>) throws -> [String: AnyHashable] {
        var values: [String: AnyHashable] = [:]
        for field in fields {
            values[field.key] = try field.kind.decode(
                container, RandomKey(stringValue: field.key), isOptional: field.isOptional)
        }
        return values
    }

    func encode(_ values: [String: AnyHashable], _ container: inout KeyedEncodingContainer<RandomKey>) throws {
        for field in fields {
            try field.kind.encode(values[field.key], &container, RandomKey(stringValue: field.key))
        }
    }

    /// Values for the properties; of the optional ones, a third has none.
    func values(_ random: inout RandomNumbers) -> [String: AnyHashable] {
        var values: [String: AnyHashable] = [:]
        for field in fields where !(field.isOptional && random.chance(35)) {
            values[field.key] = field.kind.make(&random)
        }
        return values
    }
}

/// A model of the shape of its place.
struct RandomModel<Place: RandomPlace>: CoreModel, Hashable, CustomReflectable, @unchecked Sendable {
    // @unchecked Sendable: the values are of sendable types.
    let id: Int
    var values: [String: AnyHashable]

    init(id: Int, values: [String: AnyHashable]) { (self.id, self.values) = (id, values) }

    /// The properties that a struct of the shape would have.
    var customMirror: Mirror {
        let properties = Place.shape.withLock { $0 }.fields.map { (label: $0.key, value: values[$0.key]?.base as Any) }
        return Mirror(self, children: [(label: "id", value: id as Any)] + properties.map { ($0.label, $0.value) })
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: RandomKey.self)
        id = try container.decode(Int.self, forKey: RandomKey(stringValue: "id"))
        values = try Place.shape.withLock { $0 }.decode(container)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: RandomKey.self)
        try container.encode(id, forKey: RandomKey(stringValue: "id"))
        try Place.shape.withLock { $0 }.encode(values, &container)
    }

    static var compiledColumns: ModelColumns? {
        let shape = Place.shape.withLock { $0 }
        return ModelColumns(
            ["id"] + shape.fields.map(\.key),
            read: { columns in
                let id: Int = try columns.value(at: 0)
                var values: [String: AnyHashable] = [:]
                for (place, field) in shape.fields.enumerated() {
                    values[field.key] = try field.kind.read(columns, place + 1, isOptional: field.isOptional)
                }
                return RandomModel(id: id, values: values)
            },
            write: { (model: borrowing RandomModel, columns) in
                try columns.set(model.id, at: 0)
                for (place, field) in shape.fields.enumerated() {
                    try field.kind.write(model.values[field.key], columns, place + 1)
                }
            })
    }

    static var schema: Schema<RandomModel> {
        Schema(rules: rules(Place.shape.withLock { $0 }, []), name: "\(Place.self)")
    }

    private static func rules(_ shape: RandomShape, _ path: [String]) -> [SchemaRule<RandomModel>] {
        shape.fields.flatMap { field -> [SchemaRule<RandomModel>] in
            let name = PropertyName(path: (path + [field.key]).joined(separator: "."))
            var rules: [SchemaRule<RandomModel>] = []
            if field.isOwned { rules.append(SchemaRule(fact: .owns(name))) }
            if let value = field.defaultValue { rules.append(SchemaRule(fact: .defaultValue(name, value))) }
            return rules
        }
    }
}

/// Where the shape of a model is kept.
protocol RandomPlace: Sendable, Hashable {
    static var shape: Locked<RandomShape> { get }
}
enum Root: RandomPlace { static let shape = Locked(RandomShape(fields: [])) }
enum Child: RandomPlace { static let shape = Locked(RandomShape(fields: [])) }
