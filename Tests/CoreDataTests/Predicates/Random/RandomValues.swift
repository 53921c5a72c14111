import CoreData

/// Values of every type: usual ones, equal ones, and those at the edges.
enum RandomValues {
    static let texts = [
        "", "a", "A", "ab", "aB", "b", "é", "e\u{301}", "É", "straße", "STRASSE", "a*b", "a?b", "50%_",
        "it's \"q\"; --",
        "Я", "я", "🍏", "a\nb", "\u{202E}ab", "ﬁ", "I", "ı", "10", "9", " ", "\\",
    ]
    private static let integers: [Int64] = [0, 1, -1, 2, 3, 7, 100, 32767, -32768]
    private static let wide: [Int64] = [.max, .min, 9_007_199_254_740_993, -9_007_199_254_740_993, 2_147_483_648]
    private static let doubles: [Double] = [
        0, -0.0, 0.5, 1, -1, 2, 0.1, 1e-300, 1e300, -1024.25, 9_007_199_254_740_992, 3.25,
    ]
    private static let seconds: [Double] = [0, -1.5, 631_152_000.123456, -63_114_076_800, 0.1, 1]
    private static let decimals = ["0", "0.1", "-3.5", "12345678901234.5", "100", "0.25", "-0.01", "1"]
    private static let links = ["https://swift.org", "https://swift.org/a?b=c", "a", "file:///%20x"]

    static func value(of type: NSAttributeType, _ random: inout SeededNumbers) -> Value {
        switch type {
        case .stringAttributeType: return .string(random.pick(texts))
        case .integer16AttributeType, .integer32AttributeType: return .integer(random.pick(integers))
        case .integer64AttributeType:
            return .integer(random.once(in: 4) ? random.pick(wide) : random.pick(integers))
        case .doubleAttributeType: return .double(random.pick(doubles))
        case .floatAttributeType: return .double(Double(Float(random.pick(doubles.filter { abs($0) < 1e30 }))))
        case .booleanAttributeType: return .integer(Int64(random.number(below: 2)))
        case .dateAttributeType: return .date(Date(timeIntervalSinceReferenceDate: random.pick(seconds)))
        case .UUIDAttributeType:
            let last = UInt8(random.number(below: 4) &* 85)
            return .uuid(UUID(uuid: (last, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255)))
        case .decimalAttributeType: return .decimal(NSDecimalNumber(string: random.pick(decimals)))
        case .URIAttributeType: return URL(string: random.pick(links)).map { .url($0) } ?? .null
        default: return .data(Data((0..<random.number(below: 3)).map { _ in UInt8(random.number(below: 2) &* 255) }))
        }
    }

    /// Fills the entities of a model with objects, related at random.
    static func fill(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel, _ random: inout SeededNumbers) {
        var objects: [String: [NSManagedObject]] = [:]
        for entity in model.entities {
            for _ in 0..<6 + random.number(below: 8) {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
                for (name, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key })
                where !random.once(in: 4) {
                    object.setValue(value(of: attribute.attributeType, &random).any, forKey: name)
                }
                objects[entity.name ?? "", default: []].append(object)
            }
        }
        for entity in model.entities {
            for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
                guard let candidates = objects[relationship.destinationEntity?.name ?? ""] else { continue }
                for object in objects[entity.name ?? ""] ?? [] where random.once(in: 2) {
                    if relationship.isToMany {
                        let some = candidates.filter { _ in random.once(in: 4) }
                        object.setValue(
                            relationship.isOrdered ? NSOrderedSet(array: some) : NSSet(array: some), forKey: name)
                    } else {
                        object.setValue(random.pick(candidates), forKey: name)
                    }
                }
            }
        }
    }
}
