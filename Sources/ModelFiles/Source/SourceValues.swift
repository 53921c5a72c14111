import Foundation

/// What Xcode's editor offers for a type. An attribute that gets another type keeps the texts of its former one in the
/// file, where the editor no longer shows them; they mean nothing, and a warning says so.
extension NSAttributeType {
    var hasDefaultInSource: Bool { isOrdered }

    var hasBoundsInSource: Bool {
        switch self {
        case .booleanAttributeType, .UUIDAttributeType, .URIAttributeType: false
        default: hasDefaultInSource
        }
    }
}

extension SourceReader {
    /// The default value, of the attribute's type.
    static func defaultValue(
        _ element: SourceElement, _ type: NSAttributeType, _ place: SourceElement.Place
    ) throws -> ModelValue? {
        if type == .dateAttributeType, let date = try element.timeInterval("defaultDateTimeInterval", place) {
            return .date(date)
        }
        // An empty string is a default for a string attribute only.
        guard let text = element.attributes["defaultValueString"], !text.isEmpty || type == .stringAttributeType else {
            return nil
        }
        // Xcode's editor accepts any text here, and apps ship with it: a text that is not a UUID, a date in the order
        // of somebody's country, or what is left of an attribute that had another type means no default. A warning says
        // so.
        if type == .UUIDAttributeType, UUID(uuidString: text) == nil { return nil }
        if type == .dateAttributeType, date(text) == nil { return nil }
        if !type.hasDefaultInSource { return nil }
        return try value(text, of: type, key: "defaultValueString", element, place)
    }

    /// Whether a text is read as a value of a type.
    package static func reads(_ text: String, as type: NSAttributeType) -> Bool {
        let element = SourceElement(name: "attribute", attributes: [:], line: 0)
        return (try? value(text, of: type, key: "", element, SourceElement.Place())) != nil
    }

    /// Whether a text is read as the bound of an attribute.
    static func readsBound(_ text: String, of type: NSAttributeType) -> Bool { reads(text, as: boundType(of: type)) }

    /// The type of the bounds of an attribute. Those of a string apply to its length, and a bound may be a number that
    /// its type cannot hold, as in Sequel Ace.
    package static func boundType(of type: NSAttributeType) -> NSAttributeType {
        switch type {
        case .stringAttributeType, .integer16AttributeType, .integer32AttributeType: .integer64AttributeType
        default: type
        }
    }

    /// A value from its text.
    static func value(
        _ text: String, of type: NSAttributeType, key: String, _ element: SourceElement, _ place: SourceElement.Place
    ) throws -> ModelValue {
        func wrong(_ expected: String) -> ModelFileError {
            element.error(place, "\(key) is “\(text)”; \(expected) expected")
        }
        switch type {
        case .integer16AttributeType:
            guard let value = integer(text), Int16(exactly: value) != nil else { throw wrong("an integer of 16 bits") }
            return .integer(value)
        case .integer32AttributeType:
            guard let value = integer(text), Int32(exactly: value) != nil else { throw wrong("an integer of 32 bits") }
            return .integer(value)
        case .integer64AttributeType:
            guard let value = integer(text) else { throw wrong("an integer of 64 bits") }
            return .integer(value)
        case .doubleAttributeType, .floatAttributeType:
            guard let value = Double(number(text)), value.isFinite else { throw wrong("a number") }
            return .double(value)
        case .decimalAttributeType:
            let text = number(text)
            guard Double(text)?.isFinite == true,
                let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
            else { throw wrong("a decimal number") }
            return .decimal(value)
        case .booleanAttributeType:
            // An attribute that was a number before keeps its default, like one that was a Boolean.
            guard let value = SourceElement.boolean(of: text) ?? Double(text).map({ $0 != 0 }) else {
                throw wrong("YES or NO")
            }
            return .boolean(value)
        case .stringAttributeType:
            return .string(text)
        case .dateAttributeType:
            guard let date = date(text) else { throw wrong("a date") }
            return .date(date)
        case .UUIDAttributeType:
            guard let uuid = UUID(uuidString: text) else { throw wrong("a UUID") }
            return .uuid(uuid)
        case .URIAttributeType:
            guard URL(string: text) != nil else { throw wrong("a URI") }
            return .url(text)
        case .undefinedAttributeType, .binaryDataAttributeType, .transformableAttributeType, .objectIDAttributeType,
            .compositeAttributeType:
            throw element.error(place, "an attribute of this type cannot have the \(key) “\(text)”")
        }
    }

    /// Whole numbers may be written with a point: `0.0`.
    private static func integer(_ text: String) -> Int64? {
        let text = number(text)
        return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
    }

    /// The digits of a number. An attribute that was a Boolean before it became a number keeps `YES` or `NO` in the
    /// file, which Xcode compiles as 1 and 0.
    private static func number(_ text: String) -> String {
        switch text.lowercased() {
        case "yes", "true": "1"
        case "no", "false": "0"
        default: text
        }
    }

    /// A date as the editor of older versions of Xcode wrote it; newer ones write seconds beside it.
    static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        for format in ["yyyy-MM-dd HH:mm:ss Z", "yyyy-MM-dd'T'HH:mm:ssZZZZZ", "yyyy-MM-dd"] {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }

    /// The predicates for the bounds and the pattern that an attribute's element would have with these XML attributes;
    /// nil if they cannot be read.
    package static func attributeValidation(
        ofXMLAttributes attributes: [String: String], _ type: NSAttributeType
    ) -> [ValidationDocument]? {
        let element = SourceElement(name: "attribute", attributes: attributes, line: 0)
        return try? attributeValidation(element, type, SourceElement.Place())
    }

    /// The predicates for bounds and pattern, with Core Data's error codes, as Apple's compiler makes them.
    static func attributeValidation(
        _ element: SourceElement, _ type: NSAttributeType, _ place: SourceElement.Place
    ) throws -> [ValidationDocument] {
        var validation: [ValidationDocument] = []
        func add(_ left: ExpressionTree, _ comparison: ComparisonOperator, _ right: Value, code: Int) {
            let tree = ComparisonTree(left, comparison, .constant(right))
            validation.append(ValidationDocument(predicate: .comparison(tree), warning: .integer(Int64(code))))
        }
        func bound(_ key: String, dateKey: String) throws -> Value? {
            if type == .dateAttributeType, let date = try element.timeInterval(dateKey, place) { return .date(date) }
            // The editor keeps the bounds of an attribute that had another type. A warning names them.
            guard type.hasBoundsInSource, let text = element.string(key) else { return nil }
            let bound = try? value(text, of: boundType(of: type), key: key, element, place)
            return bound.flatMap { Value($0.object) }
        }
        let minimum = try bound("minValueString", dateKey: "minDateTimeInterval")
        let maximum = try bound("maxValueString", dateKey: "maxDateTimeInterval")
        let codes: (tooSmall: Int, tooLarge: Int) =
            switch type {
            case .stringAttributeType:
                (CoreDataErrorCode.validationStringTooShort, CoreDataErrorCode.validationStringTooLong)
            case .dateAttributeType: (CoreDataErrorCode.validationDateTooSoon, CoreDataErrorCode.validationDateTooLate)
            default: (CoreDataErrorCode.validationNumberTooSmall, CoreDataErrorCode.validationNumberTooLarge)
            }
        let subject: ExpressionTree = type == .stringAttributeType ? .keyPath(["length"]) : .evaluatedObject
        if let minimum { add(subject, .greaterThanOrEqualTo, minimum, code: codes.tooSmall) }
        if let maximum { add(subject, .lessThanOrEqualTo, maximum, code: codes.tooLarge) }
        if type == .stringAttributeType, let pattern = element.string("regularExpressionString") {
            add(.evaluatedObject, .matches, .string(pattern), code: CoreDataErrorCode.validationStringPatternMatching)
        }
        return validation
    }
}
