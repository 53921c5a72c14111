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
