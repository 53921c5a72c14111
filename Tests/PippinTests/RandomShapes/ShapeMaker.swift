import Foundation

@testable import Pippin

/// Makes shapes up: properties of every kind, optional and not, nested values in nested values, models in models.
struct ShapeMaker {
    enum Color: String, Codable, Hashable, Sendable { case red, green }
    enum Rank: Int, Codable, Hashable, Sendable { case low = -1, high = 7 }
    enum Figure: Codable, Hashable, Sendable {
        case point
        case circle(radius: Double)
        case path([Int])
    }

    static let scalars: [any RandomKind] = [
        Chosen(values: [true, false]), Chosen(values: [0, -5, Int.max, Int.min]), Chosen(values: [Int8.min, 0, 7]),
        Chosen(values: [Int16.max, -1]), Chosen(values: [Int32.min, 3]), Chosen(values: [Int64.max, 0]),
        Chosen(values: [UInt8.max, 0]), Chosen(values: [UInt16.max, 1]), Chosen(values: [UInt32.max, 2]),
        Chosen(values: [UInt64(Int64.max), 0]), Chosen(values: [0.0, -1.5, .infinity, 1e300]),
        Chosen(values: [Float(0.1), -2, .greatestFiniteMagnitude]),
        Chosen(values: ["", "a", "Ünï 🍏", "it's \"quoted\" %@ \\", "x\0y"]),
        Chosen(values: [Date(timeIntervalSinceReferenceDate: 0.25), .distantPast, .distantFuture]),
        Chosen(values: [UUID(uuidString: "00000000-0000-0000-0000-000000000000")!, UUID()]),
        Chosen(values: [URL(string: "https://pippin.example/a?b=c#d")!, URL(fileURLWithPath: "/tmp/ä b")]),
        Chosen(values: [Data(), Data([0, 255]), Data("[]".utf8)]),
        Chosen(values: [Decimal(string: "12.3456789012345")!, Decimal(-1), 0]),
        Chosen(values: [Color.red, .green]), Chosen(values: [Rank.low, .high]),
        Chosen(values: [Figure.point, .circle(radius: 1.5), .path([]), .path([1, 2])]),
    ]
    static let lists: [any RandomKind] = [
        Chosen(values: [[], [1], [3, 2, 3]]), Chosen(values: [[], ["", "b"]]), Chosen(values: [[Color](), [.red]]),
        Chosen(values: [[Int?](), [nil, 1]]), Chosen(values: [Set<String>(), ["a"], ["a", "b", "c"]]),
        Chosen(values: [[String: Int](), ["a": 1, "b": 2]]), Chosen(values: [[Int: String](), [1: "a", 2: "b"]]),
        Chosen(values: [[[Int]](), [[], [1]]]), Chosen(values: [[Date](), [Date(timeIntervalSinceReferenceDate: 1)]]),
    ]
    static let keys = [
        "name", "value", "size", "tags", "length", "entity", "class", "from.place", "x-y", "Größe", "description",
        "a b",
        "isPresent", "first", "any",
    ]

    var random: RandomNumbers

    /// The properties of a nested value.
    mutating func nested(depth: Int) -> RandomShape {
        let count = random.below(4) + 1
        let allOptional = random.chance(35)
        return RandomShape(
            fields: fields(count, isNested: true).map { key in
                RandomShape.Field(key: key, isOptional: allOptional || random.chance(50), kind: kind(depth: depth))
            })
    }

    private mutating func fields(_ count: Int, isNested: Bool) -> [String] {
        let keys = isNested ? Self.keys : Self.keys.filter { !$0.contains(".") }
        return Array(keys.shuffled(using: &random).prefix(count))
    }

    private mutating func kind(depth: Int) -> any RandomKind {
        let choice = random.below(100)
        guard choice >= 75, depth < 3 else { return random.pick(choice < 50 ? Self.scalars : Self.lists) }
        let shape = nested(depth: depth + 1)
        let form: Int = random.below(4)
        switch depth {
        case 0: return NestedKind<Nesting1>(shape: shape, form: form < 2 ? .single : form == 2 ? .array : .dictionary)
        case 1: return NestedKind<Nesting2>(shape: shape, form: form < 2 ? .single : form == 2 ? .array : .dictionary)
        default: return NestedKind<Nesting3>(shape: shape, form: form < 2 ? .single : form == 2 ? .array : .dictionary)
        }
    }

    /// The properties of a model without relationships.
    mutating func model(_ count: Int) -> RandomShape {
        RandomShape(
            fields: fields(count, isNested: false).map {
                RandomShape.Field(key: $0, isOptional: random.chance(50), kind: kind(depth: 0))
            })
    }

    /// Properties that lead to stored models, and to other roots.
    mutating func relationships(to children: [RandomModel<Child>], roots: [Int]) -> [RandomShape.Field] {
        let references = children.map { Reference<RandomModel<Child>>(id: $0.id) }
        let others = roots.map { Reference<RandomModel<Root>>(id: $0) }
        let kinds: [any RandomKind] = [
            Chosen(values: children, isComparable: false),
            Chosen(values: [[], [children[0]], [children[1], children[0]]], isComparable: false),
            Chosen(values: [Set(), Set(children)], isComparable: false),
            Chosen(values: references), Chosen(values: [[], references], isComparable: false),
            Chosen(values: others), Chosen(values: [[], others], isComparable: false),
            Chosen(values: [Set(), Set(others)], isComparable: false),
        ]
        return (0..<random.below(4)).map { index in
            RandomShape.Field(key: "link\(index)", isOptional: random.chance(50), kind: random.pick(kinds))
        }
    }
}
