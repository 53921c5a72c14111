import CoreDataModel
import Foundation

/// The options of a store, read from a description's dictionary.
package struct StoreSettings {
    package let timeout: Double
    package let pragmas: [String: String]
    package let ignoresVersions: Bool
    package let tracksHistory: Bool
    /// Whether the store's history is left as it is, while a migration makes the store: nothing is added to it.
    package let leavesHistory: Bool
    /// Whether the history keeps what changed and deleted rows were before.
    package let keepsFormerValues: Bool
    /// Who writes the transactions of the history that name nobody; nil for nobody.
    package let author: String?
    /// How old transactions of the history may be, in seconds, when the store is opened; nil for any age.
    package let historyAge: Double?
    package let analyzes: Bool
    package let vacuums: Bool
    /// The number of query generations that can be pinned at once.
    package let maximumReaders: Int
    /// Whether changes to the store, also by other programs, are announced.
    package let postsRemoteChanges: Bool
    /// The store whose external data are read; nil for the store itself.
    package let externalDataStore: URL?
    /// Whether rows of entities that the model does not have are left out, instead of being an error.
    package let leavesOutStrangers: Bool
    /// Whether the store is opened to be copied: values of transformable attributes are the bytes that it has.
    package let isCopied: Bool

    /// The most bytes that the values of a row are read of; nil for any number.
    package let largestRow: Int?

    /// Option (`Int`) of tools that show a store: see ``largestRow``.
    package static let largestRowOption = "PippinLargestRow"
    /// Option (`Bool`) of tools that show a store: see ``leavesOutStrangers``.
    package static let leavesOutStrangersOption = "PippinLeavesOutStrangers"
    /// Option (`Bool`) of tools that copy a store: see ``isCopied``. What the store lacks is left out of the copy, and
    /// the tool says so.
    package static let isCopiedOption = "PippinIsCopied"

    /// Option (`Bool`) of stores that a migration makes: see ``leavesHistory``.
    package static let leavesHistoryOption = "PippinLeavesHistory"
    /// Option (`Bool`) of stores with a history: see ``keepsFormerValues``.
    package static let keepsFormerValuesOption = "PippinKeepsFormerValues"
    /// Option (`String`) of stores with a history: see ``author``.
    package static let authorOption = "PippinHistoryAuthor"
    /// Option (`Double`) of stores with a history: see ``historyAge``.
    package static let historyAgeOption = "PippinHistoryAge"

    /// How long to wait for a lock, in seconds, by default; see `NSPersistentStoreDescription.timeout`.
    package static let defaultTimeout: Double = 240

    /// Whether the options ask to migrate a store if its model differs.
    package static func asksForMigration(_ options: [AnyHashable: Any]?) -> Bool {
        flag(options, NSMigratePersistentStoresAutomaticallyOption) && !flag(options, NSReadOnlyPersistentStoreOption)
    }

    /// A Boolean option; false if it is missing. A `Bool` casts to `NSNumber`, too.
    package static func flag(_ options: [AnyHashable: Any]?, _ key: String) -> Bool {
        (options?[key] as? NSNumber)?.boolValue ?? false
    }

    package init(_ options: [AnyHashable: Any]?) {
        func flag(_ key: String) -> Bool { Self.flag(options, key) }
        timeout = (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? Self.defaultTimeout
        let given = options?[NSSQLitePragmasOption] as? [String: Any] ?? [:]
        pragmas = given.mapValues { "\($0)" }
        ignoresVersions = flag(NSIgnorePersistentStoreVersioningOption)
        // A dictionary as the value also means yes.
        tracksHistory =
            flag(NSPersistentHistoryTrackingKey) || options?[NSPersistentHistoryTrackingKey] is [String: Any]
        leavesHistory = flag(Self.leavesHistoryOption)
        keepsFormerValues = flag(Self.keepsFormerValuesOption)
        author = options?[Self.authorOption] as? String
        historyAge = (options?[Self.historyAgeOption] as? NSNumber)?.doubleValue
        analyzes = flag(NSSQLiteAnalyzeOption)
        vacuums = flag(NSSQLiteManualVacuumOption)
        let size = (options?[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber)?.intValue
        maximumReaders = max(1, size ?? 10)
        postsRemoteChanges = flag(NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        externalDataStore = options?[ExternalDataOption.store] as? URL
        largestRow = (options?[Self.largestRowOption] as? NSNumber)?.intValue
        leavesOutStrangers = flag(Self.leavesOutStrangersOption)
        isCopied = flag(Self.isCopiedOption)
    }
}

/// How a store finds values that are kept outside its database.
package enum ExternalDataOption {
    /// Option (`URL`): the store is a copy of this store's database, and uses its external values. For reading only.
    package static let store = "PippinExternalDataStore"
}

/// A format of stores that an engine keeps: how a store is opened, and the operations on one that is not open.
package protocol StoreFormat {
    /// The name of the format's store type, by which programs add stores.
    static var type: String { get }

    /// The engine of a store that has not been opened yet.
    static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine

    // MARK: Stores that are not open

    /// The metadata of a store, read without changing its content.
    static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any]

    /// Whether there is a place for a store with nothing in it, as after a store was destroyed.
    static func isEmpty(at url: URL) throws -> Bool

    /// Replaces the metadata of a store.
    static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws

    /// Deletes the contents of a store. It does nothing if there is none.
    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws

    /// Replaces a store by a copy of another one. Programs that have it open see a single change.
    static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws

    /// The same, from a store that options identify.
    static func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?, sourceOptions: [AnyHashable: Any]?
    ) throws
}

extension StoreFormat {
    package static func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?, sourceOptions: [AnyHashable: Any]?
    ) throws { try replace(at: destination, from: source, options: options) }

    package static func isEmpty(at url: URL) throws -> Bool { false }

    /// The metadata of a store that is identified without options.
    package static func metadata(at url: URL) throws -> [String: Any] { try metadata(at: url, options: nil) }

    /// Replaces the metadata of a store that is identified without options.
    package static func setMetadata(_ metadata: [String: Any]?, at url: URL) throws {
        try setMetadata(metadata, at: url, options: nil)
    }
}

/// An engine that can be opened and closed.
package protocol OpenableEngine: StoreEngine {
    /// Opens the store, creating it if it does not exist.
    ///
    /// - Throws: an `NSError` with Core Data's code: 134100 if the model does not fit, 259 for a damaged store, 513 for
    ///   a place that cannot be written, 134090 for a store that another process keeps locked.
    func open(_ model: NSManagedObjectModel?) throws

    /// Closes the store.
    func close()

    /// Writes the metadata.
    func saveMetadata() throws

    /// Continues with a store of the same format at another place.
    func relocate(to url: URL) throws
}

/// The properties that a store and its engine share: the store's location, options and metadata.
package final class StoreFacts: @unchecked Sendable {
    // @unchecked Sendable: used only under the coordinator's lock, except for `identity`, which is safe to share.

    /// The location of the store.
    package var url: URL?
    /// The options with which the store was opened.
    package let options: [AnyHashable: Any]?
    /// The configuration of the model whose entities the store holds; `nil` for all.
    let configuration: String?
    /// The name of the configuration.
    package var configurationName: String { configuration ?? NSManagedObjectModel.defaultConfigurationName }
    /// Whether the store may only be read.
    package var isReadOnly: Bool
    /// Why the store may only be read although its options do not say so, as the end of a sentence; empty if they do.
    package var readOnlyReason = ""
    /// The identity that IDs of the store's objects refer to; a store that replaces another takes over its identity.
    package var identity = StoreIdentity(uuid: UUID().uuidString)
    /// The metadata that are stored, or will be.
    package var metadata: [String: Any] = [:]
    /// Whether the metadata were set and have not been written yet, which the next save does.
    package var metadataAreChanged = false

    package init(url: URL?, configuration: String? = nil, options: [AnyHashable: Any]? = nil) {
        self.url = url
        self.configuration = configuration
        self.options = options
        isReadOnly = StoreSettings.flag(options, NSReadOnlyPersistentStoreOption)
    }
}
