import Foundation

// Code from before Swift 3's `IndexPath` casts to the class first. UIKit and AppKit give it these names; Foundation on
// other platforms does not.
extension NSIndexPath {
    /// Makes the path of an item in a section of a collection.
    ///
    /// - Parameters:
    ///   - item: the item's index in its section, from 0.
    ///   - section: the section's index, from 0.
    public convenience init(forItem item: Int, inSection section: Int) {
        self.init(indexes: [section, item], length: 2)
    }

    /// Makes the path of a row in a section of a table.
    ///
    /// - Parameters:
    ///   - row: the row's index in its section, from 0.
    ///   - section: the section's index, from 0.
    public convenience init(forRow row: Int, inSection section: Int) {
        self.init(indexes: [section, row], length: 2)
    }

    /// The index of the section, the first of the two.
    public var section: Int { index(atPosition: 0) }

    /// The index of the item in its section, the second of the two.
    public var item: Int { index(atPosition: 1) }

    /// The index of the row in its section, the second of the two.
    public var row: Int { index(atPosition: 1) }
}
