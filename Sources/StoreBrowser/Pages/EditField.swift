import CoreData
import HTTPMessages
import StoreEngine
import StoreReading

/// An attribute that can be edited as text: its value as it is typed, and what was typed as a value. Pure.
struct EditField {
    enum Kind: Equatable { case text, number, boolean, date, uuid, url }

    /// Why something typed is no value.
    struct Refusal: Error, Equatable {
        let message: String
    }

    /// A value that differs.
    struct Change {
        let field: EditField
        let value: Any?
        /// As it was typed; nil for no value.
        let text: String?
    }

    let name: String
    let kind: Kind
    let isOptional: Bool
    let isNull: Bool
    /// The value as it is typed.
    let text: String
    private let type: NSAttributeType

    var typeName: String { EntityText.typeName(type) }

    /// The attributes that can be edited: not those that are computed, and not bytes.
    static func fields(of row: Row) -> [EditField] {
        row.objectID.layout.slots.indices.compactMap { EditField(row, $0) }
    }

    private init?(_ row: Row, _ index: Int) {
        let slot = row.objectID.layout.slots[index]
        guard let attribute = slot.attribute, !slot.isTransient, attribute.derivation == nil,
            let kind = Self.kind(attribute.type)
        else { return nil }
        (name, self.kind, type) = (slot.name, kind, attribute.type)
        isOptional = attribute.description.isOptional
        isNull = row.values[index].isNull
        text = CSVText.cell(FieldValue(row.values[index], attribute))
    }

    private static func kind(_ type: NSAttributeType) -> Kind? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType:
            .number
        case .stringAttributeType: .text
        case .booleanAttributeType: .boolean
        case .dateAttributeType: .date
        case .UUIDAttributeType: .uuid
        case .URIAttributeType: .url
        default: nil
        }
    }

    /// What a form that was sent changes.
    ///
    /// - Throws: `Refusal` that names the attribute.
    static func changes(of row: Row, _ form: HTTPFields) throws -> [Change] {
        try fields(of: row).compactMap { field in
            guard let typed = form["v." + field.name] else { return nil }
            if field.isOptional, form["n." + field.name] != nil {
                return field.isNull ? nil : Change(field: field, value: nil, text: nil)
            }
            // Browsers end lines as mail does.
            let text = typed.replacing("\r\n", with: "\n")
            // An empty field of an attribute that has none stays empty.
            if field.isNull, text.isEmpty { return nil }
            guard field.isNull || text != field.text else { return nil }
            return Change(field: field, value: try field.value(text), text: text)
        }
    }

    private func value(_ text: String) throws -> Any {
        do { return try ValueText.value(text, type) } catch {
            throw Refusal(message: "“\(name)” needs \(error.expected).")
        }
    }
}
