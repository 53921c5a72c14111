import CoreDataModel
import Foundation

/// What a store and its engine both know: where the store is, how it was asked to be opened, and what it says of itself.
package final class StoreFacts: @unchecked Sendable {
    // @unchecked Sendable: confined to the coordinator's queue, but for `identity`, which is safe to share.

    /// Where the store is.
    package var url: URL?
    /// The options that the store was opened with.
    package let options: [AnyHashable: Any]?
    /// The configuration of the model whose entities the store holds; `nil` for all.
    let configuration: String?
    /// The name of the configuration.
    package var configurationName: String { configuration ?? NSManagedObjectModel.defaultConfigurationName }
    /// Whether the store may only be read.
    package var isReadOnly: Bool
    /// The identity that IDs of the store's objects refer to; a store that takes the place of another has that one's.
    package var identity = StoreIdentity(uuid: UUID().uuidString)
    /// The metadata as they are stored, or are to be.
    package var metadata: [String: Any] = [:]
    /// Whether the metadata were set and are yet to be written, which the next save does.
    package var metadataAreChanged = false

    package init(url: URL?, configuration: String? = nil, options: [AnyHashable: Any]? = nil) {
        self.url = url
        self.configuration = configuration
        self.options = options
        isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false
    }
}
