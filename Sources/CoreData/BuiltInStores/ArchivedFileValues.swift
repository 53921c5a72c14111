import Foundation
import KeyedArchives

extension FileValues {
    /// An attribute's value in a keyed archive; `nil` for none. Without its attribute, any value is shown.
    static func fileValue(_ value: ArchivedValue, of attribute: AttributeLayout?) throws -> StoreDocument.FileValue? {
        let isTransformable = attribute?.type == .transformableAttributeType
        switch value {
        case .null: return nil
        case .plain(.data(let data)): return .data(try isArchived(attribute) ? archived(.data(data)) : data)
        case .plain(let plain) where isTransformable:
            return .data(try archived(plain))
        case .plain(.string(let text)): return .text(text)
        case .plain(.integer(let number)):
            return attribute?.type == .decimalAttributeType ? .text("\(number)") : .integer(number)
        case .plain(.boolean(let flag)): return .integer(flag ? 1 : 0)
        case .plain(.real(let number)):
            return attribute?.type == .decimalAttributeType ? .text("\(number)") : .double(number)
        case .plain(let other): throw Failure(reason: "its value is \(other.kind)")
        case .object(let object):
            if object.isKind(of: "NSNull") { return nil }
            switch isTransformable && !object.isKind(of: "NSData") ? nil : try object.foundationValue(depth: 64) {
            case let text as String: return .text(text)
            case let number as NSDecimalNumber:
                return number == .notANumber ? nil : .text(number.description(withLocale: nil))
            case let data as Data: return .data(try isArchived(attribute) ? archived(.data(data)) : data)
            case let date as Date: return .double(date.timeIntervalSinceReferenceDate)
            case let uuid as UUID: return .text(uuid.uuidString)
            case let url as URL: return .text(url.absoluteString)
            default: return .data(try object.archivedAlone())
            }
        }
    }

    /// Whether bytes are a transformable value themselves: without a transformer, the file has the value as it is.
    private static func isArchived(_ attribute: AttributeLayout?) -> Bool {
        guard let attribute, attribute.type == .transformableAttributeType else { return false }
        return TransformableCoding.archivesValues(of: attribute)
    }

    private static func archived(_ plain: PropertyList) throws -> Data {
        var builder = KeyedArchiveBuilder()
        let root = builder.scalar(plain)
        return try builder.archive(root: root).data()
    }

    /// The value for a keyed archive, in the class that Core Data has for the attribute's type.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - attribute: the attribute.
    ///   - isPlain: whether the bytes of a transformable value stand there themselves, even if they are an archive.
    ///   - builder: the archive.
    /// - Returns: the value, or a reference to it in the archive.
    /// - Throws: the errors of the archive.
    static func archived(
        _ value: StoreDocument.FileValue?, of attribute: AttributeLayout, isPlain: Bool,
        in builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        switch (value, attribute.type) {
        case (nil, _): return try builder.foundationValue(NSNull())
        case (.double(let number), .dateAttributeType):
            return try builder.foundationValue(Date(timeIntervalSinceReferenceDate: number))
        case (.text(let text), .UUIDAttributeType): return try builder.foundationValue(UUID(uuidString: text))
        case (.text(let text), .URIAttributeType): return try builder.foundationValue(URL(string: text))
        case (.text(let text), .decimalAttributeType):
            return try builder.foundationValue(NSDecimalNumber(string: text))
        case (.data(let data), .transformableAttributeType) where !isPlain:
            // The value itself is in the archive, unless it is bytes of a transformer's own.
            switch try? KeyedArchive(data: data).rootValue() {
            case .object(let root): return builder.add(try KeyedArchiveFragment(root))
            case .plain(let plain) where plain.arrayValue == nil && plain.dictionaryValue == nil:
                return builder.scalar(plain)
            case .plain, .null, nil: return builder.scalar(.data(data))
            }
        case (.text(let text), _): return builder.string(text)
        case (.integer(let number), _): return builder.scalar(.integer(number))
        case (.double(let number), _): return builder.scalar(.real(number))
        case (.data(let data), _): return builder.scalar(.data(data))
        }
    }

    /// Whether a value can be one of an attribute. What only a transformer or much work tells is not tried.
    static func isPlausible(_ value: ArchivedValue, of attribute: AttributeLayout) -> Bool {
        if [.transformableAttributeType, .compositeAttributeType].contains(attribute.type) { return true }
        do {
            guard let found = try fileValue(value, of: attribute) else { return true }
            if found.byteCount > 1 << 16, attribute.type != .stringAttributeType { return true }
            _ = try storedValue(found, of: attribute, TransformableCoding.Options())
            return true
        } catch { return false }
    }
}

/// Counts the bytes of values that are made for each place: objects of a small file may share a large value, which
/// would be copied for each.
struct CopiedBytes {
    private var total = 0
    private let limit: Int

    init(of document: StoreDocument) { limit = CopyLimit.bytes(of: document.byteCount) }

    /// - Throws: the reason, if objects share large values too often.
    mutating func count(
        _ value: StoreDocument.FileValue, from source: ArchivedValue, _ attribute: AttributeLayout?
    ) throws(FileValues.Failure) {
        switch (source, attribute?.type) {
        // Texts and data share the archive's memory.
        case (.plain(.string), .stringAttributeType), (.plain(.data), .binaryDataAttributeType), (.plain, nil): return
        case (.object(let object), .stringAttributeType) where object.isKind(of: "NSString"): return
        case (.object(let object), .binaryDataAttributeType) where object.isKind(of: "NSData"): return
        default: total += value.byteCount
        }
        if total > limit { throw FileValues.Failure(reason: CopyLimit.reason(limit)) }
    }
}

extension StoreDocument.FileValue {
    fileprivate var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        case .integer, .double: 0
        }
    }
}
