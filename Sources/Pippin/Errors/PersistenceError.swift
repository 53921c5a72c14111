import StoreSession

/// What went wrong with a manager, a model or a store: a code to decide by, the subject, and a description that says
/// what to do.
///
/// ```swift
/// do {
///     try await manager.insert(book)
/// } catch let error as PersistenceError where error.code == .alreadyStored {
///     print("There is a \(error.entity ?? "") with the identifier \(error.identifier ?? "")")
/// }
/// ```
///
/// As an `NSError` it is in Core Data's domain (`NSCocoaErrorDomain`), with the code and the user info of
/// ``underlying`` if there is one; only for ``Code/unreadable`` these are its own.
public struct PersistenceError: Error, Sendable {
    /// What happened. Codes may be added; a `switch` over them needs a default.
    public let code: Code
    /// The entity, or the model's type, that the error is about.
    public private(set) var entity: String?
    /// The property that the error is about.
    public private(set) var property: String?
    /// The identifier of the model that the error is about, as text.
    public private(set) var identifier: String?
    /// The file or folder that the error is about.
    public private(set) var path: String?
    /// The names to choose from instead: properties, entities, columns, examples.
    public private(set) var known: [String] = []
    /// The reason, in a sentence.
    public private(set) var reason: String?
    /// The data that the store has and the models would not keep, for ``Code/wouldLose``, and the values that it lacks
    /// and they require, for ``Code/schemaChanged``.
    public private(set) var losses: [StoreLoss] = []
    /// What could not be saved, model by model, for ``Code/conflict``, ``Code/invalid`` and ``Code/saveFailed``.
    public private(set) var failures: [SaveFailure] = []
    /// The error that Core Data or the system gave, or that a model's own `init(from:)` threw.
    public private(set) var underlying: (any Error)?

    /// What happened, where, and what to do.
    public let description: String

    // Not inlined: errors are made in many places, and rarely.
    @inline(never)
    package init(
        _ code: Code, entity: String? = nil, property: String? = nil, identifier: String? = nil, path: String? = nil,
        known: [String] = [], reason: String? = nil, losses: [StoreLoss] = [], failures: [SaveFailure] = [],
        underlying: (any Error)? = nil, _ description: String
    ) {
        self.code = code
        self.entity = entity
        self.property = property
        self.identifier = identifier
        self.path = path
        self.known = known
        self.reason = reason
        self.losses = losses
        self.failures = failures
        self.underlying = underlying
        self.description = description
    }
}

extension PersistenceError: LocalizedError, CustomStringConvertible, CustomNSError {
    /// ``description``, for code that shows errors to people.
    public var errorDescription: String? { description }

    /// Core Data's domain, `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }

    /// The code of ``underlying``, unless a model's `init(from:)` threw that; otherwise the system's code for a missing
    /// file, and `NSCoreDataError` for everything else.
    public var errorCode: Int {
        if let adopted { return adopted.code }
        switch code {
        case .storeNotFound, .fileNotReadable: return CocoaError.Code.fileReadNoSuchFile.rawValue
        case .folderNotFound: return CocoaError.Code.fileNoSuchFile.rawValue
        default: return NSCoreDataError
        }
    }

    /// The error whose code and user info are also those of this one: Core Data's or the system's. The codes of a
    /// model's own errors mean something else in Core Data's domain.
    private var adopted: NSError? { code == .unreadable ? nil : underlying as NSError? }

    /// The user info of ``underlying``, unless a model's `init(from:)` threw that, with this description.
    public var errorUserInfo: [String: Any] {
        var info = adopted?.userInfo ?? [:]
        info[NSLocalizedDescriptionKey] = description
        info[NSUnderlyingErrorKey] = underlying
        return info
    }
}

extension PersistenceError: Equatable {
    /// Whether two errors say the same about the same subject.
    ///
    /// - Parameters:
    ///   - left: an error.
    ///   - right: another error.
    /// - Returns: `true` for errors with the same code about the same subject, in the same words.
    public static func == (left: PersistenceError, right: PersistenceError) -> Bool {
        left.code == right.code && left.entity == right.entity && left.property == right.property
            && left.identifier == right.identifier && left.path == right.path && left.description == right.description
    }
}

/// Why one model could not be saved.
public struct SaveFailure: Sendable, Equatable {
    /// The model's entity.
    public let entity: String
    /// The model's identifier, as text; `nil` where it has none.
    public let identifier: String?
    /// The property, or the properties that must be unique together; `nil` if the failure is about the model as a
    /// whole.
    public let property: String?
    /// The reason, in a sentence.
    public let reason: String

    package init(entity: String, identifier: String?, property: String?, reason: String) {
        (self.entity, self.identifier, self.property, self.reason) = (entity, identifier, property, reason)
    }
}

// Core Data's errors as `PersistenceError`: with a code to decide by, and with Core Data's own error attached.
extension PersistenceError {
    /// Runs work that uses the store, and turns its errors into ``PersistenceError``.
    ///
    /// - Parameters:
    ///   - code: the code for an error of Core Data's.
    ///   - work: uses the store.
    /// - Returns: what `work` returns.
    /// - Throws: what `work` throws. An error of Core Data's or Foundation's becomes the ``underlying`` error of one
    ///   with the code.
    static func explaining<Result>(_ code: Code, _ work: () throws -> Result) throws -> Result {
        do { return try work() } catch { throw explained(error, code) }
    }

    /// The error of a store that cannot be destroyed, which names those that are destroyed already.
    static func explained(_ error: any Error, destroyed names: [String]) -> any Error {
        let explained = explained(error, .notOpened)
        guard !names.isEmpty else { return explained }
        let known = explained as? PersistenceError
        let list = names.map { "“\($0)”" }.joined(separator: ", ")
        return PersistenceError(
            .notOpened, path: known?.path, reason: known?.reason, underlying: known?.underlying ?? error,
            "\(known?.description ?? (error as NSError).localizedDescription) What was saved in \(list) is destroyed already."
        )
    }

    /// An error as a `PersistenceError`.
    ///
    /// - Parameters:
    ///   - error: an error.
    ///   - code: the code for it, if it is Core Data's.
    /// - Returns: the error itself if it is a `PersistenceError` already, or is not Core Data's.
    static func explained(_ error: any Error, _ code: Code) -> any Error {
        guard type(of: error) is NSError.Type || error is CocoaError else { return error }
        let cocoa = error as NSError
        guard cocoa.domain == NSCocoaErrorDomain else { return error }
        let path = (cocoa.userInfo[NSURLErrorKey] as? URL)?.path ?? cocoa.userInfo[NSFilePathErrorKey] as? String
        let isMigratedMeanwhile =
            cocoa.code == NSPersistentStoreIncompatibleVersionHashError && code != .notOpened
        let advice =
            isMigratedMeanwhile
            ? " Close this manager, and open the store by a new one, with the structs of the program that "
                + "has migrated it."
            : cocoa.localizedRecoverySuggestion.map { " \($0)" } ?? ""
        return PersistenceError(
            code, path: path, reason: cocoa.localizedFailureReason, underlying: error,
            cocoa.localizedDescription + advice)
    }
}

// Errors of migration plans.
extension PersistenceError {
    package static func repeatedVersion(_ name: String) -> PersistenceError {
        PersistenceError(
            .repeatedVersion,
            "The migration plan has two versions '\(name)'. Give each a name of its own.")
    }

    package static func unavailableVersion(_ name: String, reason: String) -> PersistenceError {
        PersistenceError(
            .unavailableVersion, reason: reason,
            "The migration plan's version '\(name)' cannot be used: \(reason)")
    }

    /// `isAttribute` says whether a closure can take care of it.
    package static func notInferable(
        from: String, to: String, entity: String, property: String?, reason: String, isAttribute: Bool
    ) -> PersistenceError {
        let way = isAttribute ? "changing(to:_:) with a closure for '\(entity)', or mapped(to:by:)" : "mapped(to:by:)"
        let place = property.map { "\(entity).\($0)" } ?? entity
        return PersistenceError(
            .notInferable, entity: entity, property: property, reason: reason,
            "The step from version '\(from)' to '\(to)' cannot be inferred, because of '\(place)': \(reason). "
                + "Use \(way).")
    }

    package static func repeatedChange(entity: String, from: String, to: String) -> PersistenceError {
        PersistenceError(
            .repeatedChange, entity: entity,
            "The step from version '\(from)' to '\(to)' has two changes for '\(entity)', and each of its objects goes through one. "
                + "Make one change of them, or add a version in between.")
    }

    package static func notTheManagersModel(last: String, manager: String) -> PersistenceError {
        PersistenceError(
            .notTheManagersModel,
            "The migration plan ends with version '\(last)', which differs from what the persistence manager '\(manager)' "
                + "works with. Add a step to the present models.")
    }

    package static func unknownStoreVersion(store: String, known: [String]) -> PersistenceError {
        PersistenceError(
            .unknownStoreVersion, path: store, known: known,
            "The store '\(store)' is of none of the migration plan's versions: \(known.joined(separator: ", ")). "
                + "Add the version that it was made with.")
    }

    package static func failedAt(entity: String, record: String, from: String, to: String, reason: String)
        -> PersistenceError
    {
        PersistenceError(
            .migrationFailed, entity: entity, identifier: record, reason: reason,
            "The step from version '\(from)' to '\(to)' failed at the \(entity) '\(record)': \(reason) "
                + "The store is as it was.")
    }

    package static func unknownEntity(_ entity: String, version: String, known: [String]) -> PersistenceError {
        PersistenceError(
            .unknownEntity, entity: entity, known: known.sorted(),
            "The migration plan's version '\(version)' has no entity '\(entity)'. "
                + "It has: \(known.sorted().joined(separator: ", ")). If one of these takes its place, the schema of that one "
                + "says so: Schema(.renamed(from: \"\(entity)\")).")
    }
}

extension PersistenceError {
    /// What happened.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let rawValue: String

        /// A code.
        ///
        /// - Parameter rawValue: its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        package init(_ rawValue: String) { self.rawValue = rawValue }

        /// The code's name.
        public var description: String { rawValue }
    }
}

extension PersistenceError.Code {
    // MARK: The manager and its store

    /// The manager's store was taken away, and `load()` was not called since.
    public static let notLoaded = Self("notLoaded")
    /// The store was closed by `close()`, and the manager can do nothing more.
    public static let closed = Self("closed")
    /// `load()` was called a second time, or with a migration plan for a store that is open already.
    public static let alreadyLoaded = Self("alreadyLoaded")
    /// There is no file at the path, and the manager must not create one.
    public static let storeNotFound = Self("storeNotFound")
    /// The folder for the store does not exist.
    public static let folderNotFound = Self("folderNotFound")
    /// The store cannot be opened, or destroyed: it is damaged, locked, not a store, or not for this program.
    public static let notOpened = Self("notOpened")
    /// The store was made with other models, and cannot be migrated to these automatically.
    public static let schemaChanged = Self("schemaChanged")
    /// The store has data that the models would not keep: ``PersistenceError/losses`` lists it.
    public static let wouldLose = Self("wouldLose")
    /// The store has several models that share values which a new rule requires to be unique, or models in several
    /// others of which a new rule lets one own them.
    public static let notUnique = Self("notUnique")

    // MARK: Models and properties

    /// There is no compiled model of that name, or it cannot be read.
    public static let modelNotFound = Self("modelNotFound")
    /// The file of a model cannot be read.
    public static let modelNotReadable = Self("modelNotReadable")
    /// No loaded bundle has the identifier.
    public static let bundleNotFound = Self("bundleNotFound")
    /// No entity can be made of a type.
    public static let notDerivable = Self("notDerivable")
    /// The manager was made without this model.
    public static let unknownModel = Self("unknownModel")
    /// The store's model has no such entity.
    public static let unknownEntity = Self("unknownEntity")
    /// A filter or an order names a property that is not stored.
    public static let unknownProperty = Self("unknownProperty")
    /// A filter, or a page, needs a comparison that the store cannot make.
    public static let notComparable = Self("notComparable")
    /// A filter looks into a value that is stored as JSON, and asks for more than the elements of a list of texts,
    /// numbers or other single values.
    public static let keptAsJSON = Self("keptAsJSON")

    // MARK: Reading and writing

    /// `insert` was given a model that is stored already.
    public static let alreadyStored = Self("alreadyStored")
    /// `update` was given a model that is not stored.
    public static let notFound = Self("notFound")
    /// A property that cannot be set by `update(_:where:_:)`.
    public static let notSettable = Self("notSettable")
    /// A model refers to one that is neither stored nor saved along with it.
    public static let missingReference = Self("missingReference")
    /// Another save has changed what was to be saved, or has written a value that must be unique.
    public static let conflict = Self("conflict")
    /// A value breaks a rule of the model.
    public static let invalid = Self("invalid")
    /// The store could not be read, or does not support what a filter asks for.
    public static let readFailed = Self("readFailed")
    /// The store keeps no history.
    public static let noHistory = Self("noHistory")
    /// Transactions after a place in the history are not there any more, or it is of another store.
    public static let historyExpired = Self("historyExpired")
    /// A text that says where a page begins is not one, or belongs to another order.
    public static let unknownCursor = Self("unknownCursor")
    /// A text cannot be parsed as a filter, or a Swift predicate has no equivalent in the predicate language.
    public static let malformedFilter = Self("malformedFilter")
    /// The store could not save.
    public static let saveFailed = Self("saveFailed")
    /// A value cannot be read from the store.
    public static let unreadable = Self("unreadable")
    /// A value cannot be kept in the store.
    public static let unwritable = Self("unwritable")
    /// A block that only reads has changed something.
    public static let changedInRead = Self("changedInRead")
    /// What a block was given is used after the block has ended.
    public static let blockEnded = Self("blockEnded")

    // MARK: Files to import

    /// A file cannot be read.
    public static let fileNotReadable = Self("fileNotReadable")
    /// The delimiter given for a file cannot separate fields.
    public static let noDelimiter = Self("noDelimiter")
    /// A file has columns that the model does not have.
    public static let unknownColumns = Self("unknownColumns")

    // MARK: Migration plans

    /// A migration plan has two versions of one name.
    public static let repeatedVersion = Self("repeatedVersion")
    /// The model of a migration plan's version is not available.
    public static let unavailableVersion = Self("unavailableVersion")
    /// A step of a migration plan cannot be inferred.
    public static let notInferable = Self("notInferable")
    /// A step of a migration plan has two changes for one entity.
    public static let repeatedChange = Self("repeatedChange")
    /// A migration plan does not end with the manager's model.
    public static let notTheManagersModel = Self("notTheManagersModel")
    /// The store is of none of a migration plan's versions.
    public static let unknownStoreVersion = Self("unknownStoreVersion")
    /// A step of a migration plan failed for an object.
    public static let migrationFailed = Self("migrationFailed")
}
