import Foundation

/// A store in an SQLite database.
public let NSSQLiteStoreType = "SQLite"
/// A store in memory, which is lost with its coordinator.
public let NSInMemoryStoreType = "InMemory"
/// A store in one binary file, read and written as a whole.
public let NSBinaryStoreType = "Binary"
/// A store in one XML file, read and written as a whole.
public let NSXMLStoreType = "XML"

/// In the metadata: the type of the store.
public let NSStoreTypeKey = "NSStoreType"
/// In the metadata: the store's UUID.
public let NSStoreUUIDKey = "NSStoreUUID"
/// In the metadata: the version hashes of the entities, by name.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// In the metadata: the identifiers of the model's version.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// In the metadata: the oldest system that can read the store.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"

/// Option (Boolean): the store may only be read.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option (dictionary): pragmas to set on the SQLite connection.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option (Boolean): run `ANALYZE` when the store is opened.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option (Boolean): run `VACUUM` when the store is opened.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Option (seconds): how long to wait for a locked store.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Option (Boolean): open the store although its model differs.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option (Boolean): migrate the store if its model differs.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Option (Boolean): infer the mapping when migrating.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Option (`NSStagedMigrationManager`): migrate the store in stages if its model differs.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Option (Boolean): defer the cleanup after a lightweight migration. In the metadata: whether there is a cleanup left
/// for `finishDeferredLightweightMigration()`.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// Option (Boolean or dictionary): keep a history of changes in the store.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Option (Boolean): destroy a store even if it cannot be opened.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Option: kept for source compatibility; files have no protection classes here.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Option (Boolean): kept for source compatibility; an XML store is always checked while it is read.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// The domain of errors that SQLite reports.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
/// In the metadata: the checksum of the model's version, if it is Apple's; see `NSManagedObjectModel.versionChecksum`.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"
/// Option (array of classes): classes that a binary store may decode, in addition to those that the model and its
/// transformers name.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Option (Boolean): a binary store may decode objects of any class that exists here.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Option (number): the number of connections that a store may have open for query generations. The default is 10.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// Option (Boolean): post `NSPersistentStoreRemoteChange` when this or another process has changed the store.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
    "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// In a remote change notification: the location of the store.
public let NSPersistentStoreURLKey = "storeURL"
/// In a notification of a save or a remote change: the `NSPersistentHistoryToken` of the latest transaction.
public let NSPersistentHistoryTokenKey = "historyToken"
