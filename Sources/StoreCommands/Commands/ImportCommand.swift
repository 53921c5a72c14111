import CoreData
import StoreEngine
import StoreReading

/// `pippin import`: inserts an object for each line or element of a file, or none if one of them fails.
package enum ImportCommand {
    /// - Parameters:
    ///   - options: what to import.
    ///   - store: the store that the options name, open for writing.
    ///   - progress: shows the progress.
    ///   - output: receives the number of inserted objects, as text.
    /// - Throws: `CommandError` with the line or element that cannot be imported, and the errors of the store. Nothing
    ///   is inserted then.
    package static func run(
        _ options: ImportOptions, in store: DirectStore, _ progress: ProgressLine, _ output: (String) throws -> Void
    ) throws {
        defer { progress.end() }
        let entity = try store.entity(named: options.entity)
        guard !entity.isAbstract else {
            throw CommandError("“\(entity.name)” is abstract; name the subentity of which the file has objects")
        }
        let file = ImportFile(options.file, options.format, isVerbatim: options.isVerbatim)
        let values = ImportValues(entity: entity, store: store, file: file)
        let count: Int
        do {
            count =
                try ImportBatch.suits(entity, store)
                ? ImportBatch.run(values, progress) : throughContext(values, progress)
        } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
            throw CommandError(duplicates(of: error, entity))
        }
        progress.end()
        try output("\(TextTools.count(count, "object")) of “\(entity.name)” added\n")
        for (name, count) in values.subentities.counts.sorted(by: { $0.key < $1.key }) {
            try output(
                "\(count) of them \(count == 1 ? "is" : "are") of “\(TextTools.inOneLine(name))” in the file, and of “\(entity.name)” now\n"
            )
        }
    }

    /// The error for values that are not unique. The store's own advice is for programs; this one is for people who
    /// type a command.
    private static func duplicates(of error: NSError, _ entity: EntityLayout) -> String {
        let reason = (error.userInfo[NSSQLiteErrorDomain] == nil ? nil : error.localizedDescription)
        let constraints = entity.uniquenessConstraints.map { $0.joined(separator: " and ") }.joined(separator: ", or ")
        return (reason ?? "There would be two objects with the same unique values; nothing was changed.")
            + " An object of the file has the same \(constraints) as another one of it, or as one of the store. "
            + "Take it out of the file, or delete the one in the store."
    }

    /// Imports through a context, which keeps the inverses of relationships consistent, if they are ordered or to-one.
    /// All objects are in memory at once.
    private static func throughContext(_ values: ImportValues, _ progress: ProgressLine) throws -> Int {
        let (store, entity) = (values.store, values.entity)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = store.coordinator
        context.undoManager = nil
        context.transactionAuthor = ImportBatch.author
        return try context.performAndWait { () throws -> Int in
            var count = 0
            var objects = try values.file.objects()
            while let (number, members) = try objects.next() {
                let place = values.place(number)
                values.subentities.note(members)
                let object = NSManagedObject(entity: entity.description, insertInto: context)
                for (name, value) in members where name != "objectID" {
                    switch try values.read(value, name, place) {
                    case .nothing: break
                    case .none: object.setValue(nil, forKey: name)
                    case .value(let value, _): object.setValue(value, forKey: name)
                    case .object(let identifier, let slot):
                        guard let other = try? context.existingObject(with: identifier) else {
                            throw values.noObject(identifier.uriRepresentation().absoluteString, slot, place)
                        }
                        object.setValue(other, forKey: name)
                    }
                }
                count += 1
                try EndingSignals.check()
                progress.say("\(TextTools.count(count, "object")) read", objects.fraction)
            }
            progress.say("saving \(TextTools.count(count, "object")) …")
            try context.save()
            return count
        }
    }
}

/// An import in one transaction of the store: rows are written as they are read, so that memory does not grow with
/// their number.
enum ImportBatch {
    /// How many destinations of relationships are remembered as existing.
    fileprivate static let mostKnown = 50_000
    /// The author of an import's transaction in the history.
    static let author = "pippin import"

    /// Whether an object can be imported as a row alone: the other sides of its relationships have neither an order nor
    /// a reference of their own, and its to-many relationships have no rules to check.
    static func suits(_ entity: EntityLayout, _ store: DirectStore) throws -> Bool {
        guard try store.asking({ $0.batches != nil }), entity.validatedToManys.isEmpty else { return false }
        return entity.toOnes.allSatisfy { $0.inverse.map { $0.isToMany && !$0.isOrdered } ?? true }
    }

    /// - Returns: the number of inserted objects.
    /// - Throws: `CommandError` that names the place of what is wrong, and the errors of the store; then nothing was
    ///   written.
    static func run(_ values: ImportValues, _ progress: ProgressLine) throws -> Int {
        try values.store.asking { engine in
            guard let batches = engine.batches else { return 0 }
            var plan = BatchInsertPlan(entity: values.entity)
            plan.origin.author = author
            var objects = try values.file.objects()
            var filler = RowFiller(values, engine)
            var count = 0
            return try batches.insertBatch(plan) { row in
                guard let (number, members) = try objects.next() else { return false }
                values.subentities.note(members)
                try filler.fill(&row, members, number)
                count += 1
                try EndingSignals.check()
                progress.say("\(TextTools.count(count, "object")) written", objects.fraction)
                return true
            }.count
        }
    }
}

/// Fills a row with the values of an object in a file, and checks them by the rules of the model.
private struct RowFiller {
    private let values: ImportValues
    private let engine: any StoreEngine
    /// An object of the entity without a context, which validates values.
    private let example: NSManagedObject
    /// Destinations that were found in the store.
    private var known: Set<NSManagedObjectID> = []

    init(_ values: ImportValues, _ engine: any StoreEngine) {
        (self.values, self.engine) = (values, engine)
        example = NSManagedObject(entity: values.entity.description, insertInto: nil)
    }

    mutating func fill(_ row: inout BatchRow, _ members: [(String, ImportFile.Value)], _ number: Int) throws {
        for (name, value) in members where name != "objectID" {
            switch try values.read(value, name, values.place(number)) {
            case .nothing: break
            case .none:
                if case .slot(let slot)? = values.entity.propertyByName[name] { row.values[slot] = .null }
            case .value(let value, let slot):
                if let attribute = values.entity.slots[slot].attribute {
                    row.values[slot] = StoredValue(value, for: attribute)
                }
            case .object(let identifier, let slot):
                try check(identifier, slot, number)
                row.values[slot] = .identifier(identifier)
            }
        }
        try validate(row, number)
    }

    /// Checks that the destination of a relationship exists.
    private mutating func check(_ identifier: NSManagedObjectID, _ slot: Int, _ number: Int) throws {
        guard !known.contains(identifier) else { return }
        let name = values.entity.slots[slot].name
        guard let destination = values.entity.relationship(named: name)?.destination,
            let other = try engine.row(for: identifier), other.objectID.layout.isKind(of: destination)
        else { throw values.noObject(identifier.uriRepresentation().absoluteString, slot, values.place(number)) }
        if known.count >= ImportBatch.mostKnown { known = [] }
        known.insert(identifier)
    }

    private func validate(_ row: BatchRow, _ number: Int) throws {
        for index in values.entity.validatedSlots {
            let slot = values.entity.slots[index]
            guard !slot.isTransient, slot.attribute?.derivation == nil else { continue }
            do {
                guard let attribute = slot.attribute else {
                    if !row.values[index].isNull || slot.isOptional { continue }
                    var none: AnyObject?
                    try example.validateValue(&none, forKey: slot.name)
                    continue
                }
                var value = row.values[index].objectValue(for: attribute) as AnyObject?
                try example.validateValue(&value, forKey: slot.name)
            } catch {
                throw CommandError("\(values.place(number)): \(error.localizedDescription)")
            }
        }
    }
}

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
                "\(place()): “\(name)” is not an attribute and no to-one relationship, and has to be left out")
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
        CommandError("\(place): “\(entity.slots[slot].name)” is “\(text)”, which is not an object of the store")
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
