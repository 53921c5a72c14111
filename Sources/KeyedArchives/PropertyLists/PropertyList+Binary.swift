import Foundation

extension PropertyList {
    /// Reads a binary property list.
    ///
    /// - Parameters:
    ///   - data: the whole file, from `bplist00` to the trailer.
    ///   - limits: how deep and how large the list may be.
    /// - Throws: `PropertyListError` with the offset of the damage: a bad header or trailer, an offset or length
    ///   outside of the file, a list that contains itself, nesting or size beyond the limits, an unknown kind of
    ///   object.
    package init(binary data: Data, limits: PropertyListLimits = PropertyListLimits()) throws(PropertyListError) {
        var reader = try BinaryPropertyListReader(bytes: [UInt8](data), limits: limits)
        self = try reader.readRoot()
    }

    /// Whether the bytes begin like a binary property list.
    package static func isBinary(_ data: Data) -> Bool {
        data.starts(with: BinaryPropertyListLayout.header)
    }
}
