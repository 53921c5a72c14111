import Foundation

// UIKit and AppKit give index paths these names; Foundation on other platforms does not.
extension IndexPath {
    /// Makes the path of an item in a section of a collection.
    ///
    /// - Parameters:
    ///   - item: the item's index in its section, from 0.
    ///   - section: the section's index, from 0.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// Makes the path of a row in a section of a table.
    ///
    /// - Parameters:
    ///   - row: the row's index in its section, from 0.
    ///   - section: the section's index, from 0.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// The index of the section, the first of the two.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The index of the item in its section, the second of the two.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The index of the row in its section, the second of the two.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
