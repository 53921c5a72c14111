import CoreDataModel

/// Whether the values of one attribute type fit another type. Pure.
enum AttributeFit: Equatable {
    /// Every value fits.
    case fits
    /// Each value can be converted, but some lose precision.
    case narrows
    /// They cannot be converted.
    case differs

    init(_ stored: NSAttributeType, in new: NSAttributeType) {
        guard stored != new else {
            self = .fits
            return
        }
        guard let former = Self.reach(of: stored), let present = Self.reach(of: new) else {
            self = .differs
            return
        }
        self = present.isSuperset(of: former) ? .fits : .narrows
    }

    /// The range of a number type, divided into parts that types share; nil for anything but a number.
    private static func reach(of type: NSAttributeType) -> Set<Part>? {
        switch type {
        case .booleanAttributeType: [.bit]
        case .integer16AttributeType: [.bit, .short]
        case .integer32AttributeType: [.bit, .short, .word]
        case .integer64AttributeType: [.bit, .short, .word, .long]
        case .floatAttributeType: [.bit, .short, .float]
        case .doubleAttributeType: [.bit, .short, .word, .float, .double]
        case .decimalAttributeType: [.bit, .short, .word, .long, .decimal]
        default: nil
        }
    }

    private enum Part { case bit, short, word, long, float, double, decimal }
}

extension NSAttributeType {
    /// The type's name in messages: `String`, `Integer 64`.
    var spokenName: String {
        switch self {
        case .integer16AttributeType: "Int16"
        case .integer32AttributeType: "Int32"
        case .integer64AttributeType: "Int64"
        case .decimalAttributeType: "Decimal"
        case .doubleAttributeType: "Double"
        case .floatAttributeType: "Float"
        case .stringAttributeType: "String"
        case .booleanAttributeType: "Bool"
        case .dateAttributeType: "Date"
        case .binaryDataAttributeType: "Data (or JSON)"
        case .UUIDAttributeType: "UUID"
        case .URIAttributeType: "URL"
        case .transformableAttributeType: "transformable value"
        case .compositeAttributeType: "nested struct"
        default: "value of type \(rawValue)"
        }
    }
}
