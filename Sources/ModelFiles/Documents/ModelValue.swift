import CompactCollections
import Foundation
import KeyedArchives

/// A value in a model file: the default of an attribute, an entry of user info, a validation warning.
package indirect enum ModelValue: Equatable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    case url(String)
    case array([ModelValue])
    case dictionary([String: ModelValue])
    /// An object whose class exists only in the program that made the file. Kept so that it can be written again.
    case archived(KeyedArchiveFragment)
}

extension ModelValue {
    /// The value as Core Data returns it; nil for an archived object.
    package var object: Any? {
        switch self {
        case .boolean(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .decimal(let value): NSDecimalNumber(decimal: value)
        case .string(let value): value
        case .date(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .url(let value): URL(string: value)
        case .array(let values): values.compactMap(\.object)
        case .dictionary(let values): values.compactMapValues(\.object)
        case .archived: nil
        }
    }

    /// The value of an object from Core Data; nil for an object that no model file can hold.
    package init?(object: Any) {
        switch object {
        case let value as NSDecimalNumber: self = .decimal(value.decimalValue)
        case let value as Decimal: self = .decimal(value)
        case let value as NSNumber:
            switch PropertyList.number(value) {
            case .boolean(let value): self = .boolean(value)
            case .real(let value): self = .double(value)
            default: self = .integer(value.int64Value)
            }
        case let value as String: self = .string(value)
        case let value as Date: self = .date(value)
        case let value as Data: self = .data(value)
        case let value as UUID: self = .uuid(value)
        case let value as URL: self = .url(value.absoluteString)
        case let values as [Any]:
            self = .array(values.compactMap(ModelValue.init(object:)))
        case let values as [AnyHashable: Any]:
            let pairs = values.compactMap { key, value in
                ModelValue(object: value).map { ((key.base as? String) ?? "\(key.base)", $0) }
            }
            self = .dictionary(Dictionary(pairs, uniquingKeysWith: { first, _ in first }))
        default: return nil
        }
    }
}
