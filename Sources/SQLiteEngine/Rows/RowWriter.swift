import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection

/// Binds the values of an entity's rows to the parameters of its INSERT and UPDATE statements: the hot path of a save.
package final class RowWriter {
    private let mapping: EntityMapping
    private let schema: SQLSchema
    private let coding: TransformableCoding.Options
    /// How each slot is written.
    private let kinds: ContiguousArray<Kind>
    /// The slots whose columns may refer to files of external data.
    let externalSlots: [Int]

    /// How a slot is written. Trivial, so that iterating over the slots counts no references.
    private enum Kind: UInt8 {
        /// Transient, or computed by a trigger.
        case skipped
        case integer, string, double, date, toOne
        /// A to-one relationship that stores the destination's entity as well.
        case toOneWithEntity
        case other
    }

    package init(_ mapping: EntityMapping, schema: SQLSchema, coding: TransformableCoding.Options = .init()) {
        self.mapping = mapping
        self.coding = coding
        self.schema = schema
        kinds = ContiguousArray(mapping.columns.map(Self.kind))
        externalSlots = mapping.columns.indices.filter { mapping.columns[$0]?.externalColumns.isEmpty == false }
    }

    private static func kind(of column: SlotColumn?) -> Kind {
        guard let column, !column.isDerived else { return .skipped }
        if column.isComposite { return .other }
        switch column.storage {
        case .integer: return .integer
        case .string: return .string
        case .double, .float: return .double
        case .date: return .date
        case .toOne: return column.entityColumn == nil ? .toOne : .toOneWithEntity
        default: return .other
        }
    }

    /// The slots whose values are written, without derived ones.
    func written(_ slots: [Int]) -> [Int] { slots.filter { kinds[$0] != .skipped } }

    /// Binds all values of a new row, starting at a parameter.
    ///
    /// - Returns: the index of the next parameter.
    @discardableResult
    func bindAll(
        _ values: ContiguousArray<StoredValue>, to statement: Statement, from first: Int32, files: ExternalFiles
    ) throws -> Int32 {
        var index = first
        for slot in kinds.indices {
            try bind(values[slot], slot: slot, to: statement, at: &index, files: files)
        }
        return index
    }

    /// Binds the values of some slots, starting at the first parameter.
    ///
    /// - Returns: the index of the next parameter.
    func bind(
        _ values: ContiguousArray<StoredValue>, slots: [Int], to statement: Statement, files: ExternalFiles
    ) throws -> Int32 {
        var index: Int32 = 1
        for slot in slots {
            try bind(values[slot], slot: slot, to: statement, at: &index, files: files)
        }
        return index
    }

    @inline(__always)
    private func bind(
        _ value: StoredValue, slot: Int, to statement: Statement, at index: inout Int32, files: ExternalFiles
    ) throws {
        let kind = kinds[slot]
        switch (kind, value) {
        case (.skipped, _): return
        case (.integer, .integer(let number)): try statement.bind(number, at: index)
        case (.string, .string(let text)): try statement.bind(text, at: index)
        case (.double, .double(let number)), (.date, .date(let number)): try statement.bind(number, at: index)
        case (.toOne, .identifier(let identifier)): try statement.bind(identifier.key, at: index)
        case (.toOneWithEntity, .identifier(let identifier)):
            try statement.bind(identifier.key, at: index)
            index += 1
            let number = schema.mapping(of: identifier.layout)?.number ?? identifier.layout.number
            try statement.bind(Int64(number), at: index)
        case (.other, _):
            return try bindRare(value, slot: slot, to: statement, at: &index, files: files)
        case (_, .null):
            // Parameters are NULL until they are bound.
            if kind == .toOneWithEntity { index += 1 }
        default: return try bindRare(value, slot: slot, to: statement, at: &index, files: files)
        }
        index += 1
    }

    private func bindRare(
        _ value: StoredValue, slot: Int, to statement: Statement, at index: inout Int32, files: ExternalFiles
    ) throws {
        guard let column = mapping.columns[slot] else { return }
        let attribute = mapping.layout.slots[slot].attribute
        if column.isComposite {
            return try bindComposite(value, column, attribute, to: statement, at: &index, files: files)
        }
        try statement.bind(encoded(value, column, attribute: attribute, files: files), at: index)
        index += 1
    }

    private func bindComposite(
        _ value: StoredValue, _ column: SlotColumn, _ layout: AttributeLayout?, to statement: Statement,
        at index: inout Int32, files: ExternalFiles
    ) throws {
        var composite: CompositeValue?
        if case .object(let object) = value { composite = object as? CompositeValue }
        for (place, element) in column.elements.enumerated() {
            guard let attribute = element.element(of: layout, near: place) else { continue }
            let inner = composite?.stored(attribute, near: place) ?? .null
            if element.isComposite {
                try bindComposite(inner, element, attribute, to: statement, at: &index, files: files)
                continue
            }
            try statement.bind(encoded(inner, element, attribute: attribute, files: files), at: index)
            index += 1
        }
    }

    /// The columns that a value of a slot fills, with their values.
    ///
    /// Large values stay in the column: several rows may get the value, but a file belongs to one row.
    func columns(of value: StoredValue, slot: Int) throws -> [(name: String, value: SQLValue)] {
        guard let column = mapping.columns[slot] else { return [] }
        return try columns(of: value, column, mapping.layout.slots[slot].attribute)
    }

    private func columns(
        of value: StoredValue, _ column: SlotColumn, _ attribute: AttributeLayout?
    ) throws -> [(name: String, value: SQLValue)] {
        if column.isComposite {
            var composite: CompositeValue?
            if case .object(let object) = value { composite = object as? CompositeValue }
            return try column.elements.flatMap { element in
                guard let inner = element.element(of: attribute, near: 0) else {
                    return [(name: String, value: SQLValue)]()
                }
                return try columns(of: composite?.stored(inner) ?? .null, element, inner)
            }
        }
        let encoded = try encoded(value, column, attribute: attribute, files: .inlining)
        var result = [(name: column.name, value: encoded)]
        if let entityColumn = column.entityColumn {
            var number = SQLValue.null
            if case .identifier(let identifier) = value {
                number = .integer(Int64(schema.mapping(of: identifier.layout)?.number ?? identifier.layout.number))
            }
            result.append((entityColumn, number))
        }
        // The row's place in the order changes, or it has none any more.
        if let orderColumn = column.orderColumn { result.append((orderColumn, .null)) }
        return result
    }

    /// The values of a row that must be unique together, with their columns; nil if one is NULL, since NULLs never
    /// equal each other.
    func uniqueValues(
        _ constraint: [String], of values: ContiguousArray<StoredValue>
    ) throws -> [(column: String, value: SQLValue)]? {
        var unique: [(column: String, value: SQLValue)] = []
        for name in constraint {
            guard let slot = mapping.layout.slotIndex(forName: name), let column = mapping.columns[slot] else {
                return nil
            }
            let value = try encoded(
                values[slot], column, attribute: mapping.layout.slots[slot].attribute, files: nil)
            if value == .null { return nil }
            unique.append((column.name, value))
        }
        return unique
    }

    /// The value in the form of its column.
    ///
    /// - Throws: an `NSError` that names the property, if the value is not of its type.
    package func encoded(
        _ value: StoredValue, _ column: SlotColumn, attribute: AttributeLayout?, files: ExternalFiles?
    ) throws -> SQLValue {
        switch (value, column.storage) {
        case (.null, _): return .null
        case (.integer(let number), .integer): return .integer(number)
        case (.string(let text), .string): return .text(text)
        case (.double(let number), .double), (.double(let number), .float), (.date(let number), .date):
            return .double(number)
        case (.identifier(let identifier), .toOne): return .integer(identifier.key)
        case (.uuid(let uuid), .uuid): return .blob(uuid.bytes)
        // Bytes in a UUID column that are not a UUID are written back unchanged.
        case (.data(let data), .uuid): return .blob(data)
        case (.object(let object), .url):
            if let url = object as? NSURL { return .text((url as URL).absoluteString) }
        case (.object(let object), .decimal):
            if let number = object as? NSDecimalNumber {
                return number == NSDecimalNumber.notANumber ? .null : .text(number.description(withLocale: nil))
            }
        case (.data(let data), .data(let allowsExternal)), (.data(let data), .transformable(let allowsExternal)):
            guard allowsExternal else { return .blob(data) }
            return .blob(try files?.column(for: data) ?? data)
        // A value that could not be read is written back unchanged.
        case (.object(let missing as MissingExternalData), .data(allowsExternal: true)),
            (.object(let missing as MissingExternalData), .transformable(allowsExternal: true)):
            // An element of a composite attribute is written with the others.
            files?.keep(missing.column)
            return .blob(missing.column)
        case (.object(let missing as MissingExternalData), _): throw unacceptable(column, missing.sentence)
        case (.object(let object), .transformable(let allowsExternal)):
            let name = attribute?.valueTransformerName
            if let data = TransformableCoding.bytes(of: object, for: attribute, coding) {
                guard allowsExternal else { return .blob(data) }
                return .blob(try files?.column(for: data) ?? data)
            }
            throw unacceptable(column, "the transformer “\(name ?? "")” is not known, or cannot archive the value")
        default: break
        }
        throw unacceptable(column, "its value is not of the attribute's type")
    }

    private func unacceptable(_ column: SlotColumn, _ reason: String) -> NSError {
        StoreError.make(
            CoreDataErrorCode.managedObjectValidation,
            "“\(mapping.layout.name).\(column.property)” cannot be stored: \(reason)"
                + (reason.hasSuffix(".") ? "" : "."))
    }
}
