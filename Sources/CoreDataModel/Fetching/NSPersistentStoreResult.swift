import Foundation

/// A store's answer to a request: the common part of the results of batch, history and asynchronous requests.
open class NSPersistentStoreResult: NSObject {}
