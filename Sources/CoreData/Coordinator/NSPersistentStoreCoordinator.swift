import Foundation

/// Stub until the coordinator lands.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
}
