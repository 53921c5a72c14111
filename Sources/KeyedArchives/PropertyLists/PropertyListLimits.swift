import Foundation

/// The size of a property list that a reader accepts. Files from outside are hostile until proven otherwise: a few
/// bytes can describe a tree that no memory holds.
package struct PropertyListLimits: Sendable {
    /// How deep arrays and dictionaries may nest.
    package var depth = 128
    /// How many values there may be, counting shared parts everywhere they are used.
    package var values = 16_000_000

    package init() {}
}
