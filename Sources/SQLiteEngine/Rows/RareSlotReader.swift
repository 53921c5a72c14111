import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection

/// Reads kinds of values that are rare, or slow anyway.
final class RareSlotReader {
    // The parts of a shape that are needed for each row, copied here, since accessing a shape counts references.
    private let storage: ColumnStorage
    private let index: Int32
    private let isComposite: Bool
    /// The column with the number of a destination's entity.
    private let entityIndex: Int32
    private let destination: EntityLayout?
    /// The stand-in for a property whose column is unknown.
    private let unavailable: UnavailableValue?
    private let attribute: AttributeLayout?
    private let elements: [(name: String, reader: RareSlotReader)]
    private let schema: SQLSchema?

    /// - Parameter error: why the property's column is unknown.
    init(unavailable error: NSError) {
        unavailable = UnavailableValue(error.localizedDescription)
        (storage, index, isComposite, entityIndex, destination) = (.integer, -1, false, -1, nil)
        (attribute, schema, elements) = (nil, nil, [])
    }

    init(_ shape: RowShape.SlotShape, attribute: AttributeLayout?, schema: SQLSchema) {
        unavailable = nil
        (storage, index, isComposite) = (shape.column.storage, shape.index, shape.column.isComposite)
        (entityIndex, destination) = (shape.entityIndex, shape.column.destination)
        self.attribute = attribute
        self.schema = schema
        elements = shape.elements.map { element in
            let layout = element.column.element(of: attribute, near: 0)
            return (element.column.ownName, RareSlotReader(element, attribute: layout, schema: schema))
        }
    }

    func value(_ statement: Statement, identity: StoreIdentity, external: ExternalData) throws -> StoredValue {
        if let unavailable { return .object(unavailable) }
        if isComposite { return try composite(statement, identity: identity, external: external) }
        let kind = statement.kind(at: index)
        if kind == .null { return .null }
        if let budget = external.budget, kind == .text || kind == .blob,
            let refusal = budget.refusal(of: statement.byteCount(at: index), in: statement.integer(at: 0))
        {
            return refusal
        }
        switch storage {
        case .integer, .boolean: return .integer(statement.integer(at: index))
        case .string: return .string(statement.string(at: index))
        case .double, .float: return .double(statement.double(at: index))
        case .date: return .date(statement.double(at: index))
        case .uuid:
            // A UUID that was stored as text is read, too; anything else is kept as bytes.
            if let uuid = statement.uuid(at: index) { return .uuid(uuid) }
            return UUID(uuidString: statement.string(at: index)).map(StoredValue.uuid)
                ?? .data(statement.data(at: index))
        case .url: return URL(string: statement.string(at: index)).map { .object($0 as NSURL) } ?? .null
        case .decimal: return .object(NSDecimalNumber.stored(statement.string(at: index)))
        case .data(let allowsExternal):
            return external.value(of: statement.data(at: index), allowsExternal: allowsExternal) { content in
                external.budget?.refusal(of: content.count, in: statement.integer(at: 0)) ?? .data(content)
            }
        case .transformable(let allowsExternal):
            return external.value(of: statement.data(at: index), allowsExternal: allowsExternal) { content in
                external.budget?.refusal(of: content.count, in: statement.integer(at: 0))
                    ?? TransformableCoding.value(of: content, for: attribute, external.coding)
            }
        case .toOne:
            guard let declared = destination, let schema else { return .null }
            let number = statement.integer(at: entityIndex)
            let destination = schema.entity(numbered: number, kindOf: declared) ?? declared
            return .identifier(
                NSManagedObjectID(layout: destination, store: identity, key: statement.integer(at: index)))
        }
    }

    /// Appends the values in a composite, in the order of the names, with `.null` for missing elements.
    ///
    /// - Returns: false for another kind of attribute.
    func elements(
        named names: ContiguousArray<String>, _ statement: Statement, identity: StoreIdentity, external: ExternalData,
        into values: inout ContiguousArray<StoredValue>
    ) throws -> Bool {
        guard isComposite else { return false }
        for (place, name) in names.enumerated() {
            // The elements are usually in the same order.
            let isHere = place < elements.count && elements[place].name == name
            let element = isHere ? elements[place] : elements.first { $0.name == name }
            values.append(try element?.reader.value(statement, identity: identity, external: external) ?? .null)
        }
        return true
    }

    private func composite(
        _ statement: Statement, identity: StoreIdentity, external: ExternalData
    ) throws -> StoredValue {
        .composite(
            try elements.compactMap { _, reader in
                guard let layout = reader.attribute else { return nil }
                return (layout, try reader.value(statement, identity: identity, external: external))
            })
    }
}
