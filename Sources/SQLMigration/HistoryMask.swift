import Foundation
import StoreEngine

/// The history's masks of changed properties, carried from one version of an entity to the next.
package enum HistoryMask {
    /// A mask for the destination's properties.
    ///
    /// - Parameters:
    ///   - mask: the mask of the source's properties.
    ///   - former: the properties of the source.
    ///   - properties: the properties of the destination.
    ///   - source: what a property of the destination is called in the source.
    /// - Returns: `nil` for a mask that names properties that the source does not have.
    package static func converted(
        _ mask: Data, from former: HistoryProperties, to properties: HistoryProperties, source: (String) -> String?
    ) -> Data? {
        guard let changed = former.names(in: mask).map({ Set($0) }) else { return nil }
        return properties.mask(of: properties.names.filter { source($0).map(changed.contains) ?? false })
    }
}
