import Foundation

/// The large values that lie beside the store, in `.<store>_SUPPORT/_EXTERNAL_DATA`.
///
/// The column of an attribute that allows external storage begins with a byte: 1 when the value follows, 2 when the name
/// of its file follows, a UUID in ASCII and a zero byte.
struct ExternalData {
    /// The folder, which need not exist.
    let folder: URL
    /// Values larger than this, in bytes, go into a file.
    let inlineLimit: Int

    /// No files: every value is kept in the database.
    static let none = ExternalData(store: URL(fileURLWithPath: "/dev/null"), inlineLimit: .max)

    init(store: URL, inlineLimit: Int = 128 * 1024) {
        self.inlineLimit = inlineLimit
        let name = store.deletingPathExtension().lastPathComponent
        support = store.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
        folder = support.appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }

    /// The folder of everything that belongs to the store and is not in its database.
    let support: URL

    /// The value that a column's bytes stand for; nil when its file is missing.
    func content(of bytes: Data) -> Data? {
        switch bytes.first {
        case 1: return Data(bytes.dropFirst())
        case 2:
            guard let name = Self.fileName(in: bytes) else { return bytes }
            // Mapped: nothing is read before the value is looked at. The file is never changed in place, and a file that is
            // removed can be read for as long as the mapping is there.
            return try? Data(contentsOf: folder.appendingPathComponent(name), options: .alwaysMapped)
        default: return bytes
        }
    }

    /// The name of the file that a column's bytes refer to; nil when they hold the value itself.
    static func fileName(in bytes: Data) -> String? {
        guard bytes.first == 2 else { return nil }
        let name = bytes.dropFirst().prefix { $0 != 0 }
        // Only a UUID: a damaged store must not lead out of the folder.
        guard let text = String(bytes: name, encoding: .ascii), UUID(uuidString: text) != nil else { return nil }
        return text
    }

    /// The bytes for a column that hold a value themselves.
    static func inline(_ content: Data) -> Data { Data([1]) + content }

    /// Writes a value into a new file.
    ///
    /// - Returns: the bytes for the column, and the file's name.
    func store(_ content: Data) throws -> (column: Data, name: String) {
        let name = UUID().uuidString
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try content.write(to: folder.appendingPathComponent(name), options: .atomic)
        return (Data([2]) + Data(name.utf8) + Data([0]), name)
    }

    /// The names of the files, none where there is no folder.
    func fileNames() throws -> Set<String> {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    }

    /// Removes files, those that are gone already included.
    func remove(_ names: [String]) {
        for name in names { try? FileManager.default.removeItem(at: folder.appendingPathComponent(name)) }
    }
}
