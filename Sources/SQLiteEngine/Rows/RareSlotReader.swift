import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection

/// Reads the kinds of values that are seldom or slow anyway.
final class RareSlotReader {
    private let shape: RowShape.SlotShape?
    /// What stands for the value of a property whose column is not known.
    private let unavailable: UnavailableValue?
    private let attribute: AttributeLayout?
    private let elements: [(name: String, reader: RareSlotReader)]
    private let schema: SQLSchema?

    /// - Parameter error: why the property's column is not known.
    init(unavailable error: NSError) {
        unavailable = UnavailableValue(error.localizedDescription)
        (shape, attribute, schema, elements) = (nil, nil, nil, [])
    }

    init(_ shape: RowShape.SlotShape, attribute: AttributeLayout?, schema: SQLSchema) {
        unavailable = nil
        self.shape = shape
        self.attribute = attribute
        self.schema = schema
        elements = shape.elements.map { element in
            let name = String(element.column.property.split(separator: ".").last ?? "")
            let layout = attribute?.elements.first { $0.name == name }
            return (name, RareSlotReader(element, attribute: layout, schema: schema))
        }
    }

    func value(_ statement: Statement, identity: StoreIdentity, external: ExternalData) throws -> StoredValue {
        if let unavailable { return .object(unavailable) }
        guard let shape, let schema else { return .null }
        if shape.column.isComposite { return try composite(statement, identity: identity, external: external) }
        let index = shape.index
        if statement.isNull(at: index) { return .null }
        switch shape.column.storage {
        case .integer, .boolean: return .integer(statement.integer(at: index))
        case .string: return .string(statement.string(at: index))
        case .double, .float: return .double(statement.double(at: index))
        case .date: return .date(statement.double(at: index))
        case .uuid:
            // A UUID that somebody stored as a text is read as well; anything else is kept as bytes.
            if let uuid = statement.uuid(at: index) { return .uuid(uuid) }
            return UUID(uuidString: statement.string(at: index)).map(StoredValue.uuid)
                ?? .data(statement.data(at: index))
        case .url: return URL(string: statement.string(at: index)).map { .object($0 as NSURL) } ?? .null
        case .decimal: return .object(NSDecimalNumber(string: statement.string(at: index)))
        case .data(let allowsExternal):
            return external.value(of: statement.data(at: index), allowsExternal: allowsExternal) { .data($0) }
        case .transformable(let allowsExternal):
            return external.value(of: statement.data(at: index), allowsExternal: allowsExternal) {
                TransformableCoding.value(of: $0, for: attribute)
            }
        case .toOne:
            guard let declared = shape.column.destination else { return .null }
            let number = statement.integer(at: shape.entityIndex)
            let destination = schema.entity(numbered: number, kindOf: declared) ?? declared
            return .identifier(
                NSManagedObjectID(layout: destination, store: identity, key: statement.integer(at: index)))
        }
    }

    private func composite(
        _ statement: Statement, identity: StoreIdentity, external: ExternalData
    ) throws -> StoredValue {
        var result: [String: Any] = [:]
        for (name, reader) in elements {
            let value = try reader.value(statement, identity: identity, external: external)
            guard let layout = reader.attribute, let object = value.objectValue(for: layout) else { continue }
            result[name] = object
        }
        return result.isEmpty ? .null : .object(CompositeValue(result))
    }
}
