import CoreData
import StoreEngine

/// The values of a file for an object, converted for the entity's properties.
struct ImportValues {
    enum Reading {
        /// A value that is computed by the store, or is to be left out.
        case nothing
        /// No value of a property.
        case none(slot: Int)
        case value(Any, slot: Int)
        /// The destination of a to-one relationship. The caller checks that it exists.
        case object(NSManagedObjectID, slot: Int)
        /// The destination of a to-one relationship by a value of its own, in one of its slots.
        case objectWith(StoredValue, text: String, at: Int, slot: Int)
    }

    let entity: EntityLayout
    let store: DirectStore
    let file: ImportFile
    let subentities: ImportedSubentities
    let columns: ImportColumns

    init(entity: EntityLayout, store: DirectStore, file: ImportFile, options: ImportOptions) {
        (self.entity, self.store, self.file) = (entity, store, file)
        subentities = ImportedSubentities(of: entity)
        columns = ImportColumns(of: entity, options)
    }

    /// The position of an object in the file, in words.
    func place(_ number: Int) -> String { "\(file.name), \(file.place(number))" }

    /// Reads the value of a property.
    ///
    /// - Throws: `CommandError` that names the place and the property.
    func read(_ value: ImportFile.Value, _ name: String, _ place: @autoclosure () -> String) throws -> Reading {
        switch try columns.target(of: name, place()) {
        case .nothing: return .nothing
        case .marks: return try refuse(value, place())
        case .object(let slot, let key):
            if case .none = value { return .none(slot: slot) }
            if case .text(let text) = value {
                if let identifier = store.coordinator.managedObjectID(for: text) {
                    return .object(identifier, slot: slot)
                }
                if text.isEmpty { return .none(slot: slot) }
            }
            guard let key, let attribute = key.entity.slots[key.slot].attribute,
                let known = try? self.value(value, attribute)
            else { throw noObject(value.text, slot, place()) }
            return .objectWith(StoredValue(known, for: attribute), text: value.text, at: key.slot, slot: slot)
        case .attribute(let attribute, let slot):
            if case .none = value { return .none(slot: slot) }
            if value == .text(""), ![.stringAttributeType, .binaryDataAttributeType].contains(attribute.type) {
                return .none(slot: slot)
            }
            do { return .value(try self.value(value, attribute), slot: slot) } catch {
                throw CommandError(
                    "\(place()): “\(name)” needs \(error.expected), and is “\(TextTools.inOneLine(String(value.text.prefix(60))))”"
                )
            }
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
        let shown = TextTools.inOneLine(String(text.prefix(60)))
        let relationship = entity.slots[slot].name
        guard let destination = entity.relationship(named: relationship)?.destination,
            let key = ImportColumns.identifier(of: destination)
        else {
            return CommandError(
                "\(place): “\(relationship)” is “\(shown)”, which is not an object of the store")
        }
        return CommandError(
            "\(place): “\(relationship)” is “\(shown)”, which is not an object of the store, nor the "
                + "“\(destination.slots[key].name)” of one")
    }
}

/// What the names of a file's columns and members stand for.
final class ImportColumns {
    enum Target {
        /// What is not imported.
        case nothing
        /// What could not be read when the file was written.
        case marks
        case attribute(AttributeLayout, slot: Int)
        /// The destination of a to-one relationship, and its attribute whose values tell its objects apart.
        case object(slot: Int, by: (entity: EntityLayout, slot: Int)?)
    }

    private let entity: EntityLayout
    private let names: [String: String]
    private let ignored: Set<String>
    private var targets: [String: Target] = [:]

    init(of entity: EntityLayout, _ options: ImportOptions) {
        (self.entity, names, ignored) = (entity, options.names, options.ignored)
    }

    /// The attribute whose values tell an entity's objects apart; nil if none does.
    static func identifier(of entity: EntityLayout) -> Int? {
        entity.uniquenessConstraints.lazy.filter { $0.count == 1 }.compactMap { entity.slotIndex(forName: $0[0]) }.first
        {
            entity.slots[$0].attribute != nil
        }
    }

    /// - Throws: `CommandError` for a name that stands for nothing.
    func target(of name: String, _ place: @autoclosure () -> String) throws -> Target {
        if let target = targets[name] { return target }
        let target = try find(name, place())
        targets[name] = target
        return target
    }

    /// - Throws: `CommandError` for a name of the options that the file does not have.
    func checkNames() throws {
        let missing = Set(names.keys).union(ignored).subtracting(targets.keys).subtracting(["*"]).sorted()
        guard let first = missing.first else { return }
        throw CommandError(
            "the file has no “\(first)”, which \(names[first] == nil ? "--ignore" : "--map") names; "
                + TextProblem.hint(for: first, among: targets.keys.sorted()))
    }

    private func find(_ name: String, _ place: @autoclosure () -> String) throws -> Target {
        let isOther = ignored.contains("*") && names[name] == nil
        if ignored.contains(name) { return .nothing }
        let wanted = names[name] ?? name
        let path = wanted.split(separator: ".", maxSplits: 1).map(String.init)
        guard let index = entity.propertyByName[wanted] ?? path.first.flatMap({ entity.propertyByName[$0] }),
            entity.propertyByName[wanted] != nil || path.count == 2
        else {
            if wanted == JSONText.marksName { return .marks }
            if JSONText.repeatingNames.contains(wanted) { return .nothing }
            if isOther { return .nothing }
            let near = TextProblem.near(wanted, among: entity.propertyByName.keys).map { "“\($0)”" }.joined(
                separator: " or ")
            throw CommandError(
                "\(place()): “\(entity.name)” has no property “\(TextTools.inOneLine(wanted))”; "
                    + (near.isEmpty ? "" : "\(near) may be meant; ")
                    + "--map NAME=PROPERTY gives it another name, and --ignore NAME leaves it out")
        }
        guard case .slot(let slot) = index else {
            if isOther { return .nothing }
            throw CommandError(
                "\(place()): “\(name)” is not an attribute and no to-one relationship, and has to be left out")
        }
        if let attribute = entity.slots[slot].attribute {
            guard entity.propertyByName[wanted] != nil else {
                throw CommandError("\(place()): “\(path[0])” is an attribute, so that “\(wanted)” leads nowhere")
            }
            return attribute.derivation == nil ? .attribute(attribute, slot: slot) : .nothing
        }
        guard let destination = entity.slots[slot].relationship?.destination else { return .nothing }
        guard entity.propertyByName[wanted] == nil else {
            return .object(slot: slot, by: Self.identifier(of: destination).map { (destination, $0) })
        }
        guard let key = destination.slotIndex(forName: path[1]), destination.slots[key].attribute != nil else {
            throw CommandError("\(place()): “\(destination.name)” has no attribute “\(TextTools.inOneLine(path[1]))”")
        }
        return .object(slot: slot, by: (destination, key))
    }
}

/// Finds objects of the store by their values, and remembers them.
struct ObjectFinder {
    /// How many objects are remembered.
    private static let mostKnown = 50_000

    private struct Place: Hashable {
        let slot: Int
        let key: Int
        let value: String
    }

    private let values: ImportValues
    private var checked: Set<NSManagedObjectID> = []
    private var found: [Place: NSManagedObjectID] = [:]

    init(_ values: ImportValues) { self.values = values }

    /// The object of a URI, if it is of the relationship's entity.
    ///
    /// - Throws: `CommandError` for one that is not in the store.
    mutating func check(
        _ identifier: NSManagedObjectID, _ slot: Int, _ engine: any StoreEngine, _ place: @autoclosure () -> String
    ) throws {
        guard !checked.contains(identifier) else { return }
        guard let destination = values.entity.slots[slot].relationship?.destination,
            let other = try engine.row(for: identifier), other.objectID.layout.isKind(of: destination)
        else { throw values.noObject(identifier.uriRepresentation().absoluteString, slot, place()) }
        if checked.count >= Self.mostKnown { checked = [] }
        checked.insert(identifier)
    }

    /// The object at the end of a relationship that has a value in one of its slots.
    ///
    /// - Throws: `CommandError` if there is none, or more than one.
    mutating func object(
        with value: StoredValue, _ text: String, at key: Int, _ slot: Int, _ engine: any StoreEngine,
        _ place: @autoclosure () -> String
    ) throws -> NSManagedObjectID {
        guard let destination = values.entity.slots[slot].relationship?.destination else {
            throw values.noObject(text, slot, place())
        }
        let known = Place(slot: slot, key: key, value: text)
        if let object = found[known] { return object }
        var objects: [NSManagedObjectID] = []
        try engine.forEachRow(of: destination, where: key, isAmong: [value]) { objects.append($0.objectID) }
        guard let object = objects.first else { throw values.noObject(known.value, slot, place()) }
        guard objects.count == 1 else {
            throw CommandError(
                "\(place()): “\(values.entity.slots[slot].name)” is “\(TextTools.inOneLine(known.value))”, which "
                    + "\(objects.count) objects of “\(destination.name)” have as their “\(destination.slots[key].name)”"
            )
        }
        if found.count >= Self.mostKnown { found = [:] }
        found[known] = object
        return object
    }

    /// The object of the imported entity that has the unique values of a row; nil if there is none.
    func object(like row: BatchRow, _ engine: any StoreEngine) throws -> NSManagedObjectID? {
        let entity = values.entity
        for constraint in entity.uniquenessConstraints {
            let slots = constraint.compactMap { entity.slotIndex(forName: $0) }
            guard let first = slots.first, slots.count == constraint.count,
                !slots.contains(where: { row.values[$0].isNull })
            else { continue }
            var object: NSManagedObjectID?
            try engine.forEachRow(of: entity, where: first, isAmong: [row.values[first]]) { other in
                if try slots.allSatisfy({ try other.holds(row.values[$0], at: $0) }) { object = other.objectID }
            }
            if object != nil { return object }
        }
        return nil
    }
}

/// The objects of a file that are of a subentity there, and of the entity itself once they are imported.
final class ImportedSubentities {
    private let names: Set<String>
    private(set) var counts: [String: Int] = [:]

    init(of entity: EntityLayout) { names = Set(entity.selfAndSubentities.dropFirst().map(\.name)) }

    /// Counts an object by its ID: `x-coredata://…/Dog/p1`.
    func note(_ members: [(String, ImportFile.Value)]) {
        guard !names.isEmpty, case .text(let uri)? = members.first(where: { $0.0 == "objectID" })?.1,
            let name = uri.split(separator: "/").dropLast().last.map(String.init), names.contains(name)
        else { return }
        counts[name, default: 0] += 1
    }
}
