import Foundation

/// The lines of a file, which is mapped into memory rather than read as a whole. They end with a line feed, a carriage
/// return or both.
struct FileLines: Sequence {
    struct Line {
        /// From 1.
        let number: Int
        /// Without the line's end.
        let content: Data
        /// Where in the file the next line begins.
        let end: Int

        var isBlank: Bool { content.allSatisfy { $0 == 0x20 || $0 == 0x09 } }
    }

    private let data: Data
    var size: Int { data.count }

    /// - Throws: ``PersistenceError/Code/fileNotReadable``
    init(_ url: URL) throws { data = try Data(importing: url) }

    init(_ data: Data) { self.data = data }

    func makeIterator() -> AnyIterator<Line> {
        // A byte order mark is not part of the first line.
        var start = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.startIndex + 3 : data.startIndex
        var number = 0
        return AnyIterator { [data] in
            guard start < data.endIndex else { return nil }
            let end = data[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? data.endIndex
            let content = data[start..<end]
            number += 1
            let isPair = end + 1 < data.endIndex && data[end] == 0x0D && data[end + 1] == 0x0A
            start = Swift.min(end + (isPair ? 2 : 1), data.endIndex)
            return Line(number: number, content: content, end: start - data.startIndex)
        }
    }
}

extension Data {
    /// A file to import, mapped into memory.
    ///
    /// - Throws: ``PersistenceError/Code/fileNotReadable``
    init(importing url: URL) throws {
        do { try self.init(contentsOf: url, options: .mappedIfSafe) } catch {
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
            let reason =
                !exists ? "There is no such file." : isFolder.boolValue ? "It is a folder." : error.localizedDescription
            throw PersistenceError.fileNotReadable(path: url.path, reason: reason)
        }
    }
}
