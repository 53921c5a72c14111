/// A write-ahead log (https://www.sqlite.org/walformat.html): all frames of the file, also those that SQLite does not
/// read any more.
package struct WriteAheadLog: Sendable {
    /// What a frame is to the log.
    package enum State: UInt8, Sendable {
        /// A part of a transaction that was committed.
        case committed
        /// It continues the sums, but no frame ends its transaction.
        case uncommitted
        /// It has the salts of the log, but not its sums: a part of it was written over.
        case broken
        /// It has other salts: left from an earlier round of the log.
        case earlier
    }

    package struct Frame: Equatable, Sendable {
        /// The number of the page that it has.
        package let page: Int
        /// How many pages the database has after the transaction that it ends; 0 if it ends none.
        package let databaseSize: Int
        package internal(set) var state: State
        /// The round of the log: 0 for the current one, 1 for the one before.
        package internal(set) var round: Int
        /// Whether its sums continue those of the frame before it. The first frame of a round that was written over in
        /// part has none to continue.
        package let isChained: Bool
    }

    /// The transactions that were committed, in their order.
    package struct Commit: Equatable, Sendable {
        /// The indexes of its frames.
        package let frames: Range<Int>
        /// How many pages the database has afterwards.
        package let databaseSize: Int
    }

    package let pageSize: Int
    /// All whole frames of the file.
    package private(set) var frames: [Frame] = []
    package private(set) var commits: [Commit] = []
    /// Whether the sums of the header are right. Without them SQLite reads no frame.
    package private(set) var hasValidHeader: Bool
    /// The frame of the current round that the end of the file cuts off; nil for none.
    package private(set) var cutFrame: Frame?
    private let source: FileBytes

    package static let headerSize = 32
    package static let frameHeaderSize = 24
    /// A frame is kept as a few bytes; logs of more frames are read up to this one (16 GB of pages of 4,096 bytes).
    private static let mostFrames = 4_000_000

    /// Reads the headers and sums of all frames; nil for a file that does not begin as a log.
    ///
    /// - Parameter source: the file.
    package init?(_ source: FileBytes) {
        let header = source.bytes(at: 0, count: Self.headerSize)
        guard let magic = header.number32(at: 0), magic == 0x377F_0682 || magic == 0x377F_0683,
            let written = header.number32(at: 8), (512...65536).contains(written), written.nonzeroBitCount == 1
        else { return nil }
        (self.source, pageSize) = (source, Int(written))
        var sums = Checksum(isBigEndian: magic & 1 == 1)
        sums.add(header, 0..<24)
        hasValidHeader = header.number32(at: 24) == sums.first && header.number32(at: 28) == sums.second
        readFrames(salts: Array(header[16..<24]), sums)
    }

    private mutating func readFrames(salts current: [UInt8], _ start: Checksum) {
        var (sums, isWhole, begin) = (start, hasValidHeader, 0)
        var (salts, round) = (current, 0)
        var offset = Self.headerSize
        let length = Self.frameHeaderSize + pageSize
        while source.count - offset >= length, frames.count < Self.mostFrames {
            let bytes = source.bytes(at: offset, count: length)
            guard bytes.count == length, let page = bytes.number32(at: 0), let size = bytes.number32(at: 4) else {
                break
            }
            if Array(bytes[8..<16]) != salts {
                (salts, round, isWhole) = (Array(bytes[8..<16]), round + 1, false)
            }
            var following = sums
            following.add(bytes, 0..<8)
            following.add(bytes, Self.frameHeaderSize..<length)
            let stored = (bytes.number32(at: 16) ?? 0, bytes.number32(at: 20) ?? 0)
            let isChained = (following.first, following.second) == stored
            isWhole = isWhole && isChained && page > 0
            // What follows may continue what is written here, whether or not this frame does.
            sums.set(stored)
            let state: State = round > 0 ? .earlier : isWhole ? .uncommitted : .broken
            frames.append(
                Frame(page: Int(page), databaseSize: Int(size), state: state, round: round, isChained: isChained))
            if isWhole, round == 0, size > 0 {
                for index in begin..<frames.count { frames[index].state = .committed }
                commits.append(Commit(frames: begin..<frames.count, databaseSize: Int(size)))
                begin = frames.count
            }
            offset += length
        }
        let rest = source.bytes(at: offset, count: Self.frameHeaderSize)
        if rest.count >= 16, source.count - offset < length, Array(rest[8..<16]) == current {
            cutFrame = Frame(
                page: Int(rest.number32(at: 0) ?? 0), databaseSize: Int(rest.number32(at: 4) ?? 0), state: .broken,
                round: 0, isChained: false)
        }
    }

    /// The page of a frame.
    package func page(ofFrame index: Int) -> [UInt8] {
        source.bytes(at: offset(ofFrame: index) + Self.frameHeaderSize, count: pageSize)
    }

    /// Where a frame begins in the file.
    package func offset(ofFrame index: Int) -> Int { Self.headerSize + index * (Self.frameHeaderSize + pageSize) }

    /// How many bytes the log has up to the end of a commit; 0 before the first.
    ///
    /// - Parameter number: the number of the commit, from 1.
    /// - Returns: `nil` for a commit that there is not.
    package func size(throughCommit number: Int) -> Int? {
        guard number > 0 else { return number == 0 ? 0 : nil }
        return commits.indices.contains(number - 1) ? offset(ofFrame: commits[number - 1].frames.upperBound) : nil
    }

    /// The number of the commit that a frame belongs to, from 1; nil for none.
    package func commit(ofFrame index: Int) -> Int? {
        var (low, high) = (0, commits.count)
        while low < high {
            let middle = (low + high) / 2
            if commits[middle].frames.upperBound <= index { low = middle + 1 } else { high = middle }
        }
        return commits.indices.contains(low) && commits[low].frames.contains(index) ? low + 1 : nil
    }
}

/// The running sums of a log.
private struct Checksum {
    let isBigEndian: Bool
    private(set) var first: UInt32 = 0
    private(set) var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func set(_ sums: (UInt32, UInt32)) { (first, second) = sums }

    mutating func add(_ bytes: [UInt8], _ range: Range<Int>) {
        var (first, second) = (first, second)
        bytes.withUnsafeBytes { buffer in
            for place in stride(from: range.lowerBound, to: min(range.upperBound, buffer.count) - 7, by: 8) {
                first &+= word(buffer, place) &+ second
                second &+= word(buffer, place + 4) &+ first
            }
        }
        (self.first, self.second) = (first, second)
    }

    private func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
        let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }
}
