import CPippinZlib
import CoreDataModel
import Foundation

/// The files in a ZIP archive (APPNOTE.TXT of PKWARE, 6.3), which are read one at a time: an archive may have millions,
/// and be larger than the memory.
struct ZipArchive {
    /// A file in the archive.
    struct Entry: Equatable {
        /// The path in the archive.
        let name: String
        /// 0 for bytes as they are, 8 for deflate.
        let method: Int
        let isEncrypted: Bool
        let checksum: UInt32
        let compressedSize: Int
        let size: Int
        /// Where its own header begins.
        let offset: Int
    }

    private let file: FileBytes
    /// Where the list of files is.
    private let directory: Range<Int>
    /// How many bytes stand before the archive, as in one that extracts itself.
    private let shift: Int

    /// Reads the end of an archive, which says where the list of files is; nil for a file that is not one.
    init?(_ file: FileBytes) {
        guard Self.isArchive(file.bytes(at: 0, count: 4)) else { return nil }
        // The last record has a comment of up to 65,535 bytes.
        let start = max(0, file.count - 65_557)
        let end = file.bytes(at: start, count: file.count - start)
        guard end.count >= 22, let place = (0...end.count - 22).last(where: { end.little32(at: $0) == 0x0605_4B50 })
        else { return nil }
        var (size, offset) = (end.little32(at: place + 12) ?? 0, end.little32(at: place + 16) ?? 0)
        var last = start + place
        let locator = file.bytes(at: last - 20, count: 20)
        if locator.little32(at: 0) == 0x0706_4B50, let record = locator.little64(at: 8) {
            let wide = file.bytes(at: record, count: 56)
            guard wide.little32(at: 0) == 0x0606_4B50, let wideSize = wide.little64(at: 40),
                let wideOffset = wide.little64(at: 48)
            else { return nil }
            (size, offset, last) = (wideSize, wideOffset, record)
        }
        guard size >= 0, offset >= 0, size <= last, offset <= last - size else { return nil }
        self.file = file
        shift = last - size - offset
        directory = last - size..<last
    }

    /// Whether a file begins as an archive with files in it, or without any.
    static func isArchive(_ start: [UInt8]) -> Bool {
        start.starts(with: [0x50, 0x4B, 3, 4]) || start.starts(with: [0x50, 0x4B, 5, 6])
    }

    /// Hands out all files, in the order of the list. Folders are left out.
    ///
    /// - Returns: whether the list could be read to its end.
    /// - Throws: the errors of `body`.
    func forEachEntry(_ body: (Entry) throws -> Void) rethrows -> Bool {
        var place = directory.lowerBound
        while place < directory.upperBound {
            let head = file.bytes(at: place, count: 46)
            guard head.little32(at: 0) == 0x0201_4B50, let nameLength = head.little16(at: 28),
                let extraLength = head.little16(at: 30), let commentLength = head.little16(at: 32)
            else { return false }
            let rest = file.bytes(at: place + 46, count: nameLength + extraLength)
            guard rest.count == nameLength + extraLength, let entry = entry(head, rest, nameLength) else {
                return false
            }
            if !entry.name.hasSuffix("/") { try body(entry) }
            place += 46 + nameLength + extraLength + commentLength
        }
        return true
    }

    private func entry(_ head: [UInt8], _ rest: [UInt8], _ nameLength: Int) -> Entry? {
        guard let flags = head.little16(at: 8), let method = head.little16(at: 10),
            let checksum = head.little32(at: 16),
            var compressedSize = head.little32(at: 20), var size = head.little32(at: 24),
            var offset = head.little32(at: 42)
        else { return nil }
        // Numbers of more than 32 bits are in a field of their own, those that are needed.
        var place = nameLength
        while let kind = rest.little16(at: place), let length = rest.little16(at: place + 2) {
            if kind == 1 {
                var next = place + 4
                func wide(_ number: Int) -> Int? {
                    guard number == 0xFFFF_FFFF else { return number }
                    defer { next += 8 }
                    return next + 8 <= place + 4 + length ? rest.little64(at: next) : nil
                }
                guard let first = wide(size), let second = wide(compressedSize), let third = wide(offset) else {
                    return nil
                }
                (size, compressedSize, offset) = (first, second, third)
            }
            place += 4 + length
        }
        guard size >= 0, compressedSize >= 0, offset >= 0 else { return nil }
        return Entry(
            name: String(decoding: rest[..<nameLength], as: UTF8.self), method: method,
            isEncrypted: flags & 1 != 0, checksum: UInt32(truncatingIfNeeded: checksum),
            compressedSize: compressedSize, size: size, offset: offset)
    }

    /// The first bytes of a file.
    ///
    /// - Throws: `CommandError` if they cannot be read.
    func start(of entry: Entry, count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try read(entry) { piece in
            bytes += piece.prefix(count - bytes.count)
            return bytes.count < count
        }
        return bytes
    }

    /// Writes a file out of the archive, for its owner only.
    ///
    /// - Parameters:
    ///   - entry: the file.
    ///   - url: where to write it; nothing is there.
    /// - Throws: `CommandError` if it is damaged, or cannot be written.
    func extract(_ entry: Entry, to url: URL) throws {
        let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandError("“\(url.path)” cannot be made: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        let output = OutputBuffer(descriptor)
        var (sum, count) = (crc32(0, nil, 0), 0)
        try read(entry) { piece in
            count += piece.count
            // What is longer than the list says is damaged, and may have no end.
            guard count <= entry.size else { return false }
            sum = crc32(sum, piece.bindMemory(to: UInt8.self).baseAddress, uInt(piece.count))
            try output.write(Data(piece))
            return true
        }
        try output.flush()
        guard count == entry.size, UInt32(truncatingIfNeeded: sum) == entry.checksum else {
            throw CommandError("it is damaged: its size or its checksum is not the one in the archive's list")
        }
    }

    private func read(_ entry: Entry, _ body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        guard !entry.isEncrypted else { throw CommandError("it is encrypted") }
        let head = file.bytes(at: entry.offset + shift, count: 30)
        guard head.little32(at: 0) == 0x0403_4B50, let nameLength = head.little16(at: 26),
            let extraLength = head.little16(at: 28)
        else { throw CommandError("it is damaged: its header is not there") }
        var place = entry.offset + shift + 30 + nameLength + extraLength
        let end = place + entry.compressedSize
        func next() -> [UInt8] {
            let piece = file.bytes(at: place, count: min(1 << 16, end - place))
            place += piece.count
            return piece
        }
        switch entry.method {
        case 0:
            while case let piece = next(), !piece.isEmpty {
                guard try piece.withUnsafeBytes(body) else { return }
            }
        case 8:
            do { try RawDeflate.inflate(input: next, output: body) } catch let error where !(error is CommandError) {
                throw CommandError("it is damaged: \(TextTools.withoutPeriod(error.localizedDescription))")
            }
        default:
            throw CommandError(
                "it is compressed by method \(entry.method); 0 (none) and 8 (deflate) are read: extract it by another program"
            )
        }
    }
}

extension [UInt8] {
    /// A number of two bytes, the least significant first; nil beyond the end.
    fileprivate func little16(at place: Int) -> Int? {
        guard place >= 0, place <= count - 2 else { return nil }
        return Int(self[place]) | Int(self[place + 1]) << 8
    }

    /// A number of four bytes, the least significant first; nil beyond the end.
    fileprivate func little32(at place: Int) -> Int? {
        guard let low = little16(at: place), let high = little16(at: place + 2) else { return nil }
        return low | high << 16
    }

    /// A number of eight bytes, the least significant first; nil beyond the end, and for one that no file has.
    fileprivate func little64(at place: Int) -> Int? {
        guard let low = little32(at: place), let high = little32(at: place + 4), high < 1 << 31 else { return nil }
        return low | high << 32
    }
}
