import Foundation
import SQLiteConnection

/// Binds the values of an entity's rows to the parameters of its INSERT and UPDATE statements: the hot path of a save.
struct RowWriter {
    private let mapping: EntityMapping
    private let schema: SQLSchema

    init(_ mapping: EntityMapping, schema: SQLSchema) {
        self.mapping = mapping
        self.schema = schema
    }

    /// The slots whose values are written, derived ones left out.
    func written(_ slots: [Int]) -> [Int] {
        slots.filter { slot in mapping.columns[slot].map { !$0.isDerived } ?? false }
    }

    /// Binds all values of a new row from a parameter on.
    func bindAll(
        _ values: ContiguousArray<StoredValue>, to statement: Statement, from first: Int32, files: ExternalFiles
    ) throws {
        var index = first
        for slot in mapping.columns.indices {
            guard let column = mapping.columns[slot] else { continue }
            try bind(values[slot], column, slot: slot, to: statement, at: &index, files: files)
        }
    }

    /// Binds the values of some slots from the first parameter on.
    ///
    /// - Returns: the index of the next parameter.
    func bind(
        _ values: ContiguousArray<StoredValue>, slots: [Int], to statement: Statement, files: ExternalFiles
    ) throws -> Int32 {
        var index: Int32 = 1
        for slot in slots {
            guard let column = mapping.columns[slot] else { continue }
            try bind(values[slot], column, slot: slot, to: statement, at: &index, files: files)
        }
        return index
    }

    @inline(__always)
    private func bind(
        _ value: StoredValue, _ column: SlotColumn, slot: Int, to statement: Statement, at index: inout Int32,
        files: ExternalFiles
    ) throws {
        if column.isDerived { return }
        switch (value, column.storage) {
        case (.integer(let number), .integer):
            try statement.bind(number, at: index)
            index += 1
        case (.string(let text), .string):
            try statement.bind(text, at: index)
            index += 1
        case (.double(let number), .double), (.double(let number), .float), (.date(let number), .date):
            try statement.bind(number, at: index)
            index += 1
        case (.identifier(let identifier), .toOne):
            try statement.bind(identifier.key, at: index)
            index += 1
            if column.entityColumn != nil {
                let number = schema.mapping(of: identifier.layout)?.number ?? identifier.layout.number
                try statement.bind(Int64(number), at: index)
                index += 1
            }
        case (.null, _) where !column.isComposite:
            // Parameters are NULL until they are bound.
            index += column.entityColumn == nil ? 1 : 2
        default: try bindRare(value, column, slot: slot, to: statement, at: &index, files: files)
        }
    }

    private func bindRare(
        _ value: StoredValue, _ column: SlotColumn, slot: Int, to statement: Statement, at index: inout Int32,
        files: ExternalFiles
    ) throws {
        if column.isComposite {
            let layout = mapping.layout.slots[slot].attribute
            return try bindComposite(value, column, layout, to: statement, at: &index, files: files)
        }
        switch try encoded(value, column, attribute: mapping.layout.slots[slot].attribute, files: files) {
        case .null: break
        case .integer(let number): try statement.bind(number, at: index)
        case .double(let number): try statement.bind(number, at: index)
        case .text(let text): try statement.bind(text, at: index)
        case .blob(let data): try statement.bind(data, at: index)
        }
        index += 1
    }

    private func bindComposite(
        _ value: StoredValue, _ column: SlotColumn, _ layout: AttributeLayout?, to statement: Statement,
        at index: inout Int32, files: ExternalFiles
    ) throws {
        var elements: [String: Any] = [:]
        if case .object(let object) = value, let composite = object as? CompositeValue { elements = composite.elements }
        for element in column.elements {
            let name = String(element.property.split(separator: ".").last ?? "")
            let attribute = layout?.elements.first { $0.name == name }
            guard let attribute else { continue }
            let inner = StoredValue(elements[name], for: attribute)
            if element.isComposite {
                try bindComposite(inner, element, attribute, to: statement, at: &index, files: files)
                continue
            }
            switch try encoded(inner, element, attribute: attribute, files: files) {
            case .null: break
            case .integer(let number): try statement.bind(number, at: index)
            case .double(let number): try statement.bind(number, at: index)
            case .text(let text): try statement.bind(text, at: index)
            case .blob(let data): try statement.bind(data, at: index)
            }
            index += 1
        }
    }

    /// The value as its column has it.
    ///
    /// - Throws: an `NSError` that names the property, when the value is not of its type.
    func encoded(
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
        // A UUID column's bytes that were no UUID are written back as they were.
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
        case (.object(let object), .transformable(let allowsExternal)):
            let name = attribute?.valueTransformerName
            if let data = TransformableCoding.bytes(of: object, transformerName: name) {
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
            "“\(mapping.layout.name).\(column.property)” cannot be stored: \(reason).")
    }
}

/// The files of large values that a save writes, and those that it makes superfluous.
final class ExternalFiles {
    private let external: ExternalData
    private var written: [String] = []
    private var superfluous: [String] = []

    init(_ external: ExternalData) { self.external = external }

    /// The bytes for a column; a large value goes into a file.
    func column(for content: Data) throws -> Data {
        guard content.count > external.inlineLimit else { return ExternalData.inline(content) }
        let (column, name) = try external.store(content)
        written.append(name)
        return column
    }

    /// Notes that a column's former bytes are replaced.
    func replaced(_ bytes: Data) {
        if let name = ExternalData.fileName(in: bytes) { superfluous.append(name) }
    }

    /// After the commit: removes the files that nothing refers to any more.
    func commit() { external.remove(superfluous) }

    /// After a save that failed: removes the files that it wrote.
    func rollback() { external.remove(written) }
}
