import CoreData

/// What goes wrong in Pippin itself. Errors of the store come through as Core Data throws them.
public enum PersistenceError: Error, Equatable {
    /// An operation came before `load`, or after it had failed.
    case notLoaded(manager: String)
    /// A second `load`, while the first is under way or after it.
    case alreadyLoaded(manager: String)
    /// There is no compiled model of that name in the bundle.
    case modelNotFound(name: String, bundle: String)
    /// There is no readable model at that place.
    case modelNotReadable(url: URL)
    /// No bundle has that identifier.
    case bundleNotFound(identifier: String)
    /// The model has no such entity.
    case unknownEntity(String, known: [String])
    /// The entity has no such attribute to find records by.
    case unknownUidKey(String, entity: String, known: [String])
    /// The entity's objects are of another class than the record type.
    case wrongRecordClass(entity: String, expected: String, found: String)
    /// A record without a context was asked for something that takes one.
    case noContext(entity: String)
    /// The type of a model does not say what its schema is.
    case notDerivable(type: String, property: String, reason: String)
    /// The manager was not made for that model.
    case unknownModel(String, known: [String])
    /// A reference to a model that is neither stored nor being saved.
    case missingReference(entity: String, key: String, uid: String)
    /// The store was made with other structs, and their change cannot be inferred.
    case schemaChanged(entity: String, property: String?, reason: String)
    /// The store has what these models would not keep, and nothing says that it may go. The store is as it was.
    case wouldLose(store: String, losses: [StoreLoss])
    /// What is to be unique from now on is not in that store: the first values that several rows share. The store is as it was.
    case notUnique(store: String, entity: String, properties: [String], examples: [String])
    /// A block that reads has changed something in a context that nobody saves. The changes were taken back.
    case changedInRead(entities: [String])
    /// There is no store at that place, and none is to be made there.
    case storeNotFound(path: String)
    /// The folder that the store is to be in does not exist.
    case folderNotFound(path: String)
    /// A record is not to become a model: the model's failable initializer refused it.
    case notConvertible(entity: String, uid: String)
    /// An operation that neither has a closure nor overrides the method that does its work.
    case noWork(operation: String)
    /// What cannot separate the fields of a CSV file.
    case noDelimiter(String)
    /// A file to import has columns that the model does not have.
    case unknownColumns([String], type: String, known: [String])
    /// A file to import cannot be read.
    case fileNotReadable(path: String, reason: String)
    /// A value in the store does not fit the model's property.
    case unreadable(entity: String, uid: String? = nil, key: String, reason: String)
    /// A model has a value that the store cannot keep, or its `encode(to:)` fails.
    case unwritable(entity: String, uid: String, key: String?, reason: String)
    /// A filter compares a property with a value that no attribute holds.
    case notComparable(property: String, type: String)
    /// A filter or an order looks into a property whose values have no columns of their own.
    case keptAsJSON(property: String, path: String)
    /// A filter or an order names a property that is not stored.
    case unknownProperty(String, entity: String, known: [String])
}

extension PersistenceError: LocalizedError, CustomStringConvertible {
    /// What happened, and what to do about it.
    public var errorDescription: String? { description }

    /// What happened, and what to do about it.
    public var description: String {
        switch self {
        case .notLoaded(let manager):
            "The persistence manager '\(manager)' is not loaded. Call load() once, and wait for it, before anything else."
        case .alreadyLoaded(let manager):
            "The persistence manager '\(manager)' is loaded already. Load it once, and pass the manager around."
        case .modelNotFound(let name, let bundle):
            "There is no model '\(name).momd' or '\(name).mom' in \(bundle). "
                + "Is the .xcdatamodeld in the target, and this the target's bundle?"
        case .modelNotReadable(let url):
            "There is no readable model at \(url.path). A .momd folder or a .mom file is expected."
        case .bundleNotFound(let identifier):
            "No loaded bundle has the identifier '\(identifier)'."
        case .unknownEntity(let entity, let known):
            "The model has no entity '\(entity)'. It has: \(known.sorted().joined(separator: ", "))."
        case .unknownUidKey(let key, let entity, let known):
            "The entity '\(entity)' has no attribute '\(key)' to find records by. "
                + "Its attributes: \(known.sorted().joined(separator: ", ")). Set uidKey to the one that is unique."
        case .wrongRecordClass(let entity, let expected, let found):
            "Objects of the entity '\(entity)' are '\(found)', not '\(expected)'. "
                + "Set the entity's class in the model to '\(expected)'."
        case .noContext(let entity):
            "This record of the entity '\(entity)' is in no context. Insert it, or fetch it, with one."
        case .notDerivable(let type, let property, let reason):
            "No entity can be made of '\(type)'\(property.isEmpty ? "" : ", because of '\(property)'"): \(reason)"
        case .unknownModel(let model, let known):
            "The manager knows nothing of '\(model)'. Name it in PersistenceManager(models:), next to "
                + "\(known.isEmpty ? "the others" : known.sorted().joined(separator: ", "))."
        case .missingReference(let entity, let key, let uid):
            "'\(entity).\(key)' refers to '\(uid)', which is neither stored nor being saved. Save that first, or along with it."
        case .schemaChanged(let entity, let property, let reason):
            "The store was made with other models, and '\(property.map { "\(entity).\($0)" } ?? entity)' stands in the way: \(reason). "
                + "In its schema, give a new property a .defaultValue or make it optional, say .renamed(_:from:) of one with a new "
                + "name, or load with a MigrationPlan. The store is as it was."
        case .wouldLose(let store, let losses):
            "The store '\(store)' has what these models would not keep:\n"
                + losses.map { "- \($0)\n" }.joined()
                + "A newer version of the program may have made it so; then open it with that. The store is as it was."
        case .notUnique(let store, let entity, let properties, let examples):
            "The store '\(store)' has several '\(entity)' with the same \(properties.joined(separator: ", ")), which is to be unique: "
                + "\(examples.joined(separator: ", ")). Change or delete all but one of them with a manager without that rule, then load "
                + "with it. The store is as it was."
        case .changedInRead(let entities):
            "A block of read(_:) has changed \(entities.joined(separator: ", ")), which nobody would save. Use write(_:), or take the changes "
                + "back with rollback() before the block ends."
        case .storeNotFound(let path):
            "There is no store at \(path), and this manager is to make none (creating: .nothing). Check the path."
        case .folderNotFound(let path):
            "There is no folder \(path) for the store. Check the path, make the folder first, or have it made: "
                + "store: .file(url, creating: .folders)."
        case .notConvertible(let entity, let uid):
            "The \(entity) '\(uid)' becomes no model: its init?(record:) gives nil."
        case .noWork(let operation):
            "'\(operation)' has nothing to do. Override performWork(in:), or performChanges(in:) of a ChangesetOperation, without "
                + "calling super; or make it with a closure."
        case .noDelimiter(let text):
            "'\(text)' cannot separate fields. Use one character of ASCII, such as a comma, a semicolon or a tab."
        case .unknownColumns(let columns, let type, let known):
            "'\(type)' has no \(columns.count == 1 ? "property" : "properties") \(columns.map { "'\($0)'" }.joined(separator: ", ")), which "
                + "the file has as \(columns.count == 1 ? "a column" : "columns"); it has \(known.joined(separator: ", ")). Rename the "
                + "columns, or name them in ignoringColumns: to import the others. Nothing was imported."
        case .fileNotReadable(let path, let reason): "The file \(path) cannot be read. \(reason)"
        case .unreadable(let entity, let uid, let key, let reason):
            "\(uid.map { "The \(entity) '\($0)'" } ?? "The store's value of '\(entity)'") cannot be read"
                + "\(key.isEmpty ? "" : ", because of '\(key)'"): \(reason)"
        case .unwritable(let entity, let uid, let key, let reason):
            "The \(entity) '\(uid)' cannot be saved\(key.map { ", because of '\($0)'" } ?? ""): \(reason)"
        case .notComparable(let property, let type):
            "'\(property)' cannot be compared with this \(type). A filter compares single values (numbers, texts, dates, UUIDs, URLs, "
                + "enumerations with raw values), nested values, and lists whose order is certain; of models only whether there are any. "
                + "Fetch by other properties, and filter what comes."
        case .keptAsJSON(let property, let path):
            "'\(path)' cannot be looked at by the store: '\(property)' is kept as JSON, as values are that contain themselves or have no "
                + "fixed properties. Fetch by other properties, and filter what comes."
        case .unknownProperty(let property, let entity, let known):
            "'\(property)' is no stored property of '\(entity)'. Stored are: \(known.joined(separator: ", "))."
        }
    }
}
