import CoreData
import StoreReading

/// The values of a file for an object, converted for the entity's properties.
struct ImportValues {
    enum Reading {
        /// A value that is computed by the store.
        case nothing
        /// No value.
        case none
        case value(Any, slot: Int)
        /// The destination of a to-one relationship. The caller checks that it exists.
        case object(NSManagedObjectID, slot: Int)
    }

    let entity: EntityLayout
    let store: DirectStore
    let file: ImportFile
    let subentities: ImportedSubentities

    init(entity: EntityLayout, store: DirectStore, file: ImportFile) {
        (self.entity, self.store, self.file) = (entity, store, file)
        subentities = ImportedSubentities(of: entity)
    }

    /// The position of an object in the file, in words.
    func place(_ number: Int) -> String { "\(file.name), \(file.place(number))" }

    /// Reads the value of a property.
    ///
    /// - Throws: `CommandError` that names the place and the property.
    func read(_ value: ImportFile.Value, _ name: String, _ place: @autoclosure () -> String) throws -> Reading {
        guard let index = entity.propertyByName[name] else {
            if name == JSONText.marksName { return try refuse(value, place()) }
            let near = TextProblem.near(name, among: entity.propertyByName.keys).map { "“\($0)”" }.joined(
                separator: " or ")
            throw CommandError(
                "\(place()): “\(entity.name)” has no property “\(name)”"
                    + (near.isEmpty ? "" : "; \(near) may be meant"))
        }
        if case .none = value { return .none }
        guard case .slot(let slot) = index else {
            throw CommandError(
                "\(place()): “\(name)” is no attribute and no to-one relationship, and has to be left out")
        }
        guard let attribute = entity.slots[slot].attribute else {
            guard case .text(let text) = value, let identifier = store.coordinator.managedObjectID(for: text) else {
                throw noObject(value.text, slot, place())
            }
            return .object(identifier, slot: slot)
        }
        guard attribute.derivation == nil else { return .nothing }
        if value == .text(""), ![.stringAttributeType, .binaryDataAttributeType].contains(attribute.type) {
            return .none
        }
        do { return .value(try self.value(value, attribute), slot: slot) } catch {
            throw CommandError(
                "\(place()): “\(name)” needs \(error.expected), and is “\(TextTools.inOneLine(String(value.text.prefix(60))))”"
            )
        }
    }

    /// Refuses an object of which a value was not there when the file was written: it would be lost without a word.
    private func refuse(_ marks: ImportFile.Value, _ place: String) throws -> Reading {
        guard marks != .none, marks != .text("") else { return .nothing }
        let names = JSONMembers.values(in: Data(marks.text.utf8))?.map { "“\(TextTools.inOneLine($0.0))”" } ?? []
        throw CommandError(
            "\(place): \(names.isEmpty ? "a value" : names.joined(separator: ", ")) could not be read when the file "
                + "was written, as its “\(JSONText.marksName)” says; take these out to import the object without")
    }

    /// The value of an attribute, as an export writes it: bytes that are JSON as that, and composite attributes as an
    /// object of their elements.
    private func value(_ value: ImportFile.Value, _ attribute: AttributeLayout) throws(ValueText.Refusal) -> Any {
        switch (attribute.type, value) {
        case (.compositeAttributeType, _):
            guard let members = JSONMembers.values(in: Data(value.text.utf8)) else {
                throw ValueText.Refusal(
                    expected: "a JSON object with \(attribute.elements.map(\.name).joined(separator: ", "))")
            }
            return try elements(members, attribute)
        case (.binaryDataAttributeType, .json(let text)): return Data(text.utf8)
        case (.binaryDataAttributeType, .text(let text)) where isJSON(text, attribute): return Data(text.utf8)
        case (.binaryDataAttributeType, .text(let text)) where attribute.isJSON && file.format != .csv:
            // The JSON is a single text, which the file has without quotation marks.
            return Data(JSONText.string(text).utf8)
        case (.binaryDataAttributeType, .literal(let text)) where attribute.isJSON: return Data(text.utf8)
        case (_, .literal(let text)) where attribute.type.isNumber || attribute.type == .booleanAttributeType:
            return try ValueText.value(text, attribute.type)
        // An export would write a text here, so that `12` or `true` would come back as another value.
        case (_, .literal): throw ValueText.Refusal(expected: "a text (in quotation marks)")
        case (.transformableAttributeType, .text(let text)): return try ValueText.value(text, .binaryDataAttributeType)
        case (_, .text(let text)): return try ValueText.value(text, attribute.type)
        default: throw ValueText.Refusal(expected: "a single value")
        }
    }

    /// Whether a text is the JSON that the bytes contain. Otherwise it is Base64, which begins with neither bracket.
    private func isJSON(_ text: String, _ attribute: AttributeLayout) -> Bool {
        guard text.first == "{" || text.first == "[" || (attribute.isJSON && file.format == .csv) else { return false }
        return (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
    }

    private func elements(
        _ members: [(String, ImportFile.Value)], _ attribute: AttributeLayout
    ) throws(ValueText.Refusal) -> [String: Any] {
        var elements: [String: Any] = [:]
        for (name, value) in members {
            guard let element = attribute.elements.first(where: { $0.name == name }) else {
                throw ValueText.Refusal(
                    expected: "no “\(name)”, but \(attribute.elements.map(\.name).joined(separator: ", "))")
            }
            if case .none = value { continue }
            elements[name] = try self.value(value, element)
        }
        return elements
    }

    func noObject(_ text: String, _ slot: Int, _ place: String) -> CommandError {
        CommandError("\(place): “\(entity.slots[slot].name)” is “\(text)”, which is no object of the store")
    }
}
