import PredicateFormat
import StoreSession

// Foundation has classes of these names on other platforms too, which can be neither created nor subclassed.
typealias NSExpression = PredicateFormat.NSExpression
typealias NSComparisonPredicate = PredicateFormat.NSComparisonPredicate

extension AttributeEncoder {
    /// A value in the form in which a predicate compares it with an attribute's; nil for none.
    static func comparable(_ value: some Encodable) throws -> Any? {
        try single(value).predicateValue
    }
}

extension StoredValue {
    /// The value in the form in which a predicate compares it; nil for none.
    var predicateValue: Any? { attributeValue(.integer64) }
}

extension StoredValue {
    /// Why a value that is kept in a file beside the store cannot be read; nil for every other value.
    var missingFile: String? { missingExternalData?.sentence }
}

extension StoredValue {
    /// The value that key-value coding returned for an attribute.
    ///
    /// - Returns: `.null` for no value, nil for a value of another kind.
    init?(_ value: Any?, _ kind: AttributeKind) {
        guard let value, !(value is NSNull) else {
            self = .null
            return
        }
        switch kind {
        case .boolean, .integer16, .integer32, .integer64:
            guard let number = value as? NSNumber else { return nil }
            self = .integer(number.int64Value)
        case .float, .double:
            guard let number = value as? NSNumber else { return nil }
            self = .double(number.nearestDouble)
        case .string:
            guard let string = value as? String else { return nil }
            self = .string(string)
        case .date:
            guard let date = value as? Date else { return nil }
            self = .date(date.timeIntervalSinceReferenceDate)
        case .data:
            guard let data = value as? Data else { return nil }
            self = .data(data)
        case .uuid:
            guard let uuid = value as? UUID else { return nil }
            self = .uuid(uuid)
        case .url:
            guard let url = value as? URL else { return nil }
            self = .object(url as NSURL)
        case .decimal:
            if let number = value as? NSDecimalNumber {
                self = .object(number)
            } else if let decimal = value as? Decimal {
                self = .object(NSDecimalNumber(decimal: decimal))
            } else {
                return nil
            }
        }
    }

    /// The value in the form that key-value coding takes.
    func attributeValue(_ kind: AttributeKind) -> Any? {
        switch self {
        case .null: nil
        case .integer(let number): kind == .boolean ? NSNumber(value: number != 0) : NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .string(let string): string
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .identifier(let identifier): identifier
        case .object(let object): (object as? NSURL).map { $0 as URL } ?? object
        }
    }

    /// Whether an attribute of that kind can hold the value.
    func fits(_ kind: AttributeKind) -> Bool {
        switch (self, kind) {
        case (.integer(let number), .integer16): Int16(exactly: number) != nil
        case (.integer(let number), .integer32): Int32(exactly: number) != nil
        case (.null, _), (.integer, .boolean), (.integer, .integer64), (.double, .float), (.double, .double),
            (.string, .string), (.date, .date), (.data, .data), (.uuid, .uuid):
            true
        case (.object(let object), .url): object is NSURL
        case (.object(let object), .decimal): object is NSDecimalNumber
        default: false
        }
    }
}
