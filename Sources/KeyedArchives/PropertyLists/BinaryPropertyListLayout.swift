import Foundation

/// The numbers of the file format that reader and writer share.
enum BinaryPropertyListLayout {
    static let header = Array("bplist00".utf8)
    /// Six bytes unused, the two integer sizes, then object count, root object and offset table, eight bytes each.
    static let trailerLength = 32
}
