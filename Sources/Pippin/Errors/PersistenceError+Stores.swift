import StoreSession

// Errors of managers, their stores, and files to import.
extension PersistenceError {
    package static func notLoaded(manager: String) -> PersistenceError {
        PersistenceError(
            .notLoaded,
            "The store of the persistence manager '\(manager)' was destroyed. Call load() to make a new one; startOver() does both."
        )
    }

    /// The error for what is done after `close()`. A server's URL may have a password, so that it is not shown.
    static func closed(_ stores: [NSPersistentStoreDescription], manager: String) -> PersistenceError {
        let names = stores.compactMap { store -> String? in
            guard store.type != NSInMemoryStoreType, let url = store.url else { return nil }
            return url.isFileURL ? url.path : url.lastPathComponent
        }
        let store = names.isEmpty ? "in memory" : "'\(names.joined(separator: "', '"))'"
        return PersistenceError(
            .closed, path: names.first,
            "The store \(store) was closed by close() of its persistence manager '\(manager)'. Make a new manager to use it "
                + "again.")
    }

    static func stillOpening(manager: String) -> PersistenceError {
        PersistenceError(
            .notLoaded,
            "The persistence manager '\(manager)' is being opened, and a closure of its migration plan, or an observer that is told "
                + "meanwhile, uses it. Use what the closure is given, or wait until load() has returned.")
    }

    package static func alreadyLoaded(manager: String) -> PersistenceError {
        PersistenceError(
            .alreadyLoaded,
            "The persistence manager '\(manager)' is loaded already. Load it once, and pass the manager around.")
    }

    static func noHistory(_ error: any Error) -> PersistenceError {
        PersistenceError(
            .noHistory, underlying: error,
            "The store keeps no history. Ask for one where its place is said: store: .file(url, keepsHistory: .always)."
        )
    }

    static func historyExpired(_ reason: String) -> PersistenceError {
        PersistenceError(
            .historyExpired, reason: reason,
            "The history does not go on from this place: \(reason). Fetch the models anew, and go on from history.latest()."
        )
    }

    package static func storeNotFound(path: String) -> PersistenceError {
        PersistenceError(
            .storeNotFound, path: path,
            "There is no store at \(path), and this manager is to make none (creating: .nothing). Check the path.")
    }

    package static func folderNotFound(path: String) -> PersistenceError {
        PersistenceError(
            .folderNotFound, path: path,
            "There is no folder \(path) for the store. Check the path, make the folder first, or have it made: "
                + "store: .file(url, creating: .folders).")
    }

    package static func schemaChanged(entity: String, property: String?, reason: String) -> PersistenceError {
        let (spoken, advice) = inWordsOfStructs(reason)
        return PersistenceError(
            .schemaChanged, entity: entity, property: property, reason: spoken,
            "The store was made with other models, and '\(property.map { "\(entity).\($0)" } ?? entity)' stands in the way: \(spoken). "
                + "\(advice) The store is as it was.")
    }

    /// Core Data's reason for which rows do not fit a model, and what to do, as structs have it.
    private static func inWordsOfStructs(_ reason: String) -> (reason: String, advice: String) {
        if reason.hasPrefix(MigrationViolation.outOfRange) {
            let value = reason.dropFirst(MigrationViolation.outOfRange.count).drop { ": ".contains($0) }
            return (
                "it has the value \(value), which does not fit its type",
                "Give it a type that holds its values, or convert them by a MigrationPlan."
            )
        }
        let isMissing = [MigrationViolation.missingAttribute, MigrationViolation.missingRelationship].contains(reason)
        return (
            isMissing ? "it is required, and stored models have no value for it" : reason,
            "In its schema, give a new property a .defaultValue or make it optional, say .renamed(_:from:) of one with a new "
                + "name, or load with a MigrationPlan."
        )
    }

    package static func wouldLose(store: String, losses: [StoreLoss]) -> PersistenceError {
        let list = losses.map { "- \($0)\n" }.joined()
        if let first = losses.first, losses.allSatisfy(\.isWithoutValue) {
            return PersistenceError(
                .schemaChanged, entity: first.entity, property: first.property, path: store, reason: first.reason,
                losses: losses,
                "The store '\(store)' lacks what these models require:\n\(list)The store is as it was.")
        }
        let does =
            losses.contains(where: \.isWithoutValue)
            ? "has what these models would not keep, and lacks what they require"
            : "has what these models would not keep"
        return PersistenceError(
            .wouldLose, path: store, losses: losses,
            "The store '\(store)' \(does):\n\(list)"
                + "A newer version of the program may have made it so; then open it with that. The store is as it was.")
    }

    /// One error of several that stand in the way of opening a store, the most important one first.
    static func all(_ errors: [PersistenceError]) -> PersistenceError? {
        guard let first = errors.first, errors.count > 1 else { return errors.first }
        let ending = "The store is as it was."
        let texts = errors.map {
            String($0.description.dropLast($0.description.hasSuffix(ending) ? ending.count + 1 : 0))
        }
        return PersistenceError(
            first.code, entity: first.entity, property: first.property, path: first.path,
            known: errors.flatMap(\.known), reason: first.reason, losses: first.losses,
            (texts + [ending]).joined(separator: "\n"))
    }

    package static func notUnique(store: String, entity: String, properties: [String], examples: [String])
        -> PersistenceError
    {
        PersistenceError(
            .notUnique, entity: entity, path: store, known: examples,
            "The store '\(store)' has several '\(entity)' with the same \(properties.joined(separator: ", ")), which is to be unique: "
                + "\(examples.joined(separator: ", ")). Change or delete all but one of them with a manager without that rule, then load "
                + "with it. The store is as it was.")
    }

    /// The error for a store with models that are in several others, which are to own them.
    static func notExclusive(
        store: String, entity: String, property: String, member: String, examples: [String]
    ) -> PersistenceError {
        PersistenceError(
            .notUnique, entity: entity, property: property, path: store, known: examples,
            "The store '\(store)' has '\(member)' models that are in the '\(property)' of several '\(entity)', and one alone is to own them: "
                + "\(examples.joined(separator: ", ")). Leave each to one with a manager without that rule, then load with it. The store "
                + "is as it was.")
    }

    package static func fileNotReadable(path: String, reason: String) -> PersistenceError {
        PersistenceError(
            .fileNotReadable, path: path, reason: reason,
            "The file \(path) cannot be read. \(reason)")
    }

    static func unknownCursor(_ text: String) -> PersistenceError {
        PersistenceError(
            .unknownCursor,
            "'\(text.limited(to: 100))' is not a place in this order. Take what cursor(after:in:) returned for a request with "
                + "the same order, or begin at the beginning.")
    }

    static func notMerged(entity: String, property: String?, _ reason: String) -> PersistenceError {
        PersistenceError(
            .invalid, entity: entity, property: property, reason: reason,
            "The JSON cannot be merged into '\(entity)'. \(reason)")
    }

    package static func noDelimiter(_ text: String) -> PersistenceError {
        PersistenceError(
            .noDelimiter,
            "'\(text)' cannot separate fields. Use one character of ASCII, such as a comma, a semicolon or a tab.")
    }

    package static func unknownColumns(_ columns: [String], type: String, known: [String]) -> PersistenceError {
        PersistenceError(
            .unknownColumns, entity: type, property: columns.joined(separator: ", "), known: known,
            "'\(type)' has no \(columns.count == 1 ? "property" : "properties") \(columns.map { "'\($0)'" }.joined(separator: ", ")), which "
                + "the file has as \(columns.count == 1 ? "a column" : "columns"); it has \(known.joined(separator: ", ")). Rename the "
                + "columns, or name them in ignoringColumns: to import the others. Nothing was imported.")
    }

    package static func modelNotFound(name: String, bundle: String) -> PersistenceError {
        PersistenceError(
            .modelNotFound,
            "There is no model '\(name).momd' or '\(name).mom' in \(bundle). "
                + "Is the .xcdatamodeld in the target, and this the target's bundle?")
    }

    package static func modelNotReadable(url: URL) -> PersistenceError {
        PersistenceError(
            .modelNotReadable,
            "There is no readable model at \(url.path). A .momd folder or a .mom file is expected.")
    }

    package static func bundleNotFound(identifier: String) -> PersistenceError {
        PersistenceError(
            .bundleNotFound, identifier: identifier,
            "No loaded bundle has the identifier '\(identifier)'.")
    }
}

extension String {
    /// The beginning of a text, as a message quotes it. A report is kept, and a bad line may be as long as the file.
    var quotable: String { limited(to: 200) }

    func limited(to count: Int) -> String {
        guard utf8.count > count, let end = unicodeScalars.index(startIndex, offsetBy: count, limitedBy: endIndex),
            end < endIndex
        else { return self }
        return String(self[..<end]) + "…"
    }
}

/// Data in a store that the models it is to be opened with would not keep, or data that it lacks and they require.
public struct StoreLoss: Sendable, Equatable {
    /// The entity's name in the store.
    public let entity: String
    /// The property's name in the store, such as `address.street` for a nested struct's property; nil for the whole
    /// entity.
    public let property: String?
    /// How many rows have a value of the property, or lack one that is required, or how many rows the entity has.
    public let rows: Int
    /// Why it would be lost.
    public let reason: String
    /// What to add to the schema to keep it, or to let it go.
    public let advice: String
    /// Whether the rows lack a value that the models require, and lose none.
    var isWithoutValue = false
}

extension StoreLoss: CustomStringConvertible {
    /// The loss in one line.
    public var description: String {
        let value = isWithoutValue ? "no value" : "a value"
        let what = property.map { "\(entity).\($0), \(rows) \(rows == 1 ? "row has" : "rows have") \(value)" }
        return "\(what ?? "\(entity), \(rows) \(rows == 1 ? "row" : "rows")"): \(reason) \(advice)"
    }
}
