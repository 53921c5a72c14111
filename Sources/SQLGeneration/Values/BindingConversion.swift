import CoreDataModel
import Foundation
import PredicateFormat

/// How a value of a predicate becomes a value of SQL.
package enum BindingConversion: Sendable {
    /// As a column with this storage holds it; nil for a value that is not compared with a column.
    case column(ColumnStorage?)
    /// A text without the differences that options ignore, as compared with one of a column with this storage.
    case folded(ColumnStorage?, StringOptions)
    /// The primary key of an object in this root entity's table; -1, which no object has, for any other value, and for
    /// an object of another store.
    case key(root: EntityLayout)
    /// The number of an entity, by name; -1, which no entity has, for any other value.
    case entity([String: Int])
    /// The first of all texts that begin with the value.
    case prefixStart
    /// The bound after all texts that begin with the value.
    case prefixEnd

    func value(of value: Value, _ context: BindingContext) throws -> SQLValue {
        switch self {
        case .column(let storage): return try Self.columnValue(value, storage, context)
        case .folded(let storage, let options):
            guard case .text(let text) = try Self.columnValue(value, storage, context) else { return .null }
            return .text(text.folded(options))
        case .key(let root): return Self.key(of: value, root: root, context)
        case .entity(let numbers):
            guard case .object(let reference) = value, let entity = reference.object as? NSEntityDescription,
                let number = numbers[entity.name ?? ""]
            else { return value == .null ? .null : .integer(-1) }
            return .integer(Int64(number))
        case .prefixStart:
            guard case .string(let text) = value else { return .null }
            return .text(text)
        case .prefixEnd:
            guard case .string(let text) = value else { return .null }
            return Self.end(ofPrefix: text)
        }
    }

    private static func columnValue(
        _ value: Value, _ storage: ColumnStorage?, _ context: BindingContext
    ) throws -> SQLValue {
        switch value {
        case .null: return .null
        case .integer(let number): return .integer(number)
        case .double(let number): return .double(number)
        case .decimal(let number):
            // The column's numeric affinity converts the text. A whole number is compared as such: no double may hold
            // it.
            if storage == .decimal { return .text(number.description(withLocale: nil)) }
            if storage != .double, storage != .float, let whole = number.wholeNumber { return .integer(whole) }
            return .double(number.nearestDouble)
        case .string(let text):
            // The statement may have been made for another text, which spelled a number.
            guard storage?.isNumber == true else { return .text(text) }
            if let number = Int64(text) { return .integer(number) }
            guard let number = text.spelledNumber else {
                throw SQLError.unfit("a number is compared with \(value.kindDescription)")
            }
            return .double(number)
        case .date(let date): return .double(date.timeIntervalSinceReferenceDate)
        // Such a column begins with a byte that says that the value follows; a value in a file is never found.
        case .data(let data) where storage == .data(allowsExternal: true): return .blob(Data([1]) + data)
        case .data(let data): return .blob(data)
        case .uuid(let uuid): return .blob(uuid.bytes)
        case .url(let url): return .text(url.absoluteString)
        case .object(let reference):
            if let identifier = reference.operand.operandIdentity as? NSManagedObjectID {
                return .integer(context.key(of: identifier))
            }
            throw SQLError.unsupported("a value of type \(type(of: reference.object))")
        case .collection: throw SQLError.unsupported("a collection where one value is expected")
        }
    }

    private static func key(of value: Value, root: EntityLayout, _ context: BindingContext) -> SQLValue {
        if value == .null { return .null }
        guard case .object(let reference) = value,
            let identifier = reference.operand.operandIdentity as? NSManagedObjectID,
            identifier.layout.root === root || identifier.layout.root.name == root.name
        else { return .integer(-1) }
        return .integer(context.key(of: identifier))
    }

    /// The bound after all texts with a prefix, byte by byte: the prefix with its last character replaced by the next.
    /// The bound after all texts is the empty blob, since SQLite sorts blobs after texts.
    static func end(ofPrefix prefix: String) -> SQLValue {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let following = Unicode.Scalar(next) else { continue }
            scalars.append(following)
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            return .text(String(text))
        }
        return .blob(Data())
    }
}

extension UUID {
    /// The 16 bytes, as a column holds them.
    package var bytes: Data { withUnsafeBytes(of: uuid) { Data($0) } }
}

extension BindingConversion: Equatable {
    package static func == (one: Self, other: Self) -> Bool {
        switch (one, other) {
        case (.column(let one), .column(let other)): one == other
        case (.folded(let one, let options), .folded(let other, let others)): one == other && options == others
        case (.key(let one), .key(let other)): one === other
        case (.entity(let one), .entity(let other)): one == other
        case (.prefixStart, .prefixStart), (.prefixEnd, .prefixEnd): true
        default: false
        }
    }
}

/// How a value is stored in a column: what SQLite stores, and what it means.
package enum ColumnStorage: Sendable, Equatable {
    /// An integer; also a Boolean, if the database has no type for it.
    case integer
    /// A Boolean, if the database has a type for it.
    case boolean
    case double
    /// Single precision, stored as a double.
    case float
    /// Seconds since 2001-01-01 00:00 UTC.
    case date
    case decimal
    case string
    case url
    /// The 16 bytes of a UUID.
    case uuid
    /// Bytes; with Core Data's leading byte if the attribute allows external storage.
    case data(allowsExternal: Bool)
    /// The output of a value transformer; with the leading byte if external storage is allowed.
    case transformable(allowsExternal: Bool)
    /// The primary key of a destination.
    case toOne

    /// Whether the column may name a file that has its value.
    package var allowsExternal: Bool {
        switch self {
        case .data(let allowsExternal), .transformable(let allowsExternal): allowsExternal
        default: false
        }
    }

    /// Whether the column holds archives, whose content is opaque to the store.
    var isTransformable: Bool { if case .transformable = self { true } else { false } }

    /// Whether the column holds numbers.
    var isNumber: Bool {
        switch self {
        case .integer, .boolean, .double, .float, .decimal: true
        case .date, .string, .url, .uuid, .data, .transformable, .toOne: false
        }
    }

    /// The storage of an attribute's type; nil for types that are never stored in one column.
    package init?(_ attribute: AttributeLayout) {
        switch attribute.type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
            self = .integer
        case .doubleAttributeType: self = .double
        case .floatAttributeType: self = .float
        case .dateAttributeType: self = .date
        case .decimalAttributeType: self = .decimal
        case .stringAttributeType: self = .string
        case .URIAttributeType: self = .url
        case .UUIDAttributeType: self = .uuid
        case .binaryDataAttributeType: self = .data(allowsExternal: attribute.allowsExternalStorage)
        case .transformableAttributeType: self = .transformable(allowsExternal: attribute.allowsExternalStorage)
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: return nil
        }
    }
}

/// What values are compared with one another. In memory, values of two kinds are unequal, and neither is less; SQLite
/// orders them by their kinds.
enum ValueKind {
    case number, date, text, uuid, data, object
    /// A transformable value, which is an archive of anything.
    case archive

    init(_ storage: ColumnStorage) {
        self =
            switch storage {
            case .integer, .boolean, .double, .float, .decimal: .number
            case .date: .date
            case .string, .url: .text
            case .uuid: .uuid
            case .data: .data
            case .transformable: .archive
            case .toOne: .object
            }
    }

    /// The kind of a constant; nil for nil and for collections.
    init?(_ value: Value) {
        switch value {
        case .null, .collection: return nil
        case .integer, .double, .decimal: self = .number
        case .date: self = .date
        case .string, .url: self = .text
        case .uuid: self = .uuid
        case .data: self = .data
        case .object: self = .object
        }
    }

    /// Whether values can be equal, or one of them less. A date beside a number is seconds since 2001.
    func isComparable(with other: ValueKind) -> Bool {
        switch (self, other) {
        case (.number, .date), (.date, .number): true
        default: self == other
        }
    }
}
