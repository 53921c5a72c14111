import CoreDataModel
import Foundation

extension NSAttributeType {
    /// A computed value in this type, which its expression description declares; nil if it cannot be converted. Of a
    /// type that is not declared, or that no value is converted to, it is the value itself.
    package func declaredValue(_ found: Any?) -> Any? {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return Self.number(found).map { NSNumber(value: $0.int64Value) }
        case .booleanAttributeType: return Self.number(found).map { NSNumber(value: $0.int64Value != 0) }
        case .doubleAttributeType, .floatAttributeType:
            return Self.number(found).map { NSNumber(value: $0.nearestDouble) }
        case .decimalAttributeType:
            return Self.number(found).map { NSDecimalNumber(string: $0.description(withLocale: nil)) }
        case .dateAttributeType:
            return found as? Date
                ?? Self.number(found).map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) }
        case .stringAttributeType: return found.map { "\($0)" }
        case .URIAttributeType: return found as? URL ?? (found as? String).flatMap { URL(string: $0) }
        default: return found
        }
    }

    private static func number(_ found: Any?) -> NSNumber? {
        found as? NSNumber ?? (found as? Date).map { NSNumber(value: $0.timeIntervalSinceReferenceDate) }
    }
}
