import CoreDataModel

extension SplitMix {
    static let texts = [
        "", "a", "A", "ab", "aB", "b", "é", "e\u{301}", "É", "straße", "STRASSE", "a*b", "a?b", "50%_",
        "it's \"q\"; --",
        "я", "🍏", "a\nb", "ﬁ", "ı", "x10", "x9", " ", "\\",
    ]
    private static let integers: [Int64] = [0, 1, -1, 2, 3, 7, 100, 32767, -32768]
    private static let wide: [Int64] = [.max, .min, 9_007_199_254_740_993, -9_007_199_254_740_993, 2_147_483_648]
    // Their sums are the same in every order.
    private static let doubles: [Double] = [0, -0.0, 0.5, 1, -1, 2, 0.125, -1024.25, 3.25, 100]
    private static let seconds: [Double] = [0, -1.5, 631_152_000.123456, -63_114_076_800, 0.1, 1]
    private static let decimals = ["0", "0.1", "-3.5", "12345678901234.5", "100", "0.25", "-0.01", "1"]
    private static let urls = ["https://swift.org", "https://swift.org/a?b=c", "a", "file:///%20x"]

    /// Types whose values are compared one with another as they are, few enough that they meet.
    static func canBeUnique(_ type: NSAttributeType) -> Bool {
        type == .stringAttributeType || type == .integer16AttributeType || type == .integer32AttributeType
            || type == .UUIDAttributeType || type == .dateAttributeType
    }

    /// A value of an attribute, perhaps none.
    mutating func value(of attribute: AttributeLayout, inStore: Bool = true) -> PlainValue {
        if chance(15) { return .null }
        switch attribute.type {
        case .stringAttributeType: return .text(pick(Self.texts))
        case .integer16AttributeType, .integer32AttributeType: return .integer(pick(Self.integers))
        case .integer64AttributeType:
            return .integer(chance(20) ? pick(Self.wide) : pick(Self.integers))
        case .doubleAttributeType, .floatAttributeType: return .double(pick(Self.doubles))
        case .booleanAttributeType: return .integer(Int64(below(2)))
        case .dateAttributeType: return .date(pick(Self.seconds))
        case .UUIDAttributeType: return .uuid(UInt8(below(5)))
        case .decimalAttributeType: return .decimal(pick(Self.decimals))
        case .URIAttributeType: return .url(pick(Self.urls))
        case .transformableAttributeType: return .list(some(of: Self.texts, atMost: 2))
        case .compositeAttributeType:
            return .composite(["x": .double(pick(Self.doubles)), "label": .text(pick(Self.texts))])
        default:
            if inStore, attribute.allowsExternalStorage, chance(30) {
                return .largeBytes(count: 140_000, UInt8(below(3)))
            }
            return .bytes((0..<below(3)).map { _ in UInt8(below(2) &* 255) })
        }
    }

    /// Values for some attributes of an entity.
    mutating func values(of entity: EntityLayout, percent: Int) -> [String: PlainValue] {
        var values: [String: PlainValue] = [:]
        for slot in entity.slots where slot.name != EntityLayout.numberName && chance(percent) {
            guard let attribute = slot.attribute, attribute.derivation == nil else { continue }
            values[slot.name] = value(of: attribute)
        }
        return values
    }
}
