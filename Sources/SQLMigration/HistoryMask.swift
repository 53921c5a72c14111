import CompactCollections
import Foundation
import StoreEngine

/// Converts the history's masks of changed properties from one version of an entity to the next.
package enum HistoryMask {
    /// A mask for the destination's properties.
    ///
    /// - Parameters:
    ///   - mask: the mask of the source's properties.
    ///   - former: the properties of the source.
    ///   - properties: the properties of the destination.
    ///   - source: the name of a destination's property in the source.
    /// - Returns: `nil` for a mask with properties that the source does not have.
    package static func converted(
        _ mask: Data, from former: HistoryProperties, to properties: HistoryProperties, source: (String) -> String?
    ) -> Data? {
        guard let changed = former.names(in: mask).map({ Set($0) }) else { return nil }
        return properties.mask(of: properties.names.filter { source($0).map(changed.contains) ?? false })
    }
}
