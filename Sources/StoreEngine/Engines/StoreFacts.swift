import CoreDataModel
import Foundation

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
