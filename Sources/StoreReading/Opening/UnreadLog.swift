import Foundation

/// The part of a write-ahead log that SQLite leaves out without a word when it reads a store: whatever follows the last
/// frame that ends a transaction (https://www.sqlite.org/walformat.html).
struct UnreadLog {
    private let file: FileHandle
    private let pageSize: Int
    private let salts: ArraySlice<UInt8>
    private let isBigEndian: Bool
    private var sums: (UInt32, UInt32) = (0, 0)

    private static let headerSize = 32
    private static let frameSize = 24

    /// What is not read, as a sentence without its final period; nil if everything is, as far as the log says.
    ///
    /// While another program has the store open, it may be in the midst of a transaction; and while this process has,
    /// looking for that would release SQLite's locks. Then nothing is said.
    ///
    /// - Parameter store: the store beside which the log is.
    /// - Returns: the sentence.
    static func text(of store: URL) -> String? {
        guard LogFiles.kind(of: store) == nil, !PrivateCopy.isLocked(store.path + "-shm"),
            let file = FileHandle(forReadingAtPath: store.path + "-wal")
        else { return nil }
        defer { try? file.close() }
        guard let header = bytes(file, headerSize), header.count == headerSize else { return nil }
        guard var log = UnreadLog(file, header) else {
            return "the header of its write-ahead log is damaged: no change in it is read"
        }
        let unread = log.unreadFrames()
        guard unread > 0 else { return nil }
        return "its write-ahead log is damaged, or ends in the midst of a transaction: changes of "
            + "\(TextTools.count(unread, "page")) are not read"
    }

    private init?(_ file: FileHandle, _ header: [UInt8]) {
        let magic = Self.number(header[0..<4])
        guard magic == 0x377f_0682 || magic == 0x377f_0683 else { return nil }
        self.file = file
        (isBigEndian, pageSize, salts) = (magic & 1 == 1, Int(Self.number(header[8..<12])), header[16..<24])
        guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
        add(header[0..<24])
        guard sums == (Self.number(header[24..<28]), Self.number(header[28..<32])) else { return nil }
    }

    /// How many frames follow the last one that ends a transaction. Frames with other salts are of an earlier round of
    /// the log. Those that do not continue the sums are left from a transaction that was rolled back, and have been
    /// overwritten in part, unless one of them ends a transaction.
    private mutating func unreadFrames() -> Int {
        var (unread, isWhole, isLoss) = (0, true, false)
        while let frame = Self.bytes(file, Self.frameSize + pageSize), frame.count >= 16, frame[8..<16] == salts {
            let endsTransaction = Self.number(frame[4..<8]) != 0
            if isWhole, frame.count == Self.frameSize + pageSize {
                add(frame[0..<8])
                add(frame[Self.frameSize...])
                isWhole = sums == (Self.number(frame[16..<20]), Self.number(frame[20..<24]))
                if isWhole, endsTransaction {
                    (unread, isLoss) = (0, false)
                    continue
                }
            }
            unread += 1
            isLoss = isLoss || isWhole || endsTransaction
        }
        return isLoss ? unread : 0
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        var (first, second) = sums
        bytes.withUnsafeBytes { words in
            for place in stride(from: 0, to: words.count - 7, by: 8) {
                first &+= word(words, place) &+ second
                second &+= word(words, place + 4) &+ first
            }
        }
        sums = (first, second)
    }

    private func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
        let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    private static func bytes(_ file: FileHandle, _ count: Int) -> [UInt8]? {
        (try? file.read(upToCount: count)).map { [UInt8]($0) }
    }
}
