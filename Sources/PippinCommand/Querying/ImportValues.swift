import CoreData
import StoreReading

/// What a file says of an object, as values of the entity's properties.
struct ImportValues {
    enum Reading {
        /// A value that is computed by the store.
        case nothing
        /// No value.
        case none
        case value(Any, slot: Int)
        /// The object that a to-one relationship leads to; whether it is there has to be seen.
        case object(NSManagedObjectID, slot: Int)
    }

    let entity: EntityLayout
    let store: DirectStore
    let file: ImportFile

    /// Where an object stands in the file, in words.
    func place(_ number: Int) -> String { "\(file.name), \(file.place(number))" }

    /// Reads the value of a property.
    ///
    /// - Throws: `CommandError` that names the place and the property.
    func read(_ value: ImportFile.Value, _ name: String, _ place: @autoclosure () -> String) throws -> Reading {
        guard let index = entity.propertyByName[name] else {
            let near = TextProblem.near(name, among: entity.propertyByName.keys).map { "“\($0)”" }.joined(
                separator: " or ")
            throw CommandError(
                "\(place()): “\(entity.name)” has no property “\(name)”"
                    + (near.isEmpty ? "" : "; \(near) may be meant"))
        }
        if case .none = value { return .none }
        guard case .slot(let slot) = index, case .text(let text) = value else {
            throw CommandError(
                "\(place()): “\(name)” is no attribute and no to-one relationship, and has to be left out")
        }
        guard let attribute = entity.slots[slot].attribute else {
            guard let identifier = store.coordinator.managedObjectID(for: text) else {
                throw noObject(text, slot, place())
            }
            return .object(identifier, slot: slot)
        }
        guard attribute.derivation == nil else { return .nothing }
        if text.isEmpty, attribute.type != .stringAttributeType { return .none }
        do { return .value(try ValueText.value(text, attribute.type), slot: slot) } catch {
            throw CommandError(
                "\(place()): “\(name)” needs \(error.expected), and is “\(TextTools.inOneLine(String(text.prefix(60))))”"
            )
        }
    }

    func noObject(_ text: String, _ slot: Int, _ place: String) -> CommandError {
        CommandError("\(place): “\(entity.slots[slot].name)” is “\(text)”, which is no object of the store")
    }
}
