import CoreDataModel
import Foundation

/// The options of a store, read from a description's dictionary.
package struct StoreSettings {
    package let timeout: Double
    package let pragmas: [String: String]
    package let ignoresVersions: Bool
    package let tracksHistory: Bool
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
