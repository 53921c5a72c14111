import Foundation

/// The size of a property list that a reader accepts. Files from outside are hostile until proven otherwise: a few
/// bytes can describe a tree that no memory holds.
package struct PropertyListLimits: Sendable {
    /// How deep arrays and dictionaries may nest.
    package var depth = 128
    /// How many values there may be, counting shared parts everywhere they are used.
    package var values = 16_000_000

    package init() {}

    /// The limits of a list that becomes Foundation's objects, which share nothing: every value takes memory wherever
    /// it is used. A list whose collections are not shared has no more values than bytes, since each use takes one.
    ///
    /// - Parameter byteCount: the size of the file.
    /// - Returns: the limits.
    package static func forObjects(byteCount: Int) -> PropertyListLimits {
        var limits = PropertyListLimits()
        limits.values = min(limits.values, 250_000 + 4 * byteCount)
        return limits
    }
}
